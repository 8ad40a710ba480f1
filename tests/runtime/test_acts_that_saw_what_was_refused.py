"""An act that stands on something that a failed commit refused is not written: its world never became real, and no replay could show it again."""

from __future__ import annotations

import asyncio

import pytest

from glasshouse import Terrarium, kinds
from glasshouse.errors import StoreFailed
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.acts.act_calls import INTERRUPTED
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.made_up_words import word_for
from tests.runtime.stage_crew import ledger_of, on_stage, ticking, turns_begun, words, world_of
from tests.runtime.stores_around import FailingStore
from tests.runtime.toolkits import speaks
from tests.runtime.troupe import line, loop_turns, soon


class Shut:
    """A model that answers when it is let, and keeps what it was shown."""

    name = backend = "shut"
    is_free = True

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.prompts: list[str] = []

    async def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt.user)
        number = len(self.prompts)
        await self.gate.wait()
        said = " ".join(word_for(6 * number + at) for at in range(6))
        return Completion(speaks(said), self.name, Tokens(5, 5), response_id=f"answer {number}")


async def begun(t: Terrarium) -> str:
    """A run of two who tick; the first one has spoken in the first turn."""
    run = await t.open_world(world_of(ticking("tick"), ticking("tock")))
    await soon(t.step_one())
    return run.id


async def fail_the_commit_under_way(store: FailingStore) -> None:
    """Let the commits fail that wait at the gate."""
    store.fails_at = store.asked + 1
    store.gate.set()
    await loop_turns()


async def test_an_act_that_saw_a_line_which_was_refused_is_thought_again_without_it() -> None:
    store, model = FailingStore(0), Shut()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run_id = await begun(t)
        store.gate.clear()
        said = asyncio.create_task(t.append("tick", line("Nobody will have heard this.", "stage")))
        await loop_turns()
        model.gate.clear()
        thinking = asyncio.create_task(t.step_one())
        await loop_turns()
        assert "Nobody will have heard this." in model.prompts[-1]

        await fail_the_commit_under_way(store)
        model.gate.set()
        answers = await soon(asyncio.gather(said, thinking, return_exceptions=True))
        for _ in range(3):
            await soon(t.step_one())

        assert [type(answer) for answer in answers] == [StoreFailed, StoreFailed]
        assert "Nobody will have heard this." not in words(await ledger_of(t))
        assert "Nobody will have heard this." not in model.prompts[-1]
        calls = [call for event in await ledger_of(t) for call in event.calls]
        assert [call.error for call in calls].count(INTERRUPTED) == 1
        assert (await verify(t, run_id)).is_same


async def test_no_turn_begins_while_a_commit_fails_that_leaves_an_act_of_the_turn_before_due() -> None:
    store, model = FailingStore(0), Shut()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run_id = await begun(t)
        store.gate.clear()
        second = asyncio.create_task(t.step_one())
        await loop_turns()
        store.gate_of_reads.clear()
        store.fails_at = store.asked + 1
        store.gate.set()
        await loop_turns()
        third = asyncio.create_task(t.step_one())
        await loop_turns()

        store.gate_of_reads.set()
        await soon(asyncio.gather(second, third, return_exceptions=True))
        await soon(t.step_one())

        spoken = [event for event in await ledger_of(t) if event.kind == kinds.AGENT_SPOKE]
        assert [event.actor for event in spoken if event.turn == 1] == ["tick", "tock"]
        assert (await turns_begun(t))[0] == 1
        assert (await verify(t, run_id)).is_same


async def test_calls_of_a_creature_that_was_removed_after_its_act_was_refused_are_told_and_verify() -> None:
    store, model = FailingStore(0), Shut()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run_id = await begun(t)
        store.gate.clear()
        second = asyncio.create_task(t.step_one())
        await loop_turns()
        await fail_the_commit_under_way(store)
        with pytest.raises(StoreFailed):
            await soon(second)

        await t.remove_creature("tock")
        await soon(t.step_one())

        ends = [event for event in await ledger_of(t) if event.kind == kinds.ACT_DISCARDED]
        assert [[call.response_id for call in event.calls] for event in ends] == [["answer 2"]]
        assert (await verify(t, run_id)).is_same


async def test_an_act_whose_cause_was_refused_answers_no_other_event_that_got_its_id() -> None:
    store, model = FailingStore(0), Shut()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run_id = await begun(t)
        await soon(t.step_one())
        store.gate.clear()
        model.gate.clear()
        first = asyncio.create_task(t.step_one())
        await loop_turns()
        await fail_the_commit_under_way(store)
        await t.append("tock", line("This has the id of the turn that was refused.", "stage"))
        await t.remove_creature("tick")
        model.gate.set()
        await soon(asyncio.gather(first, return_exceptions=True))
        await soon(t.step_one())

        ledger = {event.id: event for event in await ledger_of(t)}
        causes = [event.caused_by for event in ledger.values() if event.ends_its_act]
        answered = [ledger[cause].kind for cause in causes if cause is not None]
        assert kinds.AGENT_SPOKE not in answered
        assert (await verify(t, run_id)).is_same
