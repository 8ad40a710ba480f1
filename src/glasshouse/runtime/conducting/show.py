"""The show: everything that drives creatures, put together. The terrarium hands its calls on to this.

Always holds: what it remembers of a run is in the ledger; what it keeps itself (agents, referees) is given anew by
whoever opens the terrarium.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from glasshouse.errors import Refused, UnknownName
from glasshouse.events.event import Event
from glasshouse.events.limits import Governor
from glasshouse.events.payloads import BranchChange, payload_of
from glasshouse.events.run_payloads import FinishReason, RunContinued, RunStarted
from glasshouse.runtime.acts.act import Acts
from glasshouse.runtime.acts.answers import Answers
from glasshouse.runtime.acts.batch_world import BatchWorlds
from glasshouse.runtime.acts.inside import wait_to_be_outside
from glasshouse.runtime.acts.recall import Recall
from glasshouse.runtime.acts.tool_desk import ToolDesk
from glasshouse.runtime.acts.treasury import Treasury
from glasshouse.runtime.acts.warm_lines import WarmLines
from glasshouse.runtime.conducting.conductor import BeforeAct, Conductor
from glasshouse.runtime.conducting.endings import Endings
from glasshouse.runtime.conducting.inbox import Inbox
from glasshouse.runtime.conducting.order import Free, Lockstep, Order, Pacing
from glasshouse.runtime.conducting.routes import Routes
from glasshouse.runtime.conducting.until import Conducted, Until
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.reading import HistoryReader
from glasshouse.runtime.minds.agent import Agent
from glasshouse.runtime.past.past import Past
from glasshouse.runtime.past.regrow import Recipes, restate_of, resume_of
from glasshouse.runtime.ports import Batch, Clock, Router, Store, Toolbox
from glasshouse.runtime.run import DueTurn, Run, run_of
from glasshouse.world.intents import Inject, LineAfter, MoveRun, OpenRun
from glasshouse.world.lookup import the_run
from glasshouse.world.state import World


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
        answers: Answers | None = None,
    ) -> None:
        self._ledger = ledger
        self._history = history
        self.new_run_id = new_run_id
        endings = Endings(lambda: ledger.folded)
        self._routes = routes = Routes(router, ledger)
        self._answers = answers = answers or Recall(ledger, history)
        self._inbox = Inbox(store, ledger, clock, self._say_from_inbox)
        treasury = Treasury(lambda: ledger.folded, clock)
        warm_lines = WarmLines(store, ledger)
        desk = ToolDesk(ledger, tools, answers, history.event, warm_lines)
        batch_worlds = BatchWorlds(store, history.event, answers)
        acts = Acts(ledger, treasury, routes.route_of, agent_of, desk, answers, batch_worlds)
        self.conductor = Conductor(
            ledger, acts, clock, endings, history.event, governor, warm_lines, answers, routes
        )

    async def open(self, intent: OpenRun) -> Run:
        """Begin a run."""
        await self._ledger.change(self._routes.with_models(intent))
        return self.run(intent.run_id)

    async def restate(
        self,
        past: Past,
        how: Literal["branch", "resume"],
        *,
        limits: Governor | None = None,
        change: BranchChange | None = None,
        lines: tuple[LineAfter, ...] = (),
    ) -> Run:
        """Let a past live again: its graphs as they were, its runs under new ids, what they had spent spent."""
        started: dict[str, RunStarted] = {}
        for run_id, purse in past.folded.runs.purses.items():
            if past.holds_run(run_id):
                told = await self._history.event(purse.told_in)
                started[run_id] = self._routes.with_models_now(past, payload_of(told, RunStarted))
        intent = restate_of(
            past, how, lambda: self.new_run_for(past), started, limits=limits, change=change, lines=lines
        )
        self._routes.check_prices_of(past, intent)
        await self._ledger.change(intent)
        return self.run(intent.runs[0].new)

    def new_run_for(self, past: Past) -> str:
        """The id of a run that goes on from a past: one that neither this house nor that past has given."""
        while (new := self.new_run_id()) in self._ledger.world.runs or new in past.world.runs:
            pass
        return new

    async def resume(self, past: Past, recipes: Recipes) -> Run:
        """Play scenarios on from a past."""
        with_models = self._routes.with_models
        intent = resume_of(past, {old: with_models(opening) for old, opening in recipes.items()})
        await self._ledger.change(intent)
        return self.run(intent.runs[0].new)

    def check_model(self, model: str) -> None:
        """Refuse a name that no model has."""
        self._routes.route("fast", model)

    def run(self, run_id: str) -> Run:
        """One run as it stands."""
        return run_of(self._ledger.folded, run_id, self._answers.given[run_id])

    def runs(self) -> tuple[Run, ...]:
        """Every run that has begun, the oldest first."""
        return tuple([self.run(run_id) for run_id, run in self._ledger.world.runs.items() if run.is_begun])

    def due(self, run_id: str) -> tuple[DueTurn, ...]:
        """What the graphs of a run have to do next, whoever goes first coming first."""
        dues: list[tuple[int, int, DueTurn]] = []
        for graph in self.conductor.agendas.graphs((run_id,)):
            turn = self.conductor.agendas.of(graph).turn
            if turn is not None:
                due = DueTurn(max(turn, graph.turn), graph.id, is_begun=turn <= graph.turn)
                dues.append((turn, graph.born, due))
        return tuple([due for *_, due in sorted(dues)])

    async def step_one(self, graph_id: str | None = None) -> Event | None:
        """One act: the event it ended in, or none if nothing is due."""
        if graph_id is not None and graph_id not in self._ledger.world.graphs:
            raise UnknownName(noun="open graph", name=graph_id, known=self._ledger.world.graphs)
        order = Lockstep(self.conductor.agendas, self._inbox.take_in, graph_id=graph_id)
        return (await self.conduct(order, Until(self._world, acts=1))).last

    async def play(
        self,
        pacing: Pacing,
        *run_ids: str,
        turns: int | None = None,
        before_act: BeforeAct | None = None,
    ) -> Conducted:
        """So many turns of every graph, or all there are; of some runs only, if they are named."""
        kind = Free if pacing == "free" else Lockstep
        order = kind(self.conductor.agendas, self._inbox.take_in, run_ids)
        return await self.conduct(order, Until(self._world, turns=turns, run_ids=run_ids), before_act)

    async def conduct(self, order: Order, until: Until, before_act: BeforeAct | None = None) -> Conducted:
        """Drive, from outside of any act."""
        await wait_to_be_outside(self._ledger)
        return await self.conductor.conduct(order, until, before_act)

    def _world(self) -> World:
        return self._ledger.world

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
        await self.conductor.pause(run_id, reason)

    async def continue_run(self, run_id: str) -> None:
        """Let a paused run go on."""
        await self._ledger.change(MoveRun(run_id, RunContinued()), by="api")

    async def finish(self, run_id: str, reason: FinishReason) -> Event | None:
        """End a run."""
        the_run(self._ledger.world, run_id)
        await wait_to_be_outside(self._ledger)
        return await self.conductor.finish(run_id, reason, by="api")

    async def close(self) -> None:
        """Let go of what was begun ahead."""
        await self.conductor.close()
