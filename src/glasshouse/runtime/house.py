"""`House`: one store, its ledger, and the subscriptions and observers that read it.

Always holds: a house is opened once. Closing it waits until everything in flight is durable, then closes the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

from glasshouse.errors import Refused, check_type
from glasshouse.events.event import Event
from glasshouse.events.filter import EventFilter
from glasshouse.events.redaction import Role, check_role
from glasshouse.runtime.acts.inside import check_is_outside
from glasshouse.runtime.ledger.folds import load_folded
from glasshouse.runtime.ledger.history import HistoryReader, mail_pages
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.observer import Observer, ObserverPump, Observers
from glasshouse.runtime.ledger.subscriptions import Subscription, Subscriptions
from glasshouse.runtime.ports import Clock, Ids, ToolServers
from glasshouse.runtime.store_port import Store
from glasshouse.world.state.state import World


class House:
    """A store and its ledger, with subscriptions, observers and the tool servers that it asks."""

    def __init__(self, store: Store, clock: Clock, ids: Ids) -> None:
        self.store = store
        self.clock = clock
        self.ids = ids
        self.subscriptions = Subscriptions(store, lambda: self.ledger.world, self._world_at)
        self.ledger = Ledger(store, clock, self.subscriptions)
        self.history = HistoryReader(store, self.ledger)
        self.servers: ToolServers | None = None
        """The servers whose tools may be granted. A replay has none: what was granted is on record."""
        self._observers = Observers()
        self._is_used = False
        self._closing: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the store and restore every open graph. Adds no event."""
        if self._is_used:
            raise Refused("A terrarium is opened once.", "Make another one on the same store.")
        self._is_used = True
        await self.store.open(self.ids.new())
        try:
            await self.ledger.open()
        except BaseException:
            await self.store.close()
            raise

    def host(self, servers: ToolServers) -> None:
        """Let tools of these servers be granted, and note from now on which of them change."""
        self.servers = servers
        servers.watch(self.ledger)

    def new_run_id(self) -> str:
        """An id for a new run."""
        return f"r-{self.ids.new()}"

    async def close(self, stop_acts: Callable[[], Awaitable[None]]) -> None:
        """Stop the acts, wait until everything in flight is durable, then close the store.

        If the caller is cancelled while it waits, the closing continues.
        """
        check_is_outside(self.ledger)
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(stop_acts), name="glasshouse closing")
        await asyncio.shield(self._closing)

    async def _close(self, stop_acts: Callable[[], Awaitable[None]]) -> None:
        async with AsyncExitStack() as closing:  # From the last to the first, each also if another one fails.
            closing.push_async_callback(self.store.close)
            closing.push_async_callback(self._observers.finish_reading)
            closing.callback(self.subscriptions.close)
            closing.push_async_callback(self.ledger.close)
            if self.servers is not None:
                closing.push_async_callback(self.servers.close)
            await stop_acts()

    def subscribe(
        self, wanted: EventFilter | None = None, after: int | None = None, role: Role = "director"
    ) -> Subscription:
        """Committed events as they come, after a position. None means from now on, 0 from the beginning."""
        check_role(role)
        self.ledger.writer.check_is_open()
        if wanted is not None:
            check_type(
                "subscribe()", wanted, EventFilter, "an EventFilter", "Write EventFilter(kinds={...})."
            )
        _check_position(after)
        # The world of the ledger may be ahead of what was published.
        world = self.ledger.world if after is None and self.ledger.is_settled else None
        return self.subscriptions.subscribe(wanted, after, world, role)

    async def _world_at(self, position: int) -> World:
        return (await load_folded(self.store, position)).world

    def observe(self, observer: Observer, after: int | None = 0) -> ObserverPump:
        """Attach an observer after a position: 0 is the beginning, None is now. A slow observer delays no writer."""
        check_type("observe()", observer, Observer, "an Observer", "Write observe(Observer()).")
        return self._observers.admit(self.subscribe(after=after, role=observer.role), observer)

    async def mail(self, creature_id: str, *, follow: bool = False) -> AsyncIterator[Event]:
        """The events that a creature must still answer, in order, each once; with `follow`, also later ones (ADR
        0014)."""
        async for page in mail_pages(self.ledger, self.subscriptions, self.store, creature_id, follow=follow):
            for event in page:
                yield event


def _check_position(after: object) -> None:
    if after is not None and not (isinstance(after, int) and after >= 0):
        raise Refused(f"{after!r} is not a position.", "Pass the position of an event, 0 or None.")
