"""What this process keeps of a graph that it drives: one record a graph.

A step of a graph holds the record's lock. The record also knows the last turn and the last act that were written there,
until they are durable, because an act may begin only then.

Always holds: a restart after a crash needs nothing of this. A record is dropped only while no drive is under way, because
drives may wait for its lock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container

import msgspec

from glasshouse.errors import StoreError
from glasshouse.events.event import Event
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.writer import Queued


class GraphSteps(msgspec.Struct, eq=False):
    """One graph that is driven."""

    lock: asyncio.Lock
    """Held during a step. Locks are fair: drives take turns."""
    is_driven: bool = False
    """Whether an act was played in it since this house was opened, or since the graph was let go."""
    turn: Event | None = None
    """Its last `turn.started`, which is the cause of its ticks (ADR 0021)."""
    turn_queued: Queued | None = None
    """The same on its way to the store, until it, or an act after it, is known to be durable."""
    last_act: Queued | None = None
    """The last act written in it, until it is known to be durable."""
    looked_at: int = -1
    """The ledger's `moved_at` when the batch here was last begun. If it differs now, the batch is looked through again."""

    async def wait_for_durability(self, ledger: Ledger, *, with_turn: bool = True) -> None:
        """Wait until the last act is durable, and the last turn, too, unless it is left out. Raises if a commit failed."""
        for queued in (self.turn_queued if with_turn else None, self.last_act):
            if queued is None:
                continue  # Nothing of this kind is on its way.
            try:
                if queued.acknowledged.cancelled():
                    # A drive that waited for it was cancelled, and the future with it.
                    await ledger.writer.wait_for_durability()
                else:
                    await queued.acknowledged
            except StoreError:
                self.forget_writes()
                raise
            if queued is self.turn_queued:
                self.turn_queued = None
            elif queued is self.last_act:
                self.last_act = None

    def forget_writes(self) -> None:
        """Wait for nothing any more: that it is not durable is reported once, and not again to the next drive."""
        self.turn_queued = None
        self.last_act = None


class DrivenGraphs(dict[str, GraphSteps]):
    """The records of all graphs that this process drives, by their ids. Whoever asks for a new graph begins its record."""

    def __init__(self) -> None:
        super().__init__()
        self.idle: set[str] = set()
        """The graphs that were let go since it was last tidied."""

    def __missing__(self, graph_id: str) -> GraphSteps:
        steps = self[graph_id] = GraphSteps(asyncio.Lock())
        return steps

    def let_go(self, graph_id: str) -> None:
        """Let a graph begin as after reopening, if it is driven again. What is on its way to the store is waited for."""
        steps = self.get(graph_id)
        if steps is not None:
            steps.is_driven = False
            steps.turn = None
            steps.looked_at = -1
            self.idle.add(graph_id)

    def tidy(self, graphs: Container[str]) -> None:
        """Drop the records of graphs that were let go, and of those that are no more. Only while no drive is under way."""
        gone = [
            name
            for name, steps in self.items()
            if name not in graphs or (name in self.idle and not steps.is_driven)
        ]
        for name in gone:
            del self[name]
        self.idle.clear()
