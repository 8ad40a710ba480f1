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
BARGAINING: Final = frozenset((*_BY_THE_ASKED, *_BY_THE_ASKER))
"""What changes how it stands between two."""
_SHOWN_BY_THE_ASKED: Final[Mapping[str, str]] = MappingProxyType(
    {"help-yes": GRANTED, "settle": GRANTED, "hold-word": GRANTED, "break-word": BROKEN}
)
_SHOWN_BY_THE_ASKER: Final[Mapping[str, str]] = MappingProxyType(
    {
        "thank": GRANTED,
        "glad": GRANTED,
        "bear-no": REFUSED,
        "betrayed": BROKEN,
        "ask-hold": GRANTED,
        "tell-deal": GRANTED,
    }
)
"""What shows how it stands where the lines before it are out of sight."""
_PAYING: Final = frozenset({"promise", "agree"})
_ASKING: Final = frozenset({"ask-help", "ask-help-for-chore"})


class MoveTold(NamedTuple):
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


def dealings_in(said: Iterable[MoveTold]) -> list[Dealing]:
    """How it stands between any two, each pair in one direction once, the oldest first."""
    dealings: dict[tuple[str, str], Dealing] = {}
    for step_told in said:
        if step_told.move in _ASKING and step_told.to:
            dealings[step_told.by, step_told.to] = Dealing(step_told.by, step_told.to, OPEN, step_told.ref)
        elif step_told.move == "accept" and step_told.to:
            # Who accepts an offer is as one who had asked.
            dealings[step_told.by, step_told.to] = Dealing(step_told.by, step_told.to, GRANTED, step_told.ref)
        elif step_told.move in _BY_THE_ASKED or step_told.move in _SHOWN_BY_THE_ASKED:
            pair = (step_told.to, step_told.by)
            _move_on(
                dealings,
                pair,
                _BY_THE_ASKED.get(step_told.move),
                _SHOWN_BY_THE_ASKED.get(step_told.move),
                step_told.ref,
            )
        elif step_told.move in _BY_THE_ASKER or step_told.move in _SHOWN_BY_THE_ASKER:
            pair = (step_told.by, step_told.to)
            _move_on(
                dealings,
                pair,
                _BY_THE_ASKER.get(step_told.move),
                _SHOWN_BY_THE_ASKER.get(step_told.move),
                step_told.ref,
            )
            if step_told.move in _PAYING and all(pair):
                # Who pays for help with help has given their word, too.
                dealings[step_told.to, step_told.by] = Dealing(
                    step_told.to, step_told.by, GRANTED, step_told.ref
                )
    return list(dealings.values())


def _move_on(
    dealings: dict[tuple[str, str], Dealing],
    pair: tuple[str, str],
    step: tuple[tuple[str, ...], str] | None,
    shown: str | None,
    ref: str,
) -> None:
    """A step from one state to the next; else what the move shows, where what led to it is out of sight."""
    dealing = dealings.get(pair)
    if not all(pair):
        return
    if dealing is not None and step is not None and dealing.state in step[0]:
        dealings[pair] = dealing._replace(state=step[1], ref=ref)
    elif shown is not None and (dealing is None or dealing.state in {OPEN, TERMS, PROMISED}):
        dealings[pair] = Dealing(*pair, shown, ref)
