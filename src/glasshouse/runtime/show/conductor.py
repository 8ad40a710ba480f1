"""The conductor: drives graphs turn by turn. One scheduler for every way of driving: an act, some turns, to the end.

Theory of operation. Whose act is next is asked anew before every act, of pure functions over the folds
(`turns.schedule`); the conductor remembers nothing that the ledger does not tell, so a show that was cut off goes on
where it was, and a merge or a split needs no word here: the next question is simply answered otherwise.

Ticks that go together are the one thing begun ahead (`thinking_ahead`); they are written in the order of the cast. A run
is finished when nobody of it is thinking any more: `_finishing` keeps new acts of it from beginning, and what is under
way is written first.

Many graphs: in lockstep the graph whose next turn has the lowest number goes first, then the oldest; `free` gives each
graph a task of its own.
"""

from __future__ import annotations

import asyncio
from typing import Final, Literal

from glasshouse.errors import BudgetExceeded, ModelUnreachable, Refused, StoreError
from glasshouse.events.event import Event
from glasshouse.events.run_payloads import FinishReason, RunPaused, RunStarted
from glasshouse.runtime.acts.act import Acts, Record, Thought
from glasshouse.runtime.acts.warming import Warming
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.reading import EventById
from glasshouse.runtime.ledger.receipts import Queued
from glasshouse.runtime.ports import Clock
from glasshouse.runtime.show.accounts import accounts_of, last_graph
from glasshouse.runtime.show.causes import Causes
from glasshouse.runtime.show.endings import Ending, Endings
from glasshouse.runtime.show.thinking_ahead import Act, ThinkingAhead, run_drawn_on
from glasshouse.turns.governor import Governor, tripped_by_time, tripped_by_turn
from glasshouse.turns.runs import Purse
from glasshouse.turns.schedule import Due, next_act, next_turn, runs_acting, shown_at
from glasshouse.world.intents import BeginRun, MoveRun, StartTurn
from glasshouse.world.requests import Asker
from glasshouse.world.state import GraphState

Pacing = Literal["lockstep", "free"]
acts_in_a_turn_max: Final = 100_000
"""However a run's limits are set, a turn has an end."""


class Conductor:
    """Gives the creatures of every graph their turns."""

    def __init__(
        self,
        ledger: Ledger,
        acts: Acts,
        clock: Clock,
        endings: Endings,
        event: EventById,
        governor: Governor,
        warming: Warming,
        record: Record | None = None,
    ) -> None:
        self._ledger = ledger
        self._acts = acts
        self._clock = clock
        self._endings = endings
        self._governor = governor
        self._warming = warming
        self._record = record
        self._causes = Causes(ledger, event)
        self._ahead = ThinkingAhead(ledger, acts, self._causes)
        self._acting: dict[Act, asyncio.Future[None] | None] = {}
        """The acts that somebody is at; with a future where another one waits for the end of it."""
        self._driven: set[str] = set()
        """The graphs that somebody has acted in since this house was opened."""
        self._thinking: dict[str, int] = {}
        self._quiet = asyncio.Event()
        self._unacknowledged: dict[str, Queued] = {}
        """The last thing written for each graph, until it is known to be durable."""
        self._finishing: dict[str, asyncio.Future[Event | None]] = {}

    # Whose turn

    async def make_ready(self) -> None:
        """Let referees of runs that were cut off hear again what was said, so that an end that has come is seen."""
        world, runs = self._ledger.world, self._ledger.folded.runs
        if runs.watched:
            places = {c.graph_id: None for c in world.creatures.values() if c.run_id in runs.watched}
            for graph in [world.graphs[graph_id] for graph_id in places]:
                if not self._warming.is_ready(graph):
                    await self._warming.make_ready(graph)

    def turn_ahead(self, graph: GraphState) -> int | None:
        """The number of the turn that this graph has something to do in: the present one, or a later one."""
        folded = self._ledger.folded
        if any(self._endings.of(run_id) is not None for run_id in self._endings.due(graph)):
            return 0  # A run that is over ends before anybody has a turn.
        if next_act(folded.world, folded.agenda, graph, folded.runs) is not None:
            return graph.turn
        return next_turn(folded.world, folded.agenda, folded.runs, graph)

    async def play_act(self, graph_id: str) -> Event | None:
        """One act of a graph, beginning its next turn if need be; the event it ended in, or that ended its run."""
        for _ in range(acts_in_a_turn_max):
            graph = self._ledger.world.graphs.get(graph_id)
            if graph is None:
                return None
            if not self._warming.is_ready(graph):
                await self._warming.make_ready(graph)
                continue
            finished = await self._finish_what_is_over(graph)
            if finished is not None:
                return finished
            if self._record is not None and not await self._record.is_turn_of(graph_id):
                return None
            if self._ledger.world.graphs.get(graph_id) is not graph:
                continue
            due = self._next_act(graph)
            if due is not None:
                told = await self._perform(graph, due)
                if told is not None:
                    for name in {graph_id: None, told.graph_id: None}:  # It may have moved in its act.
                        await self._wait_for_durability(name)
                    return told
            else:
                begun = await self._begin_turn(graph)
                if begun is not True:
                    return begun or None
        raise Refused(f"Graph {graph_id} did not come to an end of its turn.", "Lower max_calls_per_turn.")

    async def play_turn(self, graph_id: str, turn: int | None = None) -> bool:
        """What is left of a graph's present turn; if nothing is, its next turn, whole. False if nothing is due.

        Whoever has just asked `turn_ahead` gives the turn it told, so that nothing is looked for twice. The end of the
        last act may be on its way still when this returns: `settle` waits for it.
        """
        has_begun = False
        graph = self._ledger.world.graphs.get(graph_id)
        if graph is not None and turn is not None and turn > graph.turn:
            has_begun = bool(await self._begin_turn(graph, turn))
        for _ in range(acts_in_a_turn_max):
            graph = self._ledger.world.graphs.get(graph_id)
            if graph is None:
                return has_begun
            if not self._warming.is_ready(graph):
                await self._warming.make_ready(graph)
                continue
            if await self._finish_what_is_over(graph) is not None:
                has_begun = True
                continue
            due = self._next_act(graph)
            if due is not None:
                await self._perform(graph, due)
                has_begun = True
            elif has_begun or not await self._begin_turn(graph):
                return has_begun
            else:
                has_begun = True
        raise Refused(f"Graph {graph_id} did not come to an end of its turn.", "Lower max_calls_per_turn.")

    def _next_act(self, graph: GraphState) -> Due | None:
        folded = self._ledger.folded
        return next_act(folded.world, folded.agenda, graph, folded.runs)

    async def _begin_turn(self, graph: GraphState, turn: int | None = None) -> Event | bool:
        """Start the next turn in which anything is due. False if none ever is; the end of a run if that came instead."""
        folded = self._ledger.folded
        if turn is None:
            turn = next_turn(folded.world, folded.agenda, folded.runs, graph)
        if turn is None:
            return False
        for run_id in runs_acting(self._ledger.world, graph):
            purse = await self._purse(run_id, graph)
            played = folded.runs.turns_of(run_id, graph.id) + turn - graph.turn - 1
            axis = tripped_by_turn(purse.limits, played) or self._out_of_time(run_id, graph, purse)
            if axis is not None:
                return await self.finish(run_id, "budget", axis=axis) or True
        graph_now = self._ledger.world.graphs.get(graph.id)
        if graph_now is not None and graph_now.turn < turn:
            await self._let_others_in()
            shown = shown_at(folded.world, folded.runs, graph_now, turn)
            if not self._ledger.takes_more:
                await self._ledger.wait_for_room()
            queued = self._ledger.stage(StartTurn(graph.id, turn, shown))
            if queued is not None:
                self._causes.note_turn(queued.events[0])
                self._unacknowledged[graph.id] = queued
        return True

    def _out_of_time(self, run_id: str, graph: GraphState, purse: Purse) -> str | None:
        now = self._clock.now()
        return tripped_by_time(purse.limits, self._ledger.folded.runs.spend(run_id, graph.id, now), now)

    async def _purse(self, run_id: str, graph: GraphState) -> Purse:
        """A run's purse. One that was never opened from a scenario begins here, with the terrarium's own limits."""
        purse = self._ledger.folded.runs.purses.get(run_id)
        if purse is None:
            started = RunStarted(limits=self._governor.as_json())
            if self._governor.hourly_budget_usd is not None:
                world = self._ledger.world
                cast = [creature for creature in world.creatures.values() if creature.run_id == run_id]
                self._acts.check_prices(
                    {(str(world.facts_of(one).manifest.get("model_profile", "fast")), None) for one in cast}
                )
            await self._ledger.change(BeginRun(run_id, graph.id, started))
            purse = self._ledger.folded.runs.purses[run_id]
        return purse

    # Acts

    async def _perform(self, graph: GraphState, due: Due) -> Event | None:
        """One act, thought and written; or what came instead of it."""
        run_id, act = run_drawn_on(self._ledger.world, due.creature), (due.creature, due.cause)
        if run_id in self._finishing or act in self._acting:
            await self._wait_for_what_is_in_the_way(run_id, act)
            return None
        if run_id not in self._ledger.folded.runs.purses:
            await self._purse(run_id, graph)
            return None
        if graph.id in self._unacknowledged:
            await self._wait_for_durability(graph.id)
            if self._ledger.world.graphs.get(graph.id) is not graph or self._next_act(graph) != due:
                return None  # Something happened meanwhile: look again.
        self._acting[act] = None
        try:
            if due.is_together:
                stopped = self._ahead.take_stopped(act)
                if stopped is not None:
                    await self._acts.write(stopped)
            if due.is_together or graph.id not in self._driven:
                self._driven.add(graph.id)
                await self._ahead.begin(
                    graph, lambda other: other in self._acting and other != act, is_new=due.is_together
                )
            thought, queued = await self._written(act, run_id, due)
            if queued is not None:
                self._unacknowledged[queued.events[0].graph_id] = queued
        finally:
            ended = self._acting.pop(act)
            if ended is not None:
                ended.set_result(None)
        stopped_by = None if thought is None else thought.stopped_by
        told = None if queued is None else queued.events[0]
        if isinstance(stopped_by, BudgetExceeded):
            return await self._over_budget(run_id, graph, stopped_by.reason) or told
        if isinstance(stopped_by, ModelUnreachable):
            await self.pause(run_id, str(stopped_by), graph.id, by="outage")
        return told

    async def _wait_for_what_is_in_the_way(self, run_id: str, act: Act) -> None:
        finishing = self._finishing.get(run_id)
        if finishing is not None:
            await asyncio.wait([finishing])
            return
        ended = self._acting[act] or asyncio.get_running_loop().create_future()
        self._acting[act] = ended
        await asyncio.wait([ended])

    async def _written(
        self, act: Act, run_id: str, due: Due | None = None
    ) -> tuple[Thought | None, Queued | None]:
        """The thought of an act, begun ahead or now, and what it was written as; none if its creature is gone."""
        self._thinking[run_id] = self._thinking.get(run_id, 0) + 1
        try:
            thought = await self._ahead.thought_of(act, due)
            if thought is None:
                return None, None
            await self._let_others_in()
            queued = await self._acts.write(thought)
            if queued is not None:
                self._endings.note(queued.events[0])
            return thought, queued
        finally:
            self._thinking[run_id] -= 1
            self._quiet.set()

    async def _wait_for_durability(self, graph_id: str) -> None:
        """Wait for what was written for a graph last: nobody thinks about what is not durable."""
        queued = self._unacknowledged.pop(graph_id, None)
        if queued is None:
            return
        try:
            await queued.acknowledged
        except StoreError:
            self._endings.forget()  # What was told may never have been.
            raise

    async def settle(self) -> None:
        """Wait until everything that was written is durable."""
        for graph_id in list(self._unacknowledged):
            await self._wait_for_durability(graph_id)

    async def _let_others_in(self) -> None:
        if self._record is not None:
            await self._record.before_commit()

    async def _over_budget(self, run_id: str, graph: GraphState, axis: str) -> Event | None:
        purse = self._ledger.folded.runs.purses[run_id]
        if axis == "max_calls_per_turn" and purse.playbill.on_turn_limit == "defer":
            await self._write_ahead(run_id, graph)  # What they cost is what fills the turn.
            return None
        return await self.finish(run_id, "budget", axis=axis)

    # Runs

    async def _finish_what_is_over(self, graph: GraphState) -> Event | None:
        """End the runs here whose scenario says that their end has come; tell of acts whose creatures are gone."""
        for act, its_run_id in self._ahead.of_the_gone():
            if act not in self._acting:
                await self._written_for_good(act, its_run_id)
        for run_id in self._endings.due(graph):
            ending = self._endings.of(run_id)
            if ending is not None:
                return await self.finish(run_id, ending.reason, ending=ending)
        return None

    async def finish(
        self,
        run_id: str,
        reason: FinishReason,
        *,
        axis: str | None = None,
        ending: Ending | None = None,
        by: Asker | None = None,
    ) -> Event | None:
        """End a run, once nobody of it is thinking any more: exactly one `run.finished`, and nothing of it after."""
        under_way = self._finishing.get(run_id)
        if under_way is not None:
            return await asyncio.shield(under_way)
        done = self._finishing[run_id] = asyncio.get_running_loop().create_future()
        try:
            await self._settle(run_id)
            await self._let_others_in()
            ending = ending or self._endings.at_the_end(run_id, reason)
            payload = accounts_of(self._ledger.folded, run_id, ending, axis)
            receipt = await self._ledger.change(
                MoveRun(run_id, payload, last_graph(self._ledger.world, run_id)), by=by
            )
            told = receipt.events[0] if receipt.events else None
            done.set_result(told)
        except BaseException as wrong:
            done.set_exception(wrong)
            done.exception()
            raise
        finally:
            del self._finishing[run_id]
        return told

    async def _settle(self, run_id: str) -> None:
        """Write what was begun ahead, in the order of the cast, and wait for acts in other graphs."""
        while await self._write_ahead(run_id) or self._thinking.get(run_id, 0) > 0:
            if self._thinking.get(run_id, 0) > 0:
                self._quiet.clear()
                await self._quiet.wait()

    async def _write_ahead(self, run_id: str, graph: GraphState | None = None) -> bool:
        """Write what a run has begun ahead, here or anywhere, and nobody is at yet. False if there is none."""
        acts = [act for act in self._ahead.of_run(run_id, graph) if act not in self._acting]
        for act in acts:
            await self._written_for_good(act, run_id)
        return bool(acts)

    async def _written_for_good(self, act: Act, run_id: str) -> None:
        _, queued = await self._written(act, run_id)
        if queued is not None:
            await queued.acknowledged

    async def pause(
        self, run_id: str, reason: str, graph_id: str | None = None, *, by: Asker = "api"
    ) -> None:
        """Let nobody of a run begin an act until it goes on."""
        await self._ledger.change(MoveRun(run_id, RunPaused(reason), graph_id), by=by)

    async def close(self) -> None:
        """Let go of what was begun ahead. It is owed still, and will be thought again."""
        await self._ahead.close()
