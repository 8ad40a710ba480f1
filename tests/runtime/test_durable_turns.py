"""Durable turns: a turn's first act runs while `turn.started` is committed, and is dropped if the commit fails."""

import asyncio

import pytest

from glasshouse import Terrarium, kinds
from glasshouse.errors import StoreFailed
from glasshouse.turns.moment.moment import Moment
from tests.rules.world.shape import check_folds_agree
from tests.runtime.stage_crew import (
    Doing,
    Gated,
    Speaker,
    cast_on,
    events_of,
    hearing,
    on_stage,
    said,
    ticking,
)
from tests.runtime.stores_around import FailingStore, GatedStore, StoreAround
from tests.runtime.troupe import line, loop_turns, soon


async def driven_once(t: Terrarium, minds: dict[str, Speaker]) -> None:
    """Two who talk, who have had a turn: a graph that is driven for the first time brings its past to hand first."""
    await cast_on(t, minds, hearing("ada", "tale.told"), hearing("bo"))
    await t.append("ada", line("Hello.", "stage"))
    await t.step_one()


async def test_a_line_in_an_act_and_a_line_out_are_two_commits() -> None:
    store = StoreAround()
    async with on_stage(store) as t:
        await driven_once(t, {"ada": Speaker(), "bo": Speaker()})
        before = len(store.commits)

        await t.append("ada", line("A bell rings.", "stage"))
        answer = await t.step_one()

        assert (answer and answer.actor) == "bo"
        assert store.commits[before:] == [1, 2]


async def test_the_first_act_of_a_turn_thinks_while_its_turn_is_committed() -> None:
    store, slow = GatedStore(), Gated()
    async with on_stage(store) as t:
        await cast_on(t, {"a": Speaker(), "b": slow}, ticking("a"), hearing("b", "tale.told"))
        await t.step(1)
        await t.wire("a", "b")
        await t.step(1)
        store.gate.clear()
        driven = asyncio.create_task(t.step(1))

        await soon(slow.has_begun.wait())
        turn = (await events_of(t, kinds.TURN_STARTED))[-1].turn
        store.gate.set()
        slow.gate.set()
        await soon(driven)

        assert turn == 2
        assert await said(t) == ["a1", "a2", "b3", "a3"]


async def test_the_second_act_of_a_turn_waits_until_the_first_is_durable() -> None:
    store, second = GatedStore(), Gated()
    async with on_stage(store) as t:
        await cast_on(t, {"a": Speaker(), "b": Speaker()}, ticking("a"), hearing("b", "tale.told"))
        await t.step(1)
        await t.add_creature(ticking("c"), agent=second, graph=t.creature("a").graph_id)
        store.gate.clear()
        driven = asyncio.create_task(t.step(1))
        await loop_turns()
        assert not second.has_begun.is_set()

        store.gate.set()
        await soon(second.has_begun.wait())
        assert await said(t) == ["a1", "a2"]
        second.gate.set()
        await soon(driven)


@pytest.mark.parametrize("is_in_doubt", [False, True], ids=["before writing", "in doubt, lost"])
@pytest.mark.parametrize("is_slow", [False, True], ids=["thought at once", "still thinking"])
async def test_an_act_whose_turn_fails_to_commit_is_dropped_and_owed_still(
    is_in_doubt: bool, is_slow: bool
) -> None:
    store = FailingStore(0, is_in_doubt=is_in_doubt, is_lost=True)
    acts, gate = [], asyncio.Event()

    async def thinks(moment: Moment) -> None:
        acts.append(moment.cause.id)
        await (gate.wait() if is_slow else asyncio.sleep(0))

    async with on_stage(store) as t:
        await cast_on(t, {"a": Speaker(), "b": Doing(thinks)}, hearing("a", "tale.told"), hearing("b"))
        gate.set()
        await t.append("a", line("Hello.", "stage"))
        await t.step_one()
        await t.append("a", line("A bell rings.", "stage"))
        gate.clear()
        store.fails_at = store.asked + 1
        driven = asyncio.create_task(t.step_one())
        while len(acts) < 2 or store.asked < store.fails_at:
            await loop_turns()
        gate.set()

        with pytest.raises(StoreFailed):
            await soon(driven)

        assert await said(t) == ["Hello.", "b1", "A bell rings."]
        await check_folds_agree(t, store)
        answer = await soon(t.step_one())
        assert answer is not None
        assert await said(t) == ["Hello.", "b1", "A bell rings.", "b2"]
        assert t.run_of(t.default_run_id).calls == 2
        assert await soon(t.step_one()) is None


async def test_an_act_whose_turn_was_committed_in_doubt_is_played_once() -> None:
    store = FailingStore(0, is_in_doubt=True)
    async with on_stage(store) as t:
        await cast_on(t, {"a": Speaker(), "b": Speaker()}, hearing("a", "tale.told"), hearing("b"))
        for commits_before in range(3):
            await t.append("a", line("A bell rings.", "stage"))
            store.fails_at = store.asked + 1 + commits_before
            answer = await soon(t.step_one())
            assert answer is not None

        assert await soon(t.step_one()) is None
        assert len(store.lookups) == 2  # A turn and its act are two commits.
        assert [text for text in await said(t) if text.startswith("b")] == ["b1", "b2", "b3"]
        assert t.run_of(t.default_run_id).calls == 3
        await check_folds_agree(t, store)
