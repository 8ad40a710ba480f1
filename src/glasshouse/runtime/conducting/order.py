"""A drive: the order of its graphs (lockstep or free), when it ends, and its result.

Always holds: in lockstep, the graph whose next turn has the lowest number goes first, then the oldest (ADR 0024).
Only the ledger decides this, so many graphs are as deterministic as one, also after a crash. With `free`, all graphs
of a run that are at its lowest turn play in parallel: a fast graph must not use up the turns of its run before a slow
one can meet it (ADR 0046). A turn of a graph counts once for a drive, also if it had begun before the drive. A drive of
some turns counts as `max_turns` and beats do, along the clock of the run: turns in which nobody acts count too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from glasshouse.errors import Refused
from glasshouse.events.event import Event
from glasshouse.reprs import repr_of
from glasshouse.runtime.conducting.endings import Endings
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.pending import EVERY_GRAPH
from glasshouse.turns.runs.agenda import members_of
from glasshouse.turns.runs.schedule import Due, next_act, next_turn
from glasshouse.world.state.state import GraphState

turns_ahead_max: Final = 0
"""With `free`, how many turns a graph may be ahead of the slowest graph of its run that has something to do."""
steps_in_a_turn_max: Final = 100_000
"""A turn with more steps than this is refused, so that a drive ends whatever the run's limits are."""
empty_steps_max: Final = 1_000
"""After this many steps in a row in which nothing is written in their graph, the drive raises `EngineFault`."""

Because = Literal[
    "nothing_due", "turns_played", "act_played", "runs_finished", "runs_paused", "held", "waiting"
]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A creature whose act is due and waits: code plays it, and its agent is not in this process."""

    __repr__ = repr_of("handle", "agent", "creature_id")

    creature_id: str
    handle: str
    agent: str
    """The class of the agent that it was added with."""
    run_id: str | None
    event_id: str
    """The event that it has to answer."""

    def __str__(self) -> str:
        return f"{self.handle} waits for its agent, a {self.agent}: t.attach({self.creature_id!r}, agent)."


@dataclass(frozen=True, slots=True)
class Conducted:
    """The result of a drive: why it returned, how many turns it played, and which runs ended."""

    __repr__ = repr_of("because", "turns", "ended", "last", "waiting")

    because: Because
    """`nothing_due`: nobody has anything to do. `turns_played`, `act_played`: as many as were asked for.
    `runs_finished`, `runs_paused`: no run that was named is playing any more. `held`: the gate before an act returned
    False. `waiting`: creatures that code plays have no agent here."""
    turns: int = 0
    """The number of turns, summed over all graphs."""
    ended: tuple[Event, ...] = ()
    """The `run.finished` of every run that ended."""
    last: Event | None = None
    """The event that ended the last act or the last run."""
    waiting: tuple[Waiting, ...] = ()
    """Who waits for an agent, if that is why nothing more was played."""

    def __bool__(self) -> bool:
        """Whether anything was played, so that `while await t.step(): ...` comes to an end."""
        return self.turns > 0 or self.last is not None


class Advanced(msgspec.Struct, frozen=True):
    """One step of a graph: the end of a run, the start of a turn, or an act. An act without an event wrote nothing."""

    kind: Literal["end", "turn", "act"]
    graph_id: str
    turn: int
    event: Event | None = None


class Progress(msgspec.Struct):
    """What a drive has played in one graph: the turn of its last step, how many turns, and the steps of that turn."""

    turn: int | None = None
    turns: int = 0
    steps: int = 0
    empty_steps: int = 0
    """How many steps in a row wrote nothing, and found nothing written in their graph since the one before."""
    head: tuple[str, int] = ("", 0)
    """The session of the graph and its last seq after the last step that wrote nothing."""


NOT_PLAYED = Progress()


class DriveProgress(msgspec.Struct):
    """Counts what a drive has played, and says when that is enough."""

    folded: Callable[[], Folded]
    turns: int | None = None
    acts: int | None = None
    run_ids: Sequence[str] = ()
    ended: list[Event] = []
    last: Event | None = None
    played: dict[str, Progress] = {}
    """The graphs in which this drive took a step, or to which such a step moved a creature."""
    turns_just_begun: set[str] = set()
    """The graphs whose last step began a turn: the gate is not asked again before the first act of that turn."""
    is_held: bool = False
    """Whether the gate before an act returned False."""
    has_used_up_turns: bool = False
    """Whether a graph has played all its turns and still has something to do."""
    last_turns: dict[str, int] = {}
    """Run -> the last of its turns that this drive plays."""
    gates: set[asyncio.Future[bool | None]] = set()
    _acts_played: int = 0
    _turns_played: int = 0

    async def has_passed(self, gate: Awaitable[bool | None]) -> bool:
        """Wait at a gate; False if it returns False, or if the drive ended meanwhile."""
        waiting = asyncio.ensure_future(gate)
        self.gates.add(waiting)
        try:
            self.is_held = await waiting is False or self.is_held
        except asyncio.CancelledError:
            if self.reached() is None:
                raise
            return False  # Only the wait at the gate was cancelled, because the drive is over.
        finally:
            self.gates.discard(waiting)
            waiting.cancel()
        return not self.is_held

    def shut_gates(self) -> None:
        """Cancel every wait at a gate, because the drive is over."""
        for gate in self.gates:
            gate.cancel()

    def allows(self, graph_id: str, turn: int) -> bool:
        """Whether a graph may take a step in this turn. Turn 0 means the end of a run, which needs no turn."""
        if self.turns is None or turn == 0:
            return True  # The drive is not bounded by turns, or this is no turn.
        played = self.played.get(graph_id, NOT_PLAYED)
        if played.turn == turn or (played.turns < self.turns and self._is_within_turns(graph_id, turn)):
            return True  # It goes on with its turn, or has turns left.
        self.has_used_up_turns = True
        return False

    def _is_within_turns(self, graph_id: str, turn: int) -> bool:
        """Whether a turn of a graph is among those of its runs that this drive plays."""
        folded = self.folded()
        graph = folded.world.graphs[graph_id]
        runs = folded.runs
        for run_id in members_of(folded.world, graph).runs_acting:
            count = runs.turns_of(run_id, graph_id) + turn - graph.turn
            if run_id not in self.last_turns:
                purse = runs.purses.get(run_id)
                before = 0 if purse is None else purse.spent.turns
                # A turn that had begun is one of them.
                last = before + (self.turns or 0) - (turn == graph.turn)
                # The first turn is played even after many empty ones: else no later drive would come further either.
                self.last_turns[run_id] = max(last, count)
            if count > self.last_turns[run_id]:
                return False  # One run that has played its turns holds its graph.
        return True

    def note(self, done: Advanced) -> None:
        """Count a step."""
        graph_id = done.graph_id
        kind = done.kind
        event = done.event
        played = self.played.get(graph_id)
        if played is None:
            played = self.played[graph_id] = Progress()
        if kind != "end" and played.turn != done.turn:
            played.turn = done.turn
            played.turns += 1
            played.steps = 1
            self._turns_played += 1
        else:
            played.steps += 1
            if played.steps > steps_in_a_turn_max:
                raise Refused(
                    f"Graph {graph_id} did not come to an end of its turn.", "Lower max_calls_per_turn."
                )
        if event is not None or kind == "turn":
            played.empty_steps = 0
        else:
            self._note_empty_step(played, graph_id)
        if kind == "turn":
            self.turns_just_begun.add(graph_id)
            return  # Nobody has acted in it yet.
        self.turns_just_begun.discard(graph_id)
        if event is not None:
            self.last = event
            self._acts_played += 1
            if event.graph_id != graph_id:  # A tool moved the creature to another graph.
                self.played.setdefault(event.graph_id, Progress())
            if kind == "end":
                self.ended.append(event)

    def _note_empty_step(self, played: Progress, graph_id: str) -> None:
        """Count the steps in a row that lead nowhere: they wrote nothing, and nobody else wrote in their graph."""
        world = self.folded().world
        graph = world.graphs.get(graph_id)
        head = ("", 0) if graph is None else (graph.session_id, world.session_of(graph).head)
        played.empty_steps = played.empty_steps + 1 if head == played.head else 1
        played.head = head

    def is_stuck_in(self, graph_id: str) -> bool:
        """Whether the last steps in a graph led nowhere, so many that they always will."""
        return self.played[graph_id].empty_steps >= empty_steps_max

    def reached(self) -> Because | None:
        """Why the drive must end, even if something is still due; None if it may continue."""
        if self.is_held:
            return "held"  # The gate says so, whatever is due.
        if self.acts is not None and self._acts_played >= self.acts:
            return "act_played"  # That was all it was asked for.
        if not self.run_ids:
            return None  # Whoever drives all runs plays until nothing is due.
        runs = self.folded().world.runs
        status = {run.status for name in self.run_ids if (run := runs.get(name)) is not None}
        if "playing" in status or not status:
            return None  # One of those named can still be played.
        return "runs_paused" if "paused" in status else "runs_finished"

    @property
    def because_nobody_is_next(self) -> Because:
        """Why a drive ends when no graph is next."""
        return "turns_played" if self.has_used_up_turns else "nothing_due"

    def conducted(self, because: Because, waiting: tuple[Waiting, ...] = ()) -> Conducted:
        """The result of the drive."""
        return Conducted(because, self._turns_played, tuple(self.ended), self.last, waiting)


class NextStep(msgspec.Struct, frozen=True):
    """What a graph has to do next, if anything."""

    turn: int | None
    """The current turn, or the one that begins next; 0 if a run must end first; None if nothing is due."""
    due: Due | None = None
    """The next act, if the current turn has one left."""


NOTHING_DUE = NextStep(None)


class Agendas:
    """What every graph has to do next. It is computed again only for graphs that were written to, for those of a run that
    began, paused or ended, and for all graphs in play when the world was folded again (ADR 0051, 0105)."""

    def __init__(self, ledger: Ledger, endings: Endings, waits: Callable[[str], bool]) -> None:
        self._ledger = ledger
        self._endings = endings
        self.waits = waits
        """Whether a creature waits for its agent."""
        self.waiting: dict[str, Due] = {}
        """The graphs whose next act waits for an agent, each with that act."""
        self._ready_cache: dict[str, NextStep] = {}
        self._graphs_known = (0, 0)

    def ready(self) -> dict[str, NextStep]:
        """The graphs that have something to do, each with what is next."""
        if self._ledger.graphs_moved:
            self._look_up(self._ledger.graphs_moved)
        return self._ready_cache

    def _look_up(self, moved: dict[str, None]) -> None:
        world = self._ledger.world
        ready = self._ready_cache
        waiting = self.waiting
        known = (len(world.sessions), len(world.graphs))
        graphs: Iterable[str] = tuple(moved)
        if EVERY_GRAPH in moved:
            graphs = {**ready, **world.graphs_in_play()}
        elif self._graphs_known != known:  # Merged graphs get no more writes, so check every cached graph.
            graphs = {**ready, **moved}
        self._graphs_known = known
        moved.clear()
        for graph_id in graphs:
            graph = world.graphs.get(graph_id)
            ahead = NOTHING_DUE if graph is None else self._looked_up(graph)
            if waiting:
                waiting.pop(graph_id, None)
            if ahead.turn is None:
                ready.pop(graph_id, None)
                continue
            ready[graph_id] = ahead
            due = ahead.due
            if due is not None and world.creatures[due.creature].played_by_code and self.waits(due.creature):
                waiting[graph_id] = due

    def of(self, graph_id: str) -> NextStep:
        """What one graph has to do next."""
        if self._ledger.graphs_moved:
            self._look_up(self._ledger.graphs_moved)
        return self._ready_cache.get(graph_id, NOTHING_DUE)

    def _looked_up(self, graph: GraphState) -> NextStep:
        folded = self._ledger.folded
        world = folded.world
        agenda = folded.agenda
        runs = folded.runs
        if runs.watched and any(map(self._endings.of, self._endings.due(graph))):
            return NextStep(0)  # A run that is over ends before anybody acts.
        due = next_act(world, agenda, graph, runs)
        return NextStep(next_turn(world, agenda, runs, graph)) if due is None else NextStep(graph.turn, due)

    def is_held(self, graph_id: str, turn: int) -> bool:
        """Whether a graph waits for an agent, or is of a run in which a graph that comes before it does. So nothing is
        played in another order than with the agent."""
        world = self._ledger.world
        ready = self.ready()
        if graph_id in self.waiting:
            return True  # It waits itself.
        graph = world.graphs[graph_id]
        runs = members_of(world, graph).runs_acting
        for waiting_id, due in self.waiting.items():
            before = (ready[waiting_id].turn or 0, world.graphs[waiting_id].born)
            if world.creatures[due.creature].run_id in runs and before < (turn, graph.born):
                return True  # One that comes before it waits.
        return False

    def is_idle(self, run_id: str) -> bool:
        """Whether no graph of a run has anything to do."""
        return self.ready().keys().isdisjoint(self._ledger.world.graphs_of(run_id))


Step = Callable[[str], Awaitable[bool]]
"""Takes the next step of a graph. False if the graph took none."""


class Lockstep:
    """The order of graphs: one after another, the lowest turn first, then the oldest graph (ADR 0024)."""

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
        self.let_in = let_in
        """Lets outside changes happen between two steps: lines of the inbox."""
        self._run_ids = run_ids
        self._graph_id = graph_id

    def next_graph(self, progress: DriveProgress) -> str | None:
        """The first graph, or None if it has no turns left: to continue with another graph would change the order."""
        graphs = self._ledger.world.graphs
        turns = [(ahead.turn or 0, graphs[name].born, name) for name, ahead in self._ready().items()]
        if self._agendas.waiting:
            turns = [due for due in turns if not self._agendas.is_held(due[2], due[0])]
        turn, _, first = min(turns, default=(0, 0, None))
        return first if first is not None and progress.allows(first, turn) else None

    def _ready(self) -> Mapping[str, NextStep]:
        ready = self._agendas.ready()
        if self._graph_id is None and not self._run_ids:
            return ready  # All graphs are driven.
        names = [self._graph_id] if self._graph_id else self._ledger.world.graphs_of(*self._run_ids)
        return {name: ready[name] for name in names if name in ready}

    def waiting(self) -> tuple[Waiting, ...]:
        """Whose acts wait for an agent in the driven graphs."""
        driven = self._ready()
        creatures = self._ledger.world.creatures
        if not self._agendas.waiting:
            return ()  # Nobody waits anywhere.
        acts = [due for graph_id, due in self._agendas.waiting.items() if graph_id in driven]
        waiting = [(creatures[due.creature], due.cause) for due in acts]
        return tuple([Waiting(c.id, c.handle, c.played_by_code, c.run_id, cause) for c, cause in waiting])

    def is_next(self, graph_id: str, progress: DriveProgress) -> bool:
        """Whether a chosen graph is still first. Asked if another drive may have taken steps meanwhile."""
        return self.next_graph(progress) == graph_id

    def runs(self) -> Iterable[str]:
        """The driven runs: those named, or those of the graph named, or all. Each ends when nothing in it is due any
        more."""
        world = self._ledger.world
        if self._graph_id is None:
            return self._run_ids or tuple(world.open_runs)  # No single graph is driven.
        graph = world.graphs.get(self._graph_id)
        return () if graph is None else members_of(world, graph).runs_acting


class Free(Lockstep):
    """Graphs in parallel: one task for each graph that has something to do. The task repeats the step that the
    conductor gives it. The task of a merged graph ends."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._has_news = asyncio.Event()
        self._held_back: dict[str, None] = {}
        """The graphs that wait for slower ones."""
        self._lowest: dict[str, tuple[int, list[str]]] = {}
        """For each run: the lowest turn of its graphs, and the graphs that are at this turn."""

    def next_graph(self, progress: DriveProgress) -> str | None:
        """A graph that has something to do and no task yet."""
        ready = (name for name in self._ready() if name not in self._tasks)
        graph_id = next((name for name in ready if self.is_next(name, progress)), None)
        if graph_id is None:
            self._look_for_the_lowest(progress)
        return graph_id

    def is_next(self, graph_id: str, progress: DriveProgress) -> bool:
        """Whether this graph has something to do and turns left."""
        return self._turn(graph_id, progress) is not None

    async def play(self, graph_id: str, progress: DriveProgress, step: Step) -> None:
        """Start a task for the steps of a graph."""
        steps = self._steps(graph_id, progress, step)
        task = self._tasks[graph_id] = asyncio.create_task(steps, name=f"{graph_id} plays")
        task.add_done_callback(self._note_end)

    async def _steps(self, graph_id: str, progress: DriveProgress, step: Step) -> None:
        """Take steps as long as the graph has something to do. Wakes the loop for graphs without a task, and waiting
        graphs."""
        while await self._may_step(graph_id, progress) and await step(graph_id):
            self._look_for_graphs()
            self._look_for_the_lowest(progress)
            if progress.reached() is not None:
                return  # The drive is over.
            await self.let_in()

    async def _may_step(self, graph_id: str, progress: DriveProgress) -> bool:
        """Wait for slower graphs of the same run; False if this graph has nothing to do any more."""
        while (turn := self._turn(graph_id, progress)) is not None and progress.reached() is None:
            if not self._is_ahead(graph_id, turn, progress):
                return True  # No graph of its run is behind it.
            self._look_for_graphs()  # The slower graph may be new: nobody drives it yet.
            self._held_back[graph_id] = None
            # A line from outside may give it something to do now.
            await self._ledger.wait_for_write_in(graph_id)
            self._held_back.pop(graph_id, None)
        return False

    def _is_ahead(self, graph_id: str, turn: int, progress: DriveProgress) -> bool:
        """Whether a graph that is about to begin this turn must wait for a slower graph of its run."""
        graph = self._ledger.world.graphs[graph_id]
        if turn <= graph.turn:
            return False  # It is in the middle of this turn.
        for run_id in members_of(self._ledger.world, graph).runs_acting:
            if turn - turns_ahead_max > self._lowest_turn(run_id, progress, turn):
                return True  # A slower one of this run may still meet it.
        return False

    def _lowest_turn(self, run_id: str, progress: DriveProgress, turn: int) -> int:
        """The lowest turn of a run's driven graphs. It is computed again when no graph is left at the cached turn."""
        lowest, there = self._lowest.get(run_id, (0, []))
        while there and self._turn(there[-1], progress) != lowest:
            there.pop()
        if not there:
            driven = self._ready()
            names = self._ledger.world.graphs_of(run_id)
            turns = {name: self._turn(name, progress) for name in names if name in driven}
            lowest = min([its_turn for its_turn in turns.values() if its_turn is not None], default=turn)
            there += [name for name, its_turn in turns.items() if its_turn == lowest]
            self._lowest[run_id] = lowest, there
            self._wake_held_back()
        return lowest

    def _turn(self, graph_id: str, progress: DriveProgress) -> int | None:
        turn = self._agendas.of(graph_id).turn
        if turn is not None and self._agendas.waiting and self._agendas.is_held(graph_id, turn):
            return None  # It waits for an agent.
        return turn if turn is not None and progress.allows(graph_id, turn) else None

    def _look_for_graphs(self) -> None:
        """Wake the loop if there may be a graph without a task."""
        if len(self._tasks) < len(self._agendas.ready()):
            self._has_news.set()

    def _look_for_the_lowest(self, progress: DriveProgress) -> None:
        """Let the graphs that wait for slower ones go if those have caught up or have nothing to do any more."""
        for run_id in self._lowest if self._held_back else ():
            self._lowest_turn(run_id, progress, 0)

    def _note_end(self, _task: object) -> None:
        self._has_news.set()
        self._wake_held_back()

    async def wait_for_others(self) -> bool:
        """Wait until a task ends or wakes the loop. An exception of a task is raised here."""
        if not self._tasks:
            return False  # No graph plays.
        await self._has_news.wait()
        self._has_news.clear()
        for name in [name for name, task in self._tasks.items() if task.done()]:
            self._tasks.pop(name).result()
        return True

    async def end(self) -> None:
        """End the drive: graphs stop waiting for slower ones, and steps that are under way end."""
        self._wake_held_back()
        while await self.wait_for_others():
            pass

    def _wake_held_back(self) -> None:
        self._ledger.wake(self._held_back)

    async def close(self) -> None:
        """Cancel the tasks that are left."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()
