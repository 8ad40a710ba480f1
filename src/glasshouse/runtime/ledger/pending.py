"""The pending world: the committed events and those on their way to the store, folded. Decisions are made on it.

It also notes what was written since somebody last looked: in which graphs, for the conductor and for drives that wait, and
at which position the world last changed by more than a line, for acts that looked before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.runtime.folded import Folded
from glasshouse.world.fold.evolve import MORE_THAN_LINES

EVERY_GRAPH: Final = ""
"""In place of the ids of graphs: all of them must be looked at again."""


class Pending:
    """The state after everything that was decided, durable or not, and what has moved in it."""

    def __init__(self) -> None:
        self.use(Folded())
        self.position = 0
        """The position of the last event of the pending world."""
        self.moved_at = 0
        """The position of the last change that did more than say a line. An act that looked at the world before it must
        say so (ADR 0064)."""
        self.refolds = 0
        """How often the world was folded again. What was looked up in the world before is looked up again."""
        self.graphs_moved: dict[str, None] = {}
        """The graphs that got events since the conductor last looked, and those of a run that began, paused or ended; or
        `EVERY_GRAPH` if the world was folded again. A dict, because it keeps the order."""
        self.awaited: dict[str, list[asyncio.Future[None]]] = {}
        """The graphs in which somebody awaits the next write, with a future for each who does."""
        self.after_refold: list[Callable[[], None]] = []
        """Called right after the world was folded again, before anybody is answered or can write: what was on its way and is
        not in it was refused."""

    def use(self, folded: Folded) -> None:
        """Go on with this state."""
        self.folded = folded
        self.world = folded.world
        """The pending world: the committed events and those on their way, folded."""
        self.agenda = folded.agenda

    def begin_anew(self, folded: Folded, position: int) -> None:
        """Go on with a state that was folded from the store up to this position. Everybody must look again."""
        self.use(folded)
        self.refolds += 1
        self.position = position
        self.moved_at = position
        self.graphs_moved[EVERY_GRAPH] = None
        self.wake(tuple(self.awaited))
        for look in self.after_refold:
            look()

    def note(self, events: Sequence[Event], *, is_decided_here: bool = True) -> None:
        """Note that the events of one change were folded: where, who must look again, and whether the change did more than
        say a line. What was decided elsewhere, in a replay or in another house, is seen by no act that is under way."""
        if not events:
            return  # An edit that changes nothing: nothing moved.
        first = events[0]
        graphs_moved = self.graphs_moved
        if is_decided_here and first.kind in MORE_THAN_LINES:
            self.moved_at = self.position + 1
            if first.kind in kinds.OF_RUNS:
                graphs_moved.update(dict.fromkeys(self.world.graphs_of(first.run_id or "")))
        for event in events:
            graphs_moved[event.graph_id] = None
        if self.awaited:
            self.wake_for(events)
        self.position += len(events)

    async def wait_for_write_in(self, graph_id: str) -> None:
        """Wait until something is written in a graph, any graph merges or splits, a run changes, or `wake` is called."""
        awaited = asyncio.get_running_loop().create_future()
        self.awaited.setdefault(graph_id, []).append(awaited)
        await awaited

    def wake_for(self, events: Sequence[Event]) -> None:
        """Wake those who wait for what these events did."""
        is_of_all = any(event.kind in kinds.OF_GRAPHS or event.kind in kinds.OF_RUNS for event in events)
        self.wake(tuple(self.awaited) if is_of_all else [event.graph_id for event in events])

    def wake(self, graph_ids: Iterable[str]) -> None:
        """Wake those who wait for a write in these graphs."""
        for graph_id in graph_ids:
            for awaited in self.awaited.pop(graph_id, ()):
                if not awaited.done():  # A waiter may have been cancelled.
                    awaited.set_result(None)
