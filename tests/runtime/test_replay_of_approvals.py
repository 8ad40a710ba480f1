"""Replay of runs that begin while a creature of another run waits for approval."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from glasshouse.models.router import ModelRouter
from glasshouse.runtime.ports import Proposal
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, verify
from tests.runtime.group_calls import Obedient, expedition
from tests.runtime.stage_crew import hearing, ticking, world_of
from tests.runtime.troupe import soon

STOPS_MOTH = {"tool": "group_stop_node", "creature": "moth"}


class Patient:
    """Somebody outside who is asked, and answers when told to."""

    def __init__(self, *, says: bool) -> None:
        self.says = says
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def __call__(self, _proposal: Proposal) -> bool:
        self.is_asked.set()
        await self.may_answer.wait()
        return self.says


@asynccontextmanager
async def waiting_for_approval(*, says: bool) -> AsyncIterator[tuple[Terrarium, Run]]:
    """A run whose leader waits for approval. On leaving, it is answered, and everything is played to the end."""
    patient = Patient(says=says)
    model = Obedient(calls=(STOPS_MOTH,))
    async with Terrarium(models=ModelRouter(model), approver=patient) as t:
        run = await expedition(t, governor={"max_turns": 2})
        await t.disturb(run.id, "A stranger knocks.")
        playing = asyncio.create_task(t.run(run.id))
        await soon(patient.is_asked.wait())
        yield t, run
        patient.may_answer.set()
        await soon(playing)
        await soon(t.run())
        for played in t.runs():
            verification = await verify(t, played.id)
            assert verification.is_same, (played, verification.recorded_event, verification.replayed_event)
            assert verification.prompt_diffs == ()


@pytest.mark.parametrize("says", [True, False], ids=["yes", "no"])
@pytest.mark.parametrize("change", ["stop", "remove", "nothing"])
async def test_a_run_that_begins_and_joins_meanwhile_verifies(change: str, *, says: bool) -> None:
    async with waiting_for_approval(says=says) as (t, _):
        if change == "stop":
            await t.stop_creature("moth")
        elif change == "remove":
            await t.remove_creature("moth")

        await t.open_world(world_of(ticking("moss"), hearing("reed"), governor={"max_turns": 2}))
        await t.connect("owl", "moss", both=True)


async def test_a_run_that_is_branched_meanwhile_verifies_and_so_does_its_branch() -> None:
    async with waiting_for_approval(says=True) as (t, _):
        await t.branch(t.creature("owl").session_id)
