"""`session.attached`: every session that a merge or a split begins names its creatures, at a bounded cost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event
from glasshouse.events.filter import EventFilter
from glasshouse.events.payloads import SessionAttached, payload_of
from tests.rules.worlds_by_hand import HandWorld, chain


def attached_in(events: list[Event]) -> list[SessionAttached]:
    attached = [event for event in events if event.kind == kinds.CREATURE_SESSION_ATTACHED]
    return [payload_of(event, SessionAttached) for event in attached]


def crowd(size: int, *others: str) -> HandWorld:
    """Creatures that listen on one channel of `first`, and others who are alone."""
    made = HandWorld()
    first = made.add("first")
    graph = made.graph_of(first)
    made.connect(first, made.add("second", graph=graph), "talk")
    for number in range(size - 2):
        made.add(f"w{number}", graph=graph)
    made.add_all(*others)
    return made


def test_a_merge_names_who_came_and_who_stayed() -> None:
    made = chain("ada", "bo")
    made.add("cy")

    merge = made.connect("cy", "bo").events

    session = made.session_of("ada")
    assert attached_in(merge) == [SessionAttached(session, ["cy"], ["ada", "bo"], 2)]
    matched = [event.kind for event in merge if EventFilter(creature_ids={"ada"}).matches(event)]
    assert matched == [kinds.CREATURE_SESSION_ATTACHED]


@pytest.mark.parametrize("removes", [True, False])
def test_a_split_names_who_stays_and_who_goes_each_in_their_session(*, removes: bool) -> None:
    made = chain("ada", "bo", "cy", "dee", "eve")

    split = (made.remove("dee") if removes else made.disconnect("cy", "dee")).events

    stay, go = made.session_of("ada"), made.session_of("eve")
    assert attached_in(split) == [
        SessionAttached(stay, [], ["ada", "bo", "cy"], 3),
        SessionAttached(go, ["eve"] if removes else ["dee", "eve"]),
    ]


def test_a_creature_that_is_added_moves_nobody() -> None:
    made = chain("ada", "bo")

    made.add("cy", graph=made.graph_of("ada"))

    assert attached_in(made.ledger)[-1] == SessionAttached(made.session_of("ada"), ["cy"])


class Counted(dict[str, None]):
    """The members of a graph. It counts those that are looked at one after another."""

    looked_at = 0

    def __iter__(self) -> Iterator[str]:
        for name in super().__iter__():
            Counted.looked_at += 1
            yield name


def test_of_a_large_graph_a_thousand_are_named_and_no_more_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(payloads, "affected_creatures_max", 10)
    made = crowd(60, "guest")
    graph = made.world.graphs[made.graph_of("first")]
    graph.creatures = Counted(graph.creatures)
    Counted.looked_at = 0

    (merge,) = attached_in(made.connect("guest", "first", "bridge").events)
    after_merge, Counted.looked_at = Counted.looked_at, 0
    graph.creatures = Counted(graph.creatures)
    Counted.looked_at = 0
    stay, _ = attached_in(made.disconnect("guest", "first", "bridge").events)

    oldest = ["first", "second", *[f"w{number}" for number in range(8)]]
    assert (merge.creatures, merge.stayed, merge.stayed_count) == (["guest"], oldest, 60)
    assert (stay.creatures, stay.stayed, stay.stayed_count) == ([], oldest, 60)
    assert after_merge <= 10 + 1
    assert Counted.looked_at <= 10 + 1 + 1


def test_many_who_move_are_all_named_and_those_who_stay_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payloads, "affected_creatures_max", 3)
    made = crowd(6)
    made.add("north")
    for number in range(4):
        made.add(f"n{number}", graph=made.graph_of("north"))

    events = attached_in(made.connect("north", "first", "bridge").events)

    moved = ["north", "n0", "n1", "n2", "n3"]
    assert [event.creatures for event in events] == [moved[:3], moved[3:]]
    assert [event.stayed for event in events] == [["first", "second", "w0"], []]
    assert [event.stayed_count for event in events] == [6, 0]
