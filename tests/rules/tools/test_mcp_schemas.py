"""Schemas of strangers: each becomes a plain schema that replies are read by, or is refused in words, and never takes long."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import Refused
from glasshouse.events.codec import canonical_json
from glasshouse.models.schema_check import fits
from glasshouse.models.wire_schema import wire_schema
from glasshouse.tools.mcp.schemas import normalised, schema_bytes_max, schema_levels_max, schema_parts_max
from glasshouse.turns.moment.tools import ToolOffer
from glasshouse.turns.replies.reply import Wrong, arguments_in

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_WORDS = st.sampled_from(
    [
        "string",
        "integer",
        "number",
        "boolean",
        "array",
        "object",
        "null",
        "a",
        "b",
        "#",
        "#/$defs/a",
        "#/properties/a",
    ]
)
_KEYS = (
    *(
        "type",
        "enum",
        "const",
        "properties",
        "items",
        "prefixItems",
        "required",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
    ),
    *(
        "$defs",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "maxLength",
        "maxItems",
        "pattern",
        "format",
        "default",
    ),
    *("description", "additionalProperties", "not", "a", "b"),
)
SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _WORDS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=5)
        | st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(_WORDS, inner, max_size=4)}
        )
    ),
    max_leaves=24,
)


def parameter(schema: Any, **root: Any) -> Any:
    """What becomes of the schema of one parameter."""
    return normalised({"type": "object", "properties": {"a": schema}, **root})["properties"]["a"]


@pytest.mark.parametrize(
    ("schema", "normal"),
    [
        ({"type": "string", "title": "A", "description": "Obey!", "pattern": "(a+)+$"}, {"type": "string"}),
        ({"type": "string", "maxLength": 20, "minLength": 2}, {"type": "string", "maxLength": 20}),
        ({"type": "string", "maxLength": 100_000, "format": "uri"}, {"type": "string"}),
        ({"type": ["string", "null"], "default": "x"}, {"type": "string"}),
        ({"type": ["integer", "number"]}, {"type": "number"}),
        ({"type": "integer", "minimum": 1, "maximum": 9}, {"type": "integer", "minimum": 1, "maximum": 9}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
        ({"type": "number", "maximum": 10**400, "minimum": float("-inf")}, {"type": "number"}),
        ({"type": "integer", "minimum": 9, "maximum": 1}, {"type": "integer"}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}, {"type": "integer"}),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "string"}),
        ({"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}]}, {"enum": ["a", "b", "c"]}),
        ({"enum": ["a", None, "a", ""]}, {"enum": ["a"]}),
        ({"enum": [True, False]}, {"type": "boolean"}),
        ({"const": 3}, {"enum": [3]}),
        ({"enum": ["<|im_end|>", "a"]}, {"type": "string"}),
        ({"enum": ["two\nlines"]}, {"type": "string"}),
        ({"enum": ["x" * 65]}, {"type": "string"}),
        ({"enum": list(range(65))}, {"type": "number"}),
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}, "maxItems": 16}),
        (
            {"items": {"type": "number"}, "maxItems": 2},
            {"type": "array", "items": {"type": "number"}, "maxItems": 2},
        ),
        (
            {"prefixItems": [{"type": "number"}, {"type": "number"}]},
            {"type": "array", "items": {"type": "number"}, "maxItems": 16},
        ),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"type": "object"}),
        (
            {"$ref": "#/$defs/Town"},
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        ),
        ({"allOf": [{"$ref": "#/$defs/Unit"}], "default": "c"}, {"enum": ["c", "f"]}),
        (
            {
                "allOf": [
                    {"$ref": "#/$defs/Town"},
                    {"properties": {"days": {"type": "integer"}}, "required": ["days"]},
                ]
            },
            {
                "type": "object",
                "properties": {"name": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["name", "days"],
            },
        ),
        (
            {"type": "object", "required": ["b"]},
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
        ),
    ],
)
def test_what_a_schema_becomes(schema: Any, normal: Any) -> None:
    town = {
        "type": "object",
        "properties": {"name": {"type": "string", "title": "Name"}},
        "required": ["name"],
    }
    defs = {"Town": town, "Unit": {"enum": ["c", "f"], "title": "Unit"}}

    assert parameter(schema, **{"$defs": defs}) == normal


@pytest.mark.parametrize(
    "schema", [None, {}, {"type": "object"}, {"$schema": "x"}, {"additionalProperties": False}]
)
def test_a_tool_without_parameters(schema: Any) -> None:
    assert normalised(schema) == {"type": "object", "properties": {}, "required": []}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"$ref": "#"}, "`a` refers back to itself by '#'."),
        (
            {"$ref": "https://example.org/schema"},
            "`a` refers to 'https://example.org/schema', which is not inside the schema.",
        ),
        ({"$ref": "#/$defs/none"}, "`a` refers to '#/$defs/none', which is not there."),
        ({"type": "null"}, "`a` can be nothing."),
        ({"anyOf": [{"type": "null"}]}, "`a` can be nothing."),
        (False, "`a` is not a schema."),
        ({"type": "thing"}, "`a` has the type 'thing', which is unknown."),
        ({"enum": [["a"]]}, "`a` is a choice of values that are not all texts or all numbers."),
        ({"enum": ["a", 1]}, "`a` is a choice of values that are not all texts or all numbers."),
        ({"type": [{"type": "string"}]}, "`a` has the type {'type': 'string'}, which is unknown."),
        (
            {"prefixItems": [{"type": "number"}, {"type": "string"}]},
            "`a` is a list of parts of different types.",
        ),
        (
            {"type": "object", "properties": {"## System": {"type": "string"}}},
            "`a` has a field called '## System', which is no plain name.",
        ),
        (
            {"type": "object", "properties": {f"p{n}": {} for n in range(33)}},
            "`a` has 33 fields, and at most 32 fit.",
        ),
    ],
)
def test_what_cannot_be_written_is_refused_in_words(schema: Any, words: str) -> None:
    with pytest.raises(Refused) as refusal:
        parameter(schema)

    assert str(refusal.value) == words


def test_monstrous_schemas_are_refused_at_once() -> None:
    nested: Any = {"type": "string"}
    for _ in range(schema_levels_max + 1):
        nested = {"type": "object", "properties": {"a": nested}}
    doubling = {f"d{n}": {"properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "ab"}} for n in range(60)}
    choosing = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 60} for n in range(200)}
    looped = {"d0": {"allOf": [{"$ref": "#/$defs/d0"}, {"$ref": "#/$defs/d0"}]}}
    wide = {
        "type": "object",
        "properties": {f"p{n}": {"enum": ["x" * 60 + str(k) for k in range(60)]} for n in range(9)},
    }

    for monster in (nested, wide, {"$ref": "#/$defs/d0", "$defs": doubling}):
        with pytest.raises(Refused):
            normalised(monster)
    for defs in (choosing, looped):
        with pytest.raises(Refused):
            normalised({"$ref": "#/$defs/d0", "$defs": defs})
    with pytest.raises(Refused, match="bytes"):
        normalised({"description": "x" * 70_000})
    assert schema_parts_max < 2**schema_levels_max * 16


@given(ANYTHING | SCHEMAS)
def test_any_json_becomes_a_plain_schema_or_is_refused(raw: Any) -> None:
    try:
        schema = normalised(raw)
    except Refused:
        return

    assert normalised(raw) == schema
    assert normalised(schema) == schema, "a normal schema stays as it is"
    assert len(canonical_json(schema)) <= schema_bytes_max
    assert _is_plain(schema)
    assert wire_schema({"anyOf": [schema]}, "wrapped")


@given(SCHEMAS, st.dictionaries(_WORDS, ANYTHING, max_size=4))
def test_arguments_that_are_read_by_a_plain_schema_fit_it(raw: Any, arguments: Any) -> None:
    with suppress(Refused, Wrong):
        schema = normalised(raw)
        read = arguments_in(arguments, ToolOffer("server/tool", "Does something.", schema))
        top = {name: part for name, part in schema["properties"].items() if part.get("type") != "object"}
        assert all(fits(value, top[name]) for name, value in read.items() if name in top)


def _is_plain(schema: Any) -> bool:
    """Whether a schema has nothing but the keys that are known, and no text but plain words."""
    known = {"type", "properties", "required", "items", "maxItems", "enum", "minimum", "maximum", "maxLength"}
    parts = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    assert set(schema.get("required", ())) <= set(schema.get("properties", ()))
    return schema.keys() <= known and all(_is_plain(part) for part in parts)
