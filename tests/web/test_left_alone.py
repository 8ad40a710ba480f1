"""A run that costs something does not go on with nobody there, unless it was told to."""

from __future__ import annotations

from typing import Any

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.models import Completion, Prompt, Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.web import driving
from tests.runtime.stage_crew import ANSWER, ticking, world_of
from tests.web.served import Served, blocks_of, served
from tests.web.test_commands import until

RUNS = "/api/v1/runs"


class Priced:
    """A model whose every answer costs a cent, or that nobody knows the price of."""

    name, is_free = "priced", False

    def __init__(self, usd: float | None) -> None:
        self.usd = usd

    async def complete(self, _prompt: Prompt) -> Completion:
        return Completion(ANSWER, self.name, Tokens(5, 5), usd=self.usd)


async def played(t: Terrarium, page: Served, **how: Any) -> str:
    world = world_of(ticking("ada"), ticking("bo"), governor={"max_turns": 3})
    run = await t.open_world(world)
    answer = await page.client.post(f"{RUNS}/{run.id}/play", json={"speed": "fast", **how})
    assert answer.status_code == 200, answer.text
    return run.id


@pytest.mark.parametrize("usd", [0.01, None])
async def test_a_run_that_costs_something_is_paused_when_no_director_looks_on(
    usd: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "alone_seconds_max", 0.0)
    async with Terrarium(MemoryStore(), models=ModelRouter(Priced(usd))) as t, served(t) as page:
        left = await played(t, page)
        await until(t, left, "paused")
        paused = t.run_of(left)
        assert paused.calls == 1
        assert paused.paused is not None
        assert "No director has looked on" in paused.paused.reason

        async with page.client.stream("GET", f"{RUNS}/{left}/stream", params={"role": "audience"}) as stream:
            blocks = blocks_of(stream.aiter_lines())  # Held, because the stream ends with it.
            assert (await anext(blocks)).name == "view"
            await page.client.post(f"{RUNS}/{left}/play", json={})
            await until(t, left, "paused")
        async with page.client.stream("GET", f"{RUNS}/{left}/stream") as stream:
            blocks = blocks_of(stream.aiter_lines())  # Held, because the stream ends with it.
            assert (await anext(blocks)).name == "view"
            await page.client.post(f"{RUNS}/{left}/play", json={})
            await until(t, left, "finished")

        await until(t, await played(t, page, continue_alone=True), "finished")


async def test_a_show_that_costs_nothing_goes_on_with_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driving, "alone_seconds_max", 0.0)
    async with Terrarium(MemoryStore(), models=ModelRouter(Priced(0.0))) as t, served(t) as page:
        await until(t, await played(t, page), "finished")


async def test_a_director_who_left_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driving, "alone_seconds_max", 3_600.0)
    async with Terrarium(MemoryStore(), models=ModelRouter(Priced(0.01))) as t, served(t) as page:
        await until(t, await played(t, page), "finished")
