"""Random answers and faults of a model server: every request is accounted once, no limit is exceeded, every act ends once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

import pytest

from glasshouse import Governor
from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.events.event import Event
from glasshouse.events.model_use import Price
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.acts.backend_queue import queue_of
from glasshouse.runtime.capabilities import capabilities_of
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.runtime.ports import Route
from glasshouse.terrarium import Terrarium, verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.runtime.limits_by_hand import NO_LIMIT
from tests.runtime.stage_crew import ANSWER, ledger_of, on_stage, ticking, world_of
from tests.runtime.troupe import soon
from tests.simulation.ledger_checks import check_ends
from tests.simulation.seeds import replayable, rig_seeds

PRICE = Price(2.0, 4.0, cache_write=3.0)
USED = Tokens(40, 10, cache_read=20)
steps_max = 400
"""No play of these sizes needs as many moves of the clock."""


NOT_REACHED = {
    "away": ModelUnreachable("Nobody answers."),
    "busy": ModelUnreachable("It is busy.", retry_after=3.0),
    "refuses": ModelMisconfigured("It refuses the key.", "Give another one."),
}


class Moody:
    """A model that does what it is told to, after some turns of the loop, and counts what reached it."""

    def __init__(self, moods: list[tuple[str, int]], name: str, max_parallel: int) -> None:
        self.name = self.backend = name
        self.max_parallel = max_parallel
        self.moods = moods
        self.asked = 0
        self.reached: Counter[str] = Counter()
        self.inside = self.most = 0
        self.seeds: list[int] = []

    async def complete(self, prompt: Prompt) -> Completion:
        mood, turns = self.moods[self.asked % len(self.moods)]
        self.asked += 1
        self.seeds.append(prompt.seed)
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            for _ in range(turns):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.reached["cut off"] += 1
            raise
        finally:
            self.inside -= 1
        return self._done(mood)

    def _done(self, mood: str) -> Completion:
        if mood in NOT_REACHED:
            raise NOT_REACHED[mood]
        self.reached[mood] += 1
        match mood:
            case "fails":
                raise ModelFailed("It broke.", usage=USED)
            case "silent":
                raise ModelFailed("It did not answer.")
            case "counts nothing":
                return Completion(ANSWER, self.name)
            case "nonsense":
                return Completion("?", self.name, USED)
            case _:
                return Completion(ANSWER, self.name, USED)


MOODS = (
    "answers",
    "answers",
    "answers",
    "counts nothing",
    "nonsense",
    "fails",
    "silent",
    "away",
    "busy",
    "refuses",
)


@pytest.mark.parametrize("seed", rig_seeds(24, also=(261, 359)))
def test_every_request_is_accounted_once_whatever_happens(seed: int) -> None:
    chance = random.Random(seed)
    moods = [(chance.choice(MOODS), chance.randint(0, 6)) for _ in range(chance.randint(1, 12))]
    limits: dict[str, Any] = {"max_turns": chance.randint(1, 4)}
    if chance.random() < 0.5:
        limits["max_total_calls"] = chance.randint(1, 12)
    if chance.random() < 0.4:
        limits["max_total_tokens"] = chance.randint(500, 8_000)
    if chance.random() < 0.4:
        limits["hourly_budget_usd"] = chance.uniform(0.001, 0.03)
    if (
        random.Random(seed + 0.5).random() < 0.4
    ):  # Of its own, so that the seeds that once failed stay the same.
        limits["max_total_usd"] = random.Random(seed + 0.75).uniform(0.001, 0.03)
    if chance.random() < 0.5:
        limits["on_budget"] = chance.choice(["finish", "pause"])
    has_spare, together, parallel = chance.random() < 0.3, chance.random() < 0.5, chance.randint(1, 4)
    cancels = [chance.randint(1, 40) for _ in range(chance.randint(0, 3))]
    spare_form = chance.choice(("auto", "json", "prose")) if has_spare else None
    with replayable(seed, "test_asking_at_random.py"):
        asyncio.run(_played(moods, spare_form, limits, together, parallel, cancels))


async def _played(
    moods: list[tuple[str, int]],
    spare_form: Any,
    limits: dict[str, Any],
    together: bool,
    parallel: int,
    cancels: list[int],
) -> None:
    clock, model = HandMovedClock(), Moody(moods, "first", parallel)
    other = Moody([("answers", 1), ("fails", 0)], "spare", 2)
    spare = Route(other, "spare", 4_096, 200, Price(1.0, 1.0), form=spare_form or "auto")
    fallbacks = () if spare_form is None else (spare,)
    route = Route(model, "first", 8_192, 384, PRICE, fallbacks=fallbacks)
    router = ModelRouter(dict.fromkeys(("tiny", "fast", "balanced", "strong"), route))
    governor = Governor(**{**NO_LIMIT, "max_calls_per_turn": 40, **limits})
    cast = [ticking(name, together=together) for name in "abc"]
    async with on_stage(models=router, clock=clock) as t:
        run = await t.open_world(world_of(*cast), governor=governor)
        for turns in cancels:
            await _cancelled_after(turns, t, clock)
        pauses = 0
        while not t.run_of(run.id).is_finished and pauses < 6:
            paused = t.run_of(run.id).paused
            pauses += paused is not None
            if paused is not None:
                await t.continue_run(run.id)
            await _moving(clock, t.run())

        if not t.run_of(run.id).is_finished:
            await _moving(clock, t.finish(run.id))
        events = await ledger_of(t)
        _check_sums(t, run.id, events, [model, other])
        _check_limits(t, run.id, governor)
        await check_ends(t._house.store)
        assert model.most <= parallel
        for asked in (model, other):
            queue = queue_of(asked, asked.name, capabilities_of(asked))
            assert (len(queue), queue._running) == (0, 0)
        assert t.thinking() == ()
        verification = await verify(t, run.id)
        assert verification.is_same, verification


def _ends_an_act(event: Event) -> bool:
    return event.ends_its_act and event.actor in {"a", "b", "c"} and event.caused_by is not None


async def _moving(clock: HandMovedClock, waiting: Awaitable[object]) -> None:
    """Wait for something while the clock goes on."""
    task = asyncio.ensure_future(waiting)
    for _ in range(steps_max):
        for _ in range(30):
            await asyncio.sleep(0)
        if task.done():
            break
        clock.move(1)
    await soon(task)


async def _cancelled_after(turns: int, t: Terrarium, clock: HandMovedClock) -> None:
    task = asyncio.ensure_future(t.run())
    for _ in range(turns):
        await asyncio.sleep(0)
    clock.move(1)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await soon(task)
    for _ in range(30):
        await asyncio.sleep(0)


def _check_sums(t: Terrarium, run_id: str, events: list[Event], models: list[Moody]) -> None:
    """What the ledger holds is what the models counted, and what the run's purse says."""
    calls = [call for event in events for call in event.calls]
    run, reached = t.run_of(run_id), [call for call in calls if call.reached]
    for model in models:
        mine = [call for call in reached if call.model == model.name]
        assert len(mine) == model.reached.total(), (model.name, model.reached, mine)
        assert {call.seed for call in calls if call.model == model.name} <= {*model.seeds}
    # An act that ends and reached no model counts as one call (ADR 0022).
    acts = [
        event for event in events if _ends_an_act(event) and not any(call.reached for call in event.calls)
    ]
    assert run.calls == len(reached) + len(acts)
    assert run.tokens == sum(call.usage.total for call in reached)
    assert run.usd is not None
    assert abs(run.usd - sum(call.usd or 0.0 for call in reached)) < 1e-9
    for call in [call for call in reached if call.error in ("It did not answer.", "It broke.")]:
        assert call.usage.is_estimated == (call.error == "It did not answer.")


def _check_limits(t: Terrarium, run_id: str, governor: Governor) -> None:
    run = t.run_of(run_id)
    if governor.max_total_calls is not None:
        assert run.calls <= governor.max_total_calls
    if governor.max_total_tokens is not None:
        assert run.tokens <= governor.max_total_tokens
    if governor.hourly_budget_usd is not None:
        assert (run.usd or 0.0) <= governor.hourly_budget_usd * 1.000001
    if isinstance(governor.max_total_usd, float):
        assert (run.usd or 0.0) <= governor.max_total_usd * 1.000001
    assert run.reason in ("budget", "stopped")


@pytest.mark.parametrize("seed", rig_seeds(8))
def test_runs_that_share_a_server_share_its_slots_and_none_waits_for_ever(seed: int) -> None:
    with replayable(seed, "test_asking_at_random.py"):
        asyncio.run(_played_side_by_side(random.Random(seed)))


async def _played_side_by_side(chance: random.Random) -> None:
    """Two runs with purses of their own, driven at the same time at their own speed, on one server with few slots."""
    clock, parallel = HandMovedClock(), chance.randint(1, 3)
    moods = [(chance.choice(MOODS[:-3]), chance.randint(0, 6)) for _ in range(chance.randint(1, 12))]
    model = Moody(moods, "shared", parallel)
    route = Route(model, "shared", 8_192, 384, PRICE)
    router = ModelRouter(dict.fromkeys(("tiny", "fast", "balanced", "strong"), route))
    async with on_stage(models=router, clock=clock, pacing="free") as t:
        runs = []
        for names in ("abc", "de"):
            cast = [ticking(name, together=chance.random() < 0.7) for name in names]
            limits: dict[str, Any] = {"max_turns": 3, "max_total_calls": chance.randint(2, 12)}
            if chance.random() < 0.5:
                limits["max_total_tokens"] = chance.randint(1_500, 9_000)
            governor = Governor(**{**NO_LIMIT, **limits})
            runs.append((await t.open_world(world_of(*cast), governor=governor), governor))

        await _moving(clock, t.run())
        for run, _ in runs:  # A server that fails again and again pauses its runs.
            assert t.run_of(run.id).status in ("paused", "finished")
            if not t.run_of(run.id).is_finished:
                await _moving(clock, t.finish(run.id))

        await check_ends(t._house.store)
        calls = [call for event in await ledger_of(t) for call in event.calls]
        assert sum(call.reached for call in calls) == model.reached.total()
        assert model.most <= parallel
        for run, governor in runs:
            _check_limits(t, run.id, governor)
            assert (await verify(t, run.id)).is_same
