"""Who knew of an event: which creatures could see it, how, and since when (ADR 0040).

Always holds: it writes nothing and reads no prompts. It applies the rule of hearing to this house, and to other houses
that imported files tell of.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from glasshouse.events import kinds
from glasshouse.events.event import Event, event_id
from glasshouse.events.payloads import ChannelEdge, copied_from, payload_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folds import load_folded
from glasshouse.runtime.ledger.history import HistoryReader
from glasshouse.runtime.past.other_houses import OtherHouses
from glasshouse.turns.heard.renaming import NamesNow
from glasshouse.views.who_knew import Knower, Sighting, WhoKnew, handle_then, knowers_max, sightings_of
from glasshouse.world.state.state import SessionState, World

sessions_searched_max: Final = 1_024
"""`who_knew` searches at most this many sessions for how somebody came to a channel."""


class Seen(NamedTuple):
    """One creature that could see an event, in the world of its house."""

    sighting: Sighting
    world: World
    event: Event


class WhoKnewReader:
    """Answers who could see an event."""

    def __init__(self, history: HistoryReader, other_houses: OtherHouses) -> None:
        self._history = history
        self._other_houses = other_houses

    async def who_knew(self, id_of_event: str, at: str | None) -> WhoKnew:
        """Which creatures could see an event, in this house and in other houses that imported files tell of.

        With `at`: which creatures of this house could, right after the change of that event.
        """
        event = await self._history.event(id_of_event)
        if at is not None:
            then = await load_folded(self._history.store, await self._history.end_of_change(at))
            here = then.world
            seen = list[Seen]()
            for copy in await self._copies_of(event):
                session = here.sessions.get(copy.session_id)
                if session is not None and copy.seq <= session.head:
                    is_imported = self._other_houses.wrote(copy.session_id)
                    seen += _seen_in(then, copy, reborn_only=is_imported)
        else:
            here = self._history.ledger.world
            seen = [saw for copy in await self._copies_of(event) for saw in await self._seen(copy)]
        seen.sort(key=lambda saw: saw.sighting.since)
        knowers = [await self._knower(saw, is_elsewhere=saw.world is not here) for saw in seen[:knowers_max]]
        return WhoKnew(event.id, tuple(knowers), len(seen))

    async def _copies_of(self, event: Event) -> list[Event]:
        """The event, or all events of what the visitor said in several graphs at once. They are one change."""
        is_imported = self._other_houses.wrote(event.session_id)
        if event.kind != kinds.USER_INJECTED or event.change is None or is_imported:
            return [event]
        upto = await self._history.end_of_change(event.id)
        of_change = await self._history.store.read_after(event.change - 1, upto - event.change + 1)
        first = copied_from(event) or event.id
        return [other for other in of_change if (copied_from(other) or other.id) == first]

    async def _seen(self, event: Event) -> list[Seen]:
        """Who could see an event, in this house and in the others."""
        is_imported = self._other_houses.wrote(event.session_id)
        seen = _seen_in(self._history.ledger.folded, event, reborn_only=is_imported)
        if is_imported:
            there = await self._other_houses.around(event.session_id)
            seen += [Seen(sighting, there.world, event) for sighting in sightings_of(there.world, event)]
        for house in await self._other_houses.after(event.session_id):
            seen += _seen_in(house, event, reborn_only=True)
        return seen

    async def _knower(self, saw: Seen, *, is_elsewhere: bool) -> Knower:
        seen, world, event = saw
        how = seen.how
        since = event.id
        creature = seen.creature
        if how == "reborn":
            since = event_id(creature.reborn[-1], 1)
        joined = await self._joined(world, event, seen) if how == "joined" else None
        if joined is not None:
            since = joined.id
            is_merge = world.sessions[joined.session_id].segment.origin == "merge"
            first = await self._history.event(event_id(joined.session_id, 1))
            if is_merge and joined.change == first.change:
                how = "merged"
        handle = handle_then(creature, seen.since) if is_elsewhere else creature.handle
        return Knower(creature.id, handle, how, since, seen.until, seen.with_content, is_elsewhere)

    async def _joined(self, world: World, event: Event, seen: Sighting) -> Event | None:
        """The event with which a creature joined the channel, found by its logical time, which is known."""
        for session in _sessions_at(world, event.session_id, seen.since):
            id_then = event_id(session.segment.id, seen.since - session.segment.base)
            joined = await self._history.event(id_then)
            is_join = joined.kind == kinds.CHANNEL_JOINED
            if is_join and payload_of(joined, ChannelEdge).creature == seen.creature.id:
                return joined
        return None


def _seen_in(house: Folded, event: Event, *, reborn_only: bool) -> list[Seen]:
    """The creatures of a house that could see an event.

    `reborn_only` is for an event that another house wrote: only creatures that continue its past could see it. An equal
    id may name another creature there.
    """
    names = NamesNow(house.world.sessions, house.tables.renamed)
    sightings = sightings_of(house.world, event, names.heard_by)
    return [Seen(seen, house.world, event) for seen in sightings if seen.how == "reborn" or not reborn_only]


def _sessions_at(world: World, session_id: str, lamport: int) -> list[SessionState]:
    """The sessions that have an event at a logical time, among a session and its descendants."""
    writing: list[SessionState] = []
    waiting = [session_id]
    known = {session_id}
    while waiting and len(known) < sessions_searched_max:
        session = world.sessions[waiting.pop()]
        if session.segment.base < lamport <= session.lamport:
            writing.append(session)
        for child in session.children or ():
            if child not in known and world.sessions[child].segment.base < lamport:
                known.add(child)
                waiting.append(child)
    return writing
