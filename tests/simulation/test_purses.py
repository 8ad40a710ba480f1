"""Purses while two driven runs merge, split and spawn at random: no money is created and none is lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from glasshouse import Agent, Draft, Event, Manifest, MemoryStore, Refused, SqliteStore, kinds
from glasshouse.events.payloads import Governor
from glasshouse.manifests.manifest import Schedule
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.store_port import Store
from glasshouse.terrarium import Terrarium
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.prompts.context import prompt_for
from tests.runtime.limits_by_hand import only, priced
from tests.runtime.stage_crew import hearing, on_stage, ticking, world_of
from tests.runtime.troupe import soon
from tests.simulation.ledger_checks import check_ends
from tests.simulation.seeds import fresh_seeds, replayable, usual_seeds

steps_of_a_play = 60
usd_a_million = 25.0
"""So the worst case of a call costs more than any answer of the model."""
usd_lost_max = 1e-9
"""What sums of floating point may lose."""


class Priced:
    """A model whose answers cost what their prompt's seed says; it keeps its own account."""

    def __init__(self) -> None:
        self.tokens, self.usd = 0, 0.0

    async def complete(self, prompt: Prompt) -> Completion:
        answer = Completion(
            "-", "priced", Tokens(prompt.seed % 97, prompt.seed % 13), usd=(prompt.seed % 8) / 1024
        )
        self.tokens += answer.usage.total
        self.usd += answer.usd or 0.0
        return answer


class Restless(Agent):
    """Asks once, twice or not at all, and sometimes changes the graph it is in from inside its act."""

    def __init__(self, t: Terrarium, dice: random.Random) -> None:
        self.t, self.dice = t, dice

    async def act(self, moment: Moment) -> Draft | None:
        for _ in range(self.dice.choice((0, 1, 1, 2))):
            await moment.ask(prompt_for(moment))
        if self.dice.random() < 0.2:
            await disturbed(self.t, self.dice)
        if self.dice.random() < 0.1:
            raise ValueError("lost the thread")
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{moment.handle}{moment.turn}"})


async def disturbed(t: Terrarium, dice: random.Random) -> None:
    """One random change of the graphs; what is refused changes nothing."""
    alive = [creature.id for creature in t.creatures()]
    first, other = dice.choice(alive), dice.choice(alive)
    with suppress(Refused):
        match dice.randrange(6):
            case 0:
                kid = Manifest(name="kid", schedule=Schedule(tick_every=dice.choice((1, 2, 3))))
                await t.add_creature(
                    kid,
                    agent=Restless(t, dice),
                    graph=t.creature(first).graph_id,
                    run=t.creature(other).run_id,
                    parent=other,
                )
            case 1 | 2:
                await t.connect(first, other, both=True)
            case 3 | 4:
                await t.disconnect(first, other)
            case _ if len(alive) > 4:
                await t.remove_creature(first)


def spent(events: list[Event]) -> dict[str, list[float]]:
    """What each run spent, added up from the ledger by where the actor of each act was born."""
    home = {
        event.payload["creature"]: event.payload["run_id"]
        for event in events
        if event.kind == kinds.CREATURE_STARTED and "run_id" in event.payload
    }
    ends = (kinds.AGENT_SPOKE, kinds.AGENT_FAILED, kinds.AGENT_PASSED, kinds.ACT_DISCARDED)
    amounts: dict[str, list[float]] = {run_id: [0, 0, 0.0] for run_id in home.values()}
    for event in events:
        if event.kind in ends:
            assert event.run_id == home[event.actor]
            amount = amounts[home[event.actor]]
            amount[0] += len(event.calls) if event.model is not None else 1
            amount[1] += sum(call.usage.total for call in event.calls)
            amount[2] += sum(call.usd or 0.0 for call in event.calls)
    return amounts


async def play(seed: int, store: Store) -> Mapping[str, list[float]]:
    dice = random.Random(seed)
    limits = {
        "r-1": Governor(max_total_calls=70, max_calls_per_turn=30),
        "r-2": Governor(max_total_tokens=9_000),
    }
    model = Priced()
    async with on_stage(store, models=ModelRouter(model)) as t:
        for run_id, names in (("r-1", ("ada", "bo", "cy")), ("r-2", ("dee", "eve"))):
            cast = [hearing(names[0], kinds.USER_INJECTED), *[ticking(name) for name in names[1:]]]
            await t.open_world(world_of(*cast), governor=limits[run_id], run_id=run_id)
            for name in names:
                t._parts.minds.give(name, Restless(t, dice))
        for _ in range(steps_of_a_play):
            if dice.random() < 0.5:
                await disturbed(t, dice)
            await soon(t.step_one())
            assert {run.id: run.governor for run in t.runs()} == limits
        await soon(t.run())
        events = await store.read_after(0, 1_000_000)
        amounts = spent(events)
        assert sum(tokens for _, tokens, _ in amounts.values()) == model.tokens
        assert sum(usd for *_, usd in amounts.values()) == pytest.approx(model.usd)
        for run in t.runs():
            assert [run.calls, run.tokens, run.usd] == pytest.approx(amounts[run.id])
            assert run.calls <= (run.governor.max_total_calls or 0)
            ends = [e for e in events if e.kind == kinds.RUN_FINISHED and e.run_id == run.id]
            assert len(ends) == run.is_finished
            for end in ends:
                reported = [end.payload[key] for key in ("calls", "tokens", "usd")]
                assert reported == pytest.approx(amounts[run.id])
                assert not [e for e in events[events.index(end) + 1 :] if e.run_id == run.id]
        await check_ends(store)
        return amounts


@pytest.mark.parametrize("seed", usual_seeds(12))
async def test_each_act_is_paid_by_the_run_its_creature_was_born_in(seed: int, tmp_path: Path) -> None:
    with replayable(seed, "test_purses.py"):
        amounts = await play(seed, MemoryStore())

        assert all(calls > 0 for calls, *_ in amounts.values())
        if seed % 4 == 0:
            assert await play(seed, SqliteStore(tmp_path / "t.db")) == amounts


class Slow(Priced):
    """The same, and other acts think meanwhile."""

    async def complete(self, prompt: Prompt) -> Completion:
        for _ in range(prompt.seed % 23):
            await asyncio.sleep(0)
        return await super().complete(prompt)


async def play_for_dollars(seed: int) -> None:
    """Two runs that think together and at their own speed, while their graphs merge and split: what is recorded never costs
    more than a run may."""
    dice = random.Random(seed)
    most = {"r-1": 0.15, "r-2": 0.1}
    model = Slow()
    async with on_stage(MemoryStore(), models=priced(model, usd_a_million), pacing="free") as t:
        for run_id, names in (("r-1", ("ada", "bo", "cy")), ("r-2", ("dee", "eve"))):
            cast = [ticking(name, together=True) for name in names]
            limits = only(max_total_usd=most[run_id], max_turns=60)
            await t.open_world(world_of(*cast), governor=limits, run_id=run_id)
            for name in names:
                t._parts.minds.give(name, Restless(t, dice))
        driven = asyncio.create_task(t.run())
        while not driven.done():
            if t.creatures():
                await disturbed(t, dice)
            for _ in range(dice.randrange(60)):
                await asyncio.sleep(0)
        await soon(driven)
        costs = dict.fromkeys(most, 0.0)
        for event in await t._parts.house.store.read_after(0, 1_000_000):
            costs[event.run_id or "r-1"] += sum(call.usd or 0.0 for call in event.calls)
            assert all(costs[run_id] <= usd_max + usd_lost_max for run_id, usd_max in most.items())
        assert sum(costs.values()) == pytest.approx(model.usd)
        for run in t.runs():
            assert run.usd == pytest.approx(costs[run.id])
            assert run.is_finished


@pytest.mark.parametrize("seed", usual_seeds(10))
async def test_no_run_costs_more_than_its_dollars_through_merges_splits_and_calls_side_by_side(
    seed: int,
) -> None:
    with replayable(seed, "test_purses.py"):
        await play_for_dollars(seed)


@pytest.mark.soak
async def test_purses_for_a_long_time() -> None:
    for seed in fresh_seeds(300):
        with replayable(seed, "test_purses.py"):
            await play(seed, MemoryStore())
            await play_for_dollars(seed)
