"""Ports: what the runtime needs from outside: a store, models, tools, an approver, a clock and a source of ids. The
adapters are in `stores`, `models` and `tools`; the clocks and ids are in `runtime/clock.py`.

Always holds: a store keeps encoded events and their positions. It applies no rule about creatures or graphs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec

from glasshouse.events.codec import encoded
from glasshouse.events.described_tool import DescribedTool
from glasshouse.events.event import Event, Json
from glasshouse.events.model_use import Price
from glasshouse.events.shown import Shown
from glasshouse.model_values import Form
from glasshouse.reprs import repr_of, shown
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.playbill import ServerPlan
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.decisions.requests import Request
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import CreatureState, Segment

call_seconds_max: Final = 120.0
"""How long one model call may take, unless its route says otherwise."""


class SegmentWrite(msgspec.Struct, frozen=True, gc=False):
    """Encoded events for one segment, right after `expected_head`. With `opens`, the segment begins here.

    The events of a batch are one change. Only an import writes many changes in one batch: `changes` then gives, for
    each event, the id of the first event of its change.
    """

    session_id: str
    expected_head: int
    bodies: tuple[bytes, ...]
    opens: Segment | None = None
    changes: tuple[str, ...] | None = None


class Lines(NamedTuple):
    """Public lines that followed one another, each a change of its own."""

    events: list[Event]
    rows: list[Any]
    """The session, the seq and `rest_within_bounds` of each event, one after another. A store that writes in another thread
    reads these alone: each object that two threads touch is carried from core to core."""


class Snapshot(NamedTuple):
    """A projection's state as bytes, kept as a cache. `at` is the last position or seq that it includes."""

    scope: str
    name: str
    key: str
    at: int
    body: bytes


class Batch(msgspec.Struct, frozen=True, gc=False):
    """Writes that become durable together or not at all. A snapshot to keep, and the inbox lines and requests that these
    writes answer, go into the same commit."""

    writes: tuple[SegmentWrite, ...] = ()
    snapshot: Snapshot | None = None
    inbox_done: tuple[int, ...] = ()
    answers: tuple[tuple[int, str], ...] = ()
    """Answers to requests in the inbox, each with the number of its request. The first answer to a request stands."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Prompt texts, each with its digest. They are kept beside the ledger, which is complete without them."""
    shown: tuple[Shown, ...] = ()
    """For each model call behind the one event of this batch, the lines that its prompt held; kept like prompts (ADR
    0044)."""
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The labels of runs, each with the id of its run, in place of those it had. They stand beside the ledger (ADR
    0082)."""
    records: tuple[tuple[str, str], ...] = ()
    """Records of the houses in which imported sessions were played, each with its name, in place of those of the same name
    (ADR 0103)."""
    request: Request | None = None
    """The request that led to this batch, if it came from outside."""
    lines: Lines | None = None
    """Many changes in one batch, which then holds nothing else: the shortest way for the most frequent write."""

    @property
    def changes(self) -> Iterator[Batch]:
        """The same batch; one with lines as a batch for each line."""
        if self.lines is None:
            yield self
        else:
            for event in self.lines.events:
                yield Batch((SegmentWrite(event.session_id, event.seq - 1, (encoded(event),)),))


class InboxLine(NamedTuple):
    """A line that another process left for a running terrarium."""

    number: int
    run_id: str | None
    text: str


class InboxRequest(NamedTuple):
    """A change that another process asks for, as `world/decisions/requests.py` encodes it."""

    number: int
    body: str
    is_taken: bool = False
    """Whether a terrarium has begun to decide it. Then its sender can no longer withdraw it."""
    answer: str | None = None


class Store(Protocol):
    """Where the ledger is kept. Every error that a store raises on purpose is a `StoreError`.

    The events that it returns have their `position`, and their `change`: the position of the first event of their
    change.
    """

    async def open(self, new_house_id: str) -> None:
        """Open the store; `new_house_id` becomes the id of a store that has none yet."""

    async def close(self) -> None:
        """Release all resources. Closing twice is harmless."""

    @property
    def house_id(self) -> str:
        """The id that this store got when it was first opened."""

    @property
    def position(self) -> int:
        """The position of the last committed event; 0 when there is none."""

    def commit(self, batches: Sequence[Batch]) -> Awaitable[int]:
        """Make the batches durable, in order, all or nothing; returns the position of the first event."""

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        """The events of these spans in the order of histories."""

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        """At most `events_max` events after a position, in the order of commits."""

    async def segments_after(self, position: int) -> list[Segment]:
        """The segments whose first event comes after this position, in the order of commits."""

    async def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot with this key that was taken at `at_most` or before, if one is kept."""

    async def prompt(self, digest: str) -> str | None:
        """The prompt text with this digest, if it is still kept."""

    async def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels of every run that has some."""

    async def records(self) -> dict[str, str]:
        """The records of the houses in which imported sessions were played, by name."""

    async def requests(self, first: int, last: int) -> dict[int, Request]:
        """The requests behind the changes from `first` to `last`, by the number of the change."""

    async def shown(self, position: int) -> tuple[Shown, ...] | None:
        """For each model call behind the event at this position, the lines that its prompt held, if still kept."""

    async def put_in_inbox(self, text: str, run_id: str | None = None) -> int:
        """Leave a line for the process that plays this store; returns the line's number."""

    async def read_inbox(self, lines_max: int, after: int = 0) -> list[InboxLine]:
        """The oldest inbox lines after this number. A line stays until a batch names it in `inbox_done`."""

    async def put_request(self, body: str) -> int:
        """Leave a request for the process that plays this store; returns its number."""

    async def open_requests(self, requests_max: int) -> list[InboxRequest]:
        """The oldest requests in the inbox that have no answer yet."""

    async def inbox_request(self, number: int) -> InboxRequest | None:
        """One request in the inbox. Answered ones are kept until newer ones were answered."""

    async def take_request(self, number: int) -> bool:
        """Mark a request as taken. False if its sender has withdrawn it."""

    async def withdraw_request(self, number: int) -> bool:
        """Remove a request that nobody has taken. False if somebody has."""


OnText = Callable[[str], None]
"""Is given each piece of a reply's raw text as it comes."""


class Model(Protocol):
    """Answers prompts. It sees only the prompt.

    It makes one request for each call, and raises `ModelUnreachable`, `ModelFailed` or `ModelMisconfigured`; asking
    again is up to the caller. A model may also have `name`, `is_free`, `async probe()`, which returns a `Probe`, and
    `async close()`. If it has `streams = True`, it is called with `on_text` when somebody watches. Models with the same `backend`,
    the name of a server, share a queue with `max_parallel` slots and a circuit; `answers_at_once = True` says that it needs none.
    `load_seconds_max` is how much longer a call may take because the server loads the model first.
    """

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's answer to a prompt."""


class StreamingModel(Model, Protocol):
    """A model that can give its text as it comes."""

    async def complete(self, prompt: Prompt, *, on_text: OnText | None = None) -> Completion:
        """The model's answer to a prompt; pieces of its text go to `on_text` as they come."""


class ProbeCheck(msgspec.Struct, frozen=True):
    """One thing that a probe looked at."""

    __repr__ = repr_of("what", "is_good", "advice")

    what: str
    is_good: bool | None = None
    """None: it could not be found out."""
    advice: str = ""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What a model found out about its server and itself. None: unknown."""

    __repr__ = repr_of("is_reachable", "model", "problem")

    is_reachable: bool
    model: str = ""
    digest: str = ""
    context_tokens: int | None = None
    """How much the server takes now; often less than the model was trained for."""
    parameters_b: float | None = None
    """The size of the model in thousand millions of parameters."""
    quantization: str = ""
    slots: int | None = None
    """How many calls the server answers at the same time."""
    problem: str = ""
    advice: str = ""
    checks: tuple[ProbeCheck, ...] = ()


class Route(NamedTuple):
    """The concrete model behind a profile, and how it is asked."""

    model: Model
    name: str
    context_tokens_max: int
    reply_tokens_max: int
    price: Price | None = None
    """None: unknown."""
    form: Form | Literal["auto"] = "auto"
    """How it is asked to reply, unless a manifest says otherwise; `auto`: as its backend can."""
    decoding: Mapping[str, Any] = MappingProxyType({})
    """Settings of the sampling that are sent and recorded. Empty: the server's own."""
    reasoning_tokens_max: int = 0
    """How many tokens it may think before it replies."""
    call_seconds_max: float = call_seconds_max
    is_local: bool = False
    """Whether it runs on this machine, so that it costs nothing."""
    fallbacks: tuple[Route, ...] = ()
    """The routes to ask, in order, if this one cannot answer."""
    digest: str = ""
    """The digest of the model's weights, if its server tells one."""

    def __repr__(self) -> str:
        return shown(self, name=self.name, context_tokens_max=self.context_tokens_max)


class Router(Protocol):
    """Turns the profile that a manifest names into a concrete model."""

    def route(self, profile: str, model: str | None = None, /) -> Route:
        """The model behind a profile, or the model of this name if a run names one. Raises `Refused` if there is
        none."""


class Toolbox(Protocol):
    """Offers tools to creatures, and carries them out."""

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """The tools that this creature may use now."""

    def has(self, tool: str) -> bool:
        """Whether this toolbox carries out tools of this name."""

    def names(self) -> frozenset[str]:
        """The names that a manifest may grant."""

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        """Carry out a call. An error of the tool becomes its answer; raises only if cancelled, or if the store
        fails."""


class ToolServers(Protocol):
    """Describes tools of servers when they are granted, and tells a ledger when they change."""

    async def describe(
        self, tools: Collection[str], plans: Mapping[str, ServerPlan], folder: str | None, /
    ) -> Mapping[str, DescribedTool]:
        """What servers say of these tools now. `plans` are the servers that the world in this folder declares. Raises
        `Refused` if a server is not there, or a tool cannot be used."""

    def watch(self, ledger: Any, /) -> None:
        """Tell this ledger from now on what servers describe otherwise than it was granted."""

    async def close(self) -> None:
        """End all connections."""


class Proposal(msgspec.Struct, frozen=True):
    """A change by a tool, or a call of a server's tool, that needs approval from outside."""

    __repr__ = repr_of("handle", "tool", "why")

    creature: str
    """The id of the creature that asks for it."""
    handle: str
    run_id: str | None
    tool: str
    arguments: Json
    why: str
    """What would be done, and why approval is needed."""


class Verdict(msgspec.Struct, frozen=True):
    """The decision on a proposal."""

    __repr__ = repr_of("is_approved", "by", "reason")

    is_approved: bool
    by: str
    reason: str = ""


Approver = Callable[[Proposal], Awaitable["bool | Verdict | None"]]
"""Asks somebody outside whether a change may be made. It returns None if nobody is there to decide."""


class Clock(Protocol):
    """Gives the wall time. Events record it, but it never decides their order."""

    def now(self) -> datetime:
        """The time now, with a time zone."""

    async def sleep(self, seconds: float) -> None:
        """Wait until this much time has passed."""


class Ids(Protocol):
    """Makes the ids that do not follow from the ledger: those of new stores and of new runs."""

    def new(self) -> str:
        """Sixteen hexadecimal characters."""
