"""Support for tests of acts that use tools: toolboxes and model replies."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from glasshouse.runtime.folded import Folded
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.state.state import CreatureState

Deed = Callable[[ToolCall, ToolContext], Awaitable[ToolAnswer]]


class OneTool:
    """A toolbox with one tool, `lamp`, for everybody; keeps every call it was given."""

    def __init__(self, deed: Deed | None = None, *, is_engine: bool = False) -> None:
        self.calls: list[ToolCall] = []
        self.errands: list[ToolContext] = []
        self._deed = deed
        self._is_engine = is_engine

    def names(self) -> frozenset[str]:
        return frozenset({"lamp"})

    def has(self, tool: str) -> bool:
        return tool == "lamp"

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        how = {"how": {"enum": ["low", "high"]}}
        return (
            ToolOffer("lamp", "Turn the lamp.", {"type": "object", "properties": how, "required": ["how"]}),
        )

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        self.calls.append(call)
        self.errands.append(context)
        if self._deed is not None:
            return await self._deed(call, context)
        return ToolAnswer(is_ok=True, text=f"The lamp is {call.arguments['how']}.", is_engine=self._is_engine)


def uses(how: str = "low", tool: str = "lamp") -> str:
    """A reply that uses a tool."""
    return json.dumps({"kind": "tool.called", "thought": "Light.", "tool": tool, "arguments": {"how": how}})


def speaks(text: str = "It is bright.") -> str:
    """A reply that ends an act."""
    return json.dumps({"kind": "agent.spoke", "thought": "", "text": text})
