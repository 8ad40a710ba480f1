"""How many turns a drive plays: it counts as `max_turns` and beats do, so turns in which nobody acts count too."""

from __future__ import annotations

import pytest

from glasshouse import Terrarium
from glasshouse.manifests.loading import LoadedWorld
from tests.runtime.stage_crew import Speaker, events_of, hearing, on_stage, ticking, turns_begun, world_of

NAMES = ("ada", "bo")


def minds() -> dict[str, Speaker]:
    return {name: Speaker() for name in NAMES}


def seldom(every: int = 3, **fields: object) -> LoadedWorld:
    """A world in which somebody acts every few turns."""
    return world_of(ticking("ada", every), governor={"max_turns": 30}, **fields)


@pytest.mark.parametrize(("turns", "played"), [(3, [3]), (4, [3]), (5, [3]), (6, [3, 6]), (10, [3, 6, 9])])
async def test_turns_without_acts_count(turns: int, played: list[int]) -> None:
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(seldom())

        conducted = await t.run(run.id, turns=turns)

        assert await turns_begun(t) == played
        assert conducted.because == "turns_played"
        assert t.run_of(run.id).turns == played[-1] <= turns


async def test_several_drives_play_as_far_as_one_of_as_many_turns_or_further() -> None:
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(seldom())

        for _ in range(3):
            await t.run(run.id, turns=4)

        assert await turns_begun(t) == [3, 6, 9]


async def test_a_drive_plays_its_first_turn_even_after_more_empty_ones_than_it_was_given() -> None:
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(seldom(every=7))

        drives = [await t.run(run.id, turns=2) for _ in range(3)]

        assert await turns_begun(t) == [7, 14, 21]
        assert [drive.turns for drive in drives] == [1, 1, 1]


async def test_stepping_to_the_end_plays_what_one_drive_plays() -> None:
    digests = set()
    for turns in (None, 1, 2, 5):
        async with on_stage(minds=minds()) as t:
            run = await t.open_world(seldom())
            while await t.run(run.id, turns=turns):
                pass
            assert t.run_of(run.id).is_finished
            digests.add(await t.digest(run.id))

    assert len(digests) == 1


async def test_a_turn_that_had_begun_is_one_of_the_turns() -> None:
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(world_of(ticking("ada"), ticking("bo"), governor={"max_turns": 30}))
        await t.step_one()

        await t.run(run.id, turns=2)

        assert await turns_begun(t) == [1, 2]


async def test_a_beat_after_empty_turns_is_beyond_the_turns_too() -> None:
    beats = [{"turn": 2, "text": "It rains."}, {"turn": 6, "text": "It stops."}]
    cast = hearing("ada", "world.observed")
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(world_of(cast, beats=beats, governor={"max_turns": 30}))

        await t.run(run.id, turns=4)
        shown = [event.payload["text"] for event in await events_of(t, "world.observed")]
        await t.run(run.id, turns=4)

        assert "It stops." not in shown
        assert await turns_begun(t) == [2, 6]


async def test_graphs_of_a_run_count_by_the_clock_of_the_run() -> None:
    """The graph of somebody who acts seldom comes as far as the others, and no further."""
    troupes = {"north": {"cast": ["ada"]}, "south": {"cast": ["bo"]}}
    world = world_of(ticking("ada"), ticking("bo", 4), troupes=troupes, governor={"max_turns": 30})
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(world)

        await t.run(run.id, turns=3)
        await t.run(run.id, turns=3)

        assert sorted(await turns_begun(t)) == [1, 2, 3, 4, 4, 5, 6]


async def test_a_creature_without_a_scenario_is_stepped_alike() -> None:
    async with Terrarium() as t:
        await t.add_creature(ticking("ada", 3), agent=Speaker())

        conducted = await t.step(4)

        assert (conducted.turns, await turns_begun(t)) == (1, [3])
