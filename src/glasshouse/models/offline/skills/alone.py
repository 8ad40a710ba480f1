"""Alone: one player who has every part to play takes them in turn.

Chosen by who is around: nobody. Always holds: the part that was played longest ago comes first; one that is as old as
another, in the order of the schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from glasshouse.models.offline.reading import Reading
from glasshouse.models.offline.skills.reply import Branch

parts_min: Final = 2
_COMPANY: Final = "With you:"


def parts_in_turn(reading: Reading, branches: Sequence[Branch]) -> list[Branch]:
    """The branches that a player who is alone tries one after another; none if there is company, or one part only."""
    parts = [one for one in branches if not one.is_passing]
    if len(parts) < parts_min or _COMPANY in reading.around:
        return []
    played = {line.kind: place for place, line in enumerate(reading.discussion) if reading.is_mine(line)}
    return sorted(parts, key=lambda one: played.get(one.kind, -1))
