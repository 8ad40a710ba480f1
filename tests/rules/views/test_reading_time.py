"""The pace of a reader: how long a line is read, and when everything that was said can have been read."""

import re
from pathlib import Path

import pytest

import glasshouse
from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, VISITOR, Event
from glasshouse.views import reading_time
from glasshouse.views.reading_time import Reader, seconds_to_read
from tests.rules.events.events_by_hand import an_event

WORDS = " ".join(["word"] * 12)
SECONDS = seconds_to_read(WORDS)
_STORE_JS = Path(glasshouse.__file__).parent / "web" / "static" / "page" / "store.js"


def a_scene(number: int, graph: str = "g-one", *, title: str = "", text: str = WORDS, turn: int = 0) -> Event:
    payload = {"text": text, "title": title}
    return an_event(
        id=f"s-{graph}.{number}",
        actor=CONDUCTOR,
        kind=kinds.WORLD_OBSERVED,
        payload=payload,
        graph_id=graph,
        turn=turn,
    )


def a_line(number: int, text: str = WORDS) -> Event:
    return an_event(id=f"s-one.{number}", actor="ada", payload={"text": text})


def test_a_line_of_65_words_is_read_to_its_end() -> None:
    assert seconds_to_read("word " * 20) == 5.7
    assert seconds_to_read("word " * 65) == 0.7 + 65 * 60 / 240
    assert seconds_to_read("word " * 10_000) * 1_000 == reading_time.line_milliseconds_max
    assert seconds_to_read("Yes.") * 1_000 == reading_time.line_milliseconds_min


def test_the_page_replays_at_the_pace_at_which_the_server_plays() -> None:
    script = _STORE_JS.read_text()
    numbers = {name: int(value) for name, value in re.findall(r"const (\w+) = (\d+);", script)}
    bounds = re.search(r"lineMilliseconds = \{ min: (\d+), max: (\d+) \}", script)

    assert numbers["wordsPerMinute"] == reading_time.words_per_minute
    assert numbers["lineFoundMilliseconds"] == reading_time.line_found_milliseconds
    assert bounds is not None
    assert [int(bound) for bound in bounds.groups()] == [
        reading_time.line_milliseconds_min,
        reading_time.line_milliseconds_max,
    ]


def test_openings_of_several_graphs_are_read_side_by_side_and_hold_the_first_line_for_a_moment() -> None:
    reader = Reader(is_opening=True)

    for number, graph in enumerate(("g-one", "g-two", "g-three")):
        reader.take(a_scene(number, graph, text=f"{graph} {WORDS} {WORDS}"), 10.0)

    assert reader.seconds_left(10.0) * 1_000 == reading_time.opening_milliseconds_max
    assert reader.waiting(10.0) == 0


def test_what_was_left_of_the_opening_is_added_to_the_first_line_alone() -> None:
    reader = Reader(is_opening=True)
    reader.take(a_scene(1, text=" ".join([WORDS] * 2)), 0.0)
    rest = seconds_to_read(" ".join([WORDS] * 2)) - 3.0

    reader.take(a_line(2), 3.0)
    reader.take(a_line(3), 3.0)

    assert reader.hold(3.0) == ("s-one.2", 3.0, 3.0 + SECONDS + rest)
    assert reader.seconds_left(3.0) == 2 * SECONDS + rest


def test_a_short_opening_holds_the_first_line_only_as_long_as_it_is_read() -> None:
    reader = Reader(is_opening=True)

    reader.take(a_scene(1, text="Dusk."), 0.0)

    assert reader.seconds_left(0.0) == seconds_to_read("Dusk.")
    assert reader.seconds_left(2.0) == 0.0


def test_a_scene_in_the_middle_of_a_run_is_read_like_a_line() -> None:
    begun = Reader(is_opening=True)
    begun.take(an_event(actor=CONDUCTOR, kind=kinds.TURN_STARTED, payload={}), 0.0)
    continued = Reader(is_opening=False)

    for reader in (begun, continued):
        reader.take(a_scene(1, text=" ".join([WORDS] * 2)), 0.0)
        assert reader.seconds_left(0.0) == seconds_to_read(" ".join([WORDS] * 2))


def test_lines_wait_for_each_other_and_the_next_one_follows_a_skip_at_once() -> None:
    reader = Reader(is_opening=False)
    for number in (1, 2, 3):
        reader.take(a_line(number), 0.0)
    assert reader.waiting(0.0) == 2

    reader.skip(1.0)

    hold = reader.hold(1.0)
    assert hold is not None
    assert (hold.event_id, hold.begins) == ("s-one.2", 1.0)
    assert hold.ends == pytest.approx(1.0 + SECONDS)
    assert reader.seconds_left(1.0) == pytest.approx(2 * SECONDS)
    reader.skip(1.0)
    reader.skip(1.0)
    reader.skip(1.0)
    assert reader.hold(1.0) is None


def test_what_was_said_in_several_graphs_at_once_is_read_once() -> None:
    reader = Reader(is_opening=False)
    said = an_event(id="s-one.1", actor=VISITOR, kind=kinds.USER_INJECTED, payload={"text": WORDS})
    copy = an_event(
        id="s-two.1", actor=VISITOR, kind=kinds.USER_INJECTED, payload={"text": WORDS, "copy_of": "s-one.1"}
    )

    for event in (said, copy, a_scene(2, "g-one", turn=4), a_scene(2, "g-two", turn=4)):
        reader.take(event, 0.0)

    assert reader.seconds_left(0.0) == 2 * SECONDS
    reader.take(a_scene(9, "g-one", turn=5), 0.0)
    assert reader.seconds_left(0.0) == 3 * SECONDS


def test_nobody_waits_for_the_answer_of_a_tool_or_for_a_thought() -> None:
    reader = Reader(is_opening=False)

    for kind in (kinds.TOOL_RETURNED, kinds.AGENT_THOUGHT, kinds.AGENT_PASSED):
        reader.take(an_event(actor="ada", kind=kind, payload={"text": WORDS}), 0.0)

    assert reader.seconds_left(0.0) == 0.0
