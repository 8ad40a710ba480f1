"""Dealings: who asked whom for help, what was made a condition, promised, agreed, refused and taken back.

Always holds: told from the moves of the lines in sight alone, in their order; a promise is one only where both sides
said so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

OPEN: Final = "open"
TERMS: Final = "terms"
"""The one who was asked named a condition."""
PROMISED: Final = "promised"
"""The condition was met, and the one who was asked has not said so yet."""
GRANTED: Final = "granted"
REFUSED: Final = "refused"
BROKEN: Final = "broken"

_BY_THE_ASKED: Final[Mapping[str, tuple[tuple[str, ...], str]]] = MappingProxyType(
    {
        "help-yes": ((OPEN,), GRANTED),
        "help-no": ((OPEN,), REFUSED),
        "help-no-rival": ((OPEN,), REFUSED),
        "set-term": ((OPEN,), TERMS),
        "hold-back": ((OPEN,), TERMS),
        "help-if": ((OPEN,), TERMS),
        "settle": ((PROMISED, TERMS), GRANTED),
        "settle-offer": ((OPEN, PROMISED), GRANTED),
        "hold-word": ((GRANTED,), GRANTED),
        "break-word": ((GRANTED,), BROKEN),
    }
)
_BY_THE_ASKER: Final[Mapping[str, tuple[tuple[str, ...], str]]] = MappingProxyType(
    {
        "promise": ((TERMS,), PROMISED),
        "promise-care": ((TERMS,), PROMISED),
        "agree": ((TERMS,), PROMISED),
        "refuse-term": ((TERMS,), REFUSED),
    }
)
_ASKING: Final = frozenset({"ask-help", "ask-help-for-chore"})


class Said(NamedTuple):
    """One move as it was said: by whom, to whom, in which line."""

    ref: str
    by: str
    to: str
    move: str


class Dealing(NamedTuple):
    """How it stands between somebody who asked and whoever was asked."""

    asker: str
    asked: str
    state: str
    ref: str
    """The line that brought it there."""


def dealings_in(said: Iterable[Said]) -> list[Dealing]:
    """How it stands between any two, each pair in one direction once, the oldest first."""
    dealings: dict[tuple[str, str], Dealing] = {}
    for one in said:
        if one.move in _ASKING and one.to:
            dealings[one.by, one.to] = Dealing(one.by, one.to, OPEN, one.ref)
        elif one.move == "tell-deal" and one.to:
            dealings.setdefault((one.by, one.to), Dealing(one.by, one.to, GRANTED, one.ref))
        elif one.move == "accept" and one.to:
            # Who accepts an offer is as one who had asked.
            dealings[one.by, one.to] = Dealing(one.by, one.to, GRANTED, one.ref)
        elif one.move in _BY_THE_ASKED:
            _move_on(dealings, (one.to, one.by), _BY_THE_ASKED[one.move], one.ref)
        elif one.move in _BY_THE_ASKER:
            _move_on(dealings, (one.by, one.to), _BY_THE_ASKER[one.move], one.ref)
    return list(dealings.values())


def _move_on(
    dealings: dict[tuple[str, str], Dealing],
    pair: tuple[str, str],
    step: tuple[tuple[str, ...], str],
    ref: str,
) -> None:
    dealing = dealings.get(pair)
    if dealing is not None and dealing.state in step[0]:
        dealings[pair] = dealing._replace(state=step[1], ref=ref)
