"""Tools of servers in a prompt: what strangers say of them, quoted, for the user message (ADR 0089).

Always holds: every word of a stranger stands between quotation marks, on one line, and is bounded. Only the names of
tools and parameters do not, which are plain words. The system message has an example of the call, without a choice that
could be read as a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from glasshouse.events.event import Json
from glasshouse.turns.moment.line_text import compact_json, quoted, safe_line
from glasshouse.turns.moment.tools import ToolOffer

foreign_description_chars_max: Final = 1_000
"""A longer description of a server's tool is cut."""
choices_shown_max: Final = 24
"""More values that a parameter of a server's tool may have are counted, not listed."""
choices_chars_max: Final = 300
"""A longer list of the values that a parameter may have is cut."""
_PLAIN_WORD: Final = re.compile(r"[\w.+-]{1,24}")


def foreign_tool_lines(offers: Iterable[ToolOffer]) -> list[str]:
    """One line for each tool of a server: what it takes, and what its server says of it."""
    return [_line(offer) for offer in offers if offer.is_foreign]


def _line(offer: ToolOffer) -> str:
    properties: Json = offer.parameters.get("properties", {})
    required = offer.parameters.get("required", ())
    taken = [
        f"{safe_line(name)} ({_sort(schema)}{'' if name in required else ', or left out'})"
        for name, schema in properties.items()
    ]
    said = quoted(offer.description, foreign_description_chars_max)
    return f"{safe_line(offer.name)} takes {', '.join(taken) or 'nothing'}. Its server says of it: {said}"


def _sort(schema: Json) -> str:
    """What a parameter may be, in words."""
    if "enum" in schema:
        values = schema["enum"]
        more = f" or {len(values) - choices_shown_max} more" if len(values) > choices_shown_max else ""
        written = compact_json(values[:choices_shown_max])
        # A list that is cut inside a text would end between two quotation marks.
        return f"one of {written if len(written) <= choices_chars_max else quoted(written, choices_chars_max)}{more}"
    if schema.get("type") == "array":
        return f"a list, each {_sort(schema.get('items', {}))}"
    return _SORTS.get(str(schema.get("type")), "text")


_SORTS: Final = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
}


def without_choices(schema: Json) -> Json:
    """The schema as an example shows it: without choices that are more than plain words."""
    choices = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    if not all(_PLAIN_WORD.fullmatch(str(value)) for value in choices):
        return {"type": "string"}
    parts = {name: without_choices(part) for name, part in schema.get("properties", {}).items()}
    items = {"items": without_choices(schema["items"])} if isinstance(schema.get("items"), dict) else {}
    return {**schema, **items, **({"properties": parts} if parts else {})}
