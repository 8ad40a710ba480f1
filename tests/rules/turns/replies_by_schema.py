"""Replies for tests: any object that a reply's schema allows, with words that a creature could say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

WORDS = st.lists(st.sampled_from(["Mud", "owl", "lantern", "rain", "seven"]), min_size=1, max_size=6).map(
    " ".join
)


def values(schema: Json) -> st.SearchStrategy[Any]:
    """Any value that a schema of the engine, or of a wire dialect, allows."""
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    if "anyOf" in schema:
        return st.one_of([values(choice) for choice in schema["anyOf"]])
    match schema["type"]:
        case "object":
            required = {
                name: values(part)
                for name, part in schema["properties"].items()
                if name in schema["required"]
            }
            optional = {
                name: values(part) for name, part in schema["properties"].items() if name not in required
            }
            return st.fixed_dictionaries(required, optional=optional)
        case "array":
            items = values(schema["items"]) if schema.get("maxItems", 1) else st.nothing()
            sizes = {"min_size": schema.get("minItems", 0), "max_size": min(3, schema.get("maxItems", 3))}
            return st.lists(items, **sizes, unique=True)
        case "number" | "integer":
            return st.integers(0, 9)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case _:
            return WORDS
