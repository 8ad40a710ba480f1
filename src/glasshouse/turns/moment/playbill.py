"""`Playbill`: what a run's `run.started` tells of its scenario, as the rules of turns read it.

Always holds: it is made from a scenario that was checked when it was opened; fields that only opening needs are not
here. A run without a scenario has an empty playbill.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from glasshouse.events.event import Json


class Beat(msgspec.Struct, frozen=True):
    """A turn of fortune: what the world shows when a run reaches a turn."""

    turn: int
    text: str
    title: str = ""
    at: str | None = None
    """The cast key of the one in whose graph it is shown; none: in every graph."""


class Competition(msgspec.Struct, frozen=True):
    """Who plays for what, and who says who won."""

    kind: Literal["none", "judged", "versus"] = "none"
    teams: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Team to cast keys."""
    contestants: tuple[str, ...] = ()
    """Cast keys that a judge may name, where there are no teams."""
    referee: str | None = None

    @property
    def may_win(self) -> tuple[str, ...]:
        """The names a verdict may give."""
        return tuple(self.teams) or self.contestants


class Policy(msgspec.Struct, frozen=True):
    """What the privileged of a run may do to their graph."""

    population_max: int | None = None
    edits_per_turn_max: int | None = None
    protected: tuple[str, ...] = ()
    untrusted_edits: Literal["ask", "refuse", "allow"] = "ask"
    hidden: bool = False
    """Whether graphs with a creature of this run are kept from the creatures of others."""


class EndsWhen(msgspec.Struct, frozen=True):
    """What ends a run by itself: so many events of a kind, or a referee's word."""

    kind: str | None = None
    count: int = 1
    referee: bool = False


class TurnLimit(msgspec.Struct, frozen=True):
    """What the scenario's `governor` says beside its limits."""

    on_turn_limit: Literal["finish", "defer"] = "finish"


class Playbill(msgspec.Struct, frozen=True):
    """A scenario as its creatures and its conductor need it."""

    name: str = ""
    title: str = ""
    goal: str = ""
    language: str = "en"
    kinds: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    """Fields of the world's own kinds: a field's type, or the words it may be."""
    competition: Competition = Competition()
    beats: tuple[Beat, ...] = ()
    ends_when: EndsWhen = EndsWhen()
    policy: Policy = Policy()
    governor: TurnLimit = TurnLimit()


def playbill_of(scenario: Json | None) -> Playbill:
    """The playbill of a scenario as the ledger keeps it; fields it does not need are passed over."""
    if not scenario:
        return Playbill()
    given = {name: value for name, value in scenario.items() if value is not None}
    return msgspec.convert(given, Playbill, strict=False)
