"""Referees: built in, or in a Python file beside a world, which is loaded when a run that needs it is driven.

Always holds: a referee's result is a valid ruling or none; everything else is reported as an error of its world.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from glasshouse.errors import BadWorld
from glasshouse.runtime.minds.code_beside import function_beside, given_back_by
from glasshouse.runtime.minds.faults import fault_chars_max
from glasshouse.turns.line_text import cut
from glasshouse.turns.referees import REFEREES, Match, Referee, Ruling


def referee_named(name: str, folder: str | None) -> Referee:
    """The referee that a scenario calls so: one that is built in, or `file.py:function` in the world's folder."""
    if name in REFEREES:
        return REFEREES[name]
    if folder is None:
        raise BadWorld(
            f"competition: there is no referee {name!r}. Built in are {', '.join(sorted(REFEREES))}."
        )
    found = function_beside(folder, name, "referee", "it takes a Match, gives a Ruling or None.")
    file, _, function = name.partition(":")
    where = f"{Path(folder) / file}: the referee {function}"

    def ruled(match: Match) -> Ruling | None:
        given = given_back_by(found, where, match)
        return None if given is None else _sound(given, where)

    return ruled


def _sound(given: object, where: str) -> Ruling:
    """A ruling made of texts, as it was given; anything else is refused."""
    try:
        if isinstance(given, Ruling):
            return msgspec.convert(msgspec.to_builtins(given), Ruling)
    except (msgspec.MsgspecError, TypeError, RecursionError):
        pass
    told = cut(repr(given), fault_chars_max)
    raise BadWorld(
        f"{where} gave back {told}, which is not a Ruling of texts. Correct it: Ruling(winner, why), or None."
    )
