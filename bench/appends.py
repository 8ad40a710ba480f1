"""Durable appends against a bare `sqlite3` loop: same pragmas, same table, same batch, also building and encoding;
wall time."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from bench.creatures import LINE, line, pairs, store_file
from bench.result import Result, judged, middle, profiled
from glasshouse import Event, SqliteStore, Terrarium
from glasshouse.events.codec import encoded
from glasshouse.stores.sqlite.journal import SQL, prepare
from glasshouse.stores.sqlite.migrate import bundled_migrations, migrate

rounds = 15


def run() -> list[Result]:
    """All append figures."""
    return [
        _versus_bare(
            "durable appends, 100 in flight, 1 graph", graphs=1, in_flight=100, events=5_000, limit=0.5
        ),
        _versus_bare(
            "durable appends, 100 in flight, 100 graphs", graphs=100, in_flight=100, events=5_000, limit=0.5
        ),
        _versus_bare(
            "durable appends, one producer awaiting each", graphs=1, in_flight=1, events=200, limit=0.5
        ),
        _versus_bare(
            "durable appends, one producer, 64 in flight", graphs=1, in_flight=64, events=3_200, limit=0.5
        ),
        _disk_per_event(),
    ]


def _versus_bare(name: str, *, graphs: int, in_flight: int, events: int, limit: float) -> Result:
    """Many short rounds, ours and the bare loop in turn, so that both meet the same weather; the ratio of medians."""
    bare, ours = [], []
    for _ in range(rounds):
        bare.append(_bare_seconds(batch=in_flight, events=events, segments=graphs))
        ours.append(asyncio.run(_our_seconds(graphs=graphs, in_flight=in_flight, events=events)))
    return judged(
        name,
        middle(bare) / middle(ours),
        "× bare",
        "≥",
        limit,
        profile=lambda: profiled(_our_seconds(graphs=graphs, in_flight=in_flight, events=events)),
    )


async def _our_seconds(*, graphs: int, in_flight: int, events: int) -> float:
    with store_file() as path:
        async with Terrarium(SqliteStore(path)) as terrarium:
            speakers = await pairs(terrarium, graphs)
            start = perf_counter()
            if in_flight == 64:
                await _one_producer(terrarium, speakers[0], in_flight, events)
            else:
                share = events // in_flight
                async with asyncio.TaskGroup() as group:
                    for n in range(in_flight):
                        group.create_task(_produce(terrarium, speakers[n % graphs], share))
            return perf_counter() - start


async def _produce(terrarium: Terrarium, speaker: str, events: int) -> None:
    for n in range(events):
        await terrarium.append(speaker, line(n))


async def _one_producer(terrarium: Terrarium, speaker: str, in_flight: int, events: int) -> None:
    for start in range(0, events, in_flight):
        for sent in [terrarium.append_nowait(speaker, line(n)) for n in range(start, start + in_flight)]:
            await sent


def _bare_seconds(*, batch: int, events: int, segments: int) -> float:
    """The same rows into the same table with its index, by hand."""
    with store_file() as path:
        connection = sqlite3.connect(path, isolation_level=None)
        prepare(connection)
        migrate(connection, path, bundled_migrations())
        start = perf_counter()
        for first in range(0, events, batch):
            rows = [
                (n, n % segments, n // segments, 0, encoded(_event(n)).decode())
                for n in range(first + 1, first + batch + 1)
            ]
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(SQL["add_event"], rows)
            connection.execute("COMMIT")
        seconds = perf_counter() - start
        connection.close()
        return seconds


def _event(n: int) -> Event:
    return Event(
        id=f"s-0123456789abcdef.{n}",
        session_id="s-0123456789abcdef",
        graph_id="g-0123456789abcdef",
        seq=n,
        lamport=n,
        turn=0,
        actor="speaker",
        kind="agent.spoke",
        payload={"text": LINE, "n": n},
        created_at=datetime.now(UTC),
        run_id="r-0123456789abcdef",
        channel_id="c-0123456789abcdef",
        channel="talk",
    )


def _disk_per_event() -> Result:
    with store_file() as path:
        events = 20_000
        json_bytes = asyncio.run(_fill(path, events))
        return judged("disk per event", path.stat().st_size / json_bytes, "× its JSON", "≤", 0.9)


async def _fill(path: Path, events: int) -> int:
    async with Terrarium(SqliteStore(path)) as terrarium:
        speaker = (await pairs(terrarium, 1))[0]
        for start in range(0, events, 500):
            await asyncio.gather(*[terrarium.append(speaker, line(n)) for n in range(start, start + 500)])
        kept = await terrarium.events(terrarium.creature(speaker).session_id)
        return sum(len(encoded(event)) for event in kept)
