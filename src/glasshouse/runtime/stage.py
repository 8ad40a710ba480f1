"""`Stage`: runs, whoever plays in them, and whoever visits: worlds are opened here, and graphs are driven.

Always holds: nobody acts until somebody drives. What a run has done is in the ledger; agents and referees are given
anew whenever the house is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from glasshouse.errors import Refused
from glasshouse.events.event import Event
from glasshouse.events.limits import Governor
from glasshouse.events.run_payloads import FinishReason
from glasshouse.runtime.conducting.conductor import BeforeAct
from glasshouse.runtime.conducting.order import Pacing
from glasshouse.runtime.conducting.referee_files import referee_named
from glasshouse.runtime.conducting.show import Show
from glasshouse.runtime.conducting.until import Conducted
from glasshouse.runtime.house import House
from glasshouse.runtime.minds.code_beside import function_beside
from glasshouse.runtime.minds.minds import Minds
from glasshouse.runtime.minds.visitor import VisitorAgent
from glasshouse.runtime.ports import Toolbox
from glasshouse.runtime.run import DueTurn, Run
from glasshouse.world.lookup import the_creature

if TYPE_CHECKING:
    from glasshouse.manifests.loading import LoadedWorld
    from glasshouse.runtime.past.recipes import AnyWorld


class Stage:
    """Opens worlds and drives them."""

    def __init__(self, house: House, minds: Minds, show: Show, tools: Toolbox, pacing: Pacing) -> None:
        self._ledger = house.ledger
        self._minds = minds
        self._show = show
        self._tools = tools
        self._pacing: Pacing = pacing

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
        # A program that plays without worlds in files need not wait for what reads and checks them.
        from glasshouse.manifests.loading import check_tools, load_world
        from glasshouse.manifests.opening import opening_of

        names = self._tools.names()
        if isinstance(world, str | Path):
            loaded = load_world(world, tools=names)
        else:
            check_tools(loaded := world, names)
        _check_code_beside(loaded)
        for manifest in loaded.manifests.values():
            self._minds.check(manifest)
        return await self._show.open(
            opening_of(
                loaded,
                run_id=run_id or self._show.new_run_id(),
                seed=seed,
                rng_seed=rng_seed,
                limits=governor,
                models=models,
            )
        )

    def runs(self) -> tuple[Run, ...]:
        """Every run that has begun, the oldest first."""
        return self._show.runs()

    def run_of(self, run_id: str) -> Run:
        """One run as it stands now."""
        return self._show.run(run_id)

    def check_model(self, model: str) -> None:
        """Refuse a name that no model has."""
        self._show.check_model(model)

    def due(self, run_id: str) -> tuple[DueTurn, ...]:
        """What the graphs of a run have to do next, whoever goes first coming first; empty if nothing is due."""
        return self._show.due(run_id)

    async def step_one(self, graph_id: str | None = None) -> Event | None:
        """One act, of the graph named or of the one that goes first: the event it ended in, or none if none is due."""
        return await self._show.step_one(graph_id)

    async def step(self, turns: int = 1, *, before_act: BeforeAct | None = None) -> Conducted:
        """So many turns of every graph."""
        return await self._show.play(self._pacing, turns=turns, before_act=before_act)

    async def run(
        self, *run_ids: str, turns: int | None = None, before_act: BeforeAct | None = None
    ) -> Conducted:
        """Play until nothing is due, or until the runs named have finished; or so many turns of each of their graphs.

        `before_act` is a gate that is awaited before each act. It may wait, and ends the drive with False.
        """
        return await self._show.play(self._pacing, *run_ids, turns=turns, before_act=before_act)

    async def disturb(self, run_id: str, text: str, *, graph_id: str | None = None) -> Event:
        """Say something to everybody in a run's oldest graph, or in the graph named, as the visitor."""
        return await self._show.disturb(run_id, text, graph_id)

    def speak_as(self, creature_id: str, text: str) -> None:
        """Give a creature that a visitor plays its next line."""
        agent = self._minds.of(the_creature(self._ledger.world, creature_id).id)
        if not isinstance(agent, VisitorAgent):
            raise Refused(f"{creature_id} is not played by a visitor.", "Write `played_by: visitor`.")
        agent.say(text)

    def send_visitors_away(self, run_id: str) -> tuple[str, ...]:
        """Let creatures that a visitor plays pass at once instead of waiting for a line; their handles."""
        handles: list[str] = []
        for creature in self._ledger.world.creatures.values():
            agent = self._minds.of(creature.id) if creature.run_id == run_id else None
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

    async def stop_acts(self) -> None:
        """Stop whatever was begun ahead."""
        await self._show.close()


def _check_code_beside(world: LoadedWorld) -> None:
    """Refuse a world whose own referee or tools cannot be loaded, before anything begins."""
    folder = None if world.path is None else str(world.path)
    if world.scenario.competition.referee is not None:
        referee_named(world.scenario.competition.referee, folder)
    if folder is None:
        return
    tools = [name for manifest in world.manifests.values() for name in manifest.tools if ":" in name]
    for name in dict.fromkeys(tools):
        function_beside(folder, name, "tool", "it takes what a model gives it, and gives back data.")
