"""The conductor drives graphs. One loop serves every kind of drive: one act, some turns, or to the end.

Theory of operation. `conduct` asks an order which graph is next and lets that graph take a step: finish a run, begin a
turn, or play one act. Pure functions over the folds (`turns.runs.schedule`) say what is due, and they are asked again
after every change. So an interrupted play continues where it stopped, and merges and splits need no special case here.
With free pacing, each graph has a task that repeats the same step (`Free`). A replay is no drive: it plays the recorded
acts one by one, by `act_again` (ADR 0064). Several drives may run at once. A step locks its graph, never the house, so
runs that are driven in parallel also think in parallel (ADR 0046).

An act begins only when the last turn and the last act of its graph are durable, with two exceptions. The first act of a
turn, if it can use no tools, is thought while `turn.started` is being committed. This saves one commit per turn. And acts
that think together are written one after the other without waiting, if they can use no tools, so that one commit may take
several of them. If the commit before an act fails, the act is not written and stays due.

The state of this process stands in three records, and a restart after a crash needs none of them: an act's
(`acts/in_flight.py`, with the table of its states), a graph's (`graph_steps.py`), and the runs that are being finished
(`run_moves.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from glasshouse.errors import BudgetExceeded, EngineFault, StoreError
from glasshouse.events.event import Json
from glasshouse.events.model_use import Call
from glasshouse.events.payloads import Governor
from glasshouse.runtime.acts.act import Acts
from glasshouse.runtime.acts.act_calls import INTERRUPTED
from glasshouse.runtime.acts.in_flight import Act, State, has_reached_a_model
from glasshouse.runtime.acts.recorded_answers import RecordedAnswers
from glasshouse.runtime.acts.routes import Routes
from glasshouse.runtime.acts.warm_lines import WarmLines
from glasshouse.runtime.conducting.ahead import Causes, ThinkingAhead, run_drawn_on
from glasshouse.runtime.conducting.endings import Endings
from glasshouse.runtime.conducting.graph_steps import DrivenGraphs, GraphSteps
from glasshouse.runtime.conducting.order import (
    Advanced,
    Agendas,
    Conducted,
    DriveProgress,
    Free,
    Lockstep,
    Waiting,
    empty_steps_max,
)
from glasshouse.runtime.conducting.run_moves import RunMoves
from glasshouse.runtime.ledger.history import EventById
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.writer import Queued
from glasshouse.runtime.minds.minds import Minds
from glasshouse.runtime.ports import Clock
from glasshouse.turns.runs.agenda import members_of
from glasshouse.turns.runs.purses import tripped_by_time, tripped_by_turn
from glasshouse.turns.runs.schedule import Due, shown_at
from glasshouse.world.decisions.intents import StartTurn
from glasshouse.world.state.state import GraphState

BeforeAct = Callable[[str], Awaitable[bool | None]]
"""A gate, awaited with the id of the graph before each act, or before the turn that the act begins. Acts that think
together begin to think behind the gate of the first of them; each of them passes it again before it is written. It must
write nothing. It may wait as long as it likes. If it returns False, the drive ends."""


class Conductor:
    """Drives graphs: begins turns, plays acts and finishes runs."""

    def __init__(
        self,
        ledger: Ledger,
        acts: Acts,
        clock: Clock,
        endings: Endings,
        event: EventById,
        governor: Governor,
        warm_lines: WarmLines,
        answers: RecordedAnswers,
        routes: Routes,
        minds: Minds,
        policy: Json | None = None,
    ) -> None:
        self.agendas = Agendas(ledger, endings, minds.waits)
        self._ledger = ledger
        self._acts = acts
        self._in_flight = acts.in_flight
        self.timer = acts.timer
        self._clock = clock
        self._endings = endings
        self._warm_lines = warm_lines
        self._answers = answers
        self._minds = minds
        self.graphs = DrivenGraphs()
        self._causes = Causes(ledger, event, self.graphs)
        self._ahead = ThinkingAhead(ledger, acts, self._causes, acts.in_flight, self.graphs)
        self.runs = RunMoves(ledger, acts, endings, routes, governor, policy, self._let_go)
        self.drives = 0
        """How many drives are under way."""
        self.leaves_acts_due = False
        """Whether closing writes nothing for acts that are cut off, so that a run goes on as if nobody had cut it (ADR 0154)."""
        ledger.after_refold.append(endings.forget)  # Lines that referees have seen may not be in the ledger.

    # The loop

    async def conduct(
        self, order: Lockstep, progress: DriveProgress, before_act: BeforeAct | None = None
    ) -> Conducted:
        """Drive graphs in this order until `progress` is reached or nothing is due. On return, all it wrote is durable."""
        if self._ledger.folded.runs.watched:
            await self._make_ready()
        waiting: tuple[Waiting, ...] = ()
        free = order if isinstance(order, Free) else None
        step = partial(self._step, order, progress, before_act)
        self.drives += 1
        try:
            while (because := progress.reached()) is None:
                await order.let_in()
                graph_id = order.next_graph(progress)
                if graph_id is not None:
                    await (step(graph_id) if free is None else free.play(graph_id, progress, step))
                elif free is not None and await free.wait_for_others():
                    continue  # Something changed in a graph that plays in parallel.
                elif not await self._finish_an_idle_run(order, progress):
                    waiting = order.waiting()
                    because = "waiting" if waiting else progress.because_nobody_is_next
                    break
            if progress.gates:
                progress.shut_gates()
            if free is not None:
                await free.end()
        finally:
            self.drives -= 1
            if free is not None:
                await free.close()
        await self._settle(progress)
        if not self.drives and (self.graphs.idle or len(self.graphs) > len(self._ledger.world.graphs)):
            self.graphs.tidy(self._ledger.world.graphs)
        return progress.conducted(because, waiting)

    async def _settle(self, progress: DriveProgress) -> None:
        """Wait until the last writes in every graph of a drive are durable."""
        for graph_id in tuple(progress.played):
            await self.graphs[graph_id].wait_for_durability(self._ledger)

    async def _make_ready(self) -> None:
        """Load the lines of runs that may end by themselves: a referee may find that an interrupted run is over."""
        for graph_id in tuple(self._ledger.world.graphs_of(*self._ledger.folded.runs.watched)):
            graph = self._ledger.world.graphs.get(graph_id)
            if graph is not None and not self._warm_lines.is_ready(graph):
                await self._warm_lines.make_ready(graph)

    async def _step(
        self, order: Lockstep, progress: DriveProgress, before_act: BeforeAct | None, graph_id: str
    ) -> bool:
        """Take the next step of a graph. False if it took none, because the drive is held or another drive was faster."""
        lapse = self._ledger.writer.ended or self._ledger.store_lapse()
        if lapse is not None:
            raise lapse  # Another process plays this store, or may: no act begins here.
        if before_act is not None and graph_id not in progress.turns_just_begun:
            await self._settle(progress)  # At the gate, readers find everything in the ledger.
            if not await progress.has_passed(before_act(graph_id)):
                return False  # The gate ended the drive, or the drive ended while it waited there.
        may_wait = before_act is not None or self.drives > 1
        steps = self.graphs[graph_id]
        await steps.lock.acquire()
        try:
            if may_wait and not order.is_next(graph_id, progress):
                return False  # Another drive took a step while this one waited.
            step = await self.advance(graph_id)
        except StoreError:
            steps.forget_writes()  # It is reported here, and not again to the next drive of this graph.
            raise
        finally:
            steps.lock.release()
        progress.note(step)
        if step.event is None and progress.is_stuck_in(graph_id):
            raise EngineFault(self._state_of_stuck(graph_id))
        return True

    def _state_of_stuck(self, graph_id: str) -> str:
        """What a report needs about a graph whose steps lead nowhere."""
        folded = self._ledger.folded
        ahead = self.agendas.of(graph_id)
        graph = folded.world.graphs.get(graph_id)
        clocks = folded.runs.clocks.get(graph_id)
        runs = () if graph is None else members_of(folded.world, graph).runs
        limits = {run_id: purse.limits for run_id in runs if (purse := folded.runs.purses.get(run_id))}
        in_flight = self._in_flight
        acts = [*in_flight.ahead.values(), *in_flight.taken.values(), *in_flight.kept.values()]
        states = {record.act: record.state for record in acts}
        return (
            f"Graph {graph_id} took {empty_steps_max:,} steps that wrote nothing. This is a fault of the engine: please"
            f" report it with this state. Turn {graph and graph.turn}, next turn {ahead.turn}, next act {ahead.due}; acts"
            f" in flight {states}, runs that end {list(self.runs.finishing)}, drives {self.drives}; calls in this turn"
            f" {clocks and clocks.calls}, limits {limits}."
        )

    async def advance(self, graph_id: str) -> Advanced:
        """Take one step of a graph: finish a run that is over, or play one act. If the act is in the next turn, begin that
        turn first; the step is then the act, or the turn alone if no act is due in it."""
        if self._in_flight.ahead or self._in_flight.kept:
            for record in self._in_flight.of_the_gone():
                await self.runs.give_up(record)
        graph = self._ledger.world.graphs.get(graph_id)
        while graph is not None and not self._warm_lines.is_ready(graph):
            await self._warm_lines.make_ready(graph)
            graph = self._ledger.world.graphs.get(graph_id)
        if graph is None:
            return Advanced("act", graph_id, 0)  # It was merged away meanwhile.
        for run_id in self._endings.due(graph) if self._ledger.folded.runs.watched else ():
            ending = self._endings.of(run_id)
            if ending is not None:
                event = await self.runs.finish(run_id, ending.reason, ending=ending)
                return Advanced("end", graph_id, graph.turn, event)  # The end of a run is a step of its own.
        ahead = self.agendas.of(graph_id)
        turn = ahead.turn if ahead.due is None else None
        if turn is not None:
            ended = await self.begin_turn(graph, turn)
            if ended is not None:
                return ended  # A limit allows no other turn.
            if self._ledger.world.graphs.get(graph_id) is graph:
                ahead = self.agendas.of(graph_id)
        if ahead.due is None or graph_id in self.agendas.waiting:
            # Nobody acts in this turn, or whoever is next has no agent here.
            return Advanced("act", graph_id, graph.turn) if turn is None else Advanced("turn", graph_id, turn)
        return await self._play_act(graph, ahead.due)

    async def _finish_an_idle_run(self, order: Lockstep, progress: DriveProgress) -> bool:
        """End a run in which nothing is due any more; False if there is none. Runs without a scenario do not end this
        way."""
        if progress.has_used_up_turns:
            return False  # Something is due in a later turn.
        for run_id in order.runs():
            run = self._ledger.world.runs.get(run_id)
            purse = self._ledger.folded.runs.purses.get(run_id)
            is_playing = run is not None and run.status == "playing"
            if is_playing and purse is not None and purse.scenario_digest and self.agendas.is_idle(run_id):
                event = await self.runs.finish(run_id, "ended")
                progress.note(Advanced("end", "" if event is None else event.graph_id, 0, event))
                return True  # One at a time: its end may give others something to do.
        return False

    async def begin_turn(self, graph: GraphState, turn: int) -> Advanced | None:
        """Begin a turn, or end a run whose limits do not allow another one: the step that this was. An empty step, if a commit
        failed meanwhile: then somebody may still owe an act in the turn before."""
        folded = self._ledger.folded
        refolds = self._ledger.refolds
        has_beats = False
        for run_id in members_of(self._ledger.world, graph).runs_acting:
            purse = folded.runs.purses.get(run_id) or await self.runs.new_purse(run_id, graph)
            has_beats = has_beats or bool(purse.playbill.beats)
            played = folded.runs.turns_of(run_id, graph.id) + turn - graph.turn - 1
            axis = tripped_by_turn(purse.limits, played) or tripped_by_time(purse, self._clock.now())
            if axis is not None:
                event = await self.runs.over_budget(run_id, graph, BudgetExceeded(axis))
                return Advanced("end", graph.id, turn, event)  # What the others may do is asked again.
        graph_now = self._ledger.world.graphs.get(graph.id)
        if graph_now is not None and graph_now.turn < turn:
            if not self._ledger.writer.takes_more:
                await self._ledger.wait_for_room()
            if self._ledger.refolds != refolds:
                return Advanced("act", graph.id, graph.turn)
            shown = shown_at(folded.world, folded.runs, graph_now, turn) if has_beats else ()
            full = folded.agenda.runs_left_over(folded.world, graph_now)
            queued = self._ledger.stage(StartTurn(graph.id, turn, shown, full))
            if queued is not None:
                steps = self.graphs[graph.id]
                steps.turn = queued.events[0]
                steps.turn_queued = queued
        return None

    # Acts

    async def _play_act(self, graph: GraphState, due: Due) -> Advanced:
        """Play one act: think and write it. If something else must happen first, do that and return."""
        graph_id = graph.id
        steps = self.graphs[graph_id]
        act = (due.creature, due.cause)
        run_id = self._ledger.world.creatures[due.creature].run_id or ""
        in_flight = self._in_flight
        if (in_flight.taken or self.runs.finishing) and self._is_in_the_way(run_id, act):
            await self._wait_for_what_is_in_the_way(run_id, act)
            return Advanced("act", graph_id, graph.turn)  # What is due now is asked again.
        if run_id not in self._ledger.folded.runs.purses:
            await self.runs.new_purse(run_id, graph)
            return Advanced("act", graph_id, graph.turn)  # The beginning of a run is a step of its own.
        if (steps.last_act or steps.turn_queued) and not await self._may_begin_now(graph, steps, due):
            return Advanced("act", graph_id, graph.turn)  # Something changed meanwhile: look again.
        is_with_its_batch = act in in_flight.ahead and steps.looked_at == self._ledger.moved_at
        before = steps.turn_queued or steps.last_act
        queued = None
        record = in_flight.take(act, run_id)
        try:
            if not steps.is_driven or (due.is_together and not is_with_its_batch):
                steps.is_driven = True
                await self._ahead.begin(graph, partial(self._may_begin, act), is_new=due.is_together)
                due = self._ahead.still_due(due) or due
            if record.task is not None and record.gate is not None:
                record.gate.set()
                result = await record.task
            else:
                result = await self._acts.think(record, due, await self._causes.of(due), None)
            if result is None or result.end is None:
                in_flight.stop(record)
            else:
                queued = await self._acts.write(record, result.end, before)
        except BaseException:
            in_flight.interrupt(record)
            raise
        if queued is None:
            await steps.wait_for_durability(self._ledger)
        else:
            self._note_written(queued)
        event = None if queued is None else queued.events[0]
        if result is None or result.stopped_by is None:
            return Advanced("act", graph_id, graph.turn, event)  # Nothing stopped it.
        # The limit that stopped it may have ended its run: that is what this step was then.
        ended = await self.runs.stopped(graph, record, result.stopped_by)
        return Advanced("act" if ended is None else "end", graph_id, graph.turn, ended or event)

    async def _may_begin_now(self, graph: GraphState, steps: GraphSteps, due: Due) -> bool:
        """Wait for what must be durable before an act begins. False if something changed meanwhile.

        An act that has begun already waits for nothing, and the first of a turn does not wait for that turn; but whoever may
        use tools always waits, and so does the first act of a batch.
        """
        act = (due.creature, due.cause)
        is_begun = act in self._in_flight.ahead
        creature = self._ledger.world.creatures[due.creature]
        must_wait = (
            not steps.is_driven or self._acts.may_use_tools(creature) or (due.is_together and not is_begun)
        )
        if is_begun and not must_wait:
            return (
                True  # It sees the past at the start of its batch, whatever is written before it (ADR 0078).
            )
        await steps.wait_for_durability(self._ledger, with_turn=must_wait)
        is_still_next = (
            self._ledger.world.graphs.get(graph.id) is graph and self.agendas.of(graph.id).due == due
        )
        return is_still_next and not self._is_in_the_way(run_drawn_on(self._ledger.world, due.creature), act)

    def _note_written(self, queued: Queued) -> None:
        """Remember that an act is on its way, in the graph in which it was written: a tool may have moved its creature."""
        event = queued.events[0]
        steps = self.graphs[event.graph_id]
        steps.last_act = queued
        steps.turn_queued = (
            None  # Commits keep their order: once the act is durable, the turn before it is, too.
        )
        if self._ledger.folded.runs.watched:
            self._endings.note(event)

    def _may_begin(self, taken: Act, act: Act) -> bool:
        """Whether an act may begin together with the one that a drive has taken: it has not begun yet, nothing is in its
        way, and it does not wait for an agent."""
        if act == taken:
            is_free = self._in_flight.taken[act].task is None
        else:
            run_id = run_drawn_on(self._ledger.world, act[0])
            is_free = act not in self._in_flight.ahead and not self._is_in_the_way(run_id, act)
        return is_free and not self.agendas.waits(act[0])

    def _is_in_the_way(self, run_id: str, act: Act) -> bool:
        """Whether an act must wait: its run is being finished, or its creature is playing an act already."""
        return run_id in self.runs.finishing or self._in_flight.played_by(act[0]) is not None

    async def _wait_for_what_is_in_the_way(self, run_id: str, act: Act) -> None:
        finishing = self.runs.finishing.get(run_id)
        playing = self._in_flight.played_by(act[0])
        if finishing is not None:
            await asyncio.wait([finishing])
        elif playing is not None:
            await self._in_flight.until_ended(playing)

    async def act_again(self, due: Due) -> None:
        """Play a recorded act, whatever is due next. The replay decides when it looks and when it writes."""
        graph = self._ledger.world.graphs[self._ledger.world.creatures[due.creature].graph_id]
        if not self._warm_lines.is_ready(graph):
            await self._warm_lines.make_ready(graph)
        # Without a run: the record says when a run finishes, and nothing waits for an act that did not end in it.
        record = self._in_flight.take((due.creature, due.cause), "")
        try:
            result = await self._acts.think(record, due, await self._causes.of(due), None)
            if result is not None:
                await self._answers.before_commit()
            if result is None or result.end is None:
                self._in_flight.stop(record)
                return  # Nobody owes the act in this replay, or it did not end in the record.
            queued = await self._acts.write(record, result.end)
        except BaseException:
            self._in_flight.interrupt(record)
            raise
        if queued is not None:
            self._endings.note(queued.events[0])

    # Letting go

    async def close(self) -> None:
        """Cancel what still thinks ahead, which stays due. Write what was thought ahead, and what has cost something and no
        event tells yet."""
        await self._ahead.close()
        if self._ledger.writer.ended is not None or self.leaves_acts_due:
            return  # Nothing more is written. The acts are due for whoever plays the store then.
        for record in [*self._in_flight.ahead.values()]:
            if record.result is not None:
                await self.runs.give_up(record)
        for record in [*self._in_flight.kept.values()]:
            if record.kept is not None and _must_be_told(record.state, record.kept.calls):
                await self.runs.give_up(record)

    def _let_go(self, run_id: str) -> None:
        """Drop what is kept in memory for the acts of a run that has finished, and for its graphs if all their runs have.
        Whatever drives such a graph again loads it again, as after reopening (ADR 0105)."""
        world = self._ledger.world
        self._endings.let_go(run_id)
        self._answers.let_go(run_id)
        for graph in world.graphs_of(run_id).values():
            if all(map(world.is_finished, members_of(world, graph).runs)):
                self.let_go_graph(graph)
        if not self.drives:
            self.graphs.tidy(world.graphs)

    def let_go_graph(self, graph: GraphState) -> None:
        """Drop what is kept in memory for the acts of a graph in which nobody is acting."""
        self._acts.let_go(graph)
        self._minds.let_go(graph.creatures)
        self.graphs.let_go(graph.id)


def _must_be_told(state: State, calls: Sequence[Call]) -> bool:
    """Whether an act whose calls are kept ends when the house closes: a model answered it, or a limit or an outage stopped it
    after it had reached one. A call that was only cut off leaves the act due."""
    return any(call.error == INTERRUPTED for call in calls) or (
        state == "stopped" and has_reached_a_model(calls)
    )
