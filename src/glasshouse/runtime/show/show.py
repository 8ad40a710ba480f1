"""The show: everything that drives creatures, put together. The terrarium hands its calls on to this.

Always holds: what it remembers of a run is in the ledger; what it keeps itself (agents, referees) is given anew by
whoever opens the terrarium.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec.structs import replace

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
from glasshouse.runtime.ports import Batch, Clock, InboxLine, Router, Store, Toolbox
from glasshouse.runtime.run import DueTurn, Run, run_of
from glasshouse.runtime.show.conductor import Conductor, Pacing
from glasshouse.runtime.show.driving import Driver
from glasshouse.runtime.show.endings import Endings
from glasshouse.turns.governor import Governor
from glasshouse.world.acting import the_run
from glasshouse.world.intents import Inject, Member, MoveRun, OpenRun, Restate
from glasshouse.world.regrowth import LineAfter

inbox_lines_max: Final = 64
inbox_seconds_min: Final = 0.25
"""The inbox is looked into no more often than this."""


def _asked_for(member: Member) -> tuple[str, str | None]:
    """The profile that a manifest asks for, and the model that the run has put in its place."""
    profile = str(member.manifest.get("model_profile", "fast"))
    return profile, member.model if member.is_bound else None


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
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._history = history
        self.new_run_id = new_run_id
        self._looked_at: datetime | None = None
        self._endings = Endings(lambda: ledger.folded)
        self._recall = recall = Recall(ledger, history)
        treasury = Treasury(lambda: ledger.folded, clock)
        warming = Warming(store, ledger)
        before_commit = None if record is None else record.before_commit
        desk = ToolDesk(ledger, tools, history.event, warming, record or recall, before_commit)
        seen = SeenTogether(store, history.event, record)
        acts = self._acts = Acts(ledger, treasury, router, agent_of, desk, record, recall, seen)
        self._conductor = Conductor(
            ledger,
            acts,
            clock,
            self._endings,
            history.event,
            governor,
            warming,
            None if record is None else record.before_commit,
            None if record is None else record.is_turn_of,
        )
        self._driver = Driver(ledger, self._conductor, self._take_in_inbox)

    async def open(self, intent: OpenRun) -> Run:
        """Begin a run."""
        self._check_prices(intent)
        await self._ledger.change(self._with_models(intent))
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
                started[run_id] = self._with_models_now(past, payload_of(told, RunStarted))
        intent = restate_of(
            past, how, lambda: self.new_run_for(past), started, limits=limits, change=change, lines=lines
        )
        self._check_prices_of(past, intent)
        await self._ledger.change(intent)
        return self.run(intent.runs[0].new)

    def new_run_for(self, past: Past) -> str:
        """The id of a run that goes on from a past: one that neither this house nor that past has given."""
        while (new := self.new_run_id()) in self._ledger.world.runs or new in past.world.runs:
            pass
        return new

    async def resume(self, past: Past, recipes: Recipes) -> Run:
        """Play scenarios on from a past."""
        for opening in recipes.values():
            self._check_prices(opening)
        intent = resume_of(past, {old: self._with_models(opening) for old, opening in recipes.items()})
        await self._ledger.change(intent)
        return self.run(intent.runs[0].new)

    def _with_models_now(self, past: Past, started: RunStarted) -> RunStarted:
        cast = [{**one, **self._profile_now(past, one)} for one in started.cast]
        return replace(started, cast=cast)

    def _profile_now(self, past: Past, one: Json) -> Json:
        creature = past.world.creatures.get(one["creature"])
        if creature is None:
            return {}
        profile = str(past.world.facts_of(creature).manifest.get("model_profile", "fast"))
        model = one["model"] if one.get("is_bound") else None
        return {"profile": profile, "model": self._acts.route(profile, model).name}

    def _with_models(self, intent: OpenRun) -> OpenRun:
        """Write down which model stands behind each creature's profile as it begins."""
        troupes = [
            replace(troupe, members=tuple([self._with_model(member) for member in troupe.members]))
            for troupe in intent.troupes
        ]
        return replace(intent, troupes=tuple(troupes))

    def _with_model(self, member: Member) -> Member:
        return replace(member, model=self._acts.route(*_asked_for(member)).name)

    def _check_prices(self, intent: OpenRun) -> None:
        asked_for = [_asked_for(m) for t in intent.troupes for m in t.members]
        self._check_prices_for(intent.started, asked_for)

    def _check_prices_of(self, past: Past, intent: Restate) -> None:
        """The same for runs that go on, whose limits and creatures may have been changed."""
        for run in intent.runs:
            here = [one for graph in intent.graphs for one in graph.creatures if one.run_id == run.old]
            if run.started is not None:
                bound = past.folded.runs.purses[run.old].bound
                profiles = [
                    (str(one.manifest.get("model_profile", "fast")), bound.get(one.key)) for one in here
                ]
                self._check_prices_for(run.started, profiles)

    def _check_prices_for(self, started: RunStarted, asked_for: list[tuple[str, str | None]]) -> None:
        if started.limits.get("hourly_budget_usd") is not None:
            spawnable = [(str(m.get("model_profile", "fast")), None) for m in started.spawnable.values()]
            self._acts.check_prices({*asked_for, *spawnable})

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

    async def proceed(self, run_id: str) -> None:
        """Let a paused run go on."""
        await self._ledger.change(MoveRun(run_id, RunContinued()))

    async def finish(self, run_id: str, reason: FinishReason) -> Event | None:
        """End a run."""
        the_run(self._ledger.world, run_id)
        await wait_to_be_outside(self._ledger)
        return await self._conductor.finish(run_id, reason)

    async def close(self) -> None:
        """Let go of what was begun ahead."""
        await self._conductor.close()

    async def _take_in_inbox(self) -> None:
        """What other processes left for a run is said by the visitor, and goes out of the inbox with that very commit."""
        now = self._clock.now()
        if self._looked_at is not None and now - self._looked_at < timedelta(seconds=inbox_seconds_min):
            return
        self._looked_at = now
        for line in await self._store.read_inbox(inbox_lines_max):
            await self._answer(line)

    async def _answer(self, line: InboxLine) -> None:
        run_id = line.run_id or self._newest_playing()
        run = self._ledger.world.runs.get(run_id or "")
        if run is not None and run.status == "finished":
            await self._ledger.set_aside((line.number,))
            return
        if run is None or run_id is None or not self.run(run_id).graph_ids:
            return
        await self.disturb(run_id, line.text, inbox=(line.number,))

    def _newest_playing(self) -> str | None:
        playing = [
            run.id for run in self._ledger.world.runs.values() if run.status == "playing" and run.is_begun
        ]
        return playing[-1] if playing else None
