"""Runs: purses, clocks and endings, folded from the ledger. No merge and no split mints or burns anything."""

import random
from datetime import timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Draft, Json
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.events.payloads import Governor
from glasshouse.model_values import Tokens
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folds import fold
from glasshouse.turns.runs.purses import carried_run
from glasshouse.world.decisions.intents import EndAct, RemoveChannel
from glasshouse.world.fold.evolve import begin
from tests.rules.turns.houses_by_hand import House, member, opening

LIMITS = {
    "r-1": Governor(max_total_calls=40, max_total_tokens=9_000),
    "r-2": Governor(max_total_calls=7, hourly_budget_usd=2.0),
}


def asked(*calls: tuple[int, float | None], unreached: int = 0) -> ModelUse:
    """How the record of an act tells of its calls: tokens and money of each; some may have reached nobody."""
    answered = [Call("m", "d", "d", 1, "{}", usage=Tokens(tokens, 1), usd=usd) for tokens, usd in calls]
    missed = [Call("m", "d", "d", 1, reached=False)] * unreached
    return ModelUse("fast", calls=(*missed, *answered))


def act(
    house: House, name: str, model: ModelUse | None = None, *, kind: str | None = kinds.AGENT_SPOKE
) -> None:
    """Let a creature end an act for the last thing that happened in its graph."""
    creature = house.creature(name)
    session = house.world.graphs[creature.graph_id].session_id
    cause = f"{session}.{house.world.sessions[session].head}"
    draft = None if kind is None else Draft(kind=kind, payload={"text": "hm"})
    house.do(EndAct(name, cause, session, draft, run_id=creature.run_id, model=model))


def two_runs() -> House:
    house = House()
    for run_id, names in (("r-1", ("ada", "bo", "cy")), ("r-2", ("dee", "eve"))):
        intent = opening(run_id, *map(member, names))
        house.do(type(intent)(run_id, type(intent.started)(limits=LIMITS[run_id]), intent.troupes))
    return house


def test_an_act_costs_its_run_what_its_calls_cost_and_one_without_a_model_counts_as_one() -> None:
    house = two_runs()

    act(house, "ada", asked((100, 0.5), (200, 0.25)))
    act(house, "bo")
    act(house, "bo", kind=None)
    act(house, "cy", asked((50, None), unreached=2))

    usage = house.runs.purses["r-1"].spent.usage
    assert (usage.calls, usage.tokens, usage.usd_known, usage.is_unpriced) == (5, 353, 0.75, True)
    assert house.runs.purses["r-2"].spent.usage.calls == 0


def test_attempts_that_reached_nobody_are_free_and_the_act_counts_as_one() -> None:
    house = two_runs()

    act(house, "ada", asked(unreached=3), kind=None)
    act(house, "ada", asked((5, 0.0), unreached=2))

    spent = house.runs.purses["r-1"].spent
    assert (spent.usage.calls, spent.usage.tokens) == (2, 6)


def test_the_cost_of_an_act_whose_creature_is_gone_is_its_runs_still() -> None:
    house = two_runs()
    session = house.session_of("dee")
    cause = f"{session}.1"
    house.remove("dee")
    house.remove("eve")

    events = house.do(EndAct("dee", cause, session, run_id="r-2", model=asked((10, 0.1)))).events

    assert [(event.kind, event.run_id, event.session_id) for event in events] == [
        (kinds.ACT_DISCARDED, "r-2", house.world.runs["r-2"].session_id)
    ]
    assert house.runs.purses["r-2"].spent.usage.calls == 1


def test_money_leaves_the_hour_it_was_spent_in() -> None:
    house = two_runs()
    act(house, "dee", asked((1, 0.5)))
    spent_at = house.ledger[-1].created_at
    spent = house.runs.purses["r-2"].spent

    amounts = [spent.usd_since(spent_at + timedelta(minutes=minutes)) for minutes in (0, 59, 62, 600)]

    assert amounts == [0.5, 0.5, 0.0, 0.0]
    assert spent.usage.usd == 0.5


def test_calls_of_a_turn_are_counted_for_each_graph_and_forgotten_with_the_next_turn() -> None:
    house = two_runs()
    house.add("fay", run_id="r-1")
    house.inject(house.graph_of("ada"))
    house.inject(house.graph_of("fay"))
    here, there = house.graph_of("ada"), house.graph_of("fay")
    now = house.ledger[-1].created_at
    act(house, "ada", asked((1, 0.0), (1, 0.0)))
    act(house, "fay")

    assert [house.runs.spend("r-1", graph, now).calls_in_turn for graph in (here, there)] == [2, 1]
    house.say("bo", channel="stage")
    house.turn(here)
    assert [house.runs.spend("r-1", graph, now).calls_in_turn for graph in (here, there)] == [0, 1]
    house.connect("ada", "fay")
    assert house.runs.spend("r-1", house.graph_of("ada"), now).calls_in_turn == 1


def test_turns_are_counted_along_each_graphs_line() -> None:
    house = House()
    for run_id, name in (("r-1", "ada"), ("r-2", "bo")):
        house.tick(name, run_id=run_id)
        house.begin_run(run_id, house.graph_of(name))
    for _ in range(3):
        house.play_turn(house.graph_of("ada"))
    house.play_turn(house.graph_of("bo"))

    house.connect("ada", "bo", both=True)
    house.play_turn(house.graph_of("ada"))
    assert [house.runs.purses[run].spent.turns for run in ("r-1", "r-2")] == [4, 2]
    house.disconnect("ada", "bo")
    house.disconnect("bo", "ada")
    house.play_turn(house.graph_of("bo"))

    assert [house.runs.purses[run].spent.turns for run in ("r-1", "r-2")] == [4, 3]
    assert [
        house.runs.turns_of(run, house.graph_of(name)) for run, name in (("r-1", "ada"), ("r-2", "bo"))
    ] == [4, 3]


def test_graphs_that_part_and_meet_again_in_one_turn_count_what_was_before_once() -> None:
    house = two_runs()
    house.connect("ada", "bo", both=True)
    house.play_turn(house.graph_of("ada"))
    for _ in range(3):
        act(house, "ada")

    for _ in range(2):
        _part(house, "ada", "bo")
        _part(house, "bo", "cy")
        _part(house, "ada", "cy")
        assert len({house.graph_of(name) for name in ("ada", "bo", "cy")}) == 3
        act(house, "ada")
        act(house, "bo")
        house.connect("ada", "cy", both=True)
        house.connect("cy", "bo", both=True)

    clocks = house.runs.clocks[house.graph_of("ada")]
    assert clocks.calls == {"r-1": 3 + 2 * 2}
    _assert_folds_again(house)


def _part(house: House, first: str, second: str) -> None:
    """Take away every channel that two share."""
    for channel in list(house.world.topology.channels_of.get(first, ())):
        if channel in house.world.topology.channels_of.get(second, ()):
            house.do(RemoveChannel(house.graph_of(first), channel))


def totals(house: House) -> tuple[object, ...]:
    purses = house.runs.purses.values()
    return (
        [purse.limits for purse in purses],
        sum(purse.spent.usage.calls for purse in purses),
        sum(purse.spent.usage.tokens for purse in purses),
        round(sum(purse.spent.usage.usd_known for purse in purses), 6),
    )


@given(st.integers(0, 10**9))
def test_no_birth_merge_or_split_changes_the_sum_of_limits_and_spend(seed: int) -> None:
    dice, house = random.Random(seed), two_runs()
    spent = {run_id: [0, 0, 0.0] for run_id in LIMITS}
    for _ in range(80):
        alive = list(house.world.creatures)
        first, other = dice.choice(alive), dice.choice(alive)
        before = totals(house)
        choice = dice.randrange(7)
        try:
            if choice == 0:
                house.add(
                    "kid", run_id=house.creature(first).run_id, parent=first, graph=house.graph_of(other)
                )
            elif choice == 1:
                house.connect(first, other, both=True)
            elif choice in (2, 3):
                house.disconnect(first, other)
            elif choice == 4 and len(alive) > 3:
                house.remove(first)
            else:
                tokens, usd = dice.randrange(50), dice.choice((0.0, 0.125))
                act(house, first, asked((tokens, usd)))
                of_run = spent[house.creature(first).run_id or ""]
                of_run[0] += 1
                of_run[1] += tokens + 1
                of_run[2] += usd
                continue
        except Refused:
            pass
        assert totals(house) == before

    for run_id, purse in house.runs.purses.items():
        assert [purse.spent.usage.calls, purse.spent.usage.tokens, purse.spent.usage.usd] == spent[run_id]
        assert purse.limits == LIMITS[run_id]
    _assert_folds_again(house)


def _assert_folds_again(house: House) -> None:
    again = Folded()
    for event in house.ledger:
        if event.session_id not in again.world.sessions:
            begin(again.world, house.world.sessions[event.session_id].segment)
        fold(again, event)
    assert again.runs == house.runs
    assert again.tables == house.tables


def test_what_ends_a_run_is_counted_in_its_own_events_alone() -> None:
    house = House()
    for run_id, name in (("r-1", "ada"), ("r-2", "bo")):
        intent = opening(run_id, member(name))
        scenario: Json = {"name": run_id, "ends_when": {"kind": "agent.spoke", "count": 2}}
        house.do(type(intent)(run_id, type(intent.started)(scenario=scenario), intent.troupes))
    house.connect("ada", "bo", "both", both=True)

    for name in ("ada", "bo", "ada"):
        house.say(name, channel="both")

    assert [purse.has_come_to_its_end for purse in house.runs.purses.values()] == [True, False]
    assert list(house.runs.watched) == ["r-1"]
    house.finish_run("r-1")
    assert list(house.runs.watched) == []


def test_what_a_branch_carries_of_a_purse_is_stored_as_one_object() -> None:
    house = two_runs()
    act(house, "ada", asked((100, 0.5), (20, None)))
    purse = house.runs.purses["r-1"]
    began = purse.started_at or house.ledger[0].created_at

    carried = msgspec.to_builtins(carried_run(purse, began + timedelta(seconds=90), is_over=False))

    minute = int(house.ledger[-1].created_at.timestamp() // 60)
    assert list(carried.pop("accounts")) == ["ada", "bo", "cy"]
    assert list(carried.items()) == [
        ("seconds", 90.0),
        ("usage", {"calls": 2, "tokens": 122, "usd_known": 0.5, "is_unpriced": True}),
        ("minutes", [{"minute": minute, "usd": 0.5}]),
    ]
    assert purse.spent.seconds == 0.0
