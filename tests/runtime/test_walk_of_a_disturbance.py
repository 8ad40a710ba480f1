"""The path of one disturbance: docs/architecture.md names the rooms that a real one passes through."""

from __future__ import annotations

import re
from pathlib import Path

from glasshouse import SqliteStore, Terrarium
from glasshouse.runtime.clock import HandMovedClock
from tests.runtime.footprints import Footprints, section

rooms_max = 11
FACE = "face"
QUIET = 6
"""A seed with which nobody acts for the first time when the disturbance comes. To make a new mind is another walk."""


def room_of(module: str) -> str:
    """The room of a module; the face and the four parts below it are one."""
    folders = module.split("/")[:-1]
    if not folders or folders == ["runtime"]:
        return FACE
    return "/".join(folders[:2]) if folders[0] == "runtime" else folders[0]


async def modules_on_the_walk(folder: Path) -> set[str]:
    with Footprints() as footprints:
        # The clock stands still: the inbox is not read meanwhile, however long this takes.
        async with Terrarium(SqliteStore(folder / "show.glasshouse"), clock=HandMovedClock()) as t:
            run = await t.open_world("thousand-token-wood", rng_seed=QUIET)
            await t.step(2)
            footprints.is_noting = True
            await t.disturb(run.id, "A lantern starts whispering recipes.")
            await t.step_one()
            footprints.is_noting = False
    not_of_the_walk = ("troupe/", "scripts/", "runtime/clock.py")
    return {module for module in footprints.modules if not module.startswith(not_of_the_walk)}


async def test_a_disturbance_takes_the_walk_that_the_architecture_page_tells(tmp_path: Path) -> None:
    entered = await modules_on_the_walk(tmp_path)
    walk = section("architecture.md", "The walk of one disturbance")
    steps = re.findall(r"^\| \d+ \| `([\w/]+)` \|", walk, re.MULTILINE)

    assert {room_of(module) for module in entered} == set(steps)
    assert len(set(steps)) <= rooms_max
    assert 13 <= len(steps) <= 17
