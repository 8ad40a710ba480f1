"""A segment whose events lie far apart: read whole and in order, by an index that goes epoch by epoch and stops in time."""

import sqlite3
from collections.abc import Iterator

import pytest

from glasshouse.runtime.store_port import Batch, Store
from glasshouse.stores.sqlite.journal import SQL
from glasshouse.stores.sqlite.migrate import bundled_migrations
from glasshouse.testing.contracts.writing import lines, one_batch, opening, root, span, texts_of
from tests.every_store import Opener

ADA, BO, CY = root("ada"), root("bo", ordinal=2), root("cy", ordinal=3)
epoch_positions = 4_096
epochs = 1_000


async def put_between(store: Store, head: int) -> int:
    """Enough of somebody else's events to fill an epoch and a half."""
    texts = [str(n) for n in range(epoch_positions * 3 // 2)]
    await store.commit(one_batch(lines(BO, head, *texts) if head else opening(BO, *texts)))
    return head + len(texts)


async def test_a_session_with_long_silences_is_read_whole_and_from_anywhere(opener: Opener) -> None:
    store = opener()
    await store.open("house-one")
    await store.commit(one_batch(opening(ADA, "a", "b", "c")))
    head = await put_between(store, 0)
    await store.commit([Batch((lines(ADA, 3, "d"),)), Batch((lines(ADA, 4, "e", "f"),))])
    head = await put_between(store, head)
    await store.commit(one_batch(lines(ADA, 6, "g"), opening(CY, "x")))
    await put_between(store, head)

    assert texts_of(await store.read([span(ADA)])) == list("abcdefg")
    assert texts_of(await store.read([span(ADA, 3, 5)])) == list("cde")
    assert texts_of(await store.read([span(ADA, 7, 7)])) == ["g"]
    assert [event.seq for event in await store.read([span(BO, head - 1, head + 2)])] == list(
        range(head - 1, head + 3)
    )
    changes = [event.change for event in await store.read([span(ADA)])]
    firsts = [event.position for event in await store.read([span(ADA)])]
    assert changes == [firsts[0]] * 3 + [firsts[3]] + [firsts[4]] * 2 + [firsts[6]]
    await store.close()
    store = opener()
    await store.open("house-one")
    position = await store.position()
    assert await store.commit(one_batch(lines(ADA, 7, "h"), lines(CY, 1, "y"))) == position + 1
    assert texts_of(await store.read([span(ADA, 6), span(CY)])) == ["x", "y", "f", "g", "h"]
    await store.close()


@pytest.mark.parametrize(("first", "last"), [(5, 4), (0, 2), (-9, 2), (1, 2**63 - 1), (2**63 - 1, 2**63 - 1)])
async def test_a_span_may_have_any_bounds(store: Store, first: int, last: int) -> None:
    await store.commit(one_batch(opening(ADA, "a", "b", "c")))

    events = await store.read([span(ADA, max(first, 1), last)])

    assert texts_of(events) == list("abc")[max(first, 1) - 1 : last]


@pytest.fixture
def ledger() -> Iterator[sqlite3.Connection]:
    """Ada spoke once in the first epoch and once in the last of a thousand; bo in each."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for _, script in bundled_migrations():
        connection.executescript(script)
    for number, name in enumerate(["ada", "bo"], 1):
        connection.execute(SQL["add_segment"], (number, name, "g", "root", number, 0, None, 0, 0, number))
    said = [(1, 1, 1), *[(2 + n * epoch_positions, 2, n + 1) for n in range(epochs)]]
    said.append((said[-1][0] + 1, 1, 2))
    connection.executemany(SQL["add_event"], [(*line, 0, None, None, None, None, "{}") for line in said])
    yield connection
    connection.close()


def steps_of(ledger: sqlite3.Connection, name: str, *asked: object) -> int:
    """How many of SQLite's own instructions the statement takes."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    ledger.set_progress_handler(step, 1)
    ledger.execute(SQL[name], asked).fetchall()
    ledger.set_progress_handler(None, 1)
    return steps


WALKS = [
    ("events_of_segment", ("ada", 1, 2), ("ada", 1, 1), "(epoch=? AND segment=? AND seq>? AND seq<?)"),
    ("events_of_segment", ("bo", 2, 3000), ("bo", 2, 3), "(epoch=? AND segment=? AND seq>? AND seq<?)"),
]


@pytest.mark.parametrize(("name", "far", "near", "by"), WALKS)
def test_a_walk_uses_the_whole_index_and_ends_with_the_last_row_wanted(
    ledger: sqlite3.Connection, name: str, far: tuple[object, ...], near: tuple[object, ...], by: str
) -> None:
    plan = [row[3] for row in ledger.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", far)]

    assert f"SEARCH events USING INDEX events_by_segment {by}" in plan
    assert steps_of(ledger, name, *far) > 5 * epochs
    assert steps_of(ledger, name, *near) < 300


def test_a_head_is_looked_for_from_the_end_and_found_at_once(ledger: sqlite3.Connection) -> None:
    heads = [ledger.execute(SQL["segment_head"], (number,)).fetchone()[0] for number in (1, 2, 3)]
    ledger.execute("DELETE FROM events WHERE segment = 1 AND seq = 2")

    assert heads == [2, epochs, 0]
    assert steps_of(ledger, "segment_head", 2) < 300
    assert steps_of(ledger, "segment_head", 1) > 5 * epochs
    assert ledger.execute(SQL["segment_head"], (1,)).fetchone() == (1,)


def test_the_schema_s_epochs_are_as_long_as_these_tests_believe(ledger: sqlite3.Connection) -> None:
    assert ledger.execute("SELECT max(epoch), count(DISTINCT epoch) FROM events").fetchone() == (
        epochs - 1,
        epochs,
    )
