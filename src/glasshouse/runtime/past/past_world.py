"""A past that can be continued: the state folded up to one event, and the graphs to continue.

Always holds: a `Past` is an independent copy. Its changes are not in the ledger until it is restated (ADR 0031).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event, event_id, session_and_seq
from glasshouse.events.payloads import TopologyChanged, payload_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folds import fold, load_folded
from glasshouse.runtime.ledger.history import HistoryReader
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.decision import stamped
from glasshouse.world.decisions.intents import Intent
from glasshouse.world.fold.evolve import begin
from glasshouse.world.fold.members import part_unseen
from glasshouse.world.state.lineage import ancestors_of
from glasshouse.world.state.state import CreatureState, GraphState, SessionState, World
from glasshouse.world.state.values import GROWN_APART


class Past:
    """The world as it was at one moment."""

    def __init__(
        self,
        folded: Folded,
        at: Event,
        cut: str,
        graph_ids: Sequence[str],
        *,
        is_foreign: bool = False,
        is_said_in_all: bool = False,
    ) -> None:
        self.is_foreign = is_foreign
        """Whether it was played in another house. Then its ids may name other things in this house."""
        self.folded = folded
        self.at = at
        self.is_said_in_all = is_said_in_all
        """Whether the visitor said the event `at` in all graphs of its run at once."""
        self.cut = cut
        """The id of the last event that is part of this past."""
        self.graph_ids = list(graph_ids)
        """The graphs to continue, oldest first. They are regrown in the same order."""
        self._heads = {name: session.head for name, session in folded.world.sessions.items()}
        self._there = {*folded.world.creatures, *folded.world.channels, *folded.world.wires}
        here = [graph for graph in _graphs_of(folded.world, at.session_id) if graph.id in self.graph_ids]
        self._at_home = [name for graph in here[:1] for name in graph.creatures]

    @property
    def world(self) -> World:
        """The world of this past."""
        return self.folded.world

    def change(self, intent: Intent) -> str:
        """Apply an intent to this past and return the id of its subject. A refused intent changes nothing."""
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
        """The graph in which the event `at` was written, or the graph that its creatures are in after changes."""
        living = self.world.creatures
        return next((living[name].graph_id for name in self._at_home if name in living), self.graph_ids[0])

    @property
    def times_changed(self) -> int:
        """How many logical times the changes took, in the graph where they took the most."""
        sessions = self.world.sessions
        taken = [0]
        for name in self.graph_ids:
            session_id = self.world.graphs[name].session_id
            ends = [sessions[parent].segment.base + upto for parent, upto in self.parents_of(session_id)]
            taken.append(sessions[session_id].lamport - max(ends))
        return max(taken)

    def has_happened(self, id_of_event: str) -> bool:
        """Whether an event is in the ledger. Events of changes to this past are not."""
        session_id, seq = session_and_seq(id_of_event)
        return seq <= self._heads.get(session_id, 0)

    @property
    def creatures(self) -> list[CreatureState]:
        """The creatures in the graphs to continue."""
        graphs = [self.world.graphs[name] for name in self.graph_ids]
        return [self.world.creatures[name] for graph in graphs for name in graph.creatures]

    def holds_run(self, run_id: str) -> bool:
        """Whether a creature of a run is in the graphs to continue."""
        return any(creature.run_id == run_id for creature in self.creatures)

    def is_new(self, name: str) -> bool:
        """Whether a creature, channel or wire was made by a change to this past."""
        return name not in self._there

    def parents_of(self, session_id: str) -> tuple[tuple[str, int], ...]:
        """The sessions of the ledger that a session of this past is or grew from, each with its last seq then."""
        if session_id in self._heads:
            return ((session_id, self._heads[session_id]),)
        parents: dict[str, int] = {}
        for parent in self.world.sessions[session_id].segment.parents:
            parents |= dict(self.parents_of(parent.session_id))
        return tuple(parents.items())


class Pasts:
    """Finds the past at an event."""

    def __init__(self, history: HistoryReader) -> None:
        self._history = history

    async def at(self, session_id: str, at: str | None, *, before: bool = False) -> Past:
        """The past right after the change that an event belongs to; with `before`, right before it."""
        name, event = await self._meant(session_id, at)
        if self._history.ledger.world.sessions[event.session_id].segment.is_imported:
            return await self._imported(name, event, before=before)
        if before or event.kind == kinds.RUN_FINISHED:
            return await self._past((event.change or 0) - 1, event)
        return await self._past(await self._history.end_of_change(event.id), event)

    async def at_the_end(self, session_id: str) -> Past:
        """The past at the end of a session.

        If the session ended because its graph changed, this is the past right before that change. If its run is
        finished, it is the past right before the run's end, so the acts that were owed then are still owed.
        """
        name, event = await self._meant(session_id, None)
        if self._history.ledger.world.sessions[event.session_id].segment.is_imported:
            is_too_late = event.kind == kinds.RUN_FINISHED or ends_in_a_split(event)
            return await self._imported(name, event, before=is_too_late)
        event = await self._end_of_its_runs(event)
        if event.kind == kinds.RUN_FINISHED:
            return await self._past(await self._before_the_ends(event), event)
        position = await self._history.end_of_change(event.id)
        folded = await load_folded(self._history.store, position)
        is_open = any(graph.session_id == event.session_id for graph in folded.world.graphs.values())
        return await self._past(position if is_open else (event.change or 0) - 1, event)

    async def _end_of_its_runs(self, last: Event) -> Event:
        """The last event of a session, or the latest end of the runs of its creatures, if that came later."""
        folded = self._history.ledger.folded
        graph = folded.world.graphs.get(last.graph_id)
        if graph is None or graph.session_id != last.session_id:
            return last
        runs = dict.fromkeys([folded.world.creatures[name].run_id or "" for name in graph.creatures])
        purses = [folded.runs.purses[run_id] for run_id in runs if run_id in folded.runs.purses]
        ends = [await self._history.event(purse.ended_in) for purse in purses if purse.ended_in is not None]
        return max([last, *ends], key=lambda event: event.position or 0)

    async def _before_the_ends(self, end: Event) -> int:
        """The position right before a run's end.

        If several runs of a session ended one right after the other, this is the position before the first end. So
        the acts that were owed in any of these runs are still owed.
        """
        position = (end.position or 0) - 1
        while position > 0:
            (before,) = await self._history.store.read_after(position - 1, 1)
            if before.kind != kinds.RUN_FINISHED or before.session_id != end.session_id:
                break
            position -= 1
        return position

    async def _meant(self, session_id: str, at: str | None) -> tuple[str, Event]:
        """The session and event to continue from. No creature lives in a fork, so a fork means its parent's event."""
        chosen = self._history.event_meant(session_id, at or None)
        session = self._history.ledger.world.sessions[session_and_seq(chosen)[0]]
        if session.segment.origin == "fork" and session.head == 1 and session.segment.at:
            parent = session.segment.parents[0]
            return await self._meant(parent.session_id, event_id(parent.session_id, parent.upto))
        return session_id, await self._history.event(chosen)

    async def _past(self, position: int, event: Event) -> Past:
        """The past right after the event at a position. `event` decides which graphs are continued."""
        if position < 1:
            raise Refused("Nothing was there before that.", "Choose a later event.")
        folded = await load_folded(self._history.store, position)
        (last,) = await self._history.store.read_after(position - 1, 1)
        is_said_in_all = event.kind == kinds.USER_INJECTED and await self._history.end_of_change(event.id) > (
            event.change or 0
        )
        graph_ids = graphs_meant(folded, event)
        return Past(folded, event, last.id, graph_ids, is_said_in_all=is_said_in_all)

    async def _imported(self, session_id: str, event: Event, *, before: bool) -> Past:
        """The past at an imported event. This house has not folded it, so its history is folded separately."""
        sessions = self._history.ledger.world.sessions
        folded = Folded(World(house_id=self._history.store.house_id))
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
    """Whether this event ended its session by splitting the graph."""
    return event.kind == kinds.TOPOLOGY_CHANGED and payload_of(event, TopologyChanged).kind == "split"


def begin_from_file(world: World, sessions: Mapping[str, SessionState], session_id: str) -> None:
    """Begin an imported session and its ancestors in `world`, the separately folded world of its house."""
    if session_id not in world.sessions:
        for name in (*ancestors_of(sessions, session_id), session_id):
            if name not in world.sessions:
                begin(world, msgspec.structs.replace(sessions[name].segment, is_imported=False))


def graph_of(folded: Folded, event: Event) -> str:
    """The graph in which an imported event was written. Other graphs of its house may be incomplete in the file."""
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
    """The graph that writes to a session. If the session has ended in a change, the graphs that came of it."""
    graphs = list(world.graphs.values())
    return [graph for graph in graphs if graph.session_id == session_id] or [
        graph
        for graph in graphs
        if (segment := world.session_of(graph).segment).origin not in GROWN_APART
        and session_id in [parent.session_id for parent in segment.parents]
    ]


def graphs_meant(folded: Folded, event: Event) -> list[str]:
    """The ids of the graphs to continue: the event's graph, and all graphs of the scenarios played there."""
    world = folded.world
    purses = folded.runs.purses
    here = _graphs_of(world, event.session_id)
    meant = {graph.id for graph in here}
    run_ids = {run.id for run in world.runs.values() if run.session_id == event.session_id and not here}
    graphs_before = -1
    # A graph of these runs may hold creatures of other runs. The graphs of those runs are continued too.
    while graphs_before < len(meant):
        graphs_before = len(meant)
        creatures = [name for graph_id in meant for name in world.graphs[graph_id].creatures]
        run_ids |= {world.creatures[name].run_id or "" for name in creatures}
        staged = {run_id for run_id in run_ids if run_id in purses and purses[run_id].playbill.name}
        meant |= {creature.graph_id for creature in world.creatures.values() if creature.run_id in staged}
    if not meant:
        raise _nobody_at(event)
    return sorted(meant, key=lambda name: world.graphs[name].born)
