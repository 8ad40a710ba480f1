"""Reads events: histories by page, single events, the events of a run, and a creature's mail.

Always holds: only durable events are returned. A read is planned on the pending world, waits until everything in that
world is durable, and only then fetches. So a history has no gap at its end, however many appends are in flight.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from itertools import takewhile

from glasshouse.errors import Refused, StoreDamaged, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import Event, event_id, session_and_seq
from glasshouse.events.filter import EventFilter
from glasshouse.events.payloads import BranchOf, CreatureStopped, payload_of
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.subscriptions import Subscriptions
from glasshouse.runtime.store_port import Store
from glasshouse.turns.heard.surroundings import cause_as_seen
from glasshouse.turns.runs.agenda import Owed
from glasshouse.world.state.ids import the_creature, the_run, the_session
from glasshouse.world.state.lineage import (
    Span,
    moment_of,
    page_events_max,
    pages,
    place_in_story,
    span_of,
    spans_between,
    visible_prefixes,
)
from glasshouse.world.state.state import SessionState, World
from glasshouse.world.state.values import GOES_ON

change_page_events = 64

EventById = Callable[[str], Awaitable[Event]]
"""Fetches an event by its id."""


class HistoryReader:
    """Plans reads over the lineage and fetches them from the store."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self.store = store
        self.ledger = ledger

    @property
    def _sessions(self) -> Mapping[str, SessionState]:
        return self.ledger.world.sessions

    def skews(self) -> dict[str, int]:
        """By session: how far its logical time is ahead of the story's time, because of a branch. A digest needs
        this."""
        return {name: session.skew for name, session in self._sessions.items() if session.skew}

    async def pages(
        self, session_id: str, after: str | None = None, upto: str | None = None
    ) -> AsyncIterator[list[Event]]:
        """A session's history in order, page by page. It does not include events that are written while it is read."""
        spans = self._planned(session_id, after, upto)
        while await self._was_refolded_meanwhile():
            spans = self._planned(session_id, after, upto)
        for page in pages(spans):
            yield await self.store.read(page)

    def _planned(self, session_id: str, after: str | None, upto: str | None) -> list[Span]:
        sessions = self._sessions
        prefixes = visible_prefixes(sessions, session_id)
        first = None if after is None else moment_of(sessions, prefixes, after)
        last = None if upto is None else moment_of(sessions, prefixes, upto)
        return spans_between(sessions, prefixes, first, last)

    async def _was_refolded_meanwhile(self) -> bool:
        """Wait until the world of the plan is durable. True if part of that world was refused: then plan again."""
        refolds = self.ledger.refolds
        await self.ledger.writer.wait_for_durability()
        return self.ledger.refolds != refolds

    async def event(self, id_of_event: str) -> Event:
        """One event by its id."""
        session_id, seq = session_and_seq(id_of_event)
        session = self._sessions.get(session_id)
        if session is not None and 1 <= seq <= session.head:
            await self.ledger.writer.wait_for_durability()
            for event in await self.store.read([span_of(session.segment, seq, seq)]):
                return event
        raise UnknownName(noun="event", name=id_of_event)

    async def events_of_run(self, run_id: str) -> list[Event]:
        """The events of a run's story, up to its end: what the run wrote, and the events of its graphs.

        Lines that its creatures said in graphs of other runs are included. Events of other runs in merged graphs are
        not, and neither is anything after its `run.finished`. A run without a scenario has no graphs of its own, so the
        events of every session it wrote in are included. The story of a branch includes the past it shares.
        """
        if run_id not in self.ledger.world.runs and run_id in self.imported_runs():
            return await self._events_of_imported(run_id)
        purse = self.ledger.folded.runs.purses.get(run_id)
        if purse is not None and purse.branch_of is not None:
            return await self._events_of_branch(run_id, purse.branch_of)
        return await self.events_of_its_own(run_id)

    def imported_runs(self) -> dict[str, str]:
        """The runs that came in files, each with the session in which it began."""
        begun: dict[str, str] = {}
        for name, session in self._sessions.items():
            for run_id in session.runs if session.segment.is_imported else ():
                begun.setdefault(run_id, name)
        return begun

    async def _events_of_imported(self, run_id: str) -> list[Event]:
        """The story of a run that came in a file, with the past that it grew from."""
        session_id = self.imported_runs()[run_id]
        own = await self.events_of_its_own(run_id)
        if self._sessions[session_id].segment.origin not in GOES_ON:
            return own
        return self._in_story_order([*await self._past_of(session_id), *own])

    async def events_of_its_own(self, run_id: str) -> list[Event]:
        """The events of a run's story, without the past that a branch or a resumed run grew from."""
        session_id = self.imported_runs().get(run_id)
        if session_id is None or run_id in self.ledger.world.runs:
            session_id = the_run(self.ledger.world, run_id).session_id
        events = await self._events_of_sessions(run_id)
        own = self._own_sessions(run_id)
        first = event_id(session_id, 1)
        of_run = [
            event
            for event in events
            if event.run_id == run_id
            or (event.run_id is None and (event.session_id in own or event.id == first))
        ]
        end = next((e for e in of_run if e.kind == kinds.RUN_FINISHED and e.run_id == run_id), None)
        if end is None:
            return of_run
        if self._sessions[
            session_id
        ].segment.is_imported:  # Its positions say in which order the file was read.
            return of_run[: of_run.index(end) + 1]
        return [event for event in of_run if (event.position or 0) <= (end.position or 0)]

    async def sessions_of_run(self, run_id: str) -> tuple[str, dict[str, int]]:
        """The session that holds the end of a run, and every session of its story with the last seq that belongs to it.

        The sessions that the run wrote in are whole. Those of the past of a branch go as far as its story does.
        """
        own = await self.events_of_its_own(run_id)
        ends = {event.session_id: event.seq for event in await self.events_of_run(run_id)}
        ends |= {event.session_id: self._sessions[event.session_id].head for event in own}
        written = [event for event in own if event.run_id == run_id]
        if not written:
            raise StoreDamaged(f"The ledger lacks the events of run {run_id}. Restore a copy.")
        finished = (event for event in written if event.kind == kinds.RUN_FINISHED)
        return next(finished, written[-1]).session_id, ends

    def _own_sessions(self, run_id: str) -> set[str]:
        """The sessions whose events without a run id are part of a run's story."""
        purse = self.ledger.folded.runs.purses.get(run_id)
        sessions = self.sessions_with(run_id)
        run = self.ledger.world.runs.get(run_id)
        if run is None or (purse is not None and purse.playbill.name):
            return {name for name, session in sessions.items() if run_id in session.runs}
        own = {name for name, session in sessions.items() if run_id in session.writers}
        is_told_elsewhere = bool(run.grown_in) and run.session_id not in run.grown_in
        return own - {run.session_id} if is_told_elsewhere else own

    def sessions_with(self, run_id: str) -> dict[str, SessionState]:
        """The sessions of a run of this house, or those that came in files. Runs of two houses may have the same id."""
        is_imported = run_id not in self.ledger.world.runs
        return {
            name: session
            for name, session in self._sessions.items()
            if session.segment.is_imported is is_imported
            and (run_id in session.writers or run_id in session.runs)
        }

    def company_of(self, run_id: str) -> tuple[frozenset[str], dict[str, SessionState]]:
        """A run, the runs that shared a graph with it, the runs that shared a graph with those, and so on; and their
        sessions."""
        sessions = dict[str, SessionState]()
        runs = {run_id}
        waiting = [run_id]
        while waiting:
            for name, session in self.sessions_with(waiting.pop()).items():
                if name not in sessions:
                    sessions[name] = session
                    met = {*session.runs, *session.writers} - runs
                    runs |= met
                    waiting += sorted(met)
        return frozenset(runs), sessions

    async def _events_of_branch(self, run_id: str, branch_of: BranchOf) -> list[Event]:
        """The past that a branch shares with its parent, then the events of the branch, in the order of the story."""
        own = await self.events_of_its_own(run_id)
        end = (await self.event(branch_of.at)).position or 0
        if self.parent_of(run_id) is not None:
            past = [e for e in await self.events_of_run(branch_of.run_id) if (e.position or 0) <= end]
        else:
            past = await self._past_of(the_run(self.ledger.world, run_id).session_id)
        return self._in_story_order([*past, *own])

    def _in_story_order(self, events: list[Event]) -> list[Event]:
        """Events of a past and of what grew from it, each once."""
        once = {event.id: event for event in events}
        return sorted(once.values(), key=lambda event: place_in_story(self._sessions, event))

    def parent_of(self, run_id: str) -> BranchOf | None:
        """The run that a branch or a resumed run continues, if it was played here, and the last event of their common
        past. Runs of two houses may have the same id."""
        purse = self.ledger.folded.runs.purses.get(run_id)
        parent = None if purse is None else purse.branch_of
        if parent is None or self._sessions[session_and_seq(parent.at)[0]].segment.is_imported:
            return None
        return parent if parent.run_id in self.ledger.world.runs else None

    async def _past_of(self, session_id: str) -> list[Event]:
        """The history that a session inherits from its ancestors, without its own events."""
        prefixes = visible_prefixes(self._sessions, session_id)
        prefixes.pop(session_id)
        spans = spans_between(self._sessions, prefixes)
        await self.ledger.writer.wait_for_durability()
        return [event for page in pages(spans) for event in await self.store.read(page)]

    async def _events_of_sessions(self, run_id: str) -> list[Event]:
        """All events of the sessions that a run wrote in or that belong to it, in the order of histories."""
        while True:
            spans = [
                span_of(session.segment, 1, session.head)
                for session in self.sessions_with(run_id).values()
                if session.head
            ]
            if not await self._was_refolded_meanwhile():
                break
        spans.sort(key=lambda span: span.starts_at)
        return [event for page in pages(spans) for event in await self.store.read(page)]

    async def batch_to_fork(self, session_id: str, at: str | None) -> tuple[str, str, int]:
        """Where a fork begins: the id of the event, the session that wrote it, and the last seq of its batch."""
        id_of_event = self.event_meant(session_id, at)
        event = await self.event(id_of_event)
        segment = self._sessions[event.session_id].segment
        last = await _last_of_change(
            event,
            lambda last: self.store.read([span_of(segment, last.seq + 1, last.seq + change_page_events)]),
        )
        return id_of_event, event.session_id, last.seq

    def event_meant(self, session_id: str, at: str | None) -> str:
        """The id `at`, or that of the session's last event. Refuses an event that is not in the session's history."""
        known = the_session(self.ledger.world, session_id)
        id_of_event = event_id(session_id, known.head) if at is None else at
        writer, seq = session_and_seq(id_of_event)
        if writer != session_id or not 1 <= seq <= known.head:
            moment_of(self._sessions, visible_prefixes(self._sessions, session_id), id_of_event)
        return id_of_event

    async def end_of_change(self, id_of_event: str) -> int:
        """The position of the last event of the change that an event belongs to."""
        return (await self.last_of_change(await self.event(id_of_event))).position or 0

    async def last_of_change(self, event: Event) -> Event:
        """The last event of the change that an event belongs to."""
        if self._sessions[event.session_id].segment.is_imported:
            raise Refused(
                f"{event.id} was imported: its creatures are not live here.",
                "Ask the store it was exported from.",
            )
        # The positions of a change that was made in this house have no gap, so reading by position finds its end.
        return await _last_of_change(
            event, lambda last: self.store.read_after(last.position or 0, change_page_events)
        )


async def _last_of_change(event: Event, following: Callable[[Event], Awaitable[list[Event]]]) -> Event:
    """The last event of the change that an event belongs to. `following` reads the page after an event."""
    last = event
    page = [event]
    while page and page[-1] is last:
        page = await following(last)
        last = [last, *takewhile(lambda later: later.change == event.change, page)][-1]
    return last


async def mail_pages(
    ledger: Ledger, subscriptions: Subscriptions, store: Store, creature_id: str, *, follow: bool
) -> AsyncIterator[list[Event]]:
    """The events that a creature is owed acts for, page by page, oldest first. With `follow`, it waits for more."""
    the_creature(ledger.world, creature_id)
    seen_until = 0
    async with subscriptions.subscribe(_MailOf(ledger, creature_id)) as news:
        while True:
            causes = ledger.agenda.owed_since(creature_id, seen_until)
            await ledger.writer.wait_for_durability()
            for start in range(0, len(causes), page_events_max):
                some = [owed.cause for owed in causes[start : start + page_events_max]]
                page = await store.read(spans_of_events(ledger.world, some))
                seen_until = page[-1].lamport if page else seen_until
                yield _as_handed(ledger.world, page, causes, creature_id)
            if not follow or creature_id not in ledger.world.creatures:
                return
            if not causes and await anext(news, None) is None:
                return


def _as_handed(world: World, page: list[Event], causes: Iterable[Owed], creature_id: str) -> list[Event]:
    """Mail as its creature gets it: the public part, without the words if a wire withheld them."""
    creature = world.creatures.get(creature_id)
    handed = {owed.cause: owed.handed for owed in causes}
    if creature is None:
        return []
    return [cause_as_seen(creature, event, handed.get(event.id)) for event in page]


class _MailOf(EventFilter):
    """Matches the events that wake the reader of a mailbox: new mail for its creature, and the creature's stop."""

    __slots__ = ("_creature_id", "_ledger")

    def __init__(self, ledger: Ledger, creature_id: str) -> None:
        super().__init__()
        self._ledger = ledger
        self._creature_id = creature_id

    def matches(self, event: Event) -> bool:
        if event.kind == kinds.CREATURE_STOPPED:
            return payload_of(event, CreatureStopped).creature == self._creature_id
        return event.id in self._ledger.agenda.owed.get(self._creature_id, ())


def spans_of_events(world: World, ids: Iterable[str], gap: int = 1) -> list[Span]:
    """Single events as spans. Events of one segment whose seqs differ by at most `gap` share a span."""
    spans: list[Span] = []
    for session_id, seq in map(session_and_seq, ids):
        session = world.sessions.get(session_id)
        if session is None:
            continue
        before = spans[-1] if spans else None
        if before is not None and before.session_id == session_id and 0 < seq - before.last <= gap:
            spans[-1] = before.cut(before.first, seq)
        else:
            spans.append(span_of(session.segment, seq, seq))
    return spans
