"""`WordTable`: which lines have a word, in memory. A store in memory keeps its index of words in one, and so do searches for what a
store has not indexed yet. A place is a name for where lines stand, chosen by whoever searches.

Always holds: the same lines give the same answers, whatever the order in which they were added, and as often as they were.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence

from glasshouse.runtime.store_port import FoundLine, PlacedLine, PlaceRange


class WordTable:
    """The lines of some places, by place and word."""

    def __init__(self) -> None:
        self.upto = 0
        """The position up to which all lines are in here."""
        self.places: dict[str, tuple[int, int]] = {}
        """Place -> the times of its first and its last line."""
        self._lines: dict[tuple[str, str], list[FoundLine]] = {}

    def add(self, lines: Iterable[PlacedLine], upto: int) -> None:
        """Add lines, after which all lines up to this position are in here."""
        for line in lines:
            entry = FoundLine(line.lamport, line.position)
            for place in line.places:
                first, last = self.places.get(place, (line.lamport, line.lamport))
                self.places[place] = min(first, line.lamport), max(last, line.lamport)
                for word in line.words:
                    _insert(self._lines.setdefault((place, word), []), entry)
        self.upto = max(self.upto, upto)

    def lines_with(
        self, words: Sequence[str], ranges: Sequence[PlaceRange], lines_max: int
    ) -> dict[str, list[FoundLine]]:
        """For each word, the newest lines that have it in these ranges, newest first."""
        newest: dict[str, list[FoundLine]] = {}
        for word in words:
            matches: list[FoundLine] = []
            for place, first, last in ranges:
                lines = self._lines.get((place, word), ())
                start = bisect_left(lines, (first, 0))
                stop = bisect_right(lines, (last, position_max))
                matches += lines[max(start, stop - lines_max) : stop]
            newest[word] = newest_of(matches, lines_max)
        return newest


position_max = 2**63 - 1
"""No position is greater: stores keep 64 bits."""


def newest_of(matches: Iterable[FoundLine], lines_max: int) -> list[FoundLine]:
    """The newest of these lines, each once, newest first."""
    return sorted(set(matches), reverse=True)[:lines_max]


def _insert(lines: list[FoundLine], line: FoundLine) -> None:
    if not lines or lines[-1] < line:
        lines.append(line)
    elif line not in lines[bisect_left(lines, line) : bisect_right(lines, line)]:
        insort(lines, line)
