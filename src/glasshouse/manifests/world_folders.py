"""Where worlds are: a given path, then `./worlds`, then the bundled worlds.

Always holds: only scenario files are read, and without a schema, so that listing worlds is quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from glasshouse.errors import UnknownName
from glasshouse.manifests.yaml_source import source_at

SCENARIO_FILE = "scenario.yaml"
BUNDLED = Path(__file__).resolve().parent.parent / "worlds"


class FoundWorld(NamedTuple):
    """A world that can be played by name."""

    name: str
    title: str
    path: str
    where: Literal["here", "bundled"]


def find_world(name_or_path: str | Path, here: Path | None = None) -> Path:
    """The folder of a world: a given path, else `./worlds/NAME`, else the bundled world of that name."""
    here = Path.cwd() if here is None else here
    given = here / name_or_path
    if given.is_file() and (given.name == SCENARIO_FILE or (given.parent / SCENARIO_FILE).is_file()):
        return given.parent
    for folder in (given, here / "worlds" / name_or_path, BUNDLED / name_or_path):
        if (folder / SCENARIO_FILE).is_file():
            return folder
    name, known, where = str(name_or_path), [world.name for world in found_worlds(here)], ""
    if given.exists() and name:
        where = f"there is no {SCENARIO_FILE} in {name}"
    elif "/" in name:
        where = f"there is no folder {name}"
    raise UnknownName(noun="world", name=name, known=known, where=where)


def found_worlds(here: Path | None = None) -> list[FoundWorld]:
    """Every world that can be played by name: those in `./worlds`, which hide bundled ones, then the others."""
    here = Path.cwd() if here is None else here
    worlds: dict[str, FoundWorld] = {}
    for world in [*_worlds_in(here / "worlds", "here"), *bundled_worlds()]:
        worlds.setdefault(world.name, world)
    return list(worlds.values())


def bundled_worlds() -> list[FoundWorld]:
    """The worlds in the package."""
    return list(_worlds_in(BUNDLED, "bundled"))


def world_folders_in(folder: Path) -> list[Path]:
    """The folders of worlds right under a folder, by name."""
    if not folder.is_dir():
        return []
    return sorted(child for child in folder.iterdir() if (child / SCENARIO_FILE).is_file())


def _worlds_in(folder: Path, where: Literal["here", "bundled"]) -> Iterator[FoundWorld]:
    for world in world_folders_in(folder):
        root = source_at(world / SCENARIO_FILE).root
        title = root.children["title"].scalar if root is not None and "title" in root.children else ""
        yield FoundWorld(world.name, title if isinstance(title, str) else "", str(world), where)
