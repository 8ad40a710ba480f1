"""Solo parts: a player who is alone and has every part to play takes them in turn.

Always holds: the part that was played longest ago comes first; parts of the same age come in the order of the schema.
Talk is no part, because there is nobody to talk to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from glasshouse.troupe import kinds
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.skills.branches import Branch

parts_min: Final = 2
"""An offline player who is alone takes parts in turn from this many on."""
_COMPANY: Final = "With you:"


def is_alone(reading: Reading) -> bool:
    """Whether nobody else is around."""
    return _COMPANY not in reading.around


def said_before(reading: Reading) -> list[Heard]:
    """What others said; where nobody else is around, also what I said in my other parts, in its order."""
    if not is_alone(reading):
        return reading.heard
    mine = [line for line in (*reading.remembered, *reading.discussion) if reading.is_mine(line)]
    order = {line.ref: at for at, line in enumerate(reading.discussion)}
    lines = {line.ref: line for line in (*reading.heard, *mine)}
    return sorted(lines.values(), key=lambda line: order.get(line.ref, -1))


def parts_in_turn(reading: Reading, branches: Sequence[Branch]) -> list[Branch]:
    """The branches that a player who is alone tries one after another; none if there is company, or one part only."""
    parts = [branch for branch in branches if not branch.is_passing and branch.kind != kinds.AGENT_SPOKE]
    if len(parts) < parts_min or not is_alone(reading):
        return []
    played = {line.kind: index for index, line in enumerate(reading.discussion) if reading.is_mine(line)}
    return sorted(parts, key=lambda branch: played.get(branch.kind, -1))
