"""Referees: built in, or in a Python file beside a world, which is loaded when a run that needs it is driven."""

from __future__ import annotations

from glasshouse.errors import BadWorld
from glasshouse.runtime.minds.code_beside import function_beside
from glasshouse.turns.referees import REFEREES, Referee


def referee_named(name: str, folder: str | None) -> Referee:
    """The referee that a scenario calls so: one that is built in, or `file.py:function` in the world's folder."""
    if name in REFEREES:
        return REFEREES[name]
    if folder is None:
        raise BadWorld(
            f"competition: there is no referee {name!r}. Built in are {', '.join(sorted(REFEREES))}."
        )
    found: Referee = function_beside(folder, name, "referee", "it takes a Match, gives a Ruling or None.")
    return found
