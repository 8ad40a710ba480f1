"""Where worlds are: a given path, then `./worlds`, then those that the user installed, the bundled worlds, and those of packages.

A world's path is its folder, which has a `scenario.yaml`, or a YAML file of any name that has a cast (ADR 0104). A file that is torn,
such as one with an open bracket, still is the world that its lines or its name promise, so that its mistake is told.

What cannot be read is passed over, unless it is what was asked for: one closed folder does not stand in the way of all others.

A world is called what its folder or file is called, and that made valid: `My Café` is also `my-cafe`.

Always holds: files are read without a schema, so that listing worlds is quick.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from glasshouse.errors import Refused, UnknownName, names_shown_max
from glasshouse.manifests.package_worlds import package_worlds
from glasshouse.manifests.yaml_source import is_yaml, shown_path, source_at, yaml_bytes_max
from glasshouse.user_folders import worlds_folder

SCENARIO: Final = "scenario"
SCENARIO_FILE = "scenario.yaml"
SCRIPT_FILE = "script.txt"
"""What the offline troupe says in a world, in its folder."""
YAML_ENDINGS = (".yaml", ".yml")
_CASTS: Final = frozenset({"cast", "troupes"})
"""A file with one of these at its top is a scenario."""
_OF_SCENARIOS: Final = frozenset(
    {"beats", "competition", "deal", "disturbances", "ends_when", "goal", "governor", "kinds", "opening"}
)
"""A file with several of these is a scenario, too, whose `cast` has another name or is missing."""
_CAST_LINE: Final = re.compile(rb"^\s*(cast|troupes)[ \t]*:", re.IGNORECASE | re.MULTILINE)
_PLAIN_NAME: Final = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")
BUNDLED = Path(__file__).resolve().parent.parent / "worlds"


Where = Literal["here", "installed", "bundled", "package"]
"""In `./worlds`, in the user's data folder, in Glasshouse, or in a Python package."""


class FoundWorld(NamedTuple):
    """A world that can be played by name."""

    name: str
    title: str
    path: str
    where: Where
    package: str = ""
    """The Python package that brings it, with its version."""


def scenario_in(folder: Path) -> Path | None:
    """The scenario file of a world's folder, with either ending of YAML; None if there is none."""
    return next(filter(_is_file, _files_called(SCENARIO, folder)), None)


def why_unreadable(folder: Path) -> str:
    """Why a folder that is there cannot be looked into; empty if it can, or if there is none."""
    try:
        with os.scandir(folder):
            (folder / SCENARIO_FILE).stat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as fault:
        return fault.strerror or str(fault)
    return ""


def passed_over_in(folder: Path) -> list[tuple[Path, str]]:
    """What is passed over among the worlds of a folder, with the reason: folders that cannot be read, or that folder itself."""
    if reason := why_unreadable(folder):
        return [(folder, reason)]
    reasons = [(child, why_unreadable(child)) for child in _children_of(folder)]
    return [(child, reason) for child, reason in reasons if reason and not child.name.startswith(".")]


def hidden_by_a_twin(world: Path) -> list[tuple[Path, Path]]:
    """The scenarios that nobody finds by name because another of the same name goes first, each with that one: those of a world, of
    its folder and of the files beside it."""
    world = world.absolute()
    name = _called(world)
    files = filter(_is_file, _files_called(SCENARIO, world.parent / name))
    worlds = [world.parent / name, *_files_called(name, world.parent)]
    twins = [[*files], [path for path in worlds if _is_world(path)]]
    return [(hidden, first) for first, *others in filter(None, twins) for hidden in others]


def _is_file(path: Path) -> bool:
    """Whether there is a file. Path.is_file() raises if a folder on the way is closed."""
    return os.path.isfile(path)


def _children_of(folder: Path) -> list[Path]:
    """What lies in a folder; nothing if it cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def scenario_of(world: Path) -> Path:
    """The scenario file of a world."""
    return world if world.is_file() else scenario_in(world) or world / SCENARIO_FILE


def folder_of(world: Path) -> Path:
    """The folder in which a world's decks, code and creatures are."""
    return world.parent if world.is_file() else world


def script_file_of(world: Path) -> Path:
    """Where a world's script is, if it has one: in its folder. That of a file of its own, which may share its folder with others, is
    named after it."""
    if world.suffix in YAML_ENDINGS:
        return world.with_name(f"{world.stem}.{SCRIPT_FILE}")
    return world / SCRIPT_FILE


def creature_files_in(world: Path) -> list[Path]:
    """The files that may be creatures of a world, by name: those in `creatures/` and, if the world is a file of its own, the
    other YAML files in its folder."""
    folder = folder_of(world)
    files = [*_yaml_files_in(folder / "creatures"), *(_yaml_files_in(folder) if folder != world else ())]
    return sorted([file for file in files if file != world], key=lambda file: (file.stem, file))


def creature_files_beside(file: Path) -> list[Path]:
    """The files that may be creatures and lie beside a creature's file, itself among them."""
    return sorted(_yaml_files_in(file.parent))


def _yaml_files_in(folder: Path) -> list[Path]:
    return [path for end in YAML_ENDINGS for path in folder.glob(f"*{end}")]


def is_scenario(path: Path) -> bool:
    """Whether a file is a scenario: by its name, or because it has a cast. It need not be sound."""
    if _is_named_scenario(path):
        return True
    if path.suffix not in YAML_ENDINGS:
        return False
    root = source_at(path).root
    if root is None:
        return _has_cast_line(path)
    fields = {str(field).lower() for field in root.children} if root.sort is dict else set()
    return bool(_CASTS & fields) or len(_OF_SCENARIOS & fields) > 1


def _is_world_file(path: Path) -> bool:
    """Whether a file is a world of its own, and not its folder's scenario."""
    return is_scenario(path) and not _is_named_scenario(path)


def is_creature(path: Path) -> bool:
    """Whether a file looks like a creature's: it has a name and no cast."""
    return "name" in _fields_of(path) and not is_scenario(path)


def torn_files_in(folder: Path) -> list[Path]:
    """The files right in a folder that are to be YAML and are not: any may be a world that somebody misses."""
    files = [path for path in _yaml_files_in(folder) if not path.name.startswith(".") and _is_file(path)]
    return sorted(path for path in files if source_at(path).root is None and not is_yaml(path))


def _has_cast_line(path: Path) -> bool:
    """Whether a file that cannot be read as YAML has a line that begins a cast."""
    try:
        with path.open("rb") as file:
            return _CAST_LINE.search(file.read(yaml_bytes_max)) is not None
    except OSError:
        return False


def _is_meant_by_name(file: Path) -> bool:
    """Whether a file among worlds is what its name stands for, sound or not. A creature beside its world is not."""
    return _is_file(file) and not _is_named_scenario(file) and not is_creature(file)


def _is_named_scenario(path: Path) -> bool:
    return path.stem == SCENARIO and path.suffix in YAML_ENDINGS


def _fields_of(path: Path) -> set[str | int]:
    """The fields at the top of a YAML file; none if it cannot be read."""
    root = source_at(path).root if path.suffix in YAML_ENDINGS else None
    return set() if root is None or root.sort is not dict else {*root.children}


def find_world(name_or_path: str | Path, here: Path | None = None) -> Path:
    """The path of a world: a given path, else `NAME` in `./worlds`, else the installed world, the bundled one or that of a package.

    If there is none, the world in `./worlds` or installed whose scenario has this name."""
    here = Path.cwd() if here is None else here
    given = here / name_or_path
    if _is_file(given) and (world := _world_of_file(given)):
        return world
    if scenario_in(given):
        return given
    name = str(name_or_path)
    own = (here / "worlds", worlds_folder())
    for folder in own:
        if world := _world_called(name, folder):
            return world
    named = [BUNDLED / name, *(package.folder for package in package_worlds() if package.folder.name == name)]
    if world := next(filter(scenario_in, named), None):
        return world
    for folder in own:
        if world := _only([world for world in worlds_in(folder) if _text_of(world, "name") == name], name):
            return world
    files = _files_called(name, own[0])
    known = [world.name for world in found_worlds(here)]
    reason = why_unreadable(own[0])
    where = f"{shown_path(own[0])} cannot be read ({reason})" if reason else ""
    if file := next(filter(_is_file, files), None):
        where = f"{shown_path(file)} is no scenario: it has no cast"
    _check_readable(given)
    _check_readable(given.parent)
    if os.path.exists(given) and name:
        where = f"there is no {SCENARIO_FILE} in {name}"
        if _is_file(given) and given.suffix in YAML_ENDINGS:
            where = f"{name} is no scenario: it has no cast"
        elif files := worlds_in(given):
            where += f", but there is {', '.join(sorted(file.name for file in files)[:names_shown_max])}"
    elif "/" in name:
        where = f"there is no folder {name}"
    raise UnknownName(noun="world", name=name, known=known, where=where)


def _world_called(name: str, folder: Path) -> Path | None:
    """The world that is called so in a folder of worlds: a folder first, then a file, then what is called so when it is made valid."""
    written = folder / name
    if scenario_in(written) or (written.suffix in YAML_ENDINGS and _is_file(written) and _is_world(written)):
        return written
    if file := next(filter(_is_meant_by_name, _files_called(name, folder)), None):
        return file
    if not why_unreadable(folder):
        _check_readable(folder / name)
    return _only(
        [child for child in _children_of(folder) if _usual_name(child) == name and _is_world(child)], name
    )


def _check_readable(folder: Path) -> None:
    """Refuse a folder that is there and closed."""
    reason = why_unreadable(folder) if os.path.lexists(folder) else ""
    if reason:
        raise Refused(f"{shown_path(folder)} cannot be read ({reason}).", "Check its permissions.")


def _files_called(name: str, folder: Path) -> list[Path]:
    return [folder / f"{name}{ending}" for ending in YAML_ENDINGS]


def _only(worlds: list[Path], name: str) -> Path | None:
    """The world that has a name; two are refused."""
    if len(worlds) > 1:
        shown = " and ".join(shown_path(world) for world in worlds[:names_shown_max])
        raise Refused(f"Several worlds are called {name!r}: {shown}.", "Rename one, or name one by its path.")
    return next(iter(worlds), None)


def _world_of_file(file: Path) -> Path | None:
    """The world that a given file means: the file itself, or the folder whose scenario is beside it."""
    if _is_world_file(file):
        return file
    if scenario_in(file.parent):
        return file.parent
    # What cannot be read at all may be a scenario: reading it as one tells what is wrong, and where.
    return file if file.suffix in YAML_ENDINGS and source_at(file).root is None else None


def found_worlds(here: Path | None = None) -> list[FoundWorld]:
    """Every world that can be played by name: those in `./worlds`, which hide others of their names, then the others."""
    here = Path.cwd() if here is None else here
    worlds: dict[str, FoundWorld] = {}
    own = [*_worlds_in(here / "worlds", "here"), *_worlds_in(worlds_folder(), "installed")]
    for world in [*own, *bundled_worlds(), *_worlds_of_packages()]:
        worlds.setdefault(world.name, world)
    return list(worlds.values())


def bundled_worlds() -> list[FoundWorld]:
    """The worlds in the package."""
    return list(_worlds_in(BUNDLED, "bundled"))


def is_bundled(name: str) -> bool:
    """Whether a world of this name comes with Glasshouse."""
    return name in {world.name for world in bundled_worlds()}


def worlds_in(folder: Path) -> list[Path]:
    """The worlds right under a folder, by name: folders with a scenario, and files with a cast."""
    children = sorted(_children_of(folder), key=lambda child: (_called(child), child))
    return [child for child in children if _is_world(child)]


def _is_world(path: Path) -> bool:
    return _is_world_file(path) if _is_file(path) else scenario_in(path) is not None


def name_of(world: Path) -> str:
    """What the folder or the file of a world is called."""
    return world.stem if world.is_file() else world.resolve().name


def _called(world: Path) -> str:
    """What a world is called where it lies: an installed one is a link."""
    return world.stem if _is_file(world) else world.name


def _usual_name(world: Path) -> str:
    """What a world is called, made valid."""
    # Imported here: it is slow, and most names are plain.
    from glasshouse.world.state.ids import name_made_of

    return name_made_of(_called(world), "world")


def _listed_name(world: Path) -> str:
    return _called(world) if _PLAIN_NAME.fullmatch(_called(world)) else _usual_name(world)


def _worlds_in(folder: Path, where: Where) -> Iterator[FoundWorld]:
    worlds = worlds_in(folder)
    names = Counter(map(_listed_name, worlds))
    for world in worlds:
        # Where two share the name that is made, each keeps what it is called.
        name = _listed_name(world) if names[_listed_name(world)] == 1 else _called(world)
        yield FoundWorld(name, _text_of(world, "title"), str(world), where)


def _worlds_of_packages() -> Iterator[FoundWorld]:
    for world in package_worlds():
        if scenario_in(world.folder):
            title = _text_of(world.folder, "title")
            yield FoundWorld(world.folder.name, title, str(world.folder), "package", world.package)


def _text_of(world: Path, field: str) -> str:
    """A text at the top of a world's scenario; empty if there is none."""
    root = source_at(scenario_of(world)).root
    text = root.children[field].scalar if root is not None and field in root.children else ""
    return text if isinstance(text, str) else ""
