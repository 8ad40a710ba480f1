"""Reading: histories by page, single events, and what a creature is owed. Only what is durable is ever shown."""

from __future__ import annotations

from collections.abc import AsyncIterator

from glasshouse.errors import UnknownName
from glasshouse.events.event import Event, event_id, place_of
from glasshouse.runtime.ledger import Ledger
from glasshouse.runtime.ports import Store
from glasshouse.runtime.subscriptions import Subscriptions
from glasshouse.world.lineage import (
    Span,
    moment_of,
    page_events_max,
    pages,
    span_of,
    spans_between,
    visible_prefixes,
)
from glasshouse.world.names import the_creature
from glasshouse.world.state import World


class HistoryReader:
    """Plans reads over the lineage and fetches them from the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def pages(
        self, world: World, session_id: str, after: str | None = None, upto: str | None = None
    ) -> AsyncIterator[list[Event]]:
        """A history in order, some events at a time. What comes to be while it is read is not in it."""
        prefixes = visible_prefixes(world.sessions, session_id)
        first = None if after is None else moment_of(world.sessions, prefixes, after)
        last = None if upto is None else moment_of(world.sessions, prefixes, upto)
        for page in pages(spans_between(world.sessions, prefixes, first, last)):
            yield await self._store.read(page)

    async def event(self, world: World, id_of_event: str) -> Event:
        """One event by its id, if it is durable."""
        session_id, seq = place_of(id_of_event)
        session = world.sessions.get(session_id)
        if session is not None and seq >= 1:
            found = await self._store.read([span_of(session.segment, seq, seq)])
            if found:
                return found[0]
        raise UnknownName(noun="event", name=id_of_event)

    def check_holds(self, world: World, session_id: str, id_of_event: str) -> None:
        """Refuse an event that is not in a session's history."""
        session = world.sessions.get(session_id)
        if (
            session is not None
            and place_of(id_of_event)[0] == session_id
            and place_of(id_of_event)[1] <= session.head
        ):
            return
        moment_of(world.sessions, visible_prefixes(world.sessions, session_id), id_of_event)

    def last_event_id(self, world: World, session_id: str) -> str:
        """The newest event that a session itself wrote."""
        if session_id not in world.sessions:
            raise UnknownName(noun="session", name=session_id, known=world.sessions)
        return event_id(session_id, world.sessions[session_id].head)


async def mail_pages(
    ledger: Ledger, subscriptions: Subscriptions, store: Store, creature_id: str, *, follow: bool
) -> AsyncIterator[list[Event]]:
    """What a creature is owed, some events at a time, oldest first."""
    the_creature(ledger.world, creature_id)
    seen_until = 0
    commits = subscriptions.subscribe()
    async with commits:
        while True:
            causes = [owed for owed in ledger.agenda.owed_to(creature_id) if owed.lamport > seen_until]
            await ledger.wait_for_durability()
            for start in range(0, len(causes), page_events_max):
                yield await store.read(
                    _spans(ledger.world, [o.cause for o in causes[start : start + page_events_max]])
                )
            seen_until = causes[-1].lamport if causes else seen_until
            if not follow or creature_id not in ledger.world.creatures:
                return
            if not causes and await anext(commits, None) is None:
                return


def _spans(world: World, causes: list[str]) -> list[Span]:
    """Single events as spans, neighbours of one segment joined."""
    spans: list[Span] = []
    for session_id, seq in map(place_of, causes):
        session = world.sessions.get(session_id)
        if session is None:
            continue
        before = spans[-1] if spans else None
        if before is not None and before.session_id == session_id and before.last == seq - 1:
            spans[-1] = before.cut(before.first, seq)
        else:
            spans.append(span_of(session.segment, seq, seq))
    return spans
