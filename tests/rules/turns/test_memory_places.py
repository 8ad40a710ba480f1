"""Where lines stand in an index of words, and what they are found by."""

from __future__ import annotations

import pytest

from glasshouse import Event, kinds
from glasshouse.turns.heard.memory_places import (
    VERSION_PLACE,
    PlaceDirectory,
    index_version,
    places_of_line,
)
from glasshouse.turns.moment.line_text import words_of_line
from tests.rules.events.events_by_hand import an_event

LINE = an_event(
    graph_id="g-1",
    channel_id="c-1",
    actor="ada",
    caused_by="s-5f2b1c0d9e8a7f60.4",
    payload={"text": "A kettle."},
)


def wire(when: str | None, *, with_content: bool = True) -> Event:
    named = {"edge_id": "w-1", "source": "ada", "target": "cora", "with_content": with_content, "when": when}
    return an_event(kind=kinds.OUTPUT_WIRE_ADDED, actor="terrarium", payload=named)


def places(*wires: Event, line: Event = LINE, is_imported: bool = False) -> tuple[str, ...]:
    """The places of a line after these wires were added."""
    directory = PlaceDirectory()
    for added in wires:
        for name in places_of_line(added, (), is_imported=False):
            directory.add(name, 1, 1)
    return places_of_line(line, directory.conditions_of(line.actor), is_imported=is_imported)


def test_an_index_of_this_version_has_these_places_and_words() -> None:
    # If one of these is another now, increase `index_version`: indexes in stores were made by the old rule.
    assert (index_version, VERSION_PLACE) == (1, "#1")
    assert places() == ("g-1/c-1", "g-1@ada")
    assert places(line=an_event(graph_id="g-1", kind=kinds.AGENT_THOUGHT, actor="ada")) == ("g-1!ada",)
    assert places(is_imported=True) == ("~g-1/c-1", "~g-1@ada")
    assert places(wire(None)) == ("g-1/c-1", "g-1@ada", "g-1>ada")
    assert places(wire("text has kettle"))[2:] == ("g-1>ada?32755d77cfcddc69",)
    text = {"text": "The kettles sang, 3 times, about über-ovens.", "mood": "calm"}
    assert words_of_line(an_event(payload=text)) == (
        "kettle",
        "sang",
        "time",
        "über",
        "oven",
        "mood",
        "calm",
    )


@pytest.mark.parametrize(
    "added", [wire("text has lantern"), wire("text has kettle", with_content=False)], ids=["other", "without"]
)
def test_a_line_that_no_wire_carries_with_its_words_has_no_place_for_wires(added: Event) -> None:
    assert places(added) == ("g-1/c-1", "g-1@ada")


def test_a_wire_is_known_again_from_the_places_of_an_index() -> None:
    before = PlaceDirectory()
    for name in places_of_line(wire("text has kettle and mood is calm"), (), is_imported=False):
        before.add(name, 1, 1)
    again = PlaceDirectory()
    for name, (since, until) in before.times.items():
        again.add(name, since, until)

    assert [*again.conditions_of("ada")] == ["text has kettle and mood is calm"]
    assert [*again.conditions_of("bo")] == []
