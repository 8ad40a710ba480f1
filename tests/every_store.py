"""Every store that must keep the contract, and that the rig with failing and doubtful commits runs on. A new one is a line
in `OPENERS`. The fixtures here are there for every test."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from glasshouse import MemoryStore, SqliteStore
from glasshouse.runtime.store_port import Store
from glasshouse.stores.postgres.postgres_store import PostgresStore
from tests.servers.postgres import drop_databases, new_database

Opener = Callable[[], Store]
"""Gives a store. Called again, it gives the same store as the next process would find it."""


def in_memory(folder: Path) -> Opener:
    kept = MemoryStore()
    return lambda: kept


def in_sqlite(folder: Path) -> Opener:
    return lambda: SqliteStore(folder / "show.glasshouse")


def in_postgres(folder: Path) -> Opener:
    address = new_database()
    return lambda: PostgresStore(address, lease_seconds=1.0)


OPENERS: dict[str, Callable[[Path], Opener]] = {
    "memory": in_memory,
    "sqlite": in_sqlite,
    "postgres": in_postgres,
}


@pytest.fixture(params=OPENERS)
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    yield OPENERS[str(request.param)](tmp_path)
    drop_databases()


@pytest.fixture
async def store(opener: Opener) -> AsyncIterator[Store]:
    opened = opener()
    await opened.open("house-one")
    yield opened
    await opened.close()
