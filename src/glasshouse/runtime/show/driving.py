"""Driving many graphs: one after another in lockstep, or each at its own speed.

Always holds: in lockstep the graph whose next turn has the lowest number goes first, then the oldest; that is told by
the ledger alone, so many graphs are as deterministic as one, also after a crash.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from glasshouse.events.event import Event
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.show.conductor import Conductor, Pacing
from glasshouse.world.state import GraphState

Between = Callable[[], Awaitable[None]]
"""Called between two turns: where lines from the inbox are taken in."""


class _Hall:
    """Who is playing freely now: a task for each graph, and how many turns each has had."""

    def __init__(self, turns: int | None, wanted: str | None) -> None:
        self.turns = turns
        self.wanted = wanted
        self.played: Counter[str] = Counter()
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.has_news = asyncio.Event()

    def has_turns(self, graph_id: str) -> bool:
        """Whether a graph may play one more."""
        return self.turns is None or self.played[graph_id] < self.turns

    def let_in(self, graph_id: str, playing: Coroutine[Any, Any, None]) -> None:
        """Start a graph's task."""
        task = self.tasks[graph_id] = asyncio.create_task(playing, name=f"{graph_id} plays")
        task.add_done_callback(lambda _: self.has_news.set())

    def let_out(self) -> None:
        """Forget the tasks that are done; what one of them raised is raised here."""
        for name in [name for name, task in self.tasks.items() if task.done()]:
            self.tasks.pop(name).result()

    async def clear(self) -> None:
        """End whoever is left."""
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


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
            await self._conductor.make_ready()
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
            await self._conductor.make_ready()
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
        """A task for each graph with something to do; merged graphs end theirs, new and woken ones get one."""
        hall = _Hall(turns, wanted)
        try:
            self._let_graphs_in(hall)
            while hall.tasks:
                hall.has_news.clear()
                await hall.has_news.wait()
                hall.let_out()
                self._let_graphs_in(hall)
        finally:
            await hall.clear()
        return sum(hall.played.values())

    def _let_graphs_in(self, hall: _Hall) -> None:
        """Start whoever has something to do and no task yet."""
        if len(hall.tasks) >= len(self._ledger.world.graphs) or self._is_over(hall.wanted):
            return
        for graph in list(self._graphs(hall.wanted)):
            if (
                graph.id not in hall.tasks
                and hall.has_turns(graph.id)
                and self._turn_ahead(graph) is not None
            ):
                hall.let_in(graph.id, self._play_alone(hall, graph.id))

    async def _play_alone(self, hall: _Hall, graph_id: str) -> None:
        """One graph's turns, at its own speed."""
        while hall.has_turns(graph_id) and not self._is_over(hall.wanted):
            graph = self._ledger.world.graphs.get(graph_id)
            if graph is None or self._turn_ahead(graph) is None:
                return
            await self._between()
            hall.played[graph_id] += 1
            if not await self._conductor.play_turn(graph_id):
                return
            self._let_graphs_in(hall)

    def _is_over(self, wanted: str | None) -> bool:
        run = self._ledger.world.runs.get(wanted or "")
        return run is not None and run.status != "playing"
