"""`Moment`: everything that an agent gets for one act. It reads the moment and gives back one draft, or none.

Always holds: nothing in it is outside its creature's sight. The `private` and `sealed` parts of others' events, and how
their models were asked, are removed before.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any, Protocol

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.shown import Shown
from glasshouse.reprs import repr_of
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.masks import Masks
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer, ToolTalk
from glasshouse.views.stage import StageProjection, rebuild_stage
from glasshouse.world.hearing.wires import Handed


class Neighbour(msgspec.Struct, frozen=True):
    """A creature in the same graph, as another one sees it."""

    handle: str
    role: str
    channels: tuple[str, ...] = ()
    """The names of the channels that both are on."""


class Around(msgspec.Struct, frozen=True):
    """How a creature stands in its graph at one moment; bounded, however large the graph is."""

    listens: tuple[str, ...] = ()
    sends: tuple[str, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    neighbours_count: int = 0
    wired_to: tuple[str, ...] = ()
    wired_from: tuple[str, ...] = ()
    channels_heard_count: int = 0
    """For a root: how many channels its graph has, all of which it hears."""
    children: tuple[str, ...] = ()
    """For a privileged creature: the handles of those that answer to it."""
    children_count: int = 0


NOTHING_SHOWN = Shown()


class Ask(Protocol):
    """Asks the model behind a creature's profile. Governed and recorded; raises `BudgetExceeded` when a limit trips."""

    async def __call__(self, prompt: Prompt, shown: Shown = NOTHING_SHOWN, /) -> Completion:
        """The model's answer. `shown` names the events whose lines stand in the prompt, for `why`."""


Carry = Callable[[ToolCall], Awaitable[ToolAnswer]]
"""Carries out a call of a tool that was offered. Recorded before and after."""


class Moment(msgspec.Struct, frozen=True, dict=True):
    """One act's view of the world."""

    __repr__ = repr_of("handle", "turn", "cause", "run_id")

    run_id: str | None
    turn: int
    cause: Event
    """The event this act answers; `turn.started` for a tick."""
    creature_id: str
    handle: str
    character: Character
    playbill: Playbill
    recent_events: tuple[Event, ...]
    """What the creature has seen lately, oldest first, its own acts included."""
    lines_before: int
    """How many lines it had heard before the first of those: what the window's place is counted from."""
    handles: Mapping[str, str]
    """The handles of the actors in `recent_events` and of everybody around, by creature id."""
    around: Around
    ask: Ask
    known: Json = msgspec.field(default_factory=dict)
    """What was dealt to this creature alone."""
    as_of: str | None = None
    """The last event of its graph's history that went into this moment."""
    number_in_run: int = 0
    """Its number among the creatures of its run."""
    house_id: str = ""
    """The store this happens in: what is kept of a creature from one moment to the next is kept by it."""
    seed: int = 0
    context_tokens_max: int = 8_192
    reply_tokens_max: int = 384
    masks: Masks | None = None
    """The labels that contestants wear in this creature's prompt: a judge's alone."""
    handed: Handed | None = None
    """What a wire gave along with the cause, if one handed it over. Without content, the cause's payload is empty."""
    tools: tuple[ToolOffer, ...] = ()
    """What this creature may use now."""
    talk: tuple[ToolTalk, ...] = ()
    """What it has used in this act, and what came of that."""
    visitors: frozenset[str] = frozenset()
    """Creatures whose words are a visitor's, because one plays them. Told only to those who have tools."""
    carry: Carry | None = None
    again: Callable[[], Moment] | None = None

    async def use(self, tool: str, /, **arguments: Any) -> ToolAnswer:
        """Use a tool in the middle of this act. What goes wrong in it is told in the answer."""
        if self.carry is None:
            raise Refused(f"{self.handle} has no tools.", "Grant some in its manifest: `tools: [...]`.")
        return await self.carry(ToolCall(tool, arguments))

    def look_again(self) -> Moment:
        """The same act's view with what its tools have said since, and the graph as it is now; the past stays the same."""
        return self if self.again is None else self.again()

    @cached_property
    def projection(self) -> StageProjection:
        """The stage as this creature has seen it."""
        return rebuild_stage(self.recent_events)

    @property
    def is_kept_back(self) -> bool:
        """Whether a wire told that the cause was said, and not what."""
        return self.handed is not None and not self.handed.with_content and not self.cause.payload

    @property
    def is_tick(self) -> bool:
        """Whether nobody asked: the creature's own time has come."""
        return self.cause.kind == kinds.TURN_STARTED
