"""Whose turn it is: reactions before ticks, by cause and age; turns in which nothing is due are passed over."""

import random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.payloads import RunContinued, RunPaused
from glasshouse.turns.runs.agenda import Agenda, members_of
from glasshouse.turns.runs.schedule import next_act, next_turn, ticks_left
from glasshouse.world.decisions.intents import MoveRun
from tests.rules.turns.houses_by_hand import House, member, opening, random_step


def stage(*, ticking: dict[str, int], hearing: tuple[str, ...] = ()) -> tuple[House, str]:
    """Creatures at one table: some that tick, some that answer the visitor; and their graph."""
    house = House()
    for name, every in ticking.items():
        house.tick(name, every)
    for name in hearing:
        house.add(name, hears=[kinds.USER_INJECTED])
    names = list(house.world.creatures)
    for name in names[1:]:
        house.connect(names[0], name, "stage", both=True)
    return house, house.graph_of(names[0])


def test_before_its_first_turn_nothing_of_a_graph_is_due() -> None:
    house, graph = stage(ticking={"ada": 1}, hearing=("bo",))
    house.inject(graph)

    assert house.due(graph) is None
    assert house.turn(graph) == 1
    assert house.due(graph) is not None


def test_reactions_come_before_ticks_and_ticks_in_the_order_of_the_cast() -> None:
    house, graph = stage(ticking={"ada": 1, "bo": 1}, hearing=("cy", "dee"))
    house.inject(graph, "one")
    house.inject(graph, "two")

    assert house.play_turn(graph) == ["cy", "dee", "cy", "dee", "ada", "bo"]


def test_the_next_turn_is_the_first_in_which_anything_is_due() -> None:
    house, graph = stage(ticking={"ada": 3, "bo": 5})

    turns = []
    for _ in range(6):
        turns.append(house.turn(graph))
        while (due := house.due(graph)) is not None:
            house.act(due)

    assert turns == [3, 5, 6, 9, 10, 12]


def test_something_owed_makes_the_very_next_turn_due() -> None:
    house, graph = stage(ticking={"ada": 10}, hearing=("bo",))
    house.play_turn(graph)

    house.inject(graph)

    assert house.turn(graph) == 11


def test_nothing_is_ever_due_where_nobody_ticks_and_nothing_is_owed() -> None:
    house, graph = stage(ticking={}, hearing=("ada", "bo"))

    assert house.turn(graph) is None


def test_what_is_left_of_a_turn_is_told_by_the_folds_alone() -> None:
    house, graph = stage(ticking={"ada": 1, "bo": 1, "cy": 1})
    house.turn(graph)
    left = []

    while (due := house.due(graph)) is not None:
        left.append(
            [
                tick.creature
                for tick in ticks_left(house.world, house.agenda, house.world.graphs[graph], house.runs)
            ]
        )
        house.act(due)

    assert left == [["ada", "bo", "cy"], ["bo", "cy"], ["cy"]]


def test_who_rests_or_whose_run_pauses_is_passed_over_and_comes_back() -> None:
    house = House()
    house.do(opening("r-1", member("ada")))
    house.tick("bo", run_id="r-1", graph=house.graph_of("ada"))
    house.tick("cy", graph=house.graph_of("ada"))
    graph = house.graph_of("ada")
    house.turn(graph)

    house.do(MoveRun("r-1", RunPaused("a while")))
    assert [house.due(graph).creature] == ["cy"]  # type: ignore[union-attr]
    house.stop("cy")
    assert house.due(graph) is None
    assert next_turn(house.world, house.agenda, house.runs, house.world.graphs[graph]) is None
    house.do(MoveRun("r-1", RunContinued()))
    assert [house.due(graph).creature] == ["bo"]  # type: ignore[union-attr]
    house.start("cy")

    acted = []
    while (due := house.due(graph)) is not None:
        acted.append(due.creature)
        house.act(due)
    assert acted == ["bo", "cy"]


def test_creatures_of_a_finished_run_owe_nothing_and_the_others_go_on() -> None:
    house = House()
    house.do(opening("r-1", member("ada")))
    graph = house.graph_of("ada")
    house.tick("bo", run_id="r-1", graph=graph)
    house.tick("cy", graph=graph)
    house.turn(graph)

    house.finish_run("r-1")

    assert house.due(graph).creature == "cy"  # type: ignore[union-attr]
    assert set(house.agenda.owed) | set(house.agenda.ticks) <= {"cy"}
    assert house.play_turn(graph) == ["cy"]


def test_a_merge_takes_the_larger_clock_and_both_agendas() -> None:
    house = House()
    for name in ("ada", "bo"):
        house.tick(name)
    for _ in range(4):
        house.play_turn(house.graph_of("ada"))
    house.turn(house.graph_of("bo"))

    house.connect("ada", "bo", both=True)

    graph = house.world.graphs[house.graph_of("bo")]
    assert graph.turn == 4
    due = house.due(graph.id)
    assert due is not None
    assert due.creature == "bo"
    house.act(due)
    assert house.play_turn(graph.id) == ["ada", "bo"]
    assert graph.turn == 5


def test_each_side_of_a_split_keeps_the_clock_and_its_own_agenda() -> None:
    house, graph = stage(ticking={"ada": 1, "bo": 1})
    house.play_turn(graph)
    house.turn(graph)

    house.disconnect("ada", "bo")
    house.disconnect("bo", "ada")

    graphs = [house.world.graphs[house.graph_of(name)] for name in ("ada", "bo")]
    assert graphs[0].id != graphs[1].id
    assert [state.turn for state in graphs] == [2, 2]
    assert [house.due(state.id).creature for state in graphs] == ["ada", "bo"]  # type: ignore[union-attr]


@given(st.integers(0, 2**32))
def test_whose_act_is_next_is_the_same_when_the_queue_was_kept_up_and_when_it_is_made_anew(seed: int) -> None:
    house, dice = House(), random.Random(seed)
    for name in ("ada", "bo"):
        house.tick(name, dice.randrange(1, 3))
    for _ in range(60):
        random_step(house, dice)
        graph = dice.choice(list(house.world.graphs))
        due = house.due(graph)
        if due is not None and dice.random() < 0.7:
            house.act(due)
        elif due is None and dice.random() < 0.7:
            house.turn(graph)

        anew = msgspec.msgpack.decode(msgspec.msgpack.encode(house.agenda), type=Agenda)

        for state in house.world.graphs.values():
            assert house.due(state.id) == next_act(house.world, anew, state, house.runs)
        kept = [members_of(house.world, state) for state in house.world.graphs.values()]
        house.world.shape_cache.clear()
        assert kept == [members_of(house.world, state) for state in house.world.graphs.values()]
