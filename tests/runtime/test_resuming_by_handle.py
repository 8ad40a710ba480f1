"""Whose past is whose in a resumed session: the handle decides, and `was` says that a creature was renamed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glasshouse import Manifest
from glasshouse.errors import BadWorld
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.scenario import Scenario
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, is_edited
from glasshouse.turns.moment.moment import Moment
from tests.runtime.stage_crew import Speaker, hearing, show, ticking

REED, OAK, BO = ticking("reed"), ticking("oak"), hearing("bo")


def reed(handle: str, **more: Any) -> dict[str, Any]:
    return {"use": "reed", "handle": handle, **more}


def dealing(*cast: Any, turns: int = 2, manifests: tuple[Manifest, ...] = (REED, OAK, BO)) -> LoadedWorld:
    """A world in which each of the cast is dealt a word of its own: its handle and `-word`."""
    handles = [creature if isinstance(creature, str) else creature["handle"] for creature in cast]
    deals = {f"{handle}_word": {"to": handle, "from": [f"{handle}-word"]} for handle in handles}
    given = {"name": "w", "cast": list(cast), "deal": deals, "governor": {"max_turns": turns}}
    return LoadedWorld.of(Scenario.model_validate(given), manifests)


def troupes(turns: int = 2, **casts: list[Any]) -> LoadedWorld:
    given = {"name": "w", "troupes": {name: {"cast": cast} for name, cast in casts.items()}}
    return LoadedWorld.of(
        Scenario.model_validate({**given, "governor": {"max_turns": turns}}), (REED, OAK, BO)
    )


async def finished(terrarium: Terrarium, world: LoadedWorld) -> str:
    """The session in which a world was played to its end."""
    run = await terrarium.open_world(world)
    await terrarium.run(run.id)
    return session_of(terrarium, run)


def session_of(terrarium: Terrarium, run: Run) -> str:
    return terrarium.graph(terrarium.run_of(run.id).graph_ids[0]).session_id


async def resumed(
    terrarium: Terrarium, session_id: str, world: LoadedWorld, mind: Speaker
) -> dict[str, Moment]:
    """The first moment of each creature in the resumed run, by handle."""
    mind.moments.clear()
    run = await terrarium.resume(session_id, world=world)
    await terrarium.run(run.id)
    return {moment.handle: moment for moment in reversed(mind.moments)}


def own_lines(moment: Moment) -> list[str]:
    """What a creature remembers to have said itself."""
    return [
        event.payload.get("text", "") for event in moment.recent_events if event.actor == moment.creature_id
    ]


async def test_one_who_is_new_gets_neither_the_memory_nor_the_word_of_one_who_left() -> None:
    mind = Speaker()
    async with show(minds={"reed": mind}) as terrarium:
        session_id = await finished(terrarium, dealing(reed("x"), reed("y")))

        moments = await resumed(terrarium, session_id, dealing(reed("y"), reed("z"), turns=3), mind)

        assert own_lines(moments["y"]) == ["y1", "y2"]
        assert moments["y"].known == {"y_word": "y-word"}
        assert own_lines(moments["z"]) == []
        assert moments["z"].known == {"z_word": "z-word"}
        assert not [event for event in moments["z"].recent_events if "x" in event.payload.get("text", "")]


async def test_a_renamed_creature_starts_empty_unless_the_scenario_says_what_it_was() -> None:
    mind = Speaker()
    async with show(minds={"reed": mind}) as terrarium:
        session_id = await finished(terrarium, dealing(reed("x"), "bo"))

        silent = await resumed(terrarium, session_id, dealing(reed("z"), "bo", turns=3), mind)
        named = await resumed(terrarium, session_id, dealing(reed("z", was="x"), "bo", turns=3), mind)

        assert (own_lines(silent["z"]), silent["z"].known) == ([], {"z_word": "z-word"})
        assert (own_lines(named["z"]), named["z"].known) == (["x1", "x2"], {"x_word": "x-word"})


async def test_a_handle_keeps_its_past_when_another_creature_plays_it() -> None:
    mind = Speaker()
    async with show(minds={"reed": mind, "oak": mind}) as terrarium:
        session_id = await finished(terrarium, dealing(reed("x"), "bo"))

        oak = {"use": "oak", "handle": "x"}
        moments = await resumed(terrarium, session_id, dealing(oak, "bo", turns=3), mind)

        assert own_lines(moments["x"]) == ["x1", "x2"]


async def test_a_was_counts_once_also_if_it_stays_in_the_file() -> None:
    mind = Speaker()
    async with show(minds={"reed": mind}) as terrarium:
        session_id = await finished(terrarium, dealing(reed("x"), reed("y")))
        swapped = (reed("x", was="y"), reed("y", was="x"))

        run = await terrarium.resume(session_id, world=dealing(*swapped, turns=3))
        await terrarium.run(run.id)
        moments = await resumed(terrarium, session_of(terrarium, run), dealing(*swapped, turns=4), mind)

        assert own_lines(moments["x"]) == ["y1", "y2", "x3"]
        assert own_lines(moments["y"]) == ["x1", "x2", "y3"]


async def test_one_who_was_a_creature_that_is_gone_starts_empty() -> None:
    mind = Speaker()
    async with show(minds={"reed": mind}) as terrarium:
        run = await terrarium.open_world(dealing(reed("x"), reed("y"), turns=3))
        await terrarium.step(2)
        gone = next(creature for creature in terrarium.creatures() if creature.handle == "x")
        await terrarium.remove_creature(gone)
        await terrarium.run(run.id)

        world = dealing(reed("y", was="x"), turns=4)
        moments = await resumed(terrarium, session_of(terrarium, run), world, mind)

        assert own_lines(moments["y"]) == []


async def test_a_handle_in_two_troupes_is_told_apart_by_its_troupe() -> None:
    mind = Speaker()
    async with show(minds={"reed": mind}) as terrarium:
        run = await terrarium.open_world(troupes(north=[reed("x"), "bo"], south=[reed("x"), "bo"]))
        south = [creature for creature in terrarium.creatures() if creature.handle == "x"][1]
        await terrarium.run(run.id)
        session_id = terrarium.creature(south).session_id

        alone = troupes(3, south=[reed("x"), "bo"])
        again = await terrarium.resume(session_id, world=alone)
        moved = await resumed(terrarium, session_id, troupes(3, west=[reed("x"), "bo"]), mind)

        (reborn,) = [
            creature.id
            for creature in terrarium.creatures()
            if creature.run_id == again.id and creature.handle == "x"
        ]
        births = [
            event.payload for event in await terrarium.run_events(again.id) if "manifest" in event.payload
        ]
        assert [born["incarnation_of"] for born in births if born["creature"] == reborn] == [south.id]
        assert own_lines(moved["x"]) == []


async def test_an_unknown_was_is_refused_with_its_line_and_the_handle_that_was_meant(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    (folder / "creatures").mkdir(parents=True)
    (folder / "creatures" / "reed.yaml").write_text("name: reed\nschedule: {tick_every: 1}\n")
    scenario = "name: w\ncast:\n  - {use: reed, handle: %s}\n  - reed\ngovernor: {max_turns: 2}\n"
    (folder / "scenario.yaml").write_text(scenario % "old-reed")
    async with show() as terrarium:
        run = await terrarium.open_world(folder)
        await terrarium.run(run.id)
        (folder / "scenario.yaml").write_text(scenario % "wise-reed, was: old-red")

        with pytest.raises(BadWorld, match="old-red"):
            is_edited(terrarium, run.id)  # The command line asks this before it stops the old run.
        with pytest.raises(BadWorld) as refusal:
            await terrarium.resume(session_of(terrarium, run))

        assert [str(problem) for problem in refusal.value.problems] == [
            (
                f"{folder}/scenario.yaml:3:41: cast.was: no creature of the run is called 'old-red'."
                " Did you mean 'old-reed'?"
            )
        ]
