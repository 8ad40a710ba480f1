"""Beats of an edited world whose turn was over when the run was resumed: they are named, and those still to come are not."""

from __future__ import annotations

from typing import Any

from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.past.missed_beats import missed_beats
from glasshouse.terrarium import Terrarium
from tests.runtime.stage_crew import Speaker, on_stage, ticking, world_of

TROUPES = {"north": {"cast": ["ada"]}, "south": {"cast": ["bo"]}}


def story(*beats: dict[str, Any], **fields: Any) -> LoadedWorld:
    cast = (ticking("ada"), ticking("bo", fields.pop("every", 1)))
    return world_of(*cast, beats=list(beats), governor={"max_turns": 9}, **fields)


def beat(turn: int, **more: Any) -> dict[str, Any]:
    return {"turn": turn, "text": f"It is turn {turn}.", **more}


async def missed(t: Terrarium, before: LoadedWorld, now: LoadedWorld, turns: int = 4) -> list[str]:
    """The texts of the beats that are missed if a world is played for some turns, edited and resumed."""
    run = await t.open_world(before)
    await t.run(run.id, turns=turns)
    await t.finish(run.id)
    child = await t.resume(t.graph(t.run_of(run.id).graph_ids[0]).session_id, world=now)
    return [late.text for late in missed_beats(await t.run_events(child.id), child.id)]


def minds() -> dict[str, Speaker]:
    return {"ada": Speaker(), "bo": Speaker()}


async def test_a_new_beat_in_a_turn_that_was_played_is_missed() -> None:
    async with on_stage(minds=minds()) as t:
        now = story(beat(1), beat(2), beat(4), beat(5))

        assert await missed(t, story(beat(2)), now) == ["It is turn 1.", "It is turn 4."]


async def test_beats_that_were_there_before_are_not_missed() -> None:
    async with on_stage(minds=minds()) as t:
        world = story(beat(2), beat(6))

        assert await missed(t, world, world) == []


async def test_a_beat_that_moved_to_a_later_turn_is_not_missed() -> None:
    async with on_stage(minds=minds()) as t:
        assert await missed(t, story(beat(2)), story(beat(6))) == []


async def test_a_beat_at_a_creature_counts_the_turns_of_its_graph() -> None:
    async with on_stage(minds=minds()) as t:
        before, now = [
            story(*beats, troupes=TROUPES, every=3) for beats in ([], [beat(4, at="ada"), beat(4, at="bo")])
        ]

        assert await missed(t, before, now, turns=5) == ["It is turn 4."]
