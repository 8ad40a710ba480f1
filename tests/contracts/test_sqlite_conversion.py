"""Files of older versions: converted once when a terrarium opens them, whole or not at all, and read as they are by guests."""
# ruff: noqa: ASYNC240 (a test may wait for its own small files)

import gzip
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from glasshouse import Draft, Event, Manifest, SqliteStore, Terrarium
from glasshouse.errors import StoreDamaged, StoreFailed
from glasshouse.events.codec import encoded
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.stores.sqlite import conversion
from glasshouse.stores.sqlite.migrate import bundled_migrations
from glasshouse.world.state.lineage import Span
from tests.contracts.older_files import made_older, version_in

OLD_FILE = Path(__file__).resolve().parent.parent / "old_files" / "rules-1.glasshouse.gz"
newest = bundled_migrations()[-1][0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "show.glasshouse"


async def played(path: Path, says: int = 40) -> None:
    """A store with a merge, lines on a channel, and lines that a reader of JSON could stumble over."""
    async with Terrarium(SqliteStore(path), clock=HandMovedClock(), ids=SeededIds(1)) as t:
        ada = await t.add_creature(Manifest(name="ada"))
        bo = await t.add_creature(Manifest(name="bo"))
        await t.connect(ada.id, bo.id, channel="talk")
        for n in range(says):
            payload = {"text": f"line {n} é", "created_at": "2020-01-01T00:00:00Z", "n": {"payload": 1.5}}
            await t.append(ada.id, Draft(kind="agent.spoke", channel="talk", payload=payload))


async def events_in(path: Path, *, is_guest: bool = False) -> list[Event]:
    store = SqliteStore(path, is_guest=is_guest)
    await store.open("nobody")
    events = await store.read_after(0, 1_000_000)
    spans_agree = {event.id for event in await store.read([*map(_span, {e.session_id for e in events})])}
    await store.close()
    assert spans_agree == {event.id for event in events}
    return events


def _span(session_id: str) -> Span:
    return Span(session_id, 0, 0, 1, 1_000_000)


@pytest.mark.parametrize("version", [1, 2])
async def test_an_older_file_gives_the_same_events_before_and_after_it_is_converted(
    path: Path, version: int
) -> None:
    await played(path)
    events = await events_in(path)
    await made_older(path, version)

    as_it_was = await events_in(path, is_guest=True)
    assert version_in(path) == version
    converted = await events_in(path)

    assert version_in(path) == newest
    assert [*map(encoded, as_it_was)] == [*map(encoded, converted)] == [*map(encoded, events)]
    assert as_it_was == converted == events
    assert version_in(path.with_name(f"{path.name}.v{version}.copy")) == version


async def test_a_file_that_an_older_version_wrote_is_converted_smaller_with_nothing_left_whole(
    path: Path,
) -> None:
    path.write_bytes(gzip.decompress(OLD_FILE.read_bytes()))
    bodies = [encoded(event) for event in await events_in(path, is_guest=True)]
    with closing(sqlite3.connect(path)) as old:
        (size,) = old.execute("SELECT sum(length(body)) FROM events").fetchone()

    assert [encoded(event) for event in await events_in(path)] == bodies

    with closing(sqlite3.connect(path)) as new:
        whole, size_now = new.execute(
            "SELECT count(*) FILTER (WHERE shape IS NULL), sum(length(coalesce(payload, '')) + length(rest)) FROM events"
        ).fetchone()
        assert new.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert whole == 0
    assert size_now < 0.8 * size


async def test_what_was_converted_is_written_on(path: Path) -> None:
    await played(path)
    await made_older(path)

    async with Terrarium(SqliteStore(path), clock=HandMovedClock()) as t:
        said = await t.append("ada", Draft(kind="agent.spoke", channel="talk", payload={"text": "and on"}))

    assert (await events_in(path))[-1] == said


async def test_progress_is_told_up_to_the_last_event_and_only_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, "events_at_once", 16)
    await played(path)
    count = len(await events_in(path))
    await made_older(path)
    progress: list[tuple[int, int]] = []

    for _ in range(2):
        store = SqliteStore(path, on_conversion=lambda done, of: progress.append((done, of)))
        await store.open("nobody")
        await store.close()

    assert [done for done, _ in progress] == [*range(16, count, 16), count]
    assert {of for _, of in progress} == {count}


CONVERTS = """
import asyncio, sys
from glasshouse import SqliteStore
from glasshouse.stores.sqlite import conversion
conversion.events_at_once = 8
def stop(done, count):
    if done * 2 > count:
        print("halfway", flush=True)
        sys.stdin.readline()
asyncio.run(SqliteStore(sys.argv[1], on_conversion=stop).open("nobody"))
"""


def converting(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CONVERTS, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_a_process_that_is_killed_while_it_converts_leaves_the_old_file(path: Path) -> None:
    await played(path)
    events = await events_in(path)
    await made_older(path)

    with converting(path) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "halfway\n"
        os.kill(child.pid, signal.SIGKILL)

    assert await events_in(path, is_guest=True) == events
    assert version_in(path) == 2
    assert await events_in(path) == events
    assert version_in(path) == newest


def _fill_the_disk(connection: sqlite3.Connection) -> None:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()


class OnAFullDisk(SqliteStore):
    """A store whose file cannot grow any more."""

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        _fill_the_disk(connection)
        return connection


async def test_a_full_disk_leaves_the_old_file_and_no_copy_and_says_so(path: Path) -> None:
    await played(path)
    events = await events_in(path)
    await made_older(path)

    with pytest.raises(StoreFailed, match=r"The disk that holds .* is full\. Nothing was written"):
        await OnAFullDisk(path).open("nobody")

    assert list(path.parent.glob("*.copy*")) == []
    assert version_in(path) == 2
    assert await events_in(path, is_guest=True) == events
    assert await events_in(path) == events


async def test_a_guest_that_has_an_older_file_open_goes_on_when_it_is_converted(path: Path) -> None:
    await played(path)
    await made_older(path)
    guest = SqliteStore(path, is_guest=True)
    await guest.open("nobody")
    before = await guest.read_after(0, 1_000_000)

    async with Terrarium(SqliteStore(path), clock=HandMovedClock()) as t:
        said = await t.append("ada", Draft(kind="agent.spoke", channel="talk", payload={"text": "and on"}))
        after = await guest.read_after(0, 1_000_000)
        await guest.put_line("hello", None)

    await guest.close()
    assert after[: len(before)] == before
    assert after[-1] == said


@pytest.mark.parametrize("damage", ["body = x'00ff'", "body = '{'", "body = 7", "seq = 'x'"])
async def test_a_damaged_row_is_converted_as_it_is_and_still_told(path: Path, damage: str) -> None:
    await played(path)
    await made_older(path)
    with closing(sqlite3.connect(path)) as ledger, ledger:
        ledger.execute(f"UPDATE events SET {damage} WHERE position = 9")

    for is_guest in (True, False):
        with pytest.raises(StoreDamaged, match="Restore a copy"):
            await events_in(path, is_guest=is_guest)


async def test_a_file_that_may_only_be_read_is_read_as_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played(path)
    events = await events_in(path)
    await made_older(path)
    before = path.read_bytes()
    monkeypatch.setattr("glasshouse.stores.sqlite.store.can_be_written", lambda _: False)

    assert await events_in(path, is_guest=True) == events

    assert path.read_bytes() == before
