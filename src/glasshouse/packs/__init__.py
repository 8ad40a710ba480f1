"""Worlds that are shared: packed into one file, fetched, shown and installed."""
