"""Two runs through one server: joined they stay two, and neither waits for the other."""

from __future__ import annotations

import asyncio
from typing import Any

from glasshouse import MemoryStore, Terrarium
from glasshouse.models import Completion, Prompt, Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.terrarium import verify
from tests.runtime.stage_crew import ANSWER, ticking, world_of
from tests.web.served import Served, served
from tests.web.test_commands import RUNS, post, until


async def test_two_runs_that_are_joined_stay_two_with_two_purses_and_each_verifies() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        wood, roots = [await t.open_world(world) for world in ("thousand-token-wood", "mystery-roots")]
        for run in (wood, roots):
            await post(page, f"{RUNS}/{run.id}/step")
        bridge = {"what": "connect", "creature": "seedkeeper", "target": "clue-gatherer"}
        assert (await post(page, "/api/v1/edits", bridge))["kind"] == "merge"
        for run in (wood, roots):
            await post(page, f"{RUNS}/{run.id}/play", {"speed": "fast"})
        for run in (wood, roots):
            await until(t, run.id, "finished")

        view: dict[str, Any] = await page.get(f"{RUNS}/{wood.id}/view")
        assert set(view["runs"]) == {wood.id, roots.id}
        assert len(view["graphs"]) == 1
        for run in (wood, roots):
            now = t.run_of(run.id)
            assert view["runs"][run.id]["spent"]["calls"] == now.calls > 0
            assert view["runs"][run.id]["limits"]["max_turns"] == run.governor.max_turns
            verified = await verify(t, run.id)
            assert verified.recorded_event is None, verified
            assert verified.replayed_digest == verified.recorded_digest
        own = {creature["handle"]: creature["run"] for creature in view["creatures"].values()}
        assert own["seedkeeper"] == wood.id
        assert own["clue-gatherer"] == roots.id


class Slow:
    """A model that takes a second, and as many calls at once as it gets."""

    name, is_free = "slow", True

    async def complete(self, _prompt: Prompt) -> Completion:
        await asyncio.sleep(1)
        return Completion(ANSWER, self.name, Tokens(5, 5), usd=0.0)


async def seconds_to_play(t: Terrarium, page: Served, count: int) -> float:
    """How long that many runs of three acts take, started one after the other."""
    limits = {"max_turns": 3}
    runs = [await t.open_world(world_of(ticking("ada"), governor=limits)) for _ in range(count)]
    began = asyncio.get_running_loop().time()
    for run in runs:
        await post(page, f"{RUNS}/{run.id}/play", {"speed": "fast"})
    for run in runs:
        await until(t, run.id, "finished")
    return asyncio.get_running_loop().time() - began


async def test_two_runs_on_a_slow_model_take_no_longer_than_one() -> None:
    async with Terrarium(MemoryStore(), models=ModelRouter(Slow())) as t, served(t) as page:
        alone = await seconds_to_play(t, page, 1)
        two = await seconds_to_play(t, page, 2)

        assert alone >= 3
        assert two < 1.6 * alone  # One after the other would take twice as long.
