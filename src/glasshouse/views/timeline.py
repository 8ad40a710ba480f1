"""`Timeline`: what a story spent along its events, and where something happened, in a bounded number of bins.

Always holds: the number of bins and of marks is bounded, whatever the length of the story; when there are too many bins,
each two become one. The same events give the same timeline, however they were read.
"""

from __future__ import annotations

from typing import Final

import msgspec

bins_max: Final = 2_048
"""A timeline has no more bins; a longer story has more events in each."""
marks_max: Final = 2_048
"""A timeline with more marks keeps only the first of neighbouring ones."""

MARKED: Final = frozenset({"world", "visitor", "judge", "merge", "split", "run", "error"})
"""The icons of events that a timeline marks."""


class Timeline(msgspec.Struct):
    """Tokens per bin and graph, and marks, each with its number and icon."""

    width: int = 1
    """How many events a bin holds."""
    bins: list[dict[str, int]] = []
    marks: list[tuple[int, str]] = []
    marks_width: int = 1
    """Of this many neighbouring marks of one icon, only the first is kept."""

    def note(self, k: int, graph: str, tokens: int, icon: str) -> None:
        """Take in event number `k`."""
        at = (k - 1) // self.width
        while at >= bins_max:
            self._halve()
            at = (k - 1) // self.width
        while len(self.bins) <= at:
            self.bins.append({})
        if tokens:
            self.bins[at][graph] = self.bins[at].get(graph, 0) + tokens
        if icon in MARKED:
            self._mark(k, icon)

    def _halve(self) -> None:
        self.width *= 2
        pairs = [self.bins[at : at + 2] for at in range(0, len(self.bins), 2)]
        self.bins = [_sum(pair) for pair in pairs]

    def _mark(self, k: int, icon: str) -> None:
        if any(other == icon and k - number < self.marks_width for number, other in self.marks[-4:]):
            return
        self.marks.append((k, icon))
        if len(self.marks) > marks_max:
            self.marks_width *= 2
            kept: dict[tuple[str, int], int] = {}
            for number, other in self.marks:
                kept.setdefault((other, number // self.marks_width), number)
            self.marks = sorted((number, other) for (other, _), number in kept.items())


def _sum(parts: list[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for graph, tokens in part.items():
            total[graph] = total.get(graph, 0) + tokens
    return total
