"""The path of one disturbance: docs/architecture.md names the modules that a real one passes through."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Self

import glasshouse
from glasshouse import SqliteStore, Terrarium
from glasshouse.runtime.clock import HandMovedClock

SOURCE = Path(glasshouse.__file__).parent
PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"

modules_max = 46
rooms_max = 11
FACE = "face"
QUIET = 6
"""A seed with which nobody acts for the first time when the disturbance comes. To make a new mind is another walk: with such
a seed it takes up to 54 modules."""


def room_of(module: str) -> str:
    """The room of a module; the face and the four parts below it are one."""
    folders = module.split("/")[:-1]
    if not folders or folders == ["runtime"]:
        return FACE
    return "/".join(folders[:2]) if folders[0] == "runtime" else folders[0]


class Footprints:
    """Notes the modules of the engine in which a function is called, in this thread and in those begun meanwhile."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.is_noting = False
        self._prefix = f"{SOURCE}/"

    def __enter__(self) -> Self:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, what: str, _value: object) -> None:
        file = frame.f_code.co_filename
        if self.is_noting and what == "call" and file.startswith(self._prefix):
            self.modules.add(file.removeprefix(self._prefix))


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
    not_of_the_walk = ("troupe/", "runtime/clock.py")
    return {module for module in footprints.modules if not module.startswith(not_of_the_walk)}


def rooms_on_the_page() -> list[str]:
    _, _, walk = PAGE.read_text().partition("## The walk of one disturbance\n")
    return re.findall(r"^\| \d+ \| `([\w/]+)` \|", walk.partition("\n## ")[0], re.MULTILINE)


async def test_a_disturbance_takes_the_walk_that_the_architecture_page_tells(tmp_path: Path) -> None:
    entered = await modules_on_the_walk(tmp_path)
    steps = rooms_on_the_page()

    assert {room_of(module) for module in entered} == set(steps)
    assert len(set(steps)) <= rooms_max
    assert 13 <= len(steps) <= 17


async def test_a_disturbance_passes_through_few_modules(tmp_path: Path) -> None:
    entered = await modules_on_the_walk(tmp_path)

    assert len(entered) <= modules_max, "\n".join(sorted(entered))
