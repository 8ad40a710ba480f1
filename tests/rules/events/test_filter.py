"""`EventFilter`: each field by itself, all of them together, and a plain text where a set belongs."""

from collections.abc import Callable

import pytest

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.filter import EVERYTHING, EventFilter
from tests.rules.events.events_by_hand import A_LINE, an_event


def engine_event(kind: str, payload: Json) -> Event:
    return an_event(kind=kind, payload=payload, actor="terrarium", channel_id=None, channel=None)


@pytest.mark.parametrize(
    "wanted",
    [
        EventFilter(),
        EventFilter(kinds={"agent.spoke"}),
        EventFilter(kinds=["agent.passed", "agent.spoke"]),
        EventFilter(graph_ids={"g-0123456789abcdef"}),
        EventFilter(channels={"stage"}),
        EventFilter(channels={"c-fedcba9876543210"}),
        EventFilter(creature_ids={"echo"}),
        EventFilter(
            kinds={"agent.spoke"},
            graph_ids={"g-0123456789abcdef"},
            channels={"stage"},
            creature_ids={"echo", "moss"},
        ),
    ],
    ids=repr,
)
def test_a_line_passes_a_filter_that_wants_it(wanted: EventFilter) -> None:
    assert wanted.matches(A_LINE)


@pytest.mark.parametrize(
    "wanted",
    [
        EventFilter(kinds={"agent.passed"}),
        EventFilter(kinds=()),
        EventFilter(graph_ids={"g-other"}),
        EventFilter(channels={"cellar"}),
        EventFilter(creature_ids={"moss"}),
        EventFilter(creature_ids=()),
        EventFilter(kinds={"agent.spoke"}, creature_ids={"moss"}),
        EventFilter(kinds={"agent.spoke"}, channels={"cellar"}),
        EventFilter(graph_ids={"g-other"}, channels={"stage"}, creature_ids={"echo"}),
        EventFilter(kinds={"agent.passed"}, graph_ids={"g-0123456789abcdef"}),
    ],
    ids=repr,
)
def test_a_line_is_held_back_by_any_field_that_does_not_want_it(wanted: EventFilter) -> None:
    assert not wanted.matches(A_LINE)


def test_an_event_without_a_channel_passes_no_filter_of_channels() -> None:
    silent = an_event(channel_id=None, channel=None)

    assert not EventFilter(channels={"stage"}).matches(silent)
    assert EVERYTHING.matches(silent)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (
            kinds.CREATURE_STARTED,
            {"creature": "moss", "handle": "m", "cast_key": "m", "manifest_digest": "d"},
        ),
        (kinds.CREATURE_STARTED, {"creature": "fern", "handle": "f", "cast_key": "f", "parent": "moss"}),
        (kinds.CHANNEL_JOINED, {"channel_id": "c-1", "creature": "moss", "direction": "listen"}),
        (kinds.OUTPUT_WIRE_ADDED, {"edge_id": "w-1", "source": "moss", "target": "fern"}),
        (kinds.OUTPUT_WIRE_ADDED, {"edge_id": "w-1", "source": "fern", "target": "moss"}),
        (kinds.PARENT_LINK_CHANGED, {"child": "moss", "old_parent": "fern", "new_parent": None}),
        (kinds.PARENT_LINK_CHANGED, {"child": "fern", "old_parent": "moss", "new_parent": None}),
        (kinds.PARENT_LINK_CHANGED, {"child": "fern", "old_parent": None, "new_parent": "moss"}),
        (kinds.TOPOLOGY_CHANGED, {"kind": "merge", "affected_creatures": ["fern", "moss"]}),
        (kinds.CREATURE_SESSION_ATTACHED, {"session": "s-1", "creatures": ["moss"]}),
        (kinds.CREATURE_SESSION_ATTACHED, {"session": "s-1", "creatures": ["fern"], "stayed": ["moss"]}),
        (kinds.PRIVILEGE_GRANTED, {"creature": "fern", "by": "moss"}),
        (kinds.PRIVILEGE_REVOKED, {"creature": "moss", "by": "visitor"}),
    ],
)
def test_a_creature_that_the_engine_speaks_of_is_found(kind: str, payload: Json) -> None:
    event = engine_event(kind, payload)

    assert EventFilter(creature_ids={"moss"}).matches(event)
    assert not EventFilter(creature_ids={"ivy"}).matches(event)


def test_a_creature_that_is_only_talked_about_is_not_followed() -> None:
    gossip = an_event(payload={"text": "moss", "creature": "moss", "creatures": ["moss"]})

    assert not EventFilter(creature_ids={"moss"}).matches(gossip)


@pytest.mark.parametrize(
    "make",
    [
        lambda: EventFilter(kinds="agent.spoke"),
        lambda: EventFilter(creature_ids="echo"),
        lambda: EventFilter(graph_ids="g-1"),
        lambda: EventFilter(channels="stage"),
    ],
)
def test_a_plain_text_is_refused_with_the_set_to_write_instead(make: Callable[[], EventFilter]) -> None:
    with pytest.raises(TypeError, match=r"takes a set of names\. Write \{'.+'\}\."):
        make()


def test_a_filter_keeps_what_it_was_given_even_if_that_changes_later() -> None:
    wanted = {"agent.spoke"}
    kept = EventFilter(kinds=wanted)

    wanted.clear()

    assert kept.matches(A_LINE)
