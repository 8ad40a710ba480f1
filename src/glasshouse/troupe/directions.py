"""Directions: what a manifest says its player does when something happens, read as conditions and deeds.

`When the water comes in, join another boat.` and `Send for the diver when somebody speaks of wrecks or anchors.` are
directions. Always holds: they are read from `wants` and `persona` alone, so a model that reads the same words knows as
much; a direction without a condition in plain words is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.reading import Identity, Reading
from glasshouse.troupe.surroundings import bare_name
from glasshouse.troupe.vocabulary import stem, stems_of

directions_cache_identities_max: Final = 512
"""Kept so as not to be computed again: what a manifest says to do when something happens."""
cues_met_share_min: Final = 0.6
"""How much of a condition's words must have been heard."""

_PARTS: Final = re.compile(r"(?<=[.;!?])\s+")
_WHEN: Final = r"(?:when|once|if|whenever|as soon as)"
_FIRST: Final = re.compile(rf"(?:and |but |then )?{_WHEN} (.+)")
_LAST: Final = re.compile(rf"(.+?),? {_WHEN} (.+)")


class Direction(NamedTuple):
    """A condition, as the stems of its words, and what is then done, in small letters."""

    cue: frozenset[str]
    deed: str

    def met_by(self, heard: Iterable[frozenset[str]]) -> int:
        """How many words of the condition were heard in one breath; none if too few."""
        met = max((len(self.cue & stems) for stems in heard), default=0)
        return met if met >= math.ceil(cues_met_share_min * len(self.cue)) else 0

    def is_to(self, what: str) -> bool:
        """Whether the deed is of a sort: spawn, dismiss, wire, join, part."""
        deed = f" {self.deed} "
        return any(cue in deed for cue in _cues_of(what))

    @property
    def sent_for(self) -> str | None:
        """Whom the deed sends for, as a handle: `send for a bell founder` is `bell-founder`; none if nobody."""
        cues = "|".join(re.escape(cue.strip()) for cue in _cues_of("spawn"))
        match = re.search(rf"\b(?:{cues}) (?:the|a|an) ([a-z]+(?: [a-z]+)?)$", self.deed)
        return None if match is None else match[1].replace(" ", "-")

    def names(self, handle: str) -> bool:
        """Whether the deed speaks of somebody by name."""
        parts = re.split("[-_]", bare_name(handle).split("~", maxsplit=1)[0].lower())
        return bool(re.search(rf"\b{'[- ]'.join(map(re.escape, parts))}\b", self.deed))


@lru_cache(maxsize=directions_cache_identities_max)
def directions_of(me: Identity) -> tuple[Direction, ...]:
    """Everything a player is told to do when something happens, in the order it is told."""
    parts = (part.strip(" .;!?").lower() for text in (me.wants, me.persona) for part in _PARTS.split(text))
    return tuple(direction for part in parts if (direction := _direction(part)) is not None)


def heard_now(reading: Reading) -> list[frozenset[str]]:
    """The stems of the scene, and of each line since I spoke last with the words of its kind."""
    lines = [*reading.fresh, *([] if reading.cause is None else [reading.cause])]
    stems = [stems_of(f"{line.text} {line.kind.replace('.', ' ')}") for line in lines]
    return [stems_of(reading.scene), *stems]


def met_best(reading: Reading, what: str) -> Direction | None:
    """The direction of a sort whose condition is met best; none if none is."""
    heard = heard_now(reading)
    candidates = [direction for direction in directions_of(reading.me) if direction.is_to(what)]
    best = max(candidates, key=lambda direction: direction.met_by(heard), default=None)
    return best if best is not None and best.met_by(heard) else None


def _direction(part: str) -> Direction | None:
    first = _FIRST.fullmatch(part)
    if first is not None:
        cue, deed = _parted(first[1])
    else:
        last = _LAST.fullmatch(part)
        if last is None:
            return None
        deed, cue = last.groups()
    idle = {stem(word) for word in shelf.words_listed("circles.txt", "idle")}
    stems = stems_of(cue) - idle
    return Direction(stems, deed) if stems and deed else None


def _parted(rest: str) -> tuple[str, str]:
    """A condition and a deed, parted at the first comma that a deed stands behind; else at the last one."""
    pieces = rest.split(", ")
    for at in range(1, len(pieces)):
        deed = ", ".join(pieces[at:])
        if any(f" {deed} ".startswith(cue) for cue, _ in _sorts()):
            return ", ".join(pieces[:at]), deed
    return ", ".join(pieces[:-1]), pieces[-1]


@lru_cache(maxsize=16)
def _cues_of(sort: str) -> tuple[str, ...]:
    return tuple(cue for cue, its_sort in _sorts() if its_sort == sort)


@lru_cache(maxsize=1)
def _sorts() -> tuple[tuple[str, str], ...]:
    return tuple((f" {cue} ", sort) for cue, sort in shelf.rows("deeds.tsv"))
