"""Credits: what each contestant's own lines are worth to a judge, by what was done in them.

Always holds: a line counts for whoever said it, and for nobody else; what a verdict quotes stands word for word in the
line whose number it cites.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe.reading import Heard
from glasshouse.troupe.talk.understanding import MoveSaid, understood


class _Worth(NamedTuple):
    worth: float
    sort: str
    slot: str = ""
    """The gap that a verdict repeats."""


QUOTE: Final = "quote"
SHOWN: Final = "shown"
PERFORMED: Final = "performed"
CALM: Final = "calm"
FAIR: Final = "fair"

_WORTH: Final[Mapping[str, _Worth]] = MappingProxyType(
    {
        "present": _Worth(3.0, SHOWN, "made"),
        "perform-made": _Worth(3.0, PERFORMED, "fact"),
        "perform": _Worth(3.0, PERFORMED, "fact"),
        "perform-thing": _Worth(3.0, PERFORMED, "made"),
        "perform-for": _Worth(3.0, PERFORMED),
        "perform-plain": _Worth(3.0, PERFORMED),
        "give-reason": _Worth(2.0, QUOTE, "fact"),
        "boast": _Worth(1.5, QUOTE, "fact"),
        "top": _Worth(1.5, QUOTE, "fact"),
        "give-part": _Worth(1.2, QUOTE, "fact"),
        "bear-event": _Worth(1.2, CALM),
        "grudge": _Worth(1.0, FAIR),
        "take-reason": _Worth(0.5, FAIR),
        "oppose": _Worth(0.5, ""),
        "tell-want": _Worth(0.4, ""),
        "no-reason": _Worth(-0.5, ""),
        "boast-plain": _Worth(-0.5, ""),
        "keep-secret": _Worth(-0.5, ""),
    }
)
"""What a move is worth, and as what a verdict speaks of it: a thing that is shown most, a reason much, a wish little."""
_FOREIGN_WORTH: Final = 0.8
"""What a statement is worth that is none of the general talk."""
quote_words_max: Final = 14
"""A longer sentence is not quoted in a verdict."""
quote_words_min: Final = 4
"""A shorter one says too little."""
_SENTENCES: Final = re.compile(r"(?<=[.?!])\s+")
_CALL: Final = re.compile(r",\s*(?:contestant )?[A-Z][\w-]*(?:\s(?:of|the|[A-Z])[\w-]*){0,4}$")


class PointMade(NamedTuple):
    """One point that a contestant made: its line, what it is worth, as what it counts, and what may be repeated of it."""

    line: Heard
    worth: float
    sort: str
    words: str


def points_of(lines: Iterable[Heard], contestant: str) -> list[PointMade]:
    """The points that one contestant made, the weightiest first, of equals the newest."""
    points = [point for line in lines if line.handle == contestant for point in _points_in(line)]
    points.sort(key=lambda point: (-point.worth, -int(point.line.ref)))
    done = [point for point in points if point.sort == PERFORMED]
    # Who does it twice is not better for it.
    return [point for point in points if point not in done[1:]]


def sum_of(points: Sequence[PointMade]) -> float:
    """What some points are worth together."""
    return sum(point.worth for point in points)


def _points_in(line: Heard) -> list[PointMade]:
    moves = understood(line.text)
    if moves:
        return [_point(line, said) for said in moves if said.move in _WORTH]
    points = []
    for sentence in _SENTENCES.split(line.text):
        words = _CALL.sub("", sentence.rstrip(".!"))
        if sentence and not sentence.endswith("?"):
            points.append(PointMade(line, _FOREIGN_WORTH, QUOTE, _quotable(words)))
    return points


def _point(line: Heard, said: MoveSaid) -> PointMade:
    worth = _WORTH[said.move]
    words = (said.slots.get(worth.slot) or "") if worth.slot else ""
    return PointMade(
        line, worth.worth, worth.sort, _quotable(words) if worth.sort in {QUOTE, PERFORMED} else words
    )


def _quotable(words: str) -> str:
    """Words that a verdict may quote; empty if they are too many, too few, or quote somebody themselves."""
    return words if quote_words_min <= len(words.split()) <= quote_words_max and '"' not in words else ""
