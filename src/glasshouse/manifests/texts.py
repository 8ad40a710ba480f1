"""A world as texts, while somebody edits it: its scenario and its creatures, checked in memory, and saved (ADR 0140).

Always holds: only the YAML files of a world are texts; a name leads to no other file. Texts bring no code along: what they name
as code, the world on disk names already. What is saved has passed every check. A file appears in one step, complete, and none
is replaced that has changed since it was read.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Final

from glasshouse.errors import BadWorld, Refused
from glasshouse.events.codec import canonical_json
from glasshouse.manifests.editing import with_decks
from glasshouse.manifests.loading import LoadedWorld, load_world, problems_in, read_texts, text_files_of
from glasshouse.manifests.problem import Problem, in_order
from glasshouse.manifests.saving import copy_files, new_folder
from glasshouse.manifests.world_folders import SCENARIO_FILE, YAML_ENDINGS, scenario_of
from glasshouse.world.state.ids import check_name

text_bytes_max: Final = 131_072
"""A longer file is not edited as a text: a body of a command has 256 KiB for all of them."""
texts_max: Final = 128
"""How many files of a world are edited at once."""


def texts_of(world: Path) -> dict[str, str]:
    """The scenario of a world and its creatures as texts, by the path from its folder."""
    files = text_files_of(world)
    if len(files) > texts_max or any(file.stat().st_size > text_bytes_max for file in files.values()):
        raise Refused("This world is too large to be edited as texts.", "Edit its files on the disk.")
    return {name: file.read_text("utf-8", "replace") for name, file in files.items()}


def digest_of_texts(texts: Mapping[str, str]) -> str:
    """A digest of texts, by which it is told whether they have changed."""
    return blake2b(canonical_json(dict(texts)), digest_size=8).hexdigest()


def world_and_problems(
    world: Path, texts: Mapping[str, str], *, tools: frozenset[str] | None = None
) -> tuple[LoadedWorld | None, list[Problem]]:
    """The world with these texts if it is sound, and what is wrong with it by file and line. Without a change: as it is on disk."""
    _check_names(world, texts)
    before, _ = read_texts(world, texts_of(world), tools=tools)
    edited, problems = read_texts(world, texts, tools=tools)
    if edited is None:
        return None, problems
    problems = in_order(_new_code(before, edited, world))
    if problems:
        return None, problems
    if before is not None and before.digest == edited.digest:
        return before, []
    known_by = edited.digest if before is None else before.digest
    scenario = with_decks(edited.scenario, edited.decks).model_copy(update={"card": edited.scenario.card})
    return replace(edited, scenario=scenario, edited_from=known_by), []


def save_texts(
    world: Path, texts: Mapping[str, str], read: str, *, tools: frozenset[str] | None = None
) -> None:
    """Write texts over the files of a world. `read` is the digest of the texts that were edited."""
    _sound(world, texts, tools)
    before = texts_of(world)
    if digest_of_texts(before) != read:
        raise Refused("The files have changed on the disk since you read them.", "Open the world again.")
    changed = {name: text for name, text in texts.items() if before.get(name) != text}
    folder = scenario_of(world).parent
    with tempfile.TemporaryDirectory(prefix=".saving-", dir=folder) as made:
        for number, (name, text) in enumerate(changed.items()):
            draft = Path(made) / str(number)
            draft.write_text(text, encoding="utf-8")
            target = folder / name
            target.parent.mkdir(exist_ok=True)
            os.replace(draft, target)


def save_texts_as(
    world: Path, texts: Mapping[str, str], name: str, *, tools: frozenset[str] | None = None
) -> Path:
    """Write texts as a new world to `./worlds/NAME`, with the files that it needs, and return that folder."""
    check_name("world name", name)
    edited = _sound(world, texts, tools)
    scenario = scenario_of(world).name

    def write(folder: Path) -> None:
        (folder / "creatures").mkdir(parents=True)
        for path, text in texts.items():
            is_scenario = path == scenario
            target = SCENARIO_FILE if is_scenario else f"creatures/{PurePosixPath(path).name}"
            (folder / target).write_text(_named(text, name) if is_scenario else text, encoding="utf-8")
        copy_files(edited, folder)
        problems = [
            problem._replace(path=Path(problem.path).name) for problem in problems_in(folder, tools=tools)
        ]
        if problems:
            raise BadWorld(problems)
        load_world(folder, tools=tools)

    return new_folder(name, None, write)


def _named(scenario: str, name: str) -> str:
    """The text of a scenario with another name."""
    return re.sub(r"(?m)^name:.*$", f"name: {name}", scenario, count=1)


def _sound(world: Path, texts: Mapping[str, str], tools: frozenset[str] | None) -> LoadedWorld:
    edited, problems = world_and_problems(world, texts, tools=tools)
    if edited is None:
        raise BadWorld(problems)
    return edited


def _check_names(world: Path, texts: Mapping[str, str]) -> None:
    """Refuse a name that is neither a file of the world nor a new creature beside the others."""
    known = text_files_of(world)
    scenario = scenario_of(world).name
    if scenario not in texts:
        raise Refused(f"There is no text of {scenario}.", "Send every file of the world.")
    for name in texts:
        path = PurePosixPath(name)
        is_creature = path.parts == ("creatures", path.name) and path.suffix in YAML_ENDINGS
        if name in known:
            continue
        if not is_creature:
            raise Refused(f"{name!r} is no file of this world.", "Name a creature as creatures/NAME.yaml.")
        check_name("creature name", path.stem)


def _code_in(world: LoadedWorld) -> Iterator[tuple[str, str, str]]:
    """The code that a world names: the creature or none, the field, and the reference."""
    referee = world.scenario.competition.referee or ""
    if ":" in referee:
        yield "", "competition.referee", referee
    for server, plan in world.scenario.tool_servers.items():
        yield "", "tool_servers", f"{server}: {canonical_json(plan.model_dump(mode='json')).decode()}"
    for name, manifest in world.manifests.items():
        for tool in manifest.tools:
            if ":" in tool:
                yield name, "tools", tool
        if manifest.played_by not in (None, "visitor"):
            yield name, "played_by", str(manifest.played_by)


def _new_code(before: LoadedWorld | None, edited: LoadedWorld, world: Path) -> Iterator[Problem]:
    """What texts name as code that the world on disk does not name."""
    known = set() if before is None else {reference for _, _, reference in _code_in(before)}
    for creature, field, reference in _code_in(edited):
        if reference in known:
            continue
        path = f"creatures/{creature}.yaml" if creature else scenario_of(world).name
        text = "code cannot be named here that the files do not name. Write it into the file on the disk."
        yield Problem(path, 1, 1, field, text)
