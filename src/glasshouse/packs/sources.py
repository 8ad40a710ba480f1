"""Where a world may be added from: a packed file, a folder or a git address. Each gives the same value.

Always holds: what is returned is a sound world and the files that travel with it, whatever lay around them.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from glasshouse.errors import Refused, in_brief
from glasshouse.manifests.loading import load_world
from glasshouse.manifests.world_folders import name_of, scenario_in, worlds_in
from glasshouse.packs import git_address
from glasshouse.packs.archive import pack_bytes_max, packed, unpacked
from glasshouse.packs.contents import Contents, contents_of
from glasshouse.packs.origin import Origin
from glasshouse.packs.packing import PackedWorld, packed_world, staged, world_of_files
from glasshouse.packs.paths import folder_of_world, names_shown
from glasshouse.world.state.ids import name_made_of


class Offered(NamedTuple):
    """A world that can be installed, and what it brings."""

    name: str
    title: str
    files: dict[str, bytes]
    origin: Origin
    contents: Contents
    left_out: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """How large its files are together."""
        return sum(map(len, self.files.values()))


def offered_from(source: str, revision: str = "", world: str = "") -> Offered:
    """The world of a packed file, a folder or a git address."""
    if git_address.is_git_address(source):
        commit = git_address.world_at(source, revision, world)
        taken = world_of_files(name_made_of(commit.name, "world"), commit.files)
        return _offered(taken, commit.address, commit.commit)
    if revision:
        raise Refused("Only a git address has revisions.", "Leave --at out.")
    path = Path(source)
    if path.is_file() and path.suffix == ".zip":
        return _offered(world_of_files(*files_of_pack(path, world)), path.name)
    if not path.exists():
        raise Refused(f"There is no file or folder {source}.", "Name one, or a git address.")
    return _offered(packed_world(load_world(_world_at(path.absolute(), world))), path.resolve().name)


def _world_at(path: Path, world: str) -> Path:
    """The world that a path on this machine means: itself, or the one of this name right under that folder or in its `worlds`."""
    if path.is_file() or scenario_in(path):
        if world and world not in (name_of(path), name_made_of(name_of(path), "world")):
            raise Refused(f"{path.name} is a single world, not {in_brief(world)}.", "Leave --world out.")
        return path
    worlds = worlds_in(path) or worlds_in(path / "worlds")
    named = {name_made_of(name_of(there), "world"): there for there in reversed(worlds)}
    if not worlds:
        return path  # Loading it tells that there is none.
    if not world and len(worlds) > 1:
        raise Refused("There are several worlds.", f"Name one with --world: {names_shown(named)}.")
    if world and world not in named:
        raise Refused(
            f"There is no world {in_brief(world)}.", f"Name one with --world: {names_shown(named)}."
        )
    return named[world] if world else worlds[0]


def files_of_pack(path: Path, world: str = "") -> tuple[str, dict[str, bytes]]:
    """The name of the folder that a world has in a packed file, and its files."""
    with path.open("rb") as file:
        files = unpacked(file.read(pack_bytes_max + 1))
    folder = folder_of_world(files, world)
    name = folder.rstrip("/").rpartition("/")[2] or path.name.partition(".")[0]
    inside = {path[len(folder) :]: content for path, content in files.items() if path.startswith(folder)}
    return name_made_of(name, "world"), inside


def _offered(taken: PackedWorld, source: str, commit: str = "") -> Offered:
    scenario = taken.world.scenario
    digest = sha256(packed(taken.name, taken.files)).hexdigest()
    with staged(taken.name, taken.files) as folder:
        contents = contents_of(load_world(folder))
    origin = Origin(source, commit, scenario.version, digest)
    return Offered(taken.name, scenario.title, taken.files, origin, contents, taken.left_out)
