"""The world before a batch of ticks, for ticks whose thinking was lost in a crash.

Always holds: it is folded from the ledger. So an interrupted batch of ticks with `together` continues like an
uninterrupted one, even if its first acts changed the graph. A batch that was not interrupted costs nothing here.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from glasshouse.runtime.acts.answers import Answers
from glasshouse.runtime.acts.warm_lines import spans_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folding import folded_from
from glasshouse.runtime.ledger.reading import EventById
from glasshouse.runtime.ports import Store
from glasshouse.turns.schedule import Due


class BatchWorld(NamedTuple):
    """A world, and what a creature was called in it: in a branch, not what it is called now."""

    folded: Folded
    creature_id: str


class BatchWorlds:
    """Brings back the world that a batch of ticks began with, for all of them who have to think again."""

    def __init__(self, store: Store, event: EventById, answers: Answers) -> None:
        self._store = store
        self._event = event
        self._answers = answers
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
                self._world_cache = due.begun_by, await self._world_before(due.begun_by)
            seen = BatchWorld(self._world_cache[1], due.was or due.creature)
            await self._warm(*seen)
            return seen

    async def _world_before(self, event_id: str) -> Folded:
        known = self._answers.world_before(event_id)
        if known is not None:
            return known
        return await folded_from(self._store, ((await self._event(event_id)).position or 1) - 1)

    async def _warm(self, folded: Folded, creature_id: str) -> None:
        """Bring back what was said there until then."""
        world, tables = folded.world, folded.tables
        graph = world.graphs[world.creatures[creature_id].graph_id]
        for place in tables.cold_places(world, graph):
            tables.warm(place, await self._store.read(spans_of(world, tables.said[place])))
