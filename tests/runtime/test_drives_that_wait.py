"""Drives that meet an act of another drive wait for it, and none takes steps that lead nowhere."""

from __future__ import annotations

import asyncio

import pytest

from glasshouse import Agent, Draft, Moment, kinds
from glasshouse.errors import EngineFault
from glasshouse.runtime.capabilities import Pacing
from glasshouse.runtime.conducting import order
from glasshouse.runtime.conducting.conductor import Conductor
from glasshouse.runtime.conducting.order import Advanced
from glasshouse.turns.prompts.context import prompt_for
from tests.runtime.stage_crew import Speaker, on_stage, said, ticking, turns_begun, world_of
from tests.runtime.troupe import line, loop_turns, soon

TWO_A_TURN = {"max_calls_per_turn": 2, "max_turns": 3, "on_turn_limit": "defer"}


class Ponders(Agent):
    """Asks its model, and then thinks on until it is let: its call is made, and nothing of its act is written."""

    def __init__(self) -> None:
        self.has_asked, self.gate = asyncio.Event(), asyncio.Event()

    async def act(self, moment: Moment) -> Draft | None:
        await moment.ask(prompt_for(moment))
        self.has_asked.set()
        await self.gate.wait()
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{moment.handle}{moment.turn}"})


@pytest.mark.parametrize("pacing", ["lockstep", "free"])
async def test_a_turn_that_is_full_by_an_act_of_another_drive_is_waited_for(
    pacing: Pacing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order, "empty_steps_max", 3)
    ponders = Ponders()
    minds = {"ada": ponders, "bo": Speaker(), "cy": Speaker()}
    rooms = {"large": {"cast": ["bo", "cy"]}, "small": {"cast": ["ada"]}}
    async with on_stage(minds=minds, pacing=pacing) as t:
        cast = [ticking(name) for name in ("bo", "cy", "ada")]
        run = await t.open_world(world_of(*cast, troupes=rooms, governor=TWO_A_TURN))
        large, small = run.graph_ids
        await soon(t.step_one(large))
        first = asyncio.create_task(t.step_one(small))
        await soon(ponders.has_asked.wait())
        await t.connect("bo", "ada", both=True)

        other = asyncio.create_task(t.step_one(large))
        await loop_turns()
        was_waiting = not other.done()
        ponders.gate.set()
        await soon(asyncio.gather(first, other))

        assert was_waiting
        assert await said(t) == ["bo1", "ada1", "cy2"]
        assert await turns_begun(t) == [1, 1, 2]


async def test_a_drive_whose_steps_lead_nowhere_raises_an_engine_fault_with_the_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = 0

    async def leads_nowhere(_conductor: Conductor, graph_id: str) -> Advanced:
        nonlocal steps
        steps += 1
        return Advanced("act", graph_id, 1)

    async with on_stage(minds={"ada": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("ada")))
        await soon(t.step_one())
        monkeypatch.setattr(Conductor, "advance", leads_nowhere)

        with pytest.raises(EngineFault) as fault:
            await soon(t.run(run.id))

        assert steps == order.empty_steps_max
        for part in (run.graph_ids[0], "Turn 1, next turn 2", f"'{run.id}': 1", "max_calls_per_turn"):
            assert part in str(fault.value)


async def test_steps_after_which_others_wrote_in_the_graph_are_not_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(order, "empty_steps_max", 2)
    usual, waits = Conductor.advance, 5

    async with on_stage(minds={"ada": Speaker()}) as t:
        await t.open_world(world_of(ticking("ada")))

        async def is_overtaken(conductor: Conductor, graph_id: str) -> Advanced:
            nonlocal waits
            if not waits:
                return await usual(conductor, graph_id)
            waits -= 1
            await t.append("ada", line("meanwhile", "stage"))
            return Advanced("act", graph_id, 1)

        monkeypatch.setattr(Conductor, "advance", is_overtaken)

        played = await soon(t.step_one())

        assert played is not None
        assert await said(t) == ["meanwhile"] * 5 + ["ada1"]
