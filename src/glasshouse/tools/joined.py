"""`JoinedTools`: several toolboxes as one; each carries out its own tools."""

from __future__ import annotations

from glasshouse.runtime.errand import Errand
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ports import Toolbox
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.state.state import CreatureState


class JoinedTools:
    """Toolboxes side by side, asked in order."""

    def __init__(self, *boxes: Toolbox) -> None:
        self._boxes = boxes

    def names(self) -> frozenset[str]:
        """The names that a manifest may grant, of all of them."""
        return frozenset().union(*[box.names() for box in self._boxes])

    def has(self, tool: str) -> bool:
        """Whether one of them carries out such a tool."""
        return any(box.has(tool) for box in self._boxes)

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """What each offers, in order."""
        return tuple([offer for box in self._boxes for offer in box.offers(folded, creature)])

    async def use(self, call: ToolCall, errand: Errand) -> ToolAnswer:
        """Hand a call to the one whose tool it is."""
        for box in self._boxes:
            if box.has(call.tool):
                return await box.use(call, errand)
        return ToolAnswer(is_ok=False, text=f"There is no tool {call.tool}.")
