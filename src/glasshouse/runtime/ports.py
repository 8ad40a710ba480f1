"""What the runtime needs from outside: a store, models, tools, a clock, a source of ids. Adapters stand in `stores`,
`models` and `tools`.

Always holds: a store keeps bytes and their places; it knows nothing of creatures or graphs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.runtime.folded import Folded
from glasshouse.turns.prompt import Completion, Prompt
from glasshouse.turns.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.intents import AnyIntent, ReturnTool
from glasshouse.world.lineage import Span
from glasshouse.world.state import CreatureState, Segment
from glasshouse.world.values import Change


class SegmentWrite(msgspec.Struct, frozen=True, gc=False):
    """Encoded events for one segment, right after `expected_head`. With `opens`, the segment begins here.

    `inner` are the seqs that are not the last of their batch; where none is given, these events are one batch.
    """

    session_id: str
    expected_head: int
    bodies: tuple[bytes, ...]
    opens: Segment | None = None
    inner: frozenset[int] | None = None


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


class InboxLine(NamedTuple):
    """A line that another process left for a running terrarium."""

    number: int
    run_id: str | None
    text: str


class Store(Protocol):
    """Where the ledger is kept. Every error it raises on purpose is a `StoreError`."""

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

    async def batch_end(self, session_id: str, seq: int) -> int:
        """The seq of the last event of the batch that holds this one; 0 if there is no such event."""

    async def inner_seqs(self, session_id: str, upto: int) -> list[int]:
        """The seqs up to `upto` that are not the last of their batch."""

    async def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot with this key, of those taken at `at_most` or before, if one was kept."""

    async def prompt(self, digest: str) -> str | None:
        """The text of this digest that a model was given, if it is still kept."""

    async def put_in_inbox(self, text: str, run_id: str | None = None) -> int:
        """Leave a line for whoever runs this store; give its number."""

    async def read_inbox(self, lines_max: int) -> list[InboxLine]:
        """The oldest lines in the inbox. They stay until a batch names them as done."""


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

    @property
    def is_priced(self) -> bool:
        """Whether anybody knows what a call costs."""
        return self.usd_per_million_in is not None and self.usd_per_million_out is not None

    def usd(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost; unknown prices count as nothing."""
        cost = tokens_in * (self.usd_per_million_in or 0) + tokens_out * (self.usd_per_million_out or 0)
        return cost / 1_000_000


class Router(Protocol):
    """Turns the profile that a manifest asks for into a concrete model."""

    def route(self, profile: str, model: str | None = None, /) -> Route:
        """The model behind a profile, or the one of this name that a run has put in its place; or a refusal."""


BeforeCommit = Callable[[], Awaitable[None]]
"""Awaited before anything is written: where a replay lets happen what came from outside."""


class Outcome(Protocol):
    """What came of an intent, durable."""

    @property
    def events(self) -> list[Event]:
        """The events that tell of it."""


class Door(Protocol):
    """The ledger as a tool may use it: the same door as everybody's."""

    @property
    def folded(self) -> Folded:
        """The pending world, and what the rules of playing keep beside it."""

    async def wait_for_room(self) -> None:
        """Wait until the next change is decided at once: what is asked of the world until then holds for it."""

    async def change(self, intent: AnyIntent) -> Outcome:
        """Decide an intent and wait until what came of it is durable."""

    async def edit(self, intent: AnyIntent, cause: str, tell: Callable[[Change, str], AnyIntent]) -> Outcome:
        """Decide an intent and what is told of it, as one batch: all or nothing."""


class Errand:
    """One call of a tool on behalf of a creature in the middle of its act."""

    __slots__ = (
        "before_commit",
        "called",
        "cause",
        "creature_id",
        "is_untrusted",
        "ledger",
        "number",
        "on_the_way",
        "returned",
        "then",
        "tool",
    )

    def __init__(
        self,
        ledger: Door,
        creature_id: str,
        cause: Event,
        called: Event,
        *,
        is_untrusted: bool,
        on_the_way: tuple[Event, ...] = (),
        then: tuple[Event, ...] = (),
        before_commit: BeforeCommit | None = None,
    ) -> None:
        self.ledger = ledger
        self.creature_id = creature_id
        self.cause = cause
        """What the act answers."""
        self.called = called
        """The `tool.called` that asks for this; durable."""
        self.tool = str(called.payload["tool"])
        self.number = int(called.payload["number"])
        self.is_untrusted = is_untrusted
        """Whether a visitor's words, or those of a tool that is not the engine's, were in this act's prompts."""
        self.on_the_way = on_the_way
        """What this very call has written already, where it is carried out again after a crash: `edit.proposed` and
        `edit.decided`."""
        self.then = then
        """In a replay, what this call wrote on its way then."""
        self.before_commit = before_commit
        self.returned: Event | None = None
        """The `tool.returned`, where the tool itself has written it together with its edit."""

    @property
    def folded(self) -> Folded:
        """The pending world."""
        return self.ledger.folded

    @property
    def creature(self) -> CreatureState | None:
        """The caller as it is now; none if it was removed meanwhile."""
        return self.ledger.folded.world.creatures.get(self.creature_id)

    async def wait_for_room(self) -> None:
        """Wait until the next change is decided at once: what is asked of the world until then holds for it."""
        if self.before_commit is not None:
            await self.before_commit()
        await self.ledger.wait_for_room()

    async def write(self, intent: AnyIntent) -> None:
        """Write something on the way of this call; on return it is durable."""
        await self.wait_for_room()
        await self.ledger.change(intent)

    async def edit(self, intent: AnyIntent, answer: Callable[[Change, str], ToolAnswer]) -> ToolAnswer:
        """Carry out an intent and tell the caller of it, in one batch; the answer, which is then written already.

        `answer` sees the world right after the change, and must not raise. Raises `Refused` where the intent is refused.
        """
        answers: list[ToolAnswer] = []

        def tell(change: Change, subject: str) -> ReturnTool:
            answers.append(answer(change, subject))
            return self.returning(answers[0], is_edit=True)

        outcome = await self.ledger.edit(intent, self.called.id, tell)
        self.returned = next(
            (one for one in outcome.events if one.caused_by == self.called.id and _tells(one)), None
        )
        return answers[0]

    def returning(self, answer: ToolAnswer, *, is_edit: bool = False) -> ReturnTool:
        """The intent that writes an answer."""
        return ReturnTool(
            creature=self.creature_id,
            called=self.called.id,
            tool=self.tool,
            number=self.number,
            is_ok=answer.is_ok,
            text=answer.text,
            result=answer.result,
            is_edit=is_edit,
            is_engine=answer.is_engine,
        )


def _tells(event: Event) -> bool:
    return event.kind == kinds.TOOL_RETURNED


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

    is_approved: bool
    by: str
    reason: str = ""


Approver = Callable[[Proposal], Awaitable["bool | Verdict | None"]]
"""Asks somebody outside whether a change may be made. None: nobody is there."""


class Clock(Protocol):
    """Tells the wall time, which is data and never order."""

    def now(self) -> datetime:
        """The time now, with a time zone."""


class Ids(Protocol):
    """Makes ids that nothing determines: of a new store, of a new run."""

    def new(self) -> str:
        """Sixteen hexadecimal characters."""
