"""Every store that must keep the contract. A new one is a line in `PLACES`."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from glasshouse import MemoryStore, SqliteStore
from glasshouse.runtime.ports import Store

Place = Callable[[], Store]
"""Gives the store at one place; asked again, it gives it as the next process would find it."""


def in_memory(folder: Path) -> Place:
    kept = MemoryStore()
    return lambda: kept


def in_sqlite(folder: Path) -> Place:
    return lambda: SqliteStore(folder / "show.glasshouse")


PLACES: dict[str, Callable[[Path], Place]] = {"memory": in_memory, "sqlite": in_sqlite}


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return PLACES[str(request.param)](tmp_path)


@pytest.fixture
async def store(place: Place) -> AsyncIterator[Store]:
    opened = place()
    await opened.open("house-one")
    yield opened
    await opened.close()
