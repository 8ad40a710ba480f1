"""Referees that stand beside a world, in a Python file: loaded when the world is opened, and only then."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location

from glasshouse.errors import BadWorld
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.turns.referees import REFEREES, Referee


def referees_of(world: LoadedWorld) -> dict[str, Referee]:
    """The referee of a world, by the name its scenario calls it, unless it is built in."""
    name = world.scenario.competition.referee
    if name is None or name in REFEREES or world.path is None:
        return {}
    file, _, function = name.partition(":")
    path = world.path / file
    spec = spec_from_file_location(f"glasshouse_referee_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BadWorld(f"{path}: this is no Python file. Write the referee as file.py:function.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    referee = getattr(module, function, None)
    if not callable(referee):
        raise BadWorld(
            f"{path}: there is no function {function!r}. Define it: it takes a Match, gives a Ruling or None."
        )
    return {name: referee}
