"""Runs that rebuild themselves and meet, while somebody outside takes time to approve: new runs begin meanwhile, and what was
asked for changes. Every act ends once, no drive spins, and every run verifies."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from hashlib import blake2b
from typing import Any

import pytest

from glasshouse import Governor, MemoryStore, ModelRouter, Refused, Terrarium, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.model_values import Tokens
from glasshouse.runtime.capabilities import Pacing
from glasshouse.runtime.ports import Proposal
from glasshouse.runtime.store_port import Store
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import TOOLS_SAID, Completion, Prompt
from tests.made_up_words import word_for
from tests.runtime.stage_crew import hearing, ticking, world_of
from tests.runtime.troupe import soon
from tests.simulation.ledger_checks import check_ends, ledger_of
from tests.simulation.seeds import replayable, rig_seeds

runs_max = 3
unusable_share = 0.15
LIMITS = {"max_turns": 3, "max_calls_per_turn": 7, "max_total_calls": 90, "on_turn_limit": "defer"}


class Rebuilding:
    """A model that calls some of the tools it is offered with what it may fill in, and then speaks. What it says hangs on its
    prompt alone; how long it takes, and whether its answer can be used, hangs on chance."""

    name = "rebuilding"
    is_free = True

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    async def complete(self, prompt: Prompt) -> Completion:
        for _ in range(self._chance.randrange(4)):
            await asyncio.sleep(0)
        text = "?" if self._chance.random() < unusable_share else json.dumps(_reply(prompt))
        return Completion(text, self.name, Tokens(20, 10), usd=0.0)


def _reply(prompt: Prompt) -> dict[str, Any]:
    dice = random.Random(blake2b(f"{prompt.seed}/{prompt.user}".encode(), digest_size=8).digest())
    said = prompt.user.partition(f"\n{TOOLS_SAID}\n")[2].count("group_")
    branches = (prompt.schema or {"anyOf": []})["anyOf"]
    tools = [branch["properties"] for branch in branches if "tool" in branch["properties"]]
    if tools and dice.randrange(2 + said):
        tool = dice.choice(tools)
        fields = tool["arguments"]["properties"].items()
        arguments = {name: dice.choice(field["enum"]) for name, field in fields if "enum" in field}
        return {"kind": "tool.called", "thought": "", "tool": tool["tool"]["const"], "arguments": arguments}
    kind = branches[0]["properties"]["kind"]["const"]
    return {"kind": kind, "thought": "", "text": f"{word_for(dice.randrange(1009))} after {said}"}


def team() -> LoadedWorld:
    """One who may change the graph, and whom it may stop, remove, connect and add."""
    others = [ticking("moth"), ticking("owl", together=True), hearing("fern"), hearing("botanist")]
    cast = [{"use": "lead", "privileged": True}, "moth", "owl", "fern"]
    lead = ticking("lead", role="root")
    return world_of(lead, *others, cast=cast, spawnable=["botanist"], governor=LIMITS)


class House:
    """Runs of teams, and somebody outside who approves, changes things, and opens more runs while they are asked."""

    def __init__(self, seed: int, store: Store, pacing: Pacing) -> None:
        self.chance = random.Random(seed)
        self.t = Terrarium(
            store,
            models=ModelRouter(Rebuilding(self.chance)),
            governor=Governor(max_turns=9, max_total_calls=120),
            pacing=pacing,
            approver=self.approves,
        )
        self.runs: list[str] = []
        self._asked: asyncio.Queue[tuple[Proposal, asyncio.Future[bool]]] = asyncio.Queue()

    async def open_one(self) -> None:
        run = await self.t.open_world(team(), rng_seed=self.chance.randrange(9))
        self.runs.append(run.id)
        await self.t.disturb(run.id, "A stranger knocks.")

    async def approves(self, proposal: Proposal) -> bool:
        """Pass the question on to the task outside: from inside an act no run can be opened."""
        verdict: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._asked.put_nowait((proposal, verdict))
        return await verdict

    async def answers(self) -> None:
        """Answer every question, after some time in which much may happen."""
        while True:
            proposal, verdict = await self._asked.get()
            said = await self.verdict_on(proposal)
            if not verdict.done():
                verdict.set_result(said)

    async def verdict_on(self, proposal: Proposal) -> bool:
        chance = self.chance
        for _ in range(chance.randrange(6)):
            await asyncio.sleep(0)
        if chance.random() < 0.7:
            await self.changes_what_is_asked_for(proposal)
        if chance.random() < 0.6 and len(self.runs) < runs_max:
            await self.open_one()
            newest = self.t.creatures()[-1]
            with suppress(Refused):
                await self.t.connect(newest.id, proposal.creature, both=True)
        return chance.random() < 0.6

    async def changes_what_is_asked_for(self, proposal: Proposal) -> None:
        """Stop, start, remove or connect the creature that the proposal names, or any other beside it."""
        t, chance = self.t, self.chance
        with suppress(Refused):  # Chance asks for much that cannot be.
            members = [
                t.creature(name) for name in t.graph(t.creature(proposal.creature).graph_id).creature_ids
            ]
            named = [member for member in members if member.handle == proposal.arguments.get("creature")]
            name = chance.choice(named or members).id
            match chance.randrange(4):
                case 0 | 1:
                    await t.stop_creature(name)
                case 2:
                    await t.remove_creature(name)
                case _:
                    await t.connect(name, chance.choice(t.creatures()).id, both=True)

    async def play(self, *, side_by_side: bool) -> None:
        async with asyncio.TaskGroup() as tasks:
            outside = tasks.create_task(self.answers())
            await self.play_on(side_by_side=side_by_side)
            outside.cancel()

    async def play_on(self, *, side_by_side: bool) -> None:
        await self.open_one()
        for _ in range(4):
            playing = [run_id for run_id in self.runs if self.t.run_of(run_id).status == "playing"]
            if side_by_side:
                await soon(asyncio.gather(*[self.t.run(run_id, turns=1) for run_id in playing]))
            else:
                await soon(self.t.step(1))
        await soon(self.t.run())


@pytest.mark.parametrize("side_by_side", [False, True], ids=["one by one", "side by side"])
@pytest.mark.parametrize("pacing", ["lockstep", "free"])
@pytest.mark.parametrize("seed", rig_seeds(8))
async def test_runs_that_begin_while_somebody_is_asked_come_out_the_same(
    seed: int, pacing: Pacing, *, side_by_side: bool
) -> None:
    with replayable(seed, "test_approvals.py"):
        store = MemoryStore()
        house = House(seed, store, pacing)
        async with house.t:
            await house.play(side_by_side=side_by_side)

            await check_ends(store)
            decided = [event for event in await ledger_of(store) if event.kind == kinds.EDIT_DECIDED]
            assert not [event for event in decided if "Asking failed" in event.payload.get("reason", "")]
            for run in house.t.runs():
                outcome = await soon(verify(house.t, run.id))
                assert outcome.is_same, (run.id, outcome.recorded_event, outcome.replayed_event)
                assert outcome.prompt_diffs == ()
