"""Replay of runs with tools: the record answers for Python tools, and the engine's own tools run again."""

from glasshouse import Draft, MemoryStore, Terrarium, Toolbox, kinds, tool
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import CountingModel
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
