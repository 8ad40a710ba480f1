"""The ledger: the only way to write events, and the pending world that decisions are made on.

Theory of operation. A change is decided synchronously, on the event loop, against the *pending* world: the committed
events plus those on their way to the store. The events of the change are at once stamped, encoded, folded into the
pending world and queued. One writer task gives the queued batches to the store, several in one commit. After the
commit it resolves the futures of the callers and publishes the events. Deciding never awaits, so two decisions cannot
interleave, and no lock is needed. The queue is first in, first out, so the order of commits is the order of decisions.
The content of events does not depend on how batches were grouped into commits.

If a commit fails, its batches and all batches queued after them are refused, because they were decided on a world that
never became real. Then the world is folded again from the store. Callers wait until that is done (ADR 0006).
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import force_setattr, replace

from glasshouse.errors import BadEvent, Conflict, Refused, StoreDamaged, StoreError, StoreFailed
from glasshouse.events import codec, kinds
from glasshouse.events.codec import encoded_within_bounds, json_copy, rest_within_bounds
from glasshouse.events.event import Draft, Event, own_copy
from glasshouse.reprs import shown
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.subscriptions import Subscriptions
from glasshouse.runtime.ports import Batch, Clock, Lines, SegmentWrite, Snapshot, Store
from glasshouse.turns.heard import recent_lines
from glasshouse.turns.heard.recent_lines import RecentLines, note_line
from glasshouse.turns.runs import agenda as agendas
from glasshouse.turns.runs import purses
from glasshouse.world.decisions.acts import line_of, voice_of
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.decision import Decision, Write, event_of, stamped
from glasshouse.world.decisions.intents import EndAct, GraphEdit, Intent, MoveRun, Say
from glasshouse.world.decisions.requests import Asker, request_for
from glasshouse.world.fold import evolve as folds
from glasshouse.world.fold.evolve import (
    MORE_THAN_LINES,
    begin,
    begin_turn,
    evolve,
    note_imported,
    note_written,
)
from glasshouse.world.state.state import GraphState, Segment, SessionState, World
from glasshouse.world.state.values import Change

commit_events_max = 512
pending_events_max = 16_384
pending_bytes_max = 64 * 1024 * 1024
"""As long as the queue holds this many bytes to be written, or that many events, callers wait. One batch may exceed it."""
snapshot_events_min = 1_024
snapshot_bytes_per_event_max = 64
snapshot_on_close_events_min = 1_024
fold_page_events = 4_096

NOTHING_BESIDE = Batch()
_NO_TIME: Final = datetime.min.replace(tzinfo=UTC)
EVERY_GRAPH = ""

Seen = TypeVar("Seen")

Look = Callable[[str], object]
"""Called right after a decision, with the id of the decision's subject."""

Beside = Callable[[Decision], Batch]
"""Takes the decision about an intent; returns what goes into the same commit."""

Asks = Callable[[Intent], Awaitable[tuple[Change, str]]]
"""Asks another process for a change; returns the change and its subject."""

Tell = Callable[[Change, str], Intent]
"""Takes the change that an edit made and the id of its subject; returns the intent that reports the edit."""


sender: Final = ContextVar("sender", default="")
"""For whom a program asks for a change now; empty: for itself. It is kept with the request of the change."""


@contextmanager
def sent_by(name: str) -> Iterator[None]:
    """Ask for the changes inside in somebody's name. No task of a play may begin inside: it would take over the name."""
    token = sender.set(name)
    try:
        yield
    finally:
        sender.reset(token)


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """The result of an intent: the change, its subject, and its events as stored."""

    change: Change
    subject: str
    events: list[Event]


class Queued(msgspec.Struct, frozen=True):
    """A batch on its way to the store, and the future that resolves when it is durable."""

    batch: Batch
    events: list[Event]
    acknowledged: asyncio.Future[None]


class _QueuedLines(msgspec.Struct, frozen=True):
    """Lines that were submitted one after another, each with its own future. More may join them until a commit takes
    them."""

    batch: Batch
    events: list[Event]
    rows: list[Any]
    acknowledged: list[asyncio.Future[None]]


_Refused = list[tuple[Queued | _QueuedLines, BaseException]]


class _Route(NamedTuple):
    """Where a creature's lines of one kind on one channel go. It is kept until the shape of the world changes."""

    session: SessionState
    graph: GraphState
    like: Event
    """One of these lines. The next is made from it, with its own id, times and payload."""
    tables: list[RecentLines] | None
    """The recent lines that each of these lines joins. None if folding a line changes more than these."""


class Acknowledgement(msgspec.Struct, frozen=True, eq=False):
    """Await it to get the event once it is durable."""

    _event: Event
    _acknowledged: asyncio.Future[None]
    _is_kept: bool
    """Whether the engine keeps this event, so that the caller needs a copy."""

    def __repr__(self) -> str:
        return shown(self, id=self._event.id, state="durable" if self._acknowledged.done() else "on its way")

    def __await__(self) -> Generator[Any, None, Event]:
        yield from self._acknowledged
        return own_copy(self._event) if self._is_kept else self._event


class Ledger:
    """Decides intents, stamps, queues and commits their events, and keeps the pending world."""

    def __init__(self, store: Store, clock: Clock, subscriptions: Subscriptions) -> None:
        self._use(Folded())
        self.takes_more = False
        self.position = 0
        """The position of the last event of the pending world."""
        self.moved_at = 0
        """The position of the last change that did more than say a line. An act that looked at the world before it must
        say so (ADR 0064)."""
        self._store = store
        self._clock = clock
        self._subscriptions = subscriptions
        self._queue: deque[Queued | _QueuedLines] = deque()
        self._lines: _QueuedLines | None = None
        """The lines at the end of the queue, if more can join them."""
        self._taken_upto = 0
        """The position of the last event that a commit has taken from the queue."""
        self._queued_bytes = 0
        """How much the queue holds, as it is written."""
        self._snapshot_at = 0
        self._snapshot_due_at = 0
        self._batches_in_commit = 0
        self._batches_settled = 0
        self._settling: asyncio.Future[None] | None = None
        self.refolds = 0
        self.acts_begun: set[tuple[str, str]] = set()
        """The acts that this process has begun and not ended, by the ids of creature and cause. Each began because it was
        owed, so it may end even if its creature was removed, or a program answered its cause, meanwhile (ADR 0098)."""
        self.graphs_moved: dict[str, None] = {}
        """The graphs that got events since the conductor last looked, and those of a run that began, paused or ended; or
        `EVERY_GRAPH` if the world was folded again. A dict, because it keeps the order."""
        self._awaited: dict[str, list[asyncio.Future[None]]] = {}
        """The graphs in which somebody awaits the next write, with a future for each who does."""
        self._wake: asyncio.Future[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._gate_moved = asyncio.Event()
        self._broken: BaseException | None = None
        self._is_refolding = False
        self._is_closing = False
        self.asks: Asks | None = None
        """Asks another process for changes, because it has the store open and this one is a guest."""
        self._followed_upto: int | None = None
        self._following = asyncio.Lock()

    async def open(self) -> None:
        """Fold what the store holds and start the writer."""
        self._loop = asyncio.get_running_loop()
        position = self._store.position
        self._take(await folded_from(self._store, position))
        self._followed_upto = position
        self._writer = asyncio.create_task(self._write_until_closed(), name="glasshouse writer")
        self._move_gate()

    async def close(self) -> None:
        """Make everything queued durable, then stop the writer."""
        if self._writer is None:
            return
        is_grown = self.position - self._snapshot_at >= snapshot_on_close_events_min
        if self._broken is None and self.asks is None and is_grown:
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
        beside: Batch | Beside = NOTHING_BESIDE,
        by: Asker | None = None,
    ) -> Receipt:
        """Decide an intent and wait until its events are durable.

        `by` says who asked. Leave it out if the conductor moves a run. An edit of a graph is always kept as a request.
        `look` is called with the subject right after the decision. Later, other changes may have touched the subject.
        `beside` goes into the same commit: prompt texts to keep, what is answered in the inbox.
        """
        if self.asks is not None:
            change, subject = await self.asks(intent)
            await self.follow()
            if look is not None:
                look(subject)
            return Receipt(change, subject, [])
        await self.wait_for_room()
        decision = self._decided(intent)
        queued = None
        batch = beside if isinstance(beside, Batch) else beside(decision)
        if decision.writes:
            may_need_request = isinstance(intent, GraphEdit | MoveRun | Say)
            request = request_for(intent, by, sender.get()) if may_need_request else None
            queued = self._stage(decision.writes, replace(batch, request=request))
        if look is not None:
            look(decision.subject)
        if queued is not None:
            await queued.acknowledged
            return Receipt(decision.change, decision.subject, queued.events)
        refolds = self.refolds
        await self.wait_for_durability()
        if self.refolds != refolds:
            # The intent changed nothing because of a pending event, and that event was refused: decide again.
            return await self.change(intent, look, beside, by)
        if batch.answers:
            await self.settle(batch)
        return Receipt(decision.change, decision.subject, [])

    async def follow(self) -> None:
        """Take in what another process has written. Only for a guest: it has written nothing itself."""
        async with self._following:
            position = self._store.position
            if position == self._followed_upto:
                return
            after, self._followed_upto = self._followed_upto, None
            if after is None:  # The last time it failed halfway.
                self._use(await folded_from(self._store, position))
            else:
                self.folded.position = after
                await _folded_on(self._store, self.folded, position)
            self._followed_upto = self.position = self.moved_at = self._taken_upto = position
            self.refolds += 1
            self.graphs_moved[EVERY_GRAPH] = None
            self._subscriptions.catch_up(position)

    async def change_and_see(self, intent: Intent, look: Callable[[str], Seen]) -> Seen:
        """Decide an intent, wait until it is durable, and return what `look` returned right after the decision."""
        seen: list[Seen] = []
        await self.change(intent, lambda subject: seen.append(look(subject)))
        return seen[-1]

    async def edit(self, intent: Intent, cause: str, tell: Tell) -> Receipt:
        """Write an edit by a creature's tool, and the report of that edit, as one batch.

        The events of the edit name `cause`. `tell` returns the intent that reports the edit. That intent is decided on
        the world after the edit, and must not be refused. An edit that changes nothing is reported too.
        """
        await self.wait_for_room()
        decision = decide(self.world, intent)
        of_change = tuple([_with_cause(write, cause) for write in decision.writes])
        events, writes = self._folded(of_change)
        try:
            answer = decide(self.world, tell(decision.change, decision.subject))
        except BaseException as unforeseen:
            if events:
                self._give_up_world(unforeseen)
            raise
        report_events, report_writes = self._folded(answer.writes)
        events += report_events
        if events:
            await self._enqueue(Batch((*writes, *report_writes)), events).acknowledged
        return Receipt(decision.change, decision.subject, events)

    def stage(self, intent: Intent, beside: Batch = NOTHING_BESIDE) -> Queued | None:
        """Decide an intent now, without waiting for the commit. None if it changes nothing. Needs `takes_more`."""
        if not self.takes_more:
            raise self._no_room("change()")
        decision = self._decided(intent)
        queued = self._stage(decision.writes, beside) if decision.writes else None
        if isinstance(intent, EndAct):
            self.acts_begun.discard((intent.creature, intent.cause))
        return queued

    def _decided(self, intent: Intent) -> Decision:
        """Decide an intent. The end of an act that has ended already, or was never owed, is refused (ADR 0098)."""
        decision = decide(self.world, intent)
        if isinstance(intent, EndAct):
            act = (intent.creature, intent.cause)
            if act not in self.acts_begun and not self.folded.agenda.owes(*act):
                raise Refused(
                    f"{intent.creature} owes no act for {intent.cause}: its act has ended, or there was none.",
                    "Write nothing more for it.",
                )
        return decision

    async def settle(self, batch: Batch) -> None:
        """Commit a batch without events: answers to the inbox that lead to none, or labels of runs."""
        await self.wait_for_room()
        await self._enqueue(batch, []).acknowledged

    def submit(
        self, creature_id: str, draft: Draft, caused_by: str | None = None
    ) -> tuple[Event, asyncio.Future[None], bool]:
        """Decide now what a creature says, without waiting for the commit. Needs `takes_more`.

        Returns the event, what to await, and whether the engine keeps this event: if so, its caller needs a copy.

        This is the most frequent write. A public line without a cause takes a short path: the same steps as a `Say` intent,
        without building a fact or a decision. Where it goes is found out once, for all lines like it.
        """
        if not self.takes_more:
            raise self._no_room("append()")
        kind, kept, route = draft.kind, None, None
        if caused_by is None and draft.private is None and draft.sealed is None:
            kept = self.world.shape_cache.get((_Route, creature_id, kind, draft.channel))
            route = kept or self._route_of(creature_id, draft)
        if route is None:
            intent = Say(creature_id, (draft,), caused_by)
            queued = self._stage(decide(self.world, intent).writes, Batch(request=request_for(intent, None)))
            return queued.events[0], queued.acknowledged, True
        session, graph, like, tables = route
        segment, session_id, seq = session.segment, like.session_id, session.head + 1
        event = replace(
            like,
            id=f"{session_id}.{seq}",
            seq=seq,
            lamport=segment.base + seq,
            turn=graph.turn,
            payload=json_copy(kind, draft.payload),
            created_at=self._clock.now(),
        )
        rest = rest_within_bounds(event)
        try:
            if tables is None:
                fold(self.folded, event)
                is_kept = True
            else:
                session.head = seq
                is_kept = note_line(tables, event)
            if kept is None:
                self._keep_route(draft, route)
        except BaseException as unforeseen:
            self._give_up_world(unforeseen)
            raise
        acknowledged: Future[None] = Future(loop=self._loop)
        lines = self._lines
        if lines is None or len(lines.events) == commit_events_max:
            lines = self._begin_lines()
        lines.events.append(event)
        lines.rows.extend((session_id, seq, rest))
        lines.acknowledged.append(acknowledged)
        self.graphs_moved[graph.id] = None
        if self._awaited:
            self._wake_those_who_await([event])
        self.position = position = self.position + 1
        self._queued_bytes += len(rest) if rest.isascii() else len(rest.encode())
        is_full = position - self._taken_upto >= pending_events_max or self._queued_bytes >= pending_bytes_max
        if self._wake is not None or is_full or position >= self._snapshot_due_at:
            self._after_queueing()
        return event, acknowledged, is_kept

    def _begin_lines(self) -> _QueuedLines:
        events: list[Event] = []
        rows: list[Any] = []
        lines = self._lines = _QueuedLines(Batch(lines=Lines(events, rows)), events, rows, [])
        self._queue.append(lines)
        return lines

    def _route_of(self, creature_id: str, draft: Draft) -> _Route | None:
        """Where the lines of a creature go that are like this draft. None if such lines cannot take the short path."""
        world, kind = self.world, draft.kind
        voice = voice_of(world, creature_id, kind, draft.channel)
        graph = voice.graph
        session = world.sessions[graph.session_id]
        if kind == kinds.JUDGE_VERDICT or kind in codec.VERSIONS or session.segment.graph_id != graph.id:
            return None
        fact = line_of(world, voice, replace(draft, payload={}), None)
        like = event_of(fact, graph.session_id, graph.id, 0, 0, 0, _NO_TIME)
        return _Route(session, graph, like, None)

    def _keep_route(self, draft: Draft, route: _Route) -> None:
        """Keep where a line went, for the lines after it. Who subscribes, what wires there are and what ends a run
        changes only with the shape of the world."""
        folded, world, kind, like = self.folded, self.world, draft.kind, route.like
        concerns_runs = kind in purses.NOTED or kind in folded.runs.endings
        concerns_agenda = kind in folded.agenda.subscribers or like.actor in world.wires_of
        if not concerns_runs and not concerns_agenda and kind not in kinds.NO_LINES:
            route = route._replace(tables=folded.tables.tables_of(world, like))
        world.shape_cache[_Route, like.actor, kind, draft.channel] = route

    async def foresee(self, intent: Intent) -> Receipt:
        """Decide an intent without writing anything: a dry run (ADR 0041). A refusal is raised as usual.

        The returned events have the ids and times that they would get now.
        """
        await self.wait_for_room()
        decision = decide(self.world, intent)
        events, _ = self._written(decision.writes)
        return Receipt(decision.change, decision.subject, events)

    async def append_imported(
        self, writes: tuple[SegmentWrite, ...], records: tuple[tuple[str, str], ...] = ()
    ) -> bool:
        """Commit imported segments, and the records of their houses. They can be read, forked and branched from, but no creature in them lives here.

        Returns False and changes nothing if the writes no longer fit the pending world.
        """
        await self.wait_for_room()
        if not all(_still_fits(self.world, write) for write in writes):
            return False
        events = [codec.decoded(body) for write in writes for body in write.bodies]
        self._fold(events, {write.session_id: write.opens for write in writes if write.opens is not None})
        await self._enqueue(Batch(writes, records=records), events).acknowledged
        return True

    async def adopt(self, events: Sequence[Event], segments: Mapping[str, Segment]) -> None:
        """Write recorded events without deciding them again. `segments` has every segment that they open."""
        await self.wait_for_room()
        writes: list[SegmentWrite] = []
        for session_id, some in groupby(events, key=lambda event: event.session_id):
            opens = None if session_id in self.world.sessions else segments.get(session_id)
            if opens is None and session_id not in self.world.sessions:
                raise StoreDamaged(f"The ledger lacks the segment of session {session_id}. Restore a copy.")
            of_session = list(some)
            bodies = tuple(map(codec.encoded, of_session))
            writes.append(SegmentWrite(session_id, of_session[0].seq - 1, bodies, opens))
            self._fold(of_session, segments)
        self.graphs_moved[EVERY_GRAPH] = None
        # Committing sets position and change on an event. The record keeps its own events, so it needs copies here.
        copies = [codec.decoded(body) for write in writes for body in write.bodies]
        await self._enqueue(Batch(tuple(writes)), copies).acknowledged

    async def wait_for_write_in(self, graph_id: str) -> None:
        """Wait until something is written in a graph, any graph merges or splits, a run changes, or `wake` is called."""
        awaited = self._loop.create_future()
        self._awaited.setdefault(graph_id, []).append(awaited)
        await awaited

    def wake(self, graph_ids: Iterable[str]) -> None:
        """Wake those who wait for a write in these graphs."""
        for graph_id in graph_ids:
            for awaited in self._awaited.pop(graph_id, ()):
                if not awaited.done():  # A waiter may have been cancelled.
                    awaited.set_result(None)

    @property
    def is_settled(self) -> bool:
        """Whether the world holds what was published, and nothing that is on its way."""
        return not self._queue and not self._batches_in_commit and self._broken is None

    async def wait_for_durability(self) -> None:
        """Wait until everything queued so far is durable or refused."""
        awaited = self._batches_settled + self._batches_in_commit + len(self._queue)
        while self._batches_settled < awaited and self._writer is not None and not self._writer.done():
            if self._settling is None or self._settling.done():
                self._settling = self._loop.create_future()
            await asyncio.shield(self._settling)

    def _stage(self, decided: tuple[Write, ...], beside: Batch) -> Queued:
        write = decided[0]
        if len(decided) > 1 or len(write.facts) > 1 or write.opens is not None:
            events, writes = self._folded(decided)
            return self._enqueue(replace(beside, writes=tuple(writes)), events)
        # The same for one fact of a session that is there, as nearly every act and turn writes.
        folded, session_id, graph_id = self.folded, write.session_id, write.graph_id
        session, turn = folded.world.sessions[session_id], write.turn
        if turn is None:
            graph = folded.world.graphs.get(graph_id)
            turn = 0 if graph is None else graph.turn
        head = session.head
        event = event_of(
            write.facts[0], session_id, graph_id, head + 1, session.segment.base, turn, self._clock.now()
        )
        body = encoded_within_bounds(event)
        try:
            fold(folded, event)
        except BaseException as unforeseen:
            self._give_up_world(unforeseen)
            raise
        if event.kind in MORE_THAN_LINES:
            self._note_moved(event)
        return self._enqueue(replace(beside, writes=(SegmentWrite(session_id, head, (body,)),)), [event])

    def _note_moved(self, first: Event) -> None:
        """Note that a change which moves the world was folded and is about to be queued. `first` is its first event."""
        self.moved_at = self.position + 1
        if first.kind in kinds.OF_RUNS:
            self.graphs_moved.update(dict.fromkeys(self.world.graphs_of(first.run_id or "")))

    def _folded(self, decided: tuple[Write, ...]) -> tuple[list[Event], list[SegmentWrite]]:
        """Stamp, encode, then fold: if an event cannot be encoded, the world has not changed yet."""
        events, writes = self._written(decided)
        self._fold(events, {write.session_id: write.opens for write in decided if write.opens is not None})
        if events and events[0].kind in MORE_THAN_LINES:
            self._note_moved(events[0])
        return events, writes

    def _written(self, decided: tuple[Write, ...]) -> tuple[list[Event], list[SegmentWrite]]:
        """The stamped events of a decision, and the writes for the store. The world does not change."""
        now, all_events, writes = self._clock.now(), [], []
        for write in decided:
            events = stamped(self.world, write, now)
            bodies = tuple(map(encoded_within_bounds, events))
            writes.append(SegmentWrite(write.session_id, events[0].seq - 1, bodies, write.opens))
            all_events += events
        return all_events, writes

    def _fold(self, events: Iterable[Event], segments: Mapping[str, Segment]) -> None:
        """Fold events into the pending world. `segments` has every segment that these events open."""
        try:
            for event in events:
                fold_recorded(self.folded, event, segments)
        except BaseException as unforeseen:
            self._give_up_world(unforeseen)
            raise

    def _give_up_world(self, unforeseen: BaseException) -> None:
        # The pending world is half changed. `wait_for_room` folds it again for the next caller.
        self._broken = unforeseen
        self._move_gate()

    def _enqueue(self, batch: Batch, events: list[Event]) -> Queued:
        queued = Queued(batch, events, Future(loop=self._loop))
        self._queue.append(queued)
        self._lines = None
        for event in events:
            self.graphs_moved[event.graph_id] = None
        if self._awaited:
            self._wake_those_who_await(events)
        self.position = position = self.position + len(events)
        self._queued_bytes += _bytes_in(batch)
        if self._wake is not None or self._is_full or position >= self._snapshot_due_at:
            self._after_queueing()
        return queued

    def _wake_those_who_await(self, events: list[Event]) -> None:
        is_of_all = any(event.kind in kinds.OF_GRAPHS or event.kind in kinds.OF_RUNS for event in events)
        self.wake(tuple(self._awaited) if is_of_all else [event.graph_id for event in events])

    def _after_queueing(self) -> None:
        if self._is_full:
            self._move_gate()
        if self._wake is not None:
            self._wake_writer()
        if self.position >= self._snapshot_due_at:
            self._queue_snapshot()

    def keep_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot of some view. It goes through the same queue as the events; nobody waits for it. A guest keeps
        none."""
        if self.asks is None:
            self._enqueue(Batch(snapshot=snapshot), [])

    def _queue_snapshot(self) -> None:
        """Queue a snapshot of the pending world. It holds exactly the events that are queued before it."""
        self.folded.position = self.position
        body = msgspec.msgpack.encode(self.folded)
        self._note_snapshot(self.position, len(body))
        self._enqueue(Batch(snapshot=Snapshot("", "world", snapshot_key(), 0, body)), [])

    def _note_snapshot(self, position: int, size: int) -> None:
        # The bytes of a snapshot are limited per event since the last one: a large world is saved less often. ADR 0007
        self._snapshot_at = position
        self._snapshot_due_at = position + max(snapshot_events_min, -(-size // snapshot_bytes_per_event_max))

    def _wake_writer(self) -> None:
        if self._wake is not None:
            if not self._wake.done():
                self._wake.set_result(None)
            self._wake = None

    async def _write_until_closed(self) -> None:
        """The writer task: commit queued batches, group by group. If it fails, it refuses all that are left."""
        group: list[Queued | _QueuedLines] = []
        try:
            while self._queue or not self._is_closing:
                if not self._queue:
                    self._wake = self._loop.create_future()
                    await self._wake
                    continue
                group = self._next_group()
                await self._commit(group)
        except BaseException as unforeseen:
            self._refuse(self._give_up(group, unforeseen))
            raise

    async def _commit(self, group: list[Queued | _QueuedLines]) -> None:
        try:
            first_position = await self._store.commit([queued.batch for queued in group])
        except (StoreError, Conflict) as failure:
            await self._refold_and_refuse(group, failure)
        else:
            self._acknowledge(group, first_position)

    def _next_group(self) -> list[Queued | _QueuedLines]:
        queue = self._queue
        if self._queued_events <= commit_events_max:
            group = [*queue]
            queue.clear()
            self._taken_upto = self.position
            self._queued_bytes = 0
        else:
            group = [queue.popleft()]
            events = len(group[0].events)
            while queue and events + len(queue[0].events) <= commit_events_max:
                group.append(queue.popleft())
                events += len(group[-1].events)
            self._taken_upto += events
            self._queued_bytes -= sum([_bytes_in(queued.batch) for queued in group])
        self._lines = None
        self._batches_in_commit = len(group)
        if not self.takes_more:
            self._move_gate()
        return group

    @property
    def _queued_events(self) -> int:
        return self.position - self._taken_upto

    @property
    def _is_full(self) -> bool:
        return self._queued_events >= pending_events_max or self._queued_bytes >= pending_bytes_max

    def _acknowledge(self, group: list[Queued | _QueuedLines], first_position: int) -> None:
        events: list[Event] = []
        position = first_position
        for queued in group:
            events += queued.events
            if isinstance(queued, _QueuedLines):
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
        self._subscriptions.publish(events)
        self._note_settled()

    def _note_settled(self) -> None:
        self._batches_settled += self._batches_in_commit
        self._batches_in_commit = 0
        if self._settling is not None and not self._settling.done():
            self._settling.set_result(None)

    async def _refold_and_refuse(self, group: list[Queued | _QueuedLines], failure: BaseException) -> None:
        """Fold the world again, then refuse: a refused caller may look at once, and must see the real world."""
        refused = self._give_up(group, failure)
        try:
            await self._refold()
        finally:
            self._refuse(refused)

    def _give_up(self, group: list[Queued | _QueuedLines], failure: BaseException) -> _Refused:
        """Empty the queue. Returns the batches to refuse, each with its error."""
        behind = f"Nothing was written, because a commit before it failed: {failure} Then try again."
        refused: _Refused = [(queued, failure) for queued in group]
        refused += [(queued, StoreFailed(behind)) for queued in self._queue]
        self._queue.clear()
        self._lines = None
        self._taken_upto = self.position
        self._queued_bytes = 0
        self._batches_in_commit = len(refused)
        self._broken = failure
        self._move_gate()
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
            self._take(await folded_from(self._store))
        except StoreError as failure:
            self._broken = failure
        else:
            self._broken = None
        finally:
            self._is_refolding = False
            self._move_gate()

    def _use(self, folded: Folded) -> None:
        self.folded = folded
        self.world = folded.world
        """The pending world: the committed events and those on their way, folded."""
        self.agenda = folded.agenda

    def _take(self, folded: Folded) -> None:
        self._use(folded)
        self.refolds += 1
        self.position = self.moved_at = self._taken_upto = self._store.position
        self.graphs_moved[EVERY_GRAPH] = None
        self.wake(tuple(self._awaited))
        self._note_snapshot(folded.position, folded.snapshot_bytes)
        self._subscriptions.catch_up(self._store.position)

    def check_is_open(self) -> None:
        """Raise `StoreFailed` if the ledger is not open yet, is closing, or is closed."""
        if self._writer is None or self._writer.done() or self._is_closing:
            raise StoreFailed(
                "This terrarium is not open. Use it inside 'async with Terrarium(...) as t:'."
            ) from self._broken

    def _no_room(self, which_waits: str) -> StoreFailed:
        self.check_is_open()
        return StoreFailed(f"The ledger takes nothing more at this moment. Await {which_waits}, which waits.")

    def _move_gate(self) -> None:
        """Update `takes_more`, and wake the callers that wait for room."""
        self.takes_more = not self._is_full and self._broken is None and not self._is_closing
        self._gate_moved.set()

    async def wait_for_room(self) -> None:
        """Wait until `takes_more`. Raises if the ledger is closed, or if the world cannot be folded again."""
        while not self.takes_more:
            self.check_is_open()
            if self._broken is not None and not self._is_refolding:
                await self._refold()
                if self._broken is not None:
                    raise self._broken
            else:
                self._gate_moved.clear()
                await self._gate_moved.wait()


def _bytes_in(batch: Batch) -> int:
    """About how many bytes a store writes for a batch: events, prompts and a snapshot, which alone can be large."""
    if batch.lines is not None:
        return sum(map(_utf8_bytes, batch.lines.rows[2::3]))
    size = 0 if batch.snapshot is None else len(batch.snapshot.body)
    for write in batch.writes:
        for body in write.bodies:
            size += len(body)
    for _, text in batch.prompts:
        size += _utf8_bytes(text)
    return size


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _still_fits(world: World, write: SegmentWrite) -> bool:
    there = world.sessions.get(write.session_id)
    if write.opens is not None:
        return there is None
    return there is not None and there.head == write.expected_head


def _number_imported_changes(queued: Queued) -> None:
    """Give imported events the change numbers that the store gave them. One import is one batch with many changes."""
    names = [name for write in queued.batch.writes for name in write.changes or ()]
    numbers: dict[str, int | None] = {}
    for name, event in zip(names, queued.events, strict=True):
        force_setattr(event, "change", numbers.setdefault(name, event.position))


def _with_cause(write: Write, cause: str) -> Write:
    return replace(write, facts=tuple([replace(fact, caused_by=cause) for fact in write.facts]))


def snapshot_key() -> str:
    """The versions of folds and upcasters. A snapshot with another key is not used."""
    versions = (folds.version, agendas.version, purses.version, recent_lines.version)
    return f"{'.'.join(map(str, versions))}.{codec.upcaster_set()}"


async def folded_from(store: Store, upto: int | None = None) -> Folded:
    """The world folded from the store, now or right after the event at position `upto`.

    The fold starts at the newest snapshot that fits.
    """
    position = store.position if upto is None else upto
    kept = await store.snapshot("", "world", snapshot_key(), position)
    if kept is None:
        return await folded_upto(store, position)
    try:
        folded = msgspec.msgpack.decode(kept.body, type=Folded)
    except (
        msgspec.DecodeError
    ):  # A snapshot is only a cache: ignore a broken one and fold from the beginning.
        return await folded_upto(store, position)
    if folded.position != kept.at:  # Folded from there, the ledger would miss events, or take some twice.
        return await folded_upto(store, position)
    folded.snapshot_bytes = len(kept.body)
    return await _folded_on(store, folded, position)


async def folded_upto(store: Store, position: int) -> Folded:
    """The world right after the event at a position, folded from the beginning without a snapshot."""
    return await _folded_on(store, Folded(World(house_id=store.house_id)), position)


async def _folded_on(store: Store, folded: Folded, upto: int) -> Folded:
    folded.tables.driven_cache = set()  # The lines of a graph are loaded when it is first driven.
    segments = {segment.id: segment for segment in await store.segments_after(folded.position)}
    position = folded.position
    while position < upto:
        page = await store.read_after(position, min(fold_page_events, upto - position))
        try:
            for event in page:
                position += 1
                if event.position != position:
                    raise StoreDamaged(f"The ledger lacks the event at position {position}. Restore a copy.")
                fold_recorded(folded, event, segments)
        except (LookupError, BadEvent) as unfit:
            raise unfit_event(position, unfit) from unfit
        if not page:
            break
    return folded


def unfit_event(position: int | None, unfit: Exception) -> StoreDamaged:
    """That the store is damaged: folding the event at a position raised this."""
    return StoreDamaged(
        f"The event at position {position} does not fit what stands before it ({unfit!r}). Restore a copy."
    )


def fold_recorded(folded: Folded, event: Event, segments: Mapping[str, Segment]) -> None:
    """Fold the next event of a ledger. The event may open one of `segments`.

    No creature of an imported session lives here, so its events are only noted.
    """
    session = folded.world.sessions.get(event.session_id)
    if session is None:
        begin(folded.world, segments[event.session_id])
        session = folded.world.sessions[event.session_id]
    if session.segment.is_imported:
        note_imported(folded.world, event)
    else:
        fold(folded, event)


def fold(folded: Folded, event: Event) -> None:
    """Fold one event into all parts of the state. Parts that the event does not concern are skipped, for speed."""
    world, agenda, runs, kind = folded.world, folded.agenda, folded.runs, event.kind
    if kind == kinds.TURN_STARTED:
        begin_turn(world, event)
        agenda.apply(world, event)
        runs.apply(world, event)
        return
    if kind in MORE_THAN_LINES:
        evolve(world, event)
        if agenda.concerns(event):
            agenda.apply(world, event)
        folded.tables.apply(world, event)
        if event.run_id is not None or runs.concerns(event):
            runs.apply(world, event)
        return
    note_written(world, event)
    folded.tables.apply(world, event)
    has_cause = event.caused_by is not None
    if has_cause or event.model is not None or runs.concerns(event):
        runs.apply(world, event)
    if has_cause or kind in agenda.subscribers or event.actor in world.wires_of:
        agenda.apply(world, event)
