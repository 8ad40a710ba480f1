"""Replay of two or three runs that merged and split in one house: each gives the same result, also where one was imported.

The graph is also changed from outside, between acts and while creatures think.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Draft, Governor, Manifest, ModelRouter, Terrarium, kinds
from glasshouse.errors import Refused
from glasshouse.manifests import LoadedWorld
from glasshouse.model_values import Tokens
from glasshouse.runtime.capabilities import Pacing
from glasshouse.runtime.replay.replay import Verification
from glasshouse.runtime.store_port import Store
from glasshouse.stores.memory import MemoryStore
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.runtime.stage_crew import ticking
from tests.simulation.ledger_checks import check_ends
from tests.simulation.seeds import replayable, rig_seeds
from tests.simulation.worlds_by_code import two_troupes
from tests.simulation.worlds_with_tools import Consulting, CountingTools, rooms_with_tools

Meddle = Callable[[], Awaitable[None]]
verify_seconds_max = 60.0


class Musing:
    """A model that takes its time: others act meanwhile, and sometimes somebody outside changes something."""

    is_free = True

    def __init__(self, name: str, chance: random.Random) -> None:
        self.name = name
        self.chance = chance
        self.meddle: Meddle | None = None
        self._model = Consulting()

    async def complete(self, prompt: Prompt) -> Completion:
        for _ in range(self.chance.randrange(4)):
            await asyncio.sleep(0)
        if self.meddle is not None and self.chance.random() < 0.12:
            await self.meddle()
        answer = await self._model.complete(prompt)
        return Completion(answer.text, self.name, Tokens(20, 10), usd=0.0)


class Crowd:
    """Several runs in one house, and somebody outside who connects and parts them."""

    def __init__(self, seed: int, store: Store, pacing: Pacing = "lockstep", **more: Any) -> None:
        self.chance = random.Random(seed)
        self.models = [Musing(name, self.chance) for name in ("usual", "other", "third")]
        usual, other, third = self.models
        self.t = Terrarium(
            store,
            models=ModelRouter(usual, named={"other": other, "third": third}),
            tools=CountingTools(),
            governor=Governor(max_turns=9, max_total_calls=120),
            pacing=pacing,
            **more,
        )
        self.runs: list[str] = []

    async def play(self, *, runs: int, steps: int, side_by_side: bool) -> None:
        await self.open_one()
        for model in self.models:
            model.meddle = self.change_something
        for step in range(steps):
            if len(self.runs) < runs and (self.chance.random() < 0.3 or step > steps // 2):
                await self.open_one()
            for _ in range(self.chance.randrange(3)):
                await self.change_something()
            await self.drive(side_by_side=side_by_side)
        await self.t.run()

    async def open_one(self) -> None:
        """A world, with models and limits of its own; or creatures without a world."""
        chance = self.chance
        world: LoadedWorld = chance.choice([two_troupes, rooms_with_tools])()
        handles = [entry.name for stage in world.scenario.stages.values() for entry in stage.cast]
        models = {handle: chance.choice(["other", "third"]) for handle in handles if chance.random() < 0.3}
        limits = chance.choice([None, Governor(max_turns=4), Governor(max_total_calls=25)])
        run = await self.t.open_world(world, rng_seed=chance.randrange(9), governor=limits, models=models)
        self.runs.append(run.id)
        if chance.random() < 0.3:
            await self.t.add_creature(ticking("stray", persona="belongs to nobody"))

    async def drive(self, *, side_by_side: bool) -> None:
        playing = [run_id for run_id in self.runs if self.t.run_of(run_id).status == "playing"]
        if side_by_side and len(playing) > 1:
            await asyncio.gather(*[self.t.run(run_id, turns=1) for run_id in playing])
        elif self.chance.random() < 0.5:
            await self.t.step_one()
        else:
            await self.t.step(1)

    async def change_something(self) -> None:
        """Chance asks for much that cannot be."""
        with suppress(Refused):
            await self.some_change()

    async def some_change(self) -> None:
        t, chance = self.t, self.chance
        living = [creature.id for creature in t.creatures()]
        first, other = chance.choice(living), chance.choice(living)
        graph, run_id = t.creature(first).graph_id, chance.choice(self.runs)
        channels = [channel.name for channel in t.environment(graph).channels]
        line = Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"Said from outside, {chance.randrange(99)}."})
        moth = Manifest(name="moth", persona="circles", subscribes_to=(kinds.AGENT_SPOKE,))
        asked: list[Callable[[], Awaitable[object]]] = [
            lambda: t.connect(first, other, channel=chance.choice(["bridge", None]), both=True),
            lambda: t.connect(first, other, channel=chance.choice([*channels, "loft"])),
            lambda: t.disconnect(first, other, channel=chance.choice([*channels, None])),
            lambda: t.remove_channel(graph, chance.choice([*channels, "bridge"])),
            lambda: t.add_creature(moth, run=run_id, graph=chance.choice([graph, None])),
            lambda: t.remove_creature(first),
            lambda: t.wire(first, other, with_content=chance.random() < 0.5),
            lambda: t.stop_creature(first),
            lambda: t.start_creature(first),
            lambda: t.append(first, line),
            lambda: t.disturb(run_id, "A bell.", graph_id=chance.choice([graph, None])),
            lambda: t.pause(run_id),
            lambda: t.continue_run(run_id),
            lambda: t.continue_run(run_id),
        ]
        await chance.choice(asked)()

    async def verified(self) -> dict[str, Verification]:
        run_ids = [run.id for run in self.t.runs()]
        return {
            run_id: await asyncio.wait_for(verify(self.t, run_id), verify_seconds_max) for run_id in run_ids
        }


def difference(outcome: Verification) -> tuple[object, ...]:
    return outcome.recorded_event, outcome.replayed_event, outcome.prompt_diffs[:1]


@pytest.mark.parametrize("side_by_side", [False, True], ids=["one by one", "side by side"])
@pytest.mark.parametrize("runs", [2, 3])
@pytest.mark.parametrize(
    "seed", rig_seeds(2, also=(9, 15, 19, 26, 28, 38, 48, 53, 64, 68, 112, 114, 118, 123, 144))
)
async def test_runs_that_met_each_come_out_the_same(
    seed: int, runs: int, side_by_side: bool, tmp_path: Path
) -> None:
    await check_a_play(seed, runs, tmp_path, side_by_side=side_by_side, pacing="lockstep")


@pytest.mark.parametrize("side_by_side", [False, True], ids=["one by one", "side by side"])
@pytest.mark.parametrize("seed", rig_seeds(2, also=(9, 15, 26, 53, 114, 201, 226)))
async def test_runs_that_met_at_their_own_speed_each_come_out_the_same(
    seed: int, side_by_side: bool, tmp_path: Path
) -> None:
    await check_a_play(seed, 3, tmp_path, side_by_side=side_by_side, pacing="free")


async def check_a_play(seed: int, runs: int, folder: Path, *, side_by_side: bool, pacing: Pacing) -> None:
    with replayable(seed, "test_replay_of_runs_that_met.py"):
        store = MemoryStore()
        crowd = Crowd(seed, store, pacing)
        async with crowd.t:
            await crowd.play(runs=runs, steps=8, side_by_side=side_by_side)

            outcomes = await crowd.verified()

            await check_ends(store)
            assert len(outcomes) >= runs
            for run_id, outcome in outcomes.items():
                assert outcome.is_same, (run_id, *difference(outcome))
                assert outcome.prompt_diffs == ()
                assert outcome.recorded_digest == await crowd.t.digest(run_id)
            run_id = crowd.chance.choice(list(outcomes))
            path = await crowd.t.export(run_id, folder / "play.glass", role="director")
        async with Crowd(seed + 1, MemoryStore()).t as elsewhere:
            await elsewhere.import_file(path)
            outcome = await asyncio.wait_for(verify(elsewhere, run_id), verify_seconds_max)
            assert outcome.is_same, ("in another store", run_id, *difference(outcome))
            assert outcome.recorded_digest == outcomes[run_id].recorded_digest
