"""Commits of SQLite whose outcome is unknown: which errors leave one, how it is looked up, and what a crash finds then."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from glasshouse import SqliteStore
from glasshouse.errors import OutcomeUnknown, StoreBusy, StoreDamaged, StoreFailed
from glasshouse.runtime.store_port import Batch, InboxWrites
from glasshouse.stores.sqlite.faults import may_be_written, store_error
from glasshouse.stores.sqlite.journal import Journal, prepare
from glasshouse.stores.sqlite.migrate import bundled_migrations, migrate
from glasshouse.testing.contracts.writing import lines, one_batch, opening, root, texts_of
from tests.rules.world.shape import check_folds_agree
from tests.runtime.troupe import line, mail_of, soon, terrarium_on, troupe
from tests.simulation.journal_store import ApswConnection

ADA = root("ada")


class FailingVFS(apsw.VFS):
    """The real file system, on which syncs of the write-ahead log fail while it is told so."""

    fails = False
    name = "whose syncs fail"

    def __init__(self) -> None:
        super().__init__(self.name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return FailingFile(self, name, flags)


class FailingFile(apsw.VFSFile):
    def __init__(self, vfs: FailingVFS, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._vfs = vfs
        super().__init__("", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self._vfs.fails:
            raise apsw.IOError("The disk does not answer.")
        super().xSync(flags)


@pytest.fixture
def vfs() -> Iterator[FailingVFS]:
    made = FailingVFS()
    yield made
    made.unregister()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "show.glasshouse"


@pytest.fixture
def journal(path: Path, vfs: FailingVFS) -> Iterator[Journal]:
    """One that has ada's first line, on the file system whose syncs may fail."""
    connection = ApswConnection(path, vfs.name)
    prepare(connection)
    migrate(cast("sqlite3.Connection", connection), path, bundled_migrations())
    kept = Journal(connection)
    kept.house_id("house-one")
    kept.commit(one_batch(opening(ADA, "a")))
    yield kept
    connection.close()


def texts_after_a_crash(path: Path, number: int) -> list[str]:
    """What another process finds if this one is gone now: the files as they are, without the memory that SQLite shares."""
    copy = path.with_name(f"{number}-{path.name}")
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", f"{copy}{end}")
    connection = sqlite3.connect(copy)
    try:
        return texts_of(Journal(connection).read_after(0, 9))
    finally:
        connection.close()


@pytest.mark.parametrize("is_one_statement", [True, False])
def test_a_commit_that_was_not_found_does_not_come_back_after_a_crash(
    path: Path, vfs: FailingVFS, journal: Journal, is_one_statement: bool
) -> None:
    inbox = InboxWrites(() if is_one_statement else (7,))
    doubtful = [
        Batch((lines(ADA, 1, "b"),)) if is_one_statement else Batch((lines(ADA, 1, "b"),), inbox=inbox)
    ]

    vfs.fails = True
    with pytest.raises(apsw.IOError):
        journal.commit(doubtful)
    vfs.fails = False
    # This is why it is written over: to this process the commit is gone, and after a crash it is there.
    assert (journal.position_now(), texts_after_a_crash(path, 1)) == (1, ["a", "b"])

    assert not journal.committed(2)

    assert texts_after_a_crash(path, 2) == ["a"]
    assert journal.commit(one_batch(lines(ADA, 1, "other"))) == 2
    assert texts_after_a_crash(path, 3) == ["a", "other"]


def test_a_lookup_that_fails_can_be_made_again(vfs: FailingVFS, journal: Journal) -> None:

    vfs.fails = True
    with pytest.raises(apsw.IOError):
        journal.commit(one_batch(lines(ADA, 1, "b")))
    with pytest.raises(apsw.IOError):
        journal.committed(2)
    vfs.fails = False

    assert not journal.committed(2)
    assert journal.commit(one_batch(lines(ADA, 1, "b"))) == 2
    assert journal.committed(2)


class Doubtful:
    """A real connection whose next commit fails with an I/O error, before or after SQLite has made it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.fails = ""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> sqlite3.Cursor:
        is_commit = sql == "COMMIT" or (sql.startswith("INSERT INTO events") and not self.in_transaction)
        if not is_commit or not self.fails:
            return self.connection.execute(sql, parameters)
        if self.fails == "after":
            self.connection.execute(sql, parameters)
        self.fails = ""
        wrong = sqlite3.OperationalError("disk I/O error")
        wrong.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        raise wrong

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


class DoubtfulStore(SqliteStore):
    """Shows the connection of its writer, which is the first one."""

    doubtful: Doubtful | None = None

    def _connect(self) -> Any:
        connection = super()._connect()
        if self.doubtful is None:
            self.doubtful = Doubtful(connection)
            return self.doubtful
        return connection


@pytest.mark.parametrize("fails", ["before", "after"])
async def test_a_terrarium_answers_what_is_in_the_file_after_an_error_of_the_disk(
    tmp_path: Path, fails: str
) -> None:
    store = DoubtfulStore(tmp_path / "show.glasshouse")
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        assert store.doubtful is not None
        store.doubtful.fails = fails

        if fails == "after":
            await soon(t.append("ada", line("one")))
        else:
            with pytest.raises(StoreFailed, match=r"disk I/O error.*Nothing was written"):
                await soon(t.append("ada", line("one")))
        assert store.doubtful.fails == ""
        await soon(t.append("ada", line("two")))

        assert await mail_of(t, "bo") == (["one", "two"] if fails == "after" else ["two"])
        await check_folds_agree(t, store)


async def test_the_store_says_that_it_does_not_know_and_then_looks(tmp_path: Path) -> None:
    store = DoubtfulStore(tmp_path / "show.glasshouse")
    await store.open("house-one")
    assert store.doubtful is not None
    for fails, is_there in (("after", True), ("before", False)):
        head = await store.position()
        store.doubtful.fails = fails

        with pytest.raises(OutcomeUnknown, match="disk I/O error"):
            await store.commit(one_batch(lines(ADA, head, "b") if head else opening(ADA, "a")))

        assert await store.committed(head + 1) is is_there
    await store.close()


@pytest.mark.parametrize(
    ("code", "is_in_doubt", "kind"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, True, StoreFailed),
        (sqlite3.SQLITE_IOERR_WRITE, False, StoreFailed),
        (sqlite3.SQLITE_FULL, False, StoreFailed),
        (sqlite3.SQLITE_BUSY, False, StoreBusy),
        (sqlite3.SQLITE_READONLY, False, StoreFailed),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, False, StoreDamaged),
        (None, True, StoreFailed),
    ],
)
def test_only_an_error_after_all_was_written_leaves_a_doubt(
    code: int | None, is_in_doubt: bool, kind: type
) -> None:
    wrong = sqlite3.OperationalError("wrong")
    if code is not None:
        wrong.sqlite_errorcode = code

    assert may_be_written(wrong) is is_in_doubt
    assert type(store_error(Path("show.glasshouse"), wrong)) is kind
