"""What a server says of its tools: bounded, normalised, and with a digest by which a change is noticed.

Always holds: whatever a server says, each of its tools is described or refused in words. Names are plain, texts are
short and on one line. The digest is of the definition as the server sent it, so that whatever changes in it is noticed,
also what is not shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from glasshouse.errors import Refused, in_brief
from glasshouse.events.codec import canonical_json
from glasshouse.events.described_tool import SERVER_SEPARATOR, DescribedTool
from glasshouse.events.event import Json
from glasshouse.tools.mcp.schemas import normalised
from glasshouse.turns.moment.line_text import cut, safe_line

tool_description_chars_max: Final = 500
"""What is kept of a server's description of a tool."""
parameter_description_chars_max: Final = 100
"""A server's description of a parameter is cut here."""
description_with_parameters_chars_max: Final = 1_000
"""The description of a tool, with those of its parameters."""

_TOOL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


Described = dict[str, DescribedTool | Refused]
"""Name -> the tool, or why it cannot be used."""


def described(server: str, definitions: Sequence[Json]) -> Described:
    """The tools of a server, from their definitions on the wire."""
    counts = Counter(_name_in(definition) for definition in definitions)
    tools: Described = {}
    for definition in definitions:
        name = _name_in(definition)
        shown = name if _TOOL.fullmatch(name) else in_brief(name, 60)
        full = f"{server}{SERVER_SEPARATOR}{shown}"
        try:
            if counts[name] > 1:
                raise Refused(f"{full} is listed more than once.")
            if shown != name:
                raise Refused(
                    f"{full} has no plain name: up to 64 letters, digits, hyphens, dots, underscores."
                )
            tools[full] = _described(full, definition)
        except Refused as wrong:
            tools[full] = wrong
    return tools


def _described(full: str, definition: Json) -> DescribedTool:
    schema = definition.get("inputSchema")
    hints = definition.get("annotations")
    compared = {key: definition.get(key) for key in ("name", "description", "inputSchema", "annotations")}
    try:
        parameters = normalised(schema)
        digest = sha256(canonical_json(compared)).hexdigest()
    except Refused as wrong:
        raise Refused(f"{full} cannot be used. {wrong}") from None
    except (OverflowError, TypeError, ValueError, RecursionError):
        raise Refused(f"{full} cannot be used. Its definition is not plain JSON.") from None
    return DescribedTool(
        name=full,
        description=_description(definition.get("description"), schema, parameters),
        parameters=parameters,
        is_read_only=isinstance(hints, dict) and hints.get("readOnlyHint") is True,
        digest=digest,
    )


def parameters_of(tool: DescribedTool) -> Json:
    """The parameters of a tool that is on record, normal again. Refused if they cannot be, or its name is not plain."""
    if not _TOOL.fullmatch(tool.name.partition(SERVER_SEPARATOR)[2]):
        raise Refused(f"{in_brief(tool.name, 60)} is no plain name of a tool.")
    return normalised(tool.parameters)


def _name_in(definition: Json) -> str:
    return str(definition.get("name", ""))


def _description(description: Any, schema: Any, parameters: Json) -> str:
    about = _text(description, tool_description_chars_max)
    raw = schema.get("properties") if isinstance(schema, dict) else None
    given = raw if isinstance(raw, dict) else {}
    notes = [
        f"{name}: {note}"
        for name in parameters["properties"]
        if isinstance(given.get(name), dict)
        and (note := _text(given[name].get("description"), parameter_description_chars_max))
    ]
    return cut("; ".join([about, *notes] if about else notes), description_with_parameters_chars_max)


def _text(value: Any, chars_max: int) -> str:
    return cut(safe_line(value[: 4 * chars_max]), chars_max) if isinstance(value, str) else ""
