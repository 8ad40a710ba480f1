"""Where worlds are: a given path, then `./worlds`, then those that come with the package.

Always holds: finding reads no more than a scenario's own file and needs no schema, so that listing worlds is quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from glasshouse.errors import UnknownName
from glasshouse.manifests.yaml_source import Source, source_of, yaml_bytes_max

SCENARIO_FILE = "scenario.yaml"
BUNDLED = Path(__file__).resolve().parent.parent / "worlds"


class FoundWorld(NamedTuple):
    """A world that can be played by its name."""

    name: str
    title: str
    path: str
    where: Literal["here", "bundled"]


def find_world(name_or_path: str | Path, here: Path | None = None) -> Path:
    """The folder of a world: a given path, else `./worlds/NAME`, else the bundled one of that name."""
    here = Path.cwd() if here is None else here
    given = here / name_or_path
    if given.is_file() and (given.name == SCENARIO_FILE or (given.parent / SCENARIO_FILE).is_file()):
        return given.parent
    for folder in (given, here / "worlds" / name_or_path, BUNDLED / name_or_path):
        if (folder / SCENARIO_FILE).is_file():
            return folder
    known = [world.name for world in found_worlds(here)]
    raise UnknownName(
        noun="world", name=str(name_or_path), known=known, where=_what_is_there(given, name_or_path)
    )


def _what_is_there(given: Path, name_or_path: str | Path) -> str:
    """What is wrong with a path; empty for what may be meant as a name."""
    if given.exists() and str(name_or_path):
        return f"there is no {SCENARIO_FILE} in {name_or_path}"
    return f"there is no folder {name_or_path}" if "/" in str(name_or_path) else ""


def found_worlds(here: Path | None = None) -> list[FoundWorld]:
    """Every world that a name finds: those of `./worlds` first, then the bundled ones that they do not hide."""
    here = Path.cwd() if here is None else here
    found: dict[str, FoundWorld] = {}
    for world in [*_worlds_in(here / "worlds", "here"), *bundled_worlds()]:
        found.setdefault(world.name, world)
    return list(found.values())


def bundled_worlds() -> list[FoundWorld]:
    """The worlds that come with the package."""
    return list(_worlds_in(BUNDLED, "bundled"))


def world_folders_in(folder: Path) -> list[Path]:
    """The folders of worlds right under a folder, by name."""
    if not folder.is_dir():
        return []
    return sorted(child for child in folder.iterdir() if (child / SCENARIO_FILE).is_file())


def source_at(path: Path) -> Source:
    """A YAML file, read; a file that cannot be opened is a problem like any other."""
    try:
        with path.open("rb") as file:
            text = file.read(yaml_bytes_max + 1)
    except OSError as fault:
        return Source.unreadable(
            shown_path(path), f"the file cannot be read ({fault.strerror}). Mend its rights."
        )
    return source_of(text, shown_path(path))


def shown_path(path: Path) -> str:
    """A path as messages show it: from the current folder if it is below it."""
    absolute, here = path.absolute(), Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)


def _worlds_in(folder: Path, where: Literal["here", "bundled"]) -> Iterator[FoundWorld]:
    for world in world_folders_in(folder):
        yield FoundWorld(world.name, _title_in(world / SCENARIO_FILE), str(world), where)


def _title_in(path: Path) -> str:
    root = source_at(path).root
    title = None if root is None else root.child("title")
    return title.scalar if title is not None and isinstance(title.scalar, str) else ""
