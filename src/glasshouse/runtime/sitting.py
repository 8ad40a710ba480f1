"""A sitting: one run played act by act, in the order that every way of driving gives, and no other run of the store.

Always holds: what is due is asked anew before every act, of the ledger's folds; so a sitting can be left at any moment
and another one goes on where it was. A run that has nothing left to do is ended; one that was given too few turns stays open.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Protocol

from glasshouse.events.event import Event
from glasshouse.events.run_payloads import FinishReason
from glasshouse.runtime.folding import Folded
from glasshouse.runtime.run import Run
from glasshouse.turns.schedule import next_act, next_turn
from glasshouse.world.state import GraphState


class DueTurn(NamedTuple):
    """A turn in which a graph has something to do: the present one, or a later one that has not begun."""

    turn: int
    graph_id: str
    is_begun: bool


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
    """Plays one run, for as many turns of each of its graphs as it was given."""

    def __init__(self, terrarium: Driven, run_id: str, turns: int | None = None) -> None:
        self._terrarium = terrarium
        self._run_id = run_id
        self._turns = turns
        self._begun: Counter[str] = Counter()

    async def play_act(self) -> bool:
        """One act, or the end of the run when nothing is due. False if there was nothing to do in this sitting."""
        run = self._terrarium.run_of(self._run_id)
        if run.status != "playing":
            return False
        due = self._terrarium.due(self._run_id)
        if not due:
            await self._end(run)
            return True
        first = next((one for one in due if one.is_begun or self._has_turns_left(one.graph_id)), None)
        if first is None:
            return False
        self._begun[first.graph_id] += not first.is_begun
        told = await self._terrarium.step_one(first.graph_id)
        return told is not None or self._terrarium.due(self._run_id) != due

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


def due_of(folded: Folded, run_id: str) -> tuple[DueTurn, ...]:
    """What the graphs of a run have to do next: the lowest turn first, then the oldest graph, as in lockstep."""
    graph_ids = {c.graph_id: None for c in folded.world.creatures.values() if c.run_id == run_id}
    graphs = [folded.world.graphs[graph_id] for graph_id in graph_ids]
    found = [(due.turn, graph.born, due) for graph in graphs if (due := _due(folded, graph, run_id))]
    return tuple([due for *_, due in sorted(found)])


def _due(folded: Folded, graph: GraphState, run_id: str) -> DueTurn | None:
    purse = folded.runs.purses.get(run_id)
    is_ending = purse is not None and purse.finished is None and purse.has_come_to_its_end
    if is_ending or next_act(folded.world, folded.agenda, graph, folded.runs) is not None:
        return DueTurn(graph.turn, graph.id, is_begun=True)
    turn = next_turn(folded.world, folded.agenda, folded.runs, graph)
    return None if turn is None else DueTurn(turn, graph.id, is_begun=False)
