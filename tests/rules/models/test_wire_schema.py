"""Wire schemas: each dialect has the rules of its servers, and every reply finds the way back."""

from typing import Any

import pytest

from glasshouse.models.wire_schema import reply_text, wire_schema

SPOKE = {
    "type": "object",
    "properties": {"kind": {"const": "agent.spoke"}, "text": {"type": "string", "maxLength": 640}},
    "required": ["kind", "text"],
    "additionalProperties": False,
}
CALLED = {
    "type": "object",
    "description": "Looks things up.",
    "properties": {
        "kind": {"const": "tool.called"},
        "arguments": {
            "type": "object",
            "properties": {
                "page": {"enum": [1, 2]},
                "words": {"type": "array", "items": {"type": "string", "minLength": 1}},
                "options": {"type": "object"},
            },
            "required": ["page"],
            "additionalProperties": False,
        },
    },
    "required": ["kind", "arguments"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {"anyOf": [SPOKE, CALLED]}


def test_the_engines_own_dialect_is_the_schema_as_it_is() -> None:
    assert wire_schema(SCHEMA, "root-anyOf") is SCHEMA
    assert reply_text('{"kind": "agent.spoke", "mood": null}', "root-anyOf").endswith("null}")


def test_a_strict_server_gets_one_object_without_optional_fields_and_refused_bounds() -> None:
    wrapped = wire_schema(SCHEMA, "wrapped")

    assert (wrapped["type"], wrapped["required"], wrapped["additionalProperties"]) == (
        "object",
        ["reply"],
        False,
    )
    spoke, called = wrapped["properties"]["reply"]["anyOf"]
    assert spoke["properties"] == {
        "kind": {"type": "string", "enum": ["agent.spoke"]},
        "text": {"type": "string"},
    }
    assert (called["required"], called["description"]) == (["kind", "arguments"], "Looks things up.")
    arguments = called["properties"]["arguments"]
    assert arguments["required"] == ["page", "words", "options"]
    assert arguments["additionalProperties"] is False
    assert arguments["properties"]["page"] == {"type": "integer", "enum": [1, 2]}
    assert arguments["properties"]["words"]["anyOf"] == [
        {"type": "array", "items": {"type": "string"}},
        {"type": "null"},
    ]
    assert arguments["properties"]["options"]["anyOf"][0]["type"] == "string"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{"reply": {"kind": "a.b", "text": "Yes.", "mood": null}}', '{"kind":"a.b","text":"Yes."}'),
        (
            '{"reply": {"kind": "a.b", "arguments": {"page": 1, "words": null, "in": [{"a": null, "b": [null]}]}}}',
            '{"kind":"a.b","arguments":{"page":1,"in":[{"b":[null]}]}}',
        ),
        ('{"kind": "a.b"}', '{"kind": "a.b"}'),
        ('{"reply": "no object"}', '{"reply": "no object"}'),
        ('{"reply": {"kind": "a.b"', '{"reply": {"kind": "a.b"'),
        ("[1]", "[1]"),
        ("Good evening.", "Good evening."),
    ],
)
def test_what_is_wrapped_is_unwrapped_and_anything_else_stays(written: str, text: str) -> None:
    assert reply_text(written, "wrapped") == text
