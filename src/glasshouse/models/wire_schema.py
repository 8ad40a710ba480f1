"""Wire schemas: the schema of a reply in the dialect of JSON Schema that a server takes, and the way back.

`root-anyOf` is the schema as the engine writes it: a choice of objects, one for each kind of reply. `wrapped` is for
servers with a strict mode, which refuse a choice at the root and optional fields: the choice is the one property of an
object, a field that may be left out may be null instead, and bounds that such servers refuse are left out.

Always holds: a reply that is valid in a dialect is, after `reply_text`, read as the same draft.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from glasshouse.turns.moment.prompt import Json

Dialect = Literal["root-anyOf", "wrapped"]

WRAPPER: Final = "reply"
"""The one property of a wrapped reply."""

_REFUSED: Final = frozenset({"minLength", "maxLength", "uniqueItems", "default", "format"})
_AS_TEXT: Final[Json] = {"type": "string", "description": "a JSON object, written as text"}
_NULL: Final[Json] = {"type": "null"}
_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}


def wire_schema(schema: Json, dialect: Dialect) -> Json:
    """The schema of a reply as a server of this dialect takes it."""
    return schema if dialect == "root-anyOf" else _object({WRAPPER: _strict(schema)})


def reply_text(text: str, dialect: Dialect) -> str:
    """What the model wrote, without the wrapper and the nulls of its dialect. Unchanged if it is not wrapped."""
    if dialect == "root-anyOf":
        return text
    try:
        wrapped = msgspec.json.decode(text)
        reply = wrapped.get(WRAPPER) if isinstance(wrapped, dict) else None
        return msgspec.json.encode(_without_nulls(reply)).decode() if isinstance(reply, dict) else text
    except (msgspec.DecodeError, ValueError, RecursionError):
        return text


def _without_nulls(value: Any) -> Any:
    """A value without the fields that are null, also in the objects inside it: there null means left out."""
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def _strict(schema: Json) -> Json:
    choices = schema.get("anyOf")
    if choices is not None:
        return {**schema, "anyOf": [_strict(choice) for choice in choices]}
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None:
        types = {_TYPES.get(type(value)) for value in allowed}
        typed = {"type": types.pop()} if len(types) == 1 else {}
        return {**typed, **_described(schema), "enum": allowed}
    match schema.get("type"):
        case "object" if "properties" in schema:
            required = schema.get("required", ())
            properties = {
                name: _strict(part) if name in required else {"anyOf": [_strict(part), _NULL]}
                for name, part in schema["properties"].items()
            }
            return {**_object(properties), **_described(schema)}
        case "array":
            kept = {name: value for name, value in schema.items() if name not in _REFUSED}
            return {**kept, "items": _strict(schema.get("items", {}))}
        case "object" | None:
            return {**_AS_TEXT, **_described(schema)}
        case _:
            return {name: value for name, value in schema.items() if name not in _REFUSED}


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _described(schema: Json) -> dict[str, Any]:
    return {"description": schema["description"]} if "description" in schema else {}
