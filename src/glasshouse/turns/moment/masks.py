"""Masks: neutral labels for contestants in a judge's prompt, so that no name or seat influences a verdict (ADR 0037).

Always holds: the run's `rng_seed` and the order of the seats decide which contestant gets which label, never names.
Taking the mask off replaces every label by its name. A text without names stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import compress
from typing import Any, Final, NamedTuple

from glasshouse.events.event import Event
from glasshouse.turns.moment.playbill import Competition

masks_cache_runs_max: Final = 256
"""Kept so as not to be computed again: the labels of contestants for judges."""

ONE: Final = "contestant"
MANY: Final = "team"

_LABEL: Final = re.compile(
    rf"\b(?:({ONE}|{MANY})s ([A-Z]{{1,2}}) and ([A-Z]{{1,2}})|({ONE}|{MANY}) ([A-Z]{{1,2}}(?: [0-9]{{1,3}})?))(?!\w)",
    re.IGNORECASE,
)


_NO_NAME_AFTER: Final = re.compile(
    r"\b(?:an?|some|any|no|every|each|another|my|your|his|her|its|our|their|own|one|two|three|four|five)\s$",
    re.IGNORECASE,
)
"""After these words comes a common noun, not a name: `a bridge`, `my mark`."""
_SOMEBODY_DOES: Final = re.compile(r"\b(?:i|you|he|she|it|we|they|who|that|which|there)\s$", re.IGNORECASE)
_DOING: Final = re.compile(r"\s[a-z]+(?<!s)(?<!ed)(?![\w'\u2019])")
"""What follows the word if it is a verb and not a name: `it will hold`, but not `it fern says`."""
_OBJECT: Final = re.compile(
    r"\s(?:an?|the|my|your|his|her|its|our|their|this|that|these|those|i|you|he|she|it|we|they|there)\b",
    re.IGNORECASE,
)
_OF: Final = re.compile(r"\sof\b")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;\u2026\u2014\u201c\"(]\s?)$")
_LOOKED_BACK_CHARS: Final = 16
_JOINTS: Final = r"[-_\s\u00ad\u2010-\u2015\u2212]"
"""What people or models may write between the parts of a handle: any blank, any dash."""


class Seat(NamedTuple):
    """One possible winner: its name in a verdict, and the handles of each member, the present handle first."""

    name: str
    members: tuple[tuple[str, ...], ...]


class Masks:
    """The labels of one run's contestants."""

    def __init__(self, seats: tuple[Seat, ...], rng_seed: int) -> None:
        draws = [blake2b(f"{rng_seed}/label/{n}".encode(), digest_size=8).digest() for n in range(len(seats))]
        order = sorted(range(len(seats)), key=draws.__getitem__)
        self.winners: dict[str, str] = {}
        """Name in a verdict -> label, in the order of the labels."""
        self.events_cache: dict[int, tuple[Event, Event]] = {}
        """The `id()` of a payload -> its event, and the same with labels. It keeps both alive, so no `id()` is reused."""
        self._labels: dict[str, str] = {}
        self._handles: dict[str, str] = {}
        self._names: dict[str, str] = {}
        word = ONE if all(len(seat.members) <= 1 for seat in seats) else MANY
        for index, number in enumerate(order):
            seat = seats[number]
            label = f"{word} {_letters(index)}"
            self.winners[seat.name] = label
            self._names[label.casefold()] = self._handles[label.casefold()] = seat.name
            for member, aliases in enumerate(seat.members, 1):
                mine = label if len(seat.members) == 1 else f"{label} {member}"
                self._handles[mine.casefold()] = aliases[0]
                self._labels.update((_folded(alias), mine) for alias in aliases)
        self.over_talk = _covering(self._labels)
        """Replaces contestants' handles by labels in what a creature said."""
        self.over_names = _covering(self._labels, is_within=True)
        """Replaces handles by labels in a name that the engine made, such as a channel's, also as part of a word."""
        teams = {_folded(name): label for name, label in self.winners.items()}
        self.over_directions = _covering({**teams, **self._labels})
        """Replaces handles and team names by labels in what the author of a world wrote."""

    def label_of(self, handle: str) -> str:
        """The label that a judge reads for a handle; the handle itself if it is not a contestant's."""
        return self._labels.get(_folded(handle), handle)

    def over(self, value: Any) -> Any:
        """A field's value with labels for all contestants named in it, also in the keys of objects."""
        if isinstance(value, str):
            return self.winners.get(value) or self.over_talk(value)
        if isinstance(value, dict):
            return {self.over_talk(str(name)): self.over(part) for name, part in value.items()}
        return _mapped(value, self.over)

    def off(self, value: Any) -> Any:
        """What a judge wrote, with handles instead of labels."""
        return _LABEL.sub(self._named, value) if isinstance(value, str) else _mapped(value, self.off)

    def winner_behind(self, label: str) -> str:
        """The name of the winner that a label stands for."""
        return self._names.get(label.casefold(), label)

    def _named(self, match: re.Match[str]) -> str:
        both, first, second, word, letter = match.groups()
        if both:
            names = [self._handles.get(f"{both} {mark}".casefold()) for mark in (first, second)]
            return match[0] if None in names else f"{names[0]} and {names[1]}"
        handle = self._handles.get(f"{word} {letter}".casefold()) if letter[0].isupper() else None
        if handle is None:
            return match[0]
        return _as_name(handle) if word[0].isupper() else handle


@lru_cache(maxsize=masks_cache_runs_max)
def masks_of(seats: tuple[Seat, ...], rng_seed: int) -> Masks | None:
    """The masks of a run's seats; none if there are fewer than two."""
    return Masks(seats, rng_seed) if len(seats) > 1 else None


def seats_of(competition: Competition, called: Callable[[str], Iterable[str]]) -> tuple[Seat, ...]:
    """The seats of a competition. `called` maps a handle of the cast to that creature's present and former handles."""
    if competition.kind == "none":
        return ()
    teams = competition.teams or {handle: (handle,) for handle in competition.contestants}
    return tuple(
        [Seat(name, tuple([tuple(called(handle)) for handle in members])) for name, members in teams.items()]
    )


def _letters(index: int) -> str:
    high, low = divmod(index, 26)
    return (chr(ord("A") + high - 1) if high else "") + chr(ord("A") + low)


def _as_name(handle: str) -> str:
    """A handle written as a name with capital letters: `night-porter` becomes Night Porter."""
    parts = re.split(r"[-_]", handle.partition("~")[0])
    return " ".join([part[:1].upper() + part[1:] for part in parts])


def _folded(handle: str) -> str:
    return re.sub(rf"{_JOINTS}+", "-", handle.casefold())


def _written_ways(name: str) -> str:
    """A pattern for the spellings of a handle. One of several parts may have other joints or none, and a plural `s`."""
    parts = [re.escape(part) for part in name.split("-")]
    return parts[0] if len(parts) == 1 else rf"{_JOINTS}{{0,2}}".join(parts) + "s?"


def _covering(labels: Mapping[str, str], *, is_within: bool = False) -> Callable[[str], str]:
    """A function that replaces names by labels, with a `the` before them, if they are whole words and meant as names.

    A name is found with hyphens or without. Words joined by a hyphen or an underscore count as one word, unless
    `is_within` is set.
    """
    names = sorted(labels, key=lambda name: (-len(name), name))
    parts = "|".join([f"({_written_ways(name)})" for name in names])
    before = r"(?<![^\W_])(?<!~)"
    after = r"(?![^\W_]|~"
    if not is_within:
        before = before + r"(?<![^\W_][-_])"
        after = after + r"|[-_][^\W_]"
    pattern = re.compile(rf"{before}(the\s)?({parts}){after})", re.IGNORECASE)

    def label(match: re.Match[str]) -> str:
        name = next(compress(names, match.groups()[2:]))
        if not is_within and "-" not in name and is_common_word(match):
            return match[0]
        worn = labels[name]
        is_opening = match[1] is not None and match[1][0].isupper()
        return worn[:1].upper() + worn[1:] if is_opening else worn

    return lambda text: pattern.sub(label, text)


def is_common_word(match: re.Match[str]) -> bool:
    """Whether a handle of one word is used here as a common word and not as a name.

    In doubt it counts as a name: an odd text tells the judge nothing, but a name would.
    """
    word = match[2]
    text = match.string
    end = match.end()
    if not word.isalpha() or word[1:] != word[1:].lower():
        return False
    before = text[max(0, match.start() - _LOOKED_BACK_CHARS) : match.start()]
    is_opening = _SENTENCE_START.search(before) is not None
    if word[0].isupper() and not is_opening:
        return False
    if _OF.match(text, end):
        return word[0].islower()
    if match[1]:
        return False
    if is_opening:
        return word[0].isupper() and _OBJECT.match(text, end) is not None
    if _NO_NAME_AFTER.search(before):
        return True
    return _SOMEBODY_DOES.search(before) is not None and _DOING.match(text, end) is not None


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, list | tuple):
        return type(value)([change(part) for part in value])
    if isinstance(value, dict):
        return {name: change(part) for name, part in value.items()}
    return value
