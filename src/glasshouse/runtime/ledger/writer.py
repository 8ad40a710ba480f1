"""The writer: the queue of decided batches, and the one task that commits them.

Theory of operation. Whatever was decided, stamped, encoded and folded is queued here. One task takes what has gathered and
gives it to the store, several batches in one commit. Then it does one of two things:
- *acknowledge*: the commit is durable. The events get their positions, the futures of the callers are resolved, and the
  events are published.
- *refold and refuse*: the commit failed. Its batches and all batches queued after them are refused, because they were decided
  on a world that never became real. First the world is folded again from the store, because a refused caller may look at once
  and must see the real world (ADR 0006).
If nobody knows whether a commit was written, it is looked up before anybody is answered. If that fails again and again, or if
another process has taken the store over, nothing more is written here, and every caller is told why (ADR 0117).

Always holds: the queue is first in, first out, so the order of commits is the order of decisions. What events say does not
depend on how batches were grouped into commits. The queue is bounded by events and by bytes: as long as it is full, `takes_more` is false and
callers wait.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec.structs import force_setattr

from glasshouse.errors import Conflict, OutcomeUnknown, StoreError, StoreFailed, StoreFenced
from glasshouse.events.event import Event
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.hooks import Hooks
from glasshouse.runtime.ledger.folds import load_folded, snapshot_key
from glasshouse.runtime.ledger.pending import Pending
from glasshouse.runtime.ledger.subscriptions import Subscriptions
from glasshouse.runtime.ports import Clock
from glasshouse.runtime.store_port import Batch, EventNames, Lines, Snapshot, Store, values_of_a_line

commit_events_max = 512
"""A commit takes at most this many events, unless one batch alone has more."""
commit_bytes_max = 4 * 1024 * 1024
"""A commit takes at most this many bytes, unless one batch alone has more: a server gets it as one message."""
pending_events_max = 16_384
"""With this many uncommitted events, callers wait."""
pending_bytes_max = 64 * 1024 * 1024
"""As long as the queue holds this many bytes to be written, or that many events, callers wait. One batch may exceed it."""
snapshot_events_min = 256
"""A snapshot of the world is kept after this many events, or later if the world is large."""
snapshot_bytes_per_event_max = 64
"""How many bytes of snapshots are written for an event, on average: a large world is kept less often."""
snapshot_on_close_events_min = 64
"""A ledger that closes keeps a snapshot if it has grown by this many events since the last one, or later if the world is large."""
snapshot_on_close_bytes_per_event_max = 256
"""How many bytes the snapshot at closing may have for an event since the last one. What it does not hold is folded at every opening."""
snapshot_on_close_events_max = 1_024
"""After this many events, a snapshot is kept at closing however large the world is."""
lookups_max: Final = 5
"""How often a commit whose outcome is unknown is looked up before the writer gives up."""
lookup_pause_seconds: Final = 0.2


class Queued(msgspec.Struct, frozen=True):
    """A batch on its way to the store, and the future that resolves when it is durable."""

    batch: Batch
    events: list[Event]
    acknowledged: asyncio.Future[None]


class QueuedLines(msgspec.Struct, frozen=True):
    """Lines that were queued one after another, each with its own future. More may join them until a commit takes
    them."""

    batch: Batch
    events: list[Event]
    rows: list[Any]
    acknowledged: list[asyncio.Future[None]]


_Refused = list[tuple[Queued | QueuedLines, BaseException]]


class Writer:
    """Queues batches and commits them, one group after another."""

    def __init__(self, pending: Pending, store: Store, subscriptions: Subscriptions, clock: Clock) -> None:
        self._pending = pending
        self._store = store
        self._subscriptions = subscriptions
        self._clock = clock
        self.takes_more = False
        """Whether something may be decided and queued now. If not, await `wait_for_room`."""
        self.hooks: Hooks | None = None
        """Who looks on while it commits; None: nobody."""
        self._queue: deque[Queued | QueuedLines] = deque()
        self._lines: QueuedLines | None = None
        """The lines at the end of the queue, if more can join them."""
        self._lines_bytes = 0
        self._taken_upto = 0
        """The position of the last event that a commit has taken from the queue."""
        self.queued_bytes = 0
        """How much the queue holds, as it is written."""
        self._snapshot_on_close_at = 0
        self.snapshot_due_at = 0
        """The position at which the next snapshot of the world is kept."""
        self._batches_in_commit = 0
        self._batches_settled = 0
        self._settling: asyncio.Future[None] | None = None
        self._wake: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._gate_moved = asyncio.Event()
        self._broken: BaseException | None = None
        """Why the pending world is not the real one. It is folded again for the next caller."""
        self.ended: StoreError | None = None
        """Why nothing more is written here: the store was taken over, or nobody knows what it holds."""
        self.on_fenced: Callable[[StoreFenced], None] | None = None
        """Is told once that another process has taken the store over."""
        self._is_refolding = False
        self._is_closing = False

    async def open(self, position: int) -> None:
        """Fold what the store holds up to this position, and start to write."""
        self._loop = asyncio.get_running_loop()
        self._begin_anew(await load_folded(self._store, position), position)
        self._task = asyncio.create_task(self._write_until_closed(), name="glasshouse writer")
        self._move_gate()

    async def close(self, *, keeps_snapshot: bool) -> None:
        """Make everything queued durable, then stop."""
        if self._task is None:
            return  # It was never opened, or is closed.
        is_grown = self._pending.position >= self._snapshot_on_close_at
        if self._broken is None and keeps_snapshot and is_grown:
            self._queue_snapshot()
        self._is_closing = True
        self._move_gate()
        self._wake_task()
        await asyncio.wait([self._task])
        if self.hooks is not None:
            self.hooks.closed()
        task = self._task
        self._task = None
        if not task.cancelled() and task.exception() is not None:
            raise StoreFailed(
                f"The writer ended before its time: {task.exception()!r}."
            ) from task.exception()

    # Queue

    def queue(self, batch: Batch, events: list[Event]) -> Queued:
        """Queue a batch. Its events were noted in the pending world right before."""
        queued = Queued(batch, events, Future(loop=self._loop))
        self._queue.append(queued)
        self._lines = None
        self.queued_bytes += bytes_in(batch)
        self._after_queueing()
        return queued

    def queue_line(self, event: Event, names: EventNames, payload: str) -> Future[None]:
        """Queue a line with its names and its encoded payload, in one batch with the lines right before it. Returns what to await."""
        acknowledged: Future[None] = Future(loop=self._loop)
        size = len(payload) if payload.isascii() else len(payload.encode())
        lines = self._lines
        if (
            lines is None
            or len(lines.events) == commit_events_max
            or self._lines_bytes + size > commit_bytes_max
        ):
            lines = self._begin_lines()
        lines.events.append(event)
        lines.rows.extend((event.session_id, event.seq, names, event.turn, event.created_at, payload))
        lines.acknowledged.append(acknowledged)
        self._lines_bytes += size
        self.queued_bytes += size
        position = self._pending.position
        is_full = position - self._taken_upto >= pending_events_max or self.queued_bytes >= pending_bytes_max
        if self._wake is not None or is_full or position >= self.snapshot_due_at:
            self._after_queueing()
        return acknowledged

    def _begin_lines(self) -> QueuedLines:
        events: list[Event] = []
        rows: list[Any] = []
        lines = self._lines = QueuedLines(Batch(lines=Lines(events, rows)), events, rows, [])
        self._lines_bytes = 0
        self._queue.append(lines)
        return lines

    def _after_queueing(self) -> None:
        position = self._pending.position
        if position - self._taken_upto >= pending_events_max or self.queued_bytes >= pending_bytes_max:
            self._move_gate()
        if self._wake is not None:
            self._wake_task()
        if position >= self.snapshot_due_at:
            self._queue_snapshot()

    def _queue_snapshot(self) -> None:
        """Queue a snapshot of the pending world. It holds exactly the events that are queued before it."""
        pending = self._pending
        pending.folded.position = pending.position
        body = msgspec.msgpack.encode(pending.folded)
        self._note_snapshot(pending.position, len(body))
        self.queue(Batch(snapshot=Snapshot("", "world", snapshot_key(), 0, body)), [])

    def _note_snapshot(self, position: int, size: int) -> None:
        # The bytes of a snapshot are limited per event since the last one: a large world is saved less often. ADR 0007
        self.snapshot_due_at = position + max(snapshot_events_min, -(-size // snapshot_bytes_per_event_max))
        events = max(snapshot_on_close_events_min, size // snapshot_on_close_bytes_per_event_max)
        self._snapshot_on_close_at = position + min(events, snapshot_on_close_events_max)

    @property
    def queued_events(self) -> int:
        """How many events the queue holds."""
        return self._pending.position - self._taken_upto

    @property
    def is_settled(self) -> bool:
        """Whether the world holds what was published, and nothing that is on its way."""
        return not self._queue and not self._batches_in_commit and self._broken is None

    # Commit

    def _wake_task(self) -> None:
        if self._wake is not None:
            if not self._wake.done():
                self._wake.set_result(None)
            self._wake = None

    async def _write_until_closed(self) -> None:
        """The writer task: commit queued batches, group by group. If it fails, it refuses all that are left."""
        group: list[Queued | QueuedLines] = []
        try:
            while self._queue or not self._is_closing:
                if not self._queue:
                    self._wake = self._loop.create_future()
                    await self._wake
                    continue
                group = self._next_group()
                committing = self._commit(group)
                if self.hooks is not None:
                    events = sum([len(queued.events) for queued in group])
                    committing = self.hooks.around_commit(events, committing)
                await committing
        except BaseException as unforeseen:
            self._refuse(self._give_up(group, unforeseen))
            raise

    def _next_group(self) -> list[Queued | QueuedLines]:
        """What the next commit takes from the queue."""
        queue = self._queue
        if (
            self._pending.position - self._taken_upto <= commit_events_max
            and self.queued_bytes <= commit_bytes_max
        ):
            group = [*queue]
            queue.clear()
            self._taken_upto = self._pending.position
            self.queued_bytes = 0
        else:
            group = [queue.popleft()]
            events = len(group[0].events)
            size = bytes_in(group[0].batch)
            while queue and events + len(queue[0].events) <= commit_events_max:
                more = bytes_in(queue[0].batch)
                if size + more > commit_bytes_max:
                    break
                group.append(queue.popleft())
                events += len(group[-1].events)
                size += more
            self._taken_upto += events
            self.queued_bytes -= size
        self._lines = None
        self._batches_in_commit = len(group)
        if not self.takes_more:
            self._move_gate()
        return group

    async def _commit(self, group: list[Queued | QueuedLines]) -> None:
        """Commit a group; then acknowledge it, or refold and refuse it."""
        if self.ended is not None:
            self._refuse(self._give_up(group, self.ended))
            return  # Nothing may be written any more, not even a snapshot, which is queued at any time.
        upto = self._taken_upto
        try:
            first_position = await self._store.commit(list(map(_batch_of, group)))
        except OutcomeUnknown as doubt:
            await self._settle_doubt(group, upto, doubt)
        except (StoreError, Conflict) as failure:
            if isinstance(failure, StoreFenced):
                self.end(failure)
            await self._refold_and_refuse(group, failure)
        else:
            self._acknowledge(group, first_position)

    def _acknowledge(self, group: list[Queued | QueuedLines], first_position: int) -> None:
        """Number the events of a durable group, tell those who wait for them, and publish them."""
        events: list[Event] = []
        position = first_position
        for queued in group:
            events += queued.events
            if isinstance(queued, QueuedLines):
                for event, acknowledged in zip(queued.events, queued.acknowledged, strict=True):
                    force_setattr(event, "position", position)
                    force_setattr(event, "change", position)
                    position += 1
                    if not acknowledged.done():
                        acknowledged.set_result(None)
                continue
            change = position
            for event in queued.events:
                force_setattr(event, "position", position)
                force_setattr(event, "change", change)
                position += 1
            if position > change + 1 and queued.batch.writes[0].changes is not None:
                _number_imported_changes(queued)
            if not queued.acknowledged.done():
                queued.acknowledged.set_result(None)
        if self.hooks is not None:
            self.hooks.durable(events)
        self._subscriptions.publish(events)
        self._note_settled()

    def _note_settled(self) -> None:
        self._batches_settled += self._batches_in_commit
        self._batches_in_commit = 0
        if self._settling is not None and not self._settling.done():
            self._settling.set_result(None)

    # In doubt

    async def _settle_doubt(
        self, group: list[Queued | QueuedLines], upto: int, doubt: OutcomeUnknown
    ) -> None:
        """Find out whether a commit was written, then acknowledge it, or refold and refuse it. `upto` is the position of
        its last event."""
        first_position = upto - sum([len(queued.events) for queued in group]) + 1
        why: StoreError = doubt
        for _ in range(lookups_max):
            try:
                is_written = await self._is_written(group, first_position, upto)
            except StoreError as failure:
                why = failure
                await self._clock.sleep(lookup_pause_seconds)
                continue
            if is_written:
                self._acknowledge(group, first_position)
            else:
                await self._refold_and_refuse(group, StoreFailed(f"{doubt} Nothing was written; try again."))
            return  # It is known now, and everybody is answered.
        self.ended = OutcomeUnknown(
            f"{doubt} Nobody knows whether it was written, and looking for it failed {lookups_max} times: {why} Nothing"
            " more is written here: open the store again, and look."
        )
        self._refuse(self._give_up(group, self.ended))

    def end(self, fenced: StoreFenced) -> None:
        """Write nothing more: another process has taken the store over, which is final."""
        if self.ended is None:
            self.ended = fenced
            self.give_up_world(fenced)
            if self.on_fenced is not None:
                self.on_fenced(fenced)

    async def _is_written(self, group: list[Queued | QueuedLines], first_position: int, upto: int) -> bool:
        """Whether a commit in doubt is in the store. One without events cannot be looked up: it is made again, which changes
        nothing if it is there."""
        if first_position > upto:
            await self._store.commit(list(map(_batch_of, group)))
            return True
        return await self._store.committed(first_position)

    # Refold and refuse

    async def _refold_and_refuse(self, group: list[Queued | QueuedLines], failure: BaseException) -> None:
        refused = self._give_up(group, failure)
        try:
            await self._refold()
        finally:
            self._refuse(refused)

    def give_up_world(self, unforeseen: BaseException) -> None:
        """Take nothing more before the world is folded again: folding a change failed halfway."""
        self._broken = unforeseen
        self._move_gate()

    def _give_up(self, group: list[Queued | QueuedLines], failure: BaseException) -> _Refused:
        """Empty the queue. Returns the batches to refuse, each with its error."""
        behind = f"Nothing was written, because a commit before it failed: {failure} Try again."
        is_final = isinstance(failure, StoreFenced)  # Then there is no other try.
        refused: _Refused = [(queued, failure) for queued in group]
        refused += [(queued, failure if is_final else StoreFailed(behind)) for queued in self._queue]
        self._queue.clear()
        self._lines = None
        self._taken_upto = self._pending.position
        self.queued_bytes = 0
        self._batches_in_commit = len(refused)
        self.give_up_world(failure)
        return refused

    def _refuse(self, refused: _Refused) -> None:
        for queued, why in refused:
            waiting = queued.acknowledged
            for acknowledged in waiting if isinstance(waiting, list) else [waiting]:
                if not acknowledged.done():
                    acknowledged.set_exception(why)
                    # Nobody awaits the future of a snapshot. Reading the exception stops asyncio from logging a warning.
                    acknowledged.exception()
        self._note_settled()

    async def _refold(self) -> None:
        """Fold the world again from the store. If that fails, the next caller tries again."""
        self._is_refolding = True
        try:
            position = await self._store.position()
            self._begin_anew(await load_folded(self._store, position), position)
        except StoreError as failure:
            self._broken = failure
        else:
            self._broken = self.ended
        finally:
            self._is_refolding = False
            self._move_gate()

    def _begin_anew(self, folded: Folded, position: int) -> None:
        """Go on with a world that was folded from the store up to a position."""
        self.follow(folded, position)
        self._note_snapshot(folded.position, folded.snapshot_bytes)

    def follow(self, folded: Folded, position: int) -> None:
        """Go on with a world that holds what was committed up to this position, and tell subscribers."""
        self._pending.begin_anew(folded, position)
        self._taken_upto = position
        self._subscriptions.catch_up(position)

    # Waiting

    def check_is_open(self) -> None:
        """Raise `StoreFailed` if the ledger is not open yet, is closing, or is closed, or why nothing more is written."""
        if self.ended is not None:
            raise self.ended
        if self._task is None or self._task.done() or self._is_closing:
            raise StoreFailed(
                "This terrarium is not open. Use it inside 'async with Terrarium(...) as t:'."
            ) from self._broken

    def _move_gate(self) -> None:
        """Update `takes_more`, and wake the callers that wait for room."""
        is_full = self.queued_events >= pending_events_max or self.queued_bytes >= pending_bytes_max
        self.takes_more = not is_full and self._broken is None and not self._is_closing
        self._gate_moved.set()

    async def wait_for_room(self) -> None:
        """Wait until `takes_more`. Raises if the ledger is closed, or if the world cannot be folded again."""
        while not self.takes_more:
            self.check_is_open()
            if self._broken is None or self._is_refolding:
                self._gate_moved.clear()
                await self._gate_moved.wait()
            elif self._queue or self._batches_in_commit:
                # What was queued before a fold failed is good: first it becomes durable, or is refused.
                await self.wait_for_durability()
            else:
                await self._refold()
                if self._broken is not None:
                    raise self._broken

    async def wait_for_durability(self) -> None:
        """Wait until everything queued so far is durable or refused."""
        awaited = self._batches_settled + self._batches_in_commit + len(self._queue)
        while self._batches_settled < awaited and self._task is not None and not self._task.done():
            if self._settling is None or self._settling.done():
                self._settling = self._loop.create_future()
            await asyncio.shield(self._settling)


_batch_of: Final = attrgetter("batch")


def bytes_in(batch: Batch) -> int:
    """About how many bytes a store writes for a batch: events, prompts and a snapshot, which alone can be large."""
    if batch.lines is not None:
        return sum(map(_utf8_bytes, batch.lines.rows[values_of_a_line - 1 :: values_of_a_line]))
    size = 0 if batch.snapshot is None else len(batch.snapshot.body)
    for write in batch.writes:
        for body in write.bodies:
            size += len(body)
    for _, text in batch.side.prompts:
        size += len(text) if text.isascii() else len(text.encode())
    return size


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _number_imported_changes(queued: Queued) -> None:
    """Give imported events the change numbers that the store gave them. One import is one batch with many changes."""
    names = [name for write in queued.batch.writes for name in write.changes or ()]
    numbers: dict[str, int | None] = {}
    for name, event in zip(names, queued.events, strict=True):
        force_setattr(event, "change", numbers.setdefault(name, event.position))
