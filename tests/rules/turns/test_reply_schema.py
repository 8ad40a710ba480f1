"""The shape of a reply: branches by `may_emit`, fields by kind, words by who is there."""

from typing import Any

import pytest

from glasshouse.events import kinds
from glasshouse.turns.moment import reply_schema as module
from glasshouse.turns.moment.character import Character, Voice
from glasshouse.turns.moment.depth import DEPTHS
from glasshouse.turns.moment.moment import Around
from glasshouse.turns.moment.playbill import Competition, Playbill
from glasshouse.turns.moment.reply_schema import reply_schema
from glasshouse.turns.moment.tools import ToolOffer
from tests.rules.turns.moments_by_hand import a_moment

TEXT = {"type": "string", "minLength": 1, "maxLength": 240}
REF = {"type": "string", "description": "the number of a line", "enum": ["8", "9"]}
PASSING = {
    "type": "object",
    "properties": {
        "kind": {"const": "agent.passed"},
        "reason": {"type": "string", "minLength": 1, "maxLength": 240},
    },
    "required": ["kind", "reason"],
    "additionalProperties": False,
}


def branches(*may_emit: str, playbill: Playbill | None = None, **changes: Any) -> list[dict[str, Any]]:
    moment = a_moment(character=Character(name="echo", may_emit=may_emit), playbill=playbill, **changes)
    offered: list[dict[str, Any]] = reply_schema(moment).with_refs(["8", "9"])["anyOf"]
    return offered


def fields(branch: dict[str, Any]) -> dict[str, Any]:
    return {
        name: sort for name, sort in branch["properties"].items() if name not in {"kind", "thought", "mood"}
    }


def test_speaking_and_passing_are_spelt_out() -> None:
    spoke = {
        "type": "object",
        "properties": {
            "kind": {"const": "agent.spoke"},
            "thought": {
                "type": "string",
                "minLength": 1,
                "maxLength": DEPTHS["fast"].thought_asked_chars_max,
            },
            "text": {"type": "string", "minLength": 1, "maxLength": 640},
            "mood": {"type": "string", "minLength": 1, "maxLength": 40},
        },
        "required": ["kind", "thought", "text", "mood"],
        "additionalProperties": False,
    }

    spoken = branches("agent.spoke")

    assert spoken == [spoke, PASSING]
    assert list(spoken[0]["properties"]) == ["kind", "thought", "text", "mood"]


def test_there_is_a_branch_for_each_kind_in_order_and_none_that_only_the_engine_writes() -> None:
    may = ("note.left", "agent.spoke", *sorted(kinds.WITHOUT_WORDS | kinds.ENGINE), "note.left")

    assert [branch["properties"]["kind"]["const"] for branch in branches(*may)] == [
        "note.left",
        "agent.spoke",
        "agent.passed",
    ]


@pytest.mark.parametrize(
    ("sort", "schema"),
    [
        ("string", TEXT),
        ("number", {"type": "number"}),
        ("boolean", {"type": "boolean"}),
        ("strings", {"type": "array", "items": TEXT, "maxItems": 16}),
        ("event", REF),
        ("events", {"type": "array", "items": REF, "maxItems": 16}),
        ("some_events", {"type": "array", "items": REF, "maxItems": 16, "minItems": 1}),
        (["yes", "no"], {"enum": ["yes", "no"]}),
        ("creature", {"enum": ["moth", "fern"]}),
    ],
)
def test_each_type_of_field_has_its_schema(sort: Any, schema: dict[str, Any]) -> None:
    branch = branches("note.left", playbill=Playbill(kinds={"note.left": {"it": sort}}))[0]

    assert branch["properties"]["it"] == schema
    assert branch["required"] == ["kind", "thought", "mood", "it"]


def test_a_creature_who_is_alone_may_write_any_name() -> None:
    playbill = Playbill(kinds={"note.left": {"it": "creature"}})

    assert fields(branches("note.left", playbill=playbill, around=Around())[0]) == {"it": TEXT}


@pytest.mark.parametrize(
    ("competition", "winners"),
    [
        (Competition(kind="versus", teams={"red": ("a",), "blue": ("b",)}), ["red", "blue", "nobody"]),
        (Competition(kind="judged", contestants=("moth",)), ["moth", "nobody"]),
    ],
)
def test_a_verdict_names_a_contestant_or_nobody(competition: Competition, winners: list[str]) -> None:
    names = fields(branches("judge.verdict", playbill=Playbill(competition=competition))[0])

    assert list(names) == ["text", "winner", "cites"]
    assert names["winner"] == {"enum": winners}


def test_a_verdict_without_a_contest_names_no_winner_and_still_cites() -> None:
    names = fields(branches("judge.verdict", playbill=Playbill(competition=Competition()))[0])

    assert list(names) == ["text", "cites"]


def test_a_scenario_adds_to_a_core_kind_and_cannot_change_its_fields_or_take_the_engines_names() -> None:
    playbill = Playbill(kinds={"agent.spoke": {"text": "number", "tone": "string", "thought": "number"}})

    assert fields(branches("agent.spoke", playbill=playbill)[0]) == {
        "text": {"type": "string", "minLength": 1, "maxLength": 640},
        "tone": TEXT,
    }


def test_a_kind_nobody_described_has_a_text() -> None:
    assert fields(branches("note.left")[0]) == {"text": {"type": "string", "minLength": 1, "maxLength": 640}}


def test_the_cache_is_told_apart_by_everything_that_shapes_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "schema_cache_values_max", 2)
    bill = Playbill(kinds={"note.left": {"it": "creature"}})

    first = branches("note.left", playbill=bill)
    other = branches("note.left", playbill=Playbill(kinds={"note.left": {"it": "number"}}))
    alone = branches("note.left", playbill=bill, around=Around())

    assert len({str(first), str(other), str(alone)}) == 3
    assert branches("note.left", playbill=bill) == first


def test_where_no_line_can_be_cited_a_kind_that_must_cite_one_is_left_out() -> None:
    playbill = Playbill(kinds={"note.left": {"it": "event"}, "list.made": {"them": "events"}})
    character = Character(name="echo", may_emit=("note.left", "list.made"))

    offered = reply_schema(a_moment(character=character, playbill=playbill)).with_refs([])["anyOf"]

    assert [branch["properties"]["kind"]["const"] for branch in offered] == ["list.made", "agent.passed"]
    assert offered[0]["properties"]["them"]["maxItems"] == 0


@pytest.mark.parametrize("words_max", [1, 40, 400])
def test_no_text_is_asked_for_that_is_longer_than_servers_take(words_max: int) -> None:
    offer = ToolOffer(
        "write", "Writes.", {"type": "object", "properties": {"what": {"type": "string", "maxLength": 4_000}}}
    )
    character = Character(name="echo", voice=Voice(say_words_max=words_max))

    schema = reply_schema(a_moment(character=character, tools=(offer,))).value

    lengths = [
        part["maxLength"]
        for branch in schema["anyOf"]
        for part in branch["properties"].values()
        if "maxLength" in part
    ]
    assert len(lengths) == 5
    assert max(lengths) < 1_000
