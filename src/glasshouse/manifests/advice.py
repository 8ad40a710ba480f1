"""What may surprise whoever plays a sound world. Each is a warning: the world can be played as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from glasshouse.manifests.loops import loops_in
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import Complaint
from glasshouse.manifests.scenario import Scenario

turns_examined_max: Final = 10_000
"""`check` examines this many turns for more ticks than calls allowed."""
wakings_shown_max: Final = 3
"""Of a loop, `check` tells so many times who wakes whom, then how many more."""

_CALLS_PER_TURN = ("governor", "max_calls_per_turn")


def advice_on(scenario: Scenario, manifests: Mapping[str, Manifest]) -> Iterator[Complaint]:
    """Everything that may surprise whoever plays this world."""
    yield from limits_too_small(scenario, manifests)
    yield from ticks_that_come_late(scenario, manifests)
    yield from talk_without_end(scenario, manifests)


def limits_too_small(scenario: Scenario, manifests: Mapping[str, Manifest]) -> Iterator[Complaint]:
    """Limits that cannot hold one round of the cast.

    In a round, every creature that a model plays is asked once, and once more if it has tools.
    """
    casts = [[manifests[entry.use] for entry in stage.cast] for stage in scenario.stages.values()]
    asked = [sum(1 + bool(member.tools) for member in cast if member.played_by is None) for cast in casts]
    in_turn = max(asked) if scenario.governor.on_turn_limit == "finish" else 0
    limits = scenario.limits
    for axis, needed in (("max_calls_per_turn", in_turn), ("max_total_calls", sum(asked))):
        limit = getattr(limits, axis)
        if limit < needed:
            text = f"one round of the cast takes {needed} calls, but only {limit} are allowed. The run would end early."
            yield Complaint(("governor", axis), f"{text} Write {axis}: {needed} or more.")


def ticks_that_come_late(scenario: Scenario, manifests: Mapping[str, Manifest]) -> Iterator[Complaint]:
    """A turn in which more creatures tick than a full turn keeps calls for: half of its calls."""
    limit = _calls_per_turn(scenario)
    if scenario.governor.on_turn_limit == "finish":
        return
    kept = max(1, limit // 2)
    for turn, due in turns_with_more_ticks(scenario, manifests, kept):
        text = f"in turn {turn}, {due} creatures tick. A full turn of {limit} calls keeps {kept} for ticks, so the others tick later."
        yield Complaint(_CALLS_PER_TURN, f"{text} Write max_calls_per_turn: {2 * due} or more.")


def talk_without_end(scenario: Scenario, manifests: Mapping[str, Manifest]) -> Iterator[Complaint]:
    """Creatures that wake each other again and again, so that every turn is full."""
    limit = _calls_per_turn(scenario)
    for wakings in loops_in(scenario, manifests):
        shown = [
            f"{waking.who} wakes {waking.whom} by {waking.kind}" for waking in wakings[:wakings_shown_max]
        ]
        more = f", and {len(wakings) - len(shown)} more" if len(wakings) > len(shown) else ""
        if scenario.governor.on_turn_limit == "finish":
            cost = f"the run ends in the first turn that takes {limit} calls"
        else:
            cost = f"each turn takes its {limit} calls (max_calls_per_turn), and the run its whole budget"
        ways_out = (
            "Two ways out: let one of them tick (schedule: {tick_every: 1}) instead of hearing that kind, "
            "or let it answer in a kind that the other does not hear (may_emit)."
        )
        at = ("troupes",) if scenario.troupes else ("cast",)
        yield Complaint(at, f"{', '.join(shown)}{more}: nothing ends this by itself, so {cost}. {ways_out}")


def turns_with_more_ticks(
    scenario: Scenario, manifests: Mapping[str, Manifest], most: int
) -> Iterator[tuple[int, int]]:
    """For each cast, its first turn in which more creatures tick than this, and how many do. A visitor calls no model."""
    for stage in scenario.stages.values():
        members = [manifests[entry.use] for entry in stage.cast if entry.use in manifests]
        ticks = [member.schedule.tick_every for member in members if member.played_by != "visitor"]
        intervals = [every for every in ticks if every is not None]
        turns = min(scenario.governor.max_turns, turns_examined_max) if len(intervals) > most else 0
        for turn in range(1, turns + 1):
            due = sum(turn % every == 0 for every in intervals)
            if due > most:
                yield turn, due
                break


def _calls_per_turn(scenario: Scenario) -> int:
    limit = scenario.limits.max_calls_per_turn
    assert isinstance(limit, int), "a scenario has a limit of calls per turn"
    return limit
