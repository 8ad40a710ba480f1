"""Misuse of tools in acts: concurrent calls, and calls after the act has ended."""

import asyncio

from glasshouse import MemoryStore, Refused, kinds
from glasshouse.runtime.acts.act_so_far import act_so_far_of
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from tests.runtime.stage_crew import Doing, events_of, on_stage, ticking, world_of
from tests.runtime.toolkits import OneTool
from tests.runtime.troupe import soon

KEEPER = ticking("keeper", tools=("lamp",))


async def test_calls_side_by_side_are_carried_out_one_after_another() -> None:
    async def deed(moment: Moment) -> None:
        await asyncio.gather(*(moment.use("lamp", how=how) for how in ("low", "high")))

    async def slow(call: ToolCall, context: ToolContext) -> ToolAnswer:
        for _ in range(3 if call.arguments["how"] == "low" else 0):
            await asyncio.sleep(0)
        return ToolAnswer(is_ok=True, text=call.arguments["how"])

    async with on_stage(None, {"keeper": Doing(deed)}, tools=OneTool(slow)) as t:
        await t.open_world(world_of(KEEPER, governor={"max_turns": 1}))

        await soon(t.run())

        events = await events_of(t, kinds.TOOL_CALLED, kinds.TOOL_RETURNED)
        steps = act_so_far_of(events).steps
        assert [event.payload["number"] for event in events] == [1, 1, 2, 2]
        assert [(step.call.arguments["how"], step.talk and step.talk.answer.text) for step in steps] == [
            ("low", "low"),
            ("high", "high"),
        ]


async def test_nobody_uses_a_tool_after_its_act() -> None:
    kept: list[Moment] = []
    refusals: list[str] = []

    async def deed(moment: Moment) -> None:
        kept.append(moment)
        if len(kept) == 2:
            try:
                await kept[0].use("lamp", how="low")
            except Refused as refusal:
                refusals.append(str(refusal))

    box, store = OneTool(), MemoryStore()
    async with on_stage(store, {"keeper": Doing(deed)}, tools=box) as t:
        await t.open_world(world_of(KEEPER, governor={"max_turns": 2}))

        await soon(t.run())

        assert len(kept) == 2
        assert ["has ended" in text for text in refusals] == [True]
        assert await events_of(t, kinds.TOOL_CALLED) == []
        assert box.calls == []


async def test_an_act_ends_after_the_answer_to_what_it_has_begun() -> None:
    tasks: list[asyncio.Task[ToolAnswer]] = []

    async def deed(moment: Moment) -> None:
        tasks.append(asyncio.create_task(moment.use("lamp", how="low")))
        await asyncio.sleep(0)

    async with on_stage(None, {"keeper": Doing(deed)}, tools=OneTool()) as t:
        await t.open_world(world_of(KEEPER, governor={"max_turns": 1}))

        await soon(t.run())

        kinds_told = [event.kind for event in await events_of(t, *kinds.MID_ACT, kinds.AGENT_SPOKE)]
        assert kinds_told == [kinds.TOOL_CALLED, kinds.TOOL_RETURNED, kinds.AGENT_SPOKE]
        assert tasks[0].result().is_ok
