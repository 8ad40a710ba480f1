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
from collections import deque
from datetime import datetime
from typing import NamedTuple, Protocol

import msgspec

from glasshouse.errors import StoreError, StoreFailed
from glasshouse.events import codec
from glasshouse.events.event import Event
from glasshouse.runtime.ports import Batch, Clock, SegmentWrite, Snapshot, Store
from glasshouse.turns import agenda as agendas
from glasshouse.turns.agenda import Agenda
from glasshouse.world import evolve as folds
from glasshouse.world.decide import decide
from glasshouse.world.decision import Decision, Write
from glasshouse.world.evolve import begin, evolve, take_in
from glasshouse.world.intents import AnyIntent
from glasshouse.world.stamp import stamped
from glasshouse.world.state import SessionState, World
from glasshouse.world.values import Change

commit_events_max = 512
pending_events_max = 16_384
fold_page_events = 4_096
snapshot_events_min = 8_192
snapshot_events_per_record = 4
snapshot_on_close_events_min = 1_024


class Audience(Protocol):
    """Who is told of commits."""

    def publish(self, bodies: list[bytes], first_position: int) -> None:
        """Be told the bodies of a commit and the position of the first."""

    def catch_up(self, position: int) -> None:
        """Be told that the store reaches this far, by whatever way."""


class Folded(msgspec.Struct):
    """All that is folded from the ledger and kept in memory."""

    world: World
    agenda: Agenda
    position: int = 0


class Receipt(NamedTuple):
    """What came of an intent: the change, what it touched, and its events as they were stored."""

    change: Change
    subject: str
    bodies: list[bytes]
    first_position: int

    def events(self) -> list[Event]:
        """The events, decoded from the stored bytes."""
        return [codec.decoded(body, self.first_position + n) for n, body in enumerate(self.bodies)]


class _Queued(NamedTuple):
    batch: Batch
    bodies: list[bytes]
    acknowledged: asyncio.Future[int]


class Ledger:
    """Decides, stamps, queues, commits; keeps the pending world."""

    def __init__(self, store: Store, clock: Clock, audience: Audience) -> None:
        self.world = World()
        self.agenda = Agenda()
        self._store = store
        self._clock = clock
        self._audience = audience
        self._queue: deque[_Queued] = deque()
        self._queued_events = 0
        self._events_since_snapshot = 0
        self._last_queued: asyncio.Future[int] | None = None
        self._wake: asyncio.Future[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        self._broken: BaseException | None = None
        self._is_closing = False

    async def open(self) -> None:
        """Fold what the store holds and start the writer."""
        self._take(await folded_from(self._store))
        self._room.set()
        self._writer = asyncio.create_task(self._write_until_closed(), name="glasshouse writer")

    async def close(self) -> None:
        """Let everything queued become durable, then stop the writer."""
        if self._writer is None:
            return
        if self._broken is None and self._events_since_snapshot >= snapshot_on_close_events_min:
            self._queue_snapshot()
        self._is_closing = True
        self._wake_writer()
        await self._writer
        self._writer = None

    async def change(self, intent: AnyIntent) -> Receipt:
        """Decide an intent and wait until what came of it is durable."""
        if not self._room.is_set() or self._broken is not None or self._writer is None:
            await self._wait_for_room()
        decision = decide(self.world, intent)
        if not decision.writes:
            return Receipt(decision.change, decision.subject, [], 0)
        queued = self._stage(decision)
        first_position = await queued.acknowledged
        return Receipt(decision.change, decision.subject, queued.bodies, first_position)

    def foresee(self, intent: AnyIntent) -> Change:
        """The same decision without the commit."""
        return decide(self.world, intent).change

    async def take_in(self, writes: tuple[SegmentWrite, ...]) -> None:
        """Commit imported segments: they can be read and grown from, and nobody in them lives."""
        if not self._room.is_set() or self._broken is not None or self._writer is None:
            await self._wait_for_room()
        for write in writes:
            if write.opens is not None:
                begin(self.world, write.opens)
            for body in write.bodies:
                take_in(self.world, codec.decoded(body))
        bodies = [body for write in writes for body in write.bodies]
        await self._enqueue(Batch(writes), bodies).acknowledged

    async def wait_for_durability(self) -> None:
        """Wait until everything queued so far is durable or refused."""
        last = self._last_queued
        if last is not None and not last.done():
            await asyncio.wait([last])

    def _stage(self, decision: Decision) -> _Queued:
        now = self._clock.now()
        batch = [(write, _stamped_facts(self.world, write, now)) for write in decision.writes]
        encoded = [(write, events, _encoded(events)) for write, events in batch]
        writes = tuple(
            [
                SegmentWrite(write.session_id, events[0].seq - 1, tuple(bodies), write.opens)
                for write, events, bodies in encoded
            ]
        )
        for write, events, _ in encoded:
            if write.opens is not None:
                begin(self.world, write.opens)
            for event in events:
                evolve(self.world, event)
                self.agenda.apply(self.world, event)
        queued = self._enqueue(Batch(writes), [body for _, _, bodies in encoded for body in bodies])
        if self._events_since_snapshot >= self._snapshot_due_after():
            self._queue_snapshot()
        return queued

    def _enqueue(self, batch: Batch, bodies: list[bytes]) -> _Queued:
        acknowledged = asyncio.get_running_loop().create_future()
        queued = _Queued(batch, bodies, acknowledged)
        self._queue.append(queued)
        self._last_queued = acknowledged
        self._queued_events += len(bodies)
        self._events_since_snapshot += len(bodies)
        if self._queued_events >= pending_events_max:
            self._room.clear()
        self._wake_writer()
        return queued

    def _snapshot_due_after(self) -> int:
        return max(snapshot_events_min, snapshot_events_per_record * self.world.records)

    def _queue_snapshot(self) -> None:
        """Keep the pending world of this very place in the queue: it is true when its turn comes."""
        body = msgspec.msgpack.encode(Folded(self.world, self.agenda))
        self._enqueue(Batch(snapshot=Snapshot("", "world", snapshot_key(), 0, body)), [])
        self._events_since_snapshot = 0

    def _wake_writer(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _write_until_closed(self) -> None:
        while True:
            if not self._queue:
                if self._is_closing:
                    return
                self._wake = asyncio.get_running_loop().create_future()
                await self._wake
                continue
            group = self._next_group()
            try:
                first_position = await self._store.commit([queued.batch for queued in group])
            except StoreError as failure:
                await self._refuse_and_refold(group, failure)
            else:
                self._acknowledge(group, first_position)

    def _next_group(self) -> list[_Queued]:
        group = [self._queue.popleft()]
        events = len(group[0].bodies)
        while self._queue and events + len(self._queue[0].bodies) <= commit_events_max:
            events += len(self._queue[0].bodies)
            group.append(self._queue.popleft())
        self._queued_events -= events
        if self._queued_events < pending_events_max:
            self._room.set()
        return group

    def _acknowledge(self, group: list[_Queued], first_position: int) -> None:
        position = first_position
        for queued in group:
            if not queued.acknowledged.done():
                queued.acknowledged.set_result(position)
            position += len(queued.bodies)
        self._audience.publish([body for queued in group for body in queued.bodies], first_position)

    async def _refuse_and_refold(self, group: list[_Queued], failure: StoreError) -> None:
        self._broken = failure
        behind = list(self._queue)
        self._queue.clear()
        self._queued_events = 0
        self._room.clear()
        for queued in group:
            _refuse(queued, failure)
        for queued in behind:
            _refuse(queued, _behind(failure))
        await self._refold()

    async def _refold(self) -> None:
        """Fold again from the store; if even that fails, the next caller tries once more."""
        try:
            self._take(await folded_from(self._store))
        except StoreError as failure:
            self._broken = failure
        else:
            self._broken = None
        self._room.set()

    def _take(self, folded: Folded) -> None:
        self.world, self.agenda = folded.world, folded.agenda
        self._events_since_snapshot = self._store.position - folded.position
        self._audience.catch_up(self._store.position)

    async def _wait_for_room(self) -> None:
        if self._writer is None:
            raise StoreFailed("This terrarium is not open. Use it inside 'async with Terrarium(...) as t:'.")
        await self._room.wait()
        if self._broken is not None:
            self._room.clear()
            await self._refold()
            if self._broken is not None:
                raise self._broken


def _refuse(queued: _Queued, failure: StoreError) -> None:
    if not queued.acknowledged.done():
        queued.acknowledged.set_exception(failure)


def _behind(failure: StoreError) -> StoreError:
    return StoreFailed(f"Nothing was written, because a commit before it failed: {failure} Then try again.")


def _stamped_facts(world: World, write: Write, now: datetime) -> list[Event]:
    if write.opens is None:
        session, turn = world.sessions[write.session_id], world.graphs[write.graph_id].turn
    else:
        session, turn = SessionState(write.opens), _turn_at_birth(world, write)
    return [
        stamped(fact, write, session, n, turn, now) for n, fact in enumerate(write.facts, session.head + 1)
    ]


def _turn_at_birth(world: World, write: Write) -> int:
    """A new session's clock is the latest of its parents' graphs."""
    parents = write.opens.parents if write.opens is not None else ()
    graph_ids = [world.sessions[parent.session_id].segment.graph_id for parent in parents]
    return max((world.graphs[name].turn for name in graph_ids if name in world.graphs), default=0)


def _encoded(events: list[Event]) -> list[bytes]:
    return [codec.encoded(e) if e.is_engine else codec.encoded_within_bounds(e) for e in events]


def snapshot_key() -> str:
    """Under what folds and upcasters a snapshot of the world is good."""
    return f"{folds.version}.{agendas.version}.{codec.upcaster_set()}"


async def folded_from(store: Store) -> Folded:
    """The world as the store tells it: the newest snapshot that fits, and every event after it."""
    kept = await store.snapshot("", "world", snapshot_key())
    if kept is None:
        return await folded_upto(store, store.position)
    folded = msgspec.msgpack.decode(kept.body, type=Folded)
    folded.position = kept.at
    return await _folded_on(store, folded, store.position)


async def folded_upto(store: Store, position: int) -> Folded:
    """The world right after the event at this position, folded from the beginning."""
    return await _folded_on(store, Folded(World(house_id=store.house_id), Agenda()), position)


async def _folded_on(store: Store, folded: Folded, upto: int) -> Folded:
    segments = {segment.id: segment for segment in await store.segments_after(folded.position)}
    position = folded.position
    while position < upto:
        page = await store.read_after(position, fold_page_events)
        for event in page:
            position = event.position or position
            if position > upto:
                break
            if event.session_id not in folded.world.sessions:
                begin(folded.world, segments[event.session_id])
            _fold(folded, event)
        if not page:
            break
    return folded


def _fold(folded: Folded, event: Event) -> None:
    session = folded.world.sessions[event.session_id]
    if session.segment.is_imported:
        take_in(folded.world, event)
        return
    evolve(folded.world, event)
    folded.agenda.apply(folded.world, event)
