"""Moves the events of a file of version 2 or older into columns (ADR 0111).

Always holds: it runs inside the one transaction of a migration, so a file has all events in columns or none. A row that
cannot be cut is moved as it is. What was moved is deleted at once, and its pages are used again: the file hardly grows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from glasshouse.runtime.store_port import EventNames
from glasshouse.stores.sqlite.connection import Connection
from glasshouse.stores.sqlite.journal import SQL, shapes_remembered_max
from glasshouse.stores.sqlite.rows import Columns, Shape, columns_of

events_at_once: Final = 4_096

OnProgress = Callable[[int, int], None]
"""Called with the number of events that were moved, and of all that are to be moved."""


def move_events(connection: Connection, on_progress: OnProgress | None = None) -> None:
    """Move all rows of `whole_events` into `events`, and drop that table."""
    shapes = _NewShapes(connection)
    count = connection.execute("SELECT count(*) FROM whole_events").fetchone()[0]
    moved = 0
    while rows := _first_rows(connection):
        connection.executemany(SQL["add_event"], [(*row[:4], *_columns(row[4], shapes)) for row in rows])
        connection.execute("DELETE FROM whole_events WHERE position <= ?", (rows[-1][0],))
        moved += len(rows)
        if on_progress is not None:
            on_progress(moved, count)
    connection.execute("DROP TABLE whole_events")


def _first_rows(connection: Connection) -> list[Any]:
    query = "SELECT position, segment, seq, in_change, body FROM whole_events ORDER BY position LIMIT ?"
    rows: list[Any] = connection.execute(query, (events_at_once,)).fetchall()
    return rows


def _columns(body: object, shapes: _NewShapes) -> tuple[Any, ...] | Columns:
    if not isinstance(body, str):  # It is damaged. Whoever reads it is told so, as before.
        return None, None, None, None, body
    return columns_of(body, shapes.of)


class _NewShapes:
    """Gives numbers to shapes, and writes them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._numbers = 0
        self._cache: dict[EventNames, Shape] = {}

    def of(self, names: EventNames) -> Shape:
        """The shape with these names."""
        shape = self._cache.get(names)
        if shape is None:
            if len(self._cache) >= shapes_remembered_max:
                self._cache.clear()
            self._numbers += 1
            shape = self._cache[names] = Shape.of(self._numbers, names)
            self._connection.execute(SQL["add_shape"], (shape.number, *names))
        return shape
