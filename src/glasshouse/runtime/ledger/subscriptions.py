"""Subscriptions: readers that get every committed event and can never delay anything.

Always holds: a subscriber gets its own copy of each matching event exactly once, in the order of commits, without what
its role may not read. Its queue is bounded. When the queue is full, nothing more is pushed; once the reader has
emptied it, the subscriber catches up from the store by position. When the terrarium closes, a subscriber still gets
what can be read. If the store is already closed, it ends; a new one can continue by position. The hub holds only weak
references, so a dropped subscriber is forgotten.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Self
from weakref import WeakSet

from glasshouse.errors import StoreError
from glasshouse.events.event import Event, own_copy
from glasshouse.events.filter import EVERYTHING, EventFilter
from glasshouse.events.redaction import Role, redacted
from glasshouse.reprs import shown
from glasshouse.runtime.ledger.following import Following
from glasshouse.runtime.store_port import Store
from glasshouse.world.state.state import World

subscriber_events_max = 1_024
"""A subscriber with more waiting events gets no further pushes; it catches up from the store."""
catch_up_events_max = 512
"""A subscriber catches up in pages of this size."""


class Subscriptions:
    """The hub: gives each commit to every subscriber that is up to date."""

    def __init__(
        self, store: Store, world: Callable[[], World], world_at: Callable[[int], Awaitable[World]]
    ) -> None:
        self.position = 0
        self.is_open = True
        self._store = store
        self._world = world
        self.world_at = world_at
        """The world as it was right after the event at a position."""
        self._live: WeakSet[Subscription] = WeakSet()

    def publish(self, events: list[Event]) -> None:
        """Give the events of a commit to every subscriber."""
        if events:
            self.position = events[-1].position or self.position
        if self._live:
            # The caller of `append` may have got the event itself, and may change it.
            copies = [own_copy(event) for event in events]
            for subscription in tuple(self._live):
                for event in copies:
                    subscription.push(event)

    def catch_up(self, position: int) -> None:
        """Make every subscriber read from the store: after a failed commit it may hold more than was published."""
        if position > self.position:
            self.position = position
            for subscription in tuple(self._live):
                subscription.fall_behind()

    def subscribe(
        self,
        wanted: EventFilter | None = None,
        after: int | None = None,
        world: World | None = None,
        role: Role = "director",
    ) -> Subscription:
        """A new subscriber: from now on, or from the first event after a position. `world` is the world at that point, if
        it is known."""
        position = self.position if after is None else after
        subscription = Subscription(self, wanted or EVERYTHING, position, world, role)
        self._live.add(subscription)
        return subscription

    def is_imported(self, session_id: str) -> bool:
        """Whether a session comes from a file, so that its creatures do not live here."""
        return self._world().sessions[session_id].segment.is_imported

    def leave(self, subscription: Subscription) -> None:
        """Forget a subscriber."""
        self._live.discard(subscription)

    async def read_after(self, position: int) -> list[Event]:
        """The next events after a position. The last of them may not be published yet."""
        return await self._store.read_after(position, catch_up_events_max)

    def close(self) -> None:
        """End every subscriber once it has read what it can."""
        self.is_open = False
        for subscription in tuple(self._live):
            subscription.wake()


class Subscription:
    """An asynchronous iterator over committed events. To leave, use it with `async with`, or just drop it."""

    def __init__(
        self, hub: Subscriptions, wanted: EventFilter, after: int, world: World | None, role: Role
    ) -> None:
        self._hub = hub
        self._role: Role = role
        self._wanted = wanted
        self._position = after
        self._is_behind = after < hub.position
        self._matches: Callable[[Event], bool] | None = wanted.matches
        if wanted.creature_ids is not None or wanted.channels is not None:
            self._matches = None if world is None else Following(wanted, world, hub.is_imported).matches
            self._is_behind = self._is_behind or world is None
        self._queue: deque[Event] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._upto: int | None = None
        """The position of the last event that it may take, once it ends."""

    def __repr__(self) -> str:
        return shown(self, wanted=self._wanted, after=self._position)

    @property
    def position(self) -> int:
        """Its reader has got every wanted event up to this position."""
        return (self._queue[0].position or 1) - 1 if self._queue else self._position

    @property
    def published(self) -> int:
        """The position of the last event that is published."""
        return self._hub.position

    @property
    def last_position(self) -> int:
        """The position of the last event that it may take now: the last published one, until it ends."""
        return self._hub.position if self._upto is None else self._upto

    @property
    def is_ending(self) -> bool:
        """Whether it gets nothing that is committed from now on."""
        return self._upto is not None or not self._hub.is_open

    def end(self) -> None:
        """Take nothing that is committed from now on. The reader still gets what was committed before."""
        if self._upto is None:
            self._upto = self._hub.position
            self._hub.leave(self)
            self.wake()

    def push(self, event: Event) -> None:
        """Queue an event if there is room; otherwise fall behind and read it from the store later."""
        if self._is_behind or self._matches is None:
            return
        if (
            len(self._queue) >= subscriber_events_max
        ):  # Before it is matched: `Following` takes each event once.
            self._is_behind = True
            return
        if self._matches(event):
            self._queue.append(event)
            self.wake()
        self._position = event.position or self._position

    def fall_behind(self) -> None:
        """Continue from the store once the queue is empty."""
        self._is_behind = True
        self.wake()

    def wake(self) -> None:
        """Wake a waiting reader."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._queue:
            if self._is_behind:
                await self._catch_up()
            elif self.is_ending:
                raise StopAsyncIteration
            else:
                self._waiting = asyncio.get_running_loop().create_future()
                await self._waiting
        return own_copy(redacted(self._queue.popleft(), self._role))

    async def arrived(self) -> list[Event]:
        """The events that have come until now, without waiting for more."""
        events: list[Event] = []
        while self._queue or self._is_behind:
            if self._queue:
                events.append(await anext(self))
            else:
                await self._catch_up()
        return events

    async def _catch_up(self) -> None:
        try:
            if self._matches is None:
                world = await self._hub.world_at(self._position)
                self._matches = Following(self._wanted, world, self._hub.is_imported).matches
            last_position = self.last_position
            page = await self._hub.read_after(self._position)
        except StoreError:
            if self._hub.is_open:
                raise
            self._is_behind = False
            return
        # The store may already hold a commit that is not published yet. `publish` will push those events.
        page = [event for event in page if (event.position or 0) <= self.last_position]
        self._queue.extend(filter(self._matches, page))
        if page:
            self._position = page[-1].position or self._position
        # What was published during the read was not pushed, and an empty page cannot hold it: then read again. A page that
        # is empty although nothing was published meanwhile would stay empty.
        has_more = bool(page) or self.last_position > last_position
        self._is_behind = has_more and self._position < self.last_position

    async def aclose(self) -> None:
        """Leave the hub: no more events are pushed."""
        self._hub.leave(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
