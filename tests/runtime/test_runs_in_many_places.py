"""The story of a run holds everything its creatures said, also those added alone or to the graph of another run."""

from typing import Any

from glasshouse import Draft, MemoryStore, kinds
from glasshouse.models.router import ModelRouter
from tests.runtime.stage_crew import Speaker, on_stage, ticking, world_of
from tests.runtime.test_tools_of_branches import Dice, WeighsTwice
from tests.runtime.troupe import soon

LIMITS = {"max_turns": 3, "max_calls_per_turn": 60}


async def test_a_creature_brought_to_life_alone_is_part_of_what_its_run_tells() -> None:
    async with on_stage(minds={"ada": Speaker(), "bo": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("ada"), governor=LIMITS))
        await t.add_creature(ticking("bo"), run=run.id)

        await soon(t.run(run.id))

        events = await t.run_events(run.id)
        acts = [event.actor for event in events if event.kind == kinds.AGENT_SPOKE]
        assert sorted(acts) == ["ada"] * 3 + ["bo"] * 3
        assert len(acts) == t.run_of(run.id).calls
        births = [event.payload["creature"] for event in events if event.kind == kinds.CREATURE_STARTED]
        assert sorted(births) == ["ada", "bo"]


async def test_what_is_said_as_a_guest_of_another_run_is_told_and_what_the_others_did_is_not() -> None:
    async with on_stage() as t:
        run = await t.open_world(world_of(ticking("ada"), governor=LIMITS))
        other = await t.open_world(world_of(ticking("cy"), governor=LIMITS))
        await t.add_creature(ticking("bo"), run=run.id, graph=other.graph_ids[0])
        said = await t.append("bo", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Hello."}))
        await t.append("cy", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Good day."}))

        events = await t.run_events(run.id)

        assert [event.id for event in events if event.kind == kinds.AGENT_SPOKE] == [said.id]
        assert not [event for event in events if event.session_id == said.session_id and event.id != said.id]


async def test_a_branch_answers_tools_from_the_record_for_one_who_was_brought_to_life_alone() -> None:
    dice = Dice()
    weighing: dict[str, Any] = {"tools": ("weigh",), "persona": "weighs things"}
    async with on_stage(MemoryStore(), models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        run = await t.open_world(world_of(ticking("ada", **weighing), governor=LIMITS))
        bo = await t.add_creature(ticking("bo", **weighing), run=run.id)
        branch = await t.branch(bo.session_id)
        await soon(t.run(run.id))
        throws = dice.throws

        await soon(t.run(branch.id))

        assert dice.throws == throws
        assert await t.digest(branch.id) == await t.digest(run.id)
