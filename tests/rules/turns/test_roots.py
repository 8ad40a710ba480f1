"""Roots: one that hears every channel of its graph, by rule and without edges, through every change of the graph."""

import random

from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.turns.heard.recent_lines import Tables, heard_lines_max, line_heard_by
from glasshouse.world.hearing.hearing import visible_to
from glasshouse.world.state.topology import LISTEN
from tests.rules.turns.houses_by_hand import House, member, opening, random_step
from tests.rules.turns.prompts_by_hand import moment_in, prompt_in
from tests.rules.turns.test_recent_lines import heard, ids, seen_by_force
from tests.rules.worlds_by_hand import table


def two_troupes() -> House:
    """Two graphs, each with a root that is on its stage: heron with ada, and owl with bo."""
    house = House()
    house.do(opening("r-1", member("heron", is_root=True), member("ada")))
    house.do(opening("r-2", member("owl", is_root=True), member("bo")))
    return house


def told_apart(house: House) -> Event:
    """What ada says to a newcomer, on a channel that no root has an edge to."""
    house.add("cy", hears=())
    house.connect("ada", "cy", "den", both=True)
    return house.say("ada", "Between us.", channel="den")


def test_a_root_hears_a_channel_that_was_opened_later_without_an_edge_to_it() -> None:
    house = two_troupes()

    line = told_apart(house)

    assert line.channel_id is not None
    assert not house.world.topology.directions("heron", line.channel_id)
    assert visible_to(house.creature("heron"), line)
    assert not visible_to(house.creature("owl"), line)
    assert line.id in ids(heard(house, "heron"))
    assert house.owed("heron") == [line.id]
    assert "Between us." in prompt_in(house, "heron")


def test_a_root_hears_what_a_merge_brings_while_it_lasts_and_not_what_was_said_before_or_after() -> None:
    house = two_troupes()
    theirs = house.channel("bo", "stage").id
    before = house.say("bo", "Before.", channel="stage")
    house.connect("heron", "owl", "bridge", both=True)
    during = house.say("bo", "During.", channel=house.world.channels[theirs].name)
    parted = house.disconnect("heron", "owl", "bridge").change.kind
    parted = house.disconnect("owl", "heron", "bridge").change.kind if parted != "split" else parted
    after = house.say("bo", "After.", channel=house.world.channels[theirs].name)

    seen = [visible_to(house.creature("heron"), line) for line in (before, during, after)]

    assert parted == "split"
    assert seen == [False, True, False]
    assert ids(heard(house, "heron")) == [during.id]
    assert during.id in house.owed("heron")
    assert after.id not in house.owed("heron")


def test_hearing_by_rule_joins_nobody() -> None:
    house = two_troupes()
    told_apart(house)

    parted = house.disconnect("ada", "heron", "stage")

    assert parted.change.kind == "nothing"
    assert house.disconnect("heron", "ada", "stage").change.kind == "split"
    assert set(house.world.graphs[house.graph_of("heron")].creatures) == {"heron"}


def test_a_line_that_a_root_hears_twice_over_is_one_cause_and_one_line() -> None:
    house = two_troupes()

    line = house.say("ada", channel="stage")

    assert house.owed("heron") == [line.id]
    assert ids(heard(house, "heron")) == [line.id]


def test_a_root_that_leaves_a_channel_still_hears_it() -> None:
    house = two_troupes()
    house.connect("ada", "heron", "den", both=True)
    house.disconnect("ada", "heron", "stage")
    house.connect("ada", "heron", "den")

    line = house.say("ada", "Still heard.", channel="den")

    assert ids(heard(house, "heron")) == [line.id]


def test_the_visitor_is_owed_an_answer_by_the_root_alone() -> None:
    house = two_troupes()

    said = house.inject(house.graph_of("ada"), "Hello, who is in charge?")

    assert house.owed("heron") == [said.id]
    assert house.owed("ada") == house.owed("owl") == []


def test_others_hear_no_more_than_before() -> None:
    house = two_troupes()
    line = told_apart(house)
    house.add("dee", graph=house.graph_of("ada"))

    unheard = [name for name in ("dee", "bo", "owl") if not visible_to(house.creature(name), line)]

    assert unheard == ["dee", "bo", "owl"]


def test_a_root_is_told_that_it_hears_everything_and_who_its_children_are() -> None:
    house = two_troupes()
    told_apart(house)
    house.add("fern", graph=house.graph_of("heron"), parent="heron")

    around = moment_in(house, "heron").around
    prompt = prompt_in(house, "heron")

    assert (
        around.channels_heard_count == len(house.world.graphs[house.graph_of("heron")].channels.owners) == 3
    )
    assert "\nYou hear every channel here: stage, heron-fern, den.\n" in prompt
    assert "\nYour children: fern.\n" in prompt
    assert "cy (worker, on den)" in prompt


def test_a_worker_is_told_nothing_of_that() -> None:
    made = House()
    made.add("ada")
    made.add("bo", parent="ada", graph=made.graph_of("ada"))

    prompt = prompt_in(made, "ada")

    assert "every channel" not in prompt
    assert "children" not in prompt


def test_a_privileged_creature_sees_its_children_as_well() -> None:
    made = House()
    made.add("ada", is_privileged=True)
    made.add("bo", parent="ada", graph=made.graph_of("ada"))

    assert "\nYour children: bo.\n" in prompt_in(made, "ada")
    assert "every channel" not in prompt_in(made, "ada")


def story(seed: int, steps: int) -> House:
    dice, house = random.Random(seed), two_troupes()
    for _ in range(steps):
        random_step(house, dice)
    return house


@given(st.integers(0, 10**9))
def test_what_a_root_hears_is_what_it_may_see_of_the_whole_history(seed: int) -> None:
    house = story(seed, 140)

    for name in house.world.creatures:
        assert ids(heard(house, name)) == ids(seen_by_force(house, name)), name


@given(st.integers(0, 10**9))
def test_so_it_is_for_every_point_of_a_roots_past(seed: int) -> None:
    house = story(seed, 60)

    for name in house.world.creatures.keys() & {"heron", "owl"}:
        for upto in range(0, max(event.lamport for event in house.ledger) + 1, 3):
            assert ids(heard(house, name, upto)) == ids(seen_by_force(house, name, upto))


@given(st.integers(0, 10**9))
def test_graphs_know_their_roots_through_every_change(seed: int) -> None:
    house = story(seed, 120)

    for graph in house.world.graphs.values():
        assert set(graph.roots) == {name for name in graph.creatures if house.creature(name).is_root}


@given(st.integers(0, 10**9))
def test_a_root_owes_an_answer_to_every_line_of_its_graph_that_it_subscribes_to(seed: int) -> None:
    dice, house = random.Random(seed), two_troupes()
    expected: dict[str, list[str]] = {"heron": [], "owl": []}
    for _ in range(100):
        length = len(house.ledger)
        random_step(house, dice)
        for event in house.ledger[length:]:
            for name in expected.keys() & house.world.creatures.keys() - {event.actor}:
                subscribed = event.kind in (kinds.AGENT_SPOKE, kinds.USER_INJECTED)
                if subscribed and event.graph_id == house.graph_of(name):
                    expected[name].append(event.id)

    for name in expected.keys() & house.world.creatures.keys():
        assert house.owed(name) == expected[name]


def test_what_a_root_heard_by_rule_can_be_read_back_from_the_store() -> None:
    house = two_troupes()
    line = told_apart(house)
    graph = house.world.graphs[house.graph_of("heron")]
    house.tables.said["*heron"].lines_cache = None

    cold = house.tables.cold_places(house.world, graph)
    is_whole = house.tables.warm("*heron", house.ledger)

    assert cold == ["*heron"]
    assert is_whole
    assert line_heard_by(house.tables, house.world, "heron", line.id) == line


def test_a_house_without_roots_keeps_no_line_twice() -> None:
    made = table("ada", "bo", "cy")
    tables = Tables()

    for event in [made.say("ada", channel="stage") for _ in range(3)]:
        tables.apply(made.world, event)

    assert [table.count for table in tables.said.values()] == [3]
    assert all(
        bits & LISTEN for bits in made.world.topology.members_of[made.channel("ada", "stage").id].values()
    )


def test_a_root_on_a_busy_channel_of_another_graph_still_sees_its_past_and_later_its_newest_lines_alone() -> (
    None
):
    house = two_troupes()
    house.say("bo", "Before you came.", channel="stage")
    theirs = house.channel("bo", "stage")
    house.connect("bo", "heron", theirs.id)

    first = heard(house, "heron")
    for number in range(heard_lines_max + 3):
        house.say("bo", f"Line {number}.", channel=theirs.name)
    later, before = house.heard_by(house.creature("heron"))

    assert [line.payload["text"] for line in first] == ["Before you came."]
    assert ids(later.events) == ids(seen_by_force(house, "heron"))
    assert before == 3
