"""The performance: the story played on a real terrarium, one scene after another.

Always holds: every number and name in a scene was read back from the terrarium after the fact; nothing shown is
taken from the script but the lines that creatures say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path

from glasshouse.assembly import MemoryStore, SqliteStore, Terrarium
from glasshouse.cli.tour import picturing, story
from glasshouse.cli.tour.scenes import (
    Counts,
    Family,
    Note,
    Owed,
    Panes,
    Pointers,
    Scene,
    Shown,
    Timeline,
    Told,
    Words,
)
from glasshouse.cli.tour.story import Line, Part
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.digest import digest_of
from glasshouse.events.event import Draft, Event, Json
from glasshouse.manifests.manifest import Manifest
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.creature import Creature
from glasshouse.world.values import Session


def opened(path: Path) -> Terrarium:
    """A terrarium on the tour's file, in which ids and times come out the same every time."""
    return Terrarium(SqliteStore(path), clock=HandMovedClock(), ids=SeededIds(story.IDS_SEED))


async def performed(store_path: Path, carried_path: Path) -> AsyncGenerator[Scene, None]:
    """The whole tour. The store is a new file; the carried session is written to the other path."""
    async with opened(store_path) as t:
        play = Play(t)
        yield await play.troupes()
        yield await play.mail()
        yield await play.merge()
        yield await play.split()
        yield await play.fork()
        yield await play.lineage()
        yield await play.rounds()
        yield await play.history()
        yield await play.shape()
        yield await play.refusal()
        before = play.standing()
    async with opened(store_path) as t:
        play = Play(t)
        yield play.reopened(before)
        yield await play.carry(carried_path)
    yield scene("next", Pointers(story.NEXT), facts={"next": [command for command, _ in story.NEXT]})


def scene(key: str, *shown: Shown, facts: Json) -> Scene:
    """A scene under its title."""
    return Scene(key, *story.TITLES[key], shown, facts)


class Play:
    """One sitting of the tour: the terrarium, and the few events that later scenes look back at."""

    def __init__(self, t: Terrarium) -> None:
        self.t = t
        self.crossing: Event | None = None

    async def troupes(self) -> Scene:
        """Two graphs, each with its commons."""
        for troupe in (story.MOSS_BANK, story.NIGHT_BED):
            await self._settle_in(troupe)
        return scene("troupes", self._now(), facts=self._shape())

    async def _settle_in(self, troupe: tuple[Part, ...]) -> None:
        first, *others = troupe
        founder = await self.t.add_creature(Manifest(name=first.name, persona=first.persona))
        for part in others:
            manifest = Manifest(name=part.name, persona=part.persona)
            await self.t.add_creature(manifest, graph=founder.graph_id)

    async def mail(self) -> Scene:
        """Lines before anything merges, and what each creature is owed."""
        counted = await self._say(story.COUNTED)
        remembered = await self._say(story.REMEMBERED, answering=counted)
        dreamt = await self._say(story.DREAMT)
        spoken = picturing.spoken([counted, remembered, dreamt])
        owed = await self._owed()
        speakers = {event.id: event.actor for event in (counted, remembered, dreamt)}
        rows = tuple((name, tuple(speakers[cause] for cause in causes)) for name, causes in owed.items())
        return scene("mail", spoken, Owed(rows), facts={"owed": owed})

    async def merge(self) -> Scene:
        """A channel across two graphs; then a line over it."""
        owed_before = await self._owed()
        source, target, channel = story.BRIDGE
        change = await self.t.connect(source, target, channel=channel)
        owed_after = await self._owed()
        self.crossing = await self._say(story.ACROSS)
        renames = await self._renames(self.t.creature(source).session_id)
        is_kept = owed_before == owed_after
        counts = Counts(
            (
                ("graphs", f"{len(change.old_graph_ids)} became {len(change.new_graph_ids)}"),
                ("renamed", ", ".join(f"{old} is now {new}" for old, new in renames)),
                ("mail", "all that was owed still is" if is_kept else "CHANGED"),
                ("lux is owed", f"{len((await self._owed())[target])} line from over the gap"),
            ),
            is_good=is_kept,
        )
        facts = picturing.change_facts(change) | {
            "renamed": dict(renames),
            "owed_before": owed_before,
            "owed_after": owed_after,
        }
        return scene("merge", self._now(), counts, picturing.spoken([self.crossing]), facts=facts)

    async def split(self) -> Scene:
        """The bridge goes; the debt stays, and is settled by an answer."""
        source, target, _ = story.BRIDGE
        change = await self.t.disconnect(source, target)
        owed_before = len((await self._owed())[target])
        answer = await self._say(story.ANSWERED, answering=self._crossing())
        owed_after = len((await self._owed())[target])
        counts = Counts(
            (
                ("graphs", f"{len(change.old_graph_ids)} became {len(change.new_graph_ids)}"),
                ("lux is owed", f"{owed_before} before she answers, {owed_after} after"),
            )
        )
        facts = picturing.change_facts(change) | {
            "owed_before_answer": owed_before,
            "owed_after_answer": owed_after,
        }
        return scene("split", self._now(), counts, picturing.spoken([answer]), facts=facts)

    async def fork(self) -> Scene:
        """A session that ends its memory at an event of the past."""
        at = self._crossing()
        parent = self.t.session(at.session_id)
        events_before = len(await self.t.events(parent.id))
        forked = await self.t.fork(parent.id, at=at.id)
        shared = await self.t.events(forked.id, upto=at.id)
        events_after = len(await self.t.events(parent.id))
        timeline = Timeline(parent.id, events_after, forked.id, len(shared), forked.events)
        counts = Counts(
            (
                ("forked at", f"{picturing.short(at.id)}, when dew spoke over the gap"),
                ("copied", "nothing"),
                ("its parent remembers", f"{events_before} events before, {events_after} after"),
            ),
            is_good=events_before == events_after,
        )
        facts = {
            "session": forked.id,
            "forked_at": forked.forked_at,
            "shared": len(shared),
            "own": forked.events,
            "parent_events_before": events_before,
            "parent_events_after": events_after,
        }
        return scene("fork", timeline, counts, facts=facts)

    async def lineage(self) -> Scene:
        """Every session so far, as lanes."""
        family = self._family()
        facts = {
            "sessions": [
                {"id": s.session_id, "parents": list(s.parents), "origin": s.origin, "events": s.events}
                for s in family.sessions
            ]
        }
        return scene("lineage", family, facts=facts)

    async def rounds(self) -> Scene:
        """Ten merges and splits more; then every old event is counted."""
        source, target, channel = story.BRIDGE
        sessions_before = len(self._family().sessions)
        known = {e.id for side in (source, target) for e in await self._remembered_by(side)}
        for _ in range(story.ROUNDS):
            await self.t.connect(source, target, channel=channel)
            await self.t.disconnect(source, target)
        times = Counter(e.id for e in await self._remembered_by(target))
        again = sum(times[event_id] for event_id in known)
        doubled = sum(1 for count in times.values() if count > 1)
        is_good = again == len(known) and not doubled
        counts = Counts(
            (
                ("old events, before the rounds", str(len(known))),
                ("old events, after the rounds", str(again)),
                ("events told twice", str(doubled)),
                ("sessions", f"{sessions_before} became {len(self._family().sessions)}"),
            ),
            is_good=is_good,
        )
        facts = {
            "rounds": story.ROUNDS,
            "old_events_before": len(known),
            "old_events_after": again,
            "doubled": doubled,
            "sessions_before": sessions_before,
            "sessions_after": len(self._family().sessions),
        }
        return scene("rounds", counts, facts=facts)

    async def history(self) -> Scene:
        """What lux's graph remembers, without the rounds in between."""
        events = await self._remembered_by("lux")
        lines = [event for event in events if event.kind == kinds.AGENT_SPOKE]
        upto = events.index(lines[-1]) + 1
        rows = tuple(picturing.row(event) for event in events[:upto] if picturing.is_notable(event))
        left = len(events) - len(rows)
        note = Note(f"… and {left} more of {len(events)} events: edges, sessions, and the ten rounds.")
        facts = {
            "session": self.t.creature("lux").session_id,
            "events": len(events),
            "lines": [{"id": e.id, "actor": e.actor, "text": e.payload["text"]} for e in lines],
        }
        return scene("history", Told(rows), note, facts=facts)

    async def shape(self) -> Scene:
        """The graphs as they stood at an event of the past."""
        at = self._crossing()
        past = await self.t.graphs_at(at.id)
        counts = Counts((("graphs then", str(len(past))), ("graphs now", str(len(self.t.graphs())))))
        facts = {
            "at": at.id,
            "graphs_then": [list(graph.creature_ids) for graph in past],
            "graphs_now": [list(graph.creature_ids) for graph in self.t.graphs()],
        }
        return scene("shape", Panes(tuple(picturing.past_pane(g) for g in past)), counts, facts=facts)

    async def refusal(self) -> Scene:
        """A wire across two graphs is refused with advice, and nothing was written."""
        try:
            await self.t.wire("oona", "lux")
        except Refused as refused:
            facts = {"reason": refused.reason, "instead": refused.instead}
            return scene("refusal", Words((refused.reason, refused.instead)), facts=facts)
        raise Refused("The tour lost its way: a wire joined two graphs.", "Report this.")

    def standing(self) -> Json:
        """What must be the same after reopening: graphs, their sessions, their members, the events written."""
        return {
            "graphs": {g.id: [g.session_id, list(g.creature_ids)] for g in self.t.graphs()},
            "events": sum(descent.events for descent in self._family().sessions),
        }

    def reopened(self, before: Json) -> Scene:
        """The same file in a new terrarium."""
        after = self.standing()
        is_same = before == after
        counts = Counts(
            (
                ("graphs", f"{len(before['graphs'])} before, {len(after['graphs'])} after"),
                ("events", f"{before['events']} before, {after['events']} after"),
                ("same ids, sessions, members", "yes" if is_same else "NO"),
            ),
            is_good=is_same,
        )
        facts = {"before": before, "after": after, "is_same": is_same}
        return scene("reopen", self._now(), counts, facts=facts)

    async def carry(self, path: Path) -> Scene:
        """One session out to a file and in again elsewhere."""
        session_id = self.t.creature("lux").session_id
        await self.t.export(session_id, path, role="director")
        here = await self.t.events(session_id)
        async with Terrarium(MemoryStore()) as elsewhere:
            arrived = await elsewhere.import_file(path)
            there = await elsewhere.events(arrived.id)
        digests = digest_of(here), digest_of(there)
        counts = Counts(
            (
                ("events", f"{len(here)} sent, {len(there)} arrived"),
                ("digest here", digests[0][:32]),
                ("digest there", digests[1][:32]),
            ),
            is_good=digests[0] == digests[1],
        )
        facts = {
            "session": session_id,
            "events": len(there),
            "digest": digests[0],
            "digest_there": digests[1],
        }
        return scene("carry", counts, facts=facts)

    async def _say(self, line: Line, answering: Event | None = None) -> Event:
        draft = Draft(kind=kinds.AGENT_SPOKE, channel=line.channel, payload={"text": line.text})
        cause = None if answering is None else answering.id
        return await self.t.append(line.creature, draft, caused_by=cause)

    def _crossing(self) -> Event:
        assert self.crossing is not None, "said in the merge"
        return self.crossing

    async def _owed(self) -> dict[str, list[str]]:
        return {
            creature.id: [event.id async for event in self.t.mail(creature.id)]
            for creature in self.t.creatures()
        }

    async def _renames(self, session_id: str) -> list[tuple[str, str]]:
        events = await self.t.events(session_id)
        return [pair for event in events if (pair := picturing.rename(event)) is not None]

    async def _remembered_by(self, creature_id: str) -> tuple[Event, ...]:
        return await self.t.events(self.t.creature(creature_id).session_id)

    def _family(self) -> Family:
        """Every session of the story: the two first ones, and all that grew from them."""
        found: dict[str, Session] = {}
        for ancestor in self.t.lineage(self.t.creature("lux").session_id).ancestors:
            if not ancestor.parent_session_ids:
                found[ancestor.id] = ancestor
                found |= {session.id: session for session in self.t.lineage(ancestor.id).descendants}
        return picturing.family(found.values())

    def _now(self) -> Panes:
        members: dict[str, Creature] = {creature.id: creature for creature in self.t.creatures()}
        return Panes(tuple(picturing.pane(g, self.t.environment(g.id), members) for g in self.t.graphs()))

    def _shape(self) -> Json:
        return {"graphs": [{"id": g.id, "creatures": list(g.creature_ids)} for g in self.t.graphs()]}
