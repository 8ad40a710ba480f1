"""What the SQLite store needs of a connection, so that the tests of power cuts can pass one of another library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol


class Connection(Protocol):
    """The part of a SQLite connection that the journal uses."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Run one statement and return a cursor over its rows."""

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any:
        """Run one statement for each row."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open. SQLite itself ends a transaction when the disk is full."""
