"""The store's port: what the runtime needs from the place where a terrarium is kept. Adapters are in `stores/`.

A store is one object with four protocols, because one commit makes the first three durable together:

| protocol | keeps | who reads it |
|---|---|---|
| `LedgerStore` | events in the order of commits, segments, snapshots | the ledger and everything that is folded or read from it |
| `SideTables` | what stands beside the ledger, which is complete without it: prompts, lines shown, requests, labels, records | `why`, replays, the archive |
| `Inbox` | lines and requests that other processes leave for the one that plays | `runtime/inbox/` |
| `WordIndex` | which lines have a word, by place: a cache that is made when it is first searched | long memory |

One process is the owner of a store: it alone commits. Any number of guests read, and write only to the inbox. So the owner
knows its own position; everybody else asks for it, and waits until it has grown.

Always holds: a store keeps encoded events and their positions. It applies no rule about creatures or graphs. Every error
that it raises on purpose is a `StoreError`, a `Conflict` or a `Refused`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec

from glasshouse.errors import StoreError
from glasshouse.events.codec import encoded
from glasshouse.events.event import Event
from glasshouse.events.shown import Shown
from glasshouse.world.decisions.requests import Request
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import Segment

StoreRole = Literal["owner", "guest"]
"""What an opened store may do: the owner commits, a guest reads and writes to the inbox."""


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
    events: tuple[Event, ...] | None = None
    """The same events, where they were just encoded: a store that keeps their fields apart need not parse the bodies."""


EventNames = tuple[str, str, str | None, str | None, str | None]
"""Actor, kind, run, channel id and channel of an event: what many events have in common."""

values_of_a_line: Final = 6


class Lines(NamedTuple):
    """Public lines that followed one another, each a change of its own."""

    events: list[Event]
    rows: list[Any]
    """For each event, `values_of_a_line` values, one after another: its session and seq; its names; its turn and time; the JSON of
    its payload. A store that writes in another thread reads these alone: each object that two threads touch is carried from core
    to core."""


class Snapshot(NamedTuple):
    """A projection's state as bytes, kept as a cache. `at` is the last position or seq that it includes; 0: the position of
    the last event that is committed before it."""

    scope: str
    name: str
    key: str
    at: int
    body: bytes


class SideWrites(msgspec.Struct, frozen=True, gc=False):
    """What a batch writes into the side tables. The ledger is complete without it."""

    prompts: tuple[tuple[str, str], ...] = ()
    """Prompt texts, each with its digest."""
    shown: tuple[Shown, ...] = ()
    """For each model call behind the one event of this batch, the lines that its prompt held (ADR 0044)."""
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The labels of runs, each with the id of its run, in place of those it had (ADR 0082)."""
    records: tuple[tuple[str, str], ...] = ()
    """Records of the houses in which imported sessions were played, each with its name, in place of those of the same name
    (ADR 0103)."""
    request: Request | None = None
    """The request that led to this batch, if it came from outside."""


class InboxWrites(msgspec.Struct, frozen=True, gc=False):
    """What a batch settles in the inbox."""

    done: tuple[int, ...] = ()
    """The numbers of the lines to remove. One that is gone already is no error."""
    answers: tuple[tuple[int, str], ...] = ()
    """Answers to requests, each with the number of its request. The first answer to a request stands."""


NO_SIDE_WRITES: Final = SideWrites()
NO_INBOX_WRITES: Final = InboxWrites()


class Batch(msgspec.Struct, frozen=True, gc=False):
    """What becomes durable together or not at all: the events of one change, or lines; what goes into the side tables; what
    is settled in the inbox; a snapshot to keep."""

    writes: tuple[SegmentWrite, ...] = ()
    side: SideWrites = NO_SIDE_WRITES
    inbox: InboxWrites = NO_INBOX_WRITES
    snapshot: Snapshot | None = None
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


class PlacedLine(NamedTuple):
    """A line as the index of words keeps it: where it stands, and which words it has."""

    position: int
    lamport: int
    places: tuple[str, ...]
    """Where it is found. What a place is, is up to whoever searches; it has at most 600 characters."""
    words: tuple[str, ...]
    """Each has at most 64 characters."""


class PlaceRange(NamedTuple):
    """The lines of a place from one lamport time to another, both included."""

    place: str
    first: int
    last: int


class FoundLine(NamedTuple):
    """A line that has a word. Lines are ordered by time, and those of one time by position."""

    lamport: int
    position: int


class LedgerStore(Protocol):
    """Keeps the events in the order of their commits, the segments that they begin, and snapshots.

    Positions count the events from 1 without gaps, in the order of commits. The events that a store returns have their
    `position`, and their `change`: the position of the first event of their change.
    """

    async def open(self, new_house_id: str) -> None:
        """Open the store; `new_house_id` becomes the id of a store that has none yet.

        Raises `Refused` if this object is open already, `StoreBusy` if another process is the owner, `StoreTooNew`,
        `StoreDamaged`, or `StoreFailed` if it cannot be reached. What it raises leaves nothing open.
        """

    async def close(self) -> None:
        """Release all resources. Closing twice, or before opening, is harmless."""

    @property
    def house_id(self) -> str:
        """The id that this store got when it was first opened. It never changes."""

    @property
    def role(self) -> StoreRole:
        """Whether this object commits, or reads what another process commits. It is known before the store is opened."""

    def lapse(self) -> StoreError | None:
        """Why the owner may ask nothing of models and tools now; None: it may.

        `StoreFenced`: another process has taken the store over, and that is final. Another error: the place where the store is kept has not
        answered for so long that another process may have. A store that no second owner can take answers None.
        """

    async def owner(self) -> str:
        """Who has this store open as its owner, in words that begin a sentence ("Process 12"); empty if nobody has."""

    async def position(self) -> int:
        """The position of the last committed event; 0 when there is none. It is asked for, because another process may
        have written. No event of a commit that is under way counts."""

    async def wait_beyond(self, position: int, seconds: float) -> int:
        """Wait until the store has an event after this position, and return its position then.

        After so many seconds it returns the position as it is. It may return early without a new event, but must not
        return at once again and again.
        """

    def commit(self, batches: Sequence[Batch]) -> Awaitable[int]:
        """Make the batches durable, in order, all or nothing; returns the position of the first event.

        Called by the owner only, one call after another. Once it has returned, the batches survive a power cut. A write
        whose events are all there already, with the same content, is left out, with everything that hangs on its events.

        - `Conflict`: the place of an event is taken by other content. Nothing was written.
        - `StoreFenced`: another process has taken the store over. Nothing was written, and this object never commits again.
        - `OutcomeUnknown`: the commit was sent to the disk or the server, and nobody knows whether it is durable. Raise it
          whenever you are not sure. The ledger then answers nobody before it has asked `committed`.
        - `StoreFailed`, or another `StoreError`: nothing was written, and nothing of it can become durable later.
        """

    async def committed(self, first_position: int) -> bool:
        """Whether the commit that raised `OutcomeUnknown` is durable. `first_position` is where its first event belongs.

        The answer must stay true: before it says no, the store makes sure that the commit cannot become durable any more,
        for example by writing in its place, or by waiting until the server has ended the transaction. Raises a
        `StoreError` if that cannot be found out now; the ledger asks again. Nothing is committed in between.

        The ledger asks only about commits with events. It simply repeats one without: writing snapshots, side tables and
        answers again changes nothing.
        """

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        """The events of these spans in the order of histories: by lamport time, then by the ordinal and the id of the
        session, then by seq. A span may end after the last event of its session."""

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        """At most `events_max` events after a position, in the order of commits; empty if there are none."""

    async def read_at(self, positions: Sequence[int]) -> list[Event]:
        """The events at these positions, in the order of commits. A position without an event is left out."""

    async def segments_after(self, position: int) -> list[Segment]:
        """The segments whose first event comes after this position, in the order of commits."""

    async def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot with this key that was taken at `at_most` or before, if one is kept. A store may drop those of another
        key when a new one comes; one that programs of different versions open keeps two keys side by side."""


class SideTables(Protocol):
    """Keeps what stands beside the ledger, written by the same commits. Prompts and lines shown may be dropped at any time;
    requests, labels and records are kept."""

    async def prompt(self, digest: str) -> str | None:
        """The prompt text with this digest, if it is still kept."""

    async def shown(self, position: int) -> tuple[Shown, ...] | None:
        """For each model call behind the event at this position, the lines that its prompt held, if still kept."""

    async def requests(self, first: int, last: int) -> dict[int, Request]:
        """The requests behind the changes from `first` to `last`, by the number of the change."""

    async def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels of every run that has some."""

    async def records(self) -> dict[str, str]:
        """The records of the houses in which imported sessions were played, by name."""


class Inbox(Protocol):
    """Keeps what other processes leave for the owner. Everybody may write here, each call in a commit of its own.

    Numbers grow, and none is given twice, also not after the store was opened again. Lines and requests may be numbered
    apart. The owner's commits remove lines and answer requests (`InboxWrites`).
    """

    async def put_line(self, text: str, run_id: str | None = None) -> int:
        """Leave a line for the process that plays this store; returns the line's number."""

    async def lines(self, lines_max: int, after: int = 0) -> list[InboxLine]:
        """The oldest lines after this number. A line stays until a batch names it in `InboxWrites.done`."""

    async def put_request(self, body: str) -> int:
        """Leave a request for the process that plays this store; returns its number."""

    async def open_requests(self, requests_max: int) -> list[InboxRequest]:
        """The oldest requests that have no answer yet."""

    async def request(self, number: int) -> InboxRequest | None:
        """One request. An answered one is kept until `answers_kept_max` newer ones were answered (`stores/placing.py`)."""

    async def take_request(self, number: int) -> bool:
        """Mark a request as taken. False if its sender has withdrawn it. Only the owner takes requests."""

    async def withdraw_request(self, number: int) -> bool:
        """Remove a request that nobody has taken. False if somebody has."""

    async def time(self) -> datetime | None:
        """The time by which requests are timed, if their senders may be on other machines; None: the clock of this one."""

    async def wait_for_more(self, seen: str, seconds: float) -> str:
        """Wait until the inbox is another than it was at the mark `seen`: a line came or was removed, a request came, was
        taken, answered or withdrawn. Returns the mark of the inbox then; after so many seconds, the mark as it is.

        A mark is any text of the store's own, and "" is the mark of no inbox: given that, it returns at once. So nothing
        is missed by who asks for a mark first, then reads, then waits. It may return early, but must not return at once
        again and again.
        """


class WordIndex(Protocol):
    """Keeps which lines have a word. It is a cache: it is empty until somebody searches, and may be dropped at any time.

    It only names candidates. Whoever searches reads the lines themselves from the ledger, and decides about them. So a store knows nothing of
    creatures, and all stores find the same lines.
    """

    async def indexed(self) -> int:
        """The position up to which all lines are in the index; 0 for none."""

    async def indexed_places(self) -> dict[str, tuple[int, int]]:
        """The places of the lines in the index, each with the times of its first and its last line."""

    async def index_lines(self, after: int, upto: int, lines: Sequence[PlacedLine]) -> None:
        """Add all lines that stand after one position, up to another. Called by the owner only.

        All or nothing. Nothing happens if the index does not end at `after`: somebody else has added lines.
        """

    async def lines_with(
        self, words: Sequence[str], ranges: Sequence[PlaceRange], lines_max: int
    ) -> dict[str, list[FoundLine]]:
        """For each word, the newest `lines_max` lines that have it in these ranges, each once, newest first."""

    async def drop_index(self) -> None:
        """Empty the index. Called by the owner only."""


class Store(LedgerStore, SideTables, Inbox, WordIndex, Protocol):
    """Where a terrarium is kept: a ledger, side tables, an inbox and an index of words in one object."""
