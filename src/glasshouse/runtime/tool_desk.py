"""The tool desk: what every act that uses tools shares: the toolbox, the record, and how an act under way is read back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from glasshouse.events.event import Event, Json
from glasshouse.runtime.asking import Asking
from glasshouse.runtime.ledger import Ledger
from glasshouse.runtime.ports import Toolbox
from glasshouse.runtime.taking_up import NOTHING_YET, TakenUp, taken_up_from
from glasshouse.runtime.treasury import Reservation, Treasury
from glasshouse.runtime.using import Using
from glasshouse.runtime.warming import Warming
from glasshouse.turns.schedule import Due
from glasshouse.turns.tools import ToolAnswer
from glasshouse.world.state import CreatureState

EventById = Callable[[str], Awaitable[Event]]


class ToolRecord(Protocol):
    """What a replay knows of tools."""

    async def before_commit(self) -> None:
        """Let happen now what came from outside at this very place."""

    def tool_answer(self, creature: CreatureState, cause: Event, number: int) -> ToolAnswer | None:
        """The recorded answer to one call of an act's tools; none if the tool is to be used again."""

    def tool_way(self, creature: CreatureState, cause: Event, number: int) -> tuple[Event, ...]:
        """What one call wrote on its way, before it was answered."""


class ToolDesk:
    """Hands tools to acts."""

    def __init__(
        self,
        ledger: Ledger,
        toolbox: Toolbox,
        event: EventById,
        warming: Warming,
        record: ToolRecord | None = None,
    ) -> None:
        self._ledger = ledger
        self._toolbox = toolbox
        self._event = event
        self._warming = warming
        self._record = record

    async def taken_up(self, due: Due) -> TakenUp:
        """What an act has written before it was cut off, if it was."""
        act = self._ledger.agenda.under_way.get(due.creature)
        if act is None or act.cause != due.cause:
            return NOTHING_YET
        return taken_up_from([await self._event(name) for name in act.events])

    def using(
        self,
        creature: CreatureState,
        cause: Event,
        told: Json,
        before: TakenUp,
        treasury: Treasury,
        mine: Reservation,
        asking: Asking,
        gate: asyncio.Event | None,
    ) -> Using:
        """The tools of one act."""
        record = self._record
        return Using(
            self._ledger,
            self._toolbox,
            treasury,
            mine,
            asking,
            creature.id,
            cause,
            told,
            before=before,
            gate=gate,
            before_commit=None if record is None else record.before_commit,
            answer_then=None
            if record is None
            else lambda number: record.tool_answer(creature, cause, number),
            way_then=None if record is None else lambda number: record.tool_way(creature, cause, number),
            make_ready=self._make_ready,
        )

    async def _make_ready(self, creature: CreatureState) -> None:
        """After a merge or a split the lines of the new graph are looked for before its creature looks again."""
        graph = self._ledger.world.graphs[creature.graph_id]
        if not self._warming.is_ready(graph):
            await self._warming.make_ready(graph)
