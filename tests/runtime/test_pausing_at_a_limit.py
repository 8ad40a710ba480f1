"""`on_budget: pause`: a run that reaches a limit is paused instead of ended, and says when it can go on."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from glasshouse import Governor, kinds
from glasshouse.errors import WrongType
from glasshouse.events.model_use import NOTHING, Usage
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.terrarium import Terrarium, verify
from glasshouse.turns.runs.purses import Plan, Purse, Spent, frees_at
from glasshouse.world.decisions.requests import PauseRun
from tests.runtime.limits_by_hand import NO_LIMIT, Paced, priced
from tests.runtime.stage_crew import ANSWER, Asker, events_of, on_stage, said, the_end, ticking, world_of
from tests.runtime.troupe import soon

START = datetime(2000, 1, 1, tzinfo=UTC)


def pausing(**limit: float) -> Governor:
    return Governor(**{**NO_LIMIT, **limit}, on_budget="pause")


async def test_an_hourly_budget_pauses_says_when_it_frees_and_goes_on_then() -> None:
    clock = HandMovedClock()
    model = Paced(clock, seconds=60, usd=0.4)
    model.answer = replace(model.answer, text=ANSWER)
    async with on_stage(models=priced(model), clock=clock) as t:
        run = await t.open_world(world_of(ticking("a")), governor=pausing(hourly_budget_usd=1.0))
        await soon(t.run())

        (paused,) = await events_of(t, kinds.RUN_PAUSED)
        assert paused.payload["axis"] == t.run_of(run.id).axis == "hourly_budget_usd"
        assert paused.payload["reason"] == (
            "The run reached its limit hourly_budget_usd. It can continue from 2000-01-01 01:02 UTC on."
        )
        frees = datetime.fromisoformat(paused.payload["frees_at"])
        calls_then = t.run_of(run.id).calls
        assert (calls_then, frees) == (3, START + timedelta(hours=1, minutes=2))

        clock.move((frees - clock.now()).total_seconds() - 1)
        await t.continue_run(run.id)
        await soon(t.run())
        assert t.run_of(run.id).calls == calls_then  # A second too early.

        clock.move(1)
        await t.continue_run(run.id)
        await soon(t.run())
        assert t.run_of(run.id).calls > calls_then
        assert t.run_of(run.id).status == "paused"
        assert (await verify(t, run.id)).is_same


@pytest.mark.parametrize(
    "limit",
    [{"max_turns": 2}, {"max_total_calls": 2}, {"max_calls_per_turn": 0}, {"max_total_usd": 0.001}],
)
async def test_another_limit_pauses_too_and_says_that_only_a_branch_goes_on(limit: dict[str, float]) -> None:
    async with on_stage(models=priced(ScriptedModel(ANSWER))) as t:
        run = await t.open_world(world_of(ticking("a")), governor=pausing(**limit))
        await soon(t.run())
        await t.continue_run(run.id)
        await soon(t.run())

        first, second = await events_of(t, kinds.RUN_PAUSED)
        (axis,) = limit
        reason = f"The run reached its limit {axis}. Branch it with a higher limit to continue."
        assert first.payload == second.payload == {"axis": axis, "reason": reason}
        assert t.run_of(run.id).status == "paused"
        assert (await verify(t, run.id)).is_same


async def test_a_world_says_what_its_limits_do_and_the_caller_may_say_otherwise() -> None:
    world = world_of(ticking("a"), governor={"max_turns": 1, "on_budget": "pause"})
    async with on_stage() as t:
        mine = await t.open_world(world)
        theirs = await t.open_world(world, governor=Governor(max_turns=1))
        await soon(t.run())

        assert (mine.governor.on_budget, t.run_of(mine.id).status) == ("pause", "paused")
        assert (await the_end(t, theirs.id)).payload["axis"] == "max_turns"


async def test_a_resumed_run_pauses_as_the_caller_said() -> None:
    async with Terrarium(models=ModelRouter(ScriptedModel('{"kind": "agent.spoke", "text": "Hm."}'))) as t:
        run = await t.open_world(world_of(ticking("a")), governor=Governor(max_turns=1, on_budget="pause"))
        await soon(t.run())
        await t.finish(run.id)
        child = await t.resume(t.graph(run.graph_ids[0]).session_id, world=world_of(ticking("a")))

        assert child.governor.on_budget == "pause"
        assert child.limits_given == ("max_turns", "on_budget")


async def test_creatures_who_think_together_lose_no_cost_when_the_run_pauses() -> None:
    names = ("a", "b", "c")
    async with on_stage(minds={name: Asker(calls=2) for name in names}) as t:
        run = await t.open_world(
            world_of(*[ticking(name, together=True) for name in names]), governor=pausing(max_total_calls=5)
        )
        await soon(t.run())

        events = [event for event in await t.run_events(run.id) if event.calls]
        assert sum(len(event.calls) for event in events) == t.run_of(run.id).calls == 5
        assert t.run_of(run.id).status == "paused"
        assert len(await said(t)) == 2


@pytest.mark.parametrize("wrong", ["stop", "", None, 3])
def test_anything_else_is_refused(wrong: object) -> None:
    with pytest.raises(WrongType, match=r"on_budget=.* is not valid. Write 'finish' or 'pause'\."):
        Governor(on_budget=wrong)  # type: ignore[arg-type]


def test_the_time_that_frees_room_counts_what_is_held_and_is_none_if_there_is_never_room() -> None:
    minute = int(START.timestamp() // 60)
    spent = Spent(minutes_usd={minute: 0.5, minute + 10: 0.3})
    purse = Purse("", spent=spent)
    purse.plan = Plan(pausing(hourly_budget_usd=1.0))
    now = START + timedelta(minutes=20)

    def freed(usd: float, held: float = 0.0) -> int | None:
        at = frees_at(purse, Usage(usd_known=held), Usage(usd_known=usd), now)
        return None if at is None else int((at - START).total_seconds() // 60)

    assert freed(0.5) == 61
    assert freed(0.8) == 71
    assert freed(0.5, held=0.6) == 81
    assert freed(1.1) is None
    assert frees_at(purse, NOTHING, Usage(is_unpriced=True), now) is None


def test_a_request_to_pause_holds_everything_that_the_event_says() -> None:
    from glasshouse.events.payloads import RunPaused

    assert set(RunPaused.__struct_fields__) < set(PauseRun.__struct_fields__)
