"""Variants: the worlds of a grid as each of its what-ifs changes them, checked before anything is played.

Always holds: whatever is wrong with a world's name, a seat or a field of a manifest is a problem of the grid's file, at its line.
A variant is a sound world. Its digest covers everything that a play of it reads: what was loaded, and the documents, the script
and the code beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace as replaced

from glasshouse.contests.plays import SaidLine
from glasshouse.errors import BadWorld, UnknownName
from glasshouse.events.described_tool import LOOK_UP, RECALL
from glasshouse.events.payloads import Governor, given_as
from glasshouse.grids.grid_file import ReadGrid, WhatIfPlan
from glasshouse.manifests.checked_world import CheckedWorld
from glasshouse.manifests.checks import complaints_about
from glasshouse.manifests.documents import Document, documents_of
from glasshouse.manifests.loading import LoadedWorld, check_tools, load_world, patterns_of
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import At, Complaint, unknown
from glasshouse.manifests.validation import valid_part_of
from glasshouse.manifests.world_files import files_of
from glasshouse.manifests.world_folders import find_world, folder_of, found_worlds
from glasshouse.manifests.yaml_source import Source, node_of

beside_bytes_max: Final = 64 * 1_048_576
"""More text beside a world is refused: all of it is read to name the cells."""
beside_files_max: Final = 4_096
"""More files beside a world are refused, for the same reason."""


class Variant(NamedTuple):
    """One world under one what-if."""

    world_name: str
    """As the grid names it."""
    what_if: str
    world: LoadedWorld
    """As the what-if changes it."""
    original: LoadedWorld
    """As it is without the what-if."""
    beside: str
    """A digest of the files beside the world that a play of it reads."""
    original_beside: str
    """The same without the what-if."""
    seed: str | None
    governor: Governor | None
    seats: Mapping[str, str]
    lines: tuple[SaidLine, ...]


def variants_of(
    grid: ReadGrid, given: Mapping[str, LoadedWorld], tools: frozenset[str] | None = None
) -> list[Variant]:
    """Every world under every what-if, in the order of the file; raises `BadWorld` with every problem. `given` are worlds that a
    program brings, by the names under which the grid has them."""
    complaints: list[Complaint] = []
    worlds: dict[str, LoadedWorld] = {}
    for number, name in enumerate(grid.file.worlds):
        try:
            worlds[name] = given[name] if name in given else _loaded(name, grid.folder, tools)
            if name in given and tools is not None:
                check_tools(given[name], tools)
        except UnknownName:
            known = [world.name for world in found_worlds(grid.folder)]
            complaints.append(Complaint(("worlds", number), unknown("world", name, known)))
    variants = []
    for name, world in worlds.items():
        beside = digest_beside(world)
        for number, what_if in enumerate(grid.file.what_ifs):
            variant, faults = _variant(name, world, beside, what_if, ("what_ifs", number), tools)
            variants.append(variant)
            complaints += faults
    grid.refuse(complaints)
    return variants


def _loaded(name: str, folder: Path, tools: frozenset[str] | None) -> LoadedWorld:
    """A world as the grid's file sees it: from its own folder, else from here."""
    try:
        path = find_world(name, folder)
    except UnknownName:
        path = find_world(name)
    return load_world(path.absolute(), tools=tools)


def _variant(
    name: str, world: LoadedWorld, beside: str, what_if: WhatIfPlan, at: At, tools: frozenset[str] | None
) -> tuple[Variant, list[Complaint]]:
    scenario = world.scenario
    complaints = [*_wrong_seats(world, what_if, at)]
    changed, faults = _with_manifests(world, what_if.manifests, (*at, "manifests"), tools)
    limits = what_if.limits_given
    governor = given_as(replaced(scenario.limits, **limits), limits) if limits else None
    seats = {} if complaints else what_if.seats
    # A what-if may add documents and tools. To read all files again for each one would take long.
    beside_now = beside if files_of(changed).beside == files_of(world).beside else digest_beside(changed)
    variant = Variant(
        name, what_if.name, changed, world, beside_now, beside, what_if.seed, governor, seats, what_if.said
    )
    return variant, [*complaints, *faults]


def _wrong_seats(world: LoadedWorld, what_if: WhatIfPlan, at: At) -> Iterator[Complaint]:
    handles = [*world.scenario.cast_by_handle]
    teams = [*world.scenario.competition.teams]
    for seat in what_if.seats:
        if seat not in handles and seat not in teams:
            noun = f"creature or team of {world.scenario.name}"
            yield Complaint((*at, "seats", seat), unknown(noun, seat, [*handles, *teams]), at_key=True)


def _with_manifests(
    world: LoadedWorld,
    changes: Mapping[str, Mapping[str, Any]],
    at: At,
    tools: frozenset[str] | None,
) -> tuple[LoadedWorld, list[Complaint]]:
    """The world with other fields in some manifests, or what is wrong with these."""
    complaints: list[Complaint] = []
    manifests = dict(world.manifests)
    for name, fields in changes.items():
        if name not in manifests:
            text = unknown(f"creature of {world.scenario.name}", name, manifests)
            complaints.append(Complaint((*at, name), text, at_key=True))
            continue
        merged = {**_as_written(world, manifests[name], fields), **fields, "name": name}
        manifest, faults, _, _ = valid_part_of(Source("", node_of(merged)), Manifest)
        if "name" in fields:
            faults = [*faults, Complaint(("name",), "a creature keeps its name. Remove this field.")]
        complaints += [fault._replace(at=(*at, name, *fault.at)) for fault in faults]
        manifests[name] = manifest or manifests[name]
    if complaints or not changes:
        return world, complaints
    folder = None if world.path is None else folder_of(world.path)
    documents, wrong = _documents(world, manifests, folder)
    changed = CheckedWorld(world.scenario, manifests, tuple(manifests), folder=folder, tools=tools)
    wrong += complaints_about(changed)
    places: list[At] = [(*at, fault.creature, *fault.at) if fault.creature else at for fault in wrong]
    complaints = [Complaint(field, fault.text) for field, fault in zip(places, wrong, strict=True)]
    return (world if complaints else replace(world, manifests=manifests, documents=documents)), complaints


def _documents(
    world: LoadedWorld, manifests: Mapping[str, Manifest], folder: Path | None
) -> tuple[Mapping[str, Document], list[Complaint]]:
    """The documents of a world with these manifests, and what is wrong with them. They are read again only if others are named."""
    patterns = patterns_of(world.scenario, manifests)
    if patterns == patterns_of(world.scenario, world.manifests):
        return world.documents, []
    return documents_of(patterns, folder)


def _as_written(world: LoadedWorld, manifest: Manifest, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the tools that it was granted for something that these fields take away, unless they name its tools."""
    plain = manifest.as_json()
    if "tools" in fields:
        return plain
    memory = fields.get("memory")
    ends_long = isinstance(memory, dict) and memory.get("long") is not True
    ends_documents = fields.get("documents") == [] and not world.scenario.documents
    gone = {
        *((RECALL,) if ends_long and manifest.memory.long else ()),
        *((LOOK_UP,) if ends_documents and manifest.documents else ()),
    }
    return {**plain, "tools": [tool for tool in manifest.tools if tool not in gone]} if gone else plain


def digest_beside(world: LoadedWorld) -> str:
    """A digest of the documents, the script and the code beside a world; empty if there are none."""
    if world.path is None:
        return ""
    folder = folder_of(world.path)
    files = files_beside(world, folder)
    if not files:
        return ""
    digest = blake2b(digest_size=8)
    size = 0
    for file in files:
        content = file.read_bytes()
        size += len(content)
        if size > beside_bytes_max or len(files) > beside_files_max:
            raise BadWorld(
                f"{folder}: the files beside this world are too many or too large to tell whether they change. "
                f"Keep {beside_files_max:,} files with {beside_bytes_max:,} bytes, and put the others elsewhere."
            )
        digest.update(f"{file.relative_to(folder)}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()


def files_beside(world: LoadedWorld, folder: Path) -> Sequence[Path]:
    """The documents, the script and the code of a world, in its folder. If it has any Python, all Python files under its folder are
    among them, since that may import them; of a scenario file of its own, those right beside it."""
    files = files_of(world)
    names = {*files.beside}
    if any(name.endswith(".py") for name in (*files.code, *files.server_files)):
        is_own_folder = world.path is not None and world.path.is_dir()
        names |= {
            path.relative_to(folder).as_posix() for path in _python_files(folder, is_deep=is_own_folder)
        }
    return [folder / name for name in sorted(names)]


def _python_files(folder: Path, *, is_deep: bool) -> Iterator[Path]:
    """The Python files of a folder, and of the folders under it that are not hidden."""
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if is_deep and not name.startswith((".", "__pycache__"))]
        yield from (Path(here) / name for name in names if name.endswith(".py"))
