"""What is told when a run has ended: how, on which lines that rests, what it revealed, and where it could have gone otherwise.

Always holds: everything here is in the ledger, redacted for the role. A fact that was sealed is told only if the words of
the ending say it. Only roles that may read a creature's manifest are told what it wanted, and only a director is offered branches.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from glasshouse.events.event import RESERVED_ACTORS, VISITOR, Event
from glasshouse.events.redaction import Role
from glasshouse.reprs import repr_of

last_words_max: Final = 24
"""How many creatures are told with their last line, those that spoke last first."""
facts_revealed_max: Final = 64
"""How many sealed facts are told."""

Turn = Literal["apart", "together", "unsaid", "disturbed"]


class Said(msgspec.Struct, frozen=True, gc=False):
    """A line, whole."""

    __repr__ = repr_of("who", "text", "event_id")

    event_id: str
    creature: str
    who: str
    """The handle of its actor."""
    kind: str
    text: str
    graph: str
    channel: str | None = None


class Revealed(msgspec.Struct, frozen=True, gc=False):
    """A fact that was dealt to one creature alone, and that the ending says aloud."""

    __repr__ = repr_of("fact", "who", "text")

    fact: str
    creature: str
    who: str
    text: str


class LastWord(msgspec.Struct, frozen=True, gc=False):
    """The last line of a creature, beside what its manifest says that it wants."""

    __repr__ = repr_of("who", "wants", "text")

    creature: str
    who: str
    n: int
    """The number of the line in the story."""
    text: str
    wants: str | None = None
    """None: the role may not read it, or it wants nothing."""


class TurningPoint(msgspec.Struct, frozen=True, gc=False):
    """A branch that is ready to be made: where the run could have gone otherwise."""

    __repr__ = repr_of("what", "who", "at", "disturb")

    what: Turn
    """`apart`: the first graphs that merged do not. `together`: the first graph that split does not. `unsaid`: the newest line
    that the verdict cites is not said. `disturbed`: a visitor comes in the last scene."""
    at: str
    """The event that the branch is made at."""
    drop: bool = False
    """Whether it begins right before that event, which does not happen."""
    disturb: str | None = None
    """What the visitor says."""
    who: str = ""
    """Whose call or line does not happen."""


class Curtain(msgspec.Struct, frozen=True):
    """The end of a run."""

    __repr__ = repr_of("run_id", "outcome", "verdict")

    run_id: str
    role: Role
    world: str
    """The name of its world; empty if it had none."""
    outcome: str
    """How it ended, in a sentence."""
    turns: int
    lines: int
    """How many lines its creatures said."""
    verdict: Said | None
    why: str | None
    """The referee's words where they are not the verdict's."""
    rests_on: tuple[Said, ...]
    """The lines that the verdict cites, the oldest first."""
    last_line: Said | None
    revealed: tuple[Revealed, ...]
    last_words: tuple[LastWord, ...]
    creatures_count: int
    """How many creatures said something, with those that are not listed."""
    has_sealed: bool
    """Whether anything was sealed in this run."""
    what_ifs: tuple[TurningPoint, ...]


def can_be_left_out(line: Event) -> bool:
    """Whether a branch can be made in which this line is not said: a creature or a visitor said it."""
    return line.actor == VISITOR or (line.actor not in RESERVED_ACTORS and line.ends_its_act)
