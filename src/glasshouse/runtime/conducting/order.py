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
        names = {c.graph_id: None for c in world.creatures.values() if c.run_id in run_ids}
        return [world.graphs[name] for name in names]

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

    def turns_ahead(self, graph: GraphState, turn: int) -> dict[str, int]:
        """How many turns each run in a graph has played there once this turn is played."""
        world, runs = self._ledger.world, self._ledger.folded.runs
        return {
            run_id: runs.turns_of(run_id, graph.id) + turn - graph.turn
            for run_id in runs_acting(world, graph)
        }


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
        self._waits_for: dict[str, tuple[str, int | None]] = {}
        """The graphs that are held back, the slower graph that each waits for, and the turn that one is at."""
        self._played_by_all_cache: dict[str, int] = {}
        """So many turns of a run every graph of it has reached. That only grows, as long as graphs only meet."""

    def next_graph(self, until: Until) -> str | None:
        """A graph that is not at play and may be. Where all wait for each other, the first as in lockstep."""
        held: list[tuple[int, int, str]] = []
        for graph in self._agendas.graphs(self._run_ids):
            turn = None if graph.id in self._tasks else self._turn_allowed(graph, until)
            if turn is None:
                continue
            if not self._is_held(graph, turn, until):
                return graph.id
            held.append((turn, graph.born, graph.id))
        return min(held)[2] if held and not self._tasks else None

    def goes_on(self, graph_id: str, until: Until) -> bool:
        """Until it has nothing to do, has had its turns, or has to wait for a slower graph of its run."""
        if self._waits_for or len(self._tasks) < self._agendas.graphs_count:
            self._has_news.set()  # Others may have been woken, or may go on now.
        graph = self._agendas.graph(graph_id)
        turn = None if graph is None else self._turn_allowed(graph, until)
        return graph is not None and turn is not None and not self._is_held(graph, turn, until)

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

    def _is_held(self, graph: GraphState, turn: int, until: Until) -> bool:
        """Whether a graph that would begin a turn has to wait for a slower one of its run."""
        if turn <= graph.turn:
            return False
        if graph.id in self._waits_for:
            slower, its_turn = self._waits_for.pop(graph.id)
            other = self._agendas.graph(slower)
            if other is not None and self._agendas.of(other).turn == its_turn:
                self._waits_for[graph.id] = slower, its_turn
                return True
        for run_id, turns in self._agendas.turns_ahead(graph, turn).items():
            if turns - turns_ahead_max > self._played_by_all_cache.get(run_id, 0):
                for other in self._agendas.graphs((run_id,)):
                    its_turn = self._turn_allowed(other, until)
                    if (
                        its_turn is not None
                        and self._agendas.turns_ahead(other, max(its_turn, other.turn)).get(run_id, turns)
                        < turns - turns_ahead_max
                    ):
                        self._waits_for[graph.id] = other.id, its_turn
                        return True
                self._played_by_all_cache[run_id] = turns - turns_ahead_max
        return False

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
