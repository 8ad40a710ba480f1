"""Checks that the Python code of a world, its referee, its tools and its agents, may run here and can be loaded.

Always holds: they are made before anything is written, so that no play begins that its code would end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from glasshouse.manifests.manifest import Manifest
from glasshouse.runtime.conducting.endings import referee_named
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.minds.code_beside import function_beside
from glasshouse.runtime.minds.minds import Minds
from glasshouse.world.state.state import CreatureState

if TYPE_CHECKING:
    from glasshouse.manifests.loading import LoadedWorld


def check_code_beside(world: LoadedWorld) -> None:
    """Refuse a world whose own referee or tools cannot be loaded."""
    folder = None if world.path is None else str(world.path)
    _check_referee(world.scenario.competition.referee, folder)
    if folder is not None:
        _check_tools((name for manifest in world.manifests.values() for name in manifest.tools), folder)


def check_code_of_world(world: LoadedWorld, minds: Minds) -> None:
    """Refuse a world whose own referee, tools or agents cannot be loaded."""
    check_code_beside(world)
    for manifest in world.manifests.values():
        minds.check(manifest)


def check_code_of_creatures(folded: Folded, creatures: Iterable[CreatureState], minds: Minds) -> None:
    """Refuse to continue creatures whose own tools or agents, or the referee of whose run, cannot be loaded."""
    referees = dict[tuple[str | None, str | None], None]()
    tools = dict[str, dict[str, None]]()
    for creature in creatures:
        purse = folded.runs.purses.get(creature.run_id or "")
        if purse is not None:
            referees[purse.playbill.competition.referee, purse.folder] = None
        if purse is not None and purse.folder is not None:
            tools.setdefault(purse.folder, {}).update(dict.fromkeys(folded.world.facts_of(creature).tools))
        manifest = folded.world.facts_of(creature).manifest
        if manifest.get("played_by") is not None and not creature.played_by_code:
            minds.check(Manifest.model_validate(manifest))
    for referee, folder in referees:
        _check_referee(referee, folder)
    for folder, names in tools.items():
        _check_tools(names, folder)


def _check_referee(name: str | None, folder: str | None) -> None:
    if name is not None:
        referee_named(name, folder)


def _check_tools(names: Iterable[str], folder: str) -> None:
    for name in dict.fromkeys(names):
        if ":" in name:
            function_beside(folder, name, "tool", "it takes what a model gives it, and gives back data.")
