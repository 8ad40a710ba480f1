"""The shape of a reply: branches by `may_emit`, fields by kind, words by who is there."""

from typing import Any

import pytest

from glasshouse.events import kinds
from glasshouse.turns.moment import reply_schema as module
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.moment import Around
from glasshouse.turns.moment.playbill import Competition, Playbill
from glasshouse.turns.moment.reply_schema import reply_schema
from tests.rules.turns.moments_by_hand import a_moment

PASSING = {
    "type": "object",
    "properties": {"kind": {"const": "agent.passed"}, "reason": {"type": "string"}},
    "required": ["kind", "reason"],
    "additionalProperties": False,
}


def branches(*may_emit: str, playbill: Playbill | None = None, **changes: Any) -> list[dict[str, Any]]:
    moment = a_moment(character=Character(name="echo", may_emit=may_emit), playbill=playbill, **changes)
    found: list[dict[str, Any]] = reply_schema(moment).value["anyOf"]
    return found


def fields(branch: dict[str, Any]) -> dict[str, Any]:
    return {
        name: sort for name, sort in branch["properties"].items() if name not in {"kind", "thought", "mood"}
    }


def test_speaking_and_passing_are_spelt_out() -> None:
    spoke = {
        "type": "object",
        "properties": {
            "kind": {"const": "agent.spoke"},
            "thought": {"type": "string"},
            "mood": {"type": "string"},
            "text": {"type": "string"},
        },
        "required": ["kind", "thought", "text"],
        "additionalProperties": False,
    }

    assert branches("agent.spoke") == [spoke, PASSING]


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
        ("string", {"type": "string"}),
        ("number", {"type": "number"}),
        ("boolean", {"type": "boolean"}),
        ("strings", {"type": "array", "items": {"type": "string"}}),
        ("event", {"type": "string", "description": "the #number of a line"}),
        ("events", {"type": "array", "items": {"type": "string", "description": "the #number of a line"}}),
        (["yes", "no"], {"enum": ["yes", "no"]}),
        ("creature", {"enum": ["moth", "fern"]}),
    ],
)
def test_each_type_of_field_has_its_schema(sort: Any, schema: dict[str, Any]) -> None:
    branch = branches("note.left", playbill=Playbill(kinds={"note.left": {"it": sort}}))[0]

    assert branch["properties"]["it"] == schema
    assert branch["required"] == ["kind", "thought", "it"]


def test_a_creature_who_is_alone_may_write_any_name() -> None:
    playbill = Playbill(kinds={"note.left": {"it": "creature"}})

    assert fields(branches("note.left", playbill=playbill, around=Around())[0]) == {"it": {"type": "string"}}


@pytest.mark.parametrize(
    ("competition", "winners"),
    [
        (Competition(kind="versus", teams={"red": ("a",), "blue": ("b",)}), ["red", "blue", "nobody"]),
        (Competition(kind="judged", contestants=("moth",)), ["moth", "nobody"]),
        (Competition(), ["nobody"]),
    ],
)
def test_a_verdict_names_a_contestant_or_nobody(competition: Competition, winners: list[str]) -> None:
    found = fields(branches("judge.verdict", playbill=Playbill(competition=competition))[0])

    assert list(found) == ["winner", "text", "cites"]
    assert found["winner"] == {"enum": winners}


def test_a_scenario_adds_to_a_core_kind_and_cannot_change_its_fields_or_take_the_engines_names() -> None:
    playbill = Playbill(kinds={"agent.spoke": {"text": "number", "tone": "string", "thought": "number"}})

    assert fields(branches("agent.spoke", playbill=playbill)[0]) == {
        "text": {"type": "string"},
        "tone": {"type": "string"},
    }


def test_a_kind_nobody_described_has_a_text() -> None:
    assert fields(branches("note.left")[0]) == {"text": {"type": "string"}}


def test_the_cache_is_told_apart_by_everything_that_shapes_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "schema_cache_values_max", 2)
    one = Playbill(kinds={"note.left": {"it": "creature"}})

    first = branches("note.left", playbill=one)
    other = branches("note.left", playbill=Playbill(kinds={"note.left": {"it": "number"}}))
    alone = branches("note.left", playbill=one, around=Around())

    assert len({str(first), str(other), str(alone)}) == 3
    assert branches("note.left", playbill=one) == first
