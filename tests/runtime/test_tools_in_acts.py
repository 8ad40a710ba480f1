"""Acts that use tools: each call is recorded before and after it runs, and the act ends in one event."""

import asyncio

import pytest

from glasshouse import Draft, MemoryStore, Refused, kinds
from glasshouse.errors import ModelUnreachable, StoreFailed, UnknownName
from glasshouse.events.payloads import Governor
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, tool_calls_in_act_max
from tests.runtime.stage_crew import (
    Doing,
    cast_on,
    events_of,
    ledger_of,
    on_stage,
    the_end,
    ticking,
    world_of,
)
from tests.runtime.stores_around import FailingStore, GatedStore
from tests.runtime.toolkits import OneTool, speaks, uses
from tests.runtime.troupe import loop_turns, soon

KEEPER = ticking("keeper", tools=("lamp",))
ON_THE_WAY = (
    kinds.TOOL_CALLED,
    kinds.TOOL_RETURNED,
    kinds.AGENT_SPOKE,
    kinds.AGENT_FAILED,
    kinds.ACT_DISCARDED,
)


async def test_an_act_with_several_calls_ends_in_one_event_and_tells_each_call_before_and_after() -> None:
    model, box = ScriptedModel(uses("low"), uses("high"), speaks()), OneTool()
    async with on_stage(models=ModelRouter(model), tools=box) as t:
        await t.open_world(world_of(KEEPER, governor={"max_turns": 1}))

        end = await soon(t.step_one())

        first, its_answer, second, _, last = events = await events_of(t, *ON_THE_WAY)
        assert [event.kind for event in events] == [*ON_THE_WAY[:2], *ON_THE_WAY[:2], kinds.AGENT_SPOKE]
        assert first.payload == {"tool": "lamp", "arguments": {"how": "low"}, "number": 1}
        assert first.private == {"thought": "Light."}
        assert first.caused_by == second.caused_by == last.caused_by
        assert its_answer.payload == {"tool": "lamp", "number": 1, "is_ok": True, "text": "The lamp is low."}
        assert its_answer.caused_by == first.id
        assert [len(event.calls) for event in (first, second, last)] == [1, 1, 1]
        assert end is not None
        assert end.id == last.id
        assert box.calls == [ToolCall("lamp", {"how": how}, {"thought": "Light."}) for how in ("low", "high")]


async def test_each_ask_shows_what_the_tools_of_this_act_have_said_and_the_next_act_forgets_it() -> None:
    model = ScriptedModel(uses("low"), uses("high"), speaks(), speaks("Still bright."))
    async with on_stage(models=ModelRouter(model), tools=OneTool()) as t:
        await t.open_world(world_of(KEEPER, governor={"max_turns": 2}))

        await soon(t.run())

        heading = "WHAT YOUR TOOLS SAID"
        shown = [
            prompt.user.partition(f"{heading}\n")[2].partition("\nWHAT YOU ANSWER NOW")[0]
            for prompt in model.prompts
        ]
        low, high = (f'lamp {{"how":"{how}"}} answered: "The lamp is {how}."' for how in ("low", "high"))
        assert shown == ["", low, f"{low}\n{high}", ""]


async def test_a_call_is_durable_before_its_tool_is_used() -> None:
    store, box = GatedStore(), OneTool()
    async with on_stage(store, models=ModelRouter(ScriptedModel(uses(), speaks())), tools=box) as t:
        await t.open_world(world_of(KEEPER, governor={"max_turns": 1}))
        store.gate.clear()
        acting = asyncio.create_task(t.step_one())
        await loop_turns()
        assert box.calls == []

        store.gate.set()
        await soon(acting)

        assert len(box.calls) == 1
        assert (await events_of(t, *ON_THE_WAY))[0].kind == kinds.TOOL_CALLED


async def test_a_reply_that_asks_for_a_tool_it_was_not_offered_is_repaired_in_words() -> None:
    model, box = ScriptedModel(uses(tool="axe"), *[uses(how="dim")] * 2, speaks()), OneTool()
    async with on_stage(models=ModelRouter(model), tools=box) as t:
        await t.open_world(world_of(KEEPER, governor={"max_turns": 2}))

        await soon(t.run())

        repair = model.prompts[1].user
        assert 'It does not count. "tool" may not be "axe": give one of "lamp".' in repair
        assert box.calls == []
        failed = (await events_of(t, kinds.AGENT_FAILED))[0]
        assert '"how" may not be "dim": give one of "low", "high".' in failed.payload["reason"]


async def test_a_creature_without_a_grant_is_offered_nothing() -> None:
    model = ScriptedModel(uses(), speaks())
    async with on_stage(models=ModelRouter(model), tools=OneTool()) as t:
        await t.open_world(world_of(ticking("keeper"), governor={"max_turns": 1}))

        await soon(t.run())

        assert "lamp" not in model.prompts[0].system
        assert "tool.called" in model.prompts[1].user
        assert await events_of(t, kinds.TOOL_CALLED) == []


async def test_after_so_many_calls_an_act_is_offered_no_more_tools() -> None:
    model, box = ScriptedModel(*[uses()] * tool_calls_in_act_max, speaks()), OneTool()
    async with on_stage(models=ModelRouter(model), tools=box) as t:
        limits = {"max_turns": 1, "max_calls_per_turn": 30}
        await t.open_world(world_of(KEEPER, governor=limits))

        await soon(t.run())

        assert len(box.calls) == tool_calls_in_act_max
        assert "lamp" in model.prompts[-2].system
        assert "lamp" not in model.prompts[-1].system
        assert len(await events_of(t, kinds.AGENT_SPOKE)) == 1


async def test_a_mind_in_python_uses_tools_and_looks_again() -> None:
    seen: list[tuple[str, int]] = []

    async def deed(moment: Moment) -> None:
        answer = await moment.use("lamp", how="high")
        seen.append((answer.text, len(moment.look_again().talk)))

    async with on_stage(None, {"keeper": Doing(deed)}, tools=OneTool()) as t:
        run = await t.open_world(world_of(KEEPER, governor={"max_turns": 1}))

        await soon(t.run())

        assert seen == [("The lamp is high.", 1)]
        assert len(await events_of(t, *ON_THE_WAY)) == 3
        assert (await the_end(t)).payload["calls"] == t.run_of(run.id).calls == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [("axe", {}, UnknownName), ("lamp", {}, Refused), ("lamp", {"how": "dim"}, Refused)],
)
async def test_a_mind_in_python_is_refused_what_is_not_offered(
    tool: str, arguments: dict[str, str], error: type[Refused]
) -> None:
    caught: list[Refused] = []

    async def deed(moment: Moment) -> None:
        try:
            await moment.use(tool, **arguments)
        except Refused as refusal:
            caught.append(refusal)

    async with on_stage(None, {"keeper": Doing(deed)}, tools=OneTool()) as t:
        await t.open_world(world_of(KEEPER, governor={"max_turns": 1}))

        await soon(t.run())

        assert [type(error) for error in caught] == [error]
        assert await events_of(t, kinds.TOOL_CALLED) == []


async def test_every_ask_counts_once_whether_it_is_told_on_the_way_or_at_the_end() -> None:
    model = ScriptedModel(uses(), uses(), speaks())
    async with on_stage(models=ModelRouter(model), tools=OneTool()) as t:
        run = await t.open_world(world_of(KEEPER, governor={"max_turns": 1, "max_calls_per_turn": 3}))

        await soon(t.run())

        assert len(await events_of(t, kinds.AGENT_SPOKE)) == 1
        assert (await the_end(t)).payload["calls"] == t.run_of(run.id).calls == 3


async def test_a_budget_that_trips_in_the_middle_of_an_act_ends_it_in_one_event_without_another_call() -> (
    None
):
    model, box = ScriptedModel(uses()), OneTool()
    async with on_stage(models=ModelRouter(model), tools=box) as t:
        run = await t.open_world(world_of(KEEPER, governor={"max_total_calls": 2, "max_turns": 9}))

        await soon(t.run())

        kinds_told = [event.kind for event in await events_of(t, *ON_THE_WAY)]
        assert kinds_told == [*ON_THE_WAY[:2], *ON_THE_WAY[:2], kinds.AGENT_FAILED]
        end = await the_end(t)
        assert (end.payload["axis"], end.payload["calls"]) == ("max_total_calls", 2)
        assert len(box.calls) == model.calls == 2
        assert t.run_of(run.id).is_finished


async def test_a_model_out_of_reach_after_a_tool_leaves_the_act_under_way_and_it_goes_on_later() -> None:
    away = ModelUnreachable("The model is away. Start it.")
    model, box = ScriptedModel(uses(), away, away, away, speaks()), OneTool()
    async with on_stage(models=ModelRouter(model), tools=box) as t:
        run = await t.open_world(world_of(KEEPER, governor={"max_turns": 1}))
        await soon(t.run())
        assert t.run_of(run.id).status == "paused"
        assert [event.kind for event in await events_of(t, *ON_THE_WAY)] == [*ON_THE_WAY[:2]]

        await t.continue_run(run.id)
        await soon(t.run())

        assert [event.kind for event in await events_of(t, *ON_THE_WAY)] == [
            *ON_THE_WAY[:2],
            kinds.AGENT_SPOKE,
        ]
        assert len(box.calls) == 1


async def test_a_creature_removed_while_its_tool_runs_uses_no_other_and_its_act_is_discarded() -> None:
    async def deed(call: ToolCall, context: ToolContext) -> ToolAnswer:
        await t.remove_creature("keeper")
        return ToolAnswer(is_ok=True, text="Nobody is there to hear it.")

    model, box = ScriptedModel(uses()), OneTool(deed)
    async with on_stage(models=ModelRouter(model), tools=box) as t:
        await t.open_world(world_of(KEEPER, ticking("other", 9), governor={"max_turns": 1}))

        await soon(t.run())

        called, discarded = await events_of(t, *ON_THE_WAY)
        assert (called.kind, discarded.kind) == (kinds.TOOL_CALLED, kinds.ACT_DISCARDED)
        assert discarded.tools == (called.id,)
        assert len(box.calls) == model.calls == 1


async def test_a_creature_that_is_gone_when_its_model_answers_calls_no_tool() -> None:
    async def deed(moment: Moment) -> None:
        await t.remove_creature("keeper")
        await moment.use("lamp", how="low")

    box = OneTool()
    async with on_stage(None, {"keeper": Doing(deed)}, tools=box) as t:
        await t.open_world(world_of(KEEPER, ticking("other", 9), governor={"max_turns": 1}))

        await soon(t.run())

        assert [event.kind for event in await events_of(t, *ON_THE_WAY)] == [kinds.ACT_DISCARDED]
        assert box.calls == []


async def test_tools_of_ticks_that_go_together_wait_for_their_turn_in_the_order_of_the_cast() -> None:
    names = ("a", "b", "c")
    begun = {name: asyncio.Event() for name in names}
    order: list[str] = []

    async def deed(moment: Moment) -> Draft:
        begun[moment.handle].set()
        for act in begun.values():
            await act.wait()
        await moment.use("lamp", how="low")
        order.append(moment.handle)
        await moment.use("lamp", how="high")
        order.append(moment.handle)
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": moment.handle})

    minds = {name: Doing(deed) for name in names}
    async with on_stage(None, minds, tools=OneTool()) as t:
        cast = [ticking(name, together=True, tools=("lamp",)) for name in names]
        await t.open_world(world_of(*cast, governor={"max_turns": 1}))

        await soon(t.run())

        assert order == ["a", "a", "b", "b", "c", "c"]
        actors = [event.actor for event in await events_of(t, *ON_THE_WAY)]
        assert actors == ["a"] * 5 + ["b"] * 5 + ["c"] * 5


async def test_a_store_that_fails_in_the_middle_of_an_act_is_not_told_as_its_creatures_failure() -> None:
    async def fails_first(call: ToolCall, context: ToolContext) -> ToolAnswer:
        if len(box.calls) == 1:
            store.fails_at = store.asked + 1
        return ToolAnswer(is_ok=True, text="lit")

    store, box = FailingStore(0), OneTool(fails_first)
    async with on_stage(store, models=ModelRouter(ScriptedModel(uses(), speaks())), tools=box) as t:
        await t.open_world(world_of(KEEPER, governor={"max_turns": 1}))
        with pytest.raises(StoreFailed, match="disk is full"):
            await soon(t.run())

        await soon(t.run())

        assert [event.kind for event in await events_of(t, *ON_THE_WAY)] == [
            *ON_THE_WAY[:2],
            kinds.AGENT_SPOKE,
        ]
        assert len(box.calls) == 2


async def test_a_tool_that_costs_no_model_leaves_the_default_run_within_its_limits() -> None:
    async def deed(moment: Moment) -> None:
        await moment.use("lamp", how="low")

    minds = {"keeper": Doing(deed)}
    async with on_stage(MemoryStore(), tools=OneTool(), governor=Governor(max_turns=2)) as t:
        await cast_on(t, minds, KEEPER)

        await soon(t.run())

        assert len([e for e in await ledger_of(t) if e.kind == kinds.TOOL_RETURNED]) == 2
        assert (await the_end(t)).payload["calls"] == 2
