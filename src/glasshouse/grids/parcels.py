"""`Parcel`: everything that another machine needs to play bundles of a grid, as one value that can be pickled.

Always holds: a parcel names variables that hold keys, and holds no key. The files of a world are those of which its cells are named,
so a machine that unpacks it plays the same. A machine that cannot play is found before its first cell, and says what it lacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from glasshouse.errors import Refused
from glasshouse.events.event import Json
from glasshouse.events.payloads import prompting_now, rules_now
from glasshouse.grids.executors import Terms
from glasshouse.grids.grid_models import GridModels
from glasshouse.grids.variants import files_beside
from glasshouse.manifests.world_folders import folder_of
from glasshouse.runtime.conducting.world_code import check_code_beside
from glasshouse.runtime.minds.code_beside import BUNDLED, bring_world
from glasshouse.settings import value_of


class Parcel(NamedTuple):
    """How a grid is played, and the files that it needs."""

    terms: Terms
    files: Mapping[str, Mapping[str, bytes]]
    """World, as its runs name it -> path from its folder -> content: documents, script and code."""
    bundled: Mapping[str, str]
    """World, as its runs name it -> its folder among those that come with Glasshouse, which do not travel."""
    models_files: Mapping[str, bytes]
    """Entry of `models` -> its models.yaml."""
    variables: frozenset[str]
    """The names of variables that hold keys or addresses at home."""
    facts: Mapping[str, Json]
    """Entry of `models` -> what decides how it plays."""
    numbers: tuple[int, int] = (rules_now, prompting_now)
    """The numbers of the rules and of the prompts."""


def parcel_of(terms: Terms, models: GridModels) -> Parcel:
    """Pack what other machines need. The models are open."""
    files: dict[str, dict[str, bytes]] = {}
    bundled: dict[str, str] = {}
    for variant in terms.variants.values():
        world = variant.world
        if world.path is None or str(world.path) in bundled:
            continue
        folder = folder_of(world.path).resolve()
        if folder.is_relative_to(BUNDLED):
            bundled[str(world.path)] = folder.relative_to(BUNDLED).as_posix()
            continue
        packed = files.setdefault(str(world.path), {})
        for path in files_beside(world, folder_of(world.path)):
            name = path.relative_to(folder_of(world.path)).as_posix()
            if name not in packed:  # Another what-if may need more files.
                packed[name] = path.read_bytes()
    named = {name: models.file(name) for name in terms.models}
    return Parcel(
        terms._replace(folder=None),
        files,
        bundled,
        {name: path.read_bytes() for name, path in named.items() if path is not None},
        frozenset(models.variables),
        {name: models.facts(name) for name in terms.models},
    )


class Unpacked(NamedTuple):
    """A parcel on the machine that plays it."""

    terms: Terms
    models: GridModels


def unpack(parcel: Parcel, folder: Path, names: tuple[str, ...]) -> Unpacked:
    """Put the files of a parcel into a folder. Of its models, those of these entries are needed."""
    for number, (world, files) in enumerate(parcel.files.items()):
        here = folder / f"world-{number}"
        for path, content in files.items():
            _write(here, path, content)
        bring_world(world, here)
    for world, path in parcel.bundled.items():
        bring_world(world, BUNDLED / path)
    models_files: dict[str, Path] = {}
    for number, (name, content) in enumerate(parcel.models_files.items()):
        models_files[name] = folder / f"models-{number}.yaml"
        models_files[name].write_bytes(content)
    env_file = parcel.terms.env_file
    terms = parcel.terms._replace(
        folder=folder,
        models=names,
        env_file=env_file if env_file is not None and env_file.is_file() else None,
    )
    needed = {name: path for name, path in models_files.items() if name in names}
    models = GridModels(names, folder=terms.models_folder, env_file=terms.env_file, files=needed)
    return Unpacked(terms, models)


def _write(folder: Path, path: str, content: bytes) -> None:
    target = (folder / path).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise Refused(f"{path} is outside the world's folder.", "Put the code of a world into its folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


async def open_here(parcel: Parcel, here: Unpacked) -> None:
    """Open the models of this machine. Raises `Refused` with what it lacks to play these cells: a version, a key, code, a model."""
    if parcel.numbers != (rules_now, prompting_now):
        raise Refused(
            "Its Glasshouse plays by other rules or asks otherwise.", "Install the same version everywhere."
        )
    missing = sorted(name for name in parcel.variables if not value_of(name, here.terms.env_file))
    if missing:
        raise Refused(
            f"It lacks {', '.join(missing)}, which is set where the grid was started.",
            "Set it before `ray start` there; keys do not travel.",
        )
    for variant in here.terms.variants.values():
        check_code_beside(variant.world)
    await here.models.open_for(here.terms.variants.values())
    for name in here.terms.models:
        if here.models.facts(name) != parcel.facts[name]:
            raise Refused(
                f"There, another model answers to {name!r}, or it is asked otherwise.",
                "Give all machines the same models.",
            )
