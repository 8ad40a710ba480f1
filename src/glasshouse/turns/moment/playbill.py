"""`Playbill`: the fields of a run's scenario that the rules of turns need, read from `run.started`.

Always holds: its scenario was checked when it was opened. Fields that only opening needs are not here. A run without a
scenario has an empty playbill.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from glasshouse.errors import WrongType, check_type
from glasshouse.events.described_tool import SERVER_SEPARATOR
from glasshouse.events.event import Json
from glasshouse.reprs import repr_of

Rule = Literal["ask", "refuse", "allow"]
"""What happens to a change that needs a second look: somebody outside is asked, or the answer is always the same."""


class Beat(msgspec.Struct, frozen=True):
    """What the world shows when a run reaches a turn."""

    turn: int
    text: str
    title: str = ""
    at: str | None = None
    """It is shown only in the graph of the creature with this cast key; none: in every graph of the run."""


class Competition(msgspec.Struct, frozen=True):
    """The teams or contestants of a scenario, and the referee that decides who won."""

    kind: Literal["none", "judged", "versus"] = "none"
    teams: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Team -> cast keys."""
    contestants: tuple[str, ...] = ()
    """The cast keys that a judge may name, if there are no teams."""
    referee: str | None = None

    @property
    def may_win(self) -> tuple[str, ...]:
        """The names of winners that a verdict may give."""
        return tuple(self.teams) or self.contestants


class ServerPlan(msgspec.Struct, frozen=True):
    """A tool server that a world declares: the command that starts it, or its address."""

    command: tuple[str, ...] = ()
    url: str | None = None
    variables: tuple[str, ...] = ()
    """The environment variables that it could use. A world gets none by naming it."""


class Policy(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What the creatures of a run may do with tools: to their graph (ADR 0035), and by tools of servers (ADR 0089)."""

    __repr__ = repr_of()

    population_max: Annotated[int, msgspec.Meta(ge=1)] | None = None
    edits_per_turn_max: Annotated[int, msgspec.Meta(ge=0)] | None = None
    protected: tuple[str, ...] = ()
    untrusted_edits: Rule = "ask"
    untrusted_joins: Rule | None = None
    """The same for a join of two graphs in which only creatures of this run are; none: as `untrusted_edits` (ADR 0102)."""
    other_runs: Rule = "ask"
    """Whether its creatures may join graphs with creatures of other runs, and others may join theirs (ADR 0055)."""
    untrusted_tools: Rule = "ask"
    """What happens to a call of a server's tool that is not marked as read-only."""
    spawn: Literal["listed", "written"] = "listed"
    """Which creatures may be born: those of the list, or also those that a privileged creature's model writes."""
    hidden: bool = False
    """Whether graphs with a creature of this run are hidden from creatures of other graphs."""


def policy_as_json(policy: Policy) -> Json:
    """A policy that a program gave, as `run.started` records it; refused in words if a value in it is wrong."""
    check_type("policy=", policy, Policy, "a Policy", "Write Policy(population_max=6).")
    given: Json = msgspec.to_builtins(policy)
    try:
        msgspec.convert(given, Policy)
    except msgspec.ValidationError as wrong:
        raise WrongType(f"The policy is wrong: {wrong}.", "Its fields are as in a scenario.") from wrong
    return given


class DealRule(msgspec.Struct, frozen=True):
    """What the holder of a dealt fact may do with it."""

    may_say: bool | tuple[str, ...] = False
    """Whether it may say aloud a fact of a word or two; or the kinds of line in which it may."""

    def may_be_said_in(self, kind: str | None) -> bool:
        """Whether a line of this kind may say the fact. None stands for what is noted beside a line."""
        return self.may_say if isinstance(self.may_say, bool) else kind in self.may_say


MAY_BE_SAID = DealRule(may_say=True)
KEPT = DealRule()


class EndsWhen(msgspec.Struct, frozen=True):
    """What ends a run: `count` events of a kind, or the ruling of a referee."""

    kind: str | None = None
    count: int = 1
    referee: bool = False


class Playbill(msgspec.Struct, frozen=True):
    """A scenario as its creatures and its conductor need it."""

    name: str = ""
    title: str = ""
    goal: str = ""
    language: str = "en"
    kinds: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    """Kind -> field -> its type, or the words allowed in it."""
    competition: Competition = Competition()
    deal: dict[str, DealRule] = msgspec.field(default_factory=dict)
    """The name of a dealt fact -> its rule."""
    beats: tuple[Beat, ...] = ()
    ends_when: EndsWhen = EndsWhen()
    policy: Policy = Policy()
    tool_servers: dict[str, ServerPlan] = msgspec.field(default_factory=dict)
    documents: tuple[str, ...] = ()
    """Paths or patterns of the files that every creature with the tool for it may search."""

    @property
    def servers_granted(self) -> list[str]:
        """Its tool servers, each as the name that stands for all its tools."""
        return [f"{name}{SERVER_SEPARATOR}" for name in self.tool_servers]


def playbill_of(scenario: Json | None) -> Playbill:
    """The playbill of a scenario in the ledger; other fields of the scenario are ignored."""
    given = {name: value for name, value in (scenario or {}).items() if value is not None}
    return msgspec.convert(given, Playbill, strict=False)
