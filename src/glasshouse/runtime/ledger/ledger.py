"""The ledger: the only door for writing, and the pending world behind it.

Theory of operation. A change is decided synchronously, on the event loop, against the *pending* world: what is
committed plus what is on its way. Its events are stamped, encoded and folded into the pending world at once, and
queued. One writer task takes whatever has gathered and gives it to the store as one commit; only then are the
callers told, and the events published. Because deciding never awaits, no two decisions can interleave, and no
lock is needed. Because the queue is first in, first out, the order of commits is the order of decisions, and how
they were grouped shows nowhere in the content.

If a commit fails, everything in it and behind it is refused, because it was decided on a world that never came
to be; then the world is folded again from what the store holds. Until that is done, callers wait.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import force_setattr, replace

from glasshouse.errors import Conflict, StoreError, StoreFailed
from glasshouse.events import codec
from glasshouse.events.codec import encoded_within_bounds
from glasshouse.events.event import Draft, Event
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folding import fold, fold_recorded, folded_from, snapshot_key
from glasshouse.runtime.ledger.receipts import Queued, Receipt
from glasshouse.runtime.ledger.staging import caused_by, taken_in, written
from glasshouse.runtime.ports import Batch, Clock, SegmentWrite, Snapshot, Store
from glasshouse.turns.runs.agenda import Agenda
from glasshouse.world.decisions.acts import line_of, speaker_of
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.decision import Write, event_of
from glasshouse.world.decisions.intents import Intent, MoveRun, Say
from glasshouse.world.decisions.requests import ActBegun, Asker, request_for
from glasshouse.world.fold.evolve import OF_RUNS, begin, take_in
from glasshouse.world.state.state import Segment, World
from glasshouse.world.state.values import Change

commit_events_max = 512
pending_events_max = 16_384
snapshot_events_min = 384
snapshot_bytes_per_event_max = 128
snapshot_on_close_events_min = 1_024


NOTHING_BESIDE = Batch()


class Audience(Protocol):
    """Who is notified of commits."""

    def publish(self, events: list[Event]) -> None:
        """Receive the events of a commit."""

    def catch_up(self, position: int) -> None:
        """Note that the store now reaches this position."""


Seen = TypeVar("Seen")

Look = Callable[[str], object]
"""Takes the id of what a decision touched, right after the decision."""

Tell = Callable[[Change, str], Intent]
"""Takes the change that an edit makes and the id of what it touched, and gives the intent that tells of it."""


class Ledger:
    """Decides, stamps, queues, commits; keeps the pending world."""

    def __init__(self, store: Store, clock: Clock, audience: Audience) -> None:
        self.folded = Folded()
        self.takes_more = False
        self.acts_begun: dict[tuple[str, str], bool] = {}
        """The acts that are next, are thought about now, or wait to be written, by creature and cause; and whether each has
        looked at the world."""
        self._store = store
        self._clock = clock
        self._audience = audience
        self._queue: deque[Queued] = deque()
        self._queued_events = 0
        self._events_since_snapshot = 0
        self._snapshot_bytes = 0
        self._batches_queued = 0
        self._batches_settled = 0
        self._settling: asyncio.Future[None] | None = None
        self.refolds = 0
        self.run_moves = 0
        self.graphs_moved: dict[str, None] = {}
        """The graphs that something was written to since the conductor last looked."""
        self._wake: asyncio.Future[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._gate_moved = asyncio.Event()
        self._broken: BaseException | None = None
        self._is_refolding = False
        self._is_closing = False

    @property
    def world(self) -> World:
        """The pending world: what is committed and what is in flight."""
        return self.folded.world

    @property
    def agenda(self) -> Agenda:
        """Who owes which acts in it."""
        return self.folded.agenda

    async def open(self) -> None:
        """Fold what the store holds and start the writer."""
        self._loop = asyncio.get_running_loop()
        self._take(await folded_from(self._store))
        self._writer = asyncio.create_task(self._write_until_closed(), name="glasshouse writer")
        self._move_gate()

    async def close(self) -> None:
        """Make everything queued durable, then stop the writer."""
        if self._writer is None:
            return
        if self._broken is None and self._events_since_snapshot >= snapshot_on_close_events_min:
            self._queue_snapshot()
        self._is_closing = True
        self._move_gate()
        self._wake_writer()
        await asyncio.wait([self._writer])
        writer, self._writer = self._writer, None
        if not writer.cancelled() and writer.exception() is not None:
            raise StoreFailed(
                f"The writer ended before its time: {writer.exception()!r}."
            ) from writer.exception()

    async def change(
        self,
        intent: Intent,
        look: Look | None = None,
        beside: Batch = NOTHING_BESIDE,
        by: Asker | None = None,
    ) -> Receipt:
        """Decide an intent and wait until what came of it is durable.

        `by` says who asked, where it is not the conductor who moves a run; an edit of the graph is always asked for.

        `look` sees the subject right after the decision: by the time it is durable, others may have changed it again.
        `beside` goes into the same commit: prompt texts to keep, inbox lines that are answered.
        """
        if not self.takes_more:
            await self.wait_for_room()
        decision = decide(self.world, intent)
        queued = None
        if decision.writes:
            moved = intent.run_id if isinstance(intent, MoveRun) else None
            request = request_for(intent, by, self._acts_begun_where(decision.writes, run_id=moved))
            queued = self._stage(
                decision.writes, beside if request is None else replace(beside, request=request)
            )
        if look is not None:
            look(decision.subject)
        if queued is not None:
            await queued.acknowledged
            return Receipt(decision.change, decision.subject, queued.events)
        refolds = self.refolds
        await self.wait_for_durability()
        if self.refolds != refolds:
            return await self.change(intent, look, beside, by)  # What made it true already never came to be.
        return Receipt(decision.change, decision.subject, [])

    async def change_and_see(self, intent: Intent, look: Callable[[str], Seen]) -> Seen:
        """Decide an intent; what `look` saw of its subject right after the decision, once that is durable."""
        seen: list[Seen] = []
        await self.change(intent, lambda subject: seen.append(look(subject)))
        return seen[-1]

    async def edit(self, intent: Intent, creature_id: str, cause: str, tell: Tell) -> Receipt:
        """Decide an intent of a creature's tool, whose events name `cause`, and on the world right after it what is told
        of it: one batch.

        What `tell` gives must not be refused. An intent that changes nothing is told of all the same.
        """
        if not self.takes_more:
            await self.wait_for_room()
        decision = decide(self.world, intent)
        request = request_for(intent, "tool", self._acts_begun_where(decision.writes, but=creature_id))
        events: list[Event] = []
        writes: list[SegmentWrite] = []
        if decision.writes:
            changed = caused_by(decision.writes, cause)
            events, writes = taken_in(self.folded, changed, self._clock.now(), self._give_up_world)
        try:
            told = decide(self.world, tell(decision.change, decision.subject))
        except BaseException as unforeseen:
            if events:
                self._give_up_world(unforeseen)
            raise
        if told.writes:
            more, more_writes = taken_in(self.folded, told.writes, self._clock.now(), self._give_up_world)
            events, writes = [*events, *more], [*writes, *more_writes]
        if events:
            await self._enqueue(Batch(tuple(writes), request=request), events).acknowledged
        return Receipt(decision.change, decision.subject, events)

    def stage(self, intent: Intent, beside: Batch = NOTHING_BESIDE) -> Queued | None:
        """Decide an intent now; it is durable when the future says so. None if it changes nothing. For when `takes_more`."""
        if not self.takes_more:
            self.check_is_open()
            raise StoreFailed("The ledger takes nothing more at this moment. Await change(), which waits.")
        decision = decide(self.world, intent)
        return self._stage(decision.writes, beside) if decision.writes else None

    async def set_aside(self, inbox_done: tuple[int, ...]) -> None:
        """Take lines out of the inbox that nobody will ever hear, without an event."""
        if not self.takes_more:
            await self.wait_for_room()
        await self._enqueue(Batch(inbox_done=inbox_done), []).acknowledged

    def submit(self, creature_id: str, draft: Draft, caused_by: str | None = None) -> Queued:
        """Decide now what a creature says; it is durable when the future says so. For when `takes_more`.

        What most programs do most often: it takes the same steps as any intent, without a decision between them.
        """
        if not self.takes_more:
            self.check_is_open()
            raise StoreFailed("The ledger takes nothing more at this moment. Await append(), which waits.")
        folded, world = self.folded, self.folded.world
        creature = speaker_of(world, creature_id, caused_by)
        graph = world.graphs[creature.graph_id]
        fact = line_of(world, creature, graph, draft, caused_by)
        session = world.sessions[graph.session_id]
        head, request = session.head, None
        if self.acts_begun or caused_by is not None:
            during = self._acts_begun_where((Write(graph.session_id, graph.id, (fact,)),))
            request = request_for(Say(creature_id, (draft,), caused_by), None, during)
        event = event_of(
            fact, graph.session_id, graph.id, head + 1, session.segment.base, graph.turn, self._clock.now()
        )
        body = encoded_within_bounds(event)
        try:
            fold(folded, event)
        except BaseException as unforeseen:
            self._give_up_world(unforeseen)
            raise
        write = SegmentWrite(graph.session_id, head, (body,))
        return self._enqueue(Batch((write,), request=request), [event])

    async def foresee(self, intent: Intent) -> Receipt:
        """The same decision without the commit: what would come of an intent, or the refusal that would.

        Its events are stamped for the place they would have, and are written nowhere.
        """
        if not self.takes_more:
            await self.wait_for_room()
        decision = decide(self.world, intent)
        events, _ = written(self.world, decision.writes, self._clock.now())
        return Receipt(decision.change, decision.subject, events)

    async def take_in(self, writes: tuple[SegmentWrite, ...]) -> bool:
        """Commit imported segments: they can be read and grown from, and nobody in them lives.

        False, and nothing has changed, if the world has moved on and the writes no longer fit it.
        """
        if not self.takes_more:
            await self.wait_for_room()
        if not all(_still_fits(self.world, write) for write in writes):
            return False
        events = [codec.decoded(body) for write in writes for body in write.bodies]
        for write in writes:
            if write.opens is not None:
                begin(self.world, write.opens)
        for event in events:
            take_in(self.world, event)
        await self._enqueue(Batch(writes), events).acknowledged
        return True

    async def adopt(self, events: Sequence[Event], segments: Mapping[str, Segment]) -> None:
        """Write recorded events as they are, without deciding them again. `segments` are those that may begin with them."""
        if not self.takes_more:
            await self.wait_for_room()
        writes: list[SegmentWrite] = []
        for session_id, some in groupby(events, key=lambda event: event.session_id):
            opens, part = None, list(some)
            if session_id not in self.world.sessions:
                opens = segments[session_id]
                begin(self.world, opens)
            bodies = tuple([codec.encoded(event) for event in part])
            writes.append(SegmentWrite(session_id, part[0].seq - 1, bodies, opens))
            for event in part:
                fold_recorded(self.folded, event)
        self.run_moves += 1
        copies = [codec.decoded(body) for write in writes for body in write.bodies]
        await self._enqueue(Batch(tuple(writes)), copies).acknowledged

    async def wait_for_durability(self) -> None:
        """Wait until everything queued so far is durable or refused."""
        awaited = self._batches_queued
        while self._batches_settled < awaited and self._writer is not None and not self._writer.done():
            if self._settling is None or self._settling.done():
                self._settling = self._loop.create_future()
            await asyncio.shield(self._settling)

    def _stage(self, decided: tuple[Write, ...], beside: Batch = NOTHING_BESIDE) -> Queued:
        """Stamp and encode, then fold: what cannot be encoded is refused before anything has changed."""
        events, writes = taken_in(self.folded, decided, self._clock.now(), self._give_up_world)
        if events[0].kind in OF_RUNS:
            self.run_moves += 1
        return self._enqueue(
            Batch(tuple(writes), None, beside.inbox_done, beside.prompts, beside.shown, beside.request),
            events,
        )

    def _acts_begun_where(
        self, decided: tuple[Write, ...], *, but: str | None = None, run_id: str | None = None
    ) -> tuple[ActBegun, ...]:
        """The acts that have begun, and are not yet written, in the graphs that a decision touches, or of this run."""
        if not self.acts_begun:
            return ()
        touched = {write.session_id for write in decided}
        touched |= {parent.session_id for write in decided if write.opens for parent in write.opens.parents}
        world, begun = self.world, []
        for (creature_id, cause), has_looked in self.acts_begun.items():
            creature = world.creatures.get(creature_id)
            if creature is None or creature_id == but:
                continue
            is_here = world.graphs[creature.graph_id].session_id in touched
            if is_here or (run_id is not None and creature.run_id == run_id):
                begun.append(ActBegun(creature_id, cause, has_looked))
        return tuple(begun)

    def _give_up_world(self, unforeseen: BaseException) -> None:
        self._broken = unforeseen  # The world is half moved: the next caller folds it again.
        self._move_gate()

    def _enqueue(self, batch: Batch, events: list[Event]) -> Queued:
        queued = Queued(batch, events, Future(loop=self._loop))
        self._queue.append(queued)
        self._batches_queued += 1
        count = len(events)
        for event in events:
            self.graphs_moved[event.graph_id] = None
        self._queued_events = pending = self._queued_events + count
        self._events_since_snapshot = since = self._events_since_snapshot + count
        if pending >= pending_events_max:
            self._move_gate()
        if self._wake is not None:
            self._wake_writer()
        # A snapshot may cost so many bytes for each event since the last: a large world is kept less often.
        if since >= snapshot_events_min and since * snapshot_bytes_per_event_max >= self._snapshot_bytes:
            self._queue_snapshot()
        return queued

    def _queue_snapshot(self) -> None:
        """Keep the pending world of this very place in the queue: it is true when its turn comes."""
        body = msgspec.msgpack.encode(self.folded)
        self._events_since_snapshot, self._snapshot_bytes = 0, len(body)
        self._enqueue(Batch(snapshot=Snapshot("", "world", snapshot_key(), 0, body)), [])

    def _wake_writer(self) -> None:
        if self._wake is not None:
            if not self._wake.done():
                self._wake.set_result(None)
            self._wake = None

    async def _write_until_closed(self) -> None:
        """Commit what gathers, group by group. Whatever ends this refuses everything that waits for it."""
        group: list[Queued] = []
        try:
            while self._queue or not self._is_closing:
                if not self._queue:
                    self._wake = self._loop.create_future()
                    await self._wake
                    continue
                group = self._next_group()
                await self._commit(group)
        except BaseException as unforeseen:
            self._refuse_all(group, unforeseen)
            raise

    async def _commit(self, group: list[Queued]) -> None:
        try:
            first_position = await self._store.commit([queued.batch for queued in group])
        except (StoreError, Conflict) as failure:
            await self._refold_and_refuse(group, failure)
        else:
            self._acknowledge(group, first_position)

    def _next_group(self) -> list[Queued]:
        queue, events = self._queue, self._queued_events
        if events <= commit_events_max:
            group = [*queue]
            queue.clear()
        else:
            group = [queue.popleft()]
            events = len(group[0].events)
            while queue and events + len(queue[0].events) <= commit_events_max:
                group.append(queue.popleft())
                events += len(group[-1].events)
        self._queued_events -= events
        if not self.takes_more:
            self._move_gate()
        return group

    def _acknowledge(self, group: list[Queued], first_position: int) -> None:
        events: list[Event] = []
        position = first_position
        for queued in group:
            change = position
            for event in queued.events:
                force_setattr(event, "position", position)
                force_setattr(event, "change", change)
                position += 1
            if queued.batch.writes and queued.batch.writes[0].changes is not None:
                _number_imported_changes(queued)
            events += queued.events
            if not (acknowledged := queued.acknowledged).done():
                acknowledged.set_result(None)
        self._audience.publish(events)
        self._note_settled(len(group))

    def _note_settled(self, batches: int) -> None:
        self._batches_settled += batches
        if self._settling is not None and not self._settling.done():
            self._settling.set_result(None)

    def _refuse_all(self, group: list[Queued], failure: BaseException) -> None:
        for queued, why in self._give_up(group, failure):
            _refuse(queued, why)
        self._note_settled(self._batches_queued - self._batches_settled)

    async def _refold_and_refuse(self, group: list[Queued], failure: BaseException) -> None:
        """Fold first: a refused caller may look at the world at once, and must see the real one."""
        refused = self._give_up(group, failure)
        await self._refold()
        for queued, why in refused:
            _refuse(queued, why)
        self._note_settled(len(refused))

    def _give_up(self, group: list[Queued], failure: BaseException) -> list[tuple[Queued, BaseException]]:
        """Empty the queue; give everything that must be refused, and why."""
        refused: list[tuple[Queued, BaseException]] = [(queued, failure) for queued in group]
        refused += [(queued, _behind(failure)) for queued in self._queue]
        self._queue.clear()
        self._queued_events = 0
        self._broken = failure
        self._move_gate()
        return refused

    async def _refold(self) -> None:
        """Fold again from the store; if even that fails, the next caller tries once more."""
        self._is_refolding = True
        try:
            self._take(await folded_from(self._store))
        except StoreError as failure:
            self._broken = failure
        else:
            self._broken = None
        finally:
            self._is_refolding = False
            self._move_gate()

    def _take(self, folded: Folded) -> None:
        self.folded = folded
        self.refolds += 1
        self._events_since_snapshot = self._store.position - folded.position
        self._snapshot_bytes = folded.snapshot_bytes
        self._audience.catch_up(self._store.position)

    def check_is_open(self) -> None:
        """Say so if nothing can be changed or followed any more, or yet."""
        if self._writer is None or self._writer.done() or self._is_closing:
            raise StoreFailed(
                "This terrarium is not open. Use it inside 'async with Terrarium(...) as t:'."
            ) from self._broken

    def _move_gate(self) -> None:
        """Update whether something can be submitted, and wake those who wait for it."""
        has_room = self._queued_events < pending_events_max
        self.takes_more = has_room and self._broken is None and not self._is_closing
        self._gate_moved.set()

    async def wait_for_room(self) -> None:
        """Wait until something can be submitted; raise the reason if it stays impossible."""
        while not self.takes_more:
            self.check_is_open()
            if self._broken is not None and not self._is_refolding:
                await self._refold()
                if self._broken is not None:
                    raise self._broken
            else:
                self._gate_moved.clear()
                await self._gate_moved.wait()


def _still_fits(world: World, write: SegmentWrite) -> bool:
    there = world.sessions.get(write.session_id)
    if write.opens is not None:
        return there is None
    return there is not None and there.head == write.expected_head


def _number_imported_changes(queued: Queued) -> None:
    """Give imported events the change that the store gave them: an import holds many in one batch."""
    names = [name for write in queued.batch.writes for name in write.changes or ()]
    numbers: dict[str, int | None] = {}
    for name, event in zip(names, queued.events, strict=True):
        force_setattr(event, "change", numbers.setdefault(name, event.position))


def _refuse(queued: Queued, failure: BaseException) -> None:
    if not queued.acknowledged.done():
        queued.acknowledged.set_exception(failure)
        queued.acknowledged.exception()  # A snapshot has nobody who waits for it; that is no cause for alarm.


def _behind(failure: BaseException) -> StoreFailed:
    return StoreFailed(f"Nothing was written, because a commit before it failed: {failure} Then try again.")
