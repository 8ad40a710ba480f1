"""A sitting: one run, or several that have met, played act by act in the order that every way of driving gives.

No other run of the store is played.

Always holds: what is due is asked anew before every act, of the ledger's folds; so a sitting can be left at any moment
and another one goes on where it was. A run that has nothing left to do is ended; one that was given too few turns
stays open.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from glasshouse.events.event import Event
from glasshouse.events.run_payloads import FinishReason
from glasshouse.runtime.run import DueTurn, Run


class Driven(Protocol):
    """What a sitting needs of a terrarium."""

    def run_of(self, run_id: str) -> Run:
        """The run as it stands."""

    def due(self, run_id: str) -> tuple[DueTurn, ...]:
        """What its graphs have to do next, whoever goes first coming first."""

    async def step_one(self, graph_id: str | None = None) -> Event | None:
        """One act."""

    async def finish(self, run_id: str, reason: FinishReason = "stopped") -> Event | None:
        """The end."""


class Sitting:
    """Plays runs, the first that has something to do first, for as many turns of each of their graphs as it was given."""

    def __init__(self, terrarium: Driven, *run_ids: str, turns: int | None = None) -> None:
        self._terrarium = terrarium
        self._run_ids = run_ids
        self._turns = turns
        self._begun: Counter[str] = Counter()

    async def play_act(self) -> bool:
        """One act, or the end of a run when nothing is due. False if there was nothing to do in this sitting."""
        for run_id in self._run_ids:
            if await self._play_act_of(run_id):
                return True
        return False

    async def _play_act_of(self, run_id: str) -> bool:
        run = self._terrarium.run_of(run_id)
        if run.status != "playing":
            return False
        due = self._terrarium.due(run_id)
        if not due:
            await self._end(run)
            return True
        first = next((one for one in due if one.is_begun or self._has_turns_left(one.graph_id)), None)
        if first is None:
            return False
        self._begun[first.graph_id] += not first.is_begun
        told = await self._terrarium.step_one(first.graph_id)
        return told is not None or self._terrarium.due(run_id) != due

    async def play(self) -> None:
        """Everything there is to do."""
        while await self.play_act():
            pass

    def _has_turns_left(self, graph_id: str) -> bool:
        return self._turns is None or self._begun[graph_id] < self._turns

    async def _end(self, run: Run) -> None:
        """Nothing is due any more: end the run as its scenario says; one that says nothing has simply ended."""
        for graph_id in run.graph_ids:
            await self._terrarium.step_one(graph_id)
        if not self._terrarium.run_of(run.id).is_finished:
            await self._terrarium.finish(run.id, "ended")
