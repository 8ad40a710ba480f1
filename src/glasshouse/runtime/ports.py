"""What the runtime needs from outside: a store, models, tools, a clock, a source of ids. The adapters are in
`stores`, `models` and `tools`.

Always holds: a store keeps bytes and their positions; it knows nothing of creatures or graphs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import msgspec

from glasshouse.events.event import Event, Json
from glasshouse.events.shown import Shown
from glasshouse.reprs import repr_of, shown
from glasshouse.runtime.errand import Errand
from glasshouse.runtime.folded import Folded
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.decisions.requests import Request
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import CreatureState, Segment


class SegmentWrite(msgspec.Struct, frozen=True, gc=False):
    """Encoded events for one segment, right after `expected_head`. With `opens`, the segment begins here.

    The events of a batch are one change. An import carries many: for each of its events `changes` gives the id of the
    first event of that event's change.
    """

    session_id: str
    expected_head: int
    bodies: tuple[bytes, ...]
    opens: Segment | None = None
    changes: tuple[str, ...] | None = None


class Snapshot(NamedTuple):
    """A projection's state as bytes: a cache. `at` is the last position or seq that went into it."""

    scope: str
    name: str
    key: str
    at: int
    body: bytes


class Batch(msgspec.Struct, frozen=True, gc=False):
    """Writes that become durable together or not at all; with them, a cached snapshot to keep, and the inbox
    lines that these writes answer and that go out of the inbox with them."""

    writes: tuple[SegmentWrite, ...] = ()
    snapshot: Snapshot | None = None
    inbox_done: tuple[int, ...] = ()
    prompts: tuple[tuple[str, str], ...] = ()
    """Texts that models were given, each with its digest: kept beside the ledger, which is whole without them."""
    shown: tuple[Shown, ...] = ()
    """The lines that the model calls behind the one event of this batch were shown, call by call: kept like prompts."""
    request: Request | None = None
    """What was asked for, where somebody outside asked."""


class InboxLine(NamedTuple):
    """A line that another process left for a running terrarium."""

    number: int
    run_id: str | None
    text: str


class Store(Protocol):
    """Where the ledger is kept. Every error it raises on purpose is a `StoreError`.

    The events that it gives have their `position` and their `change`: the position of the first event of their change.
    """

    async def open(self, new_house_id: str) -> None:
        """Get ready; `new_house_id` becomes the id of a store that has none yet."""

    async def close(self) -> None:
        """Let go of everything. Closing twice is harmless."""

    @property
    def house_id(self) -> str:
        """The id that this store was given when it was made."""

    @property
    def position(self) -> int:
        """The position of the last committed event; 0 when there is none."""

    async def commit(self, batches: Sequence[Batch]) -> int:
        """Make the batches durable, in order, all or nothing; give the position of the first event."""

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        """The events of these spans in the order of histories."""

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        """The next events in the order of commits."""

    async def segments_after(self, position: int) -> list[Segment]:
        """The segments whose first event lies behind this position, in the order of commits."""

    async def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot with this key, of those taken at `at_most` or before, if one was kept."""

    async def prompt(self, digest: str) -> str | None:
        """The text of this digest that a model was given, if it is still kept."""

    async def requests(self, first: int, last: int) -> dict[int, Request]:
        """What was asked for, by the number of the change that came of it, for the changes between two numbers."""

    async def shown(self, position: int) -> tuple[Shown, ...] | None:
        """What the model calls behind the event at this position were shown, call by call, if it is still kept."""

    async def put_in_inbox(self, text: str, run_id: str | None = None) -> int:
        """Leave a line for whoever runs this store; give its number."""

    async def read_inbox(self, lines_max: int, after: int = 0) -> list[InboxLine]:
        """The oldest lines in the inbox behind this number. They stay until a batch names them as done."""


class Model(Protocol):
    """Answers prompts. It sees the prompt and nothing else. Raises `ModelUnreachable` if it was not reached."""

    async def complete(self, prompt: Prompt) -> Completion:
        """What the model says to this."""


class Route(NamedTuple):
    """The concrete model behind a profile, its settings, and its prices for a million tokens where they are known."""

    model: Model
    name: str
    context_tokens_max: int
    reply_tokens_max: int
    usd_per_million_in: float | None = 0.0
    usd_per_million_out: float | None = 0.0

    def __repr__(self) -> str:
        return shown(self, name=self.name, context_tokens_max=self.context_tokens_max)


class Router(Protocol):
    """Turns the profile that a manifest asks for into a concrete model."""

    def route(self, profile: str, model: str | None = None, /) -> Route:
        """The model behind a profile, or the one of this name that a run has put in its place; or a refusal."""


class Toolbox(Protocol):
    """Offers tools to creatures, and carries them out."""

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """What this creature may use now. Asked only for creatures with tools in their manifest, or with privilege."""

    def has(self, tool: str) -> bool:
        """Whether this is the toolbox that carries out tools of this name."""

    def names(self) -> frozenset[str]:
        """The names that a manifest may grant."""

    async def use(self, call: ToolCall, errand: Errand) -> ToolAnswer:
        """Carry a call out. What goes wrong is an answer in words; raises only if cancelled, or if the store fails."""


class Proposal(msgspec.Struct, frozen=True):
    """A change by a tool that somebody outside is asked about: a visitor's or a tool's words may have led to it."""

    __repr__ = repr_of("handle", "tool", "why")

    creature: str
    """The id of who wants it."""
    handle: str
    run_id: str | None
    tool: str
    arguments: Json
    why: str
    """What it would do and why it is asked, in words."""


class Verdict(msgspec.Struct, frozen=True):
    """What somebody outside said to a proposal, or that nobody did."""

    __repr__ = repr_of("is_approved", "by", "reason")

    is_approved: bool
    by: str
    reason: str = ""


Approver = Callable[[Proposal], Awaitable["bool | Verdict | None"]]
"""Asks somebody outside whether a change may be made. None: nobody is there."""


class Clock(Protocol):
    """Tells the wall time, which is data and never order."""

    def now(self) -> datetime:
        """The time now, with a time zone."""

    async def sleep(self, seconds: float) -> None:
        """Wait until so much time has passed."""


class Ids(Protocol):
    """Makes ids that nothing determines: of a new store, of a new run."""

    def new(self) -> str:
        """Sixteen hexadecimal characters."""
