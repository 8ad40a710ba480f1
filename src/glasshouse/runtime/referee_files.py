"""Referees: built in, or in a Python file beside a world, which is loaded when a run that needs it is driven.

Always holds: code beside a world runs only when somebody plays that world, never when a store is looked at; a run finds
its referee again by the folder it was opened from, so two worlds may call theirs alike.
"""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from glasshouse.errors import BadWorld
from glasshouse.turns.referees import REFEREES, Referee


def referee_named(name: str, folder: str | None) -> Referee:
    """The referee that a scenario calls so: one that is built in, or `file.py:function` in the world's folder."""
    if name in REFEREES:
        return REFEREES[name]
    if folder is None:
        raise BadWorld(
            f"competition: there is no referee {name!r}. Built in are {', '.join(sorted(REFEREES))}."
        )
    file, _, function = name.partition(":")
    path = Path(folder) / file
    if not path.is_file():
        raise BadWorld(f"{path}: the referee's file is gone. Put it back to go on with this run.")
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
    found: Referee = referee
    return found
