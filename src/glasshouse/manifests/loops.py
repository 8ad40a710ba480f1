"""Loops of a cast: creatures that wake each other again and again, because each hears what another says.

Two sorts are found. In a loop of one kind, creatures hear a kind and may answer in the same kind. In a closed circle,
whatever a member says wakes another member. A circle that a member can leave by another kind is no loop: it may end.
Pure: only manifests and the scenario are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import CastEntry, Scenario


class Waking(NamedTuple):
    """One creature wakes another by a line of a kind. Both are handles."""

    who: str
    whom: str
    kind: str


def loops_in(scenario: Scenario, manifests: Mapping[str, Manifest]) -> list[list[Waking]]:
    """The loops of each cast: who wakes whom in it."""
    loops: list[list[Waking]] = []
    for stage in scenario.stages.values():
        cast = [entry for entry in stage.cast if entry.use in manifests]
        wakings = _wakings(cast, manifests)
        kinds = dict.fromkeys([waking.kind for waking in wakings])
        of_stage = [_loop([waking for waking in wakings if waking.kind == kind]) for kind in kinds]
        if not any(of_stage):
            says = {entry.name: manifests[entry.use].may_emit for entry in cast}
            of_stage = [_closed_circle(wakings, says)]
        loops += [loop for loop in of_stage if loop]
    return loops


def _wakings(cast: Iterable[CastEntry], manifests: Mapping[str, Manifest]) -> list[Waking]:
    """Who wakes whom: by a line that the other hears and subscribes to, or by a wire without a condition."""
    members = [(entry, manifests[entry.use]) for entry in cast]
    wakings: list[Waking] = []
    for speaker, manifest in members:
        wired = {wire.to for wire in speaker.wires if wire.when is None}
        for listener, other in members:
            if listener is speaker or other.played_by == "visitor":
                continue
            for kind in manifest.may_emit:
                is_heard = kind in other.subscribes_to and _hears(listener, speaker)
                if is_heard or listener.name in wired:
                    wakings.append(Waking(speaker.name, listener.name, kind))
    return wakings


def _hears(listener: CastEntry, speaker: CastEntry) -> bool:
    """Whether one listens where the other speaks. The entries of a stage have their channels filled in."""
    assert listener.channels is not None
    assert speaker.channels is not None
    return not set(listener.channels.listen).isdisjoint(speaker.channels.send)


def _loop(wakings: list[Waking]) -> list[Waking]:
    """The wakings between creatures that wake others and are woken; those that only begin or end a chain drop out."""
    while True:
        inside = {waking.who for waking in wakings} & {waking.whom for waking in wakings}
        kept = [waking for waking in wakings if waking.who in inside and waking.whom in inside]
        if len(kept) == len(wakings):
            return kept
        wakings = kept


def _closed_circle(wakings: list[Waking], says: Mapping[str, Iterable[str]]) -> list[Waking]:
    """The wakings between creatures of which every line wakes another of them."""
    while True:
        waking_kinds = {(waking.who, waking.kind) for waking in wakings}
        closed = {
            who for who, may_emit in says.items() if all((who, kind) in waking_kinds for kind in may_emit)
        }
        kept = _loop([waking for waking in wakings if waking.who in closed and waking.whom in closed])
        if len(kept) == len(wakings):
            return kept
        wakings = kept
