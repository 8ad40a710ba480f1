"""Thinking ahead: the ticks of one turn with `together` all begin at once.

Theory of operation. These ticks think in parallel, on the past at the start of the batch. The conductor writes their
results one by one, in the order of the cast. Their tools follow the same order: each act waits at a gate before its
first tool, and the gate opens when it is the act's turn to be written.

Always holds: this module writes nothing itself, and a restart after a crash needs nothing of it. An act that was begun
ahead and dropped stays due.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from glasshouse.events.event import Event
from glasshouse.runtime.acts.act import ActResult, Acts
from glasshouse.runtime.ledger.history import EventById
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.turns.heard.recent_lines import line_heard_by
from glasshouse.turns.runs.agenda import may_act
from glasshouse.turns.runs.schedule import Due, due_of, ticks_together
from glasshouse.world.state.state import GraphState, World

Act = tuple[str, str]
"""Names an act: the ids of its creature and of the cause it answers."""


class Ahead(NamedTuple):
    """An act that was begun ahead: the run that pays for it, its task, and the gate before its tools."""

    run_id: str
    task: asyncio.Task[ActResult | None]
    gate: asyncio.Event


def run_drawn_on(world: World, creature_id: str) -> str:
    """The run that pays for a creature's acts; empty if the creature has none or was removed."""
    creature = world.creatures.get(creature_id)
    return "" if creature is None else creature.run_id or ""


class Causes:
    """Finds the event that an act answers: in memory, else in the store."""

    def __init__(self, ledger: Ledger, event: EventById) -> None:
        self._ledger = ledger
        self._event = event
        self._turns_cache: dict[str, Event] = {}
        """The last `turn.started` of each graph, which is the cause of its ticks (ADR 0021)."""
        self._last_cache: Event | None = None
        """The last cause that was found, as it was written: many creatures may answer the same line."""

    def note_turn(self, started: Event) -> None:
        """Remember the event that began a turn: it is the cause of the turn's ticks."""
        self._turns_cache[started.graph_id] = started

    def let_go(self, graph_id: str) -> None:
        """Forget the last turn of a graph."""
        self._turns_cache.pop(graph_id, None)

    async def of(self, due: Due) -> Event:
        """The event that an act answers, as its creature hears it."""
        tables, world = self._ledger.folded.tables, self._ledger.world
        creature = world.creatures.get(due.creature)
        if creature is None:
            return await self._event(due.cause)  # It was removed, and no act of it begins.
        turn = self._turns_cache.get(creature.graph_id) if due.is_tick else None
        if turn is not None and turn.id == due.cause:
            return turn
        cause = self._last_cache
        if cause is None or cause.id != due.cause:
            line = None if due.is_tick else line_heard_by(tables, world, due.creature, due.cause)
            if line is not None and creature.reborn:
                return line  # It may have present names already.
            cause = self._last_cache = line or await self._event(due.cause)
        folded = self._ledger.folded
        if due.creature not in folded.world.creatures:
            return cause
        return folded.tables.cause_for(folded.world, due.creature, cause)


class ThinkingAhead:
    """The acts that were begun ahead and are not yet written."""

    def __init__(self, ledger: Ledger, acts: Acts, causes: Causes) -> None:
        self._ledger = ledger
        self._acts = acts
        self._causes = causes
        self.begun: dict[Act, Ahead] = {}
        self._looked_at: dict[str, int] = {}
        """For each graph: the last change of the world when its ticks were last looked through."""

    async def begin(self, graph: GraphState, is_taken: Callable[[Act], bool], *, is_new: bool) -> None:
        """Begin the ticks that think together, except those that `is_taken` names or that have begun already.

        Without `is_new`, begin only the rest of an interrupted batch: those ticks had reserved their cost already.
        """
        folded, position = self._ledger.folded, self._ledger.position
        self._looked_at[graph.id] = self._ledger.moved_at
        together = ticks_together(folded.world, folded.agenda, graph, folded.runs, is_new=is_new)
        now, causes = folded.world.session_of(graph).lamport, dict[Due, Event]()
        chosen = [due for due in together if not self._is_begun(due, is_taken)]
        for due in chosen:
            causes[due] = await self._causes.of(due)
            await self._acts.make_ready(due)
        if self._ledger.position != position:  # A run may have ended, or a creature may have left, meanwhile.
            causes = {
                still: cause for due, cause in causes.items() if (still := self.still_due(due)) is not None
            }
        for due, cause in causes.items():
            if not self._is_begun(due, is_taken):
                self._begin(due, cause, due.as_of if due.as_of is not None else now)
        if causes and not is_new:
            await asyncio.sleep(0)  # Let them reserve their cost first, as they did before the interruption.

    def let_go(self, graph_id: str) -> None:
        """Forget when the ticks of a graph were last looked through."""
        self._looked_at.pop(graph_id, None)

    def is_under_way(self, graph: GraphState, act: Act) -> bool:
        """Whether an act has begun with all others of its batch, and nobody can have joined the batch since."""
        return act in self.begun and self._looked_at.get(graph.id) == self._ledger.moved_at

    def still_due(self, due: Due) -> Due | None:
        """An act as it is due now: its batch may have begun meanwhile. None if its creature cannot act any more."""
        folded = self._ledger.folded
        creature = folded.world.creatures.get(due.creature)
        if creature is None or not may_act(folded.world, creature):
            return None
        return due_of(folded.world, folded.agenda, due.creature, due.cause)

    def _begin(self, due: Due, cause: Event, upto: int | None) -> Ahead:
        gate = asyncio.Event()
        thinking = self._acts.think(due, cause, upto, gate)
        task = asyncio.create_task(thinking, name=f"{due.creature} thinks")
        ahead = Ahead(run_drawn_on(self._ledger.world, due.creature), task, gate)
        self.begun[due.creature, due.cause] = ahead
        return ahead

    def _is_begun(self, due: Due, is_taken: Callable[[Act], bool]) -> bool:
        act = (due.creature, due.cause)
        return act in self.begun or is_taken(act)

    async def thought_of(self, act: Act) -> ActResult | None:
        """The result of an act that was begun ahead. None if its creature was removed."""
        ahead = self.begun.pop(act)
        ahead.gate.set()
        try:
            return await ahead.task
        except asyncio.CancelledError:
            if ahead.task.done() and not ahead.task.cancelled():
                self.begun[act] = ahead  # Only the drive was cancelled: the next one writes it.
            raise

    def take_stopped(self, act: Act) -> ActResult | None:
        """The result of an act that a limit or an unreachable model stopped while it thought ahead; None if there is
        none.

        The act is dropped here, because it must be thought again.
        """
        task = self.begun[act].task if act in self.begun else None
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        result = task.result()
        if result is None or result.end is not None:
            return None
        del self.begun[act]
        return result

    def of_run(self, run_id: str, graph: GraphState | None = None) -> list[Act]:
        """The acts of a run that were begun ahead, in this graph or, without one, in all graphs."""
        acts = [act for act, ahead in self.begun.items() if ahead.run_id == run_id]
        return acts if graph is None else [act for act in acts if act[0] in graph.creatures]

    def of_the_gone(self) -> list[tuple[Act, str]]:
        """The acts of removed creatures, and the run that pays for each."""
        world = self._ledger.world
        return [(act, ahead.run_id) for act, ahead in self.begun.items() if act[0] not in world.creatures]

    async def close(self) -> None:
        """Cancel everything that was begun ahead. Those acts stay due and will be thought again."""
        tasks = [ahead.task for ahead in self.begun.values()]
        self.begun.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
