"""The lock of the one writer: forked children, a lock file that was removed, processes of other containers, those who only
ask."""
# ruff: noqa: ASYNC240 (a test may wait for its own small files)

import fcntl
import os
import sqlite3
from pathlib import Path

import pytest

from glasshouse import SqliteStore
from glasshouse.errors import StoreBusy, StoreFenced
from glasshouse.runtime.store_port import Batch, InboxWrites
from glasshouse.stores.sqlite import lock
from glasshouse.stores.sqlite.lock import Holder, WriterLock, holder_of
from glasshouse.testing.contracts.writing import lines, one_batch, opening, root, span, texts_of
from tests.contracts.test_sqlite_store import python

ADA = root("ada")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "show.glasshouse"


async def opened(path: Path, *, is_guest: bool = False) -> SqliteStore:
    store = SqliteStore(path, is_guest=is_guest)
    await store.open("house-one")
    return store


FORKS_WHILE_IT_WRITES = """
import asyncio, os, sys
from glasshouse import SqliteStore
async def main():
    store = SqliteStore(sys.argv[1])
    await store.open("house-one")
    if os.fork() == 0:
        print("forked", flush=True)
        sys.stdin.readline()
        os._exit(0)
    await store.close()
    print("closed", flush=True)
    os.wait()
asyncio.run(main())
"""


async def test_a_forked_child_does_not_keep_the_lock_of_its_parent(path: Path) -> None:
    with python(FORKS_WHILE_IT_WRITES, path) as parent:
        assert parent.stdout is not None
        assert {parent.stdout.readline(), parent.stdout.readline()} == {"forked\n", "closed\n"}

        assert holder_of(path) is None
        await (await opened(path)).close()
        parent.communicate("go\n")


async def test_a_second_writer_behind_a_removed_lock_file_is_told_that_the_store_is_written(
    path: Path,
) -> None:
    first = await opened(path)
    Path(f"{path}.lock").unlink()

    with pytest.raises(StoreBusy, match=r"is being written by .*lock file was removed.* guest"):
        await opened(path)

    await first.commit(one_batch(opening(ADA, "a")))
    await first.close()
    second = await opened(path)
    assert texts_of(await second.read([span(ADA)])) == ["a"]
    await second.close()


async def test_a_store_whose_lock_file_was_removed_is_held_all_the_same(path: Path) -> None:
    first, guest = await opened(path), await opened(path, is_guest=True)
    Path(f"{path}.lock").unlink()

    assert holder_of(path) == Holder(None)
    assert await guest.owner() == "Another process"

    await first.close()
    assert holder_of(path) is None
    assert await guest.owner() == ""
    await guest.close()


async def test_one_who_writes_without_the_lock_does_no_harm_and_is_reported_as_another_writer(
    path: Path,
) -> None:
    store = await opened(path)
    await store.commit(one_batch(opening(ADA, "a")))
    with sqlite3.connect(path) as other:
        other.execute(
            "INSERT INTO events (position, segment, seq, in_change, rest) VALUES (2, 1, 2, 0, '{}')"
        )
    other.close()

    for _ in ("at first", "and from then on"):
        with pytest.raises(StoreFenced, match=r"was written by another process.*Nothing was written"):
            await store.commit(one_batch(lines(ADA, 1, "b")))
    with pytest.raises(StoreFenced):
        await store.commit([Batch(inbox=InboxWrites((7,)))])
    assert await store.position() == 2

    await store.close()


@pytest.mark.parametrize("process", ["4194999\n", "999999999999\nhttp://127.0.0.1:8765/\n", "", "what?\n"])
async def test_whether_a_store_is_held_does_not_hang_on_the_process_that_the_lock_names(
    path: Path, process: str
) -> None:
    """Containers share files, but not the numbers of processes."""
    store = await opened(path)
    Path(f"{path}.lock").write_text(process)

    holder = holder_of(path)

    number, *address = process.split() or [""]
    assert holder == Holder(int(number) if number.isdigit() else None, *address)
    await store.close()
    assert holder_of(path) is None


async def test_a_lock_that_names_a_living_process_but_is_free_is_held_by_nobody(path: Path) -> None:
    await (await opened(path)).close()
    Path(f"{path}.lock").write_text(f"{os.getpid()}\n")

    assert holder_of(path) is None
    assert holder_of(path.with_name("there is none")) is None


async def test_one_who_asks_who_holds_a_store_keeps_nobody_from_opening_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await opened(path)).close()
    asks = [os.open(f"{path}.lock", os.O_RDONLY), os.open(f"{path}.lock", os.O_RDONLY)]
    for descriptor in asks:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    naps = list[float]()

    def ends_asking(seconds: float) -> None:
        naps.append(seconds)
        if asks:
            os.close(asks.pop())

    monkeypatch.setattr(lock, "sleep", ends_asking)
    store = await opened(path)

    assert len(naps) == 2
    await store.close()


def test_one_who_never_ends_asking_is_reported_after_a_bounded_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    naps = list[float]()
    monkeypatch.setattr(lock, "sleep", naps.append)
    with open(f"{path}.lock", "w") as asks:
        fcntl.flock(asks, fcntl.LOCK_SH)

        with pytest.raises(StoreBusy):
            WriterLock(path).take()

    assert len(naps) == lock.lock_tries_max


async def test_every_connection_that_writes_syncs_to_the_platter(path: Path) -> None:
    """On macOS a plain sync ends in the disk's cache."""
    writer = await opened(path)
    guest = await opened(path, is_guest=True)
    await guest.put_line("hello")
    await writer.commit([Batch(inbox=InboxWrites((1,)))])

    for store in (writer, guest):
        [connection, *_] = store._connections
        assert connection.execute("PRAGMA fullfsync").fetchone() == (1,)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    await guest.close()
    await writer.close()
