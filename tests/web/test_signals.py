"""What goes on and is in no ledger: who thinks, in which place of the queue, what is being written, and who drives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from glasshouse import MemoryStore, Terrarium, kinds
from glasshouse.models import Completion, Prompt, Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.ports import OnText
from glasshouse.web.access import Access
from tests.runtime.stage_crew import ticking, world_of
from tests.web.served import Block, Served, blocks_of, served
from tests.web.test_commands import until

SECRET = "a secret of more than sixteen characters"
THOUGHT = "They must not know."
REPLY = json.dumps(
    {"kind": kinds.AGENT_SPOKE, "thought": THOUGHT, "text": "Good evening, moths.", "mood": "calm"}
)
UP_TO = REPLY.index("moths")


class Halting:
    """A model that stops in the middle of each reply until it may go on. It answers one creature at a time."""

    name, is_free, streams, max_parallel, backend = "halting", True, True, 1, "halting"

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.may_go_on = asyncio.Event()

    async def complete(self, prompt: Prompt, *, on_text: OnText | None = None) -> Completion:
        if on_text is not None:
            on_text(REPLY[:UP_TO])
        self.is_asked.set()
        await self.may_go_on.wait()
        return Completion(REPLY, self.name, Tokens(5, 5), usd=0.0)


async def signal_with(blocks: AsyncIterator[Block], is_wanted: Callable[[Any], bool]) -> Any:
    async for block in blocks:
        if block.name == "signal":
            assert block.id == ""
            if is_wanted(block.data):
                return block.data
    raise AssertionError("The stream ended.")


async def post(page: Served, path: str, token: str) -> Any:
    answer = await page.client.post(path, json={}, headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_everybody_is_told_who_thinks_waits_and_drives_and_nobody_a_thought() -> None:
    model, access = Halting(), Access(SECRET)
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t, served(t, access) as page:
        first, second = [await t.open_world(world_of(ticking("ada"), title="Moths")) for _ in range(2)]
        director, spectator = access.token_for("director"), access.token_for("spectator")
        look = {"authorization": f"Bearer {spectator}"}
        async with page.client.stream("GET", f"/api/v1/runs/{first.id}/stream", headers=look) as stream:
            blocks = blocks_of(stream.aiter_lines(), has_signals=True)
            at_rest = await signal_with(blocks, lambda signal: True)
            assert at_rest == {"thinking": {}, "driver": {first.id: {"state": "idle", "speed": "reading"}}}
            await post(page, f"/api/v1/runs/{first.id}/play", director)
            signal = await signal_with(
                blocks, lambda signal: any("text" in row for row in signal["thinking"].values())
            )
            (thinker,) = signal["thinking"].values()
            assert thinker["text"] == "Good evening,"
            assert thinker["tokens"] == 1
            assert "queued" not in thinker
            assert signal["driver"][first.id]["state"] == "playing"
            assert THOUGHT not in json.dumps(signal)

            await post(page, f"/api/v1/runs/{second.id}/play", director)
            path = f"/api/v1/runs/{second.id}/stream"
            async with page.client.stream("GET", path, headers=look) as other:
                waiting = await signal_with(
                    blocks_of(other.aiter_lines(), has_signals=True), lambda signal: bool(signal["thinking"])
                )
                assert [thinker["queued"] for thinker in waiting["thinking"].values()] == [1]
                assert list(waiting["driver"]) == [second.id]

            assert (await post(page, f"/api/v1/runs/{first.id}/pause", director))["state"] == "paused"
            await signal_with(blocks, lambda signal: signal["driver"][first.id]["state"] == "pausing")
            model.may_go_on.set()
            signal = await signal_with(blocks, lambda signal: signal["driver"][first.id]["state"] == "idle")
            assert signal["thinking"] == {}
            listed = await page.client.get("/api/v1/runs", headers=look, params={"state": "paused"})
            assert [run["id"] for run in listed.json()] == [first.id]
        assert t.run_of(first.id).calls == 1


async def test_a_run_that_is_played_on_while_its_act_in_flight_ends_does_not_pause() -> None:
    model = Halting()
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t, served(t) as page:
        run = await t.open_world(world_of(ticking("ada"), governor={"max_turns": 3}))
        path = f"/api/v1/runs/{run.id}"
        await page.client.post(f"{path}/play", json={"speed": "fast"})
        await model.is_asked.wait()
        paused = await page.client.post(f"{path}/pause", json={})
        played = await page.client.post(f"{path}/play", json={})
        assert (paused.json()["state"], played.json()["state"]) == ("paused", "playing")
        model.may_go_on.set()
        await until(t, run.id, "finished")
        assert t.run_of(run.id).calls == 3
