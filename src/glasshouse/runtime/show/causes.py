"""What an act answers: the event behind a debt, found where it is nearest at hand."""

from __future__ import annotations

from glasshouse.events.event import Event
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.reading import EventById
from glasshouse.turns.recalling import line_heard_by
from glasshouse.turns.schedule import Due


class Causes:
    """Finds causes: among the lines at hand, else in the store."""

    def __init__(self, ledger: Ledger, event: EventById) -> None:
        self._ledger = ledger
        self._event = event
        self._turns_cache: dict[str, Event] = {}
        """The `turn.started` of each graph, so that a tick need not look for its cause."""
        self._read_cache: Event | None = None
        """The last cause that had to be read: many may answer the same line, long after it was said."""

    def note_turn(self, started: Event) -> None:
        """A turn has begun, and its ticks are caused by this event."""
        self._turns_cache[started.graph_id] = started

    async def of(self, due: Due) -> Event:
        """The event that an act answers, as its creature hears it."""
        tables, world = self._ledger.folded.tables, self._ledger.world
        if due.is_tick:
            found = self._turns_cache.get(world.creatures[due.creature].graph_id)
        else:
            found = line_heard_by(tables, world, due.creature, due.cause)
        if found is not None and found.id == due.cause:
            return found
        cause = self._read_cache
        if cause is None or cause.id != due.cause:
            cause = self._read_cache = await self._event(due.cause)
        return tables.cause_for(world, due.creature, cause)
