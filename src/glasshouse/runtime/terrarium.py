"""`Terrarium`: the public face. What the habitat hosts, this lets act: worlds are opened, graphs are driven.

Always holds: every change goes through `Ledger.change`; every answer carries ids and values, never live objects.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Literal

from glasshouse.errors import Refused, UnknownName
from glasshouse.events.digest import digest_of
from glasshouse.events.event import Event
from glasshouse.events.redaction import Role
from glasshouse.events.run_payloads import FinishReason
from glasshouse.manifests.loading import LoadedWorld, check_tools, load_world
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.opening import opening_of
from glasshouse.runtime.acts.act import Record
from glasshouse.runtime.acts.no_tools import NoTools
from glasshouse.runtime.habitat import Habitat
from glasshouse.runtime.minds.agent import Agent
from glasshouse.runtime.minds.code_beside import function_beside
from glasshouse.runtime.minds.visitor import VisitorAgent
from glasshouse.runtime.past.other_houses import OtherHouses
from glasshouse.runtime.past.past import Pasts
from glasshouse.runtime.past.recipes import AnyWorld, WorldsNow, check_is_not_live, is_edited, recipes_of
from glasshouse.runtime.past.record import Records, RunRecord
from glasshouse.runtime.past.what_if import WhatIf, changed, check_line
from glasshouse.runtime.past.who_knew import WhoKnewReader
from glasshouse.runtime.past.why import WhyReader
from glasshouse.runtime.ports import Clock, Ids, Router, Store, Toolbox
from glasshouse.runtime.results import doubled_in, results_of
from glasshouse.runtime.run import DueTurn, Run
from glasshouse.runtime.show.conductor import Pacing
from glasshouse.runtime.show.referee_files import referee_named
from glasshouse.runtime.show.show import Show
from glasshouse.turns.governor import Governor
from glasshouse.views.knowing import WhoKnew
from glasshouse.views.leaderboard import By, Standing, leaderboard
from glasshouse.views.why import Why
from glasshouse.world.acting import the_run
from glasshouse.world.intents import OpenRun
from glasshouse.world.names import the_creature

AgentFor = Callable[[Manifest], Agent]
"""Makes the mind of a creature that was given none."""


class Terrarium(Habitat):
    """The running whole: hosts creatures, owns topology, ledger and conductors. Runs no model itself."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        ids: Ids,
        router: Router,
        agent_for: AgentFor,
        *,
        tools: Toolbox | None = None,
        governor: Governor | None = None,
        pacing: Pacing = "lockstep",
        record: Record | None = None,
    ) -> None:
        super().__init__(store, clock, ids)
        other_houses = OtherHouses(store, self._ledger)
        self._why = WhyReader(store, self._ledger, self._history, other_houses)
        self._who_knew = WhoKnewReader(self._ledger, self._history, other_houses)
        self._agent_for = agent_for
        self._tools = tools or NoTools()
        self._pacing: Pacing = pacing
        self._show = Show(
            store,
            self._ledger,
            clock,
            self._history,
            router,
            self._mind,
            lambda: f"r-{ids.new()}",
            tools=self._tools,
            governor=governor or Governor(),
            record=record,
        )
        self._pasts = Pasts(store, self._ledger, self._history)

    async def _let_go(self) -> None:
        await self._show.close()

    def _check_code_beside(self, world: LoadedWorld) -> None:
        """Refuse a world whose own referee or tools cannot be loaded, before anything begins."""
        folder = None if world.path is None else str(world.path)
        if world.scenario.competition.referee is not None:
            referee_named(world.scenario.competition.referee, folder)
        if folder is None:
            return
        for name in dict.fromkeys(
            [name for one in world.manifests.values() for name in one.tools if ":" in name]
        ):
            function_beside(folder, name, "tool", "it takes what a model gives it, and gives back data.")

    def _check_manifest(self, manifest: Manifest) -> None:
        for name in manifest.tools:
            if name not in self._tools.names():
                raise UnknownName(
                    where=f"tools of {manifest.name}", noun="tool", name=name, known=self._tools.names()
                )

    def _mind(self, creature_id: str) -> Agent:
        """Who thinks for a creature: the object it was given, or one made from its manifest when it first acts."""
        found = self._agents.get(creature_id)
        if found is None:
            manifest = self._manifest(self._ledger.world.creatures[creature_id].manifest_digest)
            found = self._agents[creature_id] = self._agent_for(manifest)
        return found

    async def open_world(
        self,
        world: AnyWorld,
        seed: str | None = None,
        rng_seed: int = 0,
        governor: Governor | None = None,
        *,
        run_id: str | None = None,
        models: Mapping[str, str] | None = None,
    ) -> Run:
        """Open a world: its run, its creatures and its channels, as one batch. Nobody acts until it is driven.

        `models` puts models by name behind handles or teams, for this run alone.
        """
        names = self._tools.names()
        if isinstance(world, LoadedWorld):
            check_tools(loaded := world, names)
        else:
            loaded = load_world(world, tools=names)
        self._check_code_beside(loaded)
        for manifest in loaded.manifests.values():
            if manifest.played_by is not None:
                self._agent_for(manifest)  # Whoever cannot play is refused before anything begins.
        limits = None if governor is None else governor.as_json()
        name = run_id or self._show.new_run_id()
        return await self._show.open(
            opening_of(loaded, run_id=name, seed=seed, rng_seed=rng_seed, limits=limits, models=models)
        )

    async def open_run(self, intent: OpenRun) -> Run:
        """Open a run from an intent that somebody has made ready; `open_world` makes one from a world."""
        return await self._show.open(intent)

    async def branch(self, session_id: str, at: str | None = None, change: WhatIf | None = None) -> Run:
        """Begin a counterfactual that shares the past of a session up to an event. Its parent stays as it is.

        Without an event: from the end. Where nothing differs, it is answered from the parent's record.
        """
        what_if = change or WhatIf()
        if at is not None and what_if.begins_before:
            check_line(await self._history.event(self._history.event_meant(session_id, at)))
        past = await self._pasts.at(session_id, at, before=what_if.begins_before)
        lines = changed(past, what_if)
        limits = None if what_if.limits is None else what_if.limits.as_json()
        return await self._show.restate(past, "branch", limits=limits, change=what_if.as_json(), lines=lines)

    async def resume(
        self,
        session_id: str,
        shape: Literal["recipe", "as-was"] = "recipe",
        *,
        world: WorldsNow = None,
    ) -> Run:
        """Play on from a session that is closed, imported or over, as a child of it.

        `recipe`: the scenario as it is on disk now, edited or not, each creature with the past of its own. `as-was`: the
        very shape that the session ended with. `world` is where the scenario lies now, if it has moved. Where several
        scenarios had met in the session, all live again: `beside` of the run that is returned names the others.
        """
        check_is_not_live(self._ledger.world, session_id)
        past = await self._pasts.at_the_end(session_id)
        if shape == "as-was":
            return await self._show.restate(past, "resume")
        recipes = recipes_of(
            past, session_id, world, self._tools.names(), lambda: self._show.new_run_for(past)
        )
        return await self._show.resume(past, recipes)

    def is_edited(self, run_id: str, *, world: WorldsNow = None) -> bool:
        """Whether the scenario on disk is another than the one that a run was opened from."""
        purse = self._ledger.folded.runs.purses.get(the_run(self._ledger.world, run_id).id)
        return is_edited(run_id, purse, world, self._tools.names())

    def runs(self) -> tuple[Run, ...]:
        """Every run that has begun, the oldest first."""
        return self._show.runs()

    def run_of(self, run_id: str) -> Run:
        """One run as it stands now."""
        return self._show.run(run_id)

    def leaderboard(
        self,
        by: By = "creature",
        *,
        world: str | None = None,
        run_ids: Collection[str] | None = None,
        branches: bool = False,
    ) -> tuple[Standing, ...]:
        """Who has won how often, over every contest that is over, the best first: by creature, team or model.

        Branches are left out unless `branches` says otherwise: what they share with their parents would count twice. Runs
        that are named in `run_ids` count whatever they are.
        """
        results = results_of(self._ledger.folded)
        if run_ids is not None:
            results = tuple([one for one in results if one.run_id in run_ids])
        elif not branches:
            left_out = doubled_in(self._ledger.folded, results)
            results = tuple([one for one in results if one.run_id not in left_out])
        return leaderboard(results, by, world=world)

    def branches_left_out(self, *, world: str | None = None) -> tuple[str, ...]:
        """The runs that a leaderboard leaves out, because they go on from others whose results they would count again."""
        results = results_of(self._ledger.folded)
        left_out = doubled_in(self._ledger.folded, results)
        return tuple([one.run_id for one in results if one.run_id in left_out and world in (None, one.world)])

    def check_model(self, model: str) -> None:
        """Refuse a name that no model has."""
        self._show.check_model(model)

    def due(self, run_id: str) -> tuple[DueTurn, ...]:
        """What the graphs of a run have to do next, whoever goes first coming first; empty if nothing is due."""
        return self._show.due(run_id)

    async def step_one(self, graph_id: str | None = None) -> Event | None:
        """One act, of the graph named or of the one that goes first: the event it ended in, or none if none is due."""
        return await self._show.step_one(graph_id)

    async def step(self, turns: int = 1) -> int:
        """So many turns of every graph; how many were played."""
        return await self._show.play(turns, self._pacing)

    async def run(self, run_id: str | None = None) -> int:
        """Play until nothing is due, or until the run named has finished; how many turns were played."""
        return await self._show.play(None, self._pacing, run_id)

    async def disturb(self, run_id: str, text: str, *, graph_id: str | None = None) -> Event:
        """Say something to everybody in a run's oldest graph, or in the graph named, as the visitor."""
        return await self._show.disturb(run_id, text, graph_id)

    def speak_as(self, creature_id: str, text: str) -> None:
        """Give a creature that a visitor plays its next line."""
        the_creature(self._ledger.world, creature_id)
        agent = self._mind(creature_id)
        if not isinstance(agent, VisitorAgent):
            raise Refused(f"{creature_id} is not played by a visitor.", "Write `played_by: visitor`.")
        agent.say(text)

    def send_visitors_away(self, run_id: str) -> tuple[str, ...]:
        """Let creatures that a visitor plays pass at once instead of waiting for a line; their handles."""
        handles: list[str] = []
        for creature in self._ledger.world.creatures.values():
            agent = self._mind(creature.id) if creature.run_id == run_id else None
            if isinstance(agent, VisitorAgent):
                agent.go_away()
                handles.append(creature.handle)
        return tuple(handles)

    async def pause(self, run_id: str, reason: str = "asked to") -> None:
        """Let nobody of a run begin an act until it goes on."""
        await self._show.pause(run_id, reason)

    async def continue_run(self, run_id: str) -> None:
        """Let a paused run go on."""
        await self._show.continue_run(run_id)

    async def finish(self, run_id: str, reason: FinishReason = "stopped") -> Event | None:
        """End a run once nobody of it is thinking any more; the one event that tells of it."""
        return await self._show.finish(run_id, reason)

    async def run_events(self, run_id: str) -> tuple[Event, ...]:
        """Everything of a run, in the order of histories: what it said and what happened to its graphs until its end."""
        return tuple(await self._history.events_of_run(run_id))

    async def record(self, run_id: str) -> RunRecord:
        """All that is needed to play a run again from its record; `verify` does. Refused where two runs shared a graph."""
        return await Records(self._store, self._ledger, self._history).of(run_id)

    async def digest(self, run_id: str) -> str:
        """The digest of a run: equal wherever and whenever the story is the same."""
        return digest_of(await self._history.events_of_run(run_id), self.skews())

    def skews(self) -> dict[str, int]:
        """How far the times of sessions that grew from a branch run ahead of the story's; a digest wants to know."""
        return {name: one.skew for name, one in self._ledger.world.sessions.items() if one.skew}

    async def prompt(self, digest: str) -> str | None:
        """A text that a model was given, by its digest, if it is still kept."""
        return await self._store.prompt(digest)

    async def why(self, event_id: str, *, role: Role = "audience") -> Why:
        """Why an event came to be: the chain of causes back to where it began, each with what was in sight."""
        return await self._why.why(event_id, role)

    async def who_knew(self, event_id: str) -> WhoKnew:
        """Which creatures could see an event, how, and since when; those who are gone, too."""
        return await self._who_knew.who_knew(event_id)
