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
YAML_ENDINGS = (".yaml", ".yml")
BUNDLED = Path(__file__).resolve().parent.parent / "worlds"


class FoundWorld(NamedTuple):
    """A world that can be played by name."""

    name: str
    title: str
    path: str
    where: Literal["here", "bundled"]


def scenario_in(folder: Path) -> Path | None:
    """The scenario file of a world's folder, with either ending of YAML; None if there is none."""
    files = [folder / Path(SCENARIO_FILE).with_suffix(ending) for ending in YAML_ENDINGS]
    return next((file for file in files if file.is_file()), None)


def creature_files_in(folder: Path) -> list[Path]:
    """The files of the creatures in a world's folder, by name, with either ending of YAML."""
    return sorted(path for end in YAML_ENDINGS for path in (folder / "creatures").glob(f"*{end}"))


def is_scenario(path: Path) -> bool:
    """Whether a path is named like a scenario file."""
    return path.stem == Path(SCENARIO_FILE).stem and path.suffix in YAML_ENDINGS


def find_world(name_or_path: str | Path, here: Path | None = None) -> Path:
    """The folder of a world: a given path, else `./worlds/NAME`, else the bundled world of that name."""
    here = Path.cwd() if here is None else here
    given = here / name_or_path
    if given.is_file() and (is_scenario(given) or scenario_in(given.parent)):
        return given.parent
    for folder in (given, here / "worlds" / name_or_path, BUNDLED / name_or_path):
        if scenario_in(folder):
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
    return sorted(child for child in folder.iterdir() if scenario_in(child))


def _worlds_in(folder: Path, where: Literal["here", "bundled"]) -> Iterator[FoundWorld]:
    for world in world_folders_in(folder):
        root = source_at(scenario_in(world) or world / SCENARIO_FILE).root
        title = root.children["title"].scalar if root is not None and "title" in root.children else ""
        yield FoundWorld(world.name, title if isinstance(title, str) else "", str(world), where)
