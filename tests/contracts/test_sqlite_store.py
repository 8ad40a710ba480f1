"""What the SQLite store promises beyond the contract: pragmas, migrations, one writer, guests, few files."""
# ruff: noqa: ASYNC240 (a test may wait for its own small files)

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Draft, Manifest, SqliteStore, Terrarium
from glasshouse.errors import StoreBusy, StoreFailed, StoreTooNew
from glasshouse.runtime.store_port import Batch, InboxLine, Snapshot
from glasshouse.stores.sqlite import journal
from glasshouse.stores.sqlite.journal import SQL, prepare
from glasshouse.stores.sqlite.migrate import bundled_migrations, migrate
from glasshouse.testing.contracts.writing import lines, one_batch, opening, root, span, texts_of

ADA = root("ada")
ADDS_A_TABLE = (
    4,
    "CREATE TABLE second (number INTEGER PRIMARY KEY, text TEXT);\nINSERT INTO second VALUES (1, 'x');\n",
)
MAKES_THE_INDEX = ("make_index", "make_index_places", "make_index_words")
BREAKS_HALF_WAY = (
    4,
    "CREATE TABLE second (number INTEGER PRIMARY KEY);\nDROP TABLE events;\nINSERT INTO nowhere VALUES (1);\n",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "show.glasshouse"


async def written(path: Path, *texts: str) -> None:
    """A store with one session, closed again."""
    store = SqliteStore(path)
    await store.open("house-one")
    await store.commit(one_batch(opening(ADA, *texts)))
    await store.close()


async def texts_in(store: SqliteStore) -> list[str]:
    return texts_of(await store.read([span(ADA)]))


def tables_of(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    try:
        return {
            str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
    finally:
        connection.close()


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Another process that runs these lines; it can be talked to line by line."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def nothing_for(statement: str) -> tuple[None, ...]:
    """As many empty values as the statement binds: each `?` is one of its own, `?1` is the same wherever it stands."""
    marks = re.findall(r"\?\d*", statement)
    return (None,) * (marks.count("?") or len(set(marks)))


# The file


@pytest.mark.parametrize("name", sorted(SQL))
def test_every_statement_is_sound_sql_on_the_newest_schema(name: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for _, script in bundled_migrations():
            connection.executescript(script)
        if name not in MAKES_THE_INDEX:
            # The tables of the index come with the first search, not with the schema (ADR 0157).
            for making in MAKES_THE_INDEX:
                connection.execute(SQL[making])

        plan = connection.execute(f"EXPLAIN {SQL[name]}", nothing_for(SQL[name])).fetchall()

    assert plan


def test_the_pragmas_in_force_are_those_that_survive_a_power_cut(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)

    prepare(connection)

    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    connection.close()


class ShowsItsWriter(SqliteStore):
    """Lets a test ask the first connection, which is the writer's, what is in force."""

    writer: sqlite3.Connection | None = None

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        self.writer = self.writer or connection
        return connection


async def test_the_writing_connection_of_a_store_syncs_every_commit(path: Path) -> None:
    store = ShowsItsWriter(path)

    await store.open("house-one")

    assert store.writer is not None
    assert store.writer.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store.writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    await store.close()


async def test_a_closed_store_is_one_file_that_holds_everything(path: Path, tmp_path: Path) -> None:
    await written(path, "a", "b")
    alone = tmp_path / "alone.glasshouse"
    alone.write_bytes(path.read_bytes())
    store = SqliteStore(alone)

    await store.open("another house")

    assert await texts_in(store) == ["a", "b"]
    assert store.house_id == "house-one"
    await store.close()


async def test_a_store_that_is_not_open_says_so(path: Path) -> None:
    store = SqliteStore(path)

    with pytest.raises(StoreFailed, match="is not open"):
        await store.commit(one_batch(opening(ADA, "a")))
    with pytest.raises(StoreFailed, match="is not open"):
        await store.read_after(0, 1)


# Migrations


async def test_a_new_file_gets_every_migration_and_no_copy(path: Path) -> None:
    store = SqliteStore(path, migrations=[*bundled_migrations(), ADDS_A_TABLE])

    await store.open("house-one")
    await store.close()

    assert "second" in tables_of(path)
    assert list(path.parent.glob("*.copy")) == []


async def test_an_older_file_is_copied_whole_before_it_is_migrated(path: Path) -> None:
    await written(path, "a", "b")
    store = SqliteStore(path, migrations=[*bundled_migrations(), ADDS_A_TABLE])

    await store.open("house-one")

    copy = path.with_name(path.name + ".v3.copy")
    assert await texts_in(store) == ["a", "b"]
    assert await store.commit(one_batch(lines(ADA, 2, "c"))) == 3
    await store.close()
    assert "second" in tables_of(path)
    assert "second" not in tables_of(copy)
    old = SqliteStore(copy)
    await old.open("house-two")
    assert await texts_in(old) == ["a", "b"]
    assert old.house_id == "house-one"
    await old.close()


async def test_a_migration_happens_once(path: Path) -> None:
    migrations = [*bundled_migrations(), ADDS_A_TABLE]
    await written(path, "a")
    for _ in range(2):
        store = SqliteStore(path, migrations=migrations)
        await store.open("house-one")
        await store.close()

    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM second").fetchall()
    connection.close()
    assert rows == [(1, "x")]


async def test_a_failing_migration_leaves_the_file_as_it_was(path: Path) -> None:
    await written(path, "a", "b")

    with pytest.raises(StoreFailed, match="nowhere"):
        await SqliteStore(path, migrations=[*bundled_migrations(), BREAKS_HALF_WAY]).open("house-one")

    assert "second" not in tables_of(path)
    store = SqliteStore(path)
    await store.open("house-one")
    assert await texts_in(store) == ["a", "b"]
    await store.close()


async def test_a_migration_whose_last_statement_has_no_semicolon_is_not_cut_short(path: Path) -> None:
    unended = (
        4,
        "CREATE TABLE second (number INTEGER PRIMARY KEY);\nCREATE TABLE third (number INTEGER PRIMARY KEY)\n",
    )
    store = SqliteStore(path, migrations=[*bundled_migrations(), unended])

    await store.open("house-one")
    await store.close()

    assert {"second", "third"} <= tables_of(path)


async def test_a_file_of_a_newer_version_is_too_new_and_stays_untouched(path: Path) -> None:
    store = SqliteStore(path, migrations=[*bundled_migrations(), ADDS_A_TABLE])
    await store.open("house-one")
    await store.close()
    before = path.read_bytes()

    with pytest.raises(StoreTooNew, match=r"version 4 .*reads up to 3.* Upgrade Glasshouse"):
        await SqliteStore(path).open("house-one")
    with pytest.raises(StoreTooNew):
        await SqliteStore(path, is_guest=True).open("house-one")

    assert path.read_bytes() == before


# One writer


async def test_a_second_writer_in_this_process_is_told_who_writes(path: Path) -> None:
    first = SqliteStore(path)
    await first.open("house-one")

    with pytest.raises(StoreBusy, match=rf"process {os.getpid()}\b.* guest"):
        await SqliteStore(path).open("house-one")

    await first.commit(one_batch(opening(ADA, "a")))
    await first.close()
    second = SqliteStore(path)
    await second.open("house-one")
    assert await texts_in(second) == ["a"]
    await second.close()


async def test_a_second_writer_that_comes_by_another_name_of_the_file_meets_the_same_lock(path: Path) -> None:
    alias = path.parent / "elsewhere" / "alias"
    alias.parent.mkdir()
    alias.symlink_to(path)
    first = SqliteStore(path)
    await first.open("house-one")

    with pytest.raises(StoreBusy, match=rf"process {os.getpid()}\b"):
        await SqliteStore(alias).open("house-one")

    await first.commit(one_batch(opening(ADA, "a")))
    await first.close()
    by_alias = SqliteStore(alias)
    await by_alias.open("house-one")
    assert await texts_in(by_alias) == ["a"]
    with pytest.raises(StoreBusy):
        await SqliteStore(path).open("house-one")
    await by_alias.close()


HOLDS_THE_STORE = """
import asyncio, sys
from glasshouse import SqliteStore
async def main():
    store = SqliteStore(sys.argv[1])
    await store.open("house-one")
    print("open", flush=True)
    sys.stdin.readline()
    await store.close()
asyncio.run(main())
"""


async def test_a_second_writer_in_another_process_is_told_who_writes(path: Path) -> None:
    with python(HOLDS_THE_STORE, path) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"

        with pytest.raises(StoreBusy, match=rf"process {other.pid}\b"):
            await SqliteStore(path).open("house-two")
        other.communicate("close\n")

    await written(path, "a")


async def test_the_lock_of_a_killed_writer_is_free(path: Path) -> None:
    with python(HOLDS_THE_STORE, path) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        other.kill()
        other.wait()

    await written(path, "a")


# Guests


async def test_a_guest_reads_what_another_writes_meanwhile(path: Path) -> None:
    writer, guest = SqliteStore(path), SqliteStore(path, is_guest=True)
    await writer.open("house-one")
    await writer.commit(one_batch(opening(ADA, "a")))
    await guest.open("house-two")

    for n, text in enumerate("bcd", 1):
        await writer.commit(one_batch(lines(ADA, n, text)))
        assert (await texts_in(guest))[-1] == text

    assert guest.house_id == "house-one"
    await guest.close()
    await writer.close()


async def test_the_position_of_a_guest_is_where_the_writer_stands(path: Path) -> None:
    writer, guest = SqliteStore(path), SqliteStore(path, is_guest=True)
    await writer.open("house-one")
    await guest.open("house-two")

    await writer.commit(one_batch(opening(ADA, "a", "b")))
    await guest.read_after(0, 9)

    assert await guest.position() == 2
    await guest.close()
    await writer.close()


async def test_a_guest_may_not_commit(path: Path) -> None:
    await written(path, "a")
    guest = SqliteStore(path, is_guest=True)
    await guest.open("house-two")

    with pytest.raises(StoreFailed, match="nothing but the inbox"):
        await guest.commit(one_batch(lines(ADA, 1, "b")))
    with pytest.raises(StoreFailed, match="nothing but the inbox"):
        await guest.commit([Batch(snapshot=Snapshot("", "world", "1", 1, b""))])

    assert await texts_in(guest) == ["a"]
    await guest.close()


LEAVES_LINES = """
import asyncio, sys
from glasshouse import SqliteStore
from glasshouse.stores.sqlite import store
store.busy_milliseconds_max = 300_000  # This writer never rests: whoever waits may wait for long.
async def main():
    guest = SqliteStore(sys.argv[1], is_guest=True)
    await guest.open("house-two")
    for n in range(20):
        print(await guest.put_line(f"line {n}", "r-1"), flush=True)
    await guest.close()
asyncio.run(main())
"""


@pytest.mark.parametrize("log_grows_by", ["little", "much"])
async def test_a_guest_in_another_process_leaves_lines_while_the_writer_writes(
    path: Path, log_grows_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if log_grows_by == "little":  # So it grows in most commits, while the guest writes behind its end.
        monkeypatch.setattr(journal, "ZEROS", b"\0")
    store = SqliteStore(path)
    await store.open("house-one")
    await store.commit(one_batch(opening(ADA, "0")))

    with python(LEAVES_LINES, path) as guest:
        head = 1
        while guest.poll() is None:
            await store.commit(one_batch(lines(ADA, head, str(head))))
            head += 1
        assert guest.stdout is not None
        numbers = [int(number) for number in guest.stdout.read().split()]

    assert guest.returncode == 0
    assert await store.lines(99) == [
        InboxLine(number, "r-1", f"line {n}") for n, number in enumerate(numbers)
    ]
    assert await texts_in(store) == [str(n) for n in range(head)]
    await store.close()


async def test_a_guest_of_a_missing_file_is_told_to_play_first_and_makes_none(path: Path) -> None:
    with pytest.raises(StoreFailed, match=r"no store at .*Play something first"):
        await SqliteStore(path, is_guest=True).open("house-one")

    assert list(path.parent.iterdir()) == []


async def test_a_guest_of_an_empty_file_is_told_to_play_first_and_leaves_it_empty(path: Path) -> None:
    path.touch()

    with pytest.raises(StoreFailed, match="Play something first"):
        await SqliteStore(path, is_guest=True).open("house-one")

    assert path.read_bytes() == b""


async def test_a_terrarium_may_look_on_as_a_guest(path: Path) -> None:
    async with Terrarium(SqliteStore(path)) as terrarium:
        ada = await terrarium.add_creature(Manifest(name="ada"))
        async with Terrarium(SqliteStore(path, is_guest=True)) as guest:
            assert [graph.creature_ids for graph in guest.graphs()] == [("ada",)]
            with pytest.raises(StoreFailed, match="guest"):
                await guest.append(ada.id, Draft(kind="agent.spoke", payload={"text": "boo"}))
        said = await terrarium.append(ada.id, Draft(kind="agent.spoke", payload={"text": "hello"}))

        assert (await terrarium.events(ada.session_id))[-1].id == said.id


async def test_sqlite_is_called_as_python_3_15_wants_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # There, all but the first parameter of connect() have to be named. Python 3.13 only warns, older ones say nothing.
    really = sqlite3.connect
    opened: list[str] = []

    def connect(database: str | Path, /, **named: Any) -> sqlite3.Connection:
        opened.append(str(database))
        connection: sqlite3.Connection = really(database, **named)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect)
    store = SqliteStore(path)
    await store.open("house-one")
    migrate(store._connect(), path, [*bundled_migrations(), (999, "SELECT 1;")])  # Copies the file first.
    await store.close()

    assert {str(path), f"{path}.v{bundled_migrations()[-1][0]}.copy.part"} <= {*opened}
