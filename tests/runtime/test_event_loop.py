"""The event loop that the product starts: libuv's, or asyncio's own if that is missing; the story is the same on both."""

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from glasshouse import SqliteStore
from glasshouse.runtime import event_loop
from glasshouse.runtime.blocking import outcome_of
from tests.runtime.many_graphs_play import play


async def loop_in_use() -> str:
    return type(asyncio.get_running_loop()).__module__


def ledger_of_a_play(path: Path) -> list[tuple[object, ...]]:
    """What the store holds after two runs of many graphs, row by row."""
    event_loop.run(play(SqliteStore(path)))
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM events ORDER BY position").fetchall()


@pytest.fixture
def without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)


def test_what_the_product_starts_runs_on_uvloop() -> None:
    assert event_loop.run(loop_in_use()) == outcome_of(loop_in_use) == "uvloop"


@pytest.mark.usefixtures("without_uvloop")
def test_without_uvloop_it_runs_on_asyncios_own_loop() -> None:
    assert event_loop.run(loop_in_use()) == outcome_of(loop_in_use) == "asyncio.unix_events"


def test_the_ledger_is_the_same_byte_for_byte_on_both_loops(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    on_uvloop = ledger_of_a_play(tmp_path / "uvloop.glasshouse")
    request.getfixturevalue("without_uvloop")
    on_asyncio = ledger_of_a_play(tmp_path / "asyncio.glasshouse")

    assert len(on_uvloop) > 500
    assert on_uvloop == on_asyncio
