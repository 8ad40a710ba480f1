"""Normal schemas: a stranger's JSON Schema as the plain schema that replies are read by and that model servers take.

Theory of operation. A schema is rewritten from the root down. Each part becomes a choice of words or numbers, a text, a
number, a truth value, a list or an object, and nothing else. What only narrows a value (patterns, formats, lengths that
grammars choke on, conditions) is dropped, because the tool's server checks its arguments itself. Of several forms that a
value may have, the first that can be written is kept. What cannot be written at all is refused, with its place.

Always holds: the same schema gives the same result. No text of the stranger remains but names and words to choose from,
which are short and plain. References are written out, those that lead back to themselves are refused, and the number of
parts is bounded, so no schema takes long or grows.
"""

from __future__ import annotations

import math
import re
from itertools import chain, islice
from typing import Any, Final

from glasshouse.errors import Refused, in_brief
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.turns.moment.line_text import one_line, safe_line
from glasshouse.turns.moment.reply_schema import items_max, length_asked_max

raw_schema_bytes_max: Final = 65_536
"""A longer schema of a stranger is not looked at."""
schema_parts_max: Final = 512
"""The number of parts of a schema that are looked at, references written out."""
schema_levels_max: Final = 6
"""A tool whose schema is nested deeper is refused."""
schema_properties_max: Final = 32
"""A tool with more parameters, or with more fields in an object, is refused."""
schema_choices_max: Final = 64
"""A longer choice becomes any text, or any number."""
choice_chars_max: Final = 64
"""A choice with a longer text becomes any text."""
schema_bytes_max: Final = 8_192
"""The size of a schema once it is normal."""
bound_max: Final = 2**53
"""A larger bound of a number is dropped."""

_PROPERTY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,47}")
_REFERENCE: Final = re.compile(r"#[^\n]{0,255}")
_SAID: Final = ("type", "properties", "enum", "const", "items", "prefixItems")
"""The keys by which a schema says itself what its value is, beside what it says by a choice."""
_ELSEWHERE: Final = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf")
_WHOLE: Final = "its schema"
_SCALARS: Final[dict[type, str]] = {str: "string", bool: "boolean", int: "number", float: "number"}


def normalised(raw: Any) -> Json:
    """The schema of a tool's arguments in its normal form, or `Refused`."""
    try:
        size = len(canonical_json(raw))
        if size > raw_schema_bytes_max:
            raise _refused(_WHOLE, f"has {size:,} bytes, and at most {raw_schema_bytes_max:,} are read")
        schema = _Reader(raw).arguments()
    except RecursionError:
        raise _refused(_WHOLE, "is nested too deep") from None
    except (OverflowError, TypeError, ValueError):
        raise _refused(_WHOLE, "is not plain JSON") from None
    size = len(canonical_json(schema))
    if size > schema_bytes_max:
        raise _refused(_WHOLE, f"has {size:,} bytes once it is normal, and at most {schema_bytes_max:,} fit")
    return schema


class _Reader:
    """One schema, while it is rewritten."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._parts = 0
        self._open: list[str] = []
        """The references that are being written out."""

    def arguments(self) -> Json:
        raw = self._root
        if raw is None or (isinstance(raw, dict) and not raw.keys() & {*_SAID, *_ELSEWHERE}):
            raw = {**(raw or {}), "type": "object"}
        schema = self._part(raw, _WHOLE, 0)
        if schema.get("type") != "object":
            raise _refused(_WHOLE, "does not describe an object")
        return {
            "type": "object",
            "properties": schema.get("properties", {}),
            "required": schema.get("required", []),
        }

    def _part(self, raw: Any, where: str, level: int) -> Json:
        self._parts += 1
        if self._parts > schema_parts_max:
            raise _refused(_WHOLE, f"has more than {schema_parts_max} parts")
        if level > schema_levels_max:
            raise _refused(where, f"is nested more than {schema_levels_max} levels deep")
        if raw is True:  # Anything is allowed.
            return {"type": "string"}
        if not isinstance(raw, dict):
            raise _refused(where, "is not a schema")
        if "$ref" in raw or "$dynamicRef" in raw:
            return self._referred(raw, where, level)
        if "allOf" in raw:
            return self._part(self._joined(raw, where), where, level)
        choices = raw.get("anyOf", raw.get("oneOf"))
        if choices is not None and not raw.keys() & {*_SAID}:
            return self._first_of(choices, where, level)
        return self._written(raw, where, level)

    def _referred(self, raw: Json, where: str, level: int) -> Json:
        reference = raw.get("$ref")
        if not isinstance(reference, str) or not _REFERENCE.fullmatch(reference):
            raise _refused(where, f"refers to {in_brief(reference, 60)}, which is not inside the schema")
        if reference in self._open:
            raise _refused(where, f"refers back to itself by {in_brief(reference, 60)}")
        self._open.append(reference)
        try:
            target = self._at(reference, where)
            beside = _without(raw, "$ref")
            if isinstance(target, dict) and beside.keys() & {*_SAID, "required"}:
                target = {**target, **beside}
            return self._part(target, where, level)
        finally:
            self._open.pop()

    def _at(self, reference: str, where: str) -> Any:
        target = self._root
        for step in reference[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, dict) and key in target:
                target = target[key]
            elif isinstance(target, list) and key.isdecimal() and len(key) < 4 and int(key) < len(target):
                target = target[int(key)]
            else:
                raise _refused(where, f"refers to {in_brief(reference, 60)}, which is not there")
        return target

    def _joined(self, raw: Json, where: str) -> Json:
        """What must all hold, as one schema: later parts win, fields of objects add up."""
        parts = raw["allOf"]
        if not isinstance(parts, list) or not 0 < len(parts) <= schema_properties_max:
            raise _refused(where, "has an allOf that is not a short list")
        joined: Json = {}
        for part in (*parts, _without(raw, "allOf")):
            fields = _as_dict(part)
            if "$ref" in fields and len(parts) > 1:
                fields = {**_as_dict(self._at(str(fields["$ref"]), where)), **_without(fields, "$ref")}
            for key, value in fields.items():
                before = joined.get(key)
                if key == "properties" and isinstance(before, dict) and isinstance(value, dict):
                    joined[key] = {**before, **value}
                elif key == "required" and isinstance(before, list) and isinstance(value, list):
                    joined[key] = [*before, *value]
                else:
                    joined[key] = value
        self._parts += len(parts)
        return joined

    def _first_of(self, choices: Any, where: str, level: int) -> Json:
        if not isinstance(choices, list) or len(choices) > schema_choices_max:
            raise _refused(where, f"has no list of at most {schema_choices_max} forms")
        listed = [choice for choice in choices if choice != {"type": "null"}]
        words = [_words_of(choice) for choice in listed]
        if listed and all(each is not None for each in words):
            return self._choice(
                list(islice(chain(*[each or () for each in words]), schema_choices_max + 1)), where
            )
        reason: Refused | None = None
        for choice in listed:
            try:
                return self._part(choice, where, level)
            except Refused as wrong:
                reason = reason or wrong
        raise reason or _refused(where, "can be nothing")

    def _written(self, raw: Json, where: str, level: int) -> Json:
        words = _words_of(raw)
        if words is not None:
            return self._choice(words, where)
        match _type_of(raw, where):
            case "object":
                return self._object(raw, where, level)
            case "array":
                return self._array(raw, where, level)
            case "string":
                longest = raw.get("maxLength")
                is_kept = type(longest) is int and 0 < longest < length_asked_max
                return {"type": "string", "maxLength": longest} if is_kept else {"type": "string"}
            case "integer" | "number" as sort:
                return {"type": sort, **_bounds(raw, is_whole=sort == "integer")}
            case sort:
                return {"type": sort}

    def _choice(self, words: list[Any], where: str) -> Json:
        """A choice; if it is long, or its texts are not plain, whatever has the type of its values."""
        looked_at = words[: schema_choices_max + 1]
        kept = [word for word in looked_at if type(word) in _SCALARS and word != ""]
        sorts = {_SCALARS[type(word)] for word in kept}
        if len(sorts) != 1:
            raise _refused(where, "is a choice of values that are not all texts or all numbers")
        sort = sorts.pop()
        return (
            {"enum": list(dict.fromkeys(kept))}
            if sort != "boolean" and _are_plain(kept) and len(words) <= schema_choices_max
            else {"type": sort}
        )

    def _array(self, raw: Json, where: str, level: int) -> Json:
        items = raw.get("items", True)
        several = items if isinstance(items, list) else raw.get("prefixItems")
        if isinstance(several, list) and several:
            kinds = [self._part(item, f"a part of {where}", level + 1) for item in several[:items_max]]
            if any(kind != kinds[0] for kind in kinds):
                raise _refused(where, "is a list of parts of different types")
            item = kinds[0]
        else:
            item = self._part(items, f"a part of {where}", level + 1)
        most = raw.get("maxItems")
        return {
            "type": "array",
            "items": item,
            "maxItems": most if type(most) is int and 0 < most < items_max else items_max,
        }

    def _object(self, raw: Json, where: str, level: int) -> Json:
        asked = raw.get("required")
        names = asked if isinstance(asked, list) else []
        required = list(dict.fromkeys([name for name in names if isinstance(name, str)]))
        properties: Json = {**dict.fromkeys(required, True), **_as_dict(raw.get("properties"))}
        if len(properties) > schema_properties_max:
            raise _refused(where, f"has {len(properties)} fields, and at most {schema_properties_max} fit")
        wrong = next((name for name in properties if not _PROPERTY.fullmatch(name)), None)
        if wrong is not None:
            raise _refused(
                where, f"has a field called {in_brief(one_line(wrong), 60)}, which is no plain name"
            )
        if not properties:
            return {"type": "object"}
        written = {name: self._part(part, f"`{name}`", level + 1) for name, part in properties.items()}
        return {"type": "object", "properties": written, "required": required}


def _type_of(raw: Json, where: str) -> str:
    """The type of a value; of several, the first. Without one, what its other keys mean."""
    named = raw.get("type")
    if named is None:
        return (
            "object"
            if "properties" in raw
            else "array"
            if {"items", "prefixItems"} & raw.keys()
            else "string"
        )
    types = [sort for sort in (named if isinstance(named, list) else [named]) if sort != "null"]
    if not types:
        raise _refused(where, "can be nothing")
    if "number" in types and "integer" in types:
        return "number"
    if types[0] not in ("object", "array", "string", "integer", "number", "boolean"):
        raise _refused(where, f"has the type {in_brief(types[0], 60)}, which is unknown")
    return str(types[0])


def _words_of(raw: Any) -> list[Any] | None:
    if not isinstance(raw, dict):
        return None
    if "const" in raw:
        return [raw["const"]]
    words = raw.get("enum")
    return words if isinstance(words, list) else None


def _are_plain(words: list[Any]) -> bool:
    return all(
        len(word) <= choice_chars_max and word == safe_line(word)
        if isinstance(word, str)
        else abs(word) <= bound_max
        for word in words
    )


def _bounds(raw: Json, *, is_whole: bool) -> Json:
    bounds: Json = {}
    for name, exclusive, step in (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)):
        bound = raw.get(name)
        beyond = raw.get(exclusive)
        if is_whole and type(beyond) is int:
            bound = beyond + step
        if isinstance(bound, int | float) and not isinstance(bound, bool) and abs(bound) <= bound_max:
            bounds[name] = bound
    return {} if bounds.get("minimum", -math.inf) > bounds.get("maximum", math.inf) else bounds


def _as_dict(part: Any) -> Json:
    return part if isinstance(part, dict) else {}


def _without(part: Json, key: str) -> Json:
    return {name: value for name, value in part.items() if name != key}


def _refused(where: str, what: str) -> Refused:
    return Refused(f"{where[:1].upper()}{where[1:]} {what}.")
