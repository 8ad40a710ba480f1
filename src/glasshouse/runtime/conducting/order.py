"""A drive: which graph is next (its order: in lockstep one after another, freely side by side, or as a record says), until
when, and what came of it.

Always holds: in lockstep the graph whose next turn has the lowest number goes first, then the oldest. The ledger alone
tells that, so many graphs are as deterministic as one, also after a crash. Freely, all graphs of a run that are at its
lowest turn go side by side: a fast graph must not use up the turns of its run before a slow one can meet it (ADR 0046). A turn of
a graph counts once for a drive, whether the drive began it or found it begun.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from glasshouse.errors import Refused
from glasshouse.events.event import Event
from glasshouse.reprs import repr_of
from glasshouse.runtime.conducting.endings import Endings
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.turns.runs.schedule import Due, next_act, next_turn, runs_acting
from glasshouse.world.state.state import GraphState, World

Pacing = Literal["lockstep", "free"]

turns_ahead_max: Final = 0
"""With `free`, how many turns a graph may be ahead of the slowest graph of its run that has something to do."""
steps_in_a_turn_max: Final = 100_000
"""However a run's limits are set, a turn has an end."""

Because = Literal["nothing_due", "turns_played", "act_played", "runs_finished", "runs_paused", "held"]


@dataclass(frozen=True, slots=True)
class Conducted:
    """The result of a drive: why it returned, how many turns it played, and which runs ended."""

    __repr__ = repr_of("because", "turns", "ended", "last")

    because: Because
    """`nothing_due`, `turns_played` or `act_played`: as many as were asked for; `runs_finished`, `runs_paused`: every run
    that was named; `held`: the gate before an act said no."""
    turns: int = 0
    """The sum over all graphs."""
    ended: tuple[Event, ...] = ()
    """The `run.finished` of every run that ended."""
    last: Event | None = None
    """The event in which the last act ended, or that ended the last run."""

    def __bool__(self) -> bool:
        """Whether anything was played, so that `while await t.step(): ...` comes to an end."""
        return self.turns > 0 or self.last is not None


class Advanced(NamedTuple):
    """One step of a graph: a run's end, the beginning of a turn, or an act. Without an event, nothing was written."""

    kind: Literal["end", "turn", "act"]
    graph_id: str
    turn: int
    event: Event | None = None


@dataclass
class Until:
    """Counts what a drive has played, and says when that is enough."""

    world: Callable[[], World]
    turns: int | None = None
    acts: int | None = None
    run_ids: Sequence[str] = ()
    ended: list[Event] = field(default_factory=list)
    last: Event | None = None
    graph_ids: set[str] = field(default_factory=set)
    """The graphs that something was played in."""
    turns_just_begun: set[str] = field(default_factory=set)
    """The graphs whose last step was to begin a turn: the act that follows belongs to the same pass of a gate."""
    is_held: bool = False
    """Whether a gate before an act said no."""
    has_used_up_turns: bool = False
    """Whether a graph has had its turns that would have more to do."""
    _gates: set[asyncio.Future[bool | None]] = field(default_factory=set)
    _acts_played: int = 0
    _played: Counter[str] = field(default_factory=Counter)
    _turn_of: dict[str, int] = field(default_factory=dict)
    _steps: Counter[str] = field(default_factory=Counter)

    async def has_passed(self, gate: Awaitable[bool | None]) -> bool:
        """Wait at a gate; false if it says no, or if the drive is over meanwhile."""
        waiting = asyncio.ensure_future(gate)
        self._gates.add(waiting)
        try:
            self.is_held = await waiting is False or self.is_held
        except asyncio.CancelledError:
            if self.reached() is None:
                raise
            return False
        finally:
            self._gates.discard(waiting)
            waiting.cancel()
        return not self.is_held

    def shut_gates(self) -> None:
        """The drive is over: nobody waits at a gate any more."""
        for gate in self._gates:
            gate.cancel()

    def allows(self, graph_id: str, turn: int) -> bool:
        """Whether a graph may play on in this turn. Zero is the end of a run, which needs no turn."""
        if self.turns is None or turn == 0 or self._turn_of.get(graph_id) == turn:
            return True
        if self._played[graph_id] < self.turns:
            return True
        self.has_used_up_turns = True
        return False

    def note(self, done: Advanced) -> None:
        """A step was taken."""
        kind, graph_id, turn, event = done
        self.graph_ids.add(graph_id)
        steps = self._steps[graph_id] + 1
        if kind != "end" and self._turn_of.get(graph_id) != turn:
            self._turn_of[graph_id] = turn
            self._played[graph_id] += 1
            steps = 1
        self._steps[graph_id] = steps
        if steps > steps_in_a_turn_max:
            raise Refused(
                f"Graph {graph_id} did not come to an end of its turn.", "Lower max_calls_per_turn."
            )
        if kind == "turn":
            self.turns_just_begun.add(graph_id)
            return
        self.turns_just_begun.discard(graph_id)
        if event is not None:
            self.last = event
            self._acts_played += 1
            self.graph_ids.add(event.graph_id)  # A creature may have moved in its act.
            if kind == "end":
                self.ended.append(event)

    def reached(self) -> Because | None:
        """Why the drive is over, whatever is still due; none if it is not."""
        if self.is_held:
            return "held"
        if self.acts is not None and self._acts_played >= self.acts:
            return "act_played"
        if not self.run_ids:
            return None
        runs = self.world().runs
        status = {run.status for name in self.run_ids if (run := runs.get(name)) is not None}
        if "playing" in status or not status:
            return None
        return "runs_paused" if "paused" in status else "runs_finished"

    @property
    def because_nobody_is_next(self) -> Because:
        """Why a drive is over that was not to be over yet."""
        return "turns_played" if self.has_used_up_turns else "nothing_due"

    def conducted(self, because: Because) -> Conducted:
        """The result of the drive."""
        return Conducted(because, self._played.total(), tuple(self.ended), self.last)


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
        if folded.runs.watched and any(map(self._endings.of, self._endings.due(graph))):
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
        """Let a graph take steps, now or in parallel with others."""
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
