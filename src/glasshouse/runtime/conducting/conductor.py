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

The state kept here concerns tasks of this process. A restart after a crash does not need it: which acts are running,
which acts were begun ahead (`ahead`), what is not durable yet, and which runs are being finished. A run is finished
only when none of its creatures is thinking any more: `_finishing` keeps its new acts from beginning, and its acts
under way are written first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from glasshouse.errors import BudgetExceeded, EngineFault, StoreError
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import (
    FinishReason,
    Governor,
    RunPaused,
    RunStarted,
    axes_given,
    rules_now,
    settled,
)
from glasshouse.runtime.acts.act import ActResult, Acts, Stop
from glasshouse.runtime.acts.recorded_answers import RecordedAnswers
from glasshouse.runtime.acts.routes import Routes
from glasshouse.runtime.acts.warm_lines import WarmLines
from glasshouse.runtime.conducting.ahead import Act, Causes, ThinkingAhead, run_drawn_on
from glasshouse.runtime.conducting.endings import Ending, Endings, accounts_of, last_graph
from glasshouse.runtime.conducting.order import (
    Advanced,
    Agendas,
    Conducted,
    DriveProgress,
    Lockstep,
    Waiting,
    empty_steps_max,
)
from glasshouse.runtime.ledger.history import EventById
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.writer import Queued
from glasshouse.runtime.minds.minds import Minds
from glasshouse.runtime.ports import Clock
from glasshouse.turns.runs.agenda import members_of
from glasshouse.turns.runs.purses import Purse, tripped_by_time, tripped_by_turn
from glasshouse.turns.runs.schedule import Due, shown_at
from glasshouse.world.decisions.intents import BeginRun, MoveRun, StartTurn
from glasshouse.world.decisions.requests import Asker
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
        self._clock = clock
        self._endings = endings
        self._governor = governor
        self._policy = policy
        self._warm_lines = warm_lines
        self._answers = answers
        self._routes = routes
        self._minds = minds
        self._causes = Causes(ledger, event)
        self.ahead = ThinkingAhead(ledger, acts, self._causes)
        self.drives = 0
        """How many drives are under way."""
        self._locks: dict[str, asyncio.Lock] = {}
        """One lock for each driven graph, held during a step of that graph. Locks are fair: drives take turns."""
        self._acting: dict[Act, str] = {}
        """The acts that are being played, each with the run that pays for it. No other drive plays them, and their runs
        are not finished before they are written."""
        self._act_ends: dict[Act, asyncio.Future[None]] = {}
        """The acts whose end another drive waits for."""
        self._driven: set[str] = set()
        """The graphs in which an act was played since this house was opened."""
        self._quiet = asyncio.Event()
        self._unacknowledged: dict[str, Queued] = {}
        """The last act written in each graph, until it is known to be durable."""
        self._turns_queued: dict[str, Queued] = {}
        """The last `turn.started` of each graph, until it is known to be durable."""
        self._finishing: dict[str, asyncio.Future[Event | None]] = {}

    # The loop

    async def conduct(
        self, order: Lockstep, progress: DriveProgress, before_act: BeforeAct | None = None
    ) -> Conducted:
        """Drive graphs in this order until `progress` is reached or nothing is due. On return, all it wrote is durable."""
        await self._make_ready()
        waiting: tuple[Waiting, ...] = ()
        step = partial(self._step, order, progress, before_act)
        self.drives += 1
        try:
            while (because := progress.reached()) is None:
                await order.let_in()
                graph_id = order.next_graph(progress)
                if graph_id is not None:
                    await order.play(graph_id, progress, step)
                elif not await order.wait_for_others() and not await self._finish_an_idle_run(
                    order, progress
                ):
                    waiting = order.waiting()
                    because = "waiting" if waiting else progress.because_nobody_is_next
                    break
            progress.shut_gates()
            order.end()
            while await order.wait_for_others():
                pass  # Let the steps that are under way end.
        finally:
            self.drives -= 1
            await order.close()
            if not self.drives:
                self._locks.clear()
        await self._settle(progress)
        return progress.conducted(because, waiting)

    async def _settle(self, progress: DriveProgress) -> None:
        """Wait until the last writes in every graph of a drive are durable."""
        for graph_id in tuple(progress.played):
            await self._wait_for_durability(graph_id)

    async def _make_ready(self) -> None:
        """Load the lines of runs that may end by themselves: a referee may find that an interrupted run is over."""
        watched = self._ledger.folded.runs.watched
        for graph_id in tuple(self._ledger.world.graphs_of(*watched)) if watched else ():
            graph = self._ledger.world.graphs.get(graph_id)
            if graph is not None and not self._warm_lines.is_ready(graph):
                await self._warm_lines.make_ready(graph)

    async def _step(
        self, order: Lockstep, progress: DriveProgress, before_act: BeforeAct | None, graph_id: str
    ) -> bool:
        """Take the next step of a graph. False if it took none, because the drive is held or another drive was faster."""
        if before_act is not None and graph_id not in progress.turns_just_begun:
            await self._settle(progress)  # At the gate, readers find everything in the ledger.
            if not await progress.has_passed(before_act(graph_id)):
                return False
        may_wait = before_act is not None or self.drives > 1
        lock = self._locks.get(graph_id) or self._locks.setdefault(graph_id, asyncio.Lock())
        await lock.acquire()
        try:
            if may_wait and not order.is_next(graph_id, progress):
                return False
            step = await self.advance(graph_id)
        except StoreError:  # Report it here, and not again to the next drive of this graph.
            self._turns_queued.pop(graph_id, None)
            self._unacknowledged.pop(graph_id, None)
            raise
        finally:
            lock.release()
        progress.note(step)
        if progress.is_stuck_in(graph_id):
            raise EngineFault(self._state_of_stuck(graph_id))
        return True

    def _state_of_stuck(self, graph_id: str) -> str:
        """What a report needs about a graph whose steps lead nowhere."""
        folded, ahead = self._ledger.folded, self.agendas.of(graph_id)
        graph = folded.world.graphs.get(graph_id)
        clocks = folded.runs.clocks.get(graph_id)
        runs = () if graph is None else members_of(folded.world, graph).runs
        limits = {run_id: purse.limits for run_id in runs if (purse := folded.runs.purses.get(run_id))}
        return (
            f"Graph {graph_id} took {empty_steps_max:,} steps that wrote nothing. This is a fault of the engine: please"
            f" report it with this state. Turn {graph and graph.turn}, next turn {ahead.turn}, next act {ahead.due}; acts"
            f" under way {list(self._acting)}, begun ahead {list(self.ahead.begun)}, runs that end"
            f" {list(self._finishing)}, drives {self.drives}; calls in this turn {clocks and clocks.calls}, limits"
            f" {limits}."
        )

    async def advance(self, graph_id: str) -> Advanced:
        """Take one step of a graph: finish a run that is over, or play one act. If the act is in the next turn, begin that
        turn first; the step is then the act, or the turn alone if no act is due in it."""
        for act, run_id in self.ahead.of_the_gone() if self.ahead.begun else ():
            await self._written_for_good(act, run_id)
        graph = self._ledger.world.graphs.get(graph_id)
        while graph is not None and not self._warm_lines.is_ready(graph):
            await self._warm_lines.make_ready(graph)
            graph = self._ledger.world.graphs.get(graph_id)
        if graph is None:
            return Advanced("act", graph_id, 0)
        for run_id in self._endings.due(graph) if self._ledger.folded.runs.watched else ():
            ending = self._endings.of(run_id)
            if ending is not None:
                event = await self.finish(run_id, ending.reason, ending=ending)
                return Advanced("end", graph_id, graph.turn, event)
        ahead = self.agendas.of(graph_id)
        turn = ahead.turn if ahead.due is None else None
        if turn is not None:
            ended = await self.begin_turn(graph, turn)
            if ended is not None:
                return ended
            if self._ledger.world.graphs.get(graph_id) is graph:
                ahead = self.agendas.of(graph_id)
        if ahead.due is None or graph_id in self.agendas.waiting:
            return Advanced("act", graph_id, graph.turn) if turn is None else Advanced("turn", graph_id, turn)
        return await self._play_act(graph, ahead.due)

    async def _finish_an_idle_run(self, order: Lockstep, progress: DriveProgress) -> bool:
        """End a run in which nothing is due any more; False if there is none. Runs without a scenario do not end this
        way."""
        if progress.has_used_up_turns:
            return False
        for run_id in order.runs():
            run, purse = self._ledger.world.runs.get(run_id), self._ledger.folded.runs.purses.get(run_id)
            is_playing = run is not None and run.status == "playing"
            if is_playing and purse is not None and purse.scenario_digest and self.agendas.is_idle(run_id):
                event = await self.finish(run_id, "ended")
                progress.note(Advanced("end", "" if event is None else event.graph_id, 0, event))
                return True
        return False

    async def begin_turn(self, graph: GraphState, turn: int) -> Advanced | None:
        """Begin a turn, or end a run whose limits do not allow another one: the step that this was."""
        folded, has_beats = self._ledger.folded, False
        for run_id in members_of(self._ledger.world, graph).runs_acting:
            purse = folded.runs.purses.get(run_id) or await self._new_purse(run_id, graph)
            has_beats = has_beats or bool(purse.playbill.beats)
            played = folded.runs.turns_of(run_id, graph.id) + turn - graph.turn - 1
            axis = tripped_by_turn(purse.limits, played) or tripped_by_time(purse, self._clock.now())
            if axis is not None:
                event = await self._over_budget(run_id, graph, BudgetExceeded(axis))
                return Advanced("end", graph.id, turn, event)
        graph_now = self._ledger.world.graphs.get(graph.id)
        if graph_now is not None and graph_now.turn < turn:
            shown = shown_at(folded.world, folded.runs, graph_now, turn) if has_beats else ()
            if not self._ledger.writer.takes_more:
                await self._ledger.wait_for_room()
            full = folded.agenda.runs_left_over(folded.world, graph_now)
            queued = self._ledger.stage(StartTurn(graph.id, turn, shown, full))
            if queued is not None:
                self._causes.note_turn(queued.events[0])
                self._turns_queued[graph.id] = queued
        return None

    async def _new_purse(self, run_id: str, graph: GraphState) -> Purse:
        """Begin a run without a scenario, when it is first driven, with the terrarium's limits (ADR 0029)."""
        run = self._ledger.world.runs.get(run_id)
        creatures = 0 if run is None else run.creatures_living
        given = axes_given(self._governor, Governor())
        limits = settled(self._governor, creatures)
        started = RunStarted(limits=limits, limits_given=given, policy=self._policy, rules=rules_now)
        self._routes.check_prices_in(run_id, self._governor)
        await self._ledger.change(BeginRun(run_id, graph.id, started))
        return self._ledger.folded.runs.purses[run_id]

    # Acts

    async def _play_act(self, graph: GraphState, due: Due) -> Advanced:
        """Play one act: think and write it. If something else must happen first, do that and return."""
        graph_id, act = graph.id, (due.creature, due.cause)
        run_id = run_drawn_on(self._ledger.world, due.creature)
        if (self._acting or self._finishing) and self._is_in_the_way(run_id, act):
            await self._wait_for_what_is_in_the_way(run_id, act)
            return Advanced("act", graph_id, graph.turn)
        if run_id not in self._ledger.folded.runs.purses:
            await self._new_purse(run_id, graph)
            return Advanced("act", graph_id, graph.turn)
        is_first, is_begun = graph_id not in self._driven, act in self.ahead.begun
        must_wait = is_first or self._acts.may_use_tools(due.creature) or (due.is_together and not is_begun)
        if must_wait or (graph_id in self._unacknowledged and not is_begun):
            if must_wait and graph_id in self._turns_queued:
                await self._wait_for(self._turns_queued.pop(graph_id))
            if graph_id in self._unacknowledged:
                await self._wait_for(self._unacknowledged.pop(graph_id))
            is_still_next = (
                self._ledger.world.graphs.get(graph_id) is graph and self.agendas.of(graph_id).due == due
            )
            if not is_still_next or self._is_in_the_way(run_id, act):
                return Advanced("act", graph_id, graph.turn)  # Something changed meanwhile: look again.
        result, queued = await self._acted(graph, due, act, run_id, is_first=is_first)
        done = Advanced("act", graph_id, graph.turn, None if queued is None else queued.events[0])
        if result is None or result.stopped_by is None:
            return done
        return await self._stopped(graph, run_id, result, result.stopped_by) or done

    async def act_again(self, due: Due) -> None:
        """Play a recorded act, whatever is due next. The replay decides when it looks and when it writes."""
        graph = self._ledger.world.graphs[self._ledger.world.creatures[due.creature].graph_id]
        if not self._warm_lines.is_ready(graph):
            await self._warm_lines.make_ready(graph)
        result = await self._acts.think(due, await self._causes.of(due), None)
        if result is not None:
            await self._answers.before_commit()
            queued = await self._acts.write(result)
            if queued is not None:
                self._endings.note(queued.events[0])

    async def _stopped(
        self, graph: GraphState, run_id: str, result: ActResult, stopped_by: Stop
    ) -> Advanced | None:
        """End the run of an act that a limit stopped, if its limits say so: the step that this was. If no model was
        reached, pause the run."""
        if isinstance(stopped_by, BudgetExceeded):
            event = await self._over_budget(run_id, graph, stopped_by)
            return None if event is None else Advanced("end", graph.id, graph.turn, event)
        paused = RunPaused(str(stopped_by), is_outage=True, backend=stopped_by.backend)
        await self._pause(run_id, graph, paused, "outage", result)
        return None

    async def _acted(
        self, graph: GraphState, due: Due | None, act: Act, run_id: str, *, is_first: bool
    ) -> tuple[ActResult | None, Queued | None]:
        """Think and write an act, marked so that no other drive plays it."""
        before = self._turns_queued.pop(graph.id, None) or self._unacknowledged.get(graph.id)
        is_together = due is not None and due.is_together
        self._acting[act] = run_id
        try:
            stopped = self.ahead.take_stopped(act) if is_together else None
            if stopped is not None:
                await self._acts.write(stopped)
            if is_first or (is_together and not self.ahead.is_under_way(graph, act)):
                self._driven.add(graph.id)
                await self.ahead.begin(graph, partial(self._is_taken, act), is_new=is_together)
                due = None if due is None else self.ahead.still_due(due) or due
            result, queued = await self._written(act, due, before)
            if queued is not None:
                self._unacknowledged[queued.events[0].graph_id] = queued
            elif before is not None:
                await self._wait_for(before)
            return result, queued
        except BaseException:
            if before is not None and not before.acknowledged.done():
                self._turns_queued.setdefault(graph.id, before)
            raise
        finally:
            self._end_act(act)

    def _end_act(self, act: Act) -> None:
        del self._acting[act]
        if self._finishing:
            self._quiet.set()
        if act in self._act_ends:
            self._act_ends.pop(act).set_result(None)

    def _is_taken(self, act: Act, other: Act) -> bool:
        """Whether an act must not be begun together with this one: it is being played, its run is being finished, or it
        waits for an agent."""
        if other != act and self._is_in_the_way(run_drawn_on(self._ledger.world, other[0]), other):
            return True
        return self.agendas.waits(other[0])

    def _is_in_the_way(self, run_id: str, act: Act) -> bool:
        """Whether an act must wait: its run is being finished, or its creature is playing an act already."""
        return run_id in self._finishing or self._act_of(act[0]) is not None

    def _act_of(self, creature_id: str) -> Act | None:
        """The act that a creature is playing. It plays one at a time: after a merge, another drive may find it due for
        something else."""
        return next((act for act in self._acting if act[0] == creature_id), None)

    async def _wait_for_what_is_in_the_way(self, run_id: str, act: Act) -> None:
        finishing = self._finishing.get(run_id)
        if finishing is not None:
            await asyncio.wait([finishing])
            return
        playing = self._act_of(act[0])
        if playing is not None:
            await self._wait_for_end_of(playing)

    async def _wait_for_end_of(self, act: Act) -> None:
        """Wait for an act that is being played."""
        if act not in self._act_ends:
            self._act_ends[act] = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._act_ends[act]])

    async def _wait_for_an_act_in(self, run_id: str, graph_id: str) -> None:
        """Wait for an act of a run that another drive is playing and whose calls count in this graph, if there is one: its
        creature came here in a merge or a split, or was removed, while it was thinking."""
        creatures = self._ledger.world.creatures
        for act in [act for act, drawn_on in self._acting.items() if drawn_on == run_id]:
            creature = creatures.get(act[0])
            if creature is None or creature.graph_id == graph_id:
                await self._wait_for_end_of(act)
                return

    async def _written(
        self, act: Act, due: Due | None = None, before: Queued | None = None, *, is_for_good: bool = False
    ) -> tuple[ActResult | None, Queued | None]:
        """The result of an act, begun ahead or now, and the events written for it; None if its creature was removed.

        `before` is what was written before it, if its commit is still under way. If that fails, the act is not written.
        With `is_for_good`, an act that was stopped is not thought again.
        """
        try:
            ahead, result = self.ahead.begun.get(act), None
            if ahead is not None:
                result = await self.ahead.thought_of(act)
            elif due is not None:
                result = await self._acts.think(due, await self._causes.of(due), None)
            if result is None:
                return None, None
            if ahead is not None and before is not None and _has_failed(before):
                self.ahead.begun[act] = ahead  # It has been thought: the next drive writes it.
                await before.acknowledged
            result = self._acts.given_up(result) if is_for_good else result
            queued = await self._acts.write(result, before)
            if queued is not None and self._ledger.folded.runs.watched:
                self._endings.note(queued.events[0])
            return result, queued
        except StoreError:
            self._endings.forget()  # Lines that referees have seen may not be in the ledger.
            raise

    async def _wait_for_durability(self, graph_id: str) -> None:
        """Wait until the last turn and the last act written in a graph are durable."""
        for last in (self._turns_queued.pop(graph_id, None), self._unacknowledged.pop(graph_id, None)):
            if last is not None:
                await self._wait_for(last)

    async def _wait_for(self, queued: Queued) -> None:
        try:
            await queued.acknowledged
        except StoreError:
            self._endings.forget()  # Lines that referees have seen may not be in the ledger.
            raise

    async def _over_budget(self, run_id: str, graph: GraphState, limit: BudgetExceeded) -> Event | None:
        """End or pause a run that reached a limit; the `run.finished`, if it ended."""
        purse, axis = self._ledger.folded.runs.purses[run_id], limit.reason
        if axis == "max_calls_per_turn" and purse.limits.on_turn_limit == "defer":
            # Acts that are not written yet may fill the turn: those that were begun ahead, or another drive's.
            if not await self._write_ahead(run_id, graph):
                await self._wait_for_an_act_in(run_id, graph.id)
            return None
        if purse.limits.on_budget != "pause":
            return await self.finish(run_id, "budget", axis=axis)
        frees_at, reason = limit.frees_at, str(limit)
        if frees_at is not None:
            reason = (
                f"The run reached its limit {axis}. It can continue from {frees_at:%Y-%m-%d %H:%M} UTC on."
            )
        await self._pause(run_id, graph, RunPaused(reason, axis=axis, frees_at=frees_at), "limit")
        return None

    async def _pause(
        self, run_id: str, graph: GraphState, paused: RunPaused, by: Asker, stopped: ActResult | None = None
    ) -> None:
        """Pause a run, unless it is paused already or has ended. The attempts of the act that was stopped are recorded."""
        if self._ledger.world.runs[run_id].status != "playing":
            if stopped is not None and stopped.end is None:  # An act that has an end has been written.
                queued = await self._acts.write(self._acts.given_up(stopped))
                if queued is not None:
                    await queued.acknowledged
            return
        if stopped is None or stopped.attempts is None:
            await self._ledger.change(MoveRun(run_id, paused, graph.id), by=by)
            return
        move = MoveRun(run_id, paused, graph.id, stopped.attempts)
        # Forgotten with the decision, because this drive may be cancelled while the change becomes durable.
        await self._ledger.change(
            move,
            lambda _run_id: self._acts.forget_attempts(stopped),
            side=stopped.context.act_calls.side_writes,
            by=by,
        )

    async def close(self) -> None:
        """Write what was thought ahead and has cost something, and cancel the rest, which stays due."""
        for act, ahead in [*self.ahead.begun.items()]:
            task = ahead.task
            if task.done() and not task.cancelled() and task.exception() is None:
                await self._written_for_good(act, ahead.run_id)
        await self.ahead.close()

    # Runs

    async def finish(
        self,
        run_id: str,
        reason: FinishReason,
        *,
        axis: str | None = None,
        ending: Ending | None = None,
        by: Asker | None = None,
    ) -> Event | None:
        """End a run once none of its creatures is thinking any more; the `run.finished`, or None if it was over
        already."""
        under_way = self._finishing.get(run_id)
        if under_way is not None:
            return await asyncio.shield(under_way)  # A cancelled caller must not cancel it for the others.
        done = self._finishing[run_id] = asyncio.get_running_loop().create_future()
        try:
            await self._wait_for_acts_of(run_id)
            ending = ending or self._endings.at_the_end(run_id, reason)
            payload = accounts_of(self._ledger.folded, run_id, ending, axis)
            receipt = await self._ledger.change(
                MoveRun(run_id, payload, last_graph(self._ledger.world, run_id)), by=by
            )
            event = receipt.events[0] if receipt.events else None
            self._let_go(run_id)
            done.set_result(event)
        except BaseException as wrong:
            done.set_exception(wrong)
            done.exception()  # Marks it as retrieved: asyncio would log it if nobody else waits for it.
            raise
        finally:
            del self._finishing[run_id]
        return event

    def _let_go(self, run_id: str) -> None:
        """Drop what is kept in memory for the acts of a run that has finished, and for its graphs if all their runs have.
        Whatever drives such a graph again loads it again, as after reopening (ADR 0105)."""
        world = self._ledger.world
        self._endings.let_go(run_id)
        self._answers.let_go(run_id)
        for graph in world.graphs_of(run_id).values():
            if all(map(world.is_finished, members_of(world, graph).runs)):
                self.let_go_graph(graph)

    def let_go_graph(self, graph: GraphState) -> None:
        """Drop what is kept in memory for the acts of a graph in which nobody is acting."""
        self._acts.let_go(graph)
        self._minds.let_go(graph.creatures)
        self._causes.let_go(graph.id)
        self.ahead.let_go(graph.id)
        self._driven.discard(graph.id)

    async def _wait_for_acts_of(self, run_id: str) -> None:
        """Write the run's acts that were begun ahead, in order, and wait for its acts in other graphs."""
        while await self._write_ahead(run_id) or run_id in self._acting.values():
            if run_id in self._acting.values():
                self._quiet.clear()
                await self._quiet.wait()

    async def _write_ahead(self, run_id: str, graph: GraphState | None = None) -> bool:
        """Write a run's acts that were begun ahead and that no drive is playing, in this graph or in all. False if
        none."""
        acts = [act for act in self.ahead.of_run(run_id, graph) if act not in self._acting]
        for act in acts:
            await self._written_for_good(act, run_id)
        return bool(acts)

    async def _written_for_good(self, act: Act, run_id: str) -> None:
        """Write an act that was begun ahead, unless a drive is playing it or has written it meanwhile."""
        if act in self._acting or act not in self.ahead.begun:
            return
        self._acting[act] = run_id
        try:
            _, queued = await self._written(act, is_for_good=True)
        finally:
            self._end_act(act)
        if queued is not None:
            await queued.acknowledged


def _has_failed(queued: Queued) -> bool:
    return queued.acknowledged.done() and queued.acknowledged.exception() is not None
