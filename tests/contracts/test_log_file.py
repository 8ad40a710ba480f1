"""The write-ahead log is longer than it needs to be, and everything committed is read from it all the same."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from glasshouse import SqliteStore
from glasshouse.stores.sqlite import journal
from glasshouse.testing.contracts.writing import lines, one_batch, opening, root, span, texts_of
from tests.runtime.troupe import soon

ADA = root("ada")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "show.glasshouse"


async def log_bytes(store: SqliteStore, path: Path) -> int:
    # The log is made longer after a commit was answered. The next call of the writer's thread comes after that.
    await store.withdraw_request(0)
    return path.with_name(f"{path.name}-wal").stat().st_size


async def opened(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    await store.open("house-one")
    return store


async def commit_some(store: SqliteStore, commits: int, chars: int = 0) -> list[str]:
    texts = [f"{n} {'x' * chars}" for n in range(commits)]
    await store.commit(one_batch(opening(ADA, texts[0])))
    for head, text in enumerate(texts[1:], 1):
        await store.commit(one_batch(lines(ADA, head, text)))
    return texts


async def test_a_commit_does_not_make_the_log_longer(path: Path) -> None:
    store = await opened(path)
    await commit_some(store, 2)
    before = await log_bytes(store, path)

    for head in range(2, 12):
        await store.commit(one_batch(lines(ADA, head, "again")))

    assert await log_bytes(store, path) == before
    await store.close()


async def test_a_log_that_is_used_up_is_made_longer_again(path: Path) -> None:
    store = await opened(path)
    texts = await commit_some(store, 40, chars=60_000)
    before = await log_bytes(store, path)

    await store.commit(one_batch(lines(ADA, 40, "one more")))

    assert before > 40 * 60_000
    assert await log_bytes(store, path) == before
    assert texts_of(await store.read([span(ADA)])) == [*texts, "one more"]
    await store.close()


async def test_a_store_is_whole_if_its_process_ends_while_zeros_follow_the_log(path: Path) -> None:
    store = await opened(path)
    texts = await commit_some(store, 5)
    for end in ("", "-wal"):
        shutil.copyfile(f"{path}{end}", f"{path}.left{end}")
    await store.close()

    left = await opened(Path(f"{path}.left"))
    await left.commit(one_batch(lines(ADA, 5, "after")))

    assert texts_of(await left.read([span(ADA)])) == [*texts, "after"]
    await left.close()


async def test_a_link_to_a_store_has_the_same_log(path: Path) -> None:
    await (await opened(path)).close()
    link = path.with_name("link.glasshouse")
    link.symlink_to(path)
    store = await opened(link)

    await commit_some(store, 3)

    assert await log_bytes(store, path) > journal.growth_bytes_max
    await store.close()


@pytest.mark.parametrize("wrong", [OSError(errno.EIO, "no such call here"), MemoryError()], ids=repr)
async def test_nothing_fails_if_the_log_cannot_be_made_longer(
    path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Exception
) -> None:
    def refused(_path: str) -> os.statvfs_result:
        raise wrong

    monkeypatch.setattr(os, "statvfs", refused)
    store = await opened(path)

    texts = await soon(commit_some(store, 5))

    assert await log_bytes(store, path) < journal.growth_bytes_max
    assert texts_of(await store.read([span(ADA)])) == texts
    await store.close()


async def test_on_a_disk_with_little_room_the_log_is_as_short_as_it_can_be(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "free_bytes_min", 2**62)
    store = await opened(path)

    await commit_some(store, 5)

    assert await log_bytes(store, path) < journal.growth_bytes_max
    await store.close()
