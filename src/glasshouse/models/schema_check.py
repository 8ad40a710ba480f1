"""Whether a value has the structure that a JSON Schema asks for.

Always holds: only what a grammar enforces is checked (types, fields, allowed values). Lengths and patterns are not:
many servers leave them out of their grammar.
"""

from __future__ import annotations

from typing import Any, Final

from glasshouse.events.event import Json

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def fits(value: Any, schema: Json) -> bool:
    """Whether a value has the structure of a schema."""
    if "anyOf" in schema and not any(fits(value, branch) for branch in schema["anyOf"]):
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "type" in schema and not _is_of_type(value, schema["type"]):
        return False
    if isinstance(value, list):
        return all(fits(item, schema.get("items", {})) for item in value)
    return not isinstance(value, dict) or _has_fields(value, schema)


def _is_of_type(value: Any, wanted: str | list[str]) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    kinds = [kind for name in names for kind in _TYPES.get(name, (object,))]
    is_bool_only_by_chance = isinstance(value, bool) and not {bool, object} & {*kinds}
    return isinstance(value, tuple(kinds)) and not is_bool_only_by_chance


def _has_fields(value: Json, schema: Json) -> bool:
    fields: Json = schema.get("properties", {})
    if not all(name in value for name in schema.get("required", ())):
        return False
    if schema.get("additionalProperties") is False and not value.keys() <= fields.keys():
        return False
    return all(fits(value[name], fields[name]) for name in value.keys() & fields.keys())
