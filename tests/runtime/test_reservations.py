"""Concurrent calls stay within one purse; a model that is out of reach costs nothing and pauses its run."""

import asyncio
import math
from decimal import Decimal
from typing import Any

import pytest

from glasshouse import kinds
from glasshouse.errors import BudgetExceeded, ModelFailed, ModelUnreachable
from glasshouse.events.codec import decoded, encoded
from glasshouse.events.model_use import usage_of
from glasshouse.model_values import Tokens
from glasshouse.models import Price, Route
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import (
    Completion,
    Prompt,
    completion_chars_max,
    reasoning_chars_max,
    reported_chars_max,
)
from tests.runtime.limits_by_hand import only
from tests.runtime.stage_crew import (
    Asker,
    Doing,
    Gated,
    Speaker,
    events_of,
    hearing,
    on_stage,
    said,
    the_end,
    ticking,
    world_of,
)
from tests.runtime.troupe import loop_turns, soon

# Reservations


class Turnstile:
    """A model that answers only when it is let, and knows how many asked it at the same time."""

    def __init__(self) -> None:
        self.inside = self.most = self.answered = 0
        self.gate = asyncio.Event()

    async def complete(self, prompt: Prompt) -> Completion:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await self.gate.wait()
        self.inside -= 1
        self.answered += 1
        return Completion("-", "turnstile", Tokens(50, 50), usd=0.0)


@pytest.mark.parametrize("limit", [1, 3, 9, 10, 11])
async def test_ten_calls_side_by_side_neither_go_over_a_limit_nor_end_the_run_early(limit: int) -> None:
    model, names = Turnstile(), [f"c{n}" for n in range(10)]
    minds = {name: Asker() for name in names}
    async with on_stage(minds=minds, models=ModelRouter(model)) as t:
        await t.open_world(
            world_of(*[ticking(name, together=True) for name in names], governor={"max_calls_per_turn": 10}),
            governor=only(max_total_calls=limit),
        )
        running = asyncio.create_task(t.run())
        while model.inside < min(limit, 10):
            await loop_turns()
        await loop_turns()
        model.gate.set()

        await soon(running)

        end = (await the_end(t)).payload
        assert (end["axis"], end["calls"], model.answered) == ("max_total_calls", limit, limit)
        assert model.most == min(limit, 10)


async def test_a_call_that_fits_once_the_others_have_cost_less_waits_and_then_runs() -> None:
    model, names = Turnstile(), [f"c{n}" for n in range(10)]
    async with on_stage(minds={name: Asker() for name in names}, models=ModelRouter(model)) as t:
        await t.open_world(
            world_of(*[ticking(name, together=True) for name in names], governor={"max_calls_per_turn": 10}),
            governor=only(max_total_tokens=2_500, max_turns=1),
        )
        running = asyncio.create_task(t.run())
        while not model.inside:
            await loop_turns()
        await loop_turns()
        assert model.inside < 10  # The worst cases of all do not fit side by side.
        model.gate.set()

        await soon(running)

        end = (await the_end(t)).payload
        assert (end["axis"], end["calls"], end["tokens"]) == ("max_turns", 10, 1_000)


async def test_acts_that_ask_twice_wait_for_nobody_who_waits_for_them() -> None:
    names = [f"c{n}" for n in range(4)]
    model = Turnstile()
    model.gate.set()
    async with on_stage(minds={name: Asker(calls=2) for name in names}, models=ModelRouter(model)) as t:
        await t.open_world(
            world_of(*[ticking(name, together=True) for name in names]), governor=only(max_total_calls=6)
        )

        await soon(t.run())

        end = (await the_end(t)).payload
        assert (end["axis"], end["calls"], model.answered) == ("max_total_calls", 6, 6)


async def test_an_agent_learns_which_limit_tripped() -> None:
    caught: list[str] = []

    async def asks_on(moment: Moment) -> None:
        from glasshouse.turns.prompts.context import prompt_for

        try:
            while True:
                await moment.ask(prompt_for(moment))
        except BudgetExceeded as exceeded:
            caught.append(exceeded.reason)
            raise

    async with on_stage(minds={"a": Doing(asks_on)}) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_total_calls=4))

        await soon(t.run())

        assert caught == ["max_total_calls"]
        assert (await the_end(t)).payload["calls"] == 4


# Models out of reach


AWAY = ModelUnreachable("Nobody answers on port 8080. Start the server.")


async def test_a_model_out_of_reach_three_times_pauses_the_run_and_costs_nothing() -> None:
    model = ScriptedModel(AWAY, AWAY, AWAY, "-")
    async with on_stage(minds={"a": Asker()}, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_total_calls=2))

        await soon(t.run())

        assert (t.run_of(run.id).status, t.run_of(run.id).calls, model.calls) == ("paused", 0, 3)
        assert "port 8080" in (await events_of(t, kinds.RUN_PAUSED))[0].payload["reason"]
        assert (await t.run()).turns == 0

        await t.continue_run(run.id)
        await soon(t.run())

        end = (await the_end(t)).payload
        assert (end["axis"], end["calls"]) == ("max_total_calls", 2)
        assert await said(t) == ["a1", "a2"]


async def test_attempts_that_reached_nobody_are_recorded_beside_the_one_that_did() -> None:
    model = ScriptedModel(AWAY, AWAY, "-")
    async with on_stage(minds={"a": Asker()}, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("a")))

        event = await soon(t.step_one())

        assert event is not None
        assert [call.reached for call in event.calls] == [False, False, True]
        assert t.run_of(run.id).calls == 1


BROKEN: dict[str, dict[str, Any]] = {
    "tokens that are no number": {"usage": "five"},
    "half a token": {"usage": {"output": 0.5}},
    "fewer tokens than none": {"usage": Tokens(-1)},
    "a refund of tokens": {"usage": Tokens(output=-(10**9))},
    "a refund of dollars": {"usd": -24.0},
    "a price that is no number": {"usd": math.nan},
    "a price without end": {"usd": math.inf},
    "a time that is no number": {"milliseconds": math.nan},
    "no model's name": {"model": None},
    "bytes": {"text": b"-"},
    "a finish that cannot be written": {"finish": "\ud800"},
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
async def test_a_broken_completion_fails_the_act_and_leaves_a_ledger_that_can_be_read(
    broken: dict[str, Any],
) -> None:
    completion = Completion(**{"text": "-", "model": "odd", "usd": 0.0, **broken})
    async with on_stage(minds={"a": Asker()}, models=ModelRouter(ScriptedModel(completion))) as t:
        run = await t.open_world(world_of(ticking("a")))

        event = await soon(t.step_one())

        assert event is not None
        assert event.kind == kinds.AGENT_FAILED
        assert "Correct its code." in event.payload["reason"]
        (call,) = decoded(encoded(event)).calls
        assert "Correct its code." in call.error
        assert (call.completion, call.usd) == ("", 0.0)
        assert t.run_of(run.id).usage == usage_of(call)


@pytest.mark.parametrize(
    "reported",
    [
        {"usage": Tokens(True)},
        {"usage": {"output": 3}},
        {"usage": Tokens(-1)},
        {"model": "half a pair: \ud800"},
        {"model": 5},
        {"reason": "half a pair: \ud800"},
    ],
    ids=["truth", "no tokens", "fewer than none", "a model's name", "a model's number", "a reason"],
)
async def test_a_failure_that_is_reported_wrongly_leaves_a_ledger_that_can_be_read(reported: Any) -> None:
    failure = ModelFailed(
        reported.get("reason", "It broke."), reported.get("model", "odd"), usage=reported.get("usage")
    )
    async with on_stage(minds={"a": Asker()}, models=ModelRouter(ScriptedModel(failure))) as t:
        run = await t.open_world(world_of(ticking("a")))

        event = await soon(t.step_one())

        assert event is not None
        assert event.kind == kinds.AGENT_FAILED
        calls = decoded(encoded(event)).calls
        assert [call.usage.is_estimated for call in calls] == [True] * 3
        assert t.run_of(run.id).usage.calls == 3


class Markup(str):
    """A text of a library."""


class Count(int):
    """A number of a library."""


async def test_texts_and_numbers_of_subclasses_and_prices_in_decimals_count_as_plain_ones() -> None:
    odd: Any = {
        "text": Markup("Hm."),
        "model": Markup("odd"),
        "usage": Tokens(Count(3)),
        "usd": Decimal("0.5"),
    }
    model = ScriptedModel(Completion(**odd))
    async with on_stage(minds={"a": Asker()}, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("a")))

        event = await soon(t.step_one())

        assert event is not None
        (call,) = decoded(encoded(event)).calls
        assert (call.completion, call.model, call.usage, call.usd) == ("Hm.", "odd", Tokens(3), 0.5)
        assert t.run_of(run.id).usage == usage_of(call)


async def test_creatures_who_think_together_and_reach_nobody_pause_the_run_once_and_try_again() -> None:
    names = ("a", "b", "c")
    model = ScriptedModel(*[AWAY] * 3, "-")
    async with on_stage(minds={name: Asker() for name in names}, models=ModelRouter(model)) as t:
        run = await t.open_world(
            world_of(*[ticking(name, together=True) for name in names], governor={"max_turns": 1})
        )
        await soon(t.run())
        assert t.run_of(run.id).status == "paused"

        await t.continue_run(run.id)
        await soon(t.run())

        assert await said(t) == ["a1", "b1", "c1"]
        assert len(await events_of(t, kinds.RUN_PAUSED)) == 1
        assert (await the_end(t)).payload["calls"] == 3


async def test_a_paused_run_lets_its_act_end_and_begins_no_other() -> None:
    mind = Gated()
    async with on_stage(minds={"a": mind, "b": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("a"), hearing("b"), governor={"max_turns": 2}))
        running = asyncio.create_task(t.run())
        await soon(mind.has_begun.wait())
        await t.pause(run.id)
        mind.gate.set()
        await soon(running)
        assert await said(t) == ["a1"]

        await t.continue_run(run.id)
        await soon(t.run())

        assert await said(t) == ["a1", "b2", "a2"]


async def test_a_reply_of_three_megabytes_is_kept_in_part() -> None:
    flood = Completion("x" * 3_000_000, "odd", reasoning="y" * 3_000_000, served_by="z" * 3_000_000, usd=0.0)
    async with on_stage(minds={"a": Asker()}, models=ModelRouter(ScriptedModel(flood))) as t:
        await t.open_world(world_of(ticking("a")))

        event = await soon(t.step_one())

        assert event is not None
        (call,) = event.calls
        lengths = len(call.completion), len(call.reasoning or ""), len(call.served_by)
        assert lengths == (completion_chars_max, reasoning_chars_max, reported_chars_max)


async def test_a_call_that_failed_costs_what_its_server_counted_or_what_was_reserved() -> None:
    model = ScriptedModel(ModelFailed("cut", usage=Tokens(30, 10)), ModelFailed("cut"))
    route = Route(model, "m", 8_192, 384, Price(1.0, 2.0))
    async with on_stage(minds={"a": Asker()}, models=ModelRouter({"fast": route})) as t:
        await t.open_world(world_of(ticking("a")))

        counted, reserved = [event for event in [await soon(t.step_one()), await soon(t.step_one())] if event]

        assert counted.calls[0].usage == Tokens(30, 10)
        assert counted.calls[0].usd == pytest.approx(50 / 1_000_000)
        assert reserved.calls[0].usage.is_estimated
        assert reserved.calls[0].usage.output == 384
