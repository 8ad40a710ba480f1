"""Tools as values: the tools that a creature is offered, its calls, and their answers.

Always holds: these are plain data. The code that makes offers decides which creature may use a tool. The code that runs
a call decides what the tool does.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from glasshouse.errors import Refused
from glasshouse.events.described_tool import RECALL
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import ToolReturned, payload_of
from glasshouse.events.recalled import recall_result
from glasshouse.reprs import repr_of

tool_calls_in_act_max: Final = 8
"""The most tool calls in one act. After them the act is offered no more tools and must end."""

GROUP_PREFIX: Final = "group_"
"""How the names of the engine's own tools begin. No other tool may have it, and only privilege grants them."""


class ToolOffer(msgspec.Struct, frozen=True):
    """A tool that a creature may use now."""

    name: str
    description: str
    """One sentence for the model."""
    parameters: Json
    """A JSON Schema of an object: `{"type": "object", "properties": {...}, "required": [...]}`."""
    open_arguments: frozenset[str] = frozenset()
    """Arguments that may also be another text than those that `parameters` list. The tool itself decides about it."""
    is_foreign: bool = False
    """Whether the description is a stranger's text: it stands quoted in the user message, and nowhere else."""


class ToolCall(msgspec.Struct, frozen=True):
    """A tool call, as read from a reply."""

    tool: str
    arguments: Json
    private: Json | None = None


class ToolAnswer(msgspec.Struct, frozen=True):
    """The result of a call: text for the model, and a value for programs."""

    __repr__ = repr_of("is_ok", "text", "result")

    is_ok: bool
    text: str
    result: Any = None
    is_engine: bool = False
    """Whether the text is the engine's own, and therefore trusted."""


class ToolTalk(msgspec.Struct, frozen=True):
    """One tool call of an act, and its answer."""

    tool: str
    arguments: Json
    answer: ToolAnswer


def is_trusted(tool: str, answer: ToolAnswer) -> bool:
    """Whether an answer holds no words of a visitor, a stranger or a tool that is not the engine's. What `recall` found was said in
    this house, so it counts as its lines do."""
    if tool == RECALL and answer.is_ok:
        return not recall_result(answer.result).is_untrusted
    return answer.is_engine


def needs_privilege(tool: str, handle: str) -> Refused:
    """The refusal of a group tool to the code of a creature that is not privileged."""
    return Refused(
        f"{tool} is for privileged creatures, and {handle} is none.",
        f"Let somebody outside call grant_privilege({handle!r}), or write `privileged: true` in its cast.",
    )


def answer_of(returned: Event) -> ToolAnswer:
    """The answer in a `tool.returned` event."""
    payload = payload_of(returned, ToolReturned)
    return ToolAnswer(payload.is_ok, payload.text, payload.result, payload.is_engine)
