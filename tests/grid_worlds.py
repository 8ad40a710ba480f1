"""A small world in files, and grid files, for tests of grids: a cell of it takes a few milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from glasshouse.manifests.loading import LoadedWorld, load_world

if TYPE_CHECKING:
    # It needs an extra, and the tests of the core run without extras.
    from tests.servers.imitating_server import ImitatingServer

CREATURE = "persona: Talks about {}.\nwants: to be heard\nschedule: {{tick_every: 1}}\n"


def small_world(folder: Path, name: str = "pond", turns: int = 3) -> Path:
    """Write a world of two creatures that talk for some turns; its folder."""
    world = folder / name
    (world / "creatures").mkdir(parents=True)
    (world / "scenario.yaml").write_text(
        f"name: {name}\nopening: It rains on {{seed}}.\nseeds: [the reeds]\ncast: [ada, bo]\ngoal: Talk.\n"
        f"governor: {{max_turns: {turns}}}\n"
    )
    for creature in ("ada", "bo"):
        (world / "creatures" / f"{creature}.yaml").write_text(
            f"name: {creature}\n{CREATURE.format('frogs' if creature == 'ada' else 'toads')}"
        )
    return world


def loaded(folder: Path, **how: Any) -> LoadedWorld:
    return load_world(small_world(folder, **how))


def grid_file(folder: Path, **axes: Any) -> Path:
    """Write a grid file of the small world, with these axes in place of the usual ones."""
    path = folder / "night.yaml"
    fields = {"worlds": ["pond"], "rng_seeds": "0..3", **axes}
    path.write_text(yaml.safe_dump(fields, sort_keys=False))
    return path


def models_file(
    folder: Path, server: ImitatingServer, *, slots: int = 4, key_variable: str = "", **profile: Any
) -> str:
    """Write a models.yaml that binds every size to the model of a server; its name."""
    fields = {"backend": "mine", "model": server.model, "context_tokens": 8192, **profile}
    backend: dict[str, Any] = {"server": "vllm", "url": server.url, "max_parallel": slots}
    if key_variable:
        backend["key_variable"] = key_variable
    path = folder / "models.yaml"
    path.write_text(yaml.safe_dump({"backends": {"mine": backend}, "profiles": {"fast": fields}}))
    return path.name


def told_differing(alone: Sequence[Any], other: Sequence[Any]) -> list[int]:
    """The seeds of the cells that have another digest in another play of the same grid."""
    then = {row.cell: row.digest for row in other}
    assert len(then) == len(alone)
    return [row.rng_seed for row in alone if then[row.cell] != row.digest]
