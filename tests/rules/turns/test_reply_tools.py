"""Replies that use tools: which one, with which arguments; lenient where it is clear, in words where it is not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events.event import Draft
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.tools import ToolCall, ToolOffer
from glasshouse.turns.replies.reply import Passed, Problem, draft_from
from tests.rules.turns.moments_by_hand import a_moment

WEIGH = ToolOffer(
    "weigh",
    "Weigh something.",
    {
        "type": "object",
        "properties": {
            "thing": {"type": "string"},
            "times": {"type": "integer", "minimum": 1, "maximum": 9},
            "scale": {"enum": ["Kitchen", "barn"]},
            "share": {"type": "number"},
            "is_wet": {"type": "boolean"},
            "with_others": {"type": "array", "items": {"type": "string"}},
            "size": {"enum": [1, 2]},
            "notes": {"type": "object"},
        },
        "required": ["thing"],
    },
)
RING = ToolOffer("ring_bell", "Ring the bell.", {"type": "object", "properties": {}, "required": []})


def read(reply: Any, *offers: ToolOffer) -> Draft | Passed | ToolCall | Problem:
    raw = reply if isinstance(reply, str) else json.dumps(reply)
    return draft_from(raw, a_moment(character=Character(name="echo"), tools=offers or (WEIGH, RING)))


def called(**more: Any) -> dict[str, Any]:
    return {"kind": "tool.called", "thought": "Hm.", "tool": "weigh", **more}


def test_a_reply_that_uses_a_tool_is_a_call_with_its_arguments_and_what_is_private() -> None:
    reply = called(mood="calm", thing="a stone", times=2)

    assert read(reply) == ToolCall(
        "weigh", {"thing": "a stone", "times": 2}, {"thought": "Hm.", "mood": "calm"}
    )


@pytest.mark.parametrize(
    "reply",
    [
        {"kind": "weigh", "thing": "moss"},
        {"kind": " Tool.Called ", "tool": "WEIGH", "thing": "moss"},
        {"tool": "weigh", "thing": "moss"},
        called(arguments={"thing": "moss"}),
        called(parameters={"thing": "moss"}),
        called(thing="moss", unknown="left out"),
        called(thing="moss", times=None),
    ],
)
def test_what_is_clear_is_taken(reply: Any) -> None:
    outcome = read(reply)

    assert isinstance(outcome, ToolCall)
    assert (outcome.tool, outcome.arguments) == ("weigh", {"thing": "moss"})


def test_the_only_tool_need_not_be_named() -> None:
    assert read({"kind": "tool.called", "thing": "moss"}, WEIGH) == ToolCall("weigh", {"thing": "moss"})


@pytest.mark.parametrize(
    ("given_as", "taken"),
    [
        ({"times": "3"}, 3),
        ({"times": 3.0}, 3),
        ({"scale": "BARN"}, "barn"),
        ({"share": "0.5"}, 0.5),
        ({"is_wet": "yes"}, True),
        ({"with_others": "fern"}, ["fern"]),
        ({"size": "2"}, 2),
        ({"notes": {"a": 1}}, {"a": 1}),
    ],
)
def test_arguments_are_read_as_their_schema_wants_them(given_as: dict[str, Any], taken: Any) -> None:
    outcome = read(called(thing="moss", **given_as))

    assert isinstance(outcome, ToolCall)
    assert outcome.arguments == {"thing": "moss", next(iter(given_as)): taken}


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"kind": "tool.called"}, 'The answer has no "tool": give one of "weigh", "ring_bell".'),
        (called(tool="axe"), '"tool" may not be "axe": give one of "weigh", "ring_bell".'),
        (called(), 'The tool weigh needs "thing": add it.'),
        (called(thing=["moss"]), '"thing" must be text in quotation marks.'),
        (called(thing="x" * 5_000), '"thing" is too long: write at most 4,000 characters.'),
        (called(thing="moss", times=2.5), '"times" must be a whole number.'),
        (called(thing="moss", times=0), '"times" must be 1 or more.'),
        (called(thing="moss", times=10), '"times" must be 9 or less.'),
        (called(thing="moss", scale="sea"), '"scale" may not be "sea": give one of "Kitchen", "barn".'),
        (called(thing="moss", size=3), '"size" may not be "3": give one of 1, 2.'),
        (called(thing="moss", is_wet="a bit"), '"is_wet" must be true or false.'),
        (called(thing="moss", notes="none"), '"notes" must be an object in braces.'),
        (
            '{"kind":"tool.called","thought":"","tool":"weigh","thing":"moss","notes":{"a":[1e999]}}',
            '"notes" is nested too deep, or holds a number that is too large.',
        ),
        (
            {"kind": "dance"},
            'The kind may not be "dance": give one of "tool.called", "agent.spoke", "agent.passed".',
        ),
    ],
)
def test_what_is_wrong_is_said_so_that_it_can_be_mended(reply: Any, words: str) -> None:
    assert read(reply) == Problem(words)


def test_without_an_offer_no_tool_can_be_asked_for() -> None:
    outcome = draft_from(json.dumps(called(thing="moss")), a_moment(character=Character(name="echo")))

    assert outcome == Problem('The kind may not be "tool.called": give one of "agent.spoke", "agent.passed".')


def test_a_line_beside_tools_is_read_as_ever() -> None:
    assert read({"text": "Moss."}) == Draft(kind="agent.spoke", payload={"text": "Moss."})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.fixed_dictionaries(
        {
            "kind": st.just("tool.called"),
            "tool": st.just("weigh"),
            "thing": VALUES,
            "times": VALUES,
            "scale": VALUES,
            "share": VALUES,
            "with_others": VALUES,
            "size": VALUES,
            "arguments": VALUES,
        }
    )
)
def test_whatever_is_given_is_a_call_that_fits_the_offer_or_a_problem(reply: Any) -> None:
    outcome = read(json.dumps(reply))

    if isinstance(outcome, ToolCall):
        assert isinstance(outcome.arguments["thing"], str)
        assert set(outcome.arguments) <= set(WEIGH.parameters["properties"])
    else:
        assert isinstance(outcome, Problem)
        assert outcome.text.endswith(".")
        assert len(outcome.text.splitlines()) == 1


def test_halves_of_characters_are_left_out_of_objects_too() -> None:
    call = read(
        '{"kind":"tool.called","thought":"","tool":"weigh","thing":"moss","notes":{"a\\ud800":["\\ud800b"]}}'
    )

    assert isinstance(call, ToolCall)
    assert call.arguments["notes"] == {"a?": ["?b"]}
