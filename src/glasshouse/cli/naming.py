"""Names on the command line: a whole id, the beginning of one, or `last`.

Always holds: a name leads to exactly one thing or to a refusal; of two things that begin alike, the one whose id is the
whole name is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from glasshouse.errors import Refused, UnknownName

LAST: Final = "last"
candidates_shown_max: Final = 8
short_id_chars: Final = 8


def the_one(noun: str, name: str, known: Sequence[str]) -> str:
    """The id that a name means, of ids that are given oldest first."""
    if name == LAST and known:
        return known[-1]
    if name == LAST and noun.startswith("run"):
        raise Refused("Nothing was played in this store yet.", "Play a world first: glasshouse play WORLD")
    if name in known:
        return name
    found = [one for one in dict.fromkeys(known) if name and _begins(one, name)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnknownName(noun=noun, name=name, known=known)
    more = f" and {len(found) - candidates_shown_max} more" if len(found) > candidates_shown_max else ""
    shown = ", ".join(found[:candidates_shown_max])
    raise Refused(f"{name!r} could be any of {shown}{more}.", "Write more of it.")


def _begins(one: str, name: str) -> bool:
    """With or without the letter that says what kind of id it is."""
    return one.startswith(name) or one.partition("-")[2].startswith(name)


def short_ids(known: Sequence[str]) -> dict[str, str]:
    """Each id with the shortest beginning that means it alone."""
    ordered = sorted(set(known))
    chars = dict.fromkeys(ordered, short_id_chars)
    for one, other in pairwise(ordered):
        alike = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
        chars[one], chars[other] = max(chars[one], alike + 1), max(chars[other], alike + 1)
    return {one: one[: chars[one]] for one in ordered}
