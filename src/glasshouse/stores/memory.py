"""`MemoryStore`: the ledger in this process's memory, as the same bytes that a file would hold.

Always holds: it passes the same contract suite as the other stores. It keeps only the newest prompts, to
bound its memory. A body start is what the bodies of one segment begin with. It is kept once for all of them (ADR 0052).
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec

from glasshouse.errors import Refused, StoreError
from glasshouse.events.codec import BodyStart, decoded
from glasshouse.events.event import Event
from glasshouse.events.shown import Shown
from glasshouse.runtime.store_port import (
    NO_INBOX_WRITES,
    NO_SIDE_WRITES,
    Batch,
    FoundLine,
    InboxLine,
    InboxRequest,
    InboxWrites,
    PlacedLine,
    PlaceRange,
    SegmentWrite,
    SideWrites,
    Snapshot,
    StoreRole,
)
from glasshouse.runtime.waiting import Waiters
from glasshouse.runtime.word_table import WordTable
from glasshouse.stores.placing import answers_kept_max, check_room, in_order_of_histories, soundly_decoded
from glasshouse.world.decisions.requests import Request, decoded_request, encoded_request
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import Segment

prompts_in_memory_max = 2_048
"""A store in memory keeps at least this many of the latest prompt texts, and the shown lines of as many of
the latest events, and drops older ones 64 at a time; a file keeps all."""
prompts_dropped_at_once = 64
piece_bytes_min = 1024 * 1024
"""The memory store begins another piece of memory for its texts."""


class _Texts:
    """Many short texts, joined in large pieces. A separate object for each text would take about 50 bytes more."""

    def __init__(self) -> None:
        self._pieces: list[bytes | bytearray] = [bytearray()]
        self._starts: array[int] = array("Q")
        """For each text: the number of its piece in the upper 32 bits, its start in that piece in the lower 32."""

    def __len__(self) -> int:
        return len(self._starts)

    def append(self, text: bytes) -> None:
        """Add a text."""
        last = self._pieces[-1]
        if len(last) >= piece_bytes_min:
            self._pieces[-1] = bytes(last)  # A full piece no longer needs the spare room of a bytearray.
            self._pieces.append(last := bytearray())
        self._starts.append((len(self._pieces) - 1) << 32 | len(last))
        last += text

    def __getitem__(self, index: int) -> bytes:
        starts = self._starts
        number, start = divmod(starts[index], 1 << 32)
        piece = self._pieces[number]
        is_last = index + 1 == len(starts) or starts[index + 1] >> 32 != number
        end = len(piece) if is_last else starts[index + 1] & 0xFFFFFFFF
        return bytes(memoryview(piece)[start:end])


def _drop_oldest(kept: dict[Any, Any]) -> None:
    """Drop the oldest prompts, or lines shown in them.

    Many are dropped at once, because a dict finds its first key slowly after keys before it were deleted.
    """
    for oldest in [*islice(kept, prompts_dropped_at_once)]:
        del kept[oldest]


class _KeptSegment(msgspec.Struct):
    """A segment, and the positions of its events."""

    segment: Segment
    opened_at: int
    start: BodyStart
    positions: array[int]


class MemoryStore:
    """Keeps the ledger until the process ends. It can be closed and opened again without losing events."""

    def __init__(self) -> None:
        self.house_id = ""
        """The id that this store got when it was first opened."""
        self._is_open = False
        self._bodies = _Texts()
        """The bodies of events by position, each without the fields that `_starts` and `_seqs` give (ADR 0052)."""
        self._starts: list[BodyStart] = []
        self._seqs: array[int] = array("I")
        self._changes: array[int] = array("I")
        self._segments: dict[str, _KeptSegment] = {}
        self._snapshots: dict[tuple[str, str], list[Snapshot]] = {}
        self._inbox: dict[int, InboxLine] = {}
        self._inbox_requests: dict[int, InboxRequest] = {}
        self._inbox_numbers = 0
        self._inbox_changes = 0
        self._waiters = Waiters()
        self._prompts: dict[str, str] = {}
        self._labels: dict[str, tuple[str, ...]] = {}
        self._records: dict[str, str] = {}
        self._requested: array[int] = array("I")
        self._requests = _Texts()
        """The requests. `_requested` has the change number of each."""
        self._shown: dict[int, tuple[Shown, ...]] = {}
        self._words = WordTable()

    def __repr__(self) -> str:
        return f"MemoryStore(events={len(self._seqs)})"

    async def open(self, new_house_id: str) -> None:
        """Open the store for the one terrarium that may write."""
        if self._is_open:
            raise Refused("This store is open already.", "Give each terrarium a store of its own.")
        self._is_open = True
        self.house_id = self.house_id or new_house_id

    async def close(self) -> None:
        """Let another terrarium open the store. Its content stays."""
        self._is_open = False

    @property
    def role(self) -> StoreRole:
        """Always the owner: no other process sees this memory."""
        return "owner"

    def lapse(self) -> StoreError | None:
        """None: no other process sees this memory."""
        return None

    async def owner(self) -> str:
        """This process, while the store is open."""
        return "This process" if self._is_open else ""

    async def position(self) -> int:
        """The position of the last event."""
        return len(self._seqs)

    async def wait_beyond(self, position: int, seconds: float) -> int:
        """The position, as soon as it is after this one; after so many seconds, as it is."""
        if len(self._seqs) <= position:
            await self._waiters.wait(seconds)
        return len(self._seqs)

    async def commit(self, batches: Sequence[Batch]) -> int:
        """Write the batches, all or nothing, and return the position of the first new event."""
        first_position = len(self._seqs) + 1
        changes: list[Batch] = []
        for batch in batches:
            if batch.lines is None:
                changes.append(batch)
            else:
                changes += batch.changes
        for batch, writes in zip(changes, self._checked(changes), strict=True):
            numbers: dict[str, int] = {}
            change = len(self._seqs) + 1
            for write in writes:
                self._append(write, change, numbers)
            if batch.side is not NO_SIDE_WRITES:
                self._keep_side_writes(batch.side, change if writes else 0)
            if batch.inbox is not NO_INBOX_WRITES:
                self._settle_in_inbox(batch.inbox)
            if batch.snapshot is not None:
                self._keep_snapshot(batch.snapshot)
        if self._waiters.waiting:
            self._waiters.wake()
        return first_position

    async def committed(self, first_position: int) -> bool:
        """Whether there is an event at this position: memory never leaves a commit in doubt."""
        return len(self._seqs) >= first_position

    def _keep_side_writes(self, side: SideWrites, change: int) -> None:
        """Keep what stands beside the ledger. `change` is the number of the change, 0 if its events were there already."""
        if side.request is not None and change:
            self._requested.append(change)
            self._requests.append(encoded_request(side.request).encode())
        if side.shown and change:
            self._shown[len(self._seqs)] = side.shown
        if side.prompts:
            self._prompts.update(side.prompts)
            for kept in (self._prompts, self._shown):
                if len(kept) >= prompts_in_memory_max + prompts_dropped_at_once:
                    _drop_oldest(kept)
        if side.labels or side.records:
            self._labels.update(side.labels)
            self._records.update(side.records)

    def _settle_in_inbox(self, inbox: InboxWrites) -> None:
        self._inbox_changes += 1  # Those who wait are woken when the whole commit is written.
        for number in inbox.done:
            self._inbox.pop(number, None)
        for number, answer in inbox.answers:
            self._keep_answer(number, answer)

    async def prompt(self, digest: str) -> str | None:
        """The text of a prompt by its digest, if it is still kept."""
        return self._prompts.get(digest)

    async def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels of every run that has some."""
        return {run_id: labels for run_id, labels in self._labels.items() if labels}

    async def records(self) -> dict[str, str]:
        """The records of the houses in which imported sessions were played, by name."""
        return {**self._records}

    async def requests(self, first: int, last: int) -> dict[int, Request]:
        """The requests of the changes from `first` to `last`, by change number."""
        indexes = range(bisect_left(self._requested, first), bisect_right(self._requested, last))
        return {self._requested[n]: decoded_request(self._requests[n].decode()) for n in indexes}

    async def shown(self, position: int) -> tuple[Shown, ...] | None:
        """The lines that the model calls of an event were shown, if they are still kept."""
        return self._shown.get(position)

    def _checked(self, batches: Sequence[Batch]) -> list[list[SegmentWrite]]:
        """The writes of each batch that are new: neither in the store nor earlier in the same commit."""
        heads: dict[str, int] = {}  # The last seq of each session that a write of this commit extends.
        new_writes: list[list[SegmentWrite]] = []
        for batch in batches:
            new: list[SegmentWrite] = []
            new_writes.append(new)
            for write in batch.writes:
                name = write.session_id
                head = heads.get(name)
                if head is None and name in self._segments:
                    head = len(self._segments[name].positions)
                # Nearly every write continues a session that is there. The other cases are rare.
                is_next = write.opens is None and write.expected_head == head
                if is_next or self._has_room(write, head, new_writes):
                    heads[name] = write.expected_head + len(write.bodies)
                    new.append(write)
        return new_writes

    def _has_room(self, write: SegmentWrite, head: int | None, new_writes: list[list[SegmentWrite]]) -> bool:
        """Whether a write fits the session as these writes leave it. False if its events are there already."""

        def bodies_of(session_id: str, first: int, last: int) -> list[bytes]:
            kept = self._segments.get(session_id)
            in_store = () if kept is None else map(self._body, kept.positions)
            placed = [earlier for new in new_writes for earlier in new if earlier.session_id == session_id]
            return [*in_store, *[body for earlier in placed for body in earlier.bodies]][first - 1 : last]

        return check_room(write, head, self._opened(write.session_id, new_writes), bodies_of)

    def _opened(self, session_id: str, new_writes: list[list[SegmentWrite]]) -> Segment | None:
        """The segment of a session that is in the store, or that one of these writes begins."""
        kept = self._segments.get(session_id)
        if kept is not None:
            return kept.segment
        writes = [write for new in new_writes for write in new if write.session_id == session_id]
        return writes[0].opens if writes else None

    def _body(self, position: int) -> bytes:
        """The whole body of the event at a position."""
        index = position - 1
        return self._starts[index].whole(self._bodies[index].decode(), self._seqs[index]).encode()

    def _append(self, write: SegmentWrite, change: int, numbers: dict[str, int]) -> None:
        kept = self._segments.get(write.session_id)
        seqs = self._seqs
        if kept is None and write.opens is not None:
            segment = write.opens
            start = BodyStart(segment.id, segment.graph_id, segment.base)
            kept = _KeptSegment(segment, len(seqs) + 1, start, array("I"))
            self._segments[write.session_id] = kept
        assert kept is not None, "checked before"
        start = kept.start
        positions = kept.positions
        for seq, body in enumerate(write.bodies, len(positions) + 1):
            self._bodies.append(start.without_start(body.decode(), seq).encode())
            self._starts.append(start)
            seqs.append(seq)
            position = len(seqs)
            positions.append(position)
            if write.changes is not None:
                change = numbers.setdefault(write.changes[seq - write.expected_head - 1], position)
            self._changes.append(change)

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        """The events of these spans in the order of histories."""
        return in_order_of_histories(spans, lambda span: soundly_decoded(self._rows(span)))

    def _rows(self, span: Span) -> list[tuple[int, int, bytes]]:
        kept = self._segments.get(span.session_id)
        positions = () if kept is None else kept.positions[span.first - 1 : span.last]
        return [(position, self._changes[position - 1], self._body(position)) for position in positions]

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        """The next events in the order of commits."""
        start = max(position, 0)
        last = min(start + events_max, len(self._seqs))
        return [decoded(self._body(n), n, change=self._changes[n - 1]) for n in range(start + 1, last + 1)]

    async def read_at(self, positions: Sequence[int]) -> list[Event]:
        """The events at these positions, in the order of commits."""
        there = [n for n in sorted({*positions}) if 0 < n <= len(self._seqs)]
        return [decoded(self._body(n), n, change=self._changes[n - 1]) for n in there]

    async def segments_after(self, position: int) -> list[Segment]:
        """The segments that began after this position."""
        return [kept.segment for kept in self._segments.values() if kept.opened_at > position]

    async def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot with this key, up to a position."""
        kept = self._snapshots.get((scope, name), ())
        fitting = [other for other in kept if other.key == key and (at_most is None or other.at <= at_most)]
        newest = max(fitting, key=lambda snapshot: snapshot.at, default=None)
        return None if newest is None else newest._replace(body=zlib.decompress(newest.body))

    def _keep_snapshot(self, given: Snapshot) -> None:
        kept = given._replace(at=given.at or len(self._seqs), body=zlib.compress(given.body, 1))
        others = self._snapshots.get((kept.scope, kept.name), ())
        still_good = [other for other in others if other.key == kept.key and other.at != kept.at]
        self._snapshots[kept.scope, kept.name] = [*still_good, kept]

    async def put_line(self, text: str, run_id: str | None = None) -> int:
        """Add a line to the inbox and return its number."""
        self._inbox_numbers += 1
        self._inbox[self._inbox_numbers] = InboxLine(self._inbox_numbers, run_id, text)
        self._note_inbox_changed()
        return self._inbox_numbers

    async def lines(self, lines_max: int, after: int = 0) -> list[InboxLine]:
        """The oldest inbox lines after a number."""
        return [line for line in self._inbox.values() if line.number > after][:lines_max]

    async def put_request(self, body: str) -> int:
        """Leave a request, and return its number."""
        self._inbox_numbers += 1
        self._inbox_requests[self._inbox_numbers] = InboxRequest(self._inbox_numbers, body)
        self._note_inbox_changed()
        return self._inbox_numbers

    async def open_requests(self, requests_max: int) -> list[InboxRequest]:
        """The oldest requests that have no answer yet."""
        return [asked for asked in self._inbox_requests.values() if asked.answer is None][:requests_max]

    async def request(self, number: int) -> InboxRequest | None:
        """One request in the inbox, if it is still there."""
        return self._inbox_requests.get(number)

    async def take_request(self, number: int) -> bool:
        """Mark a request as taken. False if it was withdrawn."""
        if asked := self._inbox_requests.get(number):
            self._inbox_requests[number] = asked._replace(is_taken=True)
            self._note_inbox_changed()
        return number in self._inbox_requests

    async def withdraw_request(self, number: int) -> bool:
        """Remove a request. False if it was taken."""
        asked = self._inbox_requests.get(number)
        if asked is None or asked.is_taken:
            return False
        del self._inbox_requests[number]
        self._note_inbox_changed()
        return True

    async def time(self) -> datetime | None:
        """None: senders have the clock of this process."""
        return None

    async def wait_for_more(self, seen: str, seconds: float) -> str:
        """The mark of the inbox, as soon as it is another than this one; after so many seconds, as it is."""
        if seen == str(self._inbox_changes):
            await self._waiters.wait(seconds)
        return str(self._inbox_changes)

    def _note_inbox_changed(self) -> None:
        self._inbox_changes += 1
        self._waiters.wake()

    def _keep_answer(self, number: int, answer: str) -> None:
        requests = self._inbox_requests
        asked = requests.get(number)
        if asked is not None and asked.answer is None:  # The first answer stands.
            requests[number] = asked._replace(answer=answer)
        for old in [request for request in requests.values() if request.number <= number - answers_kept_max]:
            if old.answer is not None:
                del requests[old.number]

    async def indexed(self) -> int:
        """The position up to which all lines are in the index of words."""
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
        asked = dict.fromkeys(words)  # A word that is asked for twice is searched once.
        return self._words.lines_with([*asked], ranges, lines_max)

    async def drop_index(self) -> None:
        """Empty the index."""
        self._words = WordTable()
