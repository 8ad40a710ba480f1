"""`SqliteStore`: the ledger in one SQLite file, written by one thread and read by others.

Always holds: a lock file allows only one writer. Other processes open the file as guests: they read, and write only to
the inbox (ADR 0017).
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from glasshouse.errors import OutcomeUnknown, Refused, StoreError, StoreFailed, StoreFenced
from glasshouse.runtime.store_port import Batch, FoundLine, PlacedLine, PlaceRange, StoreRole
from glasshouse.stores.postgres.address import check_is_path, is_address
from glasshouse.stores.sqlite.conversion import OnProgress
from glasshouse.stores.sqlite.faults import FAULTS, in_doubt, may_be_written, store_error, written_by_another
from glasshouse.stores.sqlite.journal import Journal, LogFile, prepare, sync_fully
from glasshouse.stores.sqlite.lock import WriterLock, holder_of
from glasshouse.stores.sqlite.migrate import Migration, bundled_migrations, migrate, version_of
from glasshouse.stores.sqlite.read_only import ReadOnlyStore, can_be_written
from glasshouse.stores.sqlite.thread import WorkThread

busy_milliseconds_max = 5_000
"""The waiting time for a locked SQLite file before `StoreBusy`."""
reader_threads = 2
look_seconds: Final = 0.1
"""How often the file is looked at for somebody who waits until it has changed."""

_NO_FILES: Final = frozenset({"", ":memory:"})
"""Names for which SQLite opens a temporary database, a new one for each connection."""

P = ParamSpec("P")
T = TypeVar("T")


def _by_a_reader(
    method: Callable[Concatenate[Journal, P], T],
) -> Callable[Concatenate[SqliteStore, P], Coroutine[Any, Any, T]]:
    """A method of the store that calls this method of a journal in one of the threads that read."""

    @wraps(method)
    async def read(store: SqliteStore, /, *arguments: P.args, **named: P.kwargs) -> T:
        return await store._read(lambda journal: method(journal, *arguments, **named))

    return read


class SqliteStore:
    """A durable store in one file. A guest only reads, and may add lines and requests to the inbox."""

    def __init__(
        self,
        path: str | Path,
        *,
        is_guest: bool = False,
        migrations: list[Migration] | None = None,
        on_conversion: OnProgress | None = None,
    ) -> None:
        if str(path) in _NO_FILES:
            raise Refused(
                f"A SqliteStore needs the name of a file, and {str(path)!r} is none.",
                "Name one, or use MemoryStore() to keep nothing.",
            )
        if is_address(str(path).replace(":/", "://", 1)):  # A Path has one slash less.
            raise Refused(
                "A SqliteStore keeps a file, and this is the address of a database.",
                "Use PostgresStore; where a command takes any store, write both slashes: postgresql://HOST/DATABASE#HOUSE.",
            )
        check_is_path(str(path))
        self.path = Path(path).absolute()
        self.is_guest = is_guest
        self._migrations = migrations if migrations is not None else bundled_migrations()
        self._on_conversion = on_conversion
        """Is told, in the writer's thread, how many events of how many were converted, when an older file is opened."""
        self.lock = WriterLock(self.path)
        self._read_only: ReadOnlyStore | None = None
        """Set while a guest has a store open that it may not write."""
        self.house_id = ""
        """The id that this file got when it was created."""
        self._is_fenced = False
        """Whether another process has written the file, so that this object may not."""
        self._journal: Journal | None = None
        self._writer: WorkThread | None = None
        self._readers: list[WorkThread] = []
        self._turn_of_readers = 0
        self._of_this_thread = threading.local()
        self._connections: list[sqlite3.Connection] = []

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path)!r}{', is_guest=True' if self.is_guest else ''})"

    async def open(self, new_house_id: str) -> None:
        """Start the threads, take the lock and migrate the file. A guest takes no lock and migrates nothing: it reads an older
        file as it is."""
        if self._writer is not None:
            raise Refused(f"{self.path} is open already.", "Give each terrarium a store of its own.")
        self._is_fenced = False
        self._writer = WorkThread("glasshouse writer")
        self._readers = [WorkThread(f"glasshouse reader {n}") for n in range(reader_threads)]
        try:
            await self._writer.call(self._in_words, self._open_blocking, new_house_id)
        except BaseException:
            await self.close()
            raise

    def _open_blocking(self, new_house_id: str) -> None:
        if os.path.isdir(self.path):
            raise StoreFailed(
                f"{self.path} cannot be opened, for it is a folder. Name a file in it, or choose another --store."
            )
        if not self.is_guest:
            self.lock.take()
        elif not os.path.exists(self.path):
            raise StoreFailed(
                f"There is no store at {self.path}. Play something first, or name another --store."
            )
        elif not can_be_written(self.path):
            self._read_only = ReadOnlyStore(self.path)
        connection = self._connect()
        version = version_of(connection, self.path, self._migrations)
        if not self.is_guest:
            prepare(connection)
            self.lock.take_log()
            migrate(connection, self.path, self._migrations, self._on_conversion)
        elif version == 0:
            raise StoreFailed(
                f"There is no store at {self.path} yet. Play something first, or name another --store."
            )
        else:
            sync_fully(connection)
        journal = Journal(connection, LogFile(self.path))
        self.house_id = journal.house_id(new_house_id)
        self._journal = journal

    def _connect(self) -> sqlite3.Connection:
        seconds = busy_milliseconds_max / 1_000
        address = str(self.path)
        is_uri = False
        if self._read_only is not None:
            address = self._read_only.address
            is_uri = self._read_only.address.startswith("file:")
        connection = sqlite3.connect(
            address, timeout=seconds, isolation_level=None, check_same_thread=False, uri=is_uri
        )
        self._connections.append(connection)
        return connection

    @property
    def role(self) -> StoreRole:
        """Whether this object commits, or is a guest."""
        return "guest" if self.is_guest else "owner"

    def lapse(self) -> StoreError | None:
        """That another process has written the file, though this one has locked it; else None."""
        return StoreFenced(written_by_another(self.path)) if self._is_fenced else None

    async def owner(self) -> str:
        """Who has this store open for writing, in words; empty if nobody does."""
        holder = holder_of(self.path)
        return "" if holder is None else holder.words

    async def announce(self, address: str) -> None:
        """Note for messages where this store is shown. A guest, who has no lock, notes nothing."""
        if not self.is_guest:
            self.lock.announce(address)

    async def close(self) -> None:
        """Stop the threads, close the file, release the lock."""
        for thread in (*self._readers, *([self._writer] if self._writer is not None else [])):
            await asyncio.to_thread(thread.stop)
        self._readers = []
        self._writer = None
        self._journal = None
        self._of_this_thread = threading.local()
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self.lock.release()
        if self._read_only is not None:
            self._read_only.close()
            self._read_only = None

    async def wait_beyond(self, position: int, seconds: float) -> int:
        """The position, as soon as it is after this one; after so many seconds, as it is."""
        return await self._looked_for(self.position, lambda now: now > position, seconds)

    async def time(self) -> datetime | None:
        """None: senders are on this machine."""
        return None

    async def wait_for_more(self, seen: str, seconds: float) -> str:
        """The mark of the inbox, as soon as it is another than this one; after so many seconds, as it is."""
        return await self._looked_for(self._inbox_mark, lambda mark: mark != seen, seconds)

    async def _looked_for(
        self, look: Callable[[], Awaitable[T]], is_it: Callable[[T], bool], seconds: float
    ) -> T:
        """Look again and again: SQLite tells no process what another one has written."""
        until = time.monotonic() + seconds
        while True:
            seen = await look()
            left = until - time.monotonic()
            if is_it(seen) or left <= 0:
                return seen
            await asyncio.sleep(min(look_seconds, left))

    def commit(self, batches: Sequence[Batch]) -> Awaitable[int]:
        """Make the batches durable in one transaction, and return the position of the first new event."""
        self._check_is_no_guest()
        if self._is_fenced:
            raise StoreFenced(written_by_another(self.path))
        first_position = self._write(self._commit_blocking, batches)
        if self._writer is not None and self._journal is not None and self._journal.is_log_full:
            self._writer.do(self._lengthen_log)
        return first_position

    def _commit_blocking(self, journal: Journal, batches: Sequence[Batch]) -> int:
        before = journal.position
        try:
            return journal.commit(batches)
        except sqlite3.IntegrityError as wrong:
            if journal.position > before:  # The rows in the way are new.
                self._is_fenced = True
                raise StoreFenced(written_by_another(self.path)) from wrong
            raise
        except sqlite3.Error as wrong:
            if may_be_written(wrong):
                raise OutcomeUnknown(in_doubt(self.path, wrong)) from wrong
            raise

    async def committed(self, first_position: int) -> bool:
        """Whether a commit in doubt is in the file. If it is not, something else is written in its place."""
        return await self._write(Journal.committed, first_position)

    def _lengthen_log(self) -> None:
        with suppress(*FAULTS, MemoryError):  # A log that is too short is only slower.
            if self._journal is not None:
                self._journal.lengthen_log()

    def _check_is_no_guest(self) -> None:
        if self.is_guest:
            raise StoreFailed(f"{self.path} is open as a guest, who writes nothing but the inbox.")

    async def put_line(self, text: str, run_id: str | None = None) -> int:
        """Add a line to the inbox, for the terrarium that writes this file."""
        return await self._write(Journal.put_line, text, run_id)

    async def put_request(self, body: str) -> int:
        """Leave a request in the inbox, for the terrarium that writes this file."""
        return await self._write(Journal.put_request, body)

    async def take_request(self, number: int) -> bool:
        """Mark a request as taken. False if it was withdrawn."""
        self._check_is_no_guest()
        return await self._write(Journal.take_request, number)

    async def withdraw_request(self, number: int) -> bool:
        """Remove a request. False if it was taken."""
        return await self._write(Journal.withdraw_request, number)

    position = _by_a_reader(Journal.position_now)
    read = _by_a_reader(Journal.read)
    read_after = _by_a_reader(Journal.read_after)
    read_at = _by_a_reader(Journal.read_at)
    segments_after = _by_a_reader(Journal.segments_after)
    snapshot = _by_a_reader(Journal.snapshot)
    prompt = _by_a_reader(Journal.prompt)
    labels = _by_a_reader(Journal.labels)
    records = _by_a_reader(Journal.records)
    requests = _by_a_reader(Journal.requests)
    shown = _by_a_reader(Journal.shown)
    lines = _by_a_reader(Journal.lines)
    open_requests = _by_a_reader(Journal.open_requests)
    request = _by_a_reader(Journal.request)
    _inbox_mark = _by_a_reader(Journal.inbox_mark)

    async def indexed(self) -> int:
        """The position up to which all lines are in the index of words."""
        return await self._read(lambda journal: journal.words.indexed())

    async def indexed_places(self) -> dict[str, tuple[int, int]]:
        """The places in the index, each with the times of its first and its last line."""
        return await self._read(lambda journal: journal.words.indexed_places())

    async def lines_with(
        self, words: Sequence[str], ranges: Sequence[PlaceRange], lines_max: int
    ) -> dict[str, list[FoundLine]]:
        """For each word, the newest lines that have it in these ranges."""
        return await self._read(lambda journal: journal.words.lines_with(words, ranges, lines_max))

    async def index_lines(self, after: int, upto: int, lines: Sequence[PlacedLine]) -> None:
        """Add the lines between two positions to the index."""
        self._check_is_no_guest()
        await self._write(lambda journal: journal.words.index_lines(after, upto, lines))

    async def drop_index(self) -> None:
        """Empty the index."""
        self._check_is_no_guest()
        await self._write(lambda journal: journal.words.drop_index())

    def _write(self, method: Callable[..., T], *arguments: object) -> Awaitable[T]:
        if self._writer is None or self._journal is None:
            raise StoreFailed(f"{self.path} is not open.")
        if self._read_only is not None:
            raise StoreFailed(
                f"{self.path} may only be read here, and nothing was written. Make the file and its folder writable."
            )
        return self._writer.call(self._in_words, method, self._journal, *arguments)

    async def _read(self, method: Callable[[Journal], T]) -> T:
        if not self._readers:
            raise StoreFailed(f"{self.path} is not open.")
        self._turn_of_readers += 1
        reader = self._readers[self._turn_of_readers % len(self._readers)]
        answer: T = await reader.call(self._in_words, self._read_blocking, method)
        return answer

    def _read_blocking(self, method: Callable[[Journal], T]) -> T:
        journal: Journal | None = getattr(self._of_this_thread, "journal", None)
        if journal is None:
            connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
            journal = self._of_this_thread.journal = Journal(connection)
        return method(journal)

    def _in_words(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a function, and turn an error of SQLite into a `StoreError`."""
        try:
            return function(*arguments)
        except FAULTS as wrong:
            raise store_error(self.path, wrong) from wrong
