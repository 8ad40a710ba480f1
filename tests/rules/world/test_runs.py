"""Opening a scenario: one batch, one root, a session for each graph that the channels make; or nothing at all."""

import pytest
from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR
from glasshouse.turns.runs.schedule import Due
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.intents import OpenRun
from tests.rules.turns.houses_by_hand import House, member, opening


def opened(intent: OpenRun) -> House:
    house = House()
    house.do(intent)
    return house


def graphs(house: House) -> list[tuple[str, ...]]:
    return [tuple(graph.creatures) for graph in house.world.graphs.values()]


def test_an_opening_is_one_decision_whose_root_holds_the_start_of_the_run() -> None:
    house = House()
    intent = opening(
        "r-1", member("ada"), member("bo"), member("cy", on=["den"]), channels=["stage", "den"], text="Dusk."
    )

    decision = decide(house.world, intent)
    house.do(intent)

    root, *sessions = [write.opens for write in decision.writes]
    assert root is not None
    assert [fact.kind for fact in decision.writes[0].facts] == [kinds.RUN_STARTED, kinds.TOPOLOGY_CHANGED]
    assert [segment.parents[0].session_id for segment in sessions if segment is not None] == [root.id] * 2
    assert [segment.base for segment in sessions if segment is not None] == [2, 2]
    assert house.world.runs["r-1"].session_id == root.id
    assert root.graph_id not in house.world.graphs
    assert len([event for event in house.ledger if event.kind == kinds.TOPOLOGY_CHANGED]) == 1


def test_graphs_are_derived_from_channels_whatever_the_order_of_the_cast() -> None:
    house = opened(
        opening(
            "r-1",
            member("ada", on=["one"]),
            member("bo", on=["two"]),
            member("cy", on=["three"]),
            member("dee", on=["two", "one"]),
            member("eve", on=[]),
            channels=["one", "two", "three", "empty"],
        )
    )

    assert graphs(house) == [("ada", "bo", "dee"), ("cy",), ("eve",)]
    homes = {channel.name: channel.graph_id for channel in house.world.channels.values()}
    first = house.graph_of("ada")
    assert homes == {"one": first, "two": first, "empty": first, "three": house.graph_of("cy")}


def test_everybody_is_born_in_the_run_and_hears_from_the_first_line_on() -> None:
    house = opened(opening("r-1", member("ada"), member("bo"), text="Dusk."))

    assert [creature.run_id for creature in house.world.creatures.values()] == ["r-1", "r-1"]
    shown = house.ledger[-1]
    assert (shown.kind, shown.actor, shown.turn, shown.payload) == (
        kinds.WORLD_OBSERVED,
        CONDUCTOR,
        0,
        {"text": "Dusk."},
    )
    line = house.say("ada", channel="stage")
    assert house.owed("bo") == [line.id]


def test_whoever_means_no_channel_speaks_on_the_first_it_sends_on() -> None:
    ada = replace(member("ada", on=["stage", "den"]), sends=("den", "stage"))
    house = opened(opening("r-1", ada, member("bo", on=["stage", "den"]), channels=["stage", "den"]))
    shown = house.inject(house.graph_of("ada"))

    line = house.act(Due("ada", shown.id))

    assert line.channel == "den"


def test_one_scenario_opened_twice_gives_two_runs_of_other_ids_and_the_same_handles() -> None:
    house = opened(opening("r-1", member("ada"), member("bo"), text="Dusk."))

    house.do(opening("r-2", member("ada"), member("bo"), text="Dusk."))

    assert graphs(house) == [("ada", "bo"), ("ada~2", "bo~2")]
    assert [creature.handle for creature in house.world.creatures.values()] == ["ada", "bo"] * 2
    assert [creature.run_id for creature in house.world.creatures.values()] == ["r-1"] * 2 + ["r-2"] * 2
    assert len(house.world.sessions) == 4
    assert [list(purse.cast) for purse in house.runs.purses.values()] == [["ada", "bo"], ["ada~2", "bo~2"]]


def test_one_creature_may_be_cast_twice_under_two_handles() -> None:
    house = opened(opening("r-1", member("ada", "left"), member("ada", "right")))

    assert {name: creature.handle for name, creature in house.world.creatures.items()} == {
        "ada": "left",
        "ada~2": "right",
    }
    assert house.runs.purses["r-1"].cast == {"ada": "left", "ada~2": "right"}


def test_ids_taken_before_are_not_given_again_even_if_their_creature_is_gone() -> None:
    house = House()
    house.add("ada")
    house.remove("ada")

    house.do(opening("r-1", member("ada")))

    assert list(house.world.creatures) == ["ada~2"]


def test_wires_are_laid_within_a_graph() -> None:
    house = opened(opening("r-1", member("ada", wires=["bo"]), member("bo")))

    assert [(wire.source, wire.target) for wire in house.world.wires.values()] == [("ada", "bo")]


@pytest.mark.parametrize(
    ("intent", "why"),
    [
        (
            opening("r-2", member("cy", wires=["dee"]), member("dee", on=["den"]), channels=["stage", "den"]),
            "but no path of channels joins them",
        ),
        (opening("r-1", member("cy")), "Run r-1 exists already"),
        (opening("r-2"), "no cast"),
        (opening("r-2", member("cy", "not a handle!")), "handle"),
        (opening("r-2", member("cy", on=["x" * 200]), channels=["x" * 200]), "not a channel name"),
        (opening("r-2", member("cy", on=["elsewhere"])), "elsewhere"),
        (opening("r-2", member("cy", "one"), member("dee", "one")), "one"),
    ],
    ids=["wire", "run", "cast", "handle", "channel", "unknown-channel", "handle-twice"],
)
def test_a_refused_opening_changes_nothing(intent: OpenRun, why: str) -> None:
    house = opened(opening("r-1", member("ada"), member("bo")))
    before = house.as_bytes()

    with pytest.raises(Refused, match=why):
        house.do(intent)

    assert house.as_bytes() == before
    assert list(house.runs.purses) == ["r-1"]
