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
from glasshouse.troupe.talk.understanding import understood

_WORTH: Final[Mapping[str, float]] = MappingProxyType(
    {
        "give-reason": 2.0, "stand": 1.5, "oppose": 1.0, "stand-against": 1.0, "give-way": 1.5, "give-plan": 1.5, "tell-fact": 1.2, "tell-care": 1.0,
        "bear-event": 1.0, "close": 0.8, "hold-want": 0.5, "tell-want": 0.8, "tell-want-too": 0.8, "help-yes": 1.0,
        "no-reason": -0.5, "keep-secret": -0.5,
    }
)  # fmt: skip
"""What a move is worth: a reason most, a wish little, a question nothing."""
_FOREIGN_WORTH: Final = 0.8
"""What a statement is worth that is none of the general talk."""
quote_words_max: Final = 14
"""A longer sentence is not quoted in a verdict."""
_SENTENCES: Final = re.compile(r"(?<=[.?!])\s+")
_CALL: Final = re.compile(r",\s*(?:contestant )?[A-Z][\w-]*(?:\s(?:of|the|[A-Z])[\w-]*){0,4}$")


class PointMade(NamedTuple):
    """One point that a contestant made: its line, what it is worth, and the sentence that made it."""

    line: Heard
    worth: float
    sentence: str


def points_of(lines: Iterable[Heard], contestant: str) -> list[PointMade]:
    """The points that one contestant made, the weightiest first, of equals the newest."""
    points = [point for line in lines if line.handle == contestant for point in _points_in(line)]
    return sorted(points, key=lambda point: (-point.worth, -int(point.line.ref)))


def sum_of(points: Sequence[PointMade]) -> float:
    """What some points are worth together."""
    return sum(point.worth for point in points)


def _points_in(line: Heard) -> list[PointMade]:
    points = []
    moves = understood(line.text)
    start = 0
    for sentence in _SENTENCES.split(line.text):
        at = line.text.find(sentence, start)
        start = at + len(sentence)
        move = next((said.move for said in moves if at <= said.at < start), "")
        worth = _WORTH.get(move, 0.0) if moves else _FOREIGN_WORTH
        if worth and not sentence.endswith("?"):
            said = _CALL.sub("", sentence.rstrip(".!"))
            if len(said.split()) <= quote_words_max and '"' not in said:
                points.append(PointMade(line, worth, said))
    return points
