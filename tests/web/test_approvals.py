"""What a creature proposes is answered on the page, by a director who looks on."""

from __future__ import annotations

import asyncio

import pytest

from glasshouse import Terrarium
from glasshouse.runtime.ports import Proposal
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from tests.runtime.group_calls import errand_for, expedition
from tests.web.served import Served, blocks_of, served

APPROVALS = "/api/v1/approvals"


async def stop_moth(t: Terrarium) -> ToolAnswer:
    """The leader wants to stop a creature, and a stranger's words are in what it read."""
    arguments = {"creature": "moth"}
    context = await errand_for(t, "lead", "group_stop_node", arguments, is_untrusted=True)
    return await t._parts.tools.use(ToolCall("group_stop_node", arguments), context)


async def proposed(page: Served, run_id: str) -> asyncio.Event:
    """Set once a director who looks on sees a proposal."""
    seen, looking = asyncio.Event(), asyncio.Event()

    async def look() -> None:
        async with page.client.stream("GET", f"/api/v1/runs/{run_id}/stream") as answer:
            async for block in blocks_of(answer.aiter_lines()):
                looking.set()
                if any(op[1][0] == "approvals" for op in block.data.get("d", ())):
                    seen.set()

    page_watch = asyncio.create_task(look())
    page_watch.add_done_callback(lambda _: seen.set())
    await looking.wait()
    return seen


@pytest.mark.parametrize("is_approved", [True, False])
async def test_a_director_who_looks_on_answers_a_proposal_once(is_approved: bool) -> None:
    async with Terrarium() as t, served(t) as page:
        run = await expedition(t)
        seen = await proposed(page, run.id)
        acting = asyncio.create_task(stop_moth(t))
        await seen.wait()
        given = {"creature": "lead", "is_approved": is_approved, "reason": "It is late."}
        answered = await page.client.post(APPROVALS, json=given)
        again = await page.client.post(APPROVALS, json=given)
        answer = await acting
        assert (answered.status_code, again.status_code) == (204, 409)
        assert "waits for no answer" in again.text
        assert answer.is_ok is is_approved
        assert t.creature("moth").is_running is not is_approved
        if not is_approved:
            assert "The director said no. It is late." in answer.text


async def test_nobody_is_waited_for_where_no_director_looks_on() -> None:
    async with Terrarium() as t, served(t):
        await expedition(t)
        answer = await stop_moth(t)
        assert not answer.is_ok
        assert "Nobody is there to ask." in answer.text


async def test_a_program_keeps_its_own_approver() -> None:
    async def always(_proposal: Proposal) -> bool:
        return True

    async with Terrarium(approver=always) as t, served(t):
        await expedition(t)
        assert (await stop_moth(t)).is_ok
