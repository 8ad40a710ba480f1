"""The index of words in a SQLite file: three tables that are made when somebody first searches. A place is a name for where lines stand,
chosen by whoever searches.

Always holds: a file in which nobody searches has none of them, and no version of the file asks for them. What is in them follows from the
events, so they may be dropped by anybody at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from glasshouse.errors import StoreDamaged
from glasshouse.runtime.store_port import FoundLine, PlacedLine, PlaceRange
from glasshouse.runtime.word_table import newest_of
from glasshouse.stores.sqlite.connection import Connection

_UptoRows = list[tuple[int]]
_PlaceRows = list[tuple[str, int, int]]
_LineRows = list[FoundLine]
_MAKING: Final = ("make_index", "make_index_places", "make_index_words", "begin_index")
_DROPPING: Final = ("drop_index", "drop_index_places", "drop_index_words")


class WordIndexTables:
    """Reads and writes the index on one connection. `SQL` has the statements by name."""

    def __init__(self, connection: Connection, sql: dict[str, str]) -> None:
        self._connection = connection
        self._sql = sql

    def _rows(self, query: str, *values: object) -> list[Any]:
        rows: list[Any] = self._connection.execute(self._sql[query], values).fetchall()
        return rows

    def _has_tables(self) -> bool:
        # It is asked each time: another connection may have dropped them.
        return bool(self._rows("has_index")[0][0])

    def indexed(self) -> int:
        """The position up to which all lines are in the index."""
        return self._upto() if self._has_tables() else 0

    def _upto(self) -> int:
        rows = _sound(self._rows("indexed"), _UptoRows)
        if len(rows) != 1:
            raise StoreDamaged("The index of words does not say how far it goes.")
        return int(rows[0][0])

    def indexed_places(self) -> dict[str, tuple[int, int]]:
        """The places in the index, each with the times of its first and its last line."""
        rows = self._rows("indexed_places") if self._has_tables() else []
        return {place: (first, last) for place, first, last in _sound(rows, _PlaceRows)}

    def lines_with(
        self, words: Sequence[str], ranges: Sequence[PlaceRange], lines_max: int
    ) -> dict[str, list[FoundLine]]:
        """For each word, the newest lines that have it in these ranges."""
        if not self._has_tables():
            return {word: [] for word in words}
        names = {part.place for part in ranges}
        numbers = {name: row[0][0] for name in names if (row := self._rows("number_of_place", name))}
        # The newest first: as soon as there are enough lines, only newer ones are asked for.
        known = sorted([part for part in ranges if part.place in numbers], key=lambda part: -part.last)
        newest: dict[str, list[FoundLine]] = {}
        for word in words:
            matches: list[FoundLine] = []
            oldest = 0
            for place, first, last in known:
                if last < oldest:
                    break
                rows = self._rows("lines_with", numbers[place], word, max(first, oldest), last, lines_max)
                if rows:
                    matches = newest_of([*matches, *_sound(rows, _LineRows)], lines_max)
                    oldest = matches[-1].lamport if len(matches) == lines_max else 0
            newest[word] = matches
        return newest

    def index_lines(self, after: int, upto: int, lines: Sequence[PlacedLine]) -> None:
        """Add the lines between two positions, if the index ends at the first."""
        self._in_a_transaction(lambda: self._add(after, upto, lines))

    def drop_index(self) -> None:
        """Drop the tables."""
        self._in_a_transaction(lambda: [self._rows(query) for query in _DROPPING])

    def _add(self, after: int, upto: int, lines: Sequence[PlacedLine]) -> None:
        if not self._has_tables():
            for query in _MAKING:
                self._rows(query)
        if self._upto() != after:
            return
        times: dict[str, list[int]] = {}
        for line in lines:
            for place in line.places:
                times.setdefault(place, []).append(line.lamport)
        numbers = {
            place: self._rows("index_place", place, min(of_place), max(of_place))[0][0]
            for place, of_place in times.items()
        }
        rows = [
            (numbers[place], word, line.lamport, line.position)
            for line in lines
            for place in line.places
            for word in line.words
        ]
        rows.sort()  # Rows that stand together are written together.
        self._connection.executemany(self._sql["index_word"], rows)
        self._rows("note_indexed", upto)

    def _in_a_transaction(self, work: Callable[[], object]) -> None:
        # A failed commit may have left a transaction open. What is written in it would be lost by the rollback.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            work()
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def _sound(rows: list[Any], row_types: Any) -> Any:
    """Rows whose values have the types that they were written with. In a damaged file they may have others."""
    try:
        return msgspec.convert(rows, row_types)
    except msgspec.ValidationError as broken:
        raise StoreDamaged(f"The index of words holds a broken row: {broken}") from broken
