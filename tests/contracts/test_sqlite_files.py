"""Files that the SQLite store holds open: few, and none once it is closed."""
# ruff: noqa: ASYNC240 (a test may wait for its own small files)

import asyncio
from pathlib import Path

import psutil
import pytest

from glasshouse import Manifest, SqliteStore, Terrarium
from glasshouse.errors import StoreError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "show.glasshouse"


def files_open_in(folder: Path) -> list[str]:
    """The files of a folder that this process holds open: other files are other tests' business."""
    return [file.path for file in psutil.Process().open_files() if Path(file.path).parent == folder.resolve()]


async def test_a_thousand_open_graphs_need_few_files(path: Path) -> None:
    async with Terrarium(SqliteStore(path)) as terrarium:
        added = [terrarium.add_creature(Manifest(name=f"c{n}")) for n in range(1_000)]
        creatures = await asyncio.gather(*added)
        await asyncio.gather(*[terrarium.events(creature.session_id) for creature in creatures])

        assert len(terrarium.graphs()) == 1_000
        assert 0 < len(files_open_in(path.parent)) < 32


async def test_closing_gives_every_file_back(path: Path) -> None:
    for _ in range(5):
        store = SqliteStore(path)
        await store.open("house-one")
        await store.read_after(0, 1)
        await store.read_after(0, 1)
        assert files_open_in(path.parent) != []
        await store.close()

    assert files_open_in(path.parent) == []


async def test_a_failed_opening_gives_every_file_back_and_frees_the_lock(path: Path) -> None:
    path.write_bytes(b"no database at all, but long enough to be looked at twice" * 20)

    for _ in range(5):
        with pytest.raises(StoreError):
            await SqliteStore(path).open("house-one")

    assert files_open_in(path.parent) == []
    path.unlink()
    store = SqliteStore(path)
    await store.open("house-one")
    await store.close()
