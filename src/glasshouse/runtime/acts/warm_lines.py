"""Loading the past that acts need: the lines of a graph, when it is first driven; and the world at the start of a
batch of ticks, for ticks whose thinking was lost in a crash.

Always holds: in an opened store, lines are loaded only for graphs that somebody drives. When all runs of a graph have
finished, its lines are let go, and loaded again when somebody drives it again (ADR 0105). The lines loaded are those
that the fold would have kept, so a prompt does not depend on whether its lines were in memory. An interrupted batch
of ticks with `together` continues like an uninterrupted one, even if its first acts changed the graph. A batch that
was not interrupted loads nothing here. A place is where lines are said: see `turns.heard.recent_lines`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, NamedTuple

from glasshouse.errors import StoreFailed
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folds import load_folded
from glasshouse.runtime.ledger.history import EventById
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.store_port import Store
from glasshouse.turns.heard.recent_lines import RecentLines
from glasshouse.turns.moment.line_text import forget_readings
from glasshouse.turns.prompts.context import forget_prompts
from glasshouse.turns.runs.schedule import Due
from glasshouse.world.state.lineage import Span, span_of
from glasshouse.world.state.state import GraphState, World


class BatchWorld(NamedTuple):
    """The world at the start of a batch, and the creature's id in it. In a branch, that id differs from the current
    one."""

    folded: Folded
    creature_id: str


class BatchWorlds:
    """Restores the world at the start of a batch of ticks, for the ticks that must be thought again."""

    def __init__(self, store: Store, event: EventById) -> None:
        self._store = store
        self._event = event
        self._world_cache: tuple[str, Folded] | None = None
        self._one_at_a_time = asyncio.Lock()

    async def seen_by(self, due: Due) -> BatchWorld | None:
        """The world that a tick of an interrupted batch must see; None if it sees the current world."""
        if due.begun_by is None:
            if due.is_together:
                self._world_cache = None  # A new batch begins: the old world is not needed.
            return None
        async with self._one_at_a_time:
            if self._world_cache is None or self._world_cache[0] != due.begun_by:
                before = ((await self._event(due.begun_by)).position or 1) - 1
                self._world_cache = due.begun_by, await load_folded(self._store, before)
            seen = BatchWorld(self._world_cache[1], due.was or due.creature)
            await self._warm(*seen)
            return seen

    async def _warm(self, folded: Folded, creature_id: str) -> None:
        """Load the lines of the creature's graph in that world."""
        world = folded.world
        tables = folded.tables
        graph = world.graphs[world.creatures[creature_id].graph_id]
        for place in tables.cold_places(world, graph):
            tables.warm(place, await self._store.read(spans_of_table(world, tables.said[place])))


sparse_events_max: Final = 8
"""The spans of one session are read as one if that reads at most this many events for each event wanted."""
warming_rounds_max: Final = 64
"""How often a table is read again because it grew during the read."""


class WarmLines:
    """Keeps the lines of every driven graph in memory until all its runs have finished."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger
        self._warm_cache: dict[str, tuple[int, str]] = {}
        """The graphs whose lines are loaded, each with the number of refolds and the session when that was done."""
        self._needed: dict[str, dict[str, None]] = {}
        """Graph -> the places that were loaded for it. A creature may recall lines of a graph that it has left."""
        self._needed_by: dict[str, dict[str, None]] = {}
        """Place -> the graphs for which it was loaded."""

    def is_ready(self, graph: GraphState) -> bool:
        """Whether the lines of a graph are in memory."""
        return self._warm_cache.get(graph.id) == (self._ledger.refolds, graph.session_id)

    async def make_ready(self, graph: GraphState) -> None:
        """Load the lines of a graph. After a merge or a split, the graph has a new session and is loaded again."""
        key = (self._ledger.refolds, graph.session_id)
        tables = self._ledger.folded.tables
        if tables.driven_cache is not None:
            tables.driven_cache.add(graph.id)
        # Noted before the wait below: meanwhile, another graph may let its lines go.
        self._note_needs(graph.id, tables.places_recalled_in(self._ledger.world, graph))
        for place in tables.cold_places(self._ledger.world, graph):
            await self._warm(place)
        self._warm_cache[graph.id] = key
        self._ledger.graphs_moved[graph.id] = None  # A referee may find now that its run is over.

    def let_go(self, graph: GraphState) -> None:
        """Drop the lines of a graph, except those that another loaded graph needs, and what prompts were made from."""
        tables = self._ledger.folded.tables
        self._warm_cache.pop(graph.id, None)
        if tables.driven_cache is not None:
            tables.driven_cache.discard(graph.id)
        places = tables.places_recalled_in(self._ledger.world, graph)
        self._note_needs(graph.id, places)
        self._note_needs(graph.id, ())
        forget_prompts(self._ledger.world.house_id, (*graph.creatures, *places))

    def _note_needs(self, graph_id: str, places: Iterable[str]) -> None:
        """Note the places that a graph needs now, and drop the lines of those that no graph needs any more."""
        world = self._ledger.world
        tables = self._ledger.folded.tables
        before = self._needed.pop(graph_id, {})
        now = dict.fromkeys(places)
        if now:
            self._needed[graph_id] = now
        for place in now:
            self._needed_by.setdefault(place, {})[graph_id] = None
        for place in before:
            needed_by = self._needed_by.get(place, {})
            if place in now or place not in tables.said:
                continue
            needed_by.pop(graph_id, None)
            if not any(name in world.graphs for name in needed_by):  # A graph that was merged needs nothing.
                self._needed_by.pop(place, None)
                forget_readings(tables.let_go(place))

    async def make_ready_for(self, creature_id: str) -> None:
        """Load the lines of the graph that a creature is in, also if it gets into another graph meanwhile."""
        world = self._ledger.world
        while (creature := world.creatures.get(creature_id)) is not None:
            graph = world.graphs[creature.graph_id]
            if self.is_ready(graph):
                return
            await self.make_ready(graph)
            world = self._ledger.world

    async def _warm(self, place: str) -> None:
        for _ in range(warming_rounds_max):
            await self._ledger.writer.wait_for_durability()
            tables = self._ledger.folded.tables
            table = tables.said.get(place)
            if table is None or table.lines_cache is not None:
                return
            events = await self._store.read(spans_of_table(self._ledger.world, table))
            if self._ledger.folded.tables is tables and tables.warm(place, events):
                return
        raise StoreFailed(
            f"What was said at {place} could not be read while so much was being said. Try again."
        )


def spans_of_table(world: World, table: RecentLines) -> list[Span]:
    """The spans to read for a table: one for each session, or several where the wanted events are sparse."""
    sessions: dict[str, list[Span]] = {}
    for part in table.spans:
        segment = world.sessions[part.session_id].segment
        sessions.setdefault(part.session_id, []).append(span_of(segment, part.first, part.last))
    spans: list[Span] = []
    for parts in sessions.values():
        wanted = sum([part.last - part.first + 1 for part in parts])
        whole = parts[0].cut(parts[0].first, parts[-1].last)
        is_dense = whole.last - whole.first + 1 <= sparse_events_max * wanted
        spans += [whole] if is_dense else parts
    return sorted(spans, key=lambda span: span.starts_at)
