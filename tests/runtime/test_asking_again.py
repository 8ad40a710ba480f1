"""Asking again: which failures are repeated, what each attempt costs, and when a run pauses or an act fails."""

import asyncio
from collections.abc import Awaitable
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from glasshouse import Governor, Refused, kinds
from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.events.event import Event
from glasshouse.events.model_use import FREE, Price
from glasshouse.manifests.manifest import Voice
from glasshouse.model_values import Form, Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.acts.act_time import ActTime, ActTimer
from glasshouse.runtime.acts.asking import busy_answers_max, failed_calls_max
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.runtime.ports import Route
from glasshouse.terrarium import Terrarium, verify
from glasshouse.turns.moment.prompt import Completion, Prompt, seed_bits
from tests.runtime.limits_by_hand import only
from tests.runtime.stage_crew import ANSWER, Speaker, events_of, on_stage, said, ticking, world_of
from tests.runtime.troupe import loop_turns, soon

T = TypeVar("T")
BUSY = ModelUnreachable("It is busy (HTTP 429).", retry_after=7.0)
AWAY = ModelUnreachable("Nobody answers at port 8080. Start the server.")
USED = Tokens(100, 20)
FAILED = ModelFailed("It returned half a reply.", usage=USED)
SILENT = ModelFailed("It did not answer.")
REFUSED = ModelMisconfigured("The key is refused (HTTP 401).", "Set EXAMPLE_KEY.")
PRICE = Price(2.0, 4.0, cache_write=3.0)


class Served(ScriptedModel):
    """A model behind a server of this name."""

    def __init__(self, backend: str, *answers: Any, max_parallel: int = 4) -> None:
        super().__init__(*answers)
        self.backend, self.max_parallel = backend, max_parallel


def routed(model: Any, *fallbacks: Route, price: Price | None = PRICE, **more: Any) -> ModelRouter:
    route = Route(model, model.name, 8_192, 384, price, fallbacks=fallbacks, **more)
    return ModelRouter(dict.fromkeys(("tiny", "fast", "balanced", "strong"), route))


async def moving(clock: HandMovedClock, waiting: Awaitable[T]) -> T:
    """What is waited for, while the clock goes on whenever nothing else does."""
    task = asyncio.ensure_future(waiting)
    while not task.done():
        await loop_turns()
        clock.move(1)
    return await soon(task)


async def ends_of_acts(t: Terrarium) -> list[Event]:
    return await events_of(t, kinds.AGENT_SPOKE, kinds.AGENT_FAILED, kinds.AGENT_PASSED)


# Busy servers


async def test_a_busy_server_is_waited_for_free_of_charge_as_long_as_it_says() -> None:
    clock, model = HandMovedClock(), Served("busy", BUSY, BUSY, ANSWER)
    async with on_stage(models=routed(model), clock=clock) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_total_calls=1))
        began = clock.now()

        await moving(clock, t.run())

        assert 14 <= (clock.now() - began).total_seconds() <= 17
        (line,) = await ends_of_acts(t)
        assert [(call.reached, call.usd) for call in line.calls[:2]] == [(False, None)] * 2
        assert line.calls[2].is_answered
        assert t.run_of(run.id).calls == 1
        assert (await verify(t, run.id)).is_same


async def test_nobody_waits_longer_than_a_minute_and_a_server_that_stays_busy_pauses_the_run() -> None:
    clock = HandMovedClock()
    model = Served("stays-busy", ModelUnreachable("Too many requests.", retry_after=9_999.0))
    async with on_stage(models=routed(model), clock=clock) as t:
        run = await t.open_world(world_of(ticking("a")))
        began = clock.now()

        await moving(clock, t.run())

        assert (clock.now() - began).total_seconds() < 61 * busy_answers_max
        (paused,) = await events_of(t, kinds.RUN_PAUSED)
        assert paused.payload["backend"] == "stays-busy"
        assert f"busy {busy_answers_max} times in a row" in paused.payload["reason"]
        assert model.calls == busy_answers_max
        assert t.run_of(run.id).calls == 0


async def test_a_busy_server_does_not_open_the_circuit() -> None:
    clock = HandMovedClock()
    model = Served("busy-often", AWAY, AWAY, *[BUSY] * 5, AWAY, AWAY, ANSWER)
    async with on_stage(models=routed(model), clock=clock) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await moving(clock, t.run())

        # Two calls that reach nobody, then busy answers, then one more: three in all, but not in a row.
        (paused,) = await events_of(t, kinds.RUN_PAUSED)
        assert model.calls == 8
        assert "port 8080" in paused.payload["reason"]


# Calls that failed


async def test_a_failed_call_is_charged_and_repeated_with_another_seed() -> None:
    model = Served("fails", FAILED, SILENT, ANSWER)
    async with on_stage(models=routed(model)) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        (line,) = await ends_of_acts(t)
        told_by_it, not_told, answered = line.calls
        assert (told_by_it.usage, told_by_it.usd) == (USED, PRICE.of(USED))
        assert not_told.usage.is_estimated
        assert not_told.usd == PRICE.worst(not_told.usage)
        assert answered.is_answered
        seeds = [call.seed for call in line.calls]
        assert seeds == [prompt.seed for prompt in model.prompts]
        assert len({*seeds}) == 3
        assert max(seeds) < 2**seed_bits
        usage = t.run_of(run.id).usage
        assert (usage.calls, usage.usd) == (3, sum(call.usd or 0.0 for call in line.calls))
        assert (await verify(t, run.id)).is_same


async def test_seeds_have_31_bits_because_servers_keep_no_more() -> None:
    model = Served("seeds", *[SILENT, ANSWER] * 30)
    async with on_stage(models=routed(model)) as t:
        await t.open_world(world_of(ticking("a", voice=Voice(may_repeat=True))), governor=only(max_turns=30))

        await soon(t.run())

        seeds = [prompt.seed for prompt in model.prompts]
        assert len({*seeds}) == len(seeds) >= 20
        assert 2**30 < max(seeds) < 2**31


async def test_after_some_failures_the_act_fails_and_the_others_go_on() -> None:
    model = Served("always-fails", SILENT)
    async with on_stage(minds={"b": Speaker()}, models=routed(model)) as t:
        run = await t.open_world(world_of(ticking("a"), ticking("b")), governor=only(max_turns=2))

        await soon(t.run())

        failed = await events_of(t, kinds.AGENT_FAILED)
        assert [len(event.calls) for event in failed] == [failed_calls_max] * 2
        assert failed[0].payload == {"reason": "It did not answer.", "attempts": failed_calls_max}
        assert await said(t) == ["b1", "b2"]
        assert t.run_of(run.id).calls == 2 * failed_calls_max + 2
        assert (await verify(t, run.id)).is_same


@pytest.mark.parametrize("usage", [Tokens(-1, 2), Tokens(1, 10**30), Tokens("many", 2)])  # type: ignore[arg-type]
async def test_tokens_that_cannot_be_counted_cost_the_reservation(usage: Tokens) -> None:
    model = Served("odd", ModelFailed("It broke.", usage=usage), ANSWER)
    async with on_stage(models=routed(model)) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        (line,) = await ends_of_acts(t)
        assert line.calls[0].usage.is_estimated


async def test_a_call_has_a_bound_of_its_own_and_counts_with_its_worst_case() -> None:
    class Hanging(Served):
        async def complete(self, prompt: Prompt) -> Completion:
            answer = await super().complete(prompt)
            if self.calls == 1:
                await asyncio.Event().wait()
            return answer

    async with on_stage(models=routed(Hanging("hangs", ANSWER), call_seconds_max=0.05)) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        (line,) = await ends_of_acts(t)
        assert "scripted did not answer within 0.05 seconds." in line.calls[0].error
        assert line.calls[0].usage.is_estimated
        assert line.calls[1].is_answered
        assert (await verify(t, run.id)).is_same


async def test_a_server_that_loads_its_model_in_a_call_has_more_time() -> None:
    class Loading(Served):
        load_seconds_max = 3_600.0

        async def complete(self, prompt: Prompt) -> Completion:
            await asyncio.sleep(0.1)
            return await super().complete(prompt)

    async with on_stage(models=routed(Loading("loads", ANSWER), call_seconds_max=0.01)) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        (line,) = await ends_of_acts(t)
        assert [call.is_answered for call in line.calls] == [True]


async def test_the_time_in_which_a_server_loads_its_model_does_not_count_against_the_act() -> None:
    loop = asyncio.get_running_loop()

    class Loading(Served):
        load_seconds_max = 3_600.0

        async def complete(self, prompt: Prompt) -> Completion:
            before = loop.time
            loop.time = lambda: before() + 100.0  # type: ignore[method-assign]
            await loop_turns()
            return replace(await super().complete(prompt), load_ms=100_000.0)

    async with on_stage(models=routed(Loading("loads long", ANSWER)), act_seconds_max=50.0) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        assert [event.kind for event in await ends_of_acts(t)] == [kinds.AGENT_SPOKE]


# Servers that refuse


async def test_a_server_that_refuses_pauses_at_once_and_says_what_to_do() -> None:
    fallback = Served("other", ANSWER)
    model = Served("refuses", REFUSED, ANSWER)
    async with on_stage(models=routed(model, Route(fallback, "other", 8_192, 384, FREE))) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))
        await soon(t.run())

        (paused,) = await events_of(t, kinds.RUN_PAUSED)
        assert paused.payload == {
            "reason": "The key is refused (HTTP 401). Set EXAMPLE_KEY.",
            "is_outage": True,
            "backend": "refuses",
        }
        assert (model.calls, fallback.calls) == (1, 0)
        assert [call.reached for call in paused.calls] == [False]

        await t.continue_run(run.id)
        await soon(t.run())
        (line,) = await ends_of_acts(t)
        assert [call.reached for call in line.calls] == [True]
        assert (await verify(t, run.id)).is_same


# Servers that die inside a call


async def test_a_server_that_dies_inside_a_call_costs_the_attempt_and_no_line() -> None:
    model = Served("dies", SILENT, AWAY, AWAY, AWAY, ANSWER)
    async with on_stage(models=routed(model)) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        (paused,) = await events_of(t, kinds.RUN_PAUSED)
        assert await ends_of_acts(t) == []
        assert [call.reached for call in paused.calls] == [True, False, False, False]
        assert t.run_of(run.id).usd == paused.calls[0].usd == PRICE.worst(paused.calls[0].usage)
        assert (await verify(t, run.id)).is_same

        await t.continue_run(run.id)
        await soon(t.run())
        (line,) = await ends_of_acts(t)
        assert line.kind == kinds.AGENT_SPOKE
        assert [call.is_answered for call in line.calls] == [True]
        assert t.run_of(run.id).usage.calls == 2
        assert (await verify(t, run.id)).is_same


@pytest.mark.parametrize("goes_on", [True, False])
async def test_attempts_of_creatures_that_thought_together_when_the_server_died_are_all_recorded(
    goes_on: bool, tmp_path: Path
) -> None:
    class Dying(Served):
        is_back = False

        async def complete(self, prompt: Prompt) -> Completion:
            is_first = prompt.system not in [before.system for before in self.prompts]
            answer = await super().complete(prompt)
            if not self.is_back:
                raise SILENT if is_first else AWAY
            return answer

    store, model = tmp_path / "played.glasshouse", Dying("dies-for-all", ANSWER)
    cast = [ticking(name, together=True) for name in ("a", "b", "c")]
    async with Terrarium(store, models=routed(model)) as t:
        run = await t.open_world(world_of(*cast), governor=only(max_turns=1))
        await soon(t.run())
        assert t.run_of(run.id).paused is not None
        if goes_on:
            model.is_back = True
            await t.continue_run(run.id)
            await soon(t.run())
            assert [line.kind for line in await ends_of_acts(t)] == [kinds.AGENT_SPOKE] * 3

    async with Terrarium(store) as t:
        calls = [call for event in await t.run_events(run.id) for call in event.calls]
        assert len([call for call in calls if call.reached and not call.is_answered]) == 3
        assert t.run_of(run.id).usage.calls == 3 + 3 * goes_on
        assert t.run_of(run.id).usd == pytest.approx(sum(call.usd or 0.0 for call in calls))
        assert (await verify(t, run.id)).is_same


# Fallbacks


async def test_a_fallback_is_asked_if_the_model_is_away_with_its_own_name_and_price() -> None:
    fallback = Route(Served("spare", Completion(ANSWER, "spare", USED)), "spare", 8_192, 100, Price(1.0, 1.0))
    async with on_stage(models=routed(Served("gone", AWAY), fallback)) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_turns=2))

        await soon(t.run())

        first, second = await ends_of_acts(t)
        assert [(call.model, call.reached) for call in first.calls] == [("scripted", False)] * 3 + [
            ("spare", True)
        ]
        assert first.calls[3].usd == Price(1.0, 1.0).of(USED)
        # The circuit of the first server is open, and it was tried a moment ago.
        assert [call.model for call in second.calls] == ["spare"]
        assert t.run_of(run.id).usd == pytest.approx(2 * Price(1.0, 1.0).of(USED))
        assert (await verify(t, run.id)).is_same


PROSE = "KIND: agent.spoke\nTHINK: hm\nSAY: Good evening from the spare one.\nMOOD: calm"


@pytest.mark.parametrize(("form", "spare_form"), [("schema", "prose"), ("prose", "schema")])
async def test_a_fallback_is_asked_in_its_own_form_and_reads_a_prompt_of_its_own_length(
    form: Form, spare_form: Form
) -> None:
    spare = Served("spare", PROSE if spare_form == "prose" else ANSWER)
    fallback = Route(spare, "spare", 1_300, 100, FREE, form=spare_form)
    first = Served("gone", AWAY, *[SILENT] * 30)
    async with on_stage(models=routed(first, fallback, form=form)) as t:
        world = world_of(ticking("a"), ticking("b"), opening="It rains on the roof of the shed. " * 200)
        run = await t.open_world(world, governor=only(max_turns=3))

        await soon(t.run())

        lines = await ends_of_acts(t)
        assert {line.kind for line in lines} == {kinds.AGENT_SPOKE}
        assert all(prompt.form == form for prompt in first.prompts)
        for prompt in spare.prompts:
            assert (prompt.form, "SAY:" in prompt.system) == (spare_form, spare_form == "prose")
            assert bool(prompt.stop) == (spare_form == "prose")
            assert len(prompt.system) + len(prompt.user) < 1_300 * 3
        assert [call.form for call in lines[0].calls if call.reached][-1] == spare_form
        assert (await verify(t, run.id)).is_same


async def test_a_branch_takes_what_a_fallback_answered_in_its_own_form_from_the_record() -> None:
    spare, first = Served("spare-too", PROSE), Served("gone-too", AWAY)
    fallback = Route(spare, "spare", 8_192, 384, FREE, form="prose")
    async with on_stage(models=routed(first, fallback, form="schema")) as t:
        cast = ticking("a", voice=Voice(may_repeat=True)), ticking("b", voice=Voice(may_repeat=True))
        await t.open_world(world_of(*cast), governor=only(max_turns=3))
        await soon(t.run())
        lines = await ends_of_acts(t)
        calls = first.calls + spare.calls

        branch = await t.branch(lines[1].session_id, lines[1].id)
        await soon(t.run(branch.id))

        assert len(lines) == 6
        assert first.calls + spare.calls == calls
        assert t.run_of(branch.id).calls_recalled == 4
        assert (await verify(t, branch.id)).is_same


async def test_a_branch_asks_no_model_again_that_its_run_had_bound_by_another_name() -> None:
    bound = Served("bound", ANSWER)
    models = ModelRouter(Served("usual", ANSWER), named={"the-slow-one": bound})
    async with on_stage(models=models) as t:
        cast = [ticking(name, voice=Voice(may_repeat=True)) for name in ("a", "b")]
        await t.open_world(world_of(*cast), governor=only(max_turns=3), models={"a": "the-slow-one"})
        await soon(t.run())
        line, calls = (await ends_of_acts(t))[1], bound.calls

        branch = await t.branch(line.session_id, line.id)
        await soon(t.run(branch.id))

        assert calls == bound.calls == 3
        assert t.run_of(branch.id).calls_recalled == 4


async def test_without_a_fallback_none_is_asked_and_with_several_they_are_asked_in_order() -> None:
    names = ("one", "two", "three")
    models = [Served(f"server of {name}", SILENT) for name in names]
    routes = [Route(model, name, 8_192, 384, FREE) for model, name in zip(models, names, strict=True)]
    async with on_stage(models=routed(Served("server of zero", SILENT), *routes)) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        (failed,) = await ends_of_acts(t)
        asked = [call.model for call in failed.calls]
        assert asked == [name for name in ("scripted", *names) for _ in range(failed_calls_max)]


async def test_a_limit_in_dollars_needs_the_price_of_every_fallback() -> None:
    fallback = Route(Served("spare", ANSWER), "spare", 8_192, 384)
    async with on_stage(models=routed(Served("first", ANSWER), fallback)) as t:
        with pytest.raises(Refused, match="nobody knows the price of spare"):
            await t.open_world(world_of(ticking("a")), governor=Governor(hourly_budget_usd=1.0))


# What is reserved


async def test_the_reservation_counts_bytes_the_schema_the_reply_and_the_reasoning_at_the_dearest_price() -> (
    None
):
    model = Served("reserved", SILENT)
    async with on_stage(models=routed(model, reasoning_tokens_max=1_000)) as t:
        await t.open_world(
            world_of(ticking("a", persona="\u706f\u7b3c\u5728\u5c71\u4e0a" * 99)), governor=only(max_turns=1)
        )

        await soon(t.run())

        (failed,) = await ends_of_acts(t)
        prompt, call = model.prompts[0], failed.calls[0]
        size = len(prompt.system.encode()) + len(prompt.user.encode())
        assert call.usage.output == 384 + 1_000
        assert call.usage.input > size // 3 + 100  # The schema is sent, too.
        assert call.usd == (call.usage.input * 3.0 + call.usage.output * 4.0) / 1_000_000


async def test_a_model_that_counts_no_tokens_costs_what_was_reserved() -> None:
    model = Served("counts-nothing", Completion(ANSWER, "scripted"))
    async with on_stage(models=routed(model)) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        (line,) = await ends_of_acts(t)
        (call,) = line.calls
        assert call.usage.is_estimated
        assert (call.usd, call.price_source) == (PRICE.worst(call.usage), "route")
        assert t.run_of(run.id).tokens == call.usage.total
        assert (await verify(t, run.id)).is_same


# The time of acts


async def test_waiting_in_the_queue_does_not_count_against_the_act() -> None:
    gate, inside = asyncio.Event(), asyncio.Event()

    class FirstIsSlow(Served):
        async def complete(self, prompt: Prompt) -> Completion:
            answer = await super().complete(prompt)
            if not inside.is_set():
                inside.set()
                await gate.wait()
            return answer

    model = FirstIsSlow("one-slot", ANSWER, max_parallel=1)
    first, second = ticking("a", together=True), ticking("b", together=True, act_seconds_max=50.0)
    async with on_stage(models=routed(model), act_seconds_max=1_000) as t:
        run = await t.open_world(world_of(first, second), governor=only(max_turns=1))
        playing = asyncio.create_task(t.run())
        await soon(inside.wait())
        await loop_turns()
        loop = asyncio.get_running_loop()
        before = loop.time
        loop.time = lambda: before() + 100.0  # type: ignore[method-assign]
        await loop_turns()
        gate.set()
        await soon(playing)

        a, b = await ends_of_acts(t)
        assert a.kind == b.kind == kinds.AGENT_SPOKE
        assert a.calls[0].queued_ms == 0.0
        assert b.calls[0].queued_ms >= 100_000
        assert (await verify(t, run.id)).is_same


async def test_time_that_is_given_back_or_waited_does_not_count() -> None:
    timer, task = ActTimer(), asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    time = ActTime(timer, task, 10.0, inf)
    with time:
        began = time.ends_at
        time.give_back(5.0)
        assert time.ends_at == pytest.approx(began + 5.0)
        time.stop_counting()
        time.stop_counting()
        assert time.ends_at == inf
        before = loop.time
        loop.time = lambda: before() + 30.0  # type: ignore[method-assign]
        time.count()
        assert time.ends_at == inf  # It still waits for something else.
        time.count()
        assert time.ends_at == pytest.approx(began + 35.0, abs=5.0)


# The size of prompts


async def test_a_replay_makes_prompts_of_the_size_that_the_route_had() -> None:
    route = Route(Served("small", ANSWER), "scripted", 1_300, 100, FREE)
    models = ModelRouter(dict.fromkeys(("tiny", "fast", "balanced", "strong"), route))
    async with on_stage(models=models) as t:
        world = world_of(ticking("a"), ticking("b"), opening="It rains on the roof of the shed. " * 40)
        run = await t.open_world(world, governor=only(max_turns=6))

        await soon(t.run())

        event = (await ends_of_acts(t))[-1]
        assert event.model is not None
        assert (event.model.context_tokens, event.model.reply_tokens) == (1_300, 100)
        assert (await verify(t, run.id)).is_same


# The rest of a run offline


async def test_a_run_that_continues_offline_is_played_by_the_troupe_and_says_so() -> None:
    async with Terrarium(models=routed(Served("gone for good", AWAY))) as t:
        run = await t.open_world("thousand-token-wood", governor=Governor(max_total_calls=6))
        await soon(t.run(run.id))
        assert t.run_of(run.id).paused is not None

        await t.continue_run(run.id, offline=True, by="visitor")
        await soon(t.run(run.id))

        events = await t.run_events(run.id)
        assert {call.model for event in events for call in event.calls if call.reached} == {"offline"}
        (going_on,) = [event for event in events if event.kind == kinds.RUN_CONTINUED]
        assert going_on.payload == {"is_offline": True, "by": "visitor"}
        assert t.run_of(run.id).reason == "budget"
        assert (await verify(t, run.id)).is_same
