"""Stores with a fault or a gate.

Each wraps another store, a `MemoryStore` unless one is given, and lets the event loop run first, as a disk would.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from glasshouse import MemoryStore
from glasshouse.errors import OutcomeUnknown, StoreError, StoreFailed
from glasshouse.events.event import Event
from glasshouse.events.shown import Shown
from glasshouse.runtime.store_port import (
    Batch,
    FoundLine,
    InboxLine,
    InboxRequest,
    PlacedLine,
    PlaceRange,
    Snapshot,
    Store,
    StoreRole,
)
from glasshouse.world.decisions.requests import Request
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import Segment


class StoreAround:
    """A store that takes its time."""

    def __init__(self, inner: Store | None = None) -> None:
        self.inner: Store = MemoryStore() if inner is None else inner
        self.commits: list[int] = []
        """How many events each commit held, in order."""

    async def open(self, new_house_id: str) -> None:
        await self.inner.open(new_house_id)

    async def close(self) -> None:
        await self.inner.close()

    @property
    def house_id(self) -> str:
        return self.inner.house_id

    @property
    def role(self) -> StoreRole:
        return self.inner.role

    def lapse(self) -> StoreError | None:
        return self.inner.lapse()

    async def owner(self) -> str:
        return await self.inner.owner()

    async def position(self) -> int:
        return await self.inner.position()

    async def wait_beyond(self, position: int, seconds: float) -> int:
        return await self.inner.wait_beyond(position, seconds)

    async def committed(self, first_position: int) -> bool:
        return await self.inner.committed(first_position)

    async def commit(self, batches: Sequence[Batch]) -> int:
        await asyncio.sleep(0)
        self.commits.append(events_in(batches))
        return await self.inner.commit(batches)

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        await asyncio.sleep(0)
        return await self.inner.read(spans)

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        await asyncio.sleep(0)
        return await self.inner.read_after(position, events_max)

    async def read_at(self, positions: Sequence[int]) -> list[Event]:
        return await self.inner.read_at(positions)

    async def indexed(self) -> int:
        return await self.inner.indexed()

    async def indexed_places(self) -> dict[str, tuple[int, int]]:
        return await self.inner.indexed_places()

    async def index_lines(self, after: int, upto: int, lines: Sequence[PlacedLine]) -> None:
        await self.inner.index_lines(after, upto, lines)

    async def lines_with(
        self, words: Sequence[str], ranges: Sequence[PlaceRange], lines_max: int
    ) -> dict[str, list[FoundLine]]:
        return await self.inner.lines_with(words, ranges, lines_max)

    async def drop_index(self) -> None:
        await self.inner.drop_index()

    async def segments_after(self, position: int) -> list[Segment]:
        await asyncio.sleep(0)
        return await self.inner.segments_after(position)

    async def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        await asyncio.sleep(0)
        return await self.inner.snapshot(scope, name, key, at_most)

    async def prompt(self, digest: str) -> str | None:
        return await self.inner.prompt(digest)

    async def requests(self, first: int, last: int) -> dict[int, Request]:
        return await self.inner.requests(first, last)

    async def shown(self, position: int) -> tuple[Shown, ...] | None:
        return await self.inner.shown(position)

    async def put_line(self, text: str, run_id: str | None = None) -> int:
        return await self.inner.put_line(text, run_id)

    async def lines(self, lines_max: int, after: int = 0) -> list[InboxLine]:
        return await self.inner.lines(lines_max, after)

    async def put_request(self, body: str) -> int:
        return await self.inner.put_request(body)

    async def open_requests(self, requests_max: int) -> list[InboxRequest]:
        return await self.inner.open_requests(requests_max)

    async def request(self, number: int) -> InboxRequest | None:
        return await self.inner.request(number)

    async def take_request(self, number: int) -> bool:
        return await self.inner.take_request(number)

    async def withdraw_request(self, number: int) -> bool:
        return await self.inner.withdraw_request(number)

    async def time(self) -> datetime | None:
        return await self.inner.time()

    async def wait_for_more(self, seen: str, seconds: float) -> str:
        return await self.inner.wait_for_more(seen, seconds)

    async def labels(self) -> dict[str, tuple[str, ...]]:
        return await self.inner.labels()

    async def records(self) -> dict[str, str]:
        return await self.inner.records()


def events_in(batches: Sequence[Batch]) -> int:
    changes = [change for batch in batches for change in batch.changes]
    return sum(len(write.bodies) for change in changes for write in change.writes)


class GatedStore(StoreAround):
    """A store whose commits wait before they are written, or after, and whose reads wait before they look, or after, while a
    gate is shut."""

    def __init__(self, inner: Store | None = None) -> None:
        super().__init__(inner)
        self.gate = asyncio.Event()
        self.gate.set()
        self.gate_of_reads = asyncio.Event()
        self.gate_of_reads.set()
        self.gate_of_pages = asyncio.Event()
        self.gate_of_pages.set()
        self.gate_of_answers = asyncio.Event()
        self.gate_of_answers.set()
        self.pages: list[int] = []
        """How many events each page held that was read, in order."""

    async def commit(self, batches: Sequence[Batch]) -> int:
        await self.gate.wait()
        first_position = await super().commit(batches)
        await self.gate_of_answers.wait()
        return first_position

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        await self.gate_of_reads.wait()
        page = await super().read_after(position, events_max)
        self.pages.append(len(page))
        await self.gate_of_pages.wait()
        return page


class FailingStore(GatedStore):
    """Fails at one commit: before it is written, or in doubt, so that nobody knows whether it is. A commit in doubt is
    written, unless it is lost."""

    def __init__(
        self, fails_at: int, *, is_in_doubt: bool = False, is_lost: bool = False, inner: Store | None = None
    ) -> None:
        super().__init__(inner)
        self.fails_at = fails_at
        self.is_in_doubt = is_in_doubt
        self.is_lost = is_lost
        self.asked = 0
        self.failures_of_reads = 0
        self.failures_of_lookups = 0
        self.lookups: list[int] = []
        """The first positions of the commits that were looked up."""

    @property
    def writes_in_doubt(self) -> bool:
        """Whether the commit that fails is written all the same."""
        return self.is_in_doubt and not self.is_lost

    async def commit(self, batches: Sequence[Batch]) -> int:
        await self.gate.wait()
        self.asked += 1
        if self.asked != self.fails_at:
            return await super().commit(batches)
        if self.is_in_doubt:
            if not self.is_lost:
                await super().commit(batches)
            raise OutcomeUnknown("The disk does not answer. Look at its cable.")
        raise StoreFailed("The disk is full. Make room.")

    async def committed(self, first_position: int) -> bool:
        self.lookups.append(first_position)
        if self.failures_of_lookups:
            self.failures_of_lookups -= 1
            raise StoreFailed("The disk cannot be read. Look at its cable.")
        return await super().committed(first_position)

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        if self.failures_of_reads:
            self.failures_of_reads -= 1
            raise StoreFailed("The disk cannot be read. Look at its cable.")
        return await super().read_after(position, events_max)
