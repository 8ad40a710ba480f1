"""Packing a world: its files as they travel, with its scenario in `scenario.yaml` and its creatures in `creatures/`.

Always holds: what is packed loads as the same world, with the same digest. Files that are links are refused, and so is whatever
lies outside the world's folder.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, TypeVar

from glasshouse.errors import BadWorld, Refused
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.manifests.problem import Problem
from glasshouse.manifests.world_files import WorldFiles, files_of
from glasshouse.manifests.world_folders import SCENARIO_FILE, SCRIPT_FILE, folder_of
from glasshouse.packs.archive import check_files, files_max, world_bytes_max

T = TypeVar("T")

left_out_shown_max: Final = 8
"""How many files that are not packed are named."""


class PackedWorld(NamedTuple):
    """A world as it travels."""

    name: str
    files: dict[str, bytes]
    world: LoadedWorld
    """As it was loaded from the files that it was packed from."""
    left_out: tuple[str, ...]
    """What lies in its folder and is not part of it."""


def packed_world(world: LoadedWorld) -> PackedWorld:
    """A loaded world with the files that travel."""
    assert world.path is not None, "it was loaded from files"
    folder = folder_of(world.path)
    listed = files_of(world)
    places = _places(world, listed)
    files: dict[str, bytes] = {}
    room = world_bytes_max
    for path in listed.packed[: files_max + 1]:
        files[places.get(path, path)] = _content(folder, path, room + 1)
        room -= len(files[places.get(path, path)])
    check_files(files)
    name = world.scenario.name
    _check_is_same(world, name, files)
    there = _others(folder, {*listed.packed}) if world.path.is_dir() else ()
    return PackedWorld(name, files, world, tuple(there))


def world_of_files(name: str, files: Mapping[str, bytes]) -> PackedWorld:
    """The world that files from outside make, without what is not part of it; `BadWorld` with every problem it has."""
    with staged(name, files) as folder:
        try:
            world = load_world(folder)
        except BadWorld as wrong:
            raise BadWorld(named_in_pack(folder, wrong.problems)) from wrong
        kept = files_of(world).packed
        left_out = tuple(sorted({*files} - {*kept}))
        return PackedWorld(world.scenario.name, {path: files[path] for path in kept}, world, left_out)


@contextmanager
def staged(name: str, files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder of its own with these files, for as long as they are looked at."""
    check_files(files)
    with TemporaryDirectory(prefix="glasshouse-world-") as made:
        folder = Path(made).resolve() / name
        write_files(folder, files)
        yield folder


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files that were checked into a folder that is not there yet."""
    folder.mkdir()
    for path, content in files.items():
        target = folder.joinpath(*path.split("/"))
        target.parent.mkdir(parents=True, exist_ok=True)
        # Made here and nowhere else: what is there already, such as a link, is never written through.
        with target.open("xb") as file:
            file.write(content)


def _places(world: LoadedWorld, listed: WorldFiles) -> dict[str, str]:
    """Where the texts and the script of a scenario file of its own are packed."""
    assert world.path is not None, "it was loaded from files"
    if world.path.is_dir():
        return {}
    scenario, *creatures = listed.texts
    places = {path: f"creatures/{PurePosixPath(path).name}" for path in creatures}
    return {scenario: SCENARIO_FILE, **places, **dict.fromkeys(listed.scripts, SCRIPT_FILE)}


def _content(folder: Path, path: str, most: int) -> bytes:
    """A plain file of a world."""
    here = folder
    for part in PurePosixPath(path).parts:
        here /= part
        if stat.S_ISLNK(here.lstat().st_mode):
            raise Refused(f"{path} is a link.", "Put the file itself there: a shared world has no links.")
    if not stat.S_ISREG(here.lstat().st_mode):
        raise Refused(f"{path} is no plain file.", "A shared world has plain files only.")
    with here.open("rb") as file:
        return file.read(most)


def _check_is_same(world: LoadedWorld, name: str, files: Mapping[str, bytes]) -> None:
    if world_of_files(name, files).world.digest != world.digest:
        raise Refused(
            "Packed, this world would be another one.",
            "Put its creatures into creatures/ and its scenario into scenario.yaml, then pack that folder.",
        )


def _others(folder: Path, packed: set[str]) -> list[str]:
    """Files of a folder that are not packed, by path. What is hidden is not told."""
    paths = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    shown = (
        path.as_posix() for path in paths if not any(part.startswith((".", "__")) for part in path.parts)
    )
    return [path for path in shown if path not in packed]


def named_in_pack(folder: Path, problems: Iterable[T]) -> list[T]:
    """Problems of a staged world that name their files as the pack does."""
    return [
        problem._replace(path=f"{folder.name}/{_below(problem.path, folder)}")
        if isinstance(problem, Problem)
        else problem
        for problem in problems
    ]


def _below(path: str, folder: Path) -> str:
    absolute = Path(path).absolute()
    return absolute.relative_to(folder).as_posix() if absolute.is_relative_to(folder) else Path(path).name
