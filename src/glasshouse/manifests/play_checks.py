"""Cross checks of the play itself: kinds, turns, beats, opening and ending.

Always holds: each check yields what is wrong and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import Formatter

from glasshouse.events import kinds
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import At, Complaint, likely
from glasshouse.manifests.rehearsal import Rehearsal
from glasshouse.manifests.scenario import CORE_KINDS, FIELDS_OF_EVERY_REPLY, Troupe

turns_examined_max = 10_000

WRITTEN_BY_CREATURES = frozenset(
    {
        kinds.AGENT_SPOKE,
        kinds.AGENT_THOUGHT,
        kinds.AGENT_REFLECTED,
        kinds.AGENT_PASSED,
        kinds.JUDGE_VERDICT,
        kinds.WORLD_OBSERVED,
    }
)
"""The core kinds that an act may end in."""


def kinds_that_cannot_be(world: Rehearsal) -> Iterator[Complaint]:
    """Kinds of the engine declared anew, and fields that every reply has already."""
    for kind, fields in world.scenario.kinds.items():
        if kind in CORE_KINDS:
            words = "this kind is the engine's and has its fields. Choose another name."
            yield Complaint(("kinds", kind), words, at_key=True)
        for name in fields:
            if name in FIELDS_OF_EVERY_REPLY:
                words = f"every reply has a field {name!r} already. Choose another name."
                yield Complaint(("kinds", kind, name), words, at_key=True)


def kinds_undeclared(world: Rehearsal) -> Iterator[Complaint]:
    """Kinds that a creature writes or answers and that no scenario declares."""
    if "kinds" in world.hurt:
        return
    for name in world.used:
        if name in world.manifests:
            yield from _undeclared_by(name, world.manifests[name], world)


def _undeclared_by(name: str, manifest: Manifest, world: Rehearsal) -> Iterator[Complaint]:
    own = world.scenario.kinds
    for n, kind in enumerate(manifest.may_emit):
        if kind in CORE_KINDS - WRITTEN_BY_CREATURES:
            words = f"{kind} is written by the engine alone. Take it out."
            yield Complaint(("may_emit", n), words, creature=name)
        elif kind not in CORE_KINDS and kind not in own:
            words = _no_kind(kind, [*sorted(WRITTEN_BY_CREATURES), *own])
            yield Complaint(("may_emit", n), words, creature=name)
    for n, kind in enumerate(manifest.subscribes_to):
        if kind not in CORE_KINDS and kind not in own:
            yield Complaint(("subscribes_to", n), _no_kind(kind, [*sorted(CORE_KINDS), *own]), creature=name)


def _no_kind(kind: str, known: list[str]) -> str:
    advice = likely(kind, known)
    advice = advice if advice.startswith("Did") else "Declare it under 'kinds' of the scenario."
    return f"no kind is called {kind!r}. {advice}"


def ending_without_cause(world: Rehearsal) -> Iterator[Complaint]:
    """An ending by a kind of event that nobody may write."""
    ends = world.scenario.ends_when
    if ends is None or ends.kind is None or not world.manifests_are_whole or "spawnable" in world.hurt:
        return
    emitted = {kind for name in world.used for kind in world.manifests[name].may_emit}
    if ends.kind not in emitted | {kinds.USER_INJECTED, kinds.AGENT_PASSED}:
        words = f"nobody here may emit {ends.kind!r}. {likely(ends.kind, sorted(emitted))}"
        yield Complaint(("ends_when", "kind"), words)


def turns_too_full(world: Rehearsal) -> Iterator[Complaint]:
    """A turn in which more creatures are due by their ticks than may call a model."""
    governor = world.scenario.governor
    if governor.on_turn_limit == "defer" or "governor" in world.hurt:
        return
    for stage in world.scenario.stages.values():
        ticks = _ticks(stage, world)
        if len(ticks) <= governor.max_calls_per_turn:
            continue
        for turn in range(1, min(governor.max_turns, turns_examined_max) + 1):
            due = [name for name, every in ticks if turn % every == 0]
            if len(due) > governor.max_calls_per_turn:
                words = (
                    f"turn {turn} has {len(due)} creatures due by their ticks and room for"
                    f" {governor.max_calls_per_turn} calls. Write max_calls_per_turn: {len(due)} or more, or"
                    " on_turn_limit: defer."
                )
                yield Complaint(("governor", "max_calls_per_turn"), words)
                break


def _ticks(stage: Troupe, world: Rehearsal) -> list[tuple[str, int]]:
    """Who ticks, and how often. A visitor calls no model."""
    ticks = []
    for entry in stage.cast:
        manifest = world.manifests.get(entry.use)
        if manifest and manifest.schedule.tick_every and manifest.played_by != "visitor":
            ticks.append((entry.name, manifest.schedule.tick_every))
    return ticks


def beats_beyond_the_end(world: Rehearsal) -> Iterator[Complaint]:
    """Beats that no run can reach."""
    last = world.scenario.governor.max_turns
    for n, beat in enumerate(world.scenario.beats):
        if beat.turn > last and "governor" not in world.hurt:
            words = (
                f"the run ends at turn {last} (governor.max_turns), before this beat. Move one of the two."
            )
            yield Complaint(("beats", n, "turn"), words)


def opening_placeholders(world: Rehearsal) -> Iterator[Complaint]:
    """Placeholders of the opening that stand for nothing."""
    scenario = world.scenario
    yield from _misplaced(world, ("opening",), scenario.opening)
    for name, troupe in scenario.troupes.items():
        yield from _misplaced(world, ("troupes", name, "opening"), troupe.opening)


def _misplaced(world: Rehearsal, at: At, opening: str) -> Iterator[Complaint]:
    try:
        found = [part for part in Formatter().parse(opening) if part[1] is not None]
    except ValueError:
        yield Complaint(at, "a '{' or '}' stands alone. Only {seed} may be in braces.")
        return
    for _, name, spec, conversion in found:
        if name != "seed" or spec or conversion:
            yield Complaint(at, f"nothing is put in for {{{name}}}. Only {{seed}} is.")
    is_seeded = any(name == "seed" for _, name, _, _ in found)
    if is_seeded and not world.scenario.seeds and "seeds" not in world.hurt:
        yield Complaint(at, "there are no seeds to put in for {seed}. List one under 'seeds'.")
