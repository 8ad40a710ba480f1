"""A house in PostgreSQL: the CPU of a run against SQLite, appends against a bare batch insert, and many houses at once.

The server is the one of the tests, on a real disk, with the settings that a store demands. CPU is that of this process, which plays: the server's own is not in
it. The bare insert makes each `Event`, encodes it, and sends as many rows as are in flight here as one statement of asyncpg into the same table with its indexes, and
waits for it: no rules, no fold, no fence, no tasks. A commit of one house waits for the disk, and so do those of eight, but together: the server
syncs once for all that wait. How much that brings is a matter of the disk: on a virtual one that others use, whose sync took from 0.2 to 6 ms, the same code measured
1.3 to 5.4 times the commits of one house. A thousand idle houses are opened and left alone for a few seconds, and what they send is counted.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter, process_time

from bench.appends import _append_all, _event
from bench.creatures import line, pairs
from bench.result import Result, judged, middle
from glasshouse import PostgresStore, SqliteStore, Terrarium
from glasshouse.events.codec import encoded
from glasshouse.runtime import event_loop
from glasshouse.runtime.store_port import Store
from glasshouse.stores.postgres.server import Server
from tests.servers.postgres import Admin, PostgresServer

rounds = 7
in_flight = 100
appended_events = 4_000
commits_a_house = 500
houses_at_once = 8
idle_houses = 1_000
idle_seconds = 4.0
WORLD = "thousand-token-wood"


def run() -> list[Result]:
    """All figures of PostgreSQL."""
    server = PostgresServer(is_on_disk=True)
    admin = Admin(server.address)
    try:
        return [
            _cpu_of_a_run(admin),
            _appends(admin),
            _many_houses(admin),
            *_idle(admin),
        ]
    finally:
        server.remove()


def _cpu_of_a_run(admin: Admin) -> Result:
    sqlite, postgres = [], []
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            sqlite.append(event_loop.run(_played(SqliteStore(Path(folder) / "a.glasshouse"))))
        postgres.append(event_loop.run(_played(PostgresStore(admin.new_database(), f"{number}"))))
    return judged("PostgreSQL: CPU of a run", middle(postgres) / middle(sqlite), "× SQLite's", "≤", 1.3)


async def _played(store: Store) -> float:
    async with Terrarium(store) as terrarium:
        begun = await terrarium.open_world(WORLD)
        start = process_time()
        await terrarium.run(begun.id)
        return process_time() - start


def _appends(admin: Admin) -> Result:
    bare, ours = [], []
    for _ in range(rounds):
        bare.append(event_loop.run(_bare_seconds(admin.new_database())))
        ours.append(event_loop.run(_our_seconds(admin.new_database())))
    name = f"PostgreSQL: durable appends, {in_flight} in flight"
    return judged(name, middle(bare) / middle(ours), "× bare", "≥", 0.4)


async def _our_seconds(address: str) -> float:
    async with Terrarium(PostgresStore(address)) as terrarium:
        speakers = await pairs(terrarium, 1)
        start = perf_counter()
        await _append_all(terrarium, speakers, in_flight=in_flight, events=appended_events)
        return perf_counter() - start


async def _bare_seconds(address: str) -> float:
    import asyncpg

    connection = await asyncpg.connect(address)
    statement = (
        "INSERT INTO glasshouse.events (house, position, segment, seq, in_change, epoch, body)"
        " SELECT 1, row.n, 1, row.n, 0, 1, row.body FROM unnest($1::int[], $2::bytea[]) AS row (n, body)"
    )
    start = perf_counter()
    for first in range(0, appended_events, in_flight):
        numbers = range(first + 1, first + in_flight + 1)
        await connection.execute(statement, [*numbers], [encoded(_event(n)) for n in numbers])
    seconds = perf_counter() - start
    await connection.close()
    return seconds


def _many_houses(admin: Admin) -> Result:
    alone, together = [], []
    address = admin.new_database()
    for _ in range(rounds):
        alone.append(event_loop.run(_commits_a_second(address, 1)))
        together.append(event_loop.run(_commits_a_second(address, houses_at_once)))
    name = f"PostgreSQL: commits of {houses_at_once} houses"
    return judged(name, middle(together) / middle(alone), "× those of one", "≥", 3)


async def _commits_a_second(address: str, count: int) -> float:
    async with _terraria(address, count) as terraria:
        speakers = [(await pairs(terrarium, 1))[0] for terrarium in terraria]
        start = perf_counter()
        async with asyncio.TaskGroup() as group:
            for terrarium, speaker in zip(terraria, speakers, strict=True):
                group.create_task(_one_by_one(terrarium, speaker))
        return count * commits_a_house / (perf_counter() - start)


async def _one_by_one(terrarium: Terrarium, speaker: str) -> None:
    for n in range(commits_a_house):
        await terrarium.append(speaker, line(n))


@asynccontextmanager
async def _terraria(address: str, count: int) -> AsyncIterator[list[Terrarium]]:
    terraria = [Terrarium(PostgresStore(address, f"of {count}, {n}")) for n in range(count)]
    await asyncio.gather(*[terrarium.open() for terrarium in terraria])
    try:
        yield terraria
    finally:
        await asyncio.gather(*[terrarium.close() for terrarium in terraria])


def _idle(admin: Admin) -> list[Result]:
    address = admin.new_database()
    name = address.rpartition("/")[2]

    def connections() -> int:
        rows = admin.execute(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'")
        count: int = rows[0][0]
        return count

    used, statements = event_loop.run(_left_alone(address, connections))
    return [
        judged(f"PostgreSQL: connections of {idle_houses:,} idle houses", used, "", "≤", 5),
        judged(
            f"PostgreSQL: statements of {idle_houses:,} idle houses", statements, "a second and house", "≤", 1
        ),
    ]


async def _left_alone(address: str, connections: Callable[[], int]) -> tuple[int, float]:
    async with _terraria(address, idle_houses):
        await asyncio.sleep(2)  # What opening leaves to be looked at is looked at.
        sent = 0
        fetch = Server.fetch

        async def counted(
            self: Server, query: str, *values: object, seconds: float | None = None
        ) -> list[object]:
            nonlocal sent
            sent += 1
            return await fetch(self, query, *values, seconds=seconds)

        Server.fetch = counted  # type: ignore[method-assign]
        await asyncio.sleep(idle_seconds)
        Server.fetch = fetch  # type: ignore[method-assign]
        return connections(), sent / idle_seconds / idle_houses
