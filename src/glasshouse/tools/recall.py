"""`RecallTool`: the tool `recall`, with which a creature searches its long memory.

Always holds: it is offered to creatures with long memory alone, and finds only what they heard or said. Its answer holds the lines, so nobody
needs the index of words to read it again.
"""

from __future__ import annotations

from typing import Final

import msgspec

from glasshouse.events.described_tool import RECALL
from glasshouse.events.event import VISITOR
from glasshouse.events.recalled import RecalledLine, RecallResult, recalled_text
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.heard.surroundings import is_by_stranger
from glasshouse.turns.moment.line_text import cut, reading_of
from glasshouse.turns.moment.moment import FarLine
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.state.state import CreatureState

line_recalled_chars_max: Final = 500
"""A longer line is cut in the answer: eight of them must fit into the prompt of a small model."""

_OFFER: Final = ToolOffer(
    RECALL,
    "Remember what was said about something, however long ago.",
    {
        "type": "object",
        "properties": {
            "words": {"type": "string", "description": "what it was about, in a few words", "minLength": 1}
        },
        "required": ["words"],
    },
)


class RecallTool:
    """Offers `recall` to creatures with long memory."""

    def names(self) -> frozenset[str]:
        """The name that a manifest may grant."""
        return frozenset({RECALL})

    def has(self, tool: str) -> bool:
        """Whether this is the tool."""
        return tool == RECALL

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """The tool, if the creature is granted it."""
        return (_OFFER,) if RECALL in folded.world.facts_of(creature).tools else ()

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        """Search the creature's memory."""
        if context.recall is None:
            return ToolAnswer(is_ok=False, text="You have no long memory.", is_engine=True)
        lines = await context.recall(str(call.arguments.get("words", "")))
        recalled = tuple([_recalled(line) for line in lines])
        world = context.folded.world
        is_untrusted = any(
            line.event.actor == VISITOR or is_by_stranger(world, line.event.actor) for line in lines
        )
        result = msgspec.to_builtins(RecallResult(recalled, is_untrusted))
        return ToolAnswer(is_ok=True, text=recalled_text(recalled), result=result)


def _recalled(line: FarLine) -> RecalledLine:
    reading = reading_of(line.event, line.known_as)
    text = cut(f"{reading.head}{reading.body}", line_recalled_chars_max)
    return RecalledLine(line.event.id, line.event.kind, text)
