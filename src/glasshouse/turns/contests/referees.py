"""Referees: pure functions that decide from the lines of a run who has won. Some are built in; a world may add its own.

Always holds: a referee gets only public lines, what was dealt, and the cast. The same match gives the same ruling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from glasshouse.events.event import Event, Json
from glasshouse.reprs import repr_of

match_lines_max: Final = 256
"""How many lines a referee can read at most."""


class Ruling(msgspec.Struct, frozen=True):
    """Who has won, and why."""

    __repr__ = repr_of("winner", "why", "members")

    winner: str | None
    why: str
    members: tuple[str, ...] = ()
    """The handles that share the win, if the winner is neither a team of the scenario nor one creature."""


class Match(msgspec.Struct, frozen=True):
    """What a referee reads: the line just said (none at the end of the run), what was dealt, and the teams."""

    __repr__ = repr_of("line", "teams")

    line: Event | None
    truth: Json
    teams: Mapping[str, tuple[str, ...]]
    """Team -> creature ids."""
    knowers: tuple[str, ...] = ()
    """The creatures that something was dealt to."""
    truths: Mapping[str, Json] = msgspec.field(default_factory=dict)
    """What was dealt to each of them, by creature id."""
    handles: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Creature id -> handle, for the creatures that the run began with."""
    told_in: tuple[str, ...] = ()
    """The kinds of line in which what was dealt may be told."""
    hear: Callable[[], tuple[Event, ...]] = tuple
    """Loads the lines when `lines` is read, so that a referee that does not need them costs nothing."""

    @property
    def lines(self) -> tuple[Event, ...]:
        """The newest public lines of the run up to this one, oldest first; at most `match_lines_max`."""
        return self.hear()

    def called(self, handle: object) -> str | None:
        """The id of the creature with this handle, such as one that a field of a line names."""
        return next((creature for creature, name in self.handles.items() if name == handle), None)

    def team_of(self, creature_id: str) -> str | None:
        """The team a creature plays for."""
        return next((team for team, members in self.teams.items() if creature_id in members), None)


Referee = Callable[[Match], Ruling | None]


def names_the_word(match: Match) -> Ruling | None:
    """The guessing team wins if anybody says the secret word; if nobody does, the keeping team wins at the end.

    The keeping team is the one with a creature that was dealt the word. A keeper that says the word loses. A line of a
    kind in which the scenario lets the word be told, such as the one that shows it at the end, decides nothing.
    """
    word = str(match.truth.get("word", "")).strip().lower()
    if not word or not match.teams:
        return None
    keepers = next((team for team, members in match.teams.items() if {*members} & {*match.knowers}), None)
    guessers = next((team for team in match.teams if team != keepers), None)
    if match.line is None:
        return Ruling(keepers, f"Nobody named the word. It was {word}.")
    team = match.team_of(match.line.actor)
    if team is None or match.line.kind in match.told_in or not _names(match.line, word):
        return None
    if team == guessers:
        return Ruling(guessers, f"The word was named: {word}.")
    return Ruling(guessers, f"Those who kept the word gave it away: {word}.")


def _names(line: Event, word: str) -> bool:
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    return any(isinstance(said, str) and pattern.search(said) for said in line.payload.values())


REFEREES: Final[Mapping[str, Referee]] = {"names_the_word": names_the_word}
