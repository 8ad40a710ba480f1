"""Reactions: what a player may do with what it heard, such as answer or refuse a question, or take or decline an offer.

Always holds: the speech act of the line that was heard decides which moves are allowed. The player's temper decides how
likely each of them is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from random import Random
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.reading import Identity
from glasshouse.troupe.speech_acts import ASK, CHANGE, REPORT

tempers_cache_identities_max: Final = 512
"""Kept so as not to be computed again: what a temper inclines to."""

_EVERYBODY: Final = MappingProxyType(
    {"agree": 0.7, "object": 0.6, "ask": 0.5, "extend": 0.9, "turn": 0.4, "wonder": 0.6, "recall": 0.4, "offer": 0.6,
     "tease": 0.3, "comfort": 0.3, "warn": 0.3, "answer": 4.0}
)  # fmt: skip
_TALK: Final = frozenset({"ask", "wonder", "recall", "offer", "warn", "appraise"})
"""What a kind may call for, and a question still comes first."""
_SELDOM: Final = 0.15
_LEANING: Final = 0.65
"""How likely a move is that no temper leans to."""


class Move(NamedTuple):
    """What a player does with what it heard: which sentences it takes, and the act whose mood and aim go with it."""

    name: str
    act: Act


class Act(NamedTuple):
    """One thing to do with words."""

    name: str
    moods: tuple[str, ...]
    aims: tuple[str, ...]


@lru_cache(maxsize=1)
def acts() -> Mapping[str, Act]:
    """Every act by its name."""
    rows = shelf.rows("acts.tsv")
    return MappingProxyType(
        {name: Act(name, tuple(m.split("|")), tuple(a.split("|"))) for name, m, a in rows}
    )


@lru_cache(maxsize=tempers_cache_identities_max)
def weights_of(me: Identity) -> Mapping[str, float]:
    """How likely each act is for a player, before anything is said."""
    weights = dict(_EVERYBODY)
    for text, share in ((me.temper, 1.0), (f"{me.persona} {me.role} {me.wants}", 0.4)):
        lower = f" {text.lower()}"
        for cue, bonus in shelf.rows("tempers.tsv"):
            if f" {cue}" in lower or f"-{cue}" in lower:
                for entry in bonus.split():
                    name, _, much = entry.partition(":")
                    weights[name] = weights.get(name, 0.0) + share * float(much)
    # No player does only one thing: a weight that is twelve times as large is drawn five times as often.
    weights = {name: weight**_LEANING for name, weight in weights.items()}
    stance = stance_of(me)
    if stance:
        weights[stance] = 2.0 + sum(weights.values())
    return MappingProxyType(weights)


@lru_cache(maxsize=tempers_cache_identities_max)
def stance_of(me: Identity) -> str:
    """For or against, where a persona or a want takes a side; empty where it takes none or both."""
    text = f" {me.wants} {me.persona} {me.temper} ".lower()
    counts = {
        side: sum(text.count(f" {cue} ") for cue in cues.split("|"))
        for side, cues in shelf.rows("stances.tsv")
    }
    best = max(counts.values())
    sides = [side for side, count in counts.items() if count == best]
    return sides[0] if best and len(sides) == 1 else ""


@lru_cache(maxsize=tempers_cache_identities_max)
def calling_of(kind: str) -> str:
    """The act that a kind's own name asks for; empty where it asks for none."""
    words = kind.replace("_", ".").split(".")
    for cue, act in shelf.rows("callings.tsv"):
        if any(word.startswith(cue) for word in words):
            return act
    return ""


def move_for(me: Identity, kind: str, heard: str, dice: Random) -> Move:
    """What to do now: the kind's own act, or one of the moves that answer what was heard, drawn by temper."""
    calling = calling_of(kind)
    if calling and (heard != ASK or calling not in _TALK):
        return Move(calling, acts()[calling])
    weights = weights_of(me)
    moves = _moves()[heard]
    drawn = dice.choices(moves, [weights.get(move.act.name, 0.0) or _seldom(heard) for move in moves])
    return drawn[0]


def _seldom(heard: str) -> float:
    """The weight of a move that the temper does not lean to: none after a report or a change, else small."""
    return 0.0 if heard in {REPORT, CHANGE} else _SELDOM


@lru_cache(maxsize=1)
def _moves() -> Mapping[str, list[Move]]:
    moves: dict[str, list[Move]] = {}
    for heard, move, act in shelf.rows("moves.tsv"):
        moves.setdefault(heard, []).append(Move(move, acts()[act]))
    return MappingProxyType(moves)
