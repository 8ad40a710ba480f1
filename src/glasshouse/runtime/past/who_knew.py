"""Who knew of an event: which creatures could see it, how, and since when. It reads no prompts.

Always holds: it writes nothing and uses only the rule of hearing, for this house and for other houses known from
files.
"""

from __future__ import annotations

from typing import Final

from glasshouse.events import kinds
from glasshouse.events.event import Event, event_id
from glasshouse.events.payloads import ChannelEdge, payload_of
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.reading import HistoryReader
from glasshouse.runtime.past.other_houses import OtherHouses
from glasshouse.turns.heard.renaming import NamesNow
from glasshouse.views.who_knew import Knower, Sighting, WhoKnew, handle_then, knowers_max, sightings_of
from glasshouse.world.state.state import SessionState, World

sessions_searched_max: Final = 1_024


class WhoKnewReader:
    """Answers who could see an event."""

    def __init__(self, ledger: Ledger, history: HistoryReader, other_houses: OtherHouses) -> None:
        self._ledger = ledger
        self._history = history
        self._other_houses = other_houses

    async def who_knew(self, id_of_event: str) -> WhoKnew:
        """Which creatures could see an event: here, and in other houses that files tell of."""
        event = await self._history.event(id_of_event)
        seen = [(sighting, self._ledger.world) for sighting in self._seen_here(event)]
        if self._other_houses.wrote(event.session_id):
            there = await self._other_houses.around(event.session_id)
            seen += [(sighting, there.world) for sighting in sightings_of(there.world, event)]
        for again in await self._other_houses.after(event.session_id):
            names = NamesNow(again.world.sessions, again.tables.renamed)
            sightings = sightings_of(again.world, event, names.heard_by)
            seen += [(sighting, again.world) for sighting in sightings if sighting.how == "reborn"]
        seen.sort(key=lambda pair: pair[0].since)
        knowers = [await self._knower(world, event, sighting) for sighting, world in seen[:knowers_max]]
        return WhoKnew(event.id, tuple(knowers), len(seen))

    def _seen_here(self, event: Event) -> list[Sighting]:
        """Who of this house could see an event; of an imported one, only those who live again with its past: an id may
        mean another there."""
        world = self._ledger.world
        names = NamesNow(world.sessions, self._ledger.folded.tables.renamed)
        sightings = sightings_of(world, event, names.heard_by)
        if self._other_houses.wrote(event.session_id):
            return [sighting for sighting in sightings if sighting.how == "reborn"]
        return sightings

    async def _knower(self, world: World, event: Event, seen: Sighting) -> Knower:
        how, since, creature = seen.how, event.id, seen.creature
        if how == "reborn":
            since = event_id(creature.reborn.rpartition(" ")[2], 1)
        if how == "joined":
            joined = await self._joined(world, event, seen)
            if joined is not None:
                since = joined.id
                is_merge = world.sessions[joined.session_id].segment.origin == "merge"
                first = await self._history.event(event_id(joined.session_id, 1))
                if is_merge and joined.change == first.change:
                    how = "merged"
        is_elsewhere = world is not self._ledger.world
        handle = handle_then(creature, seen.since) if is_elsewhere else creature.handle
        return Knower(creature.id, handle, how, since, seen.until, seen.with_content, is_elsewhere)

    async def _joined(self, world: World, event: Event, seen: Sighting) -> Event | None:
        """The event by which a creature came to a channel: written at a known time, after the event, in its line."""
        for session in _sessions_at(world, event.session_id, seen.since):
            id_then = event_id(session.segment.id, seen.since - session.segment.base)
            joined = await self._history.event(id_then)
            is_join = joined.kind == kinds.CHANNEL_JOINED
            if is_join and payload_of(joined, ChannelEdge).creature == seen.creature.id:
                return joined
        return None


def _sessions_at(world: World, session_id: str, lamport: int) -> list[SessionState]:
    """The session and those that grew from it which wrote something at a logical time."""
    writing: list[SessionState] = []
    waiting, known = [session_id], {session_id}
    while waiting and len(known) < sessions_searched_max:
        session = world.sessions[waiting.pop()]
        if session.segment.base < lamport <= session.lamport:
            writing.append(session)
        for child in session.children or ():
            if child not in known and world.sessions[child].segment.base < lamport:
                known.add(child)
                waiting.append(child)
    return writing
