"""Looking back: why something was said, and who knew of it. Single events are read by their ids, never a whole history.

Always holds: it writes nothing and asks no model. What it reads is bounded, however long the ledger is: links of the
chain, and events near the point of history that a prompt saw.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import msgspec

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import RESERVED_ACTORS, Event, event_id, place_of
from glasshouse.events.redaction import ROLES, Role
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.reading import HistoryReader
from glasshouse.runtime.past.elsewhere import Elsewhere
from glasshouse.runtime.ports import Store
from glasshouse.turns.hindsight import ByWords, OldNames, by_words, found_again, handle_of, in_sight, lines_in
from glasshouse.turns.masking import masked_event
from glasshouse.turns.masks import Masks
from glasshouse.turns.verdicts import masks_before
from glasshouse.views.knowing import Knower, Sighting, WhoKnew, handle_then, knowers_max, sightings_of
from glasshouse.views.why import (
    Asked,
    LinesFrom,
    Link,
    Missing,
    SeenLine,
    ToolUse,
    Why,
    arrival,
    beginning,
    cited_in,
    for_role,
    links_max,
)
from glasshouse.world.lineage import spans_before
from glasshouse.world.state import CreatureState, SessionState, World

near_events_max: Final = 96
"""So many logical times before a prompt, or before the end of an act, are looked through for lines and for tools."""
far_events_max: Final = 640
"""So many events are looked through besides, in one answer, for lines that are further back."""
sessions_searched_max: Final = 1_024
prompt_texts_max: Final = 8
"""So many calls of one act are told with their texts."""


class Hindsight:
    """Answers questions about single events."""

    def __init__(self, store: Store, ledger: Ledger, history: HistoryReader) -> None:
        self._store = store
        self._ledger = ledger
        self._history = history
        self._elsewhere = Elsewhere(store, ledger)

    async def why(self, id_of_event: str, role: Role) -> Why:
        """The chain of causes from an event back to where it began."""
        if role not in ROLES:
            raise Refused(f"{role!r} is no role.", f"Ask as one of {', '.join(ROLES)}.")
        past = _Past(self._store, self._ledger)
        links: list[Link] = []
        oldest = await self._history.event(id_of_event)
        while len(links) < links_max:
            cause = await self._maybe(oldest.caused_by)
            links.append(for_role(await self._link(oldest, cause, past, role), role))
            if cause is None:
                break
            oldest = cause
        return Why(id_of_event, role, tuple(links), beginning(links[-1].event))

    async def _maybe(self, id_of_event: str | None) -> Event | None:
        """An event, if there is one by this id: a file need not carry everything that it names."""
        if id_of_event is None:
            return None
        try:
            return await self._history.event(id_of_event)
        except UnknownName:
            return None

    async def _house(self, event: Event) -> Folded | None:
        """The world that an event was written in: this one, or that of another house, if its file tells enough."""
        if not self._elsewhere.is_of(event.session_id):
            return self._ledger.folded
        try:
            return await self._elsewhere.around(event.session_id)
        except Refused:
            return None

    async def _link(self, event: Event, cause: Event | None, past: _Past, role: Role) -> Link:
        house = await self._house(event)
        folded = house or Folded()
        came, by = (
            (None, "") if cause is None else arrival(folded.world, event, _as_heard(folded, event, cause))
        )
        cited = [await self._maybe(one) for one in cited_in(event)]
        prompts = await self._prompts(event, role)
        lines_from, lines = await self._lines(event, cause, prompts, past, folded)
        return Link(
            event=event,
            who=handle_of(folded.world, event.actor),
            came=came,
            by=by,
            lines_from=lines_from,
            lines=tuple(lines),
            tools=tuple(await self._tools(event, past)),
            cites=tuple([one for one in cited if one is not None]),
            prompts=tuple(prompts),
            missing=tuple(self._missing(event, cause, prompts, house)),
        )

    def _missing(
        self, event: Event, cause: Event | None, prompts: list[Asked], house: Folded | None
    ) -> Iterator[Missing]:
        """What would tell more of an event, and is not here."""
        is_redacted = self._ledger.world.sessions[event.session_id].segment.is_redacted
        is_act = event.caused_by is not None and event.actor not in RESERVED_ACTORS
        if is_redacted and is_act and event.model is None:
            yield "model"
        if prompts and prompts[-1].user is None:
            yield "prompt"
        if event.caused_by is not None and cause is None:
            yield "cause"
        if house is None:
            yield "cast"

    async def _prompts(self, event: Event, role: Role) -> list[Asked]:
        """What models were given; for whoever may not read it only what lines are to be found in: the last message."""
        calls, text_of = event.calls[-prompt_texts_max:], self._store.prompt
        if role != "director":
            return [Asked("", None, await text_of(call.user)) for call in calls[-1:]]
        return [Asked(call.model, await text_of(call.system), await text_of(call.user)) for call in calls]

    async def _lines(
        self, event: Event, cause: Event | None, prompts: list[Asked], past: _Past, house: Folded
    ) -> tuple[LinesFrom, list[SeenLine]]:
        """What its prompt showed, or, if that is gone, what was in sight when it was written."""
        if not prompts or event.as_of is None:
            return "nothing", []
        session_id, seq = place_of(event.as_of)
        creature, user = house.world.ever(event.actor), prompts[-1].user
        if session_id not in self._ledger.world.sessions:
            return "nothing", []
        if user is not None:
            return "prompt", await self._read_back(
                user, session_id, seq, past, house, _masks(house, creature)
            )
        if creature is None:
            return "nothing", []
        return "ledger", await self._rebuilt(creature, cause, session_id, seq, past, house)

    async def _read_back(
        self, user: str, session_id: str, seq: int, past: _Past, house: Folded, masks: Masks | None
    ) -> list[SeenLine]:
        """The lines of a prompt, and the events they were."""
        lines, lamport = lines_in(user), self._ledger.world.sessions[session_id].segment.base + seq
        stretch: _Stretch | None = await past.near(session_id, seq)
        while stretch is not None:
            words = stretch.by_words
            handles = {actor: handle_of(house.world, actor) for actor in stretch.actors}
            if masks is not None:
                words = by_words([masked_event(one, masks) for one in stretch.events])
                handles = {actor: masks.label_of(handle) for actor, handle in handles.items()}
            lines = found_again(lines, words, handles, lamport)
            if all(line.event_id is not None or line.section == "known" for line in lines):
                break
            stretch = await past.far(session_id, seq)
        return lines

    async def _rebuilt(
        self,
        creature: CreatureState,
        cause: Event | None,
        session_id: str,
        seq: int,
        past: _Past,
        house: Folded,
    ) -> list[SeenLine]:
        """The lines that were in sight where a prompt is gone."""
        stretch = await past.far(session_id, seq) or await past.near(session_id, seq)
        names = OldNames(house.world, house.tables)
        events = [names.heard_by(creature, one) for one in stretch.events]
        answered = None if cause is None else names.heard_by(creature, cause)
        lamport = self._ledger.world.sessions[session_id].segment.base + seq
        return in_sight(house.world, creature, events, lamport, answered)

    async def _tools(self, event: Event, past: _Past) -> list[ToolUse]:
        """The tools that an act used before it ended in this event."""
        is_act = event.caused_by is not None and event.actor not in RESERVED_ACTORS
        if (
            not is_act
            or event.kind in kinds.MID_ACT
            or event.as_of == event_id(event.session_id, event.seq - 1)
        ):
            return []
        before = (await past.near(event.session_id, event.seq - 1)).events
        answers = {one.caused_by: one for one in before if one.kind == kinds.TOOL_RETURNED}
        return [
            ToolUse(one, answers.get(one.id))
            for one in before
            if one.kind == kinds.TOOL_CALLED and one.actor == event.actor and one.caused_by == event.caused_by
        ]

    async def who_knew(self, id_of_event: str) -> WhoKnew:
        """Which creatures could see an event, how, and since when: here, and in other houses that files tell of."""
        event = await self._history.event(id_of_event)
        seen = [(one, self._ledger.world) for one in self._seen_here(event)]
        if self._elsewhere.is_of(event.session_id):
            there = await self._elsewhere.around(event.session_id)
            seen += [(one, there.world) for one in sightings_of(there.world, event)]
        for again in await self._elsewhere.after(event.session_id):
            names = OldNames(again.world, again.tables)
            sightings = sightings_of(again.world, event, names.heard_by)
            seen += [(one, again.world) for one in sightings if one.how == "reborn"]
        seen.sort(key=lambda one: one[0].since)
        told = [await self._knower(world, event, one) for one, world in seen[:knowers_max]]
        return WhoKnew(event.id, tuple(told), len(seen))

    def _seen_here(self, event: Event) -> list[Sighting]:
        """Who of this house could see an event; of an imported one, only those who live again with its past: an id may
        mean another there."""
        world = self._ledger.world
        found = sightings_of(world, event, OldNames(world, self._ledger.folded.tables).heard_by)
        is_elsewhere = self._elsewhere.is_of(event.session_id)
        return [one for one in found if one.how == "reborn"] if is_elsewhere else found

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
            place = event_id(session.segment.id, seen.since - session.segment.base)
            found = await self._history.event(place)
            if found.kind == kinds.CHANNEL_JOINED and found.payload["creature"] == seen.creature.id:
                return found
        return None


class _Stretch(msgspec.Struct, dict=True):
    """Events that were read: of what session's past, after which time and up to which."""

    session_id: str
    since: int
    upto: int
    events: list[Event]

    @cached_property
    def by_words(self) -> ByWords:
        """The same, to look up lines of prompts in."""
        return by_words(self.events)

    @cached_property
    def actors(self) -> set[str]:
        """Whoever wrote any of it."""
        return {event.actor for event in self.events}


class _Past:
    """Events before a point of history, read once for all links of one chain."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger
        self._stretches_cache: list[_Stretch] = []
        self._events_left = far_events_max

    async def near(self, session_id: str, seq: int, count: int = near_events_max) -> _Stretch:
        """What the session knew at one of its events, of the last so many logical times or more."""
        at = self._ledger.world.sessions[session_id].segment.base + seq
        for stretch in self._stretches_cache:
            if stretch.session_id == session_id and stretch.since <= at - count and at <= stretch.upto:
                return stretch
        return await self._read(session_id, seq, 2 * count)

    async def far(self, session_id: str, seq: int) -> _Stretch | None:
        """The same, much further back; none once much was read for this answer."""
        if self._events_left <= 0:
            return None
        stretch = await self.near(session_id, seq, self._events_left // 2)
        self._events_left -= len(stretch.events)
        return stretch

    async def _read(self, session_id: str, seq: int, count: int) -> _Stretch:
        await self._ledger.wait_for_durability()
        sessions, lamports = self._ledger.world.sessions, count
        spans = spans_before(sessions, session_id, seq, lamports)
        while lamports > 1 and sum([span.last - span.first + 1 for span in spans]) > 2 * count:
            lamports //= 2  # Many graphs came together here: so many events in less time.
            spans = spans_before(sessions, session_id, seq, lamports)
        at = sessions[session_id].segment.base + seq
        stretch = _Stretch(session_id, at - lamports, at, await self._store.read(spans))
        self._stretches_cache.append(stretch)
        return stretch


def _as_heard(house: Folded, event: Event, cause: Event) -> Event:
    """A cause as whoever answered it knew it."""
    creature = house.world.ever(event.actor)
    return cause if creature is None else OldNames(house.world, house.tables).heard_by(creature, cause)


def _masks(house: Folded, creature: CreatureState | None) -> Masks | None:
    """The labels that contestants wore in a judge's prompts."""
    facts = None if creature is None else house.world.manifests.get(creature.manifest_digest)
    purse = house.runs.purses.get((creature and creature.run_id) or "")
    if creature is None or facts is None or purse is None or facts.manifest.get("role") != "judge":
        return None
    return masks_before(house.world, purse, creature)


def _sessions_at(world: World, session_id: str, lamport: int) -> list[SessionState]:
    """The session and those that grew from it which wrote something at a logical time."""
    found: list[SessionState] = []
    waiting, known = [session_id], {session_id}
    while waiting and len(known) < sessions_searched_max:
        session = world.sessions[waiting.pop()]
        if session.segment.base < lamport <= session.lamport:
            found.append(session)
        for child in session.children or ():
            if child not in known and world.sessions[child].segment.base < lamport:
                known.add(child)
                waiting.append(child)
    return found
