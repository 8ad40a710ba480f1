"""The SQLite store: one file for a whole terrarium."""

from glasshouse.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
