"""Schema: a value for any JSON Schema, made from what a player has to say.

Always holds: the value is valid where the schema can be satisfied by types, bounds, words and lengths; patterns are not
solved. Fields that are given are kept; the others are filled by their names and types.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final, NamedTuple

from glasshouse.troupe.vocabulary import stems_of

schema_levels_max: Final = 6
"""Below this, an answer to a strange schema is as empty as it may be."""
items_made_max: Final = 2
"""A list in an answer to a strange schema has no more than it must, or this many."""


class Source(NamedTuple):
    """What values are made from."""

    text: Callable[[str], str]
    """A text for a field of this name."""
    refs: tuple[str, ...]
    """The lines that may be cited, the fittest first."""
    heard: Callable[[], frozenset[str]]
    """The stems of what was heard, for choosing among words."""
    dice: Random


def filled_schema(schema: Any, source: Source, given: Mapping[str, Any] | None = None) -> Any:
    """A value that satisfies the schema; of its top-level fields, those given are kept."""
    return _Filling(schema, source).value(schema, "", given or {}, 0)


def is_ref(schema: Any) -> bool:
    """Whether a field asks for the number of a line."""
    return isinstance(schema, dict) and "number of a line" in str(schema.get("description", ""))


def chosen_word(words: list[Any], heard: frozenset[str], dice: Random) -> Any:
    """The one of some words that what was heard speaks of most; any, where it speaks of none."""
    scores = [len(stems_of(str(word).replace("-", " ").replace("_", " ")) & heard) for word in words]
    best = max(scores)
    return dice.choice([word for word, score in zip(words, scores, strict=True) if score == best])


class _Filling:
    def __init__(self, root: Any, source: Source) -> None:
        self.root = root
        self.source = source

    def value(self, schema: Any, name: str, given: Mapping[str, Any], depth: int) -> Any:
        schema = self._plain(schema)
        if "const" in schema:
            return schema["const"]
        if is_ref(schema):
            return (self._refs(schema, 1, 1) or ["0"])[0]
        if schema.get("enum"):
            return chosen_word(list(schema["enum"]), self.source.heard(), self.source.dice)
        sort = _sort_of(schema)
        if sort == "object":
            return self._object(schema, given, depth)
        if sort == "array":
            return self._array(schema, name, depth)
        if sort in {"integer", "number"}:
            return _number(schema, self.source.dice, whole=sort == "integer")
        if sort == "boolean":
            return self.source.dice.random() < 0.5
        return None if sort == "null" else self._string(schema, name)

    def _plain(self, schema: Any) -> dict[str, Any]:
        """The schema without references and choices."""
        for _ in range(schema_levels_max * 2):
            if not isinstance(schema, dict):
                return {}
            if "$ref" in schema:
                schema = {
                    **self._referred(schema["$ref"]),
                    **{k: v for k, v in schema.items() if k != "$ref"},
                }
            elif schema.get("allOf"):
                schema = _joined({k: v for k, v in schema.items() if k != "allOf"}, schema["allOf"])
            elif schema.get("anyOf") or schema.get("oneOf"):
                choices = schema.get("anyOf") or schema["oneOf"]
                rest = {k: v for k, v in schema.items() if k not in {"anyOf", "oneOf"}}
                solid = [part for part in choices if isinstance(part, dict) and part.get("type") != "null"]
                schema = _joined(rest, [(solid or choices)[0]])
            else:
                return schema
        return {}

    def _referred(self, pointer: str) -> dict[str, Any]:
        target = self.root
        for step in pointer.removeprefix("#").strip("/").split("/"):
            target = target.get(step, {}) if isinstance(target, dict) and step else target
        return target if isinstance(target, dict) else {}

    def _object(self, schema: dict[str, Any], given: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        names = [*properties, *(name for name in required if name not in properties)]
        if depth >= schema_levels_max:
            names = [name for name in names if name in required]
        made = {}
        for name in names:
            if name in given and self._suits(properties.get(name, {}), given[name]):
                made[name] = given[name]
            elif properties.get(name, True) is not False:
                made[name] = self.value(properties.get(name, {}), name, {}, depth + 1)
        return made

    def _suits(self, schema: Any, value: Any) -> bool:
        """Whether what a skill has to say is what a field asks for."""
        schema = self._plain(schema)
        if "const" in schema or "enum" in schema:
            return value in schema.get("enum", [schema.get("const")])
        if isinstance(value, str):
            lengths = schema.get("minLength", 0), schema.get("maxLength", len(value))
            return _sort_of(schema) == "string" and lengths[0] <= len(value) <= lengths[1]
        if isinstance(value, int | float):
            return _sort_of(schema) == ("boolean" if isinstance(value, bool) else "number") or (
                isinstance(value, int) and _sort_of(schema) == "integer"
            )
        if not isinstance(value, list) or _sort_of(schema) != "array":
            return False
        counts = schema.get("minItems", 0), schema.get("maxItems", len(value))
        return counts[0] <= len(value) <= counts[1] and all(
            self._suits(schema.get("items", {}), item) for item in value
        )

    def _array(self, schema: dict[str, Any], name: str, depth: int) -> list[Any]:
        least = int(schema.get("minItems", 0))
        most = int(schema.get("maxItems", 1_000))
        first = schema.get("prefixItems", [])
        item = schema.get("items", {})
        if is_ref(item):
            return self._refs(item, least, most)
        count = max(least, min(most, items_made_max if depth < schema_levels_max else 0))
        if item is False:
            count = max(least, min(count, len(first)))
        made: list[Any] = []
        for at in range(count):
            value = self.value(first[at] if at < len(first) else item, name, {}, depth + 1)
            if schema.get("uniqueItems") and value in made:
                value = self._another(first[at] if at < len(first) else item, made)
                if value is None:
                    break
            made.append(value)
        return made

    def _another(self, item: Any, made: list[Any]) -> Any:
        """A value for an item that is not there yet; none if there is no telling one."""
        plain = self._plain(item)
        for word in plain.get("enum", ()):
            if word not in made:
                return word
        sort = _sort_of(plain)
        if sort == "string" and "const" not in plain and "enum" not in plain:
            return self._string(plain, f"another {len(made)}") if len(made) < 2 else None
        if sort in {"integer", "number"}:
            low = _number(plain, Random(0), whole=sort == "integer", lowest=True)
            step = plain.get("multipleOf", 1)
            return next((low + n * step for n in range(len(made) + 1) if low + n * step not in made), None)
        if sort == "boolean":
            return next((value for value in (True, False) if value not in made), None)
        return None

    def _refs(self, schema: dict[str, Any], least: int, most: int) -> list[str]:
        """Some lines to cite, the fittest first, of those that may be cited."""
        may_be = schema.get("enum", self.source.refs)
        fit = [ref for ref in self.source.refs if ref in may_be] or list(may_be[-1:])
        refs = fit[: max(least, min(most, 3))]
        return refs + refs[-1:] * (least - len(refs))

    def _string(self, schema: dict[str, Any], name: str) -> str:
        text = self.source.text(name)
        least = int(schema.get("minLength", 0))
        most = schema.get("maxLength")
        if len(text) < least:
            text = (text + " " + "and so on " * least)[:least]
        return text if most is None else text[: int(most)]


def _sort_of(schema: dict[str, Any]) -> str:
    sort = schema.get("type")
    if isinstance(sort, list):
        sort = next((name for name in sort if name != "null"), "null")
    if isinstance(sort, str):
        return sort
    if "properties" in schema or "required" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema or "minItems" in schema:
        return "array"
    return "number" if "minimum" in schema or "maximum" in schema else "string"


def _joined(schema: dict[str, Any], more: list[Any]) -> dict[str, Any]:
    for part in more:
        if isinstance(part, dict):
            properties = {**schema.get("properties", {}), **part.get("properties", {})}
            required = [*schema.get("required", ()), *part.get("required", ())]
            schema = {**schema, **part}
            if properties:
                schema["properties"] = properties
            if required:
                schema["required"] = list(dict.fromkeys(required))
    return schema


def _number(schema: dict[str, Any], dice: Random, *, whole: bool, lowest: bool = False) -> Any:
    """A number within its bounds; on the grid of `multipleOf` where there is one."""
    step = schema.get("multipleOf") or (1 if whole else None)
    low = schema.get("minimum")
    high = schema.get("maximum")
    over = schema.get("exclusiveMinimum")
    under = schema.get("exclusiveMaximum")
    if over is not None and (low is None or over >= low):
        low = math.floor(over / step) * step + step if step else over + _small_step(over, high, under)
    if under is not None and (high is None or under <= high):
        high = math.ceil(under / step) * step - step if step else under - _small_step(under, low, over)
    if low is None:
        low = 0 if high is None or high >= 0 else high - 10
    if high is None:
        high = low + 10
    if step:
        first = math.ceil(low / step)
        last = math.floor(high / step)
        number = (first if lowest or last <= first else dice.randint(first, last)) * step
        return int(number) if whole else number
    drawn = low + (high - low) * dice.random()
    # Where there is room for whole numbers, people say whole numbers.
    digits = 0 if high - low > 2 else 2
    return low if lowest else min(high, max(low, round(drawn, digits)))


def _small_step(edge: float, *others: float | None) -> float:
    """Far less than the room there is between an edge and what bounds the other side."""
    rooms = [abs(edge - other) for other in others if other is not None and other != edge]
    return min([1.0, *rooms]) / 4
