"""The shape of the world as values: graphs, environments, channels."""

import pytest

from glasshouse.errors import UnknownName
from glasshouse.views.topology import channel_of, environment_of, graph_of, graphs_of
from glasshouse.world.state.ids import wire_id_for
from glasshouse.world.state.values import Channel, Wire
from tests.rules.worlds_by_hand import HandWorld, chain, table


def test_a_graph_shows_its_creatures_oldest_first_with_channels_wires_and_session() -> None:
    made = HandWorld()
    made.add_all("cy", "ada", "bo")
    made.connect("bo", "ada", "talk")
    made.connect("ada", "cy", "walk")
    made.wire("ada", "bo")

    graph = graph_of(made.world, made.graph_of("bo"))

    assert graph.creature_ids == ("cy", "ada", "bo")
    assert graph.channels == ("talk", "walk")
    assert graph.wires == (Wire(wire_id_for("ada", "bo"), "ada", "bo"),)
    assert graph.session_id == made.session_of("cy")
    assert graph.turn == 0


def test_a_wire_is_shown_once_though_both_its_ends_are_in_the_graph() -> None:
    made = chain("ada", "bo")
    made.wire("ada", "bo")
    made.wire("bo", "ada")

    assert len(graph_of(made.world, made.graph_of("ada")).wires) == 2


def test_graphs_are_shown_oldest_first_and_a_new_part_last() -> None:
    made = chain("ada", "bo", "cy")
    made.add("dee")
    old = made.graph_of("ada")

    made.disconnect("bo", "cy")

    assert [graph.creature_ids for graph in graphs_of(made.world)] == [("ada", "bo"), ("dee",), ("cy",)]
    assert graphs_of(made.world)[0].id == old


def test_every_creature_is_in_exactly_one_graph() -> None:
    made = chain("ada", "bo", "cy")
    made.add("dee")

    members = [name for graph in graphs_of(made.world) for name in graph.creature_ids]

    assert sorted(members) == ["ada", "bo", "cy", "dee"]


def test_a_graph_whose_last_creature_is_gone_is_not_shown() -> None:
    made = HandWorld()
    made.add("ada")
    graph = made.graph_of("ada")

    made.remove("ada")

    assert graphs_of(made.world) == ()
    with pytest.raises(UnknownName, match="There is no open graph yet"):
        graph_of(made.world, graph)


def test_a_channel_shows_who_listens_and_who_sends() -> None:
    made = HandWorld()
    made.add_all("ada", "bo", "cy")
    made.connect("ada", "bo", "talk")
    made.connect("cy", "ada", "talk")

    channel = channel_of(made.world, made.channel("ada", "talk"))

    assert channel == Channel(
        id=made.channel("ada", "talk").id,
        name="talk",
        description="",
        history="full",
        graph_id=made.graph_of("ada"),
        listeners=("ada", "bo"),
        senders=("ada", "cy"),
    )


def test_an_environment_shows_its_channels_oldest_first_and_finds_them_by_name() -> None:
    made = table("ada", "bo", history="since_joined")
    made.open(made.graph_of("ada"), "attic")

    environment = environment_of(made.world, made.graph_of("bo"))

    assert [channel.name for channel in environment.channels] == ["stage", "attic"]
    assert environment.channels[0].history == "since_joined"
    assert environment.channels[1].listeners == environment.channels[1].senders == ()
    assert environment.channel("attic") == environment.channels[1]
    assert environment.channel("cellar") is None


def test_a_channel_that_is_renamed_keeps_its_age_and_its_people() -> None:
    made = HandWorld()
    made.add_all("ada", "bo", "eve", "cy", "dee")
    made.connect("cy", "dee", "hall")
    made.connect("ada", "bo", "hall")
    made.connect("ada", "eve", "hall")

    made.connect("eve", "cy", "bridge")

    environment = environment_of(made.world, made.graph_of("ada"))
    assert [channel.name for channel in environment.channels] == ["hall~2", "hall", "bridge"]
    assert environment.channels[0].listeners == ("dee",)


@pytest.mark.parametrize("view", [graph_of, environment_of])
def test_an_unknown_graph_is_refused_in_words(view: object) -> None:
    made = HandWorld()

    assert callable(view)
    with pytest.raises(UnknownName, match="no open graph is called 'g-0'"):
        view(made.world, "g-0")


def test_looking_changes_nothing() -> None:
    made = chain("ada", "bo", "cy")
    before = made.as_bytes()

    for graph in graphs_of(made.world):
        environment_of(made.world, graph.id)

    assert made.as_bytes() == before
