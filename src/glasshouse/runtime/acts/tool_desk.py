"""The tool desk: what all acts that use tools share: the toolbox, the record, and how an interrupted act is read."""

from __future__ import annotations

from glasshouse.runtime.acts.act_so_far import NOTHING_YET, ActSoFar, act_so_far_of
from glasshouse.runtime.acts.answers import Answers
from glasshouse.runtime.acts.warm_lines import WarmLines
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.reading import EventById
from glasshouse.runtime.ports import Toolbox
from glasshouse.turns.schedule import Due
from glasshouse.world.state import CreatureState


class ToolDesk:
    """What acts that use tools find: the tools, the record, and the ledger they write to."""

    def __init__(
        self,
        ledger: Ledger,
        toolbox: Toolbox,
        answers: Answers,
        event: EventById,
        warm_lines: WarmLines,
    ) -> None:
        self.ledger = ledger
        self.toolbox = toolbox
        self.answers = answers
        self._event = event
        self._warm_lines = warm_lines

    async def act_so_far(self, due: Due) -> ActSoFar:
        """What an act has written before it was cut off, if it was."""
        act = self.ledger.agenda.under_way.get(due.creature)
        if act is None or act.cause != due.cause:
            return NOTHING_YET
        return act_so_far_of([await self._event(name) for name in act.events])

    async def make_ready(self, creature: CreatureState) -> None:
        """After a merge or a split the lines of the new graph are looked for before its creature looks again."""
        graph = self.ledger.world.graphs[creature.graph_id]
        if not self._warm_lines.is_ready(graph):
            await self._warm_lines.make_ready(graph)
