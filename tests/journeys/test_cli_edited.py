"""A run whose world was edited before its start, as the command line shows, resumes and verifies it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from glasshouse import SqliteStore, Terrarium
from glasshouse.manifests.editing import CreatureEdits, WorldEdits, edited_world
from glasshouse.manifests.loading import load_world
from tests.journeys.commanding import drawn, objects, run

EDITS = WorldEdits(off=("echo",), creatures={"critic": CreatureEdits(wants="To sleep.")})
RUN = "r-00aa11bb22cc33d0"


def edited_store(path: Path, *, is_finished: bool) -> str:
    """A store with a run of an edited world."""

    async def played() -> None:
        async with Terrarium(SqliteStore(path)) as t:
            await t.open_world(edited_world(load_world("thousand-token-wood"), EDITS), run_id=RUN)
            await t.step(3)
            if is_finished:
                await t.finish(RUN)

    asyncio.run(played())
    return str(path)


def test_runs_and_show_say_that_a_world_was_edited(tmp_path: Path) -> None:
    store = edited_store(tmp_path / "e.glasshouse", is_finished=True)

    (listed,) = objects("runs", "--store", store)

    assert listed["is_edited"]
    assert "thousand-token-wood (edited)" in drawn("runs", "--store", store, columns=160).stdout
    assert "edited: its world was changed before the start" in run("show", "last", "--store", store).stdout


def test_an_interrupted_edited_run_goes_on_in_place_and_a_finished_one_in_an_edited_child(
    tmp_path: Path,
) -> None:
    open_store = edited_store(tmp_path / "open.glasshouse", is_finished=False)
    finished_store = edited_store(tmp_path / "over.glasshouse", is_finished=True)

    in_place = run("resume", "--turns", "1", "--pace", "fast", "--store", open_store)
    child = run("resume", RUN, "--turns", "1", "--pace", "fast", "--store", finished_store)

    assert "continues in place" in in_place.stdout + in_place.stderr
    assert child.returncode == 0, child.stderr
    assert [listed["is_edited"] for listed in objects("runs", "--store", finished_store)] == [True, True]


def test_an_edited_run_is_verified(tmp_path: Path) -> None:
    store = edited_store(tmp_path / "e.glasshouse", is_finished=True)

    verified = run("replay", "last", "--verify", "--store", store)

    assert verified.returncode == 0, verified.stdout + verified.stderr
