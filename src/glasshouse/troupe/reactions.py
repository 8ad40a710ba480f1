"""Acts: what a player does with what it heard: agree, object, ask, extend and so on, by its temper.

Always holds: which acts are likely depends on the manifest and on the line that is answered, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from random import Random
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.reading import Identity

tempers_cache_identities_max: Final = 512

_EVERYBODY: Final = MappingProxyType(
    {"agree": 0.6, "object": 0.6, "ask": 0.7, "extend": 0.9, "turn": 0.7, "wonder": 0.7, "recall": 0.6, "offer": 0.6,
     "tease": 0.4, "comfort": 0.3, "warn": 0.3, "perform": 0.02}
)  # fmt: skip


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
    for told, share in ((me.temper, 1.0), (f"{me.persona} {me.role} {me.wants}", 0.4)):
        lower = f" {told.lower()}"
        for cue, bonus in shelf.rows("tempers.tsv"):
            if f" {cue}" in lower or f"-{cue}" in lower:
                for one in bonus.split():
                    name, _, much = one.partition(":")
                    weights[name] = weights.get(name, 0.0) + share * float(much)
    stance = stance_of(me)
    if stance:
        weights[stance] = 2.0 + sum(weights.values())
    return MappingProxyType(weights)


@lru_cache(maxsize=tempers_cache_identities_max)
def stance_of(me: Identity) -> str:
    """For or against, where a persona or a want takes a side; empty where it takes none or both."""
    told = f" {me.wants} {me.persona} {me.temper} ".lower()
    found = {
        side: sum(told.count(f" {cue} ") for cue in cues.split("|"))
        for side, cues in shelf.rows("stances.tsv")
    }
    best = max(found.values())
    sides = [side for side, count in found.items() if count == best]
    return sides[0] if best and len(sides) == 1 else ""


@lru_cache(maxsize=tempers_cache_identities_max)
def calling_of(kind: str) -> str:
    """The act that a kind's own name asks for; empty where it asks for none."""
    words = kind.replace("_", ".").split(".")
    for cue, act in shelf.rows("callings.tsv"):
        if any(word.startswith(cue) for word in words):
            return act
    return ""


def act_for(me: Identity, kind: str, situation: Mapping[str, float], dice: Random) -> Act:
    """What to do now: the kind's own act, or one drawn by temper and situation."""
    calling = calling_of(kind)
    if calling:
        return acts()[calling]
    weights = weights_of(me)
    names = sorted({*weights, *situation})
    drawn = dice.choices(names, [weights.get(one, 0.2) * situation.get(one, 1.0) for one in names])
    return acts()[drawn[0]]
