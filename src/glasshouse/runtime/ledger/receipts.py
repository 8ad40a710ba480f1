"""What the ledger returns: a batch in flight, and the result of an intent."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

import msgspec

from glasshouse.events.event import Event, own_copy
from glasshouse.reprs import shown
from glasshouse.runtime.ports import Batch
from glasshouse.world.state.values import Change


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """The result of an intent: the change, its subject, and its events as stored."""

    change: Change
    subject: str
    events: list[Event]


class Queued(msgspec.Struct, frozen=True):
    """A batch in flight, and the future that says when it is durable."""

    batch: Batch
    events: list[Event]
    acknowledged: asyncio.Future[None]


class Acknowledgement:
    """Await it to get the event once it is durable."""

    __slots__ = ("_queued",)

    def __init__(self, queued: Queued) -> None:
        self._queued = queued

    def __repr__(self) -> str:
        state = "durable" if self._queued.acknowledged.done() else "on its way"
        return shown(self, id=self._queued.events[0].id, state=state)

    def __await__(self) -> Generator[Any, None, Event]:
        yield from self._queued.acknowledged
        return own_copy(self._queued.events[0])
