"""What goes wrong at the worst moment: a commit that fails and whose rollback fails too, a loop that is gone."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from glasshouse import SqliteStore
from glasshouse.errors import Conflict, StoreFailed
from glasshouse.runtime.store_port import Batch, InboxLine, InboxWrites
from glasshouse.stores.placing import check_room
from glasshouse.stores.sqlite.journal import SQL, Journal, prepare
from glasshouse.stores.sqlite.migrate import bundled_migrations, migrate
from glasshouse.stores.sqlite.thread import WorkThread
from glasshouse.testing.contracts.writing import lines, one_batch, opening, root, span, texts_of
from tests.runtime.troupe import soon

ADA, BO = root("ada"), root("bo", ordinal=2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "show.glasshouse"


class Stumbling:
    """A real connection on which each named statement fails once, before it does anything."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.fails: list[str] = []

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> sqlite3.Cursor:
        if sql in self.fails:
            self.fails.remove(sql)
            raise sqlite3.OperationalError(f"disk I/O error at {sql}")
        return self.connection.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> sqlite3.Cursor:
        return self.connection.executemany(sql, parameters)

    def close(self) -> None:
        self.connection.close()

    @property
    def in_transaction(self) -> bool:
        return self.connection.in_transaction


@pytest.fixture
def connection(path: Path) -> Iterator[Stumbling]:
    real = sqlite3.connect(path, isolation_level=None)
    prepare(real)
    migrate(real, path, bundled_migrations())
    yield Stumbling(real)
    real.close()


@pytest.fixture
def journal(connection: Stumbling) -> Journal:
    """One that has ada's first line, and remembers it."""
    kept = Journal(connection)
    kept.house_id("house-one")
    kept.commit(one_batch(opening(ADA, "a")))
    return kept


MISHAPS = [
    ["COMMIT"],
    ["COMMIT", "ROLLBACK"],
    ["COMMIT", SQL["last_position"]],
    ["COMMIT", SQL["last_segment_number"]],
    ["COMMIT", SQL["last_shape_number"]],
    ["BEGIN IMMEDIATE"],
    ["BEGIN IMMEDIATE", SQL["last_position"]],
]


@pytest.mark.parametrize("fails", MISHAPS, ids=" then ".join)
def test_a_journal_stands_where_it_stood_when_a_commit_fails_and_goes_on_from_there(
    connection: Stumbling, journal: Journal, fails: list[str]
) -> None:
    connection.fails = list(fails)

    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        journal.commit(one_batch(lines(ADA, 1, "lost", "lost too"), opening(BO, "never")))

    assert (journal.position, connection.fails) == (1, [])
    assert journal.commit(one_batch(lines(ADA, 1, "b"), opening(BO, "x"))) == 2
    assert texts_of(journal.read_after(0, 9)) == ["a", "b", "x"]
    assert journal.segments_after(0) == [ADA, BO]


@pytest.mark.parametrize("fails", [[SQL["add_event"]], [SQL["add_event"], SQL["last_position"]]])
def test_a_commit_of_one_statement_that_fails_leaves_nothing_behind(
    connection: Stumbling, journal: Journal, fails: list[str]
) -> None:
    connection.fails = list(fails)

    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        journal.commit(one_batch(lines(ADA, 1, "lost")))

    assert (journal.position, connection.fails) == (1, [])
    assert journal.commit(one_batch(lines(ADA, 1, "b"))) == 2
    assert texts_of(journal.read_after(0, 9)) == ["a", "b"]


def several_statements(text: str) -> list[Batch]:
    """A line that also answers the inbox, so its commit needs a transaction."""
    return [Batch((lines(ADA, 1, text),), inbox=InboxWrites((7,)))]


def test_a_rollback_that_fails_again_is_tried_again_before_each_write(
    connection: Stumbling, journal: Journal
) -> None:
    connection.fails = ["COMMIT", "ROLLBACK", "ROLLBACK"]

    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError):
            journal.commit(several_statements("lost"))
        assert journal.position == 1

    assert journal.commit(one_batch(lines(ADA, 1, "b"))) == 2


def test_a_line_in_the_inbox_is_not_lost_with_the_commit_that_failed_before_it(
    connection: Stumbling, journal: Journal, path: Path
) -> None:
    connection.fails = ["COMMIT", "ROLLBACK"]
    with pytest.raises(sqlite3.OperationalError):
        journal.commit(several_statements("lost"))

    number = journal.put_line("hello", None)

    guest = sqlite3.connect(path)
    assert Journal(guest).lines(9, 0) == [InboxLine(number, None, "hello")]
    guest.close()
    assert journal.commit(one_batch(lines(ADA, 1, "b"))) == 2


def test_a_repeated_append_to_a_session_with_a_hole_is_a_conflict() -> None:
    again = lines(ADA, 0, "a", "b")

    with pytest.raises(Conflict, match="stands at seq 2"):
        check_room(again, 2, None, lambda _session, _first, _last: list(again.bodies[:1]))


def test_a_file_system_without_a_write_ahead_log_is_told_in_words() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)

    with pytest.raises(StoreFailed, match=r"cannot do a write-ahead log .*'memory'.* on a local disk"):
        prepare(connection)

    connection.close()


async def test_a_number_that_no_column_holds_is_told_in_words_and_changes_nothing(path: Path) -> None:
    store = SqliteStore(path)
    await store.open("house-one")
    await store.commit(one_batch(opening(ADA, "a")))

    with pytest.raises(StoreFailed, match="number is too large"):
        await store.commit(one_batch(lines(ADA, 1, "b"), opening(root("bo", base=2**63), "x")))
    with pytest.raises(StoreFailed, match="number is too large"):
        await store.read_after(2**63, 1)
    with pytest.raises(StoreFailed, match="number is too large"):
        await store.read([span(ADA, 1, 2**63)])

    assert await store.position() == 1
    assert await store.commit(one_batch(lines(ADA, 1, "b"))) == 2
    await store.close()


@pytest.mark.parametrize("outcome", ["gives", "raises"])
def test_a_thread_outlives_the_loop_that_asked_it(outcome: str) -> None:
    thread, is_gone = WorkThread("patient"), threading.Event()

    def slow() -> str:
        is_gone.wait()
        if outcome == "raises":
            raise ValueError("too late to tell")
        return "too late"

    async def ask_and_leave() -> None:
        _ = thread.call(slow)

    async def ask() -> object:
        return await soon(thread.call(lambda: "in time"))

    asyncio.run(ask_and_leave())
    is_gone.set()

    assert asyncio.run(ask()) == "in time"
    thread.stop()


async def test_the_copy_before_a_migration_is_synced_and_its_folder_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(path)
    await store.open("house-one")
    await store.close()
    synced: list[int] = []
    sync = os.fsync

    def noting(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    newer = SqliteStore(path, migrations=[*bundled_migrations(), (4, "CREATE TABLE second (n INTEGER);")])
    await newer.open("house-one")
    await newer.close()

    copy = path.with_name(path.name + ".v3.copy")
    assert synced == [copy.stat().st_ino, path.parent.stat().st_ino]


async def test_a_copy_that_cannot_be_made_is_told_in_words_and_nothing_is_migrated(path: Path) -> None:
    store = SqliteStore(path)
    await store.open("house-one")
    await store.close()
    path.with_name(path.name + ".v3.copy").mkdir()

    newer = SqliteStore(path, migrations=[*bundled_migrations(), (4, "CREATE TABLE second (n INTEGER);")])
    with pytest.raises(StoreFailed, match=r"could not be copied to .*v3\.copy before its migration"):
        await newer.open("house-one")

    await store.open("house-one")
    await store.close()
