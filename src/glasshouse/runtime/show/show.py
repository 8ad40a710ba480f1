"""The show: everything that drives creatures, put together. The terrarium hands its calls on to this.

Always holds: what it remembers of a run is in the ledger; what it keeps itself (agents, referees) is given anew by
whoever opens the terrarium.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from glasshouse.errors import Refused, UnknownName
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import payload_of
from glasshouse.events.run_payloads import FinishReason, RunContinued, RunStarted
from glasshouse.runtime.acts.act import Acts, Record
from glasshouse.runtime.acts.inside import wait_to_be_outside
from glasshouse.runtime.acts.recall import Recall
from glasshouse.runtime.acts.seen_together import SeenTogether
from glasshouse.runtime.acts.tool_desk import ToolDesk
from glasshouse.runtime.acts.treasury import Treasury
from glasshouse.runtime.acts.warming import Warming
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.reading import HistoryReader
from glasshouse.runtime.minds.agent import Agent
from glasshouse.runtime.past.past import Past
from glasshouse.runtime.past.restating import Limits, restate_of
from glasshouse.runtime.past.resuming import Recipes, resume_of
from glasshouse.runtime.ports import Batch, Clock, Router, Store, Toolbox
from glasshouse.runtime.run import DueTurn, Run, run_of
from glasshouse.runtime.show.casting import Casting
from glasshouse.runtime.show.conductor import Conductor, Pacing
from glasshouse.runtime.show.driving import Driver
from glasshouse.runtime.show.endings import Endings
from glasshouse.runtime.show.inbox import Inbox
from glasshouse.turns.governor import Governor
from glasshouse.world.acting import the_run
from glasshouse.world.intents import Inject, MoveRun, OpenRun
from glasshouse.world.regrowth import LineAfter


class Show:
    """Conductor, governor, acts and endings over one ledger."""

    def __init__(
        self,
        store: Store,
        ledger: Ledger,
        clock: Clock,
        history: HistoryReader,
        router: Router,
        agent_of: Callable[[str], Agent],
        new_run_id: Callable[[], str],
        *,
        tools: Toolbox,
        governor: Governor,
        record: Record | None = None,
    ) -> None:
        self._ledger = ledger
        self._history = history
        self.new_run_id = new_run_id
        self._endings = Endings(lambda: ledger.folded)
        self._recall = recall = Recall(ledger, history)
        treasury = Treasury(lambda: ledger.folded, clock)
        warming = Warming(store, ledger)
        before_commit = None if record is None else record.before_commit
        desk = ToolDesk(ledger, tools, record or recall, history.event, warming, before_commit)
        seen = SeenTogether(store, history.event, record)
        self._acts = Acts(ledger, treasury, router, agent_of, desk, recall, seen, record)
        self._conductor = Conductor(
            ledger, self._acts, clock, self._endings, history.event, governor, warming, record
        )
        self._casting = Casting(self._acts)
        inbox = Inbox(store, ledger, clock, self._say_from_inbox)
        self._driver = Driver(ledger, self._conductor, inbox.take_in)

    async def open(self, intent: OpenRun) -> Run:
        """Begin a run."""
        await self._ledger.change(self._casting.with_models(intent))
        return self.run(intent.run_id)

    async def restate(
        self,
        past: Past,
        how: Literal["branch", "resume"],
        *,
        limits: Limits | None = None,
        change: Json | None = None,
        lines: tuple[LineAfter, ...] = (),
    ) -> Run:
        """Let a past live again: its graphs as they were, its runs under new ids, what they had spent spent."""
        started: dict[str, RunStarted] = {}
        for run_id, purse in past.folded.runs.purses.items():
            if past.holds_run(run_id):
                told = await self._history.event(purse.told_in)
                started[run_id] = self._casting.with_models_now(past, payload_of(told, RunStarted))
        intent = restate_of(
            past, how, lambda: self.new_run_for(past), started, limits=limits, change=change, lines=lines
        )
        self._casting.check_prices_of(past, intent)
        await self._ledger.change(intent)
        return self.run(intent.runs[0].new)

    def new_run_for(self, past: Past) -> str:
        """The id of a run that goes on from a past: one that neither this house nor that past has given."""
        while (new := self.new_run_id()) in self._ledger.world.runs or new in past.world.runs:
            pass
        return new

    async def resume(self, past: Past, recipes: Recipes) -> Run:
        """Play scenarios on from a past."""
        with_models = self._casting.with_models
        intent = resume_of(past, {old: with_models(opening) for old, opening in recipes.items()})
        await self._ledger.change(intent)
        return self.run(intent.runs[0].new)

    def check_model(self, model: str) -> None:
        """Refuse a name that no model has."""
        self._acts.route("fast", model)

    def run(self, run_id: str) -> Run:
        """One run as it stands."""
        return run_of(self._ledger.folded, run_id, self._recall.given[run_id])

    def runs(self) -> tuple[Run, ...]:
        """Every run that has begun, the oldest first."""
        return tuple([self.run(run_id) for run_id, run in self._ledger.world.runs.items() if run.is_begun])

    def due(self, run_id: str) -> tuple[DueTurn, ...]:
        """What the graphs of a run have to do next, whoever goes first coming first."""
        found: list[tuple[int, int, DueTurn]] = []
        for graph_id in self.run(run_id).graph_ids:
            graph = self._ledger.world.graphs[graph_id]
            turn = self._conductor.turn_ahead(graph)
            if turn is not None:
                due = DueTurn(max(turn, graph.turn), graph.id, is_begun=turn <= graph.turn)
                found.append((turn, graph.born, due))
        return tuple([due for *_, due in sorted(found)])

    async def step_one(self, graph_id: str | None = None) -> Event | None:
        """One act: the event it ended in, or none if nothing is due."""
        if graph_id is not None and graph_id not in self._ledger.world.graphs:
            raise UnknownName(noun="open graph", name=graph_id, known=self._ledger.world.graphs)
        await wait_to_be_outside(self._ledger)
        return await self._driver.play_one(graph_id)

    async def play(self, turns: int | None, pacing: Pacing, run_id: str | None = None) -> int:
        """So many turns of every graph, or all there are."""
        await wait_to_be_outside(self._ledger)
        return await self._driver.play(turns, pacing, run_id)

    async def _say_from_inbox(self, run_id: str, text: str, numbers: tuple[int, ...]) -> Event:
        return await self.disturb(run_id, text, inbox=numbers)

    async def disturb(
        self, run_id: str, text: str, graph_id: str | None = None, inbox: tuple[int, ...] = ()
    ) -> Event:
        """Let the visitor speak to a run's oldest graph, or to the graph named."""
        the_run(self._ledger.world, run_id)
        graphs = self.run(run_id).graph_ids
        place = graph_id or next(iter(graphs), "")
        if not place:
            raise Refused(f"Nobody of run {run_id} is there to hear it.", "Play a world first.")
        beside = Batch(inbox_done=inbox)
        receipt = await self._ledger.change(Inject(place, text, run_id), beside=beside)
        return receipt.events[0]

    async def pause(self, run_id: str, reason: str) -> None:
        """Let nobody of a run begin an act until it goes on."""
        await self._conductor.pause(run_id, reason)

    async def continue_run(self, run_id: str) -> None:
        """Let a paused run go on."""
        await self._ledger.change(MoveRun(run_id, RunContinued()), by="api")

    async def finish(self, run_id: str, reason: FinishReason) -> Event | None:
        """End a run."""
        the_run(self._ledger.world, run_id)
        await wait_to_be_outside(self._ledger)
        return await self._conductor.finish(run_id, reason, by="api")

    async def close(self) -> None:
        """Let go of what was begun ahead."""
        await self._conductor.close()
