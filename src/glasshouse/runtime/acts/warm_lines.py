"""Loading the past that acts look back on: the lines that creatures of a graph may recall, when the graph is first driven;
and the world before a batch of ticks, for ticks whose thinking was lost in a crash.

Always holds: a graph that nobody drives holds no lines in memory. What is loaded is what the fold would have kept, so
a prompt does not depend on whether its lines were in memory. An interrupted batch of ticks with `together` continues like an
uninterrupted one, even if its first acts changed the graph; a batch that was not interrupted costs nothing here.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from glasshouse.errors import StoreFailed
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.history import EventById
from glasshouse.runtime.ledger.ledger import Ledger, folded_from
from glasshouse.runtime.ports import Store
from glasshouse.turns.heard.recent_lines import RecentLines
from glasshouse.turns.runs.schedule import Due
from glasshouse.world.state.lineage import Span, span_of
from glasshouse.world.state.state import GraphState, World


class BatchWorld(NamedTuple):
    """A world, and what a creature was called in it: in a branch, not what it is called now."""

    folded: Folded
    creature_id: str


class BatchWorlds:
    """Brings back the world that a batch of ticks began with, for all of them who have to think again."""

    def __init__(self, store: Store, event: EventById) -> None:
        self._store = store
        self._event = event
        self._world_cache: tuple[str, Folded] | None = None
        self._one_at_a_time = asyncio.Lock()

    async def seen_by(self, due: Due) -> BatchWorld | None:
        """What is to be seen by one whose batch has begun without it; none if that is the world as it is."""
        if due.begun_by is None:
            if due.is_together:
                self._world_cache = None  # A new batch begins, and the last one is over.
            return None
        async with self._one_at_a_time:
            if self._world_cache is None or self._world_cache[0] != due.begun_by:
                before = ((await self._event(due.begun_by)).position or 1) - 1
                self._world_cache = due.begun_by, await folded_from(self._store, before)
            seen = BatchWorld(self._world_cache[1], due.was or due.creature)
            await self._warm(*seen)
            return seen

    async def _warm(self, folded: Folded, creature_id: str) -> None:
        """Bring back what was said there until then."""
        world, tables = folded.world, folded.tables
        graph = world.graphs[world.creatures[creature_id].graph_id]
        for place in tables.cold_places(world, graph):
            tables.warm(place, await self._store.read(spans_of(world, tables.said[place])))


sparse_events_max: Final = 8
"""Stretches of one session are read in one go if there are at most so many events for each line wanted."""
warming_rounds_max: Final = 64
"""How often a table that grows while it is read is read again."""


class WarmLines:
    """Keeps the lines at hand of every graph that is driven."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger
        self._warm_cache: set[tuple[int, str]] = set()

    def is_ready(self, graph: GraphState) -> bool:
        """Whether the lines of a graph are at hand."""
        return (self._ledger.refolds, graph.session_id) in self._warm_cache

    async def make_ready(self, graph: GraphState) -> None:
        """Bring the lines of a graph to hand. After a merge or a split they are looked for again."""
        key = (self._ledger.refolds, graph.session_id)
        tables = self._ledger.folded.tables
        if tables.driven_cache is not None:
            tables.driven_cache.add(graph.id)
        for place in tables.cold_places(self._ledger.world, graph):
            await self._warm(place)
        self._warm_cache.add(key)
        self._ledger.graphs_moved[graph.id] = None  # A referee may see now that its run is over.

    async def _warm(self, place: str) -> None:
        for _ in range(warming_rounds_max):
            await self._ledger.wait_for_durability()
            tables = self._ledger.folded.tables
            table = tables.said.get(place)
            if table is None or table.lines_cache is not None:
                return
            events = await self._store.read(spans_of(self._ledger.world, table))
            if self._ledger.folded.tables is tables and tables.warm(place, events):
                return
        raise StoreFailed(
            f"What was said at {place} could not be read while so much was being said. Try again."
        )


def spans_of(world: World, table: RecentLines) -> list[Span]:
    """What to read for a table: one span for each session, or its stretches where lines are few and far between."""
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
