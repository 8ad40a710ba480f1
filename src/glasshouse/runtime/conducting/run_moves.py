"""What the conductor does with a whole run: begin it, pause it at a limit or an outage, and finish it.

Always holds: a run is finished only when none of its creatures is thinking any more. While it is being finished, none of
its acts begins, those that a drive plays are waited for, and the rest is written for good (`give_up`). Runs that are being
finished are known by their id only, because their acts may be in several graphs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from glasshouse.errors import BudgetExceeded
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import (
    FinishReason,
    Governor,
    RunPaused,
    RunStarted,
    axes_given,
    prompting_now,
    rules_now,
    settled,
)
from glasshouse.runtime.acts.act import Acts
from glasshouse.runtime.acts.in_flight import TABLE, InFlight, Stop, has_reached_a_model
from glasshouse.runtime.acts.routes import Routes
from glasshouse.runtime.conducting.endings import Ending, Endings, accounts_of, last_graph
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.turns.runs.purses import Purse
from glasshouse.world.decisions.intents import BeginRun, MoveRun
from glasshouse.world.decisions.requests import Asker
from glasshouse.world.state.state import GraphState


class RunMoves:
    """Begins, pauses and finishes runs, and writes the acts that are not thought again."""

    def __init__(
        self,
        ledger: Ledger,
        acts: Acts,
        endings: Endings,
        routes: Routes,
        governor: Governor,
        policy: Json | None,
        let_go: Callable[[str], None],
    ) -> None:
        self._ledger = ledger
        self._acts = acts
        self._in_flight = acts.in_flight
        self._endings = endings
        self._routes = routes
        self._governor = governor
        self._policy = policy
        self._let_go = let_go
        """Drops what is kept in memory for a run that has finished."""
        self.on_outage: Callable[[str], None] | None = None
        """Is told of an outage instead of pausing the run, and cancels what drives it (ADR 0154)."""
        self.finishing: dict[str, asyncio.Future[Event | None]] = {}
        """The runs that are being finished, each with what its `run.finished` will be."""

    async def new_purse(self, run_id: str, graph: GraphState) -> Purse:
        """Begin a run without a scenario, when it is first driven, with the terrarium's limits (ADR 0029)."""
        run = self._ledger.world.runs.get(run_id)
        creatures = 0 if run is None else run.creatures_living
        given = axes_given(self._governor, Governor())
        limits = settled(self._governor, creatures)
        started = RunStarted(
            limits=limits,
            limits_given=given,
            policy=self._policy,
            rules=rules_now,
            prompting=prompting_now,
        )
        self._routes.check_prices_in(run_id, self._governor)
        await self._ledger.change(BeginRun(run_id, graph.id, started))
        return self._ledger.folded.runs.purses[run_id]

    # A limit, or an outage

    async def stopped(self, graph: GraphState, record: InFlight, stopped_by: Stop) -> Event | None:
        """End or pause the run of an act that a limit stopped; the `run.finished`, if it ended. If no model was reached,
        pause the run."""
        if isinstance(stopped_by, BudgetExceeded):
            return await self.over_budget(record.run_id, graph, stopped_by)
        if self.on_outage is not None:
            self.on_outage(str(stopped_by))
            await asyncio.Event().wait()
        paused = RunPaused(str(stopped_by), is_outage=True, backend=stopped_by.backend)
        await self._pause(record.run_id, graph, paused, "outage", record)
        return None

    async def over_budget(self, run_id: str, graph: GraphState, limit: BudgetExceeded) -> Event | None:
        """End or pause a run that reached a limit; the `run.finished`, if it ended."""
        limits = self._ledger.folded.runs.purses[run_id].limits
        axis = limit.reason
        if axis == "max_calls_per_turn" and limits.on_turn_limit == "defer":
            # Acts that are not written yet may fill the turn: those that nobody plays, or another drive's.
            if not await self.give_up_all(run_id, graph):
                await self._wait_for_an_act_in(run_id, graph.id)
            return None
        if limits.on_budget != "pause":
            return await self.finish(run_id, "budget", axis=axis)
        frees_at = limit.frees_at
        reason = str(limit)
        if frees_at is not None:
            reason = (
                f"The run reached its limit {axis}. It can continue from {frees_at:%Y-%m-%d %H:%M} UTC on."
            )
        await self._pause(run_id, graph, RunPaused(reason, axis=axis, frees_at=frees_at), "limit")
        return None

    async def _pause(
        self, run_id: str, graph: GraphState, paused: RunPaused, by: Asker, stopped: InFlight | None = None
    ) -> None:
        """Pause a run, unless it is paused already or has ended. The attempts of the act that was stopped are recorded."""
        kept = None if stopped is None else stopped.kept
        if self._ledger.world.runs[run_id].status != "playing":
            if stopped is not None and kept is not None and has_reached_a_model(kept.calls):
                await self.give_up(stopped)
            return  # Somebody else was faster.
        if stopped is None or kept is None or stopped.context is None or stopped.result is None:
            await self._ledger.change(MoveRun(run_id, paused, graph.id), by=by)
            return  # No act was stopped, or it stays due without a call, or it has been written.
        # They are on their way from the decision on: this drive may be cancelled while the change becomes durable.
        await self._ledger.change(
            MoveRun(run_id, paused, graph.id, stopped.result.attempts),
            lambda _run_id: self._in_flight.pause(stopped),
            side=stopped.context.act_calls.side_writes,
            by=by,
        )
        self._in_flight.note_paused(stopped)

    async def _wait_for_an_act_in(self, run_id: str, graph_id: str) -> None:
        """Wait for an act of a run that another drive is playing and whose calls count in this graph, if there is one: its
        creature came here in a merge or a split, or was removed, while it was thinking."""
        creatures = self._ledger.world.creatures
        for record in self._in_flight.taken.values():
            creature = creatures.get(record.act[0])
            if record.run_id == run_id and (creature is None or creature.graph_id == graph_id):
                await self._in_flight.until_ended(record.act)
                return  # One that has ended may be enough.

    # Writing for good

    async def give_up_all(self, run_id: str, graph: GraphState | None = None) -> bool:
        """Write for good the acts of a run that nobody plays, in this graph or in all. False if there are none."""
        records = self._in_flight.of_run(run_id, graph)
        for record in records:
            await self.give_up(record)
        return bool(records)

    async def give_up(self, record: InFlight) -> None:
        """Write an act that is not thought again: with its result, or as a failure with its cost. It is durable on return."""
        if (record.state, "give up") not in TABLE:
            return  # Meanwhile somebody plays it, or has written it.
        self._in_flight.give_up(record)
        try:
            if record.task is not None and record.gate is not None:
                record.gate.set()
                await record.task
            if record.is_baseless:
                self._in_flight.interrupt(record)
                return  # Its line answers nothing that happened. Calls of it are kept, and given up in their turn.
            end = self._in_flight.end_for_good(record)
            queued = None
            if end is None:
                self._in_flight.discard(record)
            else:
                queued = await self._acts.write(record, end)
        except BaseException:
            self._in_flight.interrupt(record)
            raise
        if queued is not None:
            if self._ledger.folded.runs.watched:
                self._endings.note(queued.events[0])
            await queued.acknowledged

    # The end

    async def finish(
        self,
        run_id: str,
        reason: FinishReason,
        *,
        axis: str | None = None,
        ending: Ending | None = None,
        by: Asker | None = None,
    ) -> Event | None:
        """End a run once none of its creatures is thinking any more; the `run.finished`, or None if it was over already. None
        too if the conductor found it over and a commit failed meanwhile: what it saw may be refused, and is looked at again."""
        while (under_way := self.finishing.get(run_id)) is not None:
            event = await asyncio.shield(under_way)  # A cancelled caller must not cancel it for the others.
            if event is not None or by is None or self._ledger.world.is_finished(run_id):
                return event
        done = self.finishing[run_id] = asyncio.get_running_loop().create_future()
        refolds = self._ledger.refolds
        try:
            while (
                await self.give_up_all(run_id)
                or self._in_flight.is_playing(run_id)
                or not self._ledger.writer.takes_more
            ):
                await self._in_flight.until_none(run_id)
                # If a commit fails meanwhile, an act that was on its way is refused and must be written first.
                await self._ledger.wait_for_room()
            if by is None and self._ledger.refolds != refolds:
                done.set_result(None)
                return None
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
            del self.finishing[run_id]
        return event
