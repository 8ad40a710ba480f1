"""The tool desk: what every act that uses tools shares: the toolbox, the record, and how an act under way is read back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from glasshouse.events.event import Event
from glasshouse.runtime.acts.taking_up import NOTHING_YET, Step, TakenUp, taken_up_from
from glasshouse.runtime.acts.warming import Warming
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import BeforeCommit, Toolbox
from glasshouse.turns.schedule import Due
from glasshouse.world.state import CreatureState

EventById = Callable[[str], Awaitable[Event]]


class Steps(Protocol):
    """What is on record of the calls of tools: that of a replay, or what a branch knows of its parent."""

    def step_then(self, creature: CreatureState, cause: Event, way: Sequence[Step]) -> Step | None:
        """What was recorded of the last call of an act's way, and of what came of it; none if it is to be done now."""


class ToolDesk:
    """What acts that use tools find: the tools, the record, and the ledger they write to."""

    def __init__(
        self,
        ledger: Ledger,
        toolbox: Toolbox,
        record: Steps,
        event: EventById,
        warming: Warming,
        before_commit: BeforeCommit | None = None,
    ) -> None:
        self.ledger = ledger
        self.toolbox = toolbox
        self.record = record
        self.before_commit = before_commit
        self._event = event
        self._warming = warming

    async def taken_up(self, due: Due) -> TakenUp:
        """What an act has written before it was cut off, if it was."""
        act = self.ledger.agenda.under_way.get(due.creature)
        if act is None or act.cause != due.cause:
            return NOTHING_YET
        return taken_up_from([await self._event(name) for name in act.events])

    async def make_ready(self, creature: CreatureState) -> None:
        """After a merge or a split the lines of the new graph are looked for before its creature looks again."""
        graph = self.ledger.world.graphs[creature.graph_id]
        if not self._warming.is_ready(graph):
            await self._warming.make_ready(graph)
