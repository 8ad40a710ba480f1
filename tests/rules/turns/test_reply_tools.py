"""Replies that use tools: which one, with which arguments; lenient where it is clear, in words where it is not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events.event import Draft
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.prompt import as_prose
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


def called(tool: str = "weigh", /, **arguments: Any) -> dict[str, Any]:
    return {"kind": "tool.called", "thought": "Hm.", "tool": tool, "arguments": arguments}


def flat(**arguments: Any) -> dict[str, Any]:
    return {"kind": "tool.called", "thought": "Hm.", "tool": "weigh", **arguments}


def test_a_reply_that_uses_a_tool_is_a_call_with_its_arguments_and_what_is_private() -> None:
    reply = {**called(thing="a stone", times=2), "mood": "calm"}

    assert read(reply) == ToolCall(
        "weigh", {"thing": "a stone", "times": 2}, {"thought": "Hm.", "mood": "calm"}
    )


@pytest.mark.parametrize(
    "reply",
    [
        {"kind": "weigh", "arguments": {"thing": "moss"}},
        {"kind": " Tool.Called ", "tool": "WEIGH", "arguments": {"thing": "moss"}},
        {"tool": "weigh", "arguments": {"thing": "moss"}},
        {**called(thing="moss"), "text": "I weigh it."},
        called(thing="moss", unknown="left out"),
        called(thing="moss", times=None),
        flat(arguments='{"thing": "moss"}'),
        flat(parameters={"thing": "moss"}),
        flat(thing="moss"),
        flat(thing="moss", mood="calm", arguments=None),
        {"kind": "weigh", "thing": "moss"},
        {"tool": "weigh", "thing": "moss"},
        json.dumps(called(thing="moss"))[:-1],
        f"```json\n{json.dumps(called(thing='moss'))[:-1]}\n```",
    ],
)
def test_what_is_clear_is_taken(reply: Any) -> None:
    outcome = read(reply)

    assert isinstance(outcome, ToolCall)
    assert (outcome.tool, outcome.arguments) == ("weigh", {"thing": "moss"})


def test_the_only_tool_need_not_be_named() -> None:
    reply = {"kind": "tool.called", "arguments": {"thing": "moss"}}

    assert read(reply, WEIGH) == ToolCall("weigh", {"thing": "moss"})


OWN_NAMES = ("kind", "thought", "mood", "tool", "arguments", "text")
NAMED = ToolOffer(
    "sort_by",
    "Sort things.",
    {
        "type": "object",
        "properties": {name: {"type": "string"} for name in OWN_NAMES},
        "required": [*OWN_NAMES],
    },
)


def test_a_parameter_may_be_called_as_a_field_of_every_reply_is() -> None:
    arguments = {name: f"a {name}" for name in OWN_NAMES}
    reply = {**called("sort_by", **arguments), "mood": "calm"}
    moment = a_moment(character=Character(name="echo"), tools=(NAMED, RING), form="prose")

    by_json, by_prose = read(reply, NAMED, RING), draft_from(as_prose(reply), moment)

    assert by_json == ToolCall("sort_by", arguments, {"thought": "Hm.", "mood": "calm"})
    assert by_prose == by_json


def test_beside_the_tool_such_a_name_is_the_replys_own() -> None:
    assert read(
        {"tool": "sort_by", "kind": "tool.called", "arguments": "abc", "text": "x"}, NAMED
    ) == Problem('The tool sort_by needs the argument "kind": add it.')


def test_an_object_inside_a_broken_reply_is_not_the_reply() -> None:
    inside = '{"kind":"tool.called","tool":"weigh","arguments":{"kind":"agent.spoke","text":"Moss."}, "tim'

    assert isinstance(read(inside), Problem)


PLACE = ToolOffer(
    "go",
    "Go somewhere.",
    {
        "type": "object",
        "properties": {
            "place": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "miles": {"type": "integer"}},
                "required": ["name"],
            }
        },
        "required": ["place"],
    },
)


def test_an_object_is_read_by_its_own_fields() -> None:
    argument = {"name": "Ayr", "miles": "3", "unknown": 1}

    assert read({"tool": "go", "arguments": {"place": argument}}, PLACE) == ToolCall(
        "go", {"place": {"name": "Ayr", "miles": 3}}
    )
    assert read({"tool": "go", "arguments": {"place": {}}}, PLACE) == Problem(
        '"place" needs the argument "name": add it.'
    )


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
        (called("axe"), '"tool" may not be "axe": give one of "weigh", "ring_bell".'),
        (called(), 'The tool weigh needs the argument "thing": add it.'),
        ({**called(), "thing": "moss"}, 'The tool weigh needs the argument "thing": add it.'),
        (
            flat(thing="moss", colour="grey"),
            'Put only the arguments of weigh into "arguments": "colour" is none.',
        ),
        (flat(arguments=["moss"]), '"arguments" must give each argument of weigh by its name.'),
        (flat(arguments="moss"), '"arguments" must give each argument of weigh by its name.'),
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
            '{"kind":"tool.called","thought":"","tool":"weigh","arguments":{"thing":"moss","notes":{"a":[1e999]}}}',
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


ARGUMENTS = dict.fromkeys(("thing", "times", "scale", "share", "with_others", "size"), VALUES)
BESIDE = {"kind": st.just("tool.called"), "tool": st.just("weigh")}


@given(
    st.fixed_dictionaries({**BESIDE, "arguments": st.fixed_dictionaries(ARGUMENTS) | VALUES})
    | st.fixed_dictionaries({**BESIDE, **ARGUMENTS, "arguments": VALUES})
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
        '{"kind":"tool.called","thought":"","tool":"weigh","arguments":{"thing":"moss","notes":{"a\\ud800":["\\ud800b"]}}}'
    )

    assert isinstance(call, ToolCall)
    assert call.arguments["notes"] == {"a?": ["?b"]}
