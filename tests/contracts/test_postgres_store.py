"""What only the PostgreSQL store promises: fencing, takeover, doubt, roles, versions, and few connections."""

from __future__ import annotations

import asyncio
import itertools
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from glasshouse import MemoryStore, PostgresStore, Refused, SqliteStore, Terrarium
from glasshouse.errors import OutcomeUnknown, StoreBusy, StoreFailed, StoreFenced, StoreTooNew
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.store_port import (
    Batch,
    InboxLine,
    InboxWrites,
    SegmentWrite,
    SideWrites,
    Snapshot,
    Store,
)
from glasshouse.stores.postgres import owned_house, postgres_store, server
from glasshouse.stores.postgres.driver_faults import is_of_connection
from glasshouse.stores.postgres.schema import bundled_migrations
from glasshouse.stores.store_address import StoreAddress
from glasshouse.testing.contracts.writing import lines, one_batch, opening, root, texts_of
from tests.runtime.troupe import soon
from tests.servers.postgres import admin, drop_databases, new_database
from tests.servers.tcp_proxy import Fault, TcpProxy

ADA = root("ada")
lease = 1.5
_numbers = itertools.count()


@pytest.fixture
def database() -> Iterator[str]:
    yield new_database()
    drop_databases()


def elsewhere(address: str) -> str:
    """The same database by another address, so that this process has a second `Server` for it, as another process would."""
    return f"{address}?application_name=elsewhere{next(_numbers)}"


def house(address: str, name: str | None = "main", **more: Any) -> PostgresStore:
    return PostgresStore(address, name, lease_seconds=lease, **more)


async def opened(address: str, name: str | None = "main", **more: Any) -> PostgresStore:
    made = house(address, name, **more)
    await made.open("a house")
    return made


async def silence(owner: PostgresStore) -> None:
    """Let the owner beat no more, as one that is stopped or cut off."""
    assert owner._server is not None
    owner._server._owned.clear()
    beating = owner._server._tasks["beat"]
    beating.cancel()
    await asyncio.gather(beating, return_exceptions=True)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110  Nothing tells when.
            await asyncio.sleep(0.01)


async def ledger_of(kept: Store) -> list[str]:
    return texts_of(await kept.read_after(0, 1_000))


# Ownership


async def test_a_silent_owner_is_taken_over_and_can_never_write_again(database: str) -> None:
    first = await opened(database)
    await first.commit(one_batch(opening(ADA, "one")))
    number = await first.put_request("{}")
    await silence(first)

    second = await opened(elsewhere(database))
    await second.commit(one_batch(lines(ADA, 1, "two")))

    for _ in range(2):
        with pytest.raises(StoreFenced, match="taken over"):
            await first.commit(one_batch(lines(ADA, 1, "late")))
    with pytest.raises(StoreFenced):
        await first.take_request(number)
    assert isinstance(first.lapse(), StoreFenced)
    assert await second.take_request(number)
    assert await ledger_of(second) == ["one", "two"]
    epochs = admin().execute_in(
        database.rpartition("/")[2], "SELECT epoch FROM glasshouse.events ORDER BY position"
    )
    assert [row[0] for row in epochs] == [1, 2]
    await first.close()
    with pytest.raises(StoreFenced, match="taken over"):
        await first.position()
    assert await second.owner()
    await second.close()


async def test_taking_a_request_is_fenced_by_itself(database: str) -> None:
    first = await opened(database)
    number = await first.put_request("{}")
    await silence(first)
    second = await opened(elsewhere(database))

    with pytest.raises(StoreFenced):
        await first.take_request(number)

    assert not (await second.open_requests(9))[0].is_taken
    await first.close()
    await second.close()


async def test_a_house_whose_owner_beats_is_busy_and_a_closed_one_is_free_at_once(database: str) -> None:
    first = await opened(database)

    for address in (database, elsewhere(database)):
        with pytest.raises(StoreBusy, match=r"is being played by process \d+"):
            await soon(house(address).open("another"))
    await first.close()

    second = await soon(opened(elsewhere(database)))
    assert second.house_id == "a house"
    await second.close()


async def test_a_takeover_ends_a_connection_of_the_old_owner_that_keeps_the_lock(database: str) -> None:
    import asyncpg

    first = await opened(database)
    assert first._server is not None
    stuck = await asyncpg.connect(database, server_settings={"application_name": first._server.name})
    await stuck.execute("BEGIN")
    await stuck.execute("SELECT FROM glasshouse.houses FOR NO KEY UPDATE")
    await silence(first)

    second = await soon(opened(elsewhere(database)))

    assert await second.commit(one_batch(opening(ADA, "one"))) == 1
    stuck.terminate()
    await first.close()
    await second.close()


async def test_an_owner_that_cannot_beat_for_a_lease_has_lapsed_by_its_own_monotonic_clock(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(server, "monotonic", lambda: now)
    first = await opened(database)
    await silence(first)

    now += lease
    assert first.lapse() is None
    now += 0.1
    assert isinstance(first.lapse(), StoreFailed)
    assert first._house is not None
    first._house.was_beaten(now)
    assert first.lapse() is None
    await first.close()


async def test_a_lease_of_silence_counts_from_when_the_silence_was_seen_not_from_when_a_stalled_server_was_asked(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await opened(database)
    await silence(first)
    now = 1_000.0
    looks = 0
    fetch_row = server.Server.fetch_row

    async def stalled(self: server.Server, query: str, *values: object, seconds: float | None = None) -> Any:
        nonlocal now, looks
        row = await fetch_row(self, query, *values, seconds=seconds)
        if query == server.SQL["house"]:
            looks += 1
            # The first look is that of opening, the second one the first of taking.
            now += 2 * lease if looks == 2 else 0
        return row

    monkeypatch.setattr(server, "monotonic", lambda: now)
    monkeypatch.setattr(server.Server, "fetch_row", stalled)

    taking = asyncio.create_task(opened(elsewhere(database)))
    await until(lambda: looks >= 4 or taking.done())
    is_taken_early = taking.done()
    now += lease
    second = await soon(taking)

    assert not is_taken_early
    assert second.lapse() is None
    await first.close()
    await second.close()


async def test_who_stood_still_between_a_look_and_its_end_does_not_take_a_house_whose_owner_beats(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await opened(database)
    await silence(first)
    now = 1_000.0
    looks = 0
    fetch_row = server.Server.fetch_row

    async def suspended(
        self: server.Server, query: str, *values: object, seconds: float | None = None
    ) -> Any:
        nonlocal now, looks
        row = await fetch_row(self, query, *values, seconds=seconds)
        if query == server.SQL["house"]:
            looks += 1
            if looks == 3:  # The second one of taking.
                now += 2 * lease
                admin().execute_in(database.rpartition("/")[2], "UPDATE glasshouse.beats SET beat = beat + 1")
        return row

    monkeypatch.setattr(server, "monotonic", lambda: now)
    monkeypatch.setattr(server.Server, "fetch_row", suspended)

    with pytest.raises(StoreBusy, match="is being played by"):
        await soon(opened(elsewhere(database)))

    assert looks == 4
    await first.close()


async def test_an_owner_that_beats_again_in_the_last_moment_keeps_its_house(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await opened(database)
    await silence(first)
    fetch = server.Server.fetch

    async def late(
        self: server.Server, query: str, *values: object, seconds: float | None = None
    ) -> list[Any]:
        if query == server.SQL["end_connections"]:
            admin().execute_in(database.rpartition("/")[2], "UPDATE glasshouse.beats SET beat = beat + 1")
        return await fetch(self, query, *values, seconds=seconds)

    monkeypatch.setattr(server.Server, "fetch", late)

    with pytest.raises(StoreBusy, match="is being played by"):
        await soon(PostgresStore(elsewhere(database), lease_seconds=0.1).open("another"))

    assert await first.commit(one_batch(opening(ADA, "one"))) == 1
    await first.close()


# In doubt


@pytest.fixture
async def proxy(database: str) -> AsyncIterator[tuple[str, TcpProxy]]:
    """The address of the database by way of a proxy."""
    host, _, name = database.rpartition("/")
    user, _, port = host.rpartition(":")
    between = TcpProxy(int(port))
    await between.open()
    yield f"{user}:{between.port}/{name}", between
    await between.close()


@pytest.mark.parametrize(
    ("fault", "is_written"), [("drop replies", True), ("keep sync", False), ("cut", True), ("refuse", False)]
)
async def test_a_commit_whose_answer_is_lost_is_found_by_its_position_or_can_never_be_written(
    proxy: tuple[str, TcpProxy], fault: Fault, is_written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, between = proxy
    monkeypatch.setattr(postgres_store, "commit_seconds_max", 0.2)
    monkeypatch.setattr(owned_house, "lock_seconds_max", 0.3)
    first = PostgresStore(address, lease_seconds=60)
    await first.open("a house")
    await first.commit(one_batch(opening(ADA)))
    await first.commit(one_batch(lines(ADA, 0, "one")))  # Now the statement is prepared.
    between.fault = fault
    if fault == "refuse":
        between.cut()

    with pytest.raises((OutcomeUnknown, StoreFailed)):
        await first.commit(one_batch(lines(ADA, 1, "two")))
    between.fault = ""

    assert await soon(first.committed(2)) == is_written
    expected = ["one", "two"] if is_written else ["one"]
    assert await ledger_of(first) == expected
    assert await first.commit(one_batch(lines(ADA, len(expected), "three"))) == len(expected) + 1
    assert await ledger_of(first) == [*expected, "three"]
    await first.close()


async def test_two_who_look_at_a_commit_in_doubt_at_once_change_the_token_once(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await opened(database)
    await first.commit(one_batch(opening(ADA, "one")))
    number = await first.put_request("{}")
    first._segments_cache[ADA.id].number = 1 << 40  # No column has room for it.
    with pytest.raises(OutcomeUnknown):
        await first.commit(one_batch(lines(ADA, 1, "two")))
    fetch_row = server.Server.fetch_row
    changes: list[object] = []

    async def noted(self: server.Server, query: str, *values: object, seconds: float | None = None) -> Any:
        if query == server.SQL["change_token"]:
            changes.append(values)
        return await fetch_row(self, query, *values, seconds=seconds)

    monkeypatch.setattr(server.Server, "fetch_row", noted)

    answers = tuple(await asyncio.gather(first.committed(2), first.take_request(number)))

    assert answers == (False, True)
    assert len(changes) == 1
    assert await first.commit(one_batch(lines(ADA, 1, "two"))) == 2
    await first.close()


async def test_a_request_is_taken_though_a_commit_fell_into_doubt_while_it_was_being_taken(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = await opened(database)
    number = await owner.put_request("{}")
    asked = owner._rows
    doubts = iter([True])

    async def rows(query: str, *values: object) -> list[Any]:
        assert owner._house is not None
        if query == "take_request" and next(doubts, False):
            owner._house.must_settle(None)
            await owner._house.settle()
        return await asked(query, *values)

    monkeypatch.setattr(owner, "_rows", rows)

    assert await owner.take_request(number)
    assert owner.lapse() is None
    await owner.close()


async def test_every_error_of_the_driver_in_a_commit_means_that_nobody_knows(database: str) -> None:
    first = await opened(database)
    await first.commit(one_batch(opening(ADA, "one")))
    first._segments_cache[ADA.id].number = 1 << 40  # No column has room for it.

    with pytest.raises(OutcomeUnknown):
        await first.commit(one_batch(lines(ADA, 1, "two")))

    assert not await first.committed(2)
    assert await first.commit(one_batch(lines(ADA, 1, "two"))) == 2
    await first.close()


async def test_a_line_whose_answer_was_lost_is_left_once(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest_of = await opened(database)
    asked = guest_of._row
    failures = iter([True, False])

    async def row(query: str, *values: object) -> Any:
        answer = await asked(query, *values)
        if query == "put_line" and next(failures):
            raise StoreFailed("The connection broke.")
        return answer

    monkeypatch.setattr(guest_of, "_row", row)

    assert await guest_of.put_line("a bell rings") == 1
    assert await guest_of.lines(9) == [InboxLine(1, None, "a bell rings")]
    await guest_of.close()


# What is kept


async def test_a_nul_is_kept_in_every_text(database: str) -> None:
    kept = await opened(database)
    segment = root("a\0da")
    body = lines(segment, 0, "b\0o").bodies[0]
    await kept.commit(
        [
            Batch((SegmentWrite(segment.id, 0, (body,), segment),)),
            Batch(
                side=SideWrites(
                    prompts=(("d\0", "p\0"),), labels=(("r\0", ("l\0",)),), records=(("n\0", "x\0"),)
                )
            ),
            Batch(snapshot=Snapshot("s\0", "n\0", "k\0", 1, b"\0")),
        ]
    )
    await kept.put_line("l\0", "r\0")

    assert texts_of(await kept.read_after(0, 9)) == ["b\0o"]
    assert [session.id for session in await kept.segments_after(0)] == [segment.id]
    assert await kept.prompt("d\0") == "p\0"
    assert await kept.labels() == {"r\0": ("l\0",)}
    assert await kept.records() == {"n\0": "x\0"}
    assert await kept.snapshot("s\0", "n\0", "k\0") == Snapshot("s\0", "n\0", "k\0", 1, b"\0")
    assert await kept.lines(9) == [InboxLine(1, "r\0", "l\0")]
    await kept.close()


async def test_snapshots_of_two_versions_stand_side_by_side_and_a_third_drops_the_oldest(
    database: str,
) -> None:
    kept = await opened(database)
    versions = [Snapshot("", "world", str(n), n, b"%d" % n) for n in (1, 2, 3)]
    for snapshot in versions[:2]:
        await kept.commit([Batch(snapshot=snapshot)])
    assert [await kept.snapshot("", "world", key) for key in "12"] == versions[:2]
    await kept.commit([Batch(snapshot=versions[2])])
    await kept.close()

    kept = await opened(database)

    assert [await kept.snapshot("", "world", key) for key in "123"] == [None, *versions[1:]]
    await kept.close()


async def test_houses_of_one_database_share_nothing_and_count_their_inboxes_apart(database: str) -> None:
    first, second = await opened(database, "first"), await opened(database, "second")
    await first.commit(one_batch(opening(ADA, "one")))
    await second.commit(one_batch(opening(ADA, "other", "more")))

    assert [await first.put_line("a"), await first.put_request("{}"), await second.put_line("b")] == [1, 2, 1]
    assert [await ledger_of(kept) for kept in (first, second)] == [["one"], ["other", "more"]]
    await first.close()
    await second.close()


async def test_requests_are_timed_by_the_database(database: str) -> None:
    kept = await opened(database)
    (now,) = admin().execute("SELECT clock_timestamp()")[0]

    now_there = await kept.time()

    assert now_there is not None
    assert abs((now_there - now).total_seconds()) < 60
    await kept.close()


async def test_the_time_of_a_house_goes_on_with_a_monotonic_clock_and_never_back_though_the_server_s_clock_does(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(server, "monotonic", lambda: now)
    kept = await opened(database)
    await silence(kept)
    shared = kept._opened()
    assert kept._house is not None
    shared._owned[kept._house.number] = kept._house  # It is owned, and nothing beats.
    shared._note_time(datetime(2030, 1, 1, tzinfo=UTC), now)

    now += 2
    shared._note_time(datetime(2029, 1, 1, tzinfo=UTC), now)
    after_it_went_back = await kept.time()
    now += 3
    shared._note_time(datetime(2031, 1, 1, tzinfo=UTC), now)

    assert after_it_went_back == datetime(2030, 1, 1, 0, 0, 2, tzinfo=UTC)
    assert await kept.time() == datetime(2031, 1, 1, tzinfo=UTC)
    await kept.close()


async def test_a_play_has_the_digest_that_it_has_in_memory_and_in_a_file(
    database: str, tmp_path: Any
) -> None:
    digests = []
    for kept in (MemoryStore(), SqliteStore(tmp_path / "a.glasshouse"), house(database)):
        async with Terrarium(kept, clock=HandMovedClock(), ids=SeededIds(1)) as t:
            run = await t.open_world("mystery-roots")
            await t.run(turns=3)
            digests.append(await t.digest(run.id))

    assert len({*digests}) == 1


# Wakes, connections, statements


async def test_a_follower_in_another_process_is_woken_and_does_not_look_by_itself(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "look_seconds", 600.0)
    owner = await opened(database)
    guest = await opened(elsewhere(database), is_guest=True)
    await guest._opened().listen(guest._events_channel)
    await owner._opened().listen(owner._inbox_channel)
    waiting = asyncio.create_task(guest.wait_beyond(0, 600))
    mark = await owner.wait_for_more("", 0)
    reading = asyncio.create_task(owner.wait_for_more(mark, 600))
    await asyncio.sleep(0)

    await owner.commit(one_batch(opening(ADA, "one")))
    await guest.put_line("a bell rings")

    assert await soon(waiting) == 1
    assert await soon(reading) != mark
    await guest.close()
    await owner.close()


async def test_idle_houses_share_five_connections_and_one_beat(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    houses = [PostgresStore(database, f"house {n}") for n in range(60)]
    await asyncio.gather(*[kept.open("a house") for kept in houses])
    waiting = [
        asyncio.create_task(kept.wait_for_more(await kept.wait_for_more("", 0), 600)) for kept in houses
    ]
    shared = houses[0]._opened()
    await until(lambda: len(shared._channels) == len(houses))
    statements: list[str] = []
    fetch = shared.fetch

    async def counted(query: str, *values: object, **more: Any) -> list[Any]:
        statements.append(query)
        return await fetch(query, *values, **more)

    monkeypatch.setattr(shared, "fetch", counted)
    beaten = houses[7]._house
    assert beaten is not None
    for _ in ("what was to be looked at is looked at", "and now nothing is"):
        statements.clear()
        before = beaten._beaten_at
        await until(lambda before=before: beaten._beaten_at > before)  # type: ignore[misc]

    name = database.rpartition("/")[2]
    rows = admin().execute(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'")
    assert rows[0][0] <= 5
    assert set(statements) == {server.SQL["beat"]}
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await asyncio.gather(*[kept.close() for kept in houses])


# Versions and rights


async def test_several_processes_may_make_the_tables_at_once() -> None:
    empty = new_database(is_empty=True)
    names = [f"house {n}" for n in range(4)]

    kept = await asyncio.gather(*[opened(elsewhere(empty), name) for name in names])

    assert len({house_kept._number for house_kept in kept}) == 4
    await asyncio.gather(*[house_kept.close() for house_kept in kept])
    drop_databases()


async def test_newer_tables_and_a_house_that_a_newer_program_played_are_left_alone(database: str) -> None:
    name = database.rpartition("/")[2]
    kept = await opened(database)
    await kept.close()
    admin().execute_in(name, "UPDATE glasshouse.houses SET format = 99")
    with pytest.raises(StoreTooNew, match="format 99"):
        await opened(database)
    guest = await opened(database, is_guest=True)
    await guest.close()
    admin().execute_in(name, "INSERT INTO glasshouse.versions VALUES (99)")

    for is_guest in (False, True):
        with pytest.raises(StoreTooNew, match="version 99"):
            await opened(database, is_guest=is_guest)


async def test_a_migration_that_fails_changes_nothing(database: str) -> None:
    known = bundled_migrations()
    broken = [*known, (known[-1][0] + 1, "CREATE TABLE more (n int); SELECT 1 / 0;")]

    with pytest.raises(StoreFailed, match="division by zero"):
        await opened(database, migrations=broken)

    kept = await opened(database)
    assert await kept.position() == 0
    await kept.close()


async def test_the_three_roles_may_what_they_are_named_after(database: str) -> None:
    owner = await opened(database)
    await owner.commit(one_batch(opening(ADA, "one")))
    await owner.close()
    as_user = {}
    for role in ("owner", "follower", "reader"):
        admin().execute(f"DROP ROLE IF EXISTS test_{role}")
        admin().execute(f"CREATE ROLE test_{role} LOGIN IN ROLE glasshouse_{role}")
        as_user[role] = database.replace("//glass@", f"//test_{role}@")
    try:
        for role in ("follower", "reader"):
            with pytest.raises(StoreFailed, match="lacks a right"):
                await opened(as_user[role])
            guest = await opened(as_user[role], is_guest=True)
            assert await ledger_of(guest) == ["one"]
            if role == "reader":
                with pytest.raises(StoreFailed, match="lacks a right"):
                    await guest.put_line("may I?")
            else:
                assert await guest.put_line("a bell rings") == 1
                assert await guest.withdraw_request(await guest.put_request("{}"))
            await guest.close()
        played = await opened(as_user["owner"])
        assert (
            await played.commit([*one_batch(lines(ADA, 1, "two")), Batch(inbox=InboxWrites(done=(1,)))]) == 2
        )
        await played.close()
    finally:
        for role in as_user:
            admin().execute(f"DROP ROLE test_{role}")


async def test_who_finds_a_table_locked_is_told_so_before_a_statement_takes_too_long(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncpg

    assert server.lock_wait_seconds_max <= 2.5  # The rest of five seconds is for the start of a command.
    assert server.lock_wait_seconds_max > owned_house.lock_seconds_max  # Who takes a house ends connections.
    monkeypatch.setattr(server, "lock_wait_seconds_max", 0.1)
    await (await opened(database)).close()
    reader = await opened(elsewhere(database), is_guest=True)
    locking = await asyncpg.connect(database)
    await locking.execute("BEGIN")
    await locking.execute("LOCK TABLE glasshouse.houses, glasshouse.events")

    for asking in (
        opened(elsewhere(database), is_guest=True),
        opened(elsewhere(database)),
        house(elsewhere(database), is_guest=True).exists(),
        reader.owner(),
        reader.read_after(0, 10),
    ):
        with pytest.raises(StoreBusy, match=r"is locked by another connection: .*Try again\."):
            await soon(asking)
    await locking.execute("ROLLBACK")
    assert await reader.read_after(0, 10) == []
    await locking.close()
    await reader.close()


async def test_who_waits_for_another_process_to_migrate_waits_longer_than_for_a_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import asyncpg

    monkeypatch.setattr(server, "lock_wait_seconds_max", 0.05)
    database = new_database(is_empty=True)
    migrating = await asyncpg.connect(database)
    await migrating.execute("BEGIN")
    await migrating.execute(server.SQL["lock_migrations"])

    opening_it = asyncio.create_task(opened(elsewhere(database)))
    has_waited = """SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database()
        AND locktype = 'advisory' AND NOT granted AND clock_timestamp() - waitstart > interval '0.2 seconds'"""
    while not opening_it.done() and not await migrating.fetchval(has_waited):  # noqa: ASYNC110  Nothing tells when.
        await asyncio.sleep(0.01)
    await migrating.execute("ROLLBACK")

    await (await soon(opening_it)).close()
    await migrating.close()
    drop_databases()


@pytest.fixture
def mary() -> Iterator[str]:
    """A user that has the role of an owner."""
    new_database()  # It makes the three roles.
    admin().execute("DROP ROLE IF EXISTS test_mary")
    admin().execute("CREATE ROLE test_mary LOGIN IN ROLE glasshouse_owner")
    yield "test_mary"
    drop_databases()
    admin().execute("DROP ROLE test_mary")


async def test_who_may_not_make_the_tables_is_told_the_grant_that_lets_it(mary: str) -> None:
    database = new_database(is_empty=True).replace("//glass@", f"//{mary}@")

    with pytest.raises(StoreFailed, match="may not make the tables") as refused:
        await opened(database)

    name = database.rpartition("/")[2]
    grant = f"GRANT CREATE ON DATABASE {name} TO {mary}"
    assert f"run: {grant};" in str(refused.value)
    assert "glasshouse_owner" not in str(refused.value)
    admin().execute(grant)
    await (await opened(database)).close()


async def test_who_may_not_change_the_tables_is_told_who_may(database: str, mary: str) -> None:
    newer = [*bundled_migrations(), (99, "CREATE TABLE more (number integer)")]

    with pytest.raises(StoreFailed, match="may not change the tables") as refused:
        await opened(database.replace("//glass@", f"//{mary}@"), migrations=newer)

    assert "the user that made them" in str(refused.value)
    assert "glasshouse_owner" not in str(refused.value)


async def test_who_may_not_connect_is_told_the_grant_that_lets_it(database: str, mary: str) -> None:
    name = database.rpartition("/")[2]
    admin().execute(f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC")

    with pytest.raises(StoreFailed, match="GRANT CONNECT ON DATABASE") as refused:
        await opened(database.replace("//glass@", f"//{mary}@"))

    assert "glasshouse_owner" not in str(refused.value)


# Addresses


async def test_a_statement_is_asked_again_whenever_the_server_ends_its_connection(database: str) -> None:
    import asyncpg

    kept = await opened(database)
    await kept.commit(one_batch(opening(ADA, "one")))
    name = kept._opened().name

    for _ in range(40):  # The end of a connection meets a statement at another point each time.
        admin().execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'"
        )
        assert await kept.position() == 1
    assert is_of_connection(asyncpg.InternalClientError("cannot switch to state 11"))
    await kept.close()


@pytest.mark.parametrize("hosts", ["127.0.0.1:{0}", "127.0.0.1:{0},127.0.0.1:{0}"])
async def test_a_server_that_takes_a_connection_and_says_nothing_is_told_of_after_one_wait(
    hosts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server.connect_seconds_max <= 3.0  # The rest of five seconds is for the start of a command.
    monkeypatch.setattr(server, "connect_seconds_max", 0.1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()

        with pytest.raises(StoreFailed, match="did not answer in time"):
            await soon(opened(f"postgresql://ada@{hosts.format(silent.getsockname()[1])}/x"))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:hush@127.0.0.1:1/x#house",
        "postgresql://ada:hush@127.0.0.1:1/x?password=hush&sslmode=disable",
        "postgresql://ada:hu@sh@127.0.0.1:1/x",
        "postgresql://ada:hush@127.0.0.1:port/x",
        "postgresql://ada:p@hush/w#rd@127.0.0.1:1/x#house",
        "postgresql://ada:12#45hush@127.0.0.1:1/x",
        "postgresql://ada:12/45hush@127.0.0.1:1/x",
        "postgresql://ada:12?45hush@127.0.0.1:1/x",
        "postgresql://ada:hush/12@127.0.0.1:1/x",
        "postgresql://ada:p@hush?word=1@127.0.0.1:1/x",
        "postgresql://127.0.0.1:1/x&password=hush",
        "postgresql://127.0.0.1:1/x?password=12#hush&sslmode=disable",
        "postgres://ada:hush@[::1/x",
        "postgresql://ada:hush@127.0.0.1:1/x?sslmode=hush",
    ],
)
async def test_no_message_holds_a_password(address: str) -> None:
    with pytest.raises((StoreFailed, Refused)) as wrong:
        await opened(address, "house")

    assert "hush" not in f"{wrong.value} {wrong.value!r} {wrong.value.__cause__!r}"


@pytest.mark.parametrize(
    "cut",
    [
        "postgresql://ada:p@hush/w#rd@127.0.0.1/x#night",
        "postgresql://ada:12#45hush@127.0.0.1/x",
        "postgresql://ada:12/45hush@127.0.0.1/x",
        "postgresql://ada:hush/12",
    ],
)
def test_a_password_that_cuts_the_address_is_to_be_percent_encoded(cut: str) -> None:
    with pytest.raises(Refused) as refused:
        StoreAddress(cut)

    assert "password" in str(refused.value)
    assert "%XX" in str(refused.value)
    assert "PGPASSWORD" in str(refused.value)
    assert not any(part in str(refused.value) for part in ("hush", "12", "45", "w#rd"))


@pytest.mark.parametrize(
    ("meant", "named"),
    [
        ("postgresql+asyncpg://ada:hush@127.0.0.1:1/x", "postgresql+asyncpg: begins no address"),
        ("postgresq://ada:hush@127.0.0.1:1/x", "Did you mean postgresql://"),
        ("psotgres://ada:hush@127.0.0.1:1/x", "Did you mean postgresql://"),
        (" postgresql://ada:hush@127.0.0.1:1/x", "nothing before it"),
        ("'postgresql://ada:hush@127.0.0.1:1/x'", "nothing before it"),
        ("mysql://ada:hush@127.0.0.1:1/x", "A store is a file or a house in PostgreSQL."),
        ("sqlite:///hush.db", "named by its path alone"),
        ("postgresql:/ada:hush@127.0.0.1:1/x", "with both slashes"),
        ("store=postgresql://ada:hush@127.0.0.1:1/x", "neither an address"),
        ("ada:hush@127.0.0.1:1/x", "neither an address"),
        ("//ada:hush@127.0.0.1", "neither an address"),
    ],
)
def test_what_was_meant_as_an_address_is_no_path_and_is_not_quoted(meant: str, named: str) -> None:
    for given in (meant, Path(meant)):
        for opened in (StoreAddress, SqliteStore):
            with pytest.raises(Refused) as refused:
                opened(given)
            assert "hush" not in str(refused.value)
    with pytest.raises(Refused, match=re.escape(named)):
        StoreAddress(meant)


@pytest.mark.parametrize(
    "path",
    ["a:b.glasshouse", "C:/shows/a.glasshouse", "shows/10:30@home.glasshouse", "/tmp/ada:b@c.glasshouse"],
)
def test_a_path_may_have_colons(path: str) -> None:
    address = StoreAddress(path)

    assert address.path == Path(path)
    assert SqliteStore(path).path == Path(path).absolute()


def test_an_address_is_a_text_that_a_path_would_spoil() -> None:
    address = StoreAddress("postgresql://ada:hush@glass.example:6543/show?sslmode=require#night%20one")

    assert str(address) == "postgresql://ada@glass.example:6543/show#night%20one"
    assert address.server is not None
    assert (address.server.house, address.server.dsn) == (
        "night one",
        "postgresql://ada:hush@glass.example:6543/show?sslmode=require",
    )
    assert str(StoreAddress("show.glasshouse")) == "show.glasshouse"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("postgresql:///glass", "postgresql:///glass#main"),
        (
            "postgresql:///glass?host=/tmp/x&port=55439&user=glass#sock",
            "postgresql:///glass?host=/tmp/x&port=55439&user=glass#sock",
        ),
        (
            "postgresql:///glass?user=a%26b%3Dc&password=hush&host=/tmp/a%20b&sslpassword=hush#one%20night",
            "postgresql:///glass?user=a%26b%3Dc&host=/tmp/a%20b#one%20night",
        ),
        ("postgresql://?dbname=glass&service=night", "postgresql://?dbname=glass&service=night#main"),
        (
            "postgresql://ada:hush@h,[::1]:6543/glass?sslmode=require",
            "postgresql://ada@h,[::1]:6543/glass#main",
        ),
        ("postgresql:///glass?user=ada:hush", "postgresql:///glass?user=ada#main"),
        ("postgresql:///glass?host=/a:b,h:5432", "postgresql:///glass?host=/a:b,h:5432#main"),
    ],
)
def test_an_address_is_shown_so_that_it_can_be_pasted_without_its_password(given: str, shown: str) -> None:
    address = StoreAddress(given)

    assert str(address) == shown
    assert str(StoreAddress(shown)) == shown
    assert address.server is not None
    assert address.server.dsn == given.partition("#")[0]


async def test_a_shown_address_with_options_names_the_same_house(database: str) -> None:
    at = urlsplit(database)
    given = f"postgresql://{at.path}?host={at.hostname}&port={at.port}&user={at.username}&password=hush#night"
    await (await opened(given, None)).close()

    shown = str(StoreAddress(given))

    assert "hush" not in shown
    assert await PostgresStore(shown, is_guest=True).exists()
    assert not await PostgresStore(shown.replace("#night", "#day"), is_guest=True).exists()


@pytest.mark.parametrize("option", ["port=12hush", "host=ada:hush%40127.0.0.1", "host=ada:hush"])
def test_an_option_that_names_no_host_or_port_is_refused_and_not_quoted(option: str) -> None:
    with pytest.raises(Refused) as refused:
        StoreAddress(f"postgresql:///glass?{option}")

    assert "hush" not in str(refused.value)


def test_a_store_in_a_file_has_no_address_of_a_database() -> None:
    for wrong in ("postgresql://ada:hush@x/y", "postgresql:/ada:hush@x/y"):
        with pytest.raises(Refused) as refused:
            SqliteStore(wrong)
        assert "hush" not in str(refused.value)
