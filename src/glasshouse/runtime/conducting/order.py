"""Orders: which graph is next. In lockstep one after another, freely side by side, or as a record says.

Always holds: in lockstep the graph whose next turn has the lowest number goes first, then the oldest. The ledger alone
tells that, so many graphs are as deterministic as one, also after a crash. Freely, no graph of a run is more than
`turns_ahead_max` turns ahead of another: a fast graph must not use up the turns of its run before a slow one meets it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol

from glasshouse.runtime.conducting.endings import Endings
from glasshouse.runtime.conducting.until import Until
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.turns.schedule import Due, next_act, next_turn, runs_acting
from glasshouse.world.state import GraphState

Pacing = Literal["lockstep", "free"]

turns_ahead_max: Final = 0
"""With `free`, how many turns a graph may begin before every graph of its run that has something to do has begun as many. Each
merge adds such a lead to the clock, and what the world shows in the turns between is never shown: see ADR 0046."""


class Next(NamedTuple):
    """What a graph has to do next, if anything."""

    turn: int | None
    """The present turn, or the one it begins next; 0 if a run ends before anybody has a turn; none if nothing is due."""
    due: Due | None = None
    """The act, where the present turn has one left."""


class Agendas:
    """What every graph has to do next."""

    def __init__(self, ledger: Ledger, endings: Endings) -> None:
        self._ledger = ledger
        self._endings = endings
        self._cache: dict[str, tuple[tuple[object, ...], Next]] = {}
        self._graphs_cache: dict[tuple[str, ...], tuple[tuple[object, ...], tuple[str, ...]]] = {}

    def of(self, graph: GraphState) -> Next:
        """Looked up anew only when something was written to this graph, or a run began, paused or ended anywhere."""
        ledger = self._ledger
        key = (
            graph.session_id,
            ledger.folded.world.sessions[graph.session_id].head,
            ledger.refolds,
            ledger.run_moves,
        )
        kept = self._cache.get(graph.id)
        if kept is None or kept[0] != key:
            kept = self._cache[graph.id] = (key, self._looked_up(graph))
        return kept[1]

    def _looked_up(self, graph: GraphState) -> Next:
        folded = self._ledger.folded
        if any(self._endings.of(run_id) is not None for run_id in self._endings.due(graph)):
            return Next(0)
        due = next_act(folded.world, folded.agenda, graph, folded.runs)
        if due is not None:
            return Next(graph.turn, due)
        return Next(next_turn(folded.world, folded.agenda, folded.runs, graph))

    def graphs(self, run_ids: Sequence[str] = ()) -> Iterable[GraphState]:
        """Every open graph; of some runs only, if they are named."""
        world = self._ledger.world
        if not run_ids:
            return world.graphs.values()
        # Every merge and split begins a session; whoever else comes or goes is counted by its run.
        runs = [world.runs.get(run_id) for run_id in run_ids]
        counts = [None if run is None else (run.creatures_born, run.creatures_living) for run in runs]
        key = (self._ledger.refolds, len(world.sessions), *counts)
        kept = self._graphs_cache.get(tuple(run_ids))
        if kept is None or kept[0] != key:
            names = {one.graph_id: None for one in world.creatures.values() if one.run_id in run_ids}
            kept = self._graphs_cache[tuple(run_ids)] = (key, tuple(names))
        return [world.graphs[name] for name in kept[1]]

    def graph(self, graph_id: str) -> GraphState | None:
        """One open graph."""
        return self._ledger.world.graphs.get(graph_id)

    @property
    def graphs_count(self) -> int:
        """How many graphs are open."""
        return len(self._ledger.world.graphs)

    def runs(self, run_ids: Sequence[str], graph_id: str | None = None) -> Iterable[str]:
        """The runs that are named, or those in a graph, or all."""
        world = self._ledger.world
        if graph_id is None:
            return run_ids or tuple(world.runs)
        graph = world.graphs.get(graph_id)
        return () if graph is None else runs_acting(world, graph)

    def is_idle(self, run_id: str) -> bool:
        """Whether no graph of a run has anything to do."""
        return all(self.of(graph).turn is None for graph in self.graphs((run_id,)))

    def turns_of(self, run_id: str, graph: GraphState, turn: int) -> int:
        """How many turns a run has played along the line of a graph once this turn is played."""
        return self._ledger.folded.runs.turns_of(run_id, graph.id) + turn - graph.turn

    def runs_in(self, graph: GraphState) -> list[str]:
        """The runs that somebody in a graph may act for."""
        return runs_acting(self._ledger.world, graph)


class Order(Protocol):
    """Which graph is next, and how its steps are played."""

    async def let_in(self) -> None:
        """Let happen what comes from outside between two steps: lines of the inbox, or what was recorded."""

    def next_graph(self, until: Until) -> str | None:
        """The graph that goes next; none if nothing is due, or if whoever goes next has had its turns."""

    def goes_on(self, graph_id: str, until: Until) -> bool:
        """Whether a graph that has just taken a step takes another one right away."""

    async def play(self, graph_id: str, steps: Coroutine[Any, Any, None]) -> None:
        """Let a graph take steps, now or beside others."""

    async def wait_for_others(self) -> bool:
        """Wait until one of the graphs that are at play has news. False if none is."""

    def is_next(self, graph_id: str, until: Until) -> bool:
        """Whether a graph that was chosen may still take its step, after it had to wait for it."""

    def runs(self) -> Iterable[str]:
        """The runs that are driven, and that end when nothing of theirs is due any more."""

    async def close(self) -> None:
        """End whatever is still at play."""


class OneByOne:
    """What the orders have in common that play one step after another."""

    def __init__(self, let_in: Callable[[], Awaitable[None]]) -> None:
        self._let_in = let_in

    async def let_in(self) -> None:
        """Take in the lines that wait in the inbox."""
        await self._let_in()

    def goes_on(self, graph_id: str, until: Until) -> bool:  # noqa: ARG002 (the protocol's names)
        """Who goes next is asked before each step."""
        return False

    async def play(self, graph_id: str, steps: Coroutine[Any, Any, None]) -> None:  # noqa: ARG002
        """Play them now."""
        await steps

    async def wait_for_others(self) -> bool:
        """Nobody plays beside this one."""
        return False

    async def close(self) -> None:
        """Nobody is at play."""


class Lockstep(OneByOne):
    """One graph after another: the lowest turn first, then the oldest graph."""

    def __init__(
        self,
        agendas: Agendas,
        let_in: Callable[[], Awaitable[None]],
        run_ids: Sequence[str] = (),
        graph_id: str | None = None,
    ) -> None:
        super().__init__(let_in)
        self._agendas = agendas
        self._run_ids = run_ids
        self._graph_id = graph_id

    def next_graph(self, until: Until) -> str | None:
        """The first graph, unless it has had its turns: to go on with others would change the order."""
        first: tuple[int, int, str] | None = None
        graph: GraphState | None = None
        for one in self._agendas.graphs(self._run_ids):
            turn = self._agendas.of(one).turn
            if (
                turn is not None
                and self._graph_id in (None, one.id)
                and (first is None or (turn, one.born, one.id) < first)
            ):
                first, graph = (turn, one.born, one.id), one
        return graph.id if first and graph and until.allows(graph, first[0]) else None

    def is_next(self, graph_id: str, until: Until) -> bool:
        """Whether it still goes first."""
        return self.next_graph(until) == graph_id

    def runs(self) -> Iterable[str]:
        """Those named, or those of the graph named, or all."""
        return self._agendas.runs(self._run_ids, self._graph_id)


class Free(OneByOne):
    """A task for each graph that has something to do; merged graphs end theirs, new and woken ones get one."""

    def __init__(
        self, agendas: Agendas, let_in: Callable[[], Awaitable[None]], run_ids: Sequence[str] = ()
    ) -> None:
        super().__init__(let_in)
        self._agendas = agendas
        self._run_ids = run_ids
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._has_news = asyncio.Event()
        self._slower: dict[str, tuple[int, list[str]]] = {}
        """For each run a number of turns, and the graphs that had not begun so many when that was last looked up."""
        self._held: dict[str, str] = {}
        """The graphs that wait, and the run whose slower graphs each waits for."""

    def next_graph(self, until: Until) -> str | None:
        """A graph that is not at play and may be. Where all wait for each other, the first as in lockstep."""
        held: list[tuple[int, int, str]] = []
        for graph in self._agendas.graphs(self._run_ids):
            if graph.id in self._tasks:
                continue
            waits = graph.id in self._held and bool(self._slower[self._held[graph.id]][1])
            if waits and self._tasks:
                continue
            turn = self._turn_allowed(graph, until)
            if turn is not None and not self._is_held(graph, turn, until):
                return graph.id
            if turn is not None:
                held.append((turn, graph.born, graph.id))
        return min(held)[2] if held and not self._tasks else None

    def goes_on(self, graph_id: str, until: Until) -> bool:
        """Until it has nothing to do, has had its turns, or has to wait for a slower graph of its run."""
        self._note_progress(until)
        graph = self._agendas.graph(graph_id)
        turn = None if graph is None else self._turn_allowed(graph, until)
        return graph is not None and turn is not None and not self._is_held(graph, turn, until)

    def _note_progress(self, until: Until) -> None:
        """Let the loop look again where graphs may have been woken, or where those that wait may go on."""
        if len(self._tasks) + len(self._held) < self._agendas.graphs_count:
            self._has_news.set()
        for run_id, (turns, slower) in self._slower.items():
            if slower and not self._is_slower(run_id, slower, turns, until):
                self._has_news.set()

    def _is_held(self, graph: GraphState, turn: int, until: Until) -> bool:
        """Whether a graph that would begin a turn has to wait for a slower one of its run."""
        self._held.pop(graph.id, None)
        if turn <= graph.turn:
            return False
        for run_id in self._agendas.runs_in(graph):
            wanted = self._agendas.turns_of(run_id, graph, turn) - turns_ahead_max
            turns, slower = self._slower.get(run_id, (0, []))
            if wanted > turns:
                slower = [one.id for one in self._agendas.graphs((run_id,)) if one is not graph]
                self._slower[run_id] = wanted, slower
            if wanted >= turns and self._is_slower(run_id, slower, wanted, until):
                self._held[graph.id] = run_id
                return True
        return False

    def _is_slower(self, run_id: str, slower: list[str], turns: int, until: Until) -> bool:
        """Whether any of these graphs has something to do in a turn before. Those that have not are taken off the list."""
        while slower:
            graph = self._agendas.graph(slower[-1])
            turn = None if graph is None else self._turn_allowed(graph, until)
            its_turns = (
                turns if turn is None or graph is None else self._agendas.turns_of(run_id, graph, turn)
            )
            if its_turns < turns:
                return True
            slower.pop()
        return False

    def is_next(self, graph_id: str, until: Until) -> bool:
        """Whether it still has something to do."""
        graph = self._agendas.graph(graph_id)
        return graph is not None and self._turn_allowed(graph, until) is not None

    def runs(self) -> Iterable[str]:
        """Those named, or all."""
        return self._agendas.runs(self._run_ids)

    def _turn_allowed(self, graph: GraphState, until: Until) -> int | None:
        turn = self._agendas.of(graph).turn
        return turn if turn is not None and until.allows(graph, turn) else None

    async def play(self, graph_id: str, steps: Coroutine[Any, Any, None]) -> None:
        """Begin a task for them."""
        task = self._tasks[graph_id] = asyncio.create_task(steps, name=f"{graph_id} plays")
        task.add_done_callback(lambda _: self._has_news.set())

    async def wait_for_others(self) -> bool:
        """Wait for a task's news; what a task raised is raised here."""
        if not self._tasks:
            return False
        await self._has_news.wait()
        self._has_news.clear()
        for name in [name for name, task in self._tasks.items() if task.done()]:
            self._tasks.pop(name).result()
        return True

    async def close(self) -> None:
        """End the tasks that are left."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()


class Recorded(OneByOne):
    """The order of a record. What came from outside happens again, then the graph is named that its next change is of."""

    def __init__(self, next_graph: Callable[[], Awaitable[str | None]]) -> None:
        super().__init__(self._look)
        self._looked_up = next_graph
        self._graph_id: str | None = None

    async def _look(self) -> None:
        self._graph_id = await self._looked_up()

    def next_graph(self, until: Until) -> str | None:  # noqa: ARG002 (the protocol's names)
        """The graph that the next recorded change is of."""
        return self._graph_id

    def is_next(self, graph_id: str, until: Until) -> bool:  # noqa: ARG002 (the protocol's names)
        """A record does not change while it is waited for."""
        return True

    def runs(self) -> Iterable[str]:
        """None: how runs ended is on record."""
        return ()
