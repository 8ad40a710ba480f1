"""`NoTools`: the toolbox of a terrarium that was given none."""

from __future__ import annotations

from glasshouse.runtime.errand import Errand
from glasshouse.runtime.folded import Folded
from glasshouse.turns.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.state import CreatureState


class NoTools:
    """Offers nothing to anybody."""

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:  # noqa: ARG002 (the port's names)
        """Nothing."""
        return ()

    def has(self, tool: str) -> bool:  # noqa: ARG002 (the port's names)
        """No tool is here."""
        return False

    def names(self) -> frozenset[str]:
        """None."""
        return frozenset()

    async def use(self, call: ToolCall, errand: Errand) -> ToolAnswer:  # noqa: ARG002 (the port's names)
        """Say that there is no such tool: it was there when it was asked for, before the terrarium was opened anew."""
        return ToolAnswer(is_ok=False, text=f"The tool {call.tool} is not here any more. Go on without it.")
