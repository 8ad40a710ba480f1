"""Replay of runs with tools: the record answers for Python tools, and the engine's own tools run again."""

import asyncio
import json

import pytest

from glasshouse import Draft, Manifest, MemoryStore, Terrarium, Toolbox, kinds, tool
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import CountingModel, ScriptedModel
from glasshouse.terrarium import verify
from glasshouse.turns.moment.moment import Moment
from tests.runtime.stage_crew import Doing, on_stage, ticking, world_of
from tests.runtime.troupe import soon
from tests.simulation.worlds_with_tools import Consulting, CountingTools, rooms_with_tools


async def test_a_run_that_used_tools_and_changed_its_graphs_comes_out_the_same() -> None:
    tools, model = CountingTools(), CountingModel(Consulting())
    async with Terrarium(MemoryStore(), models=ModelRouter(model), tools=tools) as t:
        run = await t.open_world(rooms_with_tools(), rng_seed=5)
        await t.run(run.id)
        events = await t.run_events(run.id)
        asked, used = model.calls, dict(tools.uses)

        outcome = await verify(t, run.id)

        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event, outcome.prompt_diffs)
        assert outcome.prompt_diffs == ()
        assert model.calls == asked
        weighed = [e.id for e in events if e.kind == kinds.TOOL_CALLED and e.payload["tool"] == "weigh"]
        merges = [e for e in events if e.kind == kinds.TOPOLOGY_CHANGED and e.payload["kind"] == "merge"]
        assert weighed
        assert merges
        assert {name: tools.uses[name] for name in weighed} == {name: used[name] for name in weighed}


async def test_what_a_mind_in_python_used_is_answered_from_the_record() -> None:
    uses: list[str] = []

    @tool
    def toss(coin: str) -> str:
        """Toss a coin."""
        uses.append(coin)
        return f"{coin} fell on side {len(uses)}"

    async def deed(moment: Moment) -> Draft:
        answer = await moment.use("toss", coin=f"coin{moment.turn}")
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": answer.text})

    box = Toolbox(toss)
    minds = {"a": Doing(deed)}
    async with on_stage(None, minds, tools=box) as t:
        run = await t.open_world(world_of(ticking("a", tools=("toss",)), governor={"max_turns": 3}))
        await soon(t.run())

        outcome = await verify(t, run.id)

        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event)
        assert uses == ["coin1", "coin2", "coin3"]


@pytest.mark.parametrize("ended_by", ["its agent", "its time, in code", "its time, with a model"])
async def test_a_call_that_was_cut_off_is_not_made_in_a_replay(ended_by: str) -> None:
    uses: list[str] = []
    has_begun = asyncio.Event()

    @tool
    async def dig(at: str) -> str:
        """Dig a hole."""
        uses.append(at)
        has_begun.set()
        if at == "the bog":
            await asyncio.Event().wait()
        return f"a hole at {at}"

    async def deed(moment: Moment) -> None:
        digging = asyncio.create_task(moment.use("dig", at="the bog"))
        await has_begun.wait()
        if ended_by == "its agent":
            digging.cancel()
        await asyncio.wait([digging])
        await moment.use("dig", at="the hill")

    digs = {"kind": kinds.TOOL_CALLED, "tool": "dig", "arguments": {"at": "the bog"}}
    is_bounded = ended_by != "its agent"
    ada = Manifest(
        name="ada",
        schedule={"tick_every": 1},
        subscribes_to=(),
        tools=("dig",),
        act_seconds_max=0.2 if is_bounded else 60,
    )
    models = ModelRouter(ScriptedModel(json.dumps(digs)))
    async with Terrarium(MemoryStore(), models=models, tools=Toolbox(dig)) as t:
        await t.add_creature(ada, agent=None if ended_by == "its time, with a model" else Doing(deed))
        await soon(t.step())
        (run,) = t.runs()

        outcome = await soon(verify(t, run.id))

        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event)
        assert uses == (["the bog"] if is_bounded else ["the bog", "the hill"])
