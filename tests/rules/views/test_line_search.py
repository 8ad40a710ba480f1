"""Searching lines by words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.redaction import Role, redacted
from glasshouse.views.line_search import holds, line_in, words_in
from tests.rules.events.events_by_hand import A_LINE

ROLES: tuple[Role, ...] = ("spectator", "audience", "director")


@pytest.mark.parametrize(
    ("text", "words", "is_held"),
    [
        ("The kettle remembers the sea.", ("kettle", "sea"), True),
        ("The kettle remembers the sea.", ("kettle", "boat"), False),
        ("KETTLES sing", ("kettle",), True),
        ("Die Straße ist nass", ("STRASSE",), True),
        ("", ("kettle",), False),
    ],
)
def test_a_line_holds_all_words_in_any_case(text: str, words: tuple[str, ...], is_held: bool) -> None:
    assert holds(text, words_in(words)) is is_held


def test_words_count_once_each() -> None:
    assert words_in(["Kettle sea", "kettle"]) == ("kettle", "sea")


@pytest.mark.parametrize("kind", [kinds.TOOL_RETURNED, kinds.AGENT_PASSED, kinds.RUN_STARTED])
def test_what_nobody_says_is_no_line(kind: str) -> None:
    assert line_in(replace(A_LINE, kind=kind)) == ""
    assert line_in(A_LINE) == "The moss is listening."


@pytest.mark.parametrize("kind", sorted(kinds.INNER))
def test_what_a_creature_told_itself_is_found_by_those_who_may_read_it(kind: str) -> None:
    line = replace(A_LINE, kind=kind)

    shown = {role: line_in(redacted(line, role)) for role in ROLES}

    assert shown == {
        "spectator": "",
        "audience": "The moss is listening.",
        "director": "The moss is listening.",
    }
