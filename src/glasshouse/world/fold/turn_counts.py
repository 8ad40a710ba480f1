"""How many turns each run has played along the line of a graph (ADR 0023).

Always holds: a split gives both graphs the counts so far, and a merge keeps the larger count of each run. So turns that
two graphs shared count once after they merge again. The purses and the page count by these functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol


class TurnClock(Protocol):
    """The turn of a graph, and how many turns each run has played along its line."""

    turn: int
    turns: dict[str, int]


def count_turn(clock: TurnClock, turn: int, run_ids: Iterable[str]) -> None:
    """Begin a turn of a graph, and count it for these runs, with those that the clock has not counted."""
    passed = turn - clock.turn
    clock.turn = turn
    turns = clock.turns
    for run_id in run_ids:
        turns[run_id] = turns.get(run_id, 0) + passed


def merged_turn(clocks: Collection[TurnClock]) -> int:
    """The turn of a graph that these graphs merged into: the latest of theirs."""
    return max([clock.turn for clock in clocks], default=0)


def merged_counts(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The counts of a graph that others merged into, from theirs: the larger count of each run."""
    larger: dict[str, int] = {}
    for counts in parts:
        for run_id, count in counts.items():
            larger[run_id] = max(count, larger.get(run_id, 0))
    return larger
