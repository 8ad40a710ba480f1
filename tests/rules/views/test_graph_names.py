"""What graphs are called: by troupe or channel, never twice, never like a creature, and for as long as they live."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import TopologyChanged, payload_of
from glasshouse.views.graph_names import NamesTaken, as_read, is_own_name, name_for
from glasshouse.views.page import empty_view
from glasshouse.views.page_fold import PageFold
from tests.rules.turns.houses_by_hand import House, member, opening, random_step

steps_in_a_story = 60


def check_names(fold: PageFold, before: Json, event: Event) -> None:
    """No name twice, none of a creature; a merge keeps the name of the graph that survives."""
    names = [as_read(graph["name"]) for graph in fold.view["graphs"].values()]
    assert len(set(names)) == len(names)
    assert not {as_read(creature["handle"]) for creature in fold.view["creatures"].values()} & {*names}
    if event.kind == kinds.TOPOLOGY_CHANGED:
        change = payload_of(event, TopologyChanged)
        survivor = change.new_graph_ids[0] if change.kind == "merge" else ""
        if survivor in before and is_own_name(before[survivor]):
            assert fold.view["graphs"][survivor]["name"] == before[survivor]


@given(st.integers(0, 10**9))
def test_names_of_graphs_hold_through_any_history(seed: int) -> None:
    dice, house, fold = random.Random(seed), House(), PageFold("director")
    house.do(opening("r-1", member("ada"), member("bo"), member("heron", on=(), is_root=True)))
    taken = 0

    for _ in range(steps_in_a_story):
        for event in house.ledger[taken:]:
            before = {graph_id: graph["name"] for graph_id, graph in fold.view["graphs"].items()}
            fold.fold(event)
            check_names(fold, before, event)
        taken = len(house.ledger)
        random_step(house, dice)


@pytest.mark.parametrize(
    ("first", "channels", "name"),
    [
        (["over"], ["canopy"], "over"),
        ([""], ["canopy", "bark"], "canopy"),
        (["pond"], ["canopy"], "canopy"),
        ([""], ["pond", "bark"], "pond + bark"),
        ([""], ["Pond"], "Pond 2"),
        ([""], ["newt"], "newt 2"),
        ([""], ["old-newt"], "old-newt 2"),
        ([""], [], "alone"),
    ],
)
def test_a_name_that_is_taken_gets_the_next_channel_then_a_number(
    first: list[str], channels: list[str], name: str
) -> None:
    creatures = {"n": {"handle": "newt", "title": "The Old Newt"}, "o": {"handle": "old_newt"}}
    graphs = {"g-1": {"name": "pond"}}

    taken = NamesTaken({**empty_view("spectator"), "creatures": creatures, "graphs": graphs})

    assert name_for("g-2", first, channels, taken) == name
