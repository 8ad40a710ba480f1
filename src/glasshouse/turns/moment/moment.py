"""`Moment`: everything that an agent gets for one act. The agent reads it and returns one draft, or none.

Always holds: it contains only what its creature may see. The `private` and `sealed` parts of events and their model
calls have been removed. An agent that is code of a program gets copies (`OwnMoment`): it cannot change the engine's
state through them. The engine's own agents only read, and share the engine's values.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from copy import deepcopy
from functools import cached_property
from typing import Any, Protocol

import msgspec
from msgspec.structs import astuple

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event, Json, own_copy
from glasshouse.events.shown import Shown
from glasshouse.model_values import Form
from glasshouse.reprs import repr_of
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.depth import USUAL_DEPTH, PromptDepth
from glasshouse.turns.moment.masks import Masks
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.prompt import Completion, Prompt, seed_of
from glasshouse.turns.moment.tools import (
    GROUP_PREFIX,
    ToolAnswer,
    ToolCall,
    ToolOffer,
    ToolTalk,
    needs_privilege,
)
from glasshouse.views.stage import StageProjection, rebuild_stage
from glasshouse.world.hearing.wires import Handed


class Recent(msgspec.Struct, frozen=True, gc=False):
    """The newest events that a creature has seen: a part of a list that moments share, to which events are only
    appended. So no act copies, or compares, hundreds of events."""

    shared: list[Event]
    start: int
    stop: int

    @classmethod
    def of(cls, events: Iterable[Event]) -> Recent:
        """These events, in a list of their own."""
        own = list(events)
        return cls(own, 0, len(own))

    @property
    def events(self) -> list[Event]:
        """The events, oldest first."""
        return self.shared[self.start : self.stop]

    def new_since(self, before: Recent) -> tuple[list[Event], list[Event]] | None:
        """The events that only `before` holds, and those that only this one holds; none if it does not continue
        `before`."""
        if self.shared is before.shared and before.start <= self.start <= before.stop <= self.stop:
            return self.shared[before.start : self.start], self.shared[before.stop : self.stop]
        events = self.events
        seen = before.events
        if seen and (not events or events[0] not in seen):
            return None
        gone = seen.index(events[0]) if seen else 0
        both = len(seen) - gone
        return (seen[:gone], events[both:]) if events[:both] == seen[gone:] else None


class FarLine(msgspec.Struct, frozen=True, gc=False):
    """A line that a creature with long memory recalls from beyond its moment."""

    __repr__ = repr_of("known_as", "event")

    event: Event
    """Its public part, with present names."""
    known_as: str | None
    """The name by which the creature knows its actor."""


class Neighbour(msgspec.Struct, frozen=True):
    """A creature in the same graph, as another one sees it."""

    handle: str
    role: str
    channels: tuple[str, ...] = ()
    """The names of the channels that both are on."""
    title: str = ""
    """What it is called, if its manifest says so."""


class Around(msgspec.Struct, frozen=True, cache_hash=True):
    """A creature's surroundings in its graph at one moment. Its size is bounded, however large the graph is."""

    listens: tuple[str, ...] = ()
    sends: tuple[str, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    neighbours_count: int = 0
    wired_to: tuple[str, ...] = ()
    wired_from: tuple[str, ...] = ()
    channels_heard_count: int = 0
    """For a root: how many channels its graph has. It hears all of them."""
    children: tuple[str, ...] = ()
    """For a privileged creature: the handles of its children."""
    children_count: int = 0


NOTHING_SHOWN = Shown()


class Ask(Protocol):
    """Asks the model of a creature's profile. Calls are limited and recorded; raises `BudgetExceeded` at a limit."""

    async def __call__(self, prompt: Prompt, shown: Shown = NOTHING_SHOWN, /) -> Completion:
        """The model's answer. `shown` lists the events whose lines are in the prompt, for `why`."""


class OwnCall(Protocol):
    """A model call that an agent makes by its own means, while it is under way."""

    def report(
        self,
        *,
        input_tokens: int,
        output_tokens: int,
        usd: float | None = None,
        prompt: str = "",
        reply: str = "",
    ) -> None:
        """Say what the call cost. `prompt` and `reply` are kept with it, for `why`."""


class OwnCalls(Protocol):
    """Counts a call that an agent makes by its own means. What it may cost is reserved when the block begins, which raises
    `BudgetExceeded` at a limit; what it cost is recorded when the block ends."""

    def __call__(
        self,
        model: str,
        /,
        *,
        tokens_max: int,
        usd_max: float | None = None,
        is_untrusted: bool | None = None,
    ) -> AbstractAsyncContextManager[OwnCall]:
        """The block round the call. One that reports nothing costs its worst case; a price that is None is unknown."""


Carry = Callable[[ToolCall], Awaitable[ToolAnswer]]
"""Runs a call of a tool that was offered. The call and its result are recorded (ADR 0034)."""


class Moment(msgspec.Struct, frozen=True, dict=True):
    """The world as one creature sees it in one act."""

    __repr__ = repr_of("handle", "turn", "cause", "run_id")

    run_id: str | None
    turn: int
    cause: Event
    """The event that this act answers; `turn.started` for a tick."""
    creature_id: str
    handle: str
    character: Character
    playbill: Playbill
    heard: Recent
    """What the creature has seen lately, as the engine keeps it; `recent_events` gives the events."""
    lines_before: int
    """How many lines it had heard before the first of `recent_events`. The start of the prompt's window depends on it."""
    handles: Mapping[str, str]
    """Creature id -> handle, for the actors in `recent_events` and the creatures around."""
    around: Around
    ask: Ask
    spending: OwnCalls
    known: Json = msgspec.field(default_factory=dict)
    """What was dealt to this creature alone."""
    as_of: str | None = None
    """The last event of its graph's history that this moment includes."""
    number_in_run: int = 0
    """Its number among the creatures of its run."""
    house_id: str = ""
    """The id of the store. Caches that last from one moment to the next use it in their keys."""
    act_key: str = ""
    """What the seeds of this act are made from."""
    form: Form = "schema"
    """How the reply is asked for."""
    context_tokens_max: int = 8_192
    reply_tokens_max: int = 384
    depth: PromptDepth = USUAL_DEPTH
    """How much the prompt shows, by the size of the model that plays."""
    masks: Masks | None = None
    """The labels that replace contestants' names in a judge's prompt; none for other creatures."""
    handed: Handed | None = None
    """What a wire delivered with the cause; none if no wire did. Without content, the cause's payload is empty."""
    tools: tuple[ToolOffer, ...] = ()
    """The tools that this creature may use now."""
    talk: tuple[ToolTalk, ...] = ()
    """The tool calls of this act so far, and their answers."""
    visitors: frozenset[str] = frozenset()
    """Creatures that a visitor plays, so that their words are a visitor's. Set only for creatures with tools."""
    carry: Carry | None = None
    again: Callable[[], Moment] | None = None
    recalled: tuple[FarLine, ...] = ()
    """For a creature with long memory: what it recalls beside its recent events, oldest first."""

    async def use(self, tool: str, /, **arguments: Any) -> ToolAnswer:
        """Call a tool during this act. If the tool fails, the answer says why."""
        if self.carry is None and tool.startswith(GROUP_PREFIX):
            raise needs_privilege(tool, self.handle)
        if self.carry is None:
            raise Refused(f"{self.handle} has no tools.", "Grant some in its manifest: `tools: [...]`.")
        return await self.carry(ToolCall(tool, arguments))

    def look_again(self) -> Moment:
        """The moment with the tool answers since, and the graph as it is now. `recent_events` stays the same."""
        return self if self.again is None else self.again()

    @cached_property
    def seed(self) -> int:
        """A seed for random choices, the same for the same story."""
        return seed_of(self.act_key, 0)

    @cached_property
    def recent_events(self) -> tuple[Event, ...]:
        """What the creature has seen lately, oldest first, its own acts included."""
        return tuple(self.heard.events)

    @cached_property
    def projection(self) -> StageProjection:
        """The stage as this creature has seen it."""
        return rebuild_stage(self.recent_events)

    @property
    def window_lines_max(self) -> int:
        """How many of the latest lines the prompt shows: as the manifest says, else as the model's size does."""
        window = self.character.memory.window
        return self.depth.window_lines_max if window is None else window

    @property
    def is_kept_back(self) -> bool:
        """Whether a wire delivered only that the cause was said, without its words."""
        return self.handed is not None and not self.handed.with_content and not self.cause.payload

    @property
    def is_reflection(self) -> bool:
        """Whether the creature owes a reflection: it answers a line of its own, and nobody hears what it writes."""
        return self.character.reflects

    @property
    def is_tick(self) -> bool:
        """Whether this act is a tick: it answers no line."""
        return self.cause.kind == kinds.TURN_STARTED


def _copied(field: str, copy: Callable[[Any], Any]) -> Any:
    """A field that is copied when it is first read, so that a moment that nobody reads costs little."""
    shared = getattr(Moment, field)
    return cached_property(lambda moment: copy(shared.__get__(moment)))


class OwnMoment(Moment, frozen=True, dict=True):
    """A moment for code of a program: whatever it changes in here, the engine and other creatures do not notice."""

    def __repr__(self) -> str:
        return repr(shared_moment(self))

    cause = _copied("cause", own_copy)
    playbill = _copied("playbill", deepcopy)
    heard = _copied("heard", lambda shared: Recent.of(map(own_copy, shared.events)))
    handles = _copied("handles", dict)
    known = _copied("known", deepcopy)
    tools = _copied("tools", deepcopy)
    talk = _copied("talk", deepcopy)
    recalled = _copied(
        "recalled", lambda lines: tuple([FarLine(own_copy(line.event), line.known_as) for line in lines])
    )


def own_moment(moment: Moment) -> Moment:
    """The moment of an act, for an agent that is code of a program."""
    return OwnMoment(*astuple(moment))


def shared_moment(moment: Moment) -> Moment:
    """The same moment with the engine's own values, which caches of prompts know by their identity."""
    return moment if type(moment) is Moment else Moment(*astuple(moment))
