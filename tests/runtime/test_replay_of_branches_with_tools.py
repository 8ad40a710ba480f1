"""Replay of branches whose creatures use tools, also of a branch that starts in the middle of an act."""

import pytest

from glasshouse import errors, kinds
from glasshouse.events.payloads import AgentFailed, payload_of
from glasshouse.models.router import ModelRouter
from glasshouse.terrarium import verify
from tests.runtime.stage_crew import on_stage, ticking, world_of
from tests.runtime.test_tools_of_branches import Dice, WeighsTwice
from tests.runtime.troupe import soon


async def test_an_act_that_is_taken_up_in_a_branch_ends_at_its_limit_where_it_ended_then() -> None:
    dice = Dice()
    limits = {"max_turns": 2, "max_calls_per_turn": 1, "on_turn_limit": "defer"}
    async with on_stage(models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        run = await t.open_world(world_of(ticking("ada", tools=("weigh",)), governor=limits))
        await soon(t.run(run.id))
        called = next(e for e in await t.run_events(run.id) if e.kind == kinds.TOOL_CALLED)
        branch = await t.branch(called.session_id, called.id)
        await soon(t.run(branch.id))

        outcome = await soon(verify(t, branch.id))

        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event)


async def test_a_limit_that_stopped_an_act_is_known_by_name_after_its_message_was_reworded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dice = Dice()
    limits = {"max_turns": 2, "max_calls_per_turn": 1, "on_turn_limit": "defer"}
    async with on_stage(models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        run = await t.open_world(world_of(ticking("ada", tools=("weigh",)), governor=limits))
        await soon(t.run(run.id))
        failed = next(e for e in await t.run_events(run.id) if e.kind == kinds.AGENT_FAILED)
        assert payload_of(failed, AgentFailed).axis == "max_calls_per_turn"
        monkeypatch.setattr(errors, "LIMIT_REACHED", "No more: {}.")

        outcome = await soon(verify(t, run.id))

        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event)


async def test_the_words_of_one_who_is_gone_are_trusted_in_a_replay_as_they_were_then() -> None:
    dice = Dice()
    async with on_stage(models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        cast = [ticking("ada", tools=("weigh",)), ticking("bo", tools=("weigh",))]
        run = await t.open_world(world_of(*cast, governor={"max_turns": 3, "max_calls_per_turn": 60}))
        await soon(t.step())
        await t.remove_creature("bo")
        branch = await t.branch(t.creature("ada").session_id)
        await soon(t.run(branch.id))

        outcome = await soon(verify(t, branch.id))

        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event)
        assert run.id == outcome.grows_from
