"""Turns are counted along the line of a graph, once each, however often graphs split and merge."""

from __future__ import annotations

from copy import deepcopy

import pytest

from glasshouse.turns.runs.purses import Clocks
from glasshouse.views.page_state import Clock
from glasshouse.world.fold.turn_counts import count_turn, merged_counts, merged_turn

AnyClock = Clock | Clocks


def test_a_turn_counts_for_the_runs_that_play_with_those_not_counted_yet() -> None:
    clock = Clock(turn=3, turns={"wood": 2})

    count_turn(clock, 5, ["wood", "case"])

    assert clock == Clock(turn=5, turns={"wood": 4, "case": 2})


def test_a_run_that_does_not_play_keeps_its_count() -> None:
    clock = Clock(turn=3, turns={"wood": 2})

    count_turn(clock, 4, [])

    assert clock == Clock(turn=4, turns={"wood": 2})


@pytest.mark.parametrize("kind", [Clock, Clocks])
def test_turns_that_two_graphs_shared_count_once_after_they_merge_again(kind: type[AnyClock]) -> None:
    here = kind(turn=0)
    count_turn(here, 1, ["wood"])
    count_turn(here, 2, ["wood"])
    there = deepcopy(here)
    count_turn(here, 3, ["wood"])
    for turn in (3, 4, 5):
        count_turn(there, turn, ["wood", "case"])

    again = kind(turn=merged_turn([here, there]), turns=merged_counts([here.turns, there.turns]))
    count_turn(again, 6, ["wood", "case"])

    assert (again.turn, again.turns) == (6, {"wood": 6, "case": 4})


def test_graphs_that_never_had_a_turn_merge_into_one_at_turn_zero() -> None:
    assert merged_turn([]) == 0
    assert merged_counts([]) == {}
