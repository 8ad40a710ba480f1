"""Thinking ahead: the ticks of one turn with `together` all begin at once.

Theory of operation. These ticks think in parallel, on the past at the start of the batch. The conductor writes their
results one by one, in the order of the cast. Their tools follow the same order: each act waits at a gate before its
first tool, and the gate opens when it is the act's turn to be written. What is known of each is its record
(`acts/in_flight.py`).

Always holds: this module writes nothing itself, and a restart after a crash needs nothing of it. An act that was begun
ahead and dropped stays due.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from glasshouse.events.event import Event
from glasshouse.runtime.acts.act import Acts
from glasshouse.runtime.acts.in_flight import Act, ActResult, ActsInFlight, Cause, InFlight
from glasshouse.runtime.conducting.graph_steps import DrivenGraphs
from glasshouse.runtime.ledger.history import EventById
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.turns.heard.recent_lines import line_heard_by
from glasshouse.turns.runs.agenda import may_act
from glasshouse.turns.runs.schedule import Due, due_of, ticks_together
from glasshouse.world.state.state import GraphState, World


def run_drawn_on(world: World, creature_id: str) -> str:
    """The run that pays for a creature's acts; empty if the creature has none or was removed."""
    creature = world.creatures.get(creature_id)
    return "" if creature is None else creature.run_id or ""


class Causes:
    """Finds the event that an act answers: in memory, else in the store."""

    def __init__(self, ledger: Ledger, event: EventById, graphs: DrivenGraphs) -> None:
        self._ledger = ledger
        self._event = event
        self._graphs = graphs
        self._last_cache: Event | None = None
        """The last cause that was found, as it was written: many creatures may answer the same line."""
        ledger.after_refold.append(self._forget)

    def _forget(self) -> None:
        """Other events may get the ids of those that were refused."""
        self._last_cache = None

    async def of(self, due: Due) -> Event:
        """The event that an act answers, as its creature hears it."""
        tables = self._ledger.folded.tables
        world = self._ledger.world
        creature = world.creatures.get(due.creature)
        if creature is None:
            return await self._event(due.cause)  # It was removed, and no act of it begins.
        steps = self._graphs.get(creature.graph_id) if due.is_tick else None
        if steps is not None and steps.turn is not None and steps.turn.id == due.cause:
            return steps.turn  # It has no words that its creature would hear in another way.
        cause = self._last_cache
        if cause is None or cause.id != due.cause:
            line = None if due.is_tick else line_heard_by(tables, world, due.creature, due.cause)
            if line is not None and creature.reborn:
                return line  # It may have present names already.
            cause = self._last_cache = line or await self._event(due.cause)
        folded = self._ledger.folded
        if due.creature not in folded.world.creatures:
            return cause  # It was removed while the event was read.
        return folded.tables.cause_for(folded.world, due.creature, cause)


class ThinkingAhead:
    """Begins the acts that think together."""

    def __init__(
        self, ledger: Ledger, acts: Acts, causes: Causes, in_flight: ActsInFlight, graphs: DrivenGraphs
    ) -> None:
        self._ledger = ledger
        self._acts = acts
        self._causes = causes
        self._in_flight = in_flight
        self._graphs = graphs

    async def begin(self, graph: GraphState, may_begin: Callable[[Act], bool], *, is_new: bool) -> None:
        """Begin the ticks that think together, those that may begin and have not begun already.

        Without `is_new`, begin only the rest of an interrupted batch: those ticks had reserved their cost already.
        """
        folded = self._ledger.folded
        position = self._ledger.position
        self._graphs[graph.id].looked_at = self._ledger.moved_at
        together = ticks_together(folded.world, folded.agenda, graph, folded.runs, is_new=is_new)
        now = folded.world.session_of(graph).lamport
        causes: dict[Due, Event] = {}
        for due in [due for due in together if may_begin((due.creature, due.cause))]:
            causes[due] = await self._causes.of(due)
            await self._acts.make_ready(due)
        if self._ledger.position != position:  # A run may have ended, or a creature may have left, meanwhile.
            causes = {
                still: cause for due, cause in causes.items() if (still := self.still_due(due)) is not None
            }
        for due, cause in causes.items():
            act = (due.creature, due.cause)
            if may_begin(act):
                record = self._in_flight.begin(act, run_drawn_on(self._ledger.world, due.creature))
                thinking = self._think(record, due, cause, due.as_of if due.as_of is not None else now)
                record.task = asyncio.create_task(thinking, name=f"{due.creature} thinks")
        if causes and not is_new:
            await asyncio.sleep(0)  # Let them reserve their cost first, as they did before the interruption.

    def still_due(self, due: Due) -> Due | None:
        """An act as it is due now: its batch may have begun meanwhile. None if its creature cannot act any more."""
        folded = self._ledger.folded
        creature = folded.world.creatures.get(due.creature)
        if creature is None or not may_act(folded.world, creature):
            return None  # It was removed or stopped, or its run is over.
        return due_of(folded.world, folded.agenda, due.creature, due.cause)

    async def _think(self, record: InFlight, due: Due, cause: Event, upto: int | None) -> ActResult | None:
        """The task of an act: think, and say that it has ended. Only closing cancels it while no drive plays it."""
        outcome: Cause = "thought"  # Also after an exception: whoever takes the act raises it.
        try:
            result = await self._acts.think(record, due, cause, upto)
            if result is None:
                outcome = "discard"
            elif result.end is None:
                outcome = "stop"
            return result
        except asyncio.CancelledError:
            outcome = "interrupt"
            raise
        finally:
            self._in_flight.thought(record, outcome)

    async def close(self) -> None:
        """Cancel everything that thinks ahead. Those acts stay due and will be thought again."""
        records = [record for record in self._in_flight.ahead.values() if record.state == "begun"]
        tasks = [record.task for record in records if record.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for record in self._in_flight.ahead.values():
            if record.task is not None and record.task.done() and not record.task.cancelled():
                record.task.exception()  # Nobody takes the act any more, and asyncio would log what nobody has read.
        for record in records:
            if record.state == "begun":  # It was cancelled before it had begun to think.
                self._in_flight.interrupt(record)
