"""Ids on the command line: a whole id, the beginning of one, or `last`.

Always holds: a name means exactly one id, or is refused. Where one id is the beginning of another, the whole name wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from glasshouse.errors import Refused, UnknownName

LAST: Final = "last"
candidates_shown_max: Final = 8
short_id_chars: Final = 8


def id_meant(noun: str, name: str, known: Sequence[str]) -> str:
    """The id that a name means, of ids that are given oldest first."""
    if name == LAST and known:
        return known[-1]
    if name == LAST and noun.startswith("run"):
        raise Refused("Nothing was played in this store yet.", "Play a world first: glasshouse play WORLD")
    if name in known:
        return name
    # The letter that says what kind of id it is may be left away.
    parts = {known_id: (known_id, known_id.partition("-")[2]) for known_id in known if name}
    matches = [known_id for known_id, texts in parts.items() if any(text.startswith(name) for text in texts)]
    if not matches:
        raise UnknownName(noun=noun, name=name, known=known)
    if len(matches) == 1:
        return matches[0]
    hidden = len(matches) - candidates_shown_max
    shown = ", ".join(matches[:candidates_shown_max]) + (f" and {hidden} more" if hidden > 0 else "")
    raise Refused(f"{name!r} could be any of {shown}.", "Write more of it.")


def short_ids(known: Sequence[str]) -> dict[str, str]:
    """Each id with its shortest beginning that means it alone."""
    ordered = sorted(set(known))
    chars = dict.fromkeys(ordered, short_id_chars)
    for first, second in pairwise(ordered):
        alike = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first))
        chars[first], chars[second] = max(chars[first], alike + 1), max(chars[second], alike + 1)
    return {known_id: known_id[: chars[known_id]] for known_id in ordered}
