"""Approvals that go wrong: cancelled, malformed, for a creature that was replaced, or after the end of the run."""

import asyncio
from typing import Any

import pytest

from glasshouse import Manifest, kinds
from glasshouse.runtime.ports import Proposal, Verdict
from glasshouse.terrarium import Terrarium
from glasshouse.tools import ToolAnswer
from glasshouse.tools.group.group_tools import GroupTools
from tests.runtime.group_calls import expedition, use
from tests.runtime.stage_crew import events_of, on_stage
from tests.runtime.troupe import soon


async def cancelled(_proposal: Proposal) -> bool:
    raise asyncio.CancelledError


async def leaving(_proposal: Proposal) -> bool:
    raise SystemExit


async def dismissal(t: Terrarium, asked: Any) -> ToolAnswer:
    """What comes of sending somebody away after strangers' words, where this one is asked."""
    call = use(t, "group_remove_node", box=GroupTools(asked), is_untrusted=True, creature="moth")
    return await soon(call)


@pytest.mark.parametrize(("asked", "why"), [(cancelled, "CancelledError"), (leaving, "SystemExit")])
async def test_whoever_gives_up_while_asked_says_no(asked: Any, why: str) -> None:
    async with on_stage() as t:
        await expedition(t)

        answer = await dismissal(t, asked)

        assert f"Asking failed: {why}." in answer.text
        assert [event.payload["is_approved"] for event in await events_of(t, kinds.EDIT_DECIDED)] == [False]
        assert t.creature("moth").is_running


class Unsayable:
    def __str__(self) -> str:
        raise RuntimeError("no words")


async def test_a_verdict_by_something_without_words_counts_and_is_told_without_them() -> None:
    async def asked(_proposal: Proposal) -> Any:
        return Verdict(False, Unsayable(), Unsayable())  # type: ignore[arg-type]  # What no type checker let through.

    async with on_stage() as t:
        await expedition(t)

        answer = await dismissal(t, asked)

        assert not answer.is_ok
        (decided,) = await events_of(t, kinds.EDIT_DECIDED)
        assert (decided.payload["by"], decided.payload["reason"]) == ("visitor", "")


@pytest.mark.parametrize("says", ["no", 1, object(), Verdict("no", "keeper")])  # type: ignore[arg-type]  # The same.
async def test_only_a_plain_yes_is_a_yes(says: Any) -> None:
    async def asked(_proposal: Proposal) -> Any:
        return says

    async with on_stage() as t:
        await expedition(t)

        answer = await dismissal(t, asked)

        assert not answer.is_ok
        (decided,) = await events_of(t, kinds.EDIT_DECIDED)
        assert decided.payload["is_approved"] is False
        assert t.creature("moth").is_running


@pytest.mark.parametrize("reason", ["x" * 100_000, "half \ud800 a character", "two\nlines"])
async def test_a_reason_is_kept_short_whole_and_on_one_line(reason: str) -> None:
    async def asked(_proposal: Proposal) -> Verdict:
        return Verdict(False, "keeper", reason)

    async with on_stage() as t:
        await expedition(t)

        answer = await dismissal(t, asked)

        (decided,) = await events_of(t, kinds.EDIT_DECIDED)
        assert len(decided.payload["reason"]) <= 400
        assert decided.payload["reason"].isprintable()
        assert decided.payload["reason"] in answer.text


async def test_a_yes_for_one_creature_is_none_for_another_that_has_its_name_by_now() -> None:
    async with on_stage() as t:
        await expedition(t)

        async def asked(_proposal: Proposal) -> bool:
            await t.remove_creature("moth")
            await t.add_creature(Manifest(name="cuckoo"), graph=t.creature("lead").graph_id, handle="moth")
            return True

        answer = await use(t, "group_remove_node", box=GroupTools(asked), is_untrusted=True, creature="moth")

        assert not answer.is_ok
        assert "has changed while somebody was asked" in answer.text
        assert t.creature("cuckoo").is_running


async def test_a_yes_after_the_end_of_the_run_changes_nothing_and_nothing_is_told_after_it() -> None:
    async with on_stage() as t:
        run = await expedition(t)

        async def asked(_proposal: Proposal) -> bool:
            await t.finish(run.id)
            return True

        answer = await use(t, "group_remove_node", box=GroupTools(asked), is_untrusted=True, creature="moth")

        assert not answer.is_ok
        assert t.creature("moth").is_running
        assert await events_of(t, kinds.EDIT_DECIDED) == []
