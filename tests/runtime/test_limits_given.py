"""Limits: what follows from the cast where nobody gave one, and what holds on when a run is resumed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from glasshouse import Agent, Governor, Manifest
from glasshouse.errors import WrongType
from glasshouse.events.payloads import axes_given, given_as
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, verify
from tests.runtime.limits_by_hand import only
from tests.runtime.stage_crew import Speaker, cast_on, on_stage, the_end, ticking, world_of
from tests.runtime.troupe import soon


def names(count: int) -> list[str]:
    return [f"c{n}" for n in range(count)]


# Calls of a turn


@pytest.mark.parametrize(("creatures", "calls"), [(1, 16), (4, 16), (5, 20), (12, 48)])
@pytest.mark.parametrize("governor", [None, Governor(max_turns=3)], ids=["scenario's", "caller's"])
async def test_a_turn_has_sixteen_calls_or_four_for_each_creature(
    creatures: int, calls: int, governor: Governor | None
) -> None:
    async with on_stage() as t:
        run = await t.open_world(world_of(*map(ticking, names(creatures))), governor=governor)

        assert run.governor.max_calls_per_turn == calls


async def test_a_run_without_a_scenario_counts_its_creatures_when_it_is_first_driven() -> None:
    async with on_stage(governor=Governor(max_turns=1)) as t:
        await cast_on(t, {name: Speaker() for name in names(6)}, *map(ticking, names(6)))

        await soon(t.run())

        (run,) = t.runs()
        assert run.governor.max_calls_per_turn == 24
        assert (await the_end(t)).payload["axis"] == "max_turns"


@pytest.mark.parametrize("given", [16, 3, None])
async def test_a_limit_of_calls_per_turn_that_was_given_stays_as_it_is(given: int | None) -> None:
    async with on_stage() as t:
        run = await t.open_world(
            world_of(*map(ticking, names(9))), governor=Governor(max_calls_per_turn=given)
        )

        assert run.governor.max_calls_per_turn == given


async def test_whole_dollars_and_minutes_are_recorded_as_a_replay_reads_them() -> None:
    async with on_stage(minds={"a": Speaker()}) as t:
        limits = Governor(max_turns=1, hourly_budget_usd=10, max_wall_minutes=5)
        run = await t.open_world(world_of(ticking("a")), governor=limits)
        await soon(t.run())

        assert (await verify(t, run.id)).is_same


def test_a_limit_that_is_no_number_is_refused() -> None:
    with pytest.raises(WrongType, match="hourly_budget_usd"):
        Governor(hourly_budget_usd=float("nan"))


# Resuming


def story(**governor: Any) -> LoadedWorld:
    return world_of(ticking("ada"), ticking("bo"), governor={"max_turns": 4, **governor})


def crew() -> dict[str, Agent]:
    return {"ada": Speaker(), "bo": Speaker()}


async def ended(t: Terrarium, run: Run) -> str:
    """Play a run to its end, and give its session."""
    await soon(t.run(run.id))
    return t.graph(t.run_of(run.id).graph_ids[0]).session_id


async def test_limits_that_the_caller_gave_hold_on_and_what_was_spent_stays_spent() -> None:
    async with on_stage(minds=crew()) as t:
        run = await t.open_world(story(), governor=Governor(max_total_calls=3))
        session_id = await ended(t, run)

        child = await t.resume(session_id, world=story(max_total_calls=50))
        await soon(t.run(child.id))

        end = t.run_of(child.id)
        assert (child.governor.max_total_calls, child.limits_given) == (3, ("max_total_calls",))
        assert (end.axis, end.calls) == ("max_total_calls", 3)


async def test_the_scenarios_new_limits_count_where_the_caller_gave_none() -> None:
    async with on_stage(minds=crew()) as t:
        run = await t.open_world(story(), governor=Governor(max_total_calls=7))
        session_id = await ended(t, run)

        child = await t.resume(session_id, world=story(max_total_calls=50, max_turns=9, max_calls_per_turn=5))

        limits = child.governor
        assert (limits.max_total_calls, limits.max_turns, limits.max_calls_per_turn) == (7, 9, 5)


async def test_without_limits_of_the_caller_the_edited_scenario_decides() -> None:
    async with on_stage(minds=crew()) as t:
        session_id = await ended(t, await t.open_world(story()))

        child = await t.resume(session_id, world=story(max_turns=6, max_total_calls=70))
        await soon(t.run(child.id))

        assert (child.governor.max_turns, child.governor.max_total_calls) == (6, 70)
        assert child.limits_given == ()
        assert t.run_of(child.id).turns == 6


async def test_a_scenario_that_is_as_it_was_leaves_every_limit_as_it_was() -> None:
    async with on_stage(minds=crew()) as t:
        run = await t.open_world(story(max_total_calls=60), governor=only(max_total_calls=5))
        session_id = await ended(t, run)

        child = await t.resume(session_id, world=story(max_total_calls=60))

        assert child.governor == run.governor == only(max_total_calls=5)


async def test_a_larger_cast_gets_its_own_calls_per_turn() -> None:
    async with on_stage(minds=crew()) as t:
        session_id = await ended(t, await t.open_world(story()))
        more: list[Manifest] = [ticking("ada"), ticking("bo"), *map(ticking, names(5))]

        child = await t.resume(session_id, world=world_of(*more, governor={"max_turns": 4}))

        assert child.governor.max_calls_per_turn == 28


async def test_limits_of_a_branch_and_of_a_child_hold_on_in_their_children() -> None:
    async with on_stage(minds=crew()) as t:
        session_id = await ended(t, await t.open_world(story()))
        limits = given_as(replace(t.runs()[0].governor, max_total_calls=9), ["max_total_calls"])
        branch = await t.branch(session_id, None, WhatIf(limits=limits))
        session_id = await ended(t, branch)

        child = await t.resume(session_id, world=story(max_turns=8, max_total_calls=100))
        session_id = await ended(t, child)
        grandchild = await t.resume(session_id, world=story(max_turns=20, max_total_calls=100))

        assert branch.limits_given == ("max_total_calls",)
        assert (child.governor.max_turns, child.governor.max_total_calls) == (8, 9)
        assert (grandchild.governor.max_turns, grandchild.governor.max_total_calls) == (20, 9)
        assert t.run_of(child.id).axis == "max_total_calls"


@pytest.mark.parametrize(
    ("governor", "given"),
    [
        (Governor(), ()),
        (Governor(max_turns=100), ("max_turns",)),
        (Governor(max_total_tokens=None, max_total_calls=500), ("max_total_calls", "max_total_tokens")),
        (Governor(on_budget="finish"), ("on_budget",)),
        (replace(Governor(), max_turns=7), ("max_turns",)),
        (msgspec.convert({"max_turns": 7}, Governor), ("max_turns",)),
    ],
)
async def test_a_limit_that_is_given_with_its_default_value_is_given(
    governor: Governor, given: tuple[str, ...]
) -> None:
    async with on_stage(minds=crew()) as t:
        run = await t.open_world(story(), governor=governor)

        assert run.limits_given == given


async def test_a_limit_that_is_given_with_its_default_value_holds_on() -> None:
    async with on_stage(minds=crew()) as t:
        run = await t.open_world(story(), governor=Governor(max_turns=100, max_total_calls=4))
        session_id = await ended(t, run)

        child = await t.resume(session_id, world=story(max_turns=6, max_total_calls=50))

        assert (child.governor.max_turns, child.governor.max_total_calls) == (100, 4)


async def test_a_limit_that_is_given_to_a_branch_as_it_was_holds_on() -> None:
    async with on_stage(minds=crew()) as t:
        session_id = await ended(t, await t.open_world(story()))
        branch = await t.branch(session_id, None, WhatIf(limits=Governor(max_turns=4)))
        session_id = await ended(t, branch)

        child = await t.resume(session_id, world=story(max_turns=8))

        assert "max_turns" in branch.limits_given
        assert child.governor.max_turns == 4


async def test_a_run_without_a_scenario_says_which_limits_its_terrarium_was_given() -> None:
    async with on_stage(governor=Governor(max_turns=100)) as t:
        await cast_on(t, {"c0": Speaker()}, ticking("c0"))

        await soon(t.step(1))

        (run,) = t.runs()
        assert run.limits_given == ("max_turns",)


def test_a_governor_still_reads_as_its_limits() -> None:
    assert (Governor().max_turns, Governor().max_total_calls, Governor().max_total_tokens) == (100, 500, None)
    assert Governor(max_turns=100) == Governor()
    assert hash(Governor(max_turns=100)) == hash(Governor())
    assert msgspec.json.encode(Governor(max_turns=100)) == msgspec.json.encode(Governor())


async def test_as_it_was_keeps_all_limits() -> None:
    async with on_stage(minds=crew()) as t:
        run = await t.open_world(story(), governor=Governor(max_total_calls=3))
        session_id = await ended(t, run)

        child = await t.resume(session_id, shape="as-was")

        assert (child.governor, child.limits_given) == (run.governor, ("max_total_calls",))


# Other processes


@pytest.mark.parametrize("copied", [lambda limits: pickle.loads(pickle.dumps(limits)), copy.deepcopy])
def test_limits_that_travel_to_another_process_were_given_by_the_same_maker(
    copied: Callable[[Governor], Governor],
) -> None:
    before = Governor()
    written = Governor(max_turns=100)
    some = given_as(Governor(max_turns=8, max_total_calls=9), ["max_turns"])
    read = replace(written, max_total_calls=7)

    assert axes_given(copied(written), before) == ["max_turns"]
    assert axes_given(copied(some), before) == ["max_turns"]
    assert axes_given(copied(read), before) == ["max_total_calls"]
    assert msgspec.structs.asdict(copied(some)) == msgspec.structs.asdict(some)
