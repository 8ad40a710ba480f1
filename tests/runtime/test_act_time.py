"""The time of acts: an act that hangs is ended, by its own bound or by its run's wall time, and the play goes on."""

import asyncio

import pytest

from glasshouse import Agent, ModelRouter, kinds
from glasshouse.events.event import Event
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.minds.minds import VisitorAgent
from glasshouse.terrarium import Terrarium, verify
from glasshouse.tools import Toolbox, tool
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.runtime.limits_by_hand import only, priced
from tests.runtime.stage_crew import Doing, Speaker, events_of, on_stage, said, the_end, ticking, world_of
from tests.runtime.troupe import loop_turns, soon

# A tenth of a second, in seconds and in minutes.
SHORT, SHORT_MINUTES = 0.1, 0.1 / 60


class Hanging(ScriptedModel):
    """A model that never answers, from the call of this number on."""

    def __init__(self, first: int = 1) -> None:
        super().__init__('{"text": "Good day."}')
        self.first = first

    async def complete(self, prompt: Prompt) -> Completion:
        completion = await super().complete(prompt)
        if self.calls >= self.first:
            await asyncio.Event().wait()
        return completion


async def hangs(moment: Moment) -> None:
    await asyncio.Event().wait()


async def failures(t: Terrarium) -> list[Event]:
    return await events_of(t, kinds.AGENT_FAILED)


# The bound of an act


async def test_a_model_that_never_answers_fails_the_act_and_the_others_play_on() -> None:
    slow = ticking("slow", act_seconds_max=SHORT)
    async with on_stage(minds={"quick": Speaker()}, models=priced(Hanging())) as t:
        await t.open_world(world_of(slow, ticking("quick")), governor=only(max_turns=2))

        await soon(t.run())

        assert await said(t) == ["quick1", "quick2"]
        first, _ = await failures(t)
        assert first.payload["reason"] == (
            "The act took longer than 0.1 seconds and was ended."
            " If it needs more time, write act_seconds_max in its manifest."
        )
        assert (await the_end(t)).payload["axis"] == "max_turns"


async def test_the_call_that_was_cut_off_counts_with_its_worst_case() -> None:
    async with on_stage(models=priced(Hanging())) as t:
        run = await t.open_world(world_of(ticking("slow", act_seconds_max=SHORT)), governor=only(max_turns=1))

        await soon(t.run())

        (failed,) = await failures(t)
        (call,) = failed.calls
        assert (call.reached, call.completion) == (True, "")
        assert call.error == "The call was cut off before it was answered."
        assert call.usage.output == 384
        assert call.usd == pytest.approx((call.usage.input + 384) * 10.0 / 1_000_000)
        assert t.run_of(run.id).usd == pytest.approx(call.usd)
        assert (await verify(t, run.id)).is_same


async def test_a_terrarium_bounds_every_act_also_those_of_python() -> None:
    async with on_stage(minds={"a": Doing(hangs), "b": Speaker()}, act_seconds_max=SHORT) as t:
        run = await t.open_world(world_of(ticking("a"), ticking("b")), governor=only(max_turns=1))

        await soon(t.run())

        assert await said(t) == ["b1"]
        assert len(await failures(t)) == 1
        assert (await verify(t, run.id)).is_same


async def test_a_timeout_of_the_agent_itself_is_its_own_failure() -> None:
    async def gives_up(moment: Moment) -> None:
        async with asyncio.timeout(0):
            await asyncio.sleep(1)

    async with on_stage(minds={"a": Doing(gives_up)}) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        (failed,) = await failures(t)
        assert "TimeoutError" in failed.payload["reason"]


async def test_waiting_for_its_turn_among_others_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    # The loop's clock is moved by hand: nobody has to be quick.
    bound_seconds, seconds_moved = 20.0, 0.0
    loop = asyncio.get_running_loop()
    time_of_loop = loop.time
    monkeypatch.setattr(loop, "time", lambda: time_of_loop() + seconds_moved)

    async def is_slow(moment: Moment) -> None:
        nonlocal seconds_moved
        await loop_turns()
        seconds_moved += 2 * bound_seconds
        await loop_turns()

    @tool
    def look() -> str:
        """Look out."""
        return "Rain."

    async def looks(moment: Moment) -> None:
        from glasshouse.turns.moment.tools import ToolCall

        assert moment.carry is not None
        await moment.carry(ToolCall("look", {}))

    minds: dict[str, Agent] = {"a": Doing(is_slow), "b": Doing(looks)}
    first = ticking("a", together=True)
    second = ticking("b", together=True, tools=("look",), act_seconds_max=bound_seconds)
    async with on_stage(minds=minds, tools=Toolbox(look)) as t:
        await t.open_world(world_of(first, second), governor=only(max_turns=1))

        await soon(t.run())

        assert await failures(t) == []


# The wall time of a run


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("asks", [True, False], ids=["models", "python"])
async def test_the_wall_time_ends_acts_that_hang(asks: bool, together: bool) -> None:
    minds = {} if asks else {name: Doing(hangs) for name in "ab"}
    cast = [ticking(name, together=together) for name in "ab"]
    async with on_stage(minds=minds, models=ModelRouter(Hanging())) as t:
        run = await t.open_world(world_of(*cast), governor=only(max_wall_minutes=SHORT_MINUTES))

        await soon(t.run())

        end = (await the_end(t)).payload
        assert (end["reason"], end["axis"]) == ("budget", "max_wall_minutes")
        assert (await verify(t, run.id)).is_same


async def test_the_wall_time_ends_a_repair_that_hangs_and_keeps_the_cost_of_the_call_before() -> None:
    model = Hanging(first=2)
    async with on_stage(models=priced(model)) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_wall_minutes=SHORT_MINUTES))

        await soon(t.run())

        end = (await the_end(t)).payload
        assert (end["axis"], end["calls"]) == ("max_wall_minutes", model.calls)
        assert (await verify(t, run.id)).is_same


# Visitors


async def test_a_visitor_has_the_time_of_its_seat() -> None:
    async with on_stage(minds={"guest": VisitorAgent(3 * SHORT)}, act_seconds_max=SHORT) as t:
        await t.open_world(world_of(ticking("guest")), governor=only(max_turns=1))

        await soon(t.run())

        (passed,) = await events_of(t, kinds.AGENT_PASSED)
        assert passed.payload["reason"] == "The visitor said nothing in time."


async def test_a_manifest_says_how_long_a_visitors_seat_waits() -> None:
    seat = ticking("guest", played_by="visitor", act_seconds_max=SHORT)
    async with Terrarium() as t:
        await t.open_world(world_of(seat), governor=only(max_turns=1))

        await soon(t.run())

        assert len(await events_of(t, kinds.AGENT_PASSED)) == 1


async def test_the_wall_time_ends_the_wait_for_a_visitor() -> None:
    async with on_stage(minds={"guest": VisitorAgent()}) as t:
        await t.open_world(world_of(ticking("guest")), governor=only(max_wall_minutes=SHORT_MINUTES))

        await soon(t.run())

        assert (await the_end(t)).payload["axis"] == "max_wall_minutes"
