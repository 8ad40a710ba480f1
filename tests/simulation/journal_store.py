"""A store over the real `Journal` on a recording disk, for the power-cut tests."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import apsw

from glasshouse.errors import StoreError
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
    StoreRole,
)
from glasshouse.stores.sqlite.journal import Journal, prepare
from glasshouse.stores.sqlite.migrate import bundled_migrations, migrate
from glasshouse.world.decisions.requests import Request
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import Segment
from tests.simulation.power import Acknowledged, RecordingVFS


class ApswConnection:
    """An apsw connection with the few methods that the journal asks for."""

    def __init__(self, path: Path, vfs: str) -> None:
        self._connection = apsw.Connection(str(path), vfs=vfs)

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> apsw.Cursor:
        return self._connection.execute(sql, tuple(parameters))

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> apsw.Cursor:
        return self._connection.executemany(sql, [tuple(row) for row in parameters])

    def close(self) -> None:
        self._connection.close()

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction


class JournalStore:
    """Opens, migrates, writes and reads as `SqliteStore` does, without its threads, and notes every acknowledgement."""

    def __init__(self, path: Path, vfs: RecordingVFS, vfs_name: str, pragmas: Sequence[str] = ()) -> None:
        self._path, self._vfs, self._vfs_name, self._pragmas = path, vfs, vfs_name, pragmas
        self._house_id = ""
        self.commit_ends: list[int] = []

    async def open(self, new_house_id: str) -> None:
        self._connection = ApswConnection(self._path, self._vfs_name)
        prepare(self._connection)
        for pragma in self._pragmas:
            self._connection.execute(f"PRAGMA {pragma}").fetchall()
        migrate(cast("sqlite3.Connection", self._connection), self._path, bundled_migrations())
        self._journal = Journal(self._connection)
        self._house_id = self._journal.house_id(new_house_id)
        self.commit_ends.append(self._journal.position)

    async def close(self) -> None:
        self._connection.close()

    @property
    def house_id(self) -> str:
        return self._house_id

    @property
    def role(self) -> StoreRole:
        return "owner"

    def lapse(self) -> StoreError | None:
        return None

    async def owner(self) -> str:
        return "This process"

    async def position(self) -> int:
        return self._journal.position_now()

    async def wait_beyond(self, position: int, seconds: float) -> int:
        raise NotImplementedError("Nobody follows a store while its power is cut.")

    async def committed(self, first_position: int) -> bool:
        return self._journal.committed(first_position)

    async def commit(self, batches: Sequence[Batch]) -> int:
        first = self._journal.commit(batches)
        self.commit_ends.append(self._journal.position)
        self._vfs.moments.append(Acknowledged(self._journal.position))
        return first

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        return self._journal.read(spans)

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        return self._journal.read_after(position, events_max)

    async def read_at(self, positions: Sequence[int]) -> list[Event]:
        return self._journal.read_at(positions)

    async def indexed(self) -> int:
        return self._journal.words.indexed()

    async def indexed_places(self) -> dict[str, tuple[int, int]]:
        return self._journal.words.indexed_places()

    async def index_lines(self, after: int, upto: int, lines: Sequence[PlacedLine]) -> None:
        self._journal.words.index_lines(after, upto, lines)

    async def lines_with(
        self, words: Sequence[str], ranges: Sequence[PlaceRange], lines_max: int
    ) -> dict[str, list[FoundLine]]:
        return self._journal.words.lines_with(words, ranges, lines_max)

    async def drop_index(self) -> None:
        self._journal.words.drop_index()

    async def segments_after(self, position: int) -> list[Segment]:
        return self._journal.segments_after(position)

    async def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        return self._journal.snapshot(scope, name, key, at_most)

    async def prompt(self, digest: str) -> str | None:
        return self._journal.prompt(digest)

    async def requests(self, first: int, last: int) -> dict[int, Request]:
        return self._journal.requests(first, last)

    async def shown(self, position: int) -> tuple[Shown, ...] | None:
        return self._journal.shown(position)

    async def put_line(self, text: str, run_id: str | None = None) -> int:
        return self._journal.put_line(text, run_id)

    async def lines(self, lines_max: int, after: int = 0) -> list[InboxLine]:
        return self._journal.lines(lines_max, after)

    async def put_request(self, body: str) -> int:
        return self._journal.put_request(body)

    async def open_requests(self, requests_max: int) -> list[InboxRequest]:
        return self._journal.open_requests(requests_max)

    async def request(self, number: int) -> InboxRequest | None:
        return self._journal.request(number)

    async def take_request(self, number: int) -> bool:
        return self._journal.take_request(number)

    async def withdraw_request(self, number: int) -> bool:
        return self._journal.withdraw_request(number)

    async def time(self) -> datetime | None:
        return None

    async def wait_for_more(self, seen: str, seconds: float) -> str:
        if seen:
            await asyncio.sleep(seconds)
        return self._journal.inbox_mark()

    async def labels(self) -> dict[str, tuple[str, ...]]:
        return self._journal.labels()

    async def records(self) -> dict[str, str]:
        return self._journal.records()
