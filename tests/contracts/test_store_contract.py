"""Every store keeps the contract that users test their own stores with, and so does that of a replay, as far as it is one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from glasshouse import MemoryStore
from glasshouse.runtime.replay.overlay import OverlayStore
from glasshouse.runtime.store_port import Store
from glasshouse.testing import StoreContract
from glasshouse.testing.contracts.checking import Opener, check_each, refused_with
from glasshouse.testing.contracts.ledger_contract import LedgerContract
from tests.every_store import in_memory, in_postgres, in_sqlite
from tests.servers.postgres import drop_databases


class TestMemoryStore(StoreContract):
    def opener(self, folder: Path) -> Opener:
        return in_memory(folder)


class TestSqliteStore(StoreContract):
    def opener(self, folder: Path) -> Opener:
        return in_sqlite(folder)


class TestPostgresStore(StoreContract):
    @pytest.fixture(autouse=True)
    def databases(self) -> Iterator[None]:
        yield
        drop_databases()

    def opener(self, folder: Path) -> Opener:
        return in_postgres(folder)


class TestStoreOfAReplay(LedgerContract):
    """It need not know events again that it has: its ledger never repeats any."""

    def opener(self, folder: Path) -> Opener:
        below = MemoryStore()

        class Overlay(OverlayStore):
            async def open(self, house_id: str) -> None:
                await below.open(house_id)

        return lambda: Overlay(below, 0, {})


class Forgetful(MemoryStore):
    """A store with a fault: it never says how far it is."""

    async def position(self) -> int:
        return 0


def test_a_store_with_a_fault_does_not_keep_the_contract(tmp_path: Path) -> None:
    class Suite(StoreContract):
        def opener(self, folder: Path) -> Opener:
            return Forgetful

    with pytest.raises(AssertionError):
        Suite().test_the_position_is_that_of_the_last_committed_event(tmp_path)


def test_each_case_of_a_check_has_a_store_of_its_own(tmp_path: Path) -> None:
    positions: list[int] = []

    class Suite(TestMemoryStore):
        @check_each("number", [1, 2])
        async def test_it_is_new(self, store: Store, number: int) -> None:
            positions.append(await store.position() + number)

    Suite().test_it_is_new(tmp_path)

    assert positions == [1, 2]


def test_an_error_that_does_not_come_or_says_something_else_is_noticed() -> None:
    with pytest.raises(AssertionError, match="was not raised"), refused_with(ValueError):
        pass
    with pytest.raises(AssertionError, match="not 'tea'"), refused_with(ValueError, match="tea"):
        raise ValueError("coffee")
