"""Loading a world: its scenario, its creatures and its decks, checked together, as one value.

Always holds: a `LoadedWorld` is sound, and playing it reads no file. A world with problems is refused with all of them,
each with file, line and column. Its digest is a hash of everything that was loaded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

from glasshouse.errors import BadWorld, Refused
from glasshouse.events.codec import canonical_json
from glasshouse.manifests.advice import advice_on
from glasshouse.manifests.checked_world import CheckedWorld
from glasshouse.manifests.checks import complaints_about, unknown_tools
from glasshouse.manifests.decks import Deck, decks_of
from glasshouse.manifests.documents import Document, documents_of
from glasshouse.manifests.fields import check_creature_name
from glasshouse.manifests.left_out import usual_name, what_is_left_out, with_kinds_of
from glasshouse.manifests.likeness import completed
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import Complaint, Problem, in_order, unknown
from glasshouse.manifests.scenario import Scenario
from glasshouse.manifests.scripts import (
    advice_on_script,
    cast_of,
    checked_script,
    handles_of,
    script_of_world,
    tells_seed_behind_a_colon,
)
from glasshouse.manifests.titles import complaints_about_creature
from glasshouse.manifests.validation import valid_part_of
from glasshouse.manifests.world_folders import (
    SCENARIO_FILE,
    creature_files_beside,
    creature_files_in,
    find_world,
    folder_of,
    hidden_by_a_twin,
    is_creature,
    is_scenario,
    name_of,
    passed_over_in,
    scenario_in,
    scenario_of,
    script_file_of,
    torn_files_in,
    why_unreadable,
    worlds_in,
)
from glasshouse.manifests.yaml_source import Source, shown_path, source_at, source_of
from glasshouse.reprs import shown
from glasshouse.scripts.script_text import script_digest
from glasshouse.world.state.ids import SPOKEN_FOR, name_made_of

creature_files_max = 256
"""More files in `creatures/` are refused."""

_NO_FILE = Source("scenario", None)


@dataclass(frozen=True)
class LoadedWorld:
    """A sound world, with everything that a play needs."""

    scenario: Scenario
    manifests: Mapping[str, Manifest]
    """Every creature that plays or may be spawned, by its name."""
    decks: Mapping[str, Deck]
    """What may be dealt, by the key of its deal."""
    path: Path | None = None
    """The folder or the scenario file it was loaded from, if any."""
    documents: Mapping[str, Document] = field(default_factory=dict)
    """The files that its creatures may look things up in, by path from its folder."""
    script: str | None = None
    """The text that the offline troupe plays from, if the world has one."""
    edited_from: str | None = None
    """The digest of the world that was edited into this one (`editing`); none if nobody has edited it."""

    def __repr__(self) -> str:
        return shown(self, name=self.scenario.name, path=self.path and str(self.path), digest=self.digest)

    @cached_property
    def digest(self) -> str:
        """A hash of everything that was loaded: sixteen hexadecimal characters."""
        content: dict[str, Any] = {
            "scenario": self.scenario.as_json(),
            "manifests": {name: manifest.as_json() for name, manifest in self.manifests.items()},
            "decks": {key: list(deck) for key, deck in self.decks.items()},
        }
        if self.documents:
            content["documents"] = {path: document.digest for path, document in self.documents.items()}
        if self.script is not None:
            content["script"] = script_digest(self.script)
        return blake2b(canonical_json(content), digest_size=8).hexdigest()

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        manifests: Iterable[Manifest],
        *,
        decks: Mapping[str, Iterable[Any]] | None = None,
        documents: Mapping[str, Document] | None = None,
        script: str | None = None,
    ) -> LoadedWorld:
        """A world built in Python, without files; refused with all its problems if it has any. Documents are those of another world:
        they are read from its folder. `script` is the text of its script."""
        by_name = {manifest.name: manifest for manifest in manifests}
        given = {key: tuple(deck) for key, deck in (decks or {}).items()}
        dealt, complaints, _ = decks_of(scenario, None, given)
        checked = CheckedWorld(scenario, by_name, tuple(by_name))
        missing = [] if documents else documents_of(patterns_of(scenario, checked.played), None)[1]
        _refuse([*complaints, *missing, *complaints_about(checked)])
        if script is not None:
            problems = checked_script(script).problems
            if problems:
                raise BadWorld(in_order(problems))
        return cls(scenario, checked.played, dealt, documents=documents or {}, script=script)


def _refuse(complaints: list[Complaint], scenario: Source = _NO_FILE) -> None:
    """Refuse a world if there is a complaint. Without its files, no problem has a line."""
    sources = [
        Source(f"creature {fault.creature}", None) if fault.creature else scenario for fault in complaints
    ]
    problems = [source.problem(fault) for source, fault in zip(sources, complaints, strict=True)]
    if problems:
        raise BadWorld(in_order(problems))


def load_world(name_or_path: str | Path, *, tools: frozenset[str] | None = None) -> LoadedWorld:
    """The world of a name or path, or `BadWorld` with every problem it has. `tools` are the tools that can be granted by
    name; without them, names of tools are not checked."""
    world, problems = _read_world(find_world(name_or_path), tools)
    if world is None:
        raise BadWorld(in_order(problems))
    return world


def read_texts(
    world: Path, texts: Mapping[str, str], *, tools: frozenset[str] | None = None
) -> tuple[LoadedWorld | None, list[Problem]]:
    """The world at a path with these texts in place of its scenario and its creatures, if it is sound, and its problems by file and
    line. Texts are named as `text_files_of` names them; a creature without one is not there. Nothing is written."""
    loaded, problems = _read_world(world, tools, _Texts(world, texts))
    return loaded, in_order(problems)


def text_files_of(world: Path) -> dict[str, Path]:
    """The scenario of a world and its creatures, by the path from its folder: the scenario first."""
    folder = folder_of(world)
    creatures = [file for file in creature_files_in(world) if world.is_dir() or is_creature(file)]
    files = [scenario_of(world), *creatures[:creature_files_max]]
    return {file.relative_to(folder).as_posix(): file for file in files}


def load_creature(path: str | Path) -> Manifest:
    """The creature of a file, or `BadWorld` with every problem it has."""
    file = _CreatureFile(Path(path), _ON_DISK, _by_name(creature_files_beside(Path(path))))
    if file.problems or file.manifest is None:
        raise BadWorld(in_order(file.problems))
    return file.manifest


def check_tools(world: LoadedWorld, tools: frozenset[str]) -> None:
    """Refuse a loaded world if it grants a tool that does not exist here."""
    names = tuple(world.manifests)
    folder = None if world.path is None else folder_of(world.path)
    checked = CheckedWorld(world.scenario, world.manifests, names, folder=folder, tools=tools)
    _refuse(list(unknown_tools(checked)))


def check_was(world: LoadedWorld, handles: Collection[str], renamed: Mapping[str, str]) -> None:
    """Refuse a `was` that is none of the handles of the run that is resumed. Those in `renamed`, the run began with."""
    checked = CheckedWorld(world.scenario, world.manifests, ())
    wrong = [
        Complaint((*at, "was"), unknown("creature of the run", entry.was, handles))
        for at, entry in checked.entries
        if entry.was is not None and entry.was not in handles and renamed.get(entry.name) != entry.was
    ]
    _refuse(wrong, _NO_FILE if world.path is None else source_at(scenario_of(world.path)))


def problems_in(path: str | Path, *, tools: frozenset[str] | None = None) -> list[Problem]:
    """All problems of a world, of a creature's file, or of every world in a folder; by file and line."""
    path = Path(path)
    if reason := why_unreadable(path):
        text = f"this folder cannot be read ({reason}). Check its permissions."
        return [Problem(shown_path(path), 0, 0, "", text)]
    if path.is_file() and not is_scenario(path):
        return in_order(_CreatureFile(path, _ON_DISK, _by_name(creature_files_beside(path))).problems)
    worlds = _worlds_at(path)
    torn = torn_files_in(path) if path.is_dir() and path not in worlds else []
    if not worlds and not torn:
        text = f"there is no {SCENARIO_FILE} here. Name a world's folder, or a folder of worlds."
        return [Problem(shown_path(path), 0, 0, "", text)]
    problems = [problem for world in worlds for problem in _read_world(world, tools)[1]]
    problems += [problem for file in torn for problem in source_at(file).problems]
    return in_order([*problems, *(problem for world in worlds for problem in _misnamed(world))])


def _misnamed(world: Path) -> list[Problem]:
    """A world whose name is not that of its folder or file. It can still be played: it may have been moved."""
    source = source_at(scenario_of(world))
    called = name_of(world)
    name = source.data.get("name", called) if isinstance(source.data, dict) else called
    if name in (called, usual_name(world)):
        return []
    what = f"file is called {world.name}" if world.is_file() else f"folder is called {called!r}"
    text = f"the {what}, so the name must be {usual_name(world)!r}. Change one of the two."
    return [source.problem(Complaint(("name",), text))]


def warnings_in(path: str | Path, *, tools: frozenset[str] | None = None) -> list[Problem]:
    """What may surprise whoever plays a sound world, or a sound world of a folder; by file and line."""
    path = Path(path)
    paths = [] if path.is_file() and not is_scenario(path) else _worlds_at(path)
    worlds = [(source_at(scenario_of(path)), _read_world(path, tools)[0]) for path in paths]
    sound = [(source, world) for source, world in worlds if world is not None]
    warnings = [
        source.problem(complaint) for source, world in sound for complaint in _warnings(source, world)
    ]
    warnings += [problem for _, world in sound for problem in _script_warnings(world)]
    for hidden, first in (twins for world in paths for twins in hidden_by_a_twin(world)):
        text = f"{shown_path(first)} has the same name, and is the one that is played by it. Rename one of the two."
        warnings.append(Problem(shown_path(hidden), 0, 0, "", text))
    for folder, reason in passed_over_in(path) if path not in paths and not why_unreadable(path) else ():
        text = f"this folder cannot be read ({reason}), and is passed over. Check its permissions."
        warnings.append(Problem(shown_path(folder), 0, 0, "", text))
    return in_order(warnings)


def _script_warnings(world: LoadedWorld) -> list[Problem]:
    if world.script is None or world.path is None:
        return []
    cast = cast_of(world.scenario, world.manifests)
    path = shown_path(script_file_of(world.path))
    tells_seed = tells_seed_behind_a_colon(world.scenario)
    return advice_on_script(world.script, cast, handles_of(world.scenario), path, tells_seed=tells_seed)


def _warnings(source: Source, world: LoadedWorld) -> Iterator[Complaint]:
    assert world.path is not None, "it was read from files"
    yield from what_is_left_out(source, world.path, world.scenario, world.manifests)
    yield from advice_on(world.scenario, world.manifests)


def _worlds_at(path: Path) -> list[Path]:
    """The world at a path, or the worlds in that folder."""
    if path.is_file():
        return [find_world(path.absolute())]
    return [path] if scenario_in(path) else worlds_in(path)


def _by_name(paths: Iterable[Path]) -> dict[str, Path]:
    return {path.stem: path for path in paths}


class _Files:
    """Where a world is read from: the disk."""

    def source(self, path: Path) -> Source:
        """A file, read."""
        return source_at(path)

    def creatures(self, world: Path) -> list[Path]:
        """The files that may be creatures of a world."""
        return creature_files_in(world)


class _Texts(_Files):
    """Where a world is read from while somebody edits it: these texts. What lies beside them is on the disk."""

    def __init__(self, world: Path, texts: Mapping[str, str]) -> None:
        self._world = world
        self._folder = folder_of(world)
        self._texts = {self._folder / name: (name, text) for name, text in texts.items()}

    def source(self, path: Path) -> Source:
        """A text, read. Its problems name it as it is named here."""
        if path not in self._texts:
            return Source.unreadable(path.name, "there is no text of this file.")
        name, text = self._texts[path]
        return source_of(text, name)

    def creatures(self, world: Path) -> list[Path]:
        """The texts that may be creatures of a world."""
        files = [path for path in self._texts if path != scenario_of(world)]
        return sorted(files, key=lambda file: (file.stem, file))


_ON_DISK = _Files()


class _CreatureFile:
    """One creature's file: its manifest if it is valid, and its problems."""

    def __init__(self, path: Path, files: _Files, creatures: Mapping[str, Path]) -> None:
        written = files.source(path)
        self.source, unlike, _ = completed(written, path.stem, creatures, files.source)
        manifest, complaints, _, _ = valid_part_of(self.source, Manifest, path.stem)
        if manifest is not None and not complaints:
            complaints = complaints_about_creature(manifest)
        self.manifest = None if self.source.problems or complaints or unlike else manifest
        if manifest is not None and not complaints and manifest.name != path.stem:
            complaints = [Complaint(("name",), _misnamed_creature(path))]
        self.problems = [*self.source.problems, *map(self.source.problem, complaints)]
        self.problems += map(written.problem, unlike)


def _misnamed_creature(path: Path) -> str:
    """What to do about a creature whose name is not that of its file."""
    name = _valid_name(path.stem)
    if name == path.stem:
        return f"the file is called {path.name}, so the name must be {name!r}. Change one of the two."
    return f"no creature can be called {path.stem!r}, like its file. Call the file {name}{path.suffix}, and write name: {name}."


def _valid_name(stem: str) -> str:
    """The name of the creature of a file: the file's, or one that a creature can have and that is like it."""
    try:
        check_creature_name(stem)
    except Refused:
        name = name_made_of(stem, "creature")
        return f"{name}-creature" if name in SPOKEN_FOR else name
    return stem


def _read_world(
    world: Path, tools: frozenset[str] | None, files: _Files = _ON_DISK
) -> tuple[LoadedWorld | None, list[Problem]]:
    """The world at a path if it is sound, and its problems."""
    source = files.source(scenario_of(world))
    scenario, complaints, damaged, rest = valid_part_of(
        source, Scenario, usual_name(world), may_be_nameless=True
    )
    creatures, problems = _read_creatures(world, scenario, files)
    problems += [*source.problems, *map(source.problem, complaints)]
    if scenario is None:
        return None, problems
    decks, complaints, problems_of_decks = decks_of(scenario, folder_of(world), {})
    manifests = {name: file.manifest for name, file in creatures.items() if file.manifest is not None}
    known = _known_creatures(world, scenario, creatures)
    checked = _filled(CheckedWorld(scenario, manifests, known, frozenset(damaged), folder_of(world), tools))
    sources: dict[str | None, Source] = {name: file.source for name, file in creatures.items()}
    sources[None] = rest
    documents, missing = documents_of(patterns_of(scenario, checked.played), folder_of(world))
    complaints += [*missing, *complaints_about(checked)]
    script, faults_of_script = script_of_world(script_file_of(world))
    problems += [
        *problems_of_decks,
        *faults_of_script,
        *(sources[fault.creature].problem(fault) for fault in complaints),
    ]
    return None if problems else LoadedWorld(
        checked.scenario, checked.played, decks, world, documents, script
    ), problems


def patterns_of(scenario: Scenario, manifests: Mapping[str, Manifest]) -> dict[str | None, tuple[str, ...]]:
    """What the scenario (none) and each creature that plays names as documents."""
    return {None: scenario.documents, **{name: manifest.documents for name, manifest in manifests.items()}}


def _read_creatures(
    world: Path, scenario: Scenario | None, files: _Files
) -> tuple[dict[str, _CreatureFile], list[Problem]]:
    """The creatures of a world by name, and the problems of their files. A folder's creatures are all read; beside a
    scenario file of its own, which may share its folder with other files, only those that it names."""
    paths = files.creatures(world)
    beside = _by_name(paths)
    if world.is_file():
        named = set() if scenario is None else {*scenario.cast_by_handle.values(), *scenario.spawnable}
        missing = named - {*beside}
        paths = [
            path
            for path in paths
            if path.stem in named or (_valid_name(path.stem) in missing and not is_scenario(path))
        ]
    creatures = {path.stem: _CreatureFile(path, files, beside) for path in paths[: creature_files_max + 1]}
    problems = [problem for creature in creatures.values() for problem in creature.problems]
    for path, other in pairwise(paths):
        if path.stem == other.stem:
            name = other.name if other.parent == path.parent else f"{other.parent.name}/{other.name}"
            problems.append(Problem(shown_path(path), 0, 0, "", f"there is {name} too. Keep one of the two."))
    if len(paths) > creature_files_max:
        text = f"there are more than {creature_files_max} files. Remove those that do not play."
        problems.append(Problem(shown_path(folder_of(world) / "creatures"), 0, 0, "", text))
    return creatures, problems


def _known_creatures(world: Path, scenario: Scenario, read: Collection[str]) -> tuple[str, ...]:
    """The names of the creatures that a cast may use, for whoever misspelt one."""
    named = [*scenario.cast_by_handle.values(), *scenario.spawnable]
    # A file whose name no creature can have is told of itself: its creature is not missing, and its name is not advised.
    known = [*map(_valid_name, read)]
    if world.is_file() and not all(name in known for name in named):
        known += [file.stem for file in creature_files_in(world) if is_creature(file)]
    return tuple(dict.fromkeys(known))


def _filled(world: CheckedWorld) -> CheckedWorld:
    """The same world with the kinds that its scenario leaves out."""
    if "kinds" in world.damaged:
        return world
    is_complete = world.cast_is_complete and len(world.played) == len(world.used)
    return replace(world, scenario=with_kinds_of(world.scenario, world.played, is_complete=is_complete))
