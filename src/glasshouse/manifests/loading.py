"""Loading a world: its scenario, its creatures and its decks, checked together, as one value.

Always holds: a `LoadedWorld` is sound, and playing it reads no file. A world that does not hold is refused with every
problem it has, each with file, line and column. Its digest names everything that was loaded.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from glasshouse.errors import BadWorld
from glasshouse.events.codec import canonical_json
from glasshouse.manifests.checking import complaints_about
from glasshouse.manifests.decks import Deck, decks_of
from glasshouse.manifests.finding import SCENARIO_FILE, find_world, shown_path, source_at, world_folders_in
from glasshouse.manifests.functions_beside import NoPython
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import At, Complaint, Problem, field_named, in_order
from glasshouse.manifests.rehearsal import BUILT_IN_REFEREES, Rehearsal
from glasshouse.manifests.scenario import CastEntry, Scenario
from glasshouse.manifests.tool_checks import tools_unknown
from glasshouse.manifests.wording import sound_part_of
from glasshouse.manifests.yaml_source import Source, yaml_bytes_max

creature_files_max = 256


@dataclass(frozen=True)
class LoadedWorld:
    """A sound world, with everything that its play needs."""

    scenario: Scenario
    manifests: Mapping[str, Manifest]
    """Every creature that plays or may be born, by its name."""
    decks: Mapping[str, Deck]
    """What may be dealt, by the key it is dealt under."""
    path: Path | None = None
    """The folder it came from, if from one."""
    digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        content = {
            "scenario": self.scenario.as_json(),
            "manifests": {name: manifest.as_json() for name, manifest in self.manifests.items()},
            "decks": {key: list(deck) for key, deck in self.decks.items()},
        }
        object.__setattr__(self, "digest", blake2b(canonical_json(content), digest_size=8).hexdigest())

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        manifests: Iterable[Manifest],
        *,
        decks: Mapping[str, Iterable[Any]] | None = None,
        referees: frozenset[str] = BUILT_IN_REFEREES,
    ) -> LoadedWorld:
        """A world made in Python, without files; refused like any other if it does not hold."""
        by_name = {manifest.name: manifest for manifest in manifests}
        given = {key: tuple(deck) for key, deck in (decks or {}).items()}
        dealt, complaints, _ = decks_of(scenario, None, given)
        rehearsal = Rehearsal(scenario, by_name, tuple(by_name), referees=referees)
        complaints += complaints_about(rehearsal)
        if complaints:
            raise BadWorld(in_order(map(_problem_without_file, complaints)))
        return cls(scenario, {name: by_name[name] for name in rehearsal.used}, dealt)

    def manifest_of(self, entry: CastEntry) -> Manifest:
        """The creature that one of the cast is."""
        return self.manifests[entry.use]


def load_world(
    name_or_path: str | Path,
    *,
    here: Path | None = None,
    referees: frozenset[str] = BUILT_IN_REFEREES,
    tools: frozenset[str] | None = None,
) -> LoadedWorld:
    """The world of a name or path, or `BadWorld` with every problem it has. `tools` are those that may be granted by
    name; without them, no name of a tool is looked at."""
    reading = _Reading(find_world(name_or_path, here), referees, tools)
    if reading.problems or reading.world is None:
        raise BadWorld(in_order(reading.problems))
    return reading.world


def load_creature(path: str | Path) -> Manifest:
    """The creature of a file, or `BadWorld` with everything that is wrong with it."""
    found = _CreatureFile(Path(path))
    if found.problems or found.manifest is None:
        raise BadWorld(in_order(found.problems))
    return found.manifest


def check_tools(world: LoadedWorld, tools: frozenset[str]) -> None:
    """Refuse a world that was loaded elsewhere if it grants a tool that is not here."""
    rehearsal = Rehearsal(
        world.scenario,
        world.manifests,
        tuple(world.manifests),
        tools=tools,
        tools_in=lambda file: _functions_in(world.path, file, (ast.FunctionDef, ast.AsyncFunctionDef)),
    )
    complaints = list(tools_unknown(rehearsal))
    if complaints:
        raise BadWorld(in_order(map(_problem_without_file, complaints)))


def problems_in(
    path: str | Path,
    *,
    referees: frozenset[str] = BUILT_IN_REFEREES,
    tools: frozenset[str] | None = None,
) -> list[Problem]:
    """Everything wrong with a world, a creature's file, or every world in a folder; by file and line."""
    path = Path(path)
    if path.is_file() and path.name != SCENARIO_FILE:
        return in_order(_CreatureFile(path).problems)
    folder = path.parent if path.is_file() else path
    folders = [folder] if (folder / SCENARIO_FILE).is_file() else world_folders_in(folder)
    if not folders:
        words = f"there is no {SCENARIO_FILE} here. Name a world's folder, or a folder of worlds."
        return [Problem(shown_path(path), 0, 0, "", words)]
    return in_order(problem for one in folders for problem in _Reading(one, referees, tools).problems)


class _CreatureFile:
    """One creature's file, read: its manifest if it holds, and what is wrong."""

    def __init__(self, path: Path) -> None:
        self.source = source_at(path)
        self.problems = list(self.source.problems)
        self.manifest: Manifest | None = None
        if self.source.root is not None:
            cutting = _Cutting(self.source)
            found, complaints, _ = sound_part_of(cutting.cut, Manifest, {"name": path.stem})
            self.problems += map(self.source.problem, complaints)
            self.manifest = None if self.problems else found
            self.problems += map(self.source.problem, _misnamed(found, path.stem, complaints))


def _misnamed(manifest: Manifest | None, stem: str, complaints: Collection[Complaint]) -> list[Complaint]:
    if manifest is None or manifest.name == stem or complaints:
        return []
    words = f"the file is called {stem}.yaml, so the name is {stem!r}. Change one of the two."
    return [Complaint(("name",), words)]


class _Cutting:
    """A source's data from which fields that do not hold are cut out, places kept."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def cut(self, at: At | None) -> Any:
        """The data that is left when the field at a place is cut out."""
        if at is not None and self.source.root is not None:
            self.source = Source(self.source.path, self.source.root.without(at))
        return self.source.data


class _Reading:
    """One world's folder, read: the world if it holds, and every problem."""

    def __init__(self, folder: Path, referees: frozenset[str], tools: frozenset[str] | None) -> None:
        self.folder = folder
        self.referees = referees
        self.tools = tools
        self.world: LoadedWorld | None = None
        self.creatures = {path.stem: _CreatureFile(path) for path in self._creature_paths()}
        self.source = source_at(folder / SCENARIO_FILE)
        self.problems = [*self.source.problems, *self._problems_of_creatures()]
        if self.source.root is not None:
            self._read_scenario()

    def _creature_paths(self) -> list[Path]:
        return sorted((self.folder / "creatures").glob("*.yaml"))[: creature_files_max + 1]

    def _problems_of_creatures(self) -> list[Problem]:
        problems = [problem for creature in self.creatures.values() for problem in creature.problems]
        if len(self.creatures) > creature_files_max:
            words = f"there are more than {creature_files_max} files. Take out those that do not play."
            problems.append(Problem(shown_path(self.folder / "creatures"), 0, 0, "", words))
        return problems

    def _read_scenario(self) -> None:
        cutting = _Cutting(self.source)
        scenario, complaints, hurt = sound_part_of(cutting.cut, Scenario, {"name": "world"})
        self.problems += map(self.source.problem, complaints)
        if scenario is None:
            return
        self.source = cutting.source
        decks, lacking, broken = decks_of(scenario, self.folder, {})
        rehearsal = self._rehearsal(scenario, frozenset(hurt))
        self.problems += broken
        self.problems += map(self._problem, [*lacking, *complaints_about(rehearsal)])
        if not self.problems:
            manifests = {name: rehearsal.manifests[name] for name in rehearsal.used}
            self.world = LoadedWorld(scenario, manifests, decks, self.folder)

    def _rehearsal(self, scenario: Scenario, hurt: frozenset[str]) -> Rehearsal:
        read = {name: file.manifest for name, file in self.creatures.items()}
        return Rehearsal(
            scenario,
            {name: manifest for name, manifest in read.items() if manifest is not None},
            tuple(self.creatures),
            hurt,
            self.referees,
            lambda file: _functions_in(self.folder, file, (ast.FunctionDef,)),
            self.tools,
            lambda file: _functions_in(self.folder, file, (ast.FunctionDef, ast.AsyncFunctionDef)),
        )

    def _problem(self, complaint: Complaint) -> Problem:
        named = complaint.creature
        return (self.source if named is None else self.creatures[named].source).problem(complaint)


def _functions_in(
    folder: Path | None, file: str, sorts: tuple[type[ast.FunctionDef | ast.AsyncFunctionDef], ...]
) -> Collection[str] | None:
    """The functions of a Python file beside the scenario. It is read, never run."""
    if folder is None:
        return None
    try:
        with (folder / file).open("rb") as opened:
            tree = ast.parse(opened.read(yaml_bytes_max))
    except SyntaxError as fault:
        raise NoPython(f"line {fault.lineno or 1}, {fault.msg}") from fault
    except (ValueError, RecursionError, MemoryError) as fault:
        raise NoPython("it cannot be parsed") from fault
    except OSError:
        return None
    return [node.name for node in tree.body if isinstance(node, sorts)]


def _problem_without_file(complaint: Complaint) -> Problem:
    whose = "scenario" if complaint.creature is None else f"creature {complaint.creature}"
    return Problem(whose, 0, 0, field_named(complaint.at), complaint.text)
