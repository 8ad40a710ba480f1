"""An act ends in exactly one event: the ledger refuses a second one, and lines that a program appends end no act."""

from __future__ import annotations

import asyncio

import pytest

from glasshouse import Draft, Event, Terrarium, kinds
from glasshouse.errors import ModelUnreachable, Refused
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.world.decisions.intents import EndAct
from tests.runtime.stage_crew import ANSWER, events_of, hearing, ledger_of, on_stage, said, ticking, world_of
from tests.runtime.troupe import mail_of, soon

AWAY = ModelUnreachable("Nobody answers.")


class OnCue:
    """A model that answers, or raises, when it is told to: `next_call` waits for a question, which `cues` then answer."""

    name = backend = "on-cue"
    is_free = True

    def __init__(self) -> None:
        self._asked: asyncio.Queue[asyncio.Future[str]] = asyncio.Queue()

    async def complete(self, prompt: Prompt) -> Completion:
        cue: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._asked.put_nowait(cue)
        return Completion(await cue, self.name, Tokens(20, 10), usd=0.0)

    async def next_call(self) -> asyncio.Future[str]:
        return await soon(self._asked.get())


def answer(text: str) -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, payload={"text": text})


def ends_of(events: list[Event], actor: str) -> list[str]:
    return [event.kind for event in events if event.actor == actor and event.caused_by is not None]


async def test_a_server_that_fails_two_graphs_of_a_run_ends_no_act_twice() -> None:
    model = OnCue()
    rooms = {"north": {"cast": ["ada"]}, "south": {"cast": ["bo"]}}
    async with on_stage(models=ModelRouter(model), pacing="free") as t:
        run = await t.open_world(world_of(ticking("ada"), ticking("bo"), troupes=rooms))
        playing = asyncio.create_task(t.run())
        first, other = await model.next_call(), await model.next_call()
        other.set_result("?")  # An answer that cannot be used, so this act asks again.
        again = await model.next_call()

        first.set_exception(AWAY)
        for _ in range(2):  # A server that is not reached is asked three times.
            (await model.next_call()).set_exception(AWAY)
        again.set_exception(AWAY)
        await soon(playing)

        events = await ledger_of(t)
        assert t.run_of(run.id).status == "paused"
        assert sorted([*ends_of(events, "ada"), *ends_of(events, "bo")]) == [kinds.AGENT_FAILED]
        assert t.run_of(run.id).calls == 1
        await soon(t.finish(run.id))
        assert (await verify(t, run.id)).is_same


async def owing(t: Terrarium) -> Event:
    """A creature, bo, that owes an answer to the line of another; that line."""
    await t.open_world(world_of(hearing("ada"), hearing("bo")))
    return await t.append(
        "ada", Draft(kind=kinds.AGENT_SPOKE, channel="stage", payload={"text": "Who is there?"})
    )


async def test_the_ledger_refuses_the_end_of_an_act_that_has_ended() -> None:
    async with on_stage() as t:
        cause = await owing(t)
        bo, ledger = t.creature("bo"), t._house.ledger
        end = EndAct("bo", cause.id, bo.session_id, answer("Nobody."), run_id=bo.run_id)

        first = ledger.stage(end)
        with pytest.raises(Refused, match="bo owes no act for"):
            ledger.stage(end)
        with pytest.raises(Refused, match="bo owes no act for"):
            await ledger.change(end)

        assert first is not None
        await first.acknowledged
        assert ends_of(await ledger_of(t), "bo") == [kinds.AGENT_SPOKE]


async def test_the_ledger_refuses_the_end_of_an_act_that_nobody_owes() -> None:
    async with on_stage() as t:
        cause = await owing(t)
        ada = t.creature("ada")

        with pytest.raises(Refused, match="ada owes no act for"):
            t._house.ledger.stage(EndAct("ada", cause.id, ada.session_id, answer("Me."), run_id=ada.run_id))


async def test_a_program_may_answer_for_a_creature_as_often_as_it_likes() -> None:
    async with on_stage() as t:
        cause = await owing(t)

        await t.append("bo", answer("Me."), caused_by=cause.id)
        await t.append("bo", answer("Still me."), caused_by=cause.id)

        assert await mail_of(t, "bo") == []
        assert await said(t) == ["Who is there?", "Me.", "Still me."]


async def test_an_answer_of_a_program_does_not_end_the_act_that_is_under_way() -> None:
    model = OnCue()
    async with on_stage(models=ModelRouter(model)) as t:
        cause = await owing(t)
        run_id = t.runs()[0].id
        playing = asyncio.create_task(t.step_one())
        call = await model.next_call()

        await t.append("bo", answer("A program."), caused_by=cause.id)
        call.set_result(ANSWER)
        await soon(playing)

        events = [event for event in await events_of(t, kinds.AGENT_SPOKE) if event.actor == "bo"]
        assert [event.payload["text"] for event in events] == ["A program.", "A leaf turned over."]
        assert [len(event.calls) for event in events] == [0, 1]
        assert await mail_of(t, "bo") == []
        assert (await verify(t, run_id)).is_same


async def test_what_a_program_answers_before_an_act_begins_is_not_answered_again() -> None:
    model = OnCue()
    async with on_stage(models=ModelRouter(model)) as t:
        cause = await owing(t)

        await t.append("bo", answer("A program."), caused_by=cause.id)
        playing = asyncio.create_task(t.step_one())
        call = await model.next_call()
        call.set_result(ANSWER)
        await soon(playing)

        assert [event.actor for event in await ledger_of(t) if event.calls] == ["ada"]


async def test_a_run_in_which_a_program_answers_after_an_act_verifies() -> None:
    async with on_stage() as t:
        cause = await owing(t)
        run_id = t.runs()[0].id
        await soon(t.step_one())

        await t.append("bo", answer("And a program."), caused_by=cause.id)

        verification = await verify(t, run_id)
        assert verification.is_same, (verification.recorded_event, verification.replayed_event)
