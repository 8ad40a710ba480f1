"""The ledger: the only way to write events.

Theory of operation. A door first waits for room. Then a change that is decided here takes these steps, in this order, without
awaiting in between:

| step | what happens |
|---|---|
| decide | the rules turn an intent into facts, or refuse it, and nothing has happened |
| stamp | the facts become events with ids and times |
| encode | the events become bytes. One that is too large is refused here, and nothing has happened |
| fold | the events change the *pending* world: what is committed, and what is on its way (`folds.py`) |
| note | the conductor and those who wait learn which graphs moved (`pending.py`) |
| queue | the batch joins the queue of the writer (`writer.py`) |

Then the writer commits what has gathered. It acknowledges the batches, or folds the world again and refuses them. Because nothing awaits
between deciding and queueing, two decisions cannot interleave, and no lock is needed.

The doors: `change` decides and waits, `stage` decides and does not wait, `edit` writes an edit with its report, `submit` says a line (on
the quick path of `quick_lines.py`, if it can), `settle` and `keep_snapshot` write no event, `append_imported` and `adopt` write events that
were decided elsewhere. In a guest, `change` has the process that plays the store decide, and `follow` reads what it wrote.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import groupby
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from glasshouse.errors import Refused, StoreDamaged, StoreError, StoreFailed
from glasshouse.events import codec
from glasshouse.events.codec import encoded_within_bounds
from glasshouse.events.event import Draft, Event, own_copy
from glasshouse.reprs import shown
from glasshouse.runtime.hooks import Hooks
from glasshouse.runtime.ledger.folds import fold, fold_on, load_folded, open_and_fold
from glasshouse.runtime.ledger.pending import EVERY_GRAPH, Pending
from glasshouse.runtime.ledger.quick_lines import QuickLines
from glasshouse.runtime.ledger.subscriptions import Subscriptions
from glasshouse.runtime.ledger.writer import Queued, Writer
from glasshouse.runtime.ports import Clock
from glasshouse.runtime.store_port import (
    NO_INBOX_WRITES,
    NO_SIDE_WRITES,
    Batch,
    InboxWrites,
    SegmentWrite,
    SideWrites,
    Snapshot,
    Store,
)
from glasshouse.world.decisions.acts import check_reflection
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.decision import Decision, Write, stamped
from glasshouse.world.decisions.intents import EndAct, GraphEdit, Intent, MoveRun, Say
from glasshouse.world.decisions.requests import Asker, request_for
from glasshouse.world.fold.evolve import begin
from glasshouse.world.state.state import Segment, World
from glasshouse.world.state.values import Change

Seen = TypeVar("Seen")

Look = Callable[[str], object]
"""Called right after a decision, with the id of the decision's subject."""

Answering = Callable[[Decision], InboxWrites]
"""Takes the decision about an intent; returns what it settles in the inbox."""

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


class Ledger(Pending):
    """The pending world, and the doors through which it is changed."""

    def __init__(self, store: Store, clock: Clock, subscriptions: Subscriptions) -> None:
        super().__init__()
        self.writer = Writer(self, store, subscriptions, clock)
        self._lines = QuickLines(self, self.writer, clock)
        self._store = store
        self.store_lapse = store.lapse
        """What the store says of its owner: why nothing may be asked now. Acts ask it often, so it is no method of its own."""
        self._clock = clock
        self._subscriptions = subscriptions
        self.may_end: Callable[[tuple[str, str]], bool] = _nobody
        """Whether this process has begun an act and not ended it, by the ids of creature and cause. It began because it was
        owed, so it may end even if its creature was removed, or a program answered its cause, meanwhile (ADR 0098)."""
        self.asks: Asks | None = None
        """Asks another process for changes, because it has the store open and this one is a guest."""
        self._hooks: Hooks | None = None
        self._followed_upto: int | None = None
        self._following = asyncio.Lock()

    def show(self, hooks: Hooks) -> None:
        """Show edits and commits to these hooks."""
        self._hooks = hooks
        self.writer.hooks = hooks

    async def open(self) -> None:
        """Fold what the store holds and start the writer."""
        position = await self._store.position()
        await self.writer.open(position)
        self._followed_upto = position

    async def close(self) -> None:
        """Make everything queued durable, then stop the writer."""
        await self.writer.close(keeps_snapshot=self.asks is None)

    # What the doors share

    async def wait_for_room(self) -> None:
        """Wait until `writer.takes_more`. Raises if the ledger is closed, or if the world cannot be folded again."""
        if not self.writer.takes_more:
            await self.writer.wait_for_room()

    def lapse(self) -> StoreError | None:
        """Why nothing may be asked of models and tools now: this process has lost its store, or may have; None if it may."""
        return self.writer.ended or self.store_lapse()

    @property
    def is_settled(self) -> bool:
        """Whether the world holds what was published, and nothing that is on its way."""
        return self.writer.is_settled

    def _decide(self, intent: Intent) -> Decision:
        """Decide an intent. The end of an act that has ended already, or was never owed, is refused (ADR 0098)."""
        decision = decide(self.world, intent)
        if isinstance(intent, EndAct):
            act = (intent.creature, intent.cause)
            if not self.agenda.owes(*act) and not self.may_end(act):
                raise Refused(
                    f"{intent.creature} owes no act for {intent.cause}: its act has ended, or there was none.",
                    "Write nothing more for it.",
                )
            if intent.draft is not None and self.agenda.owes_reflection(*act):
                check_reflection(self.world, intent.draft)
        return decision

    def _stamp(self, decided: tuple[Write, ...]) -> tuple[list[Event], tuple[SegmentWrite, ...]]:
        """Stamp and encode: the events of a decision, and the writes for the store. The world does not change."""
        now = self._clock.now()
        stamped_events: list[Event] = []
        writes: list[SegmentWrite] = []
        for write in decided:
            events = stamped(self.world, write, now)
            bodies = tuple(map(encoded_within_bounds, events))
            head = events[0].seq - 1
            writes.append(SegmentWrite(write.session_id, head, bodies, write.opens, events=tuple(events)))
            stamped_events += events
        return stamped_events, tuple(writes)

    def _apply(self, decided: tuple[Write, ...]) -> tuple[list[Event], tuple[SegmentWrite, ...]]:
        """Stamp, encode, fold and note what was decided. Whatever is applied must be queued next, before any await."""
        events, writes = self._stamp(decided)
        try:
            for event in events:
                if event.seq == 1:
                    begin(self.world, _segment_opened(decided, event.session_id))
                fold(self.folded, event)
        except BaseException as unforeseen:
            # The pending world is half changed. `wait_for_room` folds it again for the next caller.
            self.writer.give_up_world(unforeseen)
            raise
        self.note(events)
        return events, writes

    def _fold_written(self, events: Iterable[Event], segments: Mapping[str, Segment]) -> None:
        """Fold events that were decided elsewhere. `segments` has every segment that they open."""
        try:
            for event in events:
                open_and_fold(self.folded, event, segments)
        except BaseException as unforeseen:
            self.writer.give_up_world(unforeseen)
            raise

    # The doors

    async def change(
        self,
        intent: Intent,
        look: Look | None = None,
        side: SideWrites = NO_SIDE_WRITES,
        by: Asker | None = None,
        inbox: InboxWrites | Answering = NO_INBOX_WRITES,
    ) -> Receipt:
        """Decide an intent and wait until its events are durable.

        `by` says who asked. Leave it out if the conductor moves a run. An edit of a graph is always kept as a request.
        `look` is called with the subject right after the decision. Later, other changes may have touched the subject.
        `side` and `inbox` go into the same commit: prompt texts to keep, what is answered in the inbox.
        """
        changing = self._change(intent, look, side, by, inbox)
        if self._hooks is not None and isinstance(intent, GraphEdit):
            changing = self._hooks.around_edit(intent, changing)
        return await changing

    async def _change(
        self,
        intent: Intent,
        look: Look | None,
        side: SideWrites,
        by: Asker | None,
        inbox: InboxWrites | Answering,
    ) -> Receipt:
        if self.asks is not None:
            return await self._ask_for(intent, look)
        await self.wait_for_room()
        decision = self._decide(intent)
        queued = None
        settled = inbox if isinstance(inbox, InboxWrites) else inbox(decision)
        if decision.writes:
            may_need_request = isinstance(intent, GraphEdit | MoveRun | Say)
            if may_need_request:
                side = replace(side, request=request_for(intent, by, sender.get()))
            events, writes = self._apply(decision.writes)
            queued = self.writer.queue(Batch(writes, side, settled), events)
        if look is not None:
            look(decision.subject)
        if queued is not None:
            await queued.acknowledged
            return Receipt(decision.change, decision.subject, queued.events)
        refolds = self.refolds
        await self.writer.wait_for_durability()
        if self.refolds != refolds:
            # The intent changed nothing because of a pending event, and that event was refused: decide again.
            return await self._change(intent, look, side, by, inbox)
        if settled.answers:
            await self.settle(Batch(inbox=settled))
        return Receipt(decision.change, decision.subject, [])

    async def change_and_see(self, intent: Intent, look: Callable[[str], Seen]) -> Seen:
        """Decide an intent, wait until it is durable, and return what `look` returned right after the decision."""
        seen: list[Seen] = []
        await self.change(intent, lambda subject: seen.append(look(subject)))
        return seen[-1]

    def stage(self, intent: Intent, side: SideWrites = NO_SIDE_WRITES) -> Queued | None:
        """Decide an intent now, without waiting for the commit. None if it changes nothing. Needs `writer.takes_more`."""
        if not self.writer.takes_more:
            raise self._no_room("change()")
        decision = self._decide(intent)
        if not decision.writes:
            return None  # It changes nothing.
        events, writes = self._apply(decision.writes)
        return self.writer.queue(Batch(writes, side), events)

    async def edit(self, intent: Intent, cause: str, tell: Tell) -> Receipt:
        """Write an edit by a creature's tool, and the report of that edit, as one batch.

        The events of the edit name `cause`. `tell` returns the intent that reports the edit. That intent is decided on
        the world after the edit, and must not be refused. An edit that changes nothing is reported too.
        """
        editing = self._edit(intent, cause, tell)
        return await (editing if self._hooks is None else self._hooks.around_edit(intent, editing))

    async def _edit(self, intent: Intent, cause: str, tell: Tell) -> Receipt:
        await self.wait_for_room()
        decision = decide(self.world, intent)
        events, writes = self._apply(tuple([_with_cause(write, cause) for write in decision.writes]))
        try:
            answer = decide(self.world, tell(decision.change, decision.subject))
            report_events, report_writes = self._apply(answer.writes)
        except BaseException as unforeseen:
            if events:  # They are in the pending world, and are not queued.
                self.writer.give_up_world(unforeseen)
            raise
        events += report_events
        if events:
            await self.writer.queue(Batch((*writes, *report_writes)), events).acknowledged
        return Receipt(decision.change, decision.subject, events)

    def submit(
        self, creature_id: str, draft: Draft, caused_by: str | None = None
    ) -> tuple[Event, asyncio.Future[None], bool]:
        """Decide now what a creature says, without waiting for the commit. Needs `writer.takes_more`.

        Returns the event, what to await, and whether the engine keeps this event: if so, its caller needs a copy.
        """
        if not self.writer.takes_more:
            raise self._no_room("append()")
        said = self._lines.say(creature_id, draft) if caused_by is None else None
        if said is not None:
            return said  # It took the quick path.
        intent = Say(creature_id, (draft,), caused_by)
        events, writes = self._apply(decide(self.world, intent).writes)
        side = SideWrites(request=request_for(intent, None))
        queued = self.writer.queue(Batch(writes, side), events)
        return queued.events[0], queued.acknowledged, True

    async def foresee(self, intent: Intent) -> Receipt:
        """Decide an intent without writing anything: a dry run (ADR 0041). A refusal is raised as usual.

        The returned events have the ids and times that they would get now.
        """
        await self.wait_for_room()
        decision = decide(self.world, intent)
        events, _ = self._stamp(decision.writes)
        return Receipt(decision.change, decision.subject, events)

    async def settle(self, batch: Batch) -> None:
        """Commit a batch without events: answers to the inbox that lead to none, or labels of runs."""
        await self.wait_for_room()
        await self.writer.queue(batch, []).acknowledged

    def keep_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot of some view. It goes through the same queue as the events; nobody waits for it. A guest keeps
        none."""
        if self.asks is None:
            self.writer.queue(Batch(snapshot=snapshot), [])

    async def append_imported(
        self, writes: tuple[SegmentWrite, ...], records: tuple[tuple[str, str], ...] = ()
    ) -> bool:
        """Commit imported segments, and the records of their houses. They can be read, forked and branched from, but no
        creature in them lives here.

        Returns False and changes nothing if the writes no longer fit the pending world.
        """
        await self.wait_for_room()
        if not all(_still_fits(self.world, write) for write in writes):
            return False  # Somebody imported the same sessions meanwhile.
        events = [codec.decoded(body) for write in writes for body in write.bodies]
        self._fold_written(
            events, {write.session_id: write.opens for write in writes if write.opens is not None}
        )
        self.note(events, is_decided_here=False)
        await self.writer.queue(Batch(writes, SideWrites(records=records)), events).acknowledged
        return True

    async def adopt(self, events: Sequence[Event], segments: Mapping[str, Segment]) -> None:
        """Write recorded events without deciding them again. `segments` has every segment that they open."""
        await self.wait_for_room()
        writes: list[SegmentWrite] = []
        opened = set(self.world.sessions)
        for session_id, some in groupby(events, key=lambda event: event.session_id):
            opens = None if session_id in opened else segments.get(session_id)
            if opens is None and session_id not in opened:
                raise StoreDamaged(f"The ledger lacks the segment of session {session_id}. Restore a copy.")
            opened.add(session_id)
            of_session = list(some)
            bodies = tuple(map(codec.encoded, of_session))
            writes.append(SegmentWrite(session_id, of_session[0].seq - 1, bodies, opens))
        self._fold_written(
            events, segments
        )  # After all was checked: if something lacks, nothing has happened.
        self.graphs_moved[EVERY_GRAPH] = None
        # Committing sets position and change on an event. The record keeps its own events, so it needs copies here.
        copies = [codec.decoded(body) for write in writes for body in write.bodies]
        self.note(copies, is_decided_here=False)
        await self.writer.queue(Batch(tuple(writes)), copies).acknowledged

    def _no_room(self, which_waits: str) -> StoreFailed:
        self.writer.check_is_open()
        return StoreFailed(f"The ledger takes nothing more at this moment. Await {which_waits}, which waits.")

    # A guest

    async def _ask_for(self, intent: Intent, look: Look | None) -> Receipt:
        """Have the process that plays the store make a change, and see it."""
        assert self.asks is not None, "only a guest asks"
        change, subject = await self.asks(intent)
        await self.follow()
        if look is not None:
            look(subject)
        return Receipt(change, subject, [])

    async def follow(self) -> None:
        """Take in what another process has written. Only for a guest: it has written nothing itself."""
        async with self._following:
            position = await self._store.position()
            if position == self._followed_upto:
                return  # Nothing was written since.
            after = self._followed_upto
            self._followed_upto = None
            if after is None:  # The last time it failed halfway.
                folded = await load_folded(self._store, position)
            else:
                self.folded.position = after
                folded = await fold_on(self._store, self.folded, position)
            self.writer.follow(folded, position)
            self._followed_upto = position


def _still_fits(world: World, write: SegmentWrite) -> bool:
    there = world.sessions.get(write.session_id)
    if write.opens is not None:
        return there is None
    return there is not None and there.head == write.expected_head


def _segment_opened(decided: tuple[Write, ...], session_id: str) -> Segment:
    """The segment of a session that a decision opens."""
    return next(w.opens for w in decided if w.session_id == session_id and w.opens is not None)


def _with_cause(write: Write, cause: str) -> Write:
    return replace(write, facts=tuple([replace(fact, caused_by=cause) for fact in write.facts]))


def _nobody(_act: tuple[str, str]) -> bool:
    """Which acts this process has begun, before there is anybody to begin one."""
    return False
