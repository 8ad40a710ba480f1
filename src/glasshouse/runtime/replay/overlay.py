"""`OverlayStore`: another store as it was at one position, with new events kept in memory.

Always holds: nothing is written to the store below. No event, segment or snapshot after that position is read from it.
So a replay can run in the same house while other runs go on (ADR 0048).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from glasshouse.errors import Conflict, StoreError
from glasshouse.events.codec import decoded
from glasshouse.events.event import Event
from glasshouse.events.shown import Shown
from glasshouse.runtime.store_port import (
    Batch,
    FoundLine,
    InboxLine,
    InboxRequest,
    PlacedLine,
    PlaceRange,
    Snapshot,
    Store,
    StoreRole,
)
from glasshouse.runtime.waiting import Waiters
from glasshouse.runtime.word_table import WordTable
from glasshouse.world.decisions.requests import Request
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import Segment, SessionState


class OverlayStore:
    """Reads old events from the store below and keeps new ones in memory. It does not open or close that store."""

    def __init__(
        self, below: Store, upto: int, sessions: Mapping[str, SessionState], house_id: str | None = None
    ) -> None:
        """`house_id` is that of the store below, unless another is given."""
        self._house_id = below.house_id if house_id is None else house_id
        self._below = below
        self._upto = upto
        self._heads = {name: session.head for name, session in sessions.items()}
        """The last seq of each session at that position."""
        self._events: list[Event] = []
        self._of_session: dict[str, list[Event]] = {}
        self._segments: dict[str, tuple[int, Segment]] = {}
        """The segments that began above, each with the position of its first event."""
        self._requests: dict[int, Request] = {}
        self._waiters = Waiters()
        self._words = WordTable()

    async def open(self, new_house_id: str) -> None:
        """Nothing to do: the store below is already open."""

    async def close(self) -> None:
        """Nothing to do: others may still use the store below."""

    @property
    def house_id(self) -> str:
        """The id of the house that is replayed, so that the replay makes the same ids."""
        return self._house_id

    @property
    def role(self) -> StoreRole:
        """Always the owner: only this replay writes above the store below."""
        return "owner"

    def lapse(self) -> StoreError | None:
        """None: no other process writes into a replay."""
        return None

    async def owner(self) -> str:
        """This process: nobody else sees the overlay."""
        return "This process"

    @property
    def last_position(self) -> int:
        """The position of the last event, below or above. Nobody else writes, so it need not be asked for."""
        return self._upto + len(self._events)

    async def position(self) -> int:
        """The position of the last event, below or above."""
        return self.last_position

    async def wait_beyond(self, position: int, seconds: float) -> int:
        """The position, as soon as it is after this one; after so many seconds, as it is."""
        if self.last_position <= position:
            await self._waiters.wait(seconds)
        return self.last_position

    async def commit(self, batches: Sequence[Batch]) -> int:
        """Keep the events and requests in memory. Prompts and snapshots are dropped: those of the record are below."""
        first = self.last_position + 1
        changes = [one_change for batch in batches for one_change in batch.changes]
        self._check(changes)
        for one_change in changes:
            change = self.last_position + 1
            if one_change.side.request is not None:
                self._requests[change] = one_change.side.request
            for write in one_change.writes:
                if write.opens is not None:
                    self._segments[write.session_id] = self.last_position + 1, write.opens
                own = self._of_session.setdefault(write.session_id, [])
                for body in write.bodies:
                    event = decoded(body, self.last_position + 1, change=change)
                    self._events.append(event)
                    own.append(event)
        if self._waiters.waiting:
            self._waiters.wake()
        return first

    async def committed(self, first_position: int) -> bool:
        """Whether there is an event at this position: memory never leaves a commit in doubt."""
        return self.last_position >= first_position

    def _check(self, changes: list[Batch]) -> None:
        """Raise `Conflict` before anything is kept if a write does not follow the last event of its session."""
        heads: dict[str, int] = {}
        for write in [write for change in changes for write in change.writes]:
            name = write.session_id
            head = heads.get(name)
            if head is None:
                is_new = name not in self._heads and name not in self._of_session
                if is_new and write.opens is None:
                    raise Conflict(f"There is no session {name} to append to. Open it first.")
                head = self._heads.get(name, 0) + len(self._of_session.get(name, ()))
            if write.expected_head != head:
                raise Conflict(f"Session {name} stands at seq {head}, not {write.expected_head}.")
            heads[name] = head + len(write.bodies)

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        """The events of these spans in the order of histories."""
        below: list[Span] = []
        above: list[Event] = []
        for span in spans:
            head = self._heads.get(span.session_id, 0)
            if span.first <= head:
                below.append(span.cut(span.first, min(span.last, head)))
            own = self._of_session.get(span.session_id, [])
            above += own[max(span.first - head - 1, 0) : max(span.last - head, 0)]
        events = await self._below.read(below) if below else []
        if above:
            ordinals = {span.session_id: span.ordinal for span in spans}
            events += above
            events.sort(key=lambda event: (event.lamport, ordinals[event.session_id], event.session_id))
        return events

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        """The next events in the order of commits."""
        below = max(min(self._upto - position, events_max), 0)
        events = await self._below.read_after(position, below) if below else []
        start = max(position - self._upto, 0)
        return events + self._events[start : start + events_max - len(events)]

    async def read_at(self, positions: Sequence[int]) -> list[Event]:
        """The events at these positions, in the order of commits."""
        wanted = sorted({*positions})
        below = await self._below.read_at([n for n in wanted if n <= self._upto])
        return below + [
            self._events[n - self._upto - 1] for n in wanted if self._upto < n <= self.last_position
        ]

    async def segments_after(self, position: int) -> list[Segment]:
        """The segments that began after this position."""
        below = await self._below.segments_after(position)
        own = [segment for opened_at, segment in self._segments.values() if opened_at > position]
        return [segment for segment in below if segment.id in self._heads] + own

    async def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels of the store below."""
        return await self._below.labels()

    async def records(self) -> dict[str, str]:
        """The records of the store below."""
        return await self._below.records()

    async def requests(self, first: int, last: int) -> dict[int, Request]:
        """The requests behind the changes from `first` to `last`."""
        below = await self._below.requests(first, min(last, self._upto)) if first <= self._upto else {}
        own = {change: request for change, request in self._requests.items() if first <= change <= last}
        return below | own

    async def shown(self, position: int) -> tuple[Shown, ...] | None:
        """What the model calls of an event were shown, for events of the store below."""
        return await self._below.shown(position) if position <= self._upto else None

    async def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot of the store below, up to this overlay's start."""
        limit = self._upto if at_most is None else min(at_most, self._upto)
        return await self._below.snapshot(scope, name, key, limit)

    async def prompt(self, digest: str) -> str | None:
        """The text of a prompt by its digest."""
        return await self._below.prompt(digest)

    async def put_line(self, text: str, run_id: str | None = None) -> int:  # noqa: ARG002
        """Ignore the line: a replay has no inbox."""
        return 0

    async def lines(self, lines_max: int, after: int = 0) -> list[InboxLine]:  # noqa: ARG002
        """Always empty: what visitors said is in the record."""
        return []

    async def put_request(self, body: str) -> int:  # noqa: ARG002
        """Ignore the request: a replay has no inbox."""
        return 0

    async def open_requests(self, requests_max: int) -> list[InboxRequest]:  # noqa: ARG002
        """Always empty: what was asked is in the record."""
        return []

    async def request(self, number: int) -> InboxRequest | None:  # noqa: ARG002
        """Always none."""
        return None

    async def take_request(self, number: int) -> bool:  # noqa: ARG002
        """Always false."""
        return False

    async def withdraw_request(self, number: int) -> bool:  # noqa: ARG002
        """Always false."""
        return False

    async def time(self) -> datetime | None:
        """None: nobody sends requests to a replay."""
        return None

    async def wait_for_more(self, seen: str, seconds: float) -> str:
        """Wait so long for nothing: nobody leaves anything for a replay."""
        if seen:
            await asyncio.sleep(seconds)
        return "empty"

    async def indexed(self) -> int:
        """The position up to which all lines are in the index of words. It is the overlay's own: the store below may have indexed more."""
        return self._words.upto

    async def indexed_places(self) -> dict[str, tuple[int, int]]:
        """The places in the index, each with the times of its first and its last line."""
        return {**self._words.places}

    async def index_lines(self, after: int, upto: int, lines: Sequence[PlacedLine]) -> None:
        """Add the lines between two positions to the index."""
        if self._words.upto == after:
            self._words.add(lines, upto)

    async def lines_with(
        self, words: Sequence[str], ranges: Sequence[PlaceRange], lines_max: int
    ) -> dict[str, list[FoundLine]]:
        """For each word, the newest lines that have it in these ranges."""
        return self._words.lines_with(words, ranges, lines_max)

    async def drop_index(self) -> None:
        """Empty the index."""
        self._words = WordTable()
