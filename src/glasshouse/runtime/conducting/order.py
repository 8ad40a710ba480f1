"""Orders: which graph is next. In lockstep one after another, freely side by side, or as a record says.

Always holds: in lockstep the graph whose next turn has the lowest number goes first, then the oldest. The ledger alone
tells that, so many graphs are as deterministic as one, also after a crash. Freely, all graphs of a run that are at its
lowest turn go side by side: a fast graph must not use up the turns of its run before a slow one can meet it (ADR 0046).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple

from glasshouse.runtime.conducting.endings import Endings
from glasshouse.runtime.conducting.until import Until
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.turns.schedule import Due, next_act, next_turn, runs_acting
from glasshouse.world.state import GraphState

Pacing = Literal["lockstep", "free"]

turns_ahead_max: Final = 0
"""With `free`, how many turns a graph may be ahead of the slowest graph of its run that has something to do."""


class Next(NamedTuple):
    """What a graph has to do next, if anything."""

    turn: int | None
    """The present turn, or the one it begins next; 0 if a run ends before anybody has a turn; none if nothing is due."""
    due: Due | None = None
    """The act, where the present turn has one left."""


NOTHING_DUE = Next(None)


class Agendas:
    """What every graph has to do next. Looked up anew only for graphs that something was written to, and for all when a run
    began, paused or ended."""

    def __init__(self, ledger: Ledger, endings: Endings) -> None:
        self._ledger = ledger
        self._endings = endings
        self._ready_cache: dict[str, Next] = {}
        self._looked_up_at = self._graphs_known = (-1, -1)
        self._graphs_cache: dict[Sequence[str], tuple[tuple[object, ...], dict[str, None]]] = {}

    def ready(self) -> dict[str, Next]:
        """The graphs that have something to do, and what."""
        ledger, moved = self._ledger, self._ledger.graphs_moved
        at = (ledger.refolds, ledger.run_moves)
        if not moved and self._looked_up_at == at:
            return self._ready_cache
        world = ledger.world
        graphs: Iterable[str] = tuple(moved) if self._looked_up_at == at else world.graphs
        known = (len(world.sessions), len(world.graphs))
        if self._graphs_known != known:  # Graphs that have merged are not written to any more.
            graphs = {**self._ready_cache, **dict.fromkeys(graphs)}
        self._looked_up_at, self._graphs_known = at, known
        moved.clear()
        for graph_id in graphs:
            graph = world.graphs.get(graph_id)
            ahead = NOTHING_DUE if graph is None else self._looked_up(graph)
            if ahead.turn is None:
                self._ready_cache.pop(graph_id, None)
            else:
                self._ready_cache[graph_id] = ahead
        return self._ready_cache

    def of(self, graph_id: str) -> Next:
        """What one graph has to do next."""
        return self.ready().get(graph_id, NOTHING_DUE)

    def _looked_up(self, graph: GraphState) -> Next:
        folded = self._ledger.folded
        if any(self._endings.of(run_id) is not None for run_id in self._endings.due(graph)):
            return Next(0)
        due = next_act(folded.world, folded.agenda, graph, folded.runs)
        if due is not None:
            return Next(graph.turn, due)
        return Next(next_turn(folded.world, folded.agenda, folded.runs, graph))

    def graphs_of(self, *run_ids: str) -> dict[str, None]:
        """The graphs that creatures of these runs are in."""
        # Every merge and split begins a session; whoever else comes or goes is counted by its run.
        world = self._ledger.world
        runs = [world.runs.get(run_id) for run_id in run_ids]
        counts = [None if run is None else (run.creatures_born, run.creatures_living) for run in runs]
        key = (self._ledger.refolds, len(world.sessions), *counts)
        kept = self._graphs_cache.get(run_ids)
        if kept is None or kept[0] != key:
            names = {one.graph_id: None for one in world.creatures.values() if one.run_id in run_ids}
            kept = self._graphs_cache[run_ids] = (key, names)
        return kept[1]

    def is_idle(self, run_id: str) -> bool:
        """Whether no graph of a run has anything to do."""
        return self.ready().keys().isdisjoint(self.graphs_of(run_id))


class Order:
    """Which graph is next. This one plays nobody; those below say more."""

    async def let_in(self) -> None:
        """Let happen what comes from outside between two steps: lines of the inbox, or what was recorded."""

    def next_graph(self, until: Until) -> str | None:  # noqa: ARG002 (as the others name it)
        """The graph that goes next; none if nothing is due, or if whoever goes next has had its turns."""
        return None

    async def may_step(self, graph_id: str, until: Until) -> bool:  # noqa: ARG002 (as the others name it)
        """Whether a graph that was chosen takes its step, after it has waited for those that it has to wait for."""
        return True

    def is_next(self, graph_id: str, until: Until) -> bool:  # noqa: ARG002 (as the others name it)
        """The same, without waiting: asked where others may have moved the show on since."""
        return True

    def goes_on(self, graph_id: str, until: Until) -> bool:  # noqa: ARG002 (as the others name it)
        """Whether a graph that has taken a step takes the next one, too; if not, the order is asked who does."""
        return False

    async def play(self, graph_id: str, steps: Coroutine[Any, Any, None]) -> None:  # noqa: ARG002 (as the others name it)
        """Let a graph take steps, now or beside others."""
        await steps

    async def wait_for_others(self) -> bool:
        """Wait until something has changed for one of the graphs that are at play. False if none is."""
        return False

    def runs(self) -> Iterable[str]:
        """The runs that are driven, and that end when nothing of theirs is due any more."""
        return ()

    def end(self) -> None:
        """The drive is over: steps under way end, and nobody waits for others any more."""

    async def close(self) -> None:
        """Cut off whatever is still at play."""


class Recorded(Order):
    """The order of a record. What came from outside happens again, then the graph is named that its next change is of."""

    def __init__(self, next_graph: Callable[[], Awaitable[str | None]]) -> None:
        self._look = next_graph
        self._graph_id: str | None = None

    async def let_in(self) -> None:
        """Let what came from outside happen again."""
        self._graph_id = await self._look()

    def next_graph(self, until: Until) -> str | None:  # noqa: ARG002 (as the others name it)
        """The graph that the next recorded change is of."""
        return self._graph_id


class Lockstep(Order):
    """One graph after another: the lowest turn first, then the oldest graph."""

    def __init__(
        self,
        ledger: Ledger,
        agendas: Agendas,
        let_in: Callable[[], Awaitable[None]],
        run_ids: Sequence[str] = (),
        graph_id: str | None = None,
    ) -> None:
        self._ledger = ledger
        self._agendas = agendas
        self._let_in = let_in
        self._run_ids = run_ids
        self._graph_id = graph_id

    async def let_in(self) -> None:
        """Take in the lines that wait in the inbox."""
        await self._let_in()

    def next_graph(self, until: Until) -> str | None:
        """The first graph, unless it has had its turns: to go on with others would change the order."""
        graphs = self._ledger.world.graphs
        turns = [(ahead.turn or 0, graphs[name].born, name) for name, ahead in self._ready()]
        turn, _, first = min(turns, default=(0, 0, None))
        return first if first is not None and until.allows(first, turn) else None

    def _ready(self) -> Iterable[tuple[str, Next]]:
        ready = self._agendas.ready()
        if self._graph_id is not None:
            return [(self._graph_id, ready[self._graph_id])] if self._graph_id in ready else []
        if not self._run_ids:
            return ready.items()
        return [(name, ready[name]) for name in self._agendas.graphs_of(*self._run_ids) if name in ready]

    def is_next(self, graph_id: str, until: Until) -> bool:
        """Whether it still goes first."""
        return self.next_graph(until) == graph_id

    def runs(self) -> Iterable[str]:
        """Those named, or those of the graph named, or all."""
        world = self._ledger.world
        if self._graph_id is None:
            return self._run_ids or tuple(world.runs)
        graph = world.graphs.get(self._graph_id)
        return () if graph is None else runs_acting(world, graph)


class Free(Lockstep):
    """A task for each graph that has something to do; merged graphs end theirs, new and woken ones get one."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._has_news = asyncio.Event()
        self._has_caught_up = asyncio.Event()
        self._lowest: dict[str, tuple[int, list[str]]] = {}
        """For each run the lowest turn that a graph of it is at, and the graphs that are there."""

    def next_graph(self, until: Until) -> str | None:
        """A graph that is not at play and has something to do."""
        ready = (name for name, _ in self._ready() if name not in self._tasks)
        return next((name for name in ready if self.is_next(name, until)), None)

    def is_next(self, graph_id: str, until: Until) -> bool:
        """Whether it has something to do, and turns left to do it in."""
        return self._turn(graph_id, until) is not None

    async def may_step(self, graph_id: str, until: Until) -> bool:
        """Wait for slower graphs of the same run."""
        while self.is_next(graph_id, until) and until.reached() is None:
            if not self._is_ahead(graph_id, until):
                return True
            self._has_caught_up.clear()
            await self._has_caught_up.wait()
        return False

    def _is_ahead(self, graph_id: str, until: Until) -> bool:
        """Whether a graph that would begin a turn has to wait for a slower one of its run."""
        graph, turn = self._ledger.world.graphs[graph_id], self._turn(graph_id, until)
        if turn is None or turn <= graph.turn:
            return False
        runs = runs_acting(self._ledger.world, graph)
        return any(turn - turns_ahead_max > self._lowest_turn(run_id, until, turn) for run_id in runs)

    def _lowest_turn(self, run_id: str, until: Until, turn: int) -> int:
        """The lowest turn that a graph of a run is at, of those that are driven. It is counted anew when nobody is left at
        what it was."""
        lowest, there = self._lowest.get(run_id, (0, []))
        while there and self._turn(there[-1], until) != lowest:
            there.pop()
        if not there:
            driven = {name for name, _ in self._ready()}
            turns = {
                name: self._turn(name, until) for name in self._agendas.graphs_of(run_id) if name in driven
            }
            lowest = min([its_turn for its_turn in turns.values() if its_turn is not None], default=turn)
            there += [name for name, its_turn in turns.items() if its_turn == lowest]
            self._lowest[run_id] = lowest, there
            self._has_caught_up.set()
        return lowest

    def _turn(self, graph_id: str, until: Until) -> int | None:
        turn = self._agendas.of(graph_id).turn
        return turn if turn is not None and until.allows(graph_id, turn) else None

    def goes_on(self, graph_id: str, until: Until) -> bool:  # noqa: ARG002 (as the others name it)
        """Its task goes on as long as it may step. Those that wait for it, and those that it has woken, are told."""
        if len(self._tasks) < len(self._agendas.ready()):
            self._has_news.set()
        for run_id in self._lowest:
            self._lowest_turn(run_id, until, 0)
        return True

    async def play(self, graph_id: str, steps: Coroutine[Any, Any, None]) -> None:
        """Begin a task for them."""
        task = self._tasks[graph_id] = asyncio.create_task(steps, name=f"{graph_id} plays")
        task.add_done_callback(self._note_end)

    def _note_end(self, _task: object) -> None:
        self._has_news.set()
        self._has_caught_up.set()

    async def wait_for_others(self) -> bool:
        """Wait for a task's news; what a task raised is raised here."""
        if not self._tasks:
            return False
        await self._has_news.wait()
        self._has_news.clear()
        for name in [name for name, task in self._tasks.items() if task.done()]:
            self._tasks.pop(name).result()
        return True

    def end(self) -> None:
        """Let those go who wait for slower graphs."""
        self._has_caught_up.set()

    async def close(self) -> None:
        """End the tasks that are left."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()
