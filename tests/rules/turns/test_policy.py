"""Policy: what privileged creatures may do with tools, judged over the folds alone."""

import msgspec
import pytest

from glasshouse.events.event import Json
from glasshouse.events.payloads import RunStarted, ToolReturned
from glasshouse.manifests.opening import opening_of
from glasshouse.turns.runs.policy import (
    is_hidden,
    is_protected,
    refusal_of_birth,
    refusal_of_edit,
    refusal_to_touch,
)
from glasshouse.world.decisions.intents import CallTool, FollowCall, LeaveChannel, Spawn, StartTurn
from tests.rules.turns.houses_by_hand import House, member, opening
from tests.runtime.stage_crew import hearing, world_of

BORN: Json = hearing("mapper").as_json()


def house_of(
    *names: str, run_id: str = "r-1", house: House | None = None, is_apart: bool = False, **policy: object
) -> House:
    """A run whose first creature is privileged, under a policy."""
    made = house or House()
    intent = opening(run_id, *map(member, names))
    scenario: Json = {"name": "w", "policy": policy}
    started = msgspec.structs.replace(
        intent.started, scenario=scenario, spawnable={"mapper": BORN}, is_apart=is_apart
    )
    made.do(msgspec.structs.replace(intent, started=started))
    made.grant(names[0])
    return made


def edit(house: House, name: str, *, is_edit: bool = True) -> None:
    """Let a creature call a tool that changed something."""
    cause = house.ledger[0].id
    (called,) = house.do(CallTool(name, cause, "group_wire", {}, 1)).events
    house.do(
        FollowCall(name, called.id, ToolReturned("group_wire", 1, is_ok=True, text="done", is_edit=is_edit))
    )


def edits_left(house: House, name: str) -> bool:
    return refusal_of_edit(house.runs, house.creature(name)) is None


def test_edits_are_counted_in_a_turn_of_a_graph_and_looking_is_none() -> None:
    house = house_of("ada", "bo", edits_per_turn_max=1)

    edit(house, "ada", is_edit=False)
    before = edits_left(house, "ada")
    edit(house, "ada")
    after = edits_left(house, "ada")
    house.do(StartTurn(house.creature("ada").graph_id, 1))

    assert (before, after, edits_left(house, "ada")) == (True, False, True)


def test_a_split_gives_both_sides_what_was_counted_and_a_merge_adds_what_each_did_since() -> None:
    house = house_of("ada", "bo", edits_per_turn_max=2)
    edit(house, "ada")

    house.do(LeaveChannel("bo", "stage"))
    edit(house, "ada")
    counts = [house.runs.edits_in_turn("r-1", house.creature(name).graph_id) for name in ("ada", "bo")]
    house.connect("ada", "bo", both=True)

    assert counts == [2, 1]
    assert house.runs.edits_in_turn("r-1", house.creature("ada").graph_id) == 2
    assert not edits_left(house, "ada")


@pytest.mark.parametrize(
    ("most", "words"),
    [
        (0, "The policy of this run allows no changes by tools. Say what you need instead."),
        (1, "The one change that this turn allows is made. Wait for the next turn."),
        (2, "All 2 changes that this turn allows are made. Wait for the next turn."),
    ],
)
def test_a_refusal_of_edits_says_what_to_wait_for(most: int, words: str) -> None:
    house = house_of("ada", "bo", edits_per_turn_max=most)
    for _ in range(most):
        edit(house, "ada")

    assert str(refusal_of_edit(house.runs, house.creature("ada"))) == words


def test_the_population_is_that_of_the_run_wherever_its_creatures_are() -> None:
    house = house_of("ada", "bo", population_max=3)
    house_of("cy", "dee", run_id="r-2", house=house)
    house.connect("ada", "cy", both=True)

    free = refusal_of_birth(house.world, house.runs, house.creature("ada"))
    house.do(Spawn("ada", "mapper", BORN))
    house.do(LeaveChannel("bo", "stage"))
    full = refusal_of_birth(house.world, house.runs, house.creature("ada"))
    house.remove("bo")
    again = refusal_of_birth(house.world, house.runs, house.creature("ada"))

    assert (free, again) == (None, None)
    assert "There are 3 creatures, and the policy allows 3." in str(full)


def test_a_creature_is_protected_by_its_own_run_and_by_the_handle_it_began_with() -> None:
    house = house_of("ada", "bo", protected=["bo"])
    other = house_of("cy", "bo", run_id="r-2", house=house)
    house.connect("ada", "cy", both=True)
    renamed = house.creature("bo~2")

    assert renamed.handle == "bo~2"
    assert is_protected(house.runs, house.creature("bo"))
    assert not is_protected(other.runs, renamed)
    assert refusal_to_touch(house.runs, house.creature("cy"), house.creature("bo"), "removed") is not None
    assert refusal_to_touch(house.runs, house.creature("cy"), renamed, "removed") is None


def test_the_privileged_are_touched_by_no_tool_save_that_they_may_leave_by_themselves() -> None:
    house = house_of("ada", "bo")
    ada = house.creature("ada")

    refused = [
        refusal_to_touch(house.runs, house.creature("bo"), ada, deed) is not None
        for deed in ("removed", "stopped", "started", "taken off a channel")
    ]

    assert refused == [True] * 4
    assert refusal_to_touch(house.runs, ada, ada, "taken off a channel") is None
    assert refusal_to_touch(house.runs, ada, ada, "removed") is not None


def test_a_graph_hides_while_a_creature_of_a_hiding_run_is_in_it() -> None:
    house = house_of("ada", "bo", hidden=True)
    house_of("cy", "dee", run_id="r-2", house=house)

    def hidden(name: str) -> bool:
        graph = house.world.graphs[house.creature(name).graph_id]
        return is_hidden(house.world, house.runs, house.creature("ada"), graph)

    before = hidden("ada"), hidden("cy")
    house.connect("ada", "cy", both=True)

    assert before == (True, False)
    assert hidden("cy")


def test_runs_that_are_played_apart_see_no_other_run_and_are_seen_by_none() -> None:
    house = house_of("ada", "bo")
    house_of("cy", run_id="r-2", house=house, is_apart=True)
    house_of("dee", run_id="r-3", house=house, is_apart=True)

    def sees(name: str, other: str) -> bool:
        graph = house.world.graphs[house.creature(other).graph_id]
        return not is_hidden(house.world, house.runs, house.creature(name), graph)

    assert sees("cy", "cy")
    assert sees("ada", "bo")
    seen = [sees(*pair) for pair in (("cy", "dee"), ("dee", "cy"), ("cy", "ada"), ("ada", "cy"))]
    assert seen == [False] * 4


def test_what_may_be_born_is_told_in_run_started_and_left_out_where_nothing_may() -> None:
    lead, mapper = hearing("lead"), hearing("mapper", model_profile="tiny")
    some = opening_of(
        world_of(lead, mapper, cast=["lead"], spawnable=["mapper"]), run_id="r-1", seed=None, rng_seed=0
    )
    none = opening_of(world_of(lead), run_id="r-1", seed=None, rng_seed=0)

    started = msgspec.to_builtins(some.started)

    assert started["spawnable"] == {"mapper": mapper.as_json()}
    assert msgspec.convert(started, RunStarted) == some.started
    assert "spawnable" not in msgspec.to_builtins(none.started)
