"""`GridFile`: a grid as data, as its YAML file or a program writes it. It says which runs there are; nothing of how they are played.

Always holds: an unknown field is an error, and problems have file, line and field, as in a world's files. An axis is never
empty and names nothing twice, so no two cells are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field

from glasshouse.contests.plays import SaidLine
from glasshouse.errors import BadWorld, UnknownName
from glasshouse.manifests.fields import Items, Strict, Text, number_max
from glasshouse.manifests.problem import At, Complaint, Problem, field_named, in_order, shown
from glasshouse.manifests.scenario import GovernorPlan
from glasshouse.manifests.validation import EMPTY, valid_part_of
from glasshouse.manifests.yaml_source import Source, node_of, source_at

cells_max: Final = 100_000
"""A grid with more cells is refused: its tables would no longer fit on a page, and its journal no longer into memory."""
repeats_max: Final = 10_000
"""More repeats of a cell are refused."""
name_chars_max: Final = 60
"""A longer name of a what-if is refused: it stands in tables and beside plots."""
AS_IS: Final = "as is"
"""The name of the only what-if of a grid that names none."""

_RANGE: Final = re.compile(r"(-?\d{1,15})\.\.(-?\d{1,15})")


def _seeds(given: Any) -> Any:
    """A list of seeds, also from a range such as `0..99`, which has both its ends."""
    match = _RANGE.fullmatch(given.strip()) if isinstance(given, str) else None
    if match is None and isinstance(given, str):
        raise ValueError(f"{shown(given)} is no range of seeds. Write one such as 0..99, or a list.")
    if match is None:
        return tuple(given) if isinstance(given, list) else given
    first, last = map(int, match.groups())
    if last < first:
        raise ValueError(f"{shown(given)} ends before it begins. Write {last}..{first}.")
    if last - first >= cells_max:
        raise ValueError(f"{shown(given)} has {last - first + 1:,} seeds. Write at most {cells_max:,}.")
    return tuple(range(first, last + 1))


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    twice = (
        [value for number, value in enumerate(values) if value in values[:number]]
        if len(values) < 1_000
        else []
    )
    if twice or len({*values}) < len(values):
        which = f"{shown(twice[0])} is" if twice else "something is"
        raise ValueError(f"{which} named twice. Name each once; to play cells again, write repeats.")
    return values


_Axis = Annotated[Items[Text], Field(min_length=1), AfterValidator(_each_once)]


def _not_blank(name: str) -> str:
    if not name.strip():
        raise ValueError("this name is blank. Write some letters.")
    return name


_Name = Annotated[str, Field(min_length=1, max_length=name_chars_max), AfterValidator(_not_blank)]


class LinePlan(Strict):
    """What a visitor says."""

    turn: int = Field(ge=1, le=number_max)
    """Before which turn it is said."""
    text: Annotated[Text, Field(min_length=1)]
    """The line."""


class WhatIfPlan(Strict):
    """What is different in some cells. With a name alone: nothing."""

    name: _Name
    """How tables and plots call it."""
    seed: Text | None = None
    """What the world grows from. Left out: its first seed."""
    limits: GovernorPlan | None = None
    """Limits in place of the world's; those that are left out stay."""
    seats: dict[str, Text] = Field(default={}, max_length=256)
    """Handle or team -> the model that plays it, by name."""
    lines: Items[LinePlan] = ()
    """What a visitor says, and before which turn."""
    manifests: dict[str, dict[str, Any]] = Field(default={}, max_length=256)
    """Creature -> fields of its manifest, in place of those that it has."""

    @property
    def limits_given(self) -> Mapping[str, Any]:
        """The limits that are written here."""
        return {} if self.limits is None else self.limits.model_dump(include=self.limits.model_fields_set)

    @property
    def said(self) -> tuple[SaidLine, ...]:
        """The lines by turn; those of one turn as they are written."""
        return tuple(
            sorted([SaidLine(line.turn, line.text) for line in self.lines], key=lambda line: line.turn)
        )


class GridFile(Strict):
    """The axes of a grid. Its cells are their product."""

    worlds: _Axis
    """Worlds by name, folder or scenario file."""
    rng_seeds: Annotated[
        tuple[int, ...],
        Field(min_length=1, max_length=cells_max),
        BeforeValidator(_seeds),
        AfterValidator(_each_once),
    ] = (0,)
    """Seeds of chance: a list, or a range such as 0..99, which has both its ends."""
    models: _Axis = ("offline",)
    """What plays, each as --models takes it: a server, SERVER:MODEL, an address, local:FILE.gguf, a models.yaml or offline."""
    what_ifs: Annotated[Items[WhatIfPlan], Field(min_length=1)] = (WhatIfPlan(name=AS_IS),)
    """What is different, by name. Left out: nothing."""
    repeats: int = Field(default=1, ge=1, le=repeats_max)
    """How often each cell is played."""

    @property
    def cells(self) -> int:
        """How many cells it has."""
        axes: Sequence[Sequence[object]] = (self.worlds, self.what_ifs, self.models, self.rng_seeds)
        count = self.repeats
        for axis in axes:
            count *= len(axis)
        return count


class ReadGrid:
    """A grid file that was read, and where its fields stand."""

    def __init__(self, file: GridFile, source: Source, folder: Path) -> None:
        self.file = file
        self.folder = folder
        """What relative paths in it are seen from."""
        self._source = source

    def refuse(self, complaints: Sequence[Complaint]) -> None:
        """Raise `BadWorld` if there is a complaint about it."""
        if complaints:
            raise BadWorld(in_order(map(self._source.problem, complaints)))


def load_grid_file(path: Path) -> ReadGrid:
    """The grid file at a path, or `BadWorld` with every problem that it has by itself."""
    if not path.is_file():
        known = sorted(file.name for file in path.parent.glob("*.y*ml")) if path.parent.is_dir() else []
        raise UnknownName(noun="grid file", name=str(path), known=known)
    return _read(source_at(path), path.resolve().parent)


def grid_of(fields: Mapping[str, Any]) -> ReadGrid:
    """A grid that a program writes, checked like a file. Its problems have no lines."""
    return _read(Source("grid", node_of(dict(fields))), Path.cwd())


def _read(source: Source, folder: Path) -> ReadGrid:
    file, complaints, _, _ = valid_part_of(source, GridFile)
    problems = [*source.problems, *map(source.problem, _without_what_follows(complaints, source.problems))]
    if file is not None:
        problems += map(source.problem, _complaints_about(file))
    if problems or file is None:
        raise BadWorld(in_order(problems))
    return ReadGrid(file, source, folder)


def _without_what_follows(complaints: Sequence[Complaint], of_file: Sequence[Problem]) -> Iterator[Complaint]:
    """Complaints without those of an axis that seems empty because each of its items was wrong, which has been said."""
    fields = {problem.field for problem in of_file}
    for complaint in complaints:
        wrong_within = any(
            other.at[:-1] == complaint.at
            for other in complaints
            if other.at and isinstance(other.at[-1], int)
        )
        if complaint.text != EMPTY or not (wrong_within or field_named(complaint.at) in fields):
            yield complaint


def _complaints_about(file: GridFile) -> Iterator[Complaint]:
    names = [what_if.name for what_if in file.what_ifs]
    for number, name in enumerate(names):
        if name in names[:number]:
            at: At = ("what_ifs", number, "name")
            yield Complaint(at, f"another what-if is called {shown(name)}. Give each a name of its own.")
    if file.cells > cells_max:
        text = f"the grid has {file.cells:,} cells. Shorten an axis: at most {cells_max:,} are played."
        yield Complaint(("rng_seeds",), text)
