"""Tools as values: what a creature is offered, what it asks for, and what it is told.

Always holds: these are plain data. Who may use a tool is decided where offers are made; what a tool does, by whoever
carries it out.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import ToolReturned, payload_of
from glasshouse.reprs import repr_of

tool_calls_in_act_max: Final = 8
"""After so many calls an act is offered no more tools, and must end."""

RESERVED_ARGUMENTS: Final = frozenset({"kind", "thought", "mood", "tool"})
"""Fields that every reply which uses a tool has already: no parameter may be called so."""


class ToolOffer(msgspec.Struct, frozen=True):
    """A tool that a creature may use now."""

    name: str
    description: str
    """One sentence for the model."""
    parameters: Json
    """A JSON Schema of an object: `{"type": "object", "properties": {...}, "required": [...]}`."""


class ToolCall(msgspec.Struct, frozen=True):
    """What a reply that uses a tool comes to."""

    tool: str
    arguments: Json
    private: Json | None = None


class ToolAnswer(msgspec.Struct, frozen=True):
    """What came of a call: words that the model reads, and a value for programs."""

    __repr__ = repr_of("is_ok", "text", "result")

    is_ok: bool
    text: str
    result: Any = None
    is_engine: bool = False
    """Whether these are words of the engine itself, which are trusted."""


class ToolTalk(msgspec.Struct, frozen=True):
    """One call of an act, and what came of it."""

    tool: str
    arguments: Json
    answer: ToolAnswer


def answer_of(returned: Event) -> ToolAnswer:
    """The answer that a `tool.returned` tells."""
    payload = payload_of(returned, ToolReturned)
    return ToolAnswer(payload.is_ok, payload.text, payload.result, payload.is_engine)
