"""A show on a terminal: its pace, its keys, its lines."""
