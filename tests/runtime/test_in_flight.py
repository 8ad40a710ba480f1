"""The table of an act's states: every state is reached and left, unknown moves raise, and what is kept is bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from glasshouse.errors import EngineFault
from glasshouse.runtime.acts import in_flight
from glasshouse.runtime.acts.act_calls import UnrecordedCalls
from glasshouse.runtime.acts.in_flight import CALLS, STATES, TABLE, Calls, Cause, InFlight, State
from glasshouse.runtime.acts.reservations import Reservation
from glasshouse.terrarium import Terrarium
from tests.runtime.stage_crew import on_stage, ticking, world_of

OVER: tuple[State, ...] = ("discarded", "ended")
KEPT: tuple[State, ...] = ("stopped", "interrupted", "refused")
PLAYED: tuple[State, ...] = ("taken", "given up")


def reached_from(first: State) -> set[State]:
    reached: set[State] = {first}
    while more := {move.state for (state, _), move in TABLE.items() if state in reached} - reached:
        reached |= more
    return reached


def test_the_states_the_causes_and_the_words_of_the_page_are_the_same() -> None:
    assert tuple(STATES) == get_args(State)
    assert tuple(CALLS) == get_args(Calls)
    assert {cause for _, cause in TABLE} == {*get_args(Cause)}


def test_every_state_is_reached_and_every_act_can_come_to_its_end() -> None:
    assert reached_from("owed") == {*STATES}
    for state in STATES:
        assert state in OVER or "ended" in reached_from(state), state
    assert [pair for pair in TABLE if pair[0] in OVER] == []


@pytest.mark.parametrize("state", KEPT)
def test_calls_that_are_kept_can_be_taken_up_written_or_handed_on_from_each_state_that_keeps_them(
    state: State,
) -> None:
    moves = {cause: move.state for (before, cause), move in TABLE.items() if before == state}

    assert moves | {"pause": "owed"} == {
        "begin": "begun",
        "take": "taken",
        "give up": "given up",
        "hand on": "discarded",
        "crowd out": "owed",
        "pause": "owed",
    }
    assert all(move.calls == "kept" for move in TABLE.values() if move.state == state)


def test_calls_are_dropped_only_where_they_are_durable_or_there_are_none_to_record() -> None:
    dropping = {pair for pair, move in TABLE.items() if move.calls == "dropped"}

    assert {cause for _, cause in dropping} == {"durable", "discard", "crowd out"}


@pytest.mark.parametrize("state", PLAYED)
def test_whoever_plays_an_act_can_always_leave_it(state: State) -> None:
    assert {(state, "interrupt"), (state, "staged"), (state, "discard"), (state, "put back")} <= TABLE.keys()


def unknown_pairs() -> Iterator[tuple[State, Cause]]:
    for state in get_args(State):
        yield from [(state, cause) for cause in get_args(Cause) if (state, cause) not in TABLE]


async def test_a_move_that_no_rule_names_raises_and_changes_nothing() -> None:
    async with on_stage() as t:
        acts = t._parts.conductor._in_flight
        for state, cause in unknown_pairs():
            record = InFlight(("ada", "s-1.1"), "r-1", state)

            with pytest.raises(EngineFault, match="no rule says"):
                acts._move(record, cause)

            assert record.state == state
        assert (acts.ahead, acts.taken, acts.kept) == ({}, {}, {})


def interrupt_with_calls(t: Terrarium, name: str) -> None:
    """Let an act be interrupted that has something to keep."""
    acts = t._parts.conductor._in_flight
    record = acts.take((name, "s-1.1"), "r-1")
    mine = Reservation("r-1", name, "g-1")
    t._parts.model_access.reservations.begin(mine)
    record.kept = UnrecordedCalls([], [], [], mine)
    acts.interrupt(record)


async def test_calls_of_a_bounded_number_of_acts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "acts_kept_max", 2)
    async with on_stage() as t:
        await t.open_world(world_of(ticking("ada")))
        for name in ("first", "second", "third"):
            interrupt_with_calls(t, name)

        acts = t._parts.conductor._in_flight
        assert [name for name, _ in acts.kept] == ["second", "third"]
        held = t._parts.model_access.reservations._acts["r-1"]
        assert [mine.creature_id for mine in held] == ["second", "third"]
        acts.kept.clear()
