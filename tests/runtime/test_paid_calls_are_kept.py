"""A commit that fails loses no paid call: whatever a model answered is in the ledger once, and its cost is counted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from itertools import count
from typing import Any

import pytest

from glasshouse import Draft, Governor, Manifest, Terrarium, kinds
from glasshouse.errors import ModelUnreachable, Refused, StoreFailed
from glasshouse.events.model_use import Call
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.made_up_words import word_for
from tests.runtime.limits_by_hand import NO_LIMIT
from tests.runtime.stage_crew import events_of, hearing, ledger_of, on_stage, ticking, world_of
from tests.runtime.stores_around import FailingStore
from tests.runtime.toolkits import OneTool, uses
from tests.runtime.troupe import line, loop_turns, soon
from tests.simulation.ledger_checks import check_ends

FAULTS = pytest.mark.parametrize(
    "fault",
    [{}, {"is_in_doubt": True}, {"is_in_doubt": True, "is_lost": True}],
    ids=["before writing", "in doubt and written", "in doubt and lost"],
)
Fault = dict[str, Any]
turns = 2


class Counted:
    """A model that says something else each time, and counts what it answered."""

    name = backend = "counted"
    is_free = True

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.answered = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self._numbers = count()

    async def complete(self, _prompt: Prompt) -> Completion:
        await self.gate.wait()
        self.answered += 1
        words = " ".join(word_for(next(self._numbers)) for _ in range(6))
        said = json.dumps({"kind": kinds.AGENT_SPOKE, "thought": "Hm.", "text": words, "mood": "calm"})
        return Completion(self.replies.pop(0) if self.replies else said, self.name, Tokens(5, 5), usd=0.25)


async def failed(driving: Awaitable[object]) -> bool:
    """Drive; whether the store failed."""
    try:
        await soon(driving)
    except StoreFailed:
        return True
    return False


async def recorded(t: Terrarium) -> list[Call]:
    return [call for event in await ledger_of(t) for call in event.calls]


async def check_is_paid_once(t: Terrarium, model: Counted) -> None:
    """Every answer is in the ledger once and counts, no act has two ends, and nothing is reserved any more."""
    calls = await recorded(t)
    assert len(calls) == model.answered
    assert len({call.seed for call in calls}) == len(calls)
    assert sum(run.calls for run in t.runs()) == model.answered
    assert sum(run.usd or 0.0 for run in t.runs()) == pytest.approx(0.25 * model.answered)
    await check_ends(t._house.store)
    assert t._parts.model_access.reservations._acts == {}


@FAULTS
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
@pytest.mark.parametrize("fails_at", range(1, 7))
async def test_whichever_commit_of_a_play_fails_every_answer_is_recorded_once(
    fails_at: int, together: bool, fault: Fault
) -> None:
    store, model = FailingStore(0, **fault), Counted()
    cast = [ticking(name, together=together) for name in ("ada", "bo", "cy")]
    governor = Governor(**{**NO_LIMIT, "max_turns": turns})
    async with on_stage(store, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(*cast), governor=governor)
        store.fails_at = store.asked + fails_at

        is_told = await failed(t.run(run.id))
        assert is_told == (store.asked >= store.fails_at and not store.writes_in_doubt)
        await soon(t.run(run.id))

        lines = await events_of(t, kinds.AGENT_SPOKE)
        assert [line.actor for line in lines] == ["ada", "bo", "cy"] * turns
        await check_is_paid_once(t, model)
        assert (await verify(t, run.id)).is_same


async def test_the_calls_of_an_act_that_was_not_written_still_count_against_the_limit() -> None:
    store, model = FailingStore(0), Counted()
    governor = Governor(**{**NO_LIMIT, "max_total_calls": 3})
    async with on_stage(store, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada")), governor=governor)
        await soon(t.step_one())
        store.fails_at = store.asked + 1

        assert await failed(t.run(run.id))
        held = [mine.done.calls for mine in t._parts.model_access.reservations._acts[run.id]]
        await soon(t.run(run.id))

        assert held == [1]
        assert model.answered == t.run_of(run.id).calls == 3
        await check_is_paid_once(t, model)


@FAULTS
@pytest.mark.parametrize("fails_at", range(1, 6))
async def test_a_commit_in_the_middle_of_an_act_that_fails_loses_no_call(fails_at: int, fault: Fault) -> None:
    store, model = FailingStore(0, **fault), Counted(uses("low"))
    async with on_stage(store, models=ModelRouter(model), tools=OneTool()) as t:
        run = await t.open_world(
            world_of(ticking("keeper", tools=("lamp",)), governor={"max_turns": 2}), run_id="r"
        )
        store.fails_at = store.asked + fails_at

        assert await failed(t.run(run.id)) is not store.writes_in_doubt
        await soon(t.run(run.id))

        assert t.run_of(run.id).is_finished
        await check_is_paid_once(t, model)


class AwayAfter(Counted):
    """Answers once with what cannot be used, and is away from then on, until it is back."""

    is_back = False

    async def complete(self, prompt: Prompt) -> Completion:
        if self.answered == 1 and not self.is_back:
            raise ModelUnreachable("Nobody answers.")
        return await super().complete(prompt)


@FAULTS
async def test_the_attempts_that_a_pause_should_have_recorded_are_recorded_later(fault: Fault) -> None:
    store, model = FailingStore(0, **fault), AwayAfter()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada"), governor={"max_turns": 2}))
        await soon(t.step_one())
        store.fails_at = store.asked + 2

        assert await failed(t.run(run.id)) is not store.writes_in_doubt
        assert t.run_of(run.id).status == ("paused" if store.writes_in_doubt else "playing")
        model.is_back = True
        if store.writes_in_doubt:
            await t.continue_run(run.id)
        await soon(t.run(run.id))

        attempts = [call for call in await recorded(t) if not call.reached]
        assert len(attempts) == 3
        assert model.answered == t.run_of(run.id).calls == 2
        assert t._parts.model_access.reservations._acts == {}


@FAULTS
async def test_the_calls_of_a_removed_creature_are_recorded_though_their_first_commit_fails(
    fault: Fault,
) -> None:
    store, model = FailingStore(0, **fault), Counted()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada"), ticking("bo"), governor={"max_turns": 2}))
        await soon(t.step_one())
        model.gate.clear()
        driving = asyncio.create_task(t.step_one())
        await loop_turns()
        await t.remove_creature("bo")
        store.fails_at = store.asked + 1
        model.gate.set()

        assert await failed(driving) is not store.writes_in_doubt
        await soon(t.run(run.id))

        assert [event.actor for event in await events_of(t, kinds.ACT_DISCARDED)] == ["bo"]
        await check_is_paid_once(t, model)


async def test_an_act_that_a_program_answered_records_its_calls_though_its_commit_fails() -> None:
    store, model = FailingStore(0), Counted()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(hearing("ada"), hearing("bo"), governor={"max_turns": 2}))
        cause = await t.append("ada", line("Who is there?", "stage"))
        model.gate.clear()
        driving = asyncio.create_task(t.step_one())
        await loop_turns()
        answer = Draft(kind=kinds.AGENT_SPOKE, payload={"text": "A program."})
        await t.append("bo", answer, caused_by=cause.id)
        store.fails_at = store.asked + 1
        model.gate.set()

        assert await failed(driving)
        await soon(t.run(run.id))

        ends = [event for event in await ledger_of(t) if event.actor == "bo" and event.caused_by == cause.id]
        assert [event.payload["text"] for event in ends] == ["A program."]
        assert len(await recorded(t)) == model.answered
        assert t._parts.model_access.reservations._acts == {}


async def test_a_drive_that_is_cancelled_while_its_act_waits_for_room_keeps_its_calls() -> None:
    store, model = FailingStore(0), Counted()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada"), governor={"max_turns": 2}))
        await soon(t.step_one())
        model.gate.clear()
        driving = asyncio.create_task(t.step_one())
        await loop_turns()
        store.gate_of_reads.clear()
        store.fails_at = store.asked + 1
        lost = asyncio.create_task(t.add_creature(Manifest(name="lost")))
        await loop_turns()
        model.gate.set()
        await loop_turns()

        driving.cancel()
        await loop_turns()
        store.gate_of_reads.set()
        with pytest.raises((StoreFailed, Refused)):
            await soon(lost)
        await soon(t.run(run.id))

        await check_is_paid_once(t, model)


async def test_an_act_that_is_refused_while_its_run_is_being_finished_is_recorded_before_the_end() -> None:
    store, model = FailingStore(0), Counted()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada")))
        await soon(t.step_one())
        store.fails_at = store.asked + 1
        store.gate_of_reads.clear()
        driving = asyncio.create_task(t.step_one())
        await loop_turns()

        finishing = asyncio.create_task(t.finish(run.id))
        await loop_turns()
        store.gate_of_reads.set()

        assert await failed(driving)
        end = await soon(finishing)
        assert end is not None
        assert end.payload["calls"] == model.answered == 2
        await check_is_paid_once(t, model)


class AsksAgain(Counted):
    """Answers with what cannot be used, and says when it is asked again, which it does not answer."""

    def __init__(self) -> None:
        super().__init__("?")
        self.is_asked_again = asyncio.Event()

    async def complete(self, prompt: Prompt) -> Completion:
        if self.answered == 1 and not self.is_asked_again.is_set():
            self.is_asked_again.set()
            await asyncio.Event().wait()
        return await super().complete(prompt)


@pytest.mark.parametrize("how", ["finish", "remove", "close"])
async def test_the_answers_of_an_interrupted_act_are_recorded_however_it_ends(how: str) -> None:
    store, model = FailingStore(0), AsksAgain()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada"), ticking("bo")))
        driving = asyncio.create_task(t.step_one())
        await soon(model.is_asked_again.wait())
        driving.cancel()
        await loop_turns()

        if how == "remove":
            await t.remove_creature("ada")
            await soon(t.step_one())
        if how == "finish":
            await soon(t.finish(run.id))

    ends = [event for event in await store.inner.read_after(0, 1_000) if event.calls]
    kind = kinds.ACT_DISCARDED if how == "remove" else kinds.AGENT_FAILED
    assert (ends[0].actor, ends[0].kind) == ("ada", kind)
    assert [call.usage.is_estimated for call in ends[0].calls] == [False, True]
    assert sum(len(event.calls) for event in ends) == model.answered + 1


async def test_an_act_that_took_over_calls_and_never_thought_records_them_as_its_own() -> None:
    store, model = FailingStore(0), AsksAgain()
    async with on_stage(store, models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(hearing("ada"), hearing("bo")))
        answered = await t.append("ada", line("Who is there?", "stage"))
        driving = asyncio.create_task(t.step_one())
        await soon(model.is_asked_again.wait())
        driving.cancel()
        await loop_turns()
        await t.append(
            "bo", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "A program."}), caused_by=answered.id
        )
        owed = await t.append("ada", line("And now?", "stage"))
        in_flight = t._parts.conductor._in_flight
        in_flight.interrupt(in_flight.take(("bo", owed.id), run.id))

        assert await soon(t.finish(run.id)) is not None

        ends = [event for event in await ledger_of(t) if event.calls]
        assert [(event.actor, event.caused_by, len(event.calls)) for event in ends] == [("bo", owed.id, 2)]
        assert t._parts.model_access.reservations._acts == {}
