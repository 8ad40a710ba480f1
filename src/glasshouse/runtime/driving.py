"""Driving many graphs: one after another in lockstep, or each at its own speed.

Always holds: in lockstep the graph whose next turn has the lowest number goes first, then the oldest; that is told by
the ledger alone, so many graphs are as deterministic as one, also after a crash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from glasshouse.events.event import Event
from glasshouse.runtime.conductor import Conductor, Pacing
from glasshouse.runtime.ledger import Ledger
from glasshouse.world.state import GraphState

Between = Callable[[], Awaitable[None]]
"""Called between two turns: where lines from the inbox are taken in."""


class Driver:
    """Drives whatever graphs there are until nothing is due, or for so many turns."""

    def __init__(self, ledger: Ledger, conductor: Conductor, between: Between) -> None:
        self._ledger = ledger
        self._conductor = conductor
        self._between = between
        self._one_at_a_time = asyncio.Lock()
        self._ahead_cache: dict[str, tuple[tuple[object, ...], int | None]] = {}

    async def play_one(self, graph_id: str | None) -> Event | None:
        """One act: of the graph named, or of the graph that goes first."""
        async with self._one_at_a_time:
            await self._between()
            while True:
                first = graph_id if graph_id is not None else self._first()
                if first is None:
                    return None
                told = await self._conductor.play_act(first)
                if told is not None or graph_id is not None:
                    return told
                if self._first() == first:
                    return None

    async def play(self, turns: int | None, pacing: Pacing, wanted: str | None = None) -> int:
        """Up to so many turns of every graph, or until nothing is due; how many turns were played.

        With `wanted`, only graphs of that run, until it has finished.
        """
        async with self._one_at_a_time:
            in_their_way = self._play_freely if pacing == "free" else self._play_in_lockstep
            played = await in_their_way(turns, wanted)
            await self._conductor.settle()
            return played

    async def _play_in_lockstep(self, turns: int | None, wanted: str | None) -> int:
        played: dict[str, int] = {}
        while not self._is_over(wanted):
            await self._between()
            graph_id = self._first(wanted)
            if graph_id is None or (turns is not None and played.get(graph_id, 0) >= turns):
                break  # Whoever goes first has had its turns: to go on with others would change the order.
            has_played = await self._conductor.play_turn(graph_id, self._ahead_cache[graph_id][1])
            played[graph_id] = played.get(graph_id, 0) + 1
            if not has_played and self._first(wanted) == graph_id:
                break
        return sum(played.values())

    def _first(self, wanted: str | None = None) -> str | None:
        """The graph that goes first among those that have something to do; with `wanted`, of those of that run."""
        found: tuple[int, int, str] | None = None
        for graph in self._graphs(wanted):
            turn = self._turn_ahead(graph)
            if turn is not None and (found is None or (turn, graph.born, graph.id) < found):
                found = (turn, graph.born, graph.id)
        return None if found is None else found[2]

    def _graphs(self, wanted: str | None) -> Iterable[GraphState]:
        world = self._ledger.world
        if wanted is None:
            return world.graphs.values()
        names = {c.graph_id: None for c in world.creatures.values() if c.run_id == wanted}
        return [world.graphs[name] for name in names]

    def _turn_ahead(self, graph: GraphState) -> int | None:
        """Asked anew only when something was written to this graph, or a run began, paused or ended somewhere."""
        world = self._ledger.world
        key = (
            graph.session_id,
            world.sessions[graph.session_id].head,
            self._ledger.refolds,
            self._ledger.run_moves,
        )
        kept = self._ahead_cache.get(graph.id)
        if kept is None or kept[0] != key:
            kept = self._ahead_cache[graph.id] = (key, self._conductor.turn_ahead(graph))
        return kept[1]

    async def _play_freely(self, turns: int | None, wanted: str | None) -> int:
        """A task for each graph with something to do; merged graphs end theirs, new ones get one."""
        played: dict[str, int] = {}
        tasks: dict[str, asyncio.Task[bool]] = {}
        try:
            while True:
                await self._between()
                if not self._is_over(wanted):
                    for graph in self._due_freely(tasks, played, turns, wanted):
                        played[graph.id] = played.get(graph.id, 0) + 1
                        tasks[graph.id] = asyncio.create_task(self._conductor.play_turn(graph.id))
                if not tasks:
                    return sum(played.values())
                done, _ = await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
                for name in [name for name, task in tasks.items() if task in done]:
                    tasks.pop(name).result()
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)

    def _due_freely(
        self,
        tasks: dict[str, asyncio.Task[bool]],
        played: dict[str, int],
        turns: int | None,
        wanted: str | None,
    ) -> list[GraphState]:
        graphs = [graph for graph in self._graphs(wanted) if graph.id not in tasks]
        with_turns_left = [g for g in graphs if turns is None or played.get(g.id, 0) < turns]
        return [graph for graph in with_turns_left if self._turn_ahead(graph) is not None]

    def _is_over(self, wanted: str | None) -> bool:
        run = self._ledger.world.runs.get(wanted or "")
        return run is not None and run.status != "playing"
