"""The PostgreSQL store: many houses in one database, each with one owner at a time."""
