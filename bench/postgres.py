"""A house in PostgreSQL: the CPU of a run against SQLite, appends against a bare batch insert, and many houses at once.

The server is the one of the tests, on a real disk, with the settings that a store demands. The CPU of a run is that of this process, which plays: the server's own is
not in it. The bare insert makes each `Event`, encodes it, and sends as many rows as are in flight here as one statement of asyncpg into the same table with its indexes,
and waits for it: no rules, no fold, no fence, no tasks.

A ratio is one of two measurements that follow each other at once, and the middle of all rounds is told: a disk or a machine that others use is slow for both. Beside a ratio
stands what a commit or an append costs in CPU, here and in the server, which hardly depends on others. It says what can be had at most: a commit of one house waits for
this process, the server and the disk in turn, and eight houses keep all three busy, but no more than the cores that client and server share. Beside the commits of
eight houses stand the inserts of eight bare connections: what no store of one process can exceed on this machine and this disk.
A thousand idle houses are opened and left alone for a few seconds, and what they send is counted.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from bench.appends import _append_all, _event
from bench.creatures import line, pairs
from bench.result import Result, figure, judged, middle
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
            *_appends(server, admin),
            *_many_houses(server, admin),
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


class Cost(NamedTuple):
    """What some work took."""

    seconds: float
    here: float
    """Seconds of CPU in this process."""
    there: float
    """Seconds of CPU in the server and the processes of its connections."""

    def each(self, name: str, count: int) -> list[Result]:
        """The CPU of one of so many, here and there."""
        return [
            figure(f"PostgreSQL: CPU of {name}, here", self.here / count * 1e6, "µs"),
            figure(f"PostgreSQL: CPU of {name}, in the server", self.there / count * 1e6, "µs"),
        ]


async def _cost(server: PostgresServer, work: Awaitable[object]) -> Cost:
    """What this work takes. Connections stay open until it is measured: a process that has ended is not counted."""
    there = server.cpu_seconds()
    here = process_time()
    start = perf_counter()
    await work
    return Cost(perf_counter() - start, process_time() - here, server.cpu_seconds() - there)


def _appends(server: PostgresServer, admin: Admin) -> list[Result]:
    ratios, costs = [], []
    for _ in range(rounds):
        bare = event_loop.run(_bare_seconds(admin.new_database()))
        costs.append(event_loop.run(_our_cost(server, admin.new_database())))
        ratios.append(bare / costs[-1].seconds)
    name = f"PostgreSQL: durable appends, {in_flight} in flight"
    return [
        judged(name, middle(ratios), "× bare", "≥", 0.4),
        *_middle_cost(costs).each(f"an append, {in_flight} in flight", appended_events),
    ]


def _middle_cost(costs: Sequence[Cost]) -> Cost:
    columns = zip(*costs, strict=True)
    return Cost(*[middle([*column]) for column in columns])


async def _our_cost(server: PostgresServer, address: str) -> Cost:
    async with Terrarium(PostgresStore(address)) as terrarium:
        speakers = await pairs(terrarium, 1)
        return await _cost(
            server, _append_all(terrarium, speakers, in_flight=in_flight, events=appended_events)
        )


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


def _many_houses(server: PostgresServer, admin: Admin) -> list[Result]:
    ratios: list[float] = []
    bare_ratios: list[float] = []
    costs: dict[int, list[Cost]] = {1: [], houses_at_once: []}
    address = admin.new_database()
    for number in range(rounds):
        bare = {}
        for count, measured in costs.items():
            measured.append(event_loop.run(_cost_of_commits(server, address, count)))
            bare[count] = event_loop.run(_bare_commits_seconds(address, number, count))
        ratios.append(houses_at_once * costs[1][-1].seconds / costs[houses_at_once][-1].seconds)
        bare_ratios.append(houses_at_once * bare[1] / bare[houses_at_once])
    name = f"PostgreSQL: commits of {houses_at_once} houses"
    return [
        judged(name, middle(ratios), "× those of one", "≥", 3),
        figure(
            f"PostgreSQL: bare inserts of {houses_at_once} connections", middle(bare_ratios), "× those of one"
        ),
        *_middle_cost(costs[1]).each("a commit of one house", commits_a_house),
        *_middle_cost(costs[houses_at_once]).each(
            f"a commit of {houses_at_once} houses", houses_at_once * commits_a_house
        ),
    ]


async def _bare_commits_seconds(address: str, number: int, count: int) -> float:
    """How long as many connections of asyncpg take to insert an event at a time: what server, disk and cores allow without a line of ours."""
    import asyncpg

    connections = [await asyncpg.connect(address) for _ in range(count)]

    async def one_by_one(connection: Any, house: int) -> None:
        statement = await connection.prepare(
            "INSERT INTO glasshouse.events VALUES ($1::bigint, $2, 1, $1::bigint, 0, 1, $3) RETURNING house"
        )
        for n in range(commits_a_house):
            await statement.fetchval(n, house, encoded(_event(n)))

    first = 1_000_000 + (number * 2 + (count > 1)) * houses_at_once
    start = perf_counter()
    await asyncio.gather(*[one_by_one(connection, first + n) for n, connection in enumerate(connections)])
    seconds = perf_counter() - start
    for connection in connections:
        await connection.close()
    return seconds


async def _cost_of_commits(server: PostgresServer, address: str, count: int) -> Cost:
    async with _terraria(address, count) as terraria:
        speakers = [(await pairs(terrarium, 1))[0] for terrarium in terraria]
        return await _cost(server, asyncio.gather(*map(_one_by_one, terraria, speakers)))


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
