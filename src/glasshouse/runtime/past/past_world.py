"""A past that can be continued: everything folded at one point, and the requested graphs.

Always holds: a `Past` is an independent copy. It may be changed freely before it is restated; until then nothing of
it is in the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event, event_id, place_of
from glasshouse.events.payloads import TopologyChanged, payload_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.history import HistoryReader
from glasshouse.runtime.ledger.ledger import Ledger, fold, folded_from
from glasshouse.runtime.ports import Store
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.decision import stamped
from glasshouse.world.decisions.intents import Intent
from glasshouse.world.fold.evolve import begin
from glasshouse.world.fold.members import part_unseen
from glasshouse.world.state.ids import the_session
from glasshouse.world.state.lineage import ancestors_of
from glasshouse.world.state.state import CreatureState, GraphState, SessionState, World
from glasshouse.world.state.values import GROWN_APART


class Past:
    """The world as it was at one moment."""

    def __init__(
        self, folded: Folded, at: Event, cut: str, graph_ids: Sequence[str], *, is_foreign: bool = False
    ) -> None:
        self.is_foreign = is_foreign
        """Whether it was played in another house: its ids may be others' in this one."""
        self.folded = folded
        self.at = at
        self.cut = cut
        """The last event that is part of it."""
        self.graph_ids = list(graph_ids)
        """The graphs that are meant, the oldest first: whoever lives again goes in the same order."""
        self._heads = {name: session.head for name, session in folded.world.sessions.items()}
        self._there = {*folded.world.creatures, *folded.world.channels, *folded.world.wires}
        here = [graph for graph in _graphs_of(folded.world, at.session_id) if graph.id in self.graph_ids]
        self._at_home = [name for graph in here[:1] for name in graph.creatures]

    @property
    def world(self) -> World:
        """The world then."""
        return self.folded.world

    def change(self, intent: Intent) -> str:
        """Make it otherwise than it was; what the intent made or touched. A refusal changes nothing anywhere."""
        decision = decide(self.world, intent)
        before = set(self.world.graphs)
        for write in decision.writes:
            if write.opens is not None:
                begin(self.world, write.opens)
            for event in stamped(self.world, msgspec.structs.replace(write, opens=None), self.at.created_at):
                fold(self.folded, event)
        grown = [name for name in self.world.graphs if name not in before]
        self.graph_ids = [name for name in (*self.graph_ids, *grown) if name in self.world.graphs]
        return decision.subject

    @property
    def home(self) -> str:
        """The graph that the event it is looked at from was written in, or what a change has made of it."""
        living = self.world.creatures
        return next((living[name].graph_id for name in self._at_home if name in living), self.graph_ids[0])

    @property
    def times_changed(self) -> int:
        """How many logical times the changes have taken, in the graph where they took most."""
        sessions, taken = self.world.sessions, [0]
        for name in self.graph_ids:
            session_id = self.world.graphs[name].session_id
            ends = [sessions[parent].segment.base + upto for parent, upto in self.parents_of(session_id)]
            taken.append(sessions[session_id].lamport - max(ends))
        return max(taken)

    def has_happened(self, id_of_event: str) -> bool:
        """Whether an event is in the ledger, and not of a change of this past."""
        session_id, seq = place_of(id_of_event)
        return seq <= self._heads.get(session_id, 0)

    @property
    def creatures(self) -> list[CreatureState]:
        """Who is in the graphs that are meant."""
        graphs = [self.world.graphs[name] for name in self.graph_ids]
        return [self.world.creatures[name] for graph in graphs for name in graph.creatures]

    def holds_run(self, run_id: str) -> bool:
        """Whether somebody of a run is in the graphs that are meant."""
        return any(creature.run_id == run_id for creature in self.creatures)

    def is_new(self, name: str) -> bool:
        """Whether a creature, channel or wire came to be by a change of this past."""
        return name not in self._there

    def parents_of(self, session_id: str) -> tuple[tuple[str, int], ...]:
        """The sessions that are really there and that a session of this past is, or has grown from."""
        if session_id in self._heads:
            return ((session_id, self._heads[session_id]),)
        parents: dict[str, int] = {}
        for parent in self.world.sessions[session_id].segment.parents:
            parents |= dict(self.parents_of(parent.session_id))
        return tuple(parents.items())


class Pasts:
    """Finds the past at an event."""

    def __init__(self, store: Store, ledger: Ledger, history: HistoryReader) -> None:
        self._store = store
        self._ledger = ledger
        self._history = history

    async def at(self, session_id: str, at: str | None, *, before: bool = False) -> Past:
        """The past right after the change that an event belongs to; with `before`, right before it."""
        name, event = await self._meant(session_id, at)
        if self._ledger.world.sessions[event.session_id].segment.is_imported:
            return await self._imported(name, event, before=before)
        if before or event.kind == kinds.RUN_FINISHED:
            return await self._past((event.change or 0) - 1, event)
        return await self._past(await self._history.end_of_change(event.id), event)

    async def at_the_end(self, session_id: str) -> Past:
        """The last shape that a session had: where it ended in a change of its graph, that of right before; what was
        owed when its run was over is owed still."""
        name, event = await self._meant(session_id, None)
        if self._ledger.world.sessions[event.session_id].segment.is_imported:
            is_too_late = event.kind == kinds.RUN_FINISHED or ends_in_a_split(event)
            return await self._imported(name, event, before=is_too_late)
        event = await self._end_of_its_runs(event)
        if event.kind == kinds.RUN_FINISHED:
            return await self._past(await self._before_the_ends(event), event)
        position = await self._history.end_of_change(event.id)
        folded = await folded_from(self._store, position)
        is_open = any(graph.session_id == event.session_id for graph in folded.world.graphs.values())
        return await self._past(position if is_open else (event.change or 0) - 1, event)

    async def _end_of_its_runs(self, last: Event) -> Event:
        """The end of the runs that were played in a session, if they went on elsewhere after its last event."""
        folded = self._ledger.folded
        graph = folded.world.graphs.get(last.graph_id)
        if graph is None or graph.session_id != last.session_id:
            return last
        runs = dict.fromkeys([folded.world.creatures[name].run_id or "" for name in graph.creatures])
        purses = [folded.runs.purses[run_id] for run_id in runs if run_id in folded.runs.purses]
        ends = [await self._history.event(purse.ended_in) for purse in purses if purse.ended_in is not None]
        return max([last, *ends], key=lambda event: event.position or 0)

    async def _before_the_ends(self, end: Event) -> int:
        """The position before a run's end. Where several were ended one right after the other, that before the first:
        what was owed to anybody of them is owed still."""
        position = (end.position or 0) - 1
        while position > 0:
            (before,) = await self._store.read_after(position - 1, 1)
            if before.kind != kinds.RUN_FINISHED or before.session_id != end.session_id:
                break
            position -= 1
        return position

    async def _meant(self, session_id: str, at: str | None) -> tuple[str, Event]:
        """The event, and the session it is looked at from. A fork has nobody of its own: its parent's event is meant."""
        known = the_session(self._ledger.world, session_id)
        chosen = at or event_id(session_id, known.head)
        writer, _ = place_of(self._history.event_meant(session_id, chosen))
        segment = self._ledger.world.sessions[writer].segment
        if segment.origin == "fork" and self._ledger.world.sessions[writer].head == 1 and segment.at:
            parent = segment.parents[0]
            return await self._meant(parent.session_id, event_id(parent.session_id, parent.upto))
        return session_id, await self._history.event(chosen)

    async def _past(self, position: int, event: Event) -> Past:
        """The past right after the event at a position, looked at from an event."""
        if position < 1:
            raise Refused("Nothing was there before that.", "Choose a later event.")
        folded = await folded_from(self._store, position)
        (last,) = await self._store.read_after(position - 1, 1)
        return Past(folded, event, last.id, graphs_meant(folded, event))

    async def _imported(self, session_id: str, event: Event, *, before: bool) -> Past:
        """An imported past was never folded here: its history is, once, by itself."""
        sessions = self._ledger.world.sessions
        folded = Folded(World(house_id=self._store.house_id))
        folded.tables.driven_cache = set()
        last = event
        async for page in self._history.pages(session_id, upto=event.id):
            for earlier in page:
                if before and earlier.change == event.change:
                    return Past(folded, event, last.id, [graph_of(folded, event)], is_foreign=True)
                begin_from_file(folded.world, sessions, earlier.session_id)
                fold(folded, earlier)
                if ends_in_a_split(earlier):
                    part_unseen(folded.world, earlier)
                last = earlier
        return Past(folded, event, last.id, [graph_of(folded, event)], is_foreign=True)


def ends_in_a_split(event: Event) -> bool:
    """Whether a session ended with this event, because its graph came apart."""
    return event.kind == kinds.TOPOLOGY_CHANGED and payload_of(event, TopologyChanged).kind == "split"


def begin_from_file(world: World, sessions: Mapping[str, SessionState], session_id: str) -> None:
    """Begin an imported session in the world of its own house, after its ancestors."""
    if session_id not in world.sessions:
        for name in (*ancestors_of(sessions, session_id), session_id):
            if name not in world.sessions:
                begin(world, msgspec.structs.replace(sessions[name].segment, is_imported=False))


def graph_of(folded: Folded, event: Event) -> str:
    """The graph that an event of another house was written in: no other of that house is known to be whole."""
    for graph in folded.world.graphs.values():
        if graph.session_id == event.session_id and graph.creatures:
            return graph.id
    raise _nobody_at(event)


def _nobody_at(event: Event) -> Refused:
    return Refused(
        f"Nobody was in session {event.session_id} at {event.id}.",
        "Choose an event at which a creature lived.",
    )


def _graphs_of(world: World, session_id: str) -> list[GraphState]:
    """The graph that writes into a session, or, where the session has ended in a change, those that it became."""
    graphs = list(world.graphs.values())
    return [graph for graph in graphs if graph.session_id == session_id] or [
        graph
        for graph in graphs
        if (segment := world.session_of(graph).segment).origin not in GROWN_APART
        and session_id in [parent.session_id for parent in segment.parents]
    ]


def graphs_meant(folded: Folded, event: Event) -> list[str]:
    """The graph that an event was written in, and those that hang together with it: all graphs of its scenarios."""
    world, purses = folded.world, folded.runs.purses
    here = _graphs_of(world, event.session_id)
    meant = {graph.id for graph in here}
    run_ids = {run.id for run in world.runs.values() if run.session_id == event.session_id and not here}
    graphs_before = -1
    while graphs_before < len(
        meant
    ):  # Others may have come to graphs of these runs: theirs are meant as well.
        graphs_before = len(meant)
        creatures = [name for graph_id in meant for name in world.graphs[graph_id].creatures]
        run_ids |= {world.creatures[name].run_id or "" for name in creatures}
        staged = {run_id for run_id in run_ids if run_id in purses and purses[run_id].playbill.name}
        meant |= {creature.graph_id for creature in world.creatures.values() if creature.run_id in staged}
    if not meant:
        raise _nobody_at(event)
    return sorted(meant, key=lambda name: world.graphs[name].born)
