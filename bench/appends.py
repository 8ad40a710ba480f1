"""Durable appends against a bare `sqlite3` loop; wall time.

What the bare loop does: for as many events as are in flight here, it makes each `Event` with its time, encodes it as
JSON, and inserts these rows into the same table with the same index and pragmas, in one transaction that is synced. It does
this in one thread and tells nobody: there are no tasks that wait, no rules, no fold, no snapshots, and no event loop
that must stay free while the disk is busy. It writes the whole JSON, about 150 bytes more than the store keeps of it, and it
does not lengthen the log (ADR 0067).

Where the time goes: a missed bound prints a table of CPU time. With 100 in flight, bare takes 5 to 6 µs an append, and we take
10 to 12: about 8 on the event loop (5 to decide, stamp, encode, fold and queue it, 0.8 for the loop alone, 1 to acknowledge it,
0.5 for the bench itself), 3 to 4 in the store's thread, about as much as bare needs for the same row (ADR 0077). No single
step is more than 1 µs. With 100 graphs, the two snapshots of the world take 0.8 µs more, the first line of each creature 0.5, the
index 0.5. On a real disk both sides also wait for the sync. One producer that awaits each append pays about 60 µs for the way to
another thread and back, and a shorter sync. What others do on the same cores costs us more than bare, since two threads must be
woken. All of this is on uvloop; asyncio's own loop takes about 0.8 µs more (ADR 0097).

What was tried and did not help: to split what is queued in two, so that one half is decided while the other is committed
(18 to 25 instead of 17 to 20 µs; also with one statement a commit, so that the thread needs the GIL only before and after it:
there are twice as many syncs); to let the writer wait one iteration of the loop for those who were just acknowledged (an act
in memory +2 %, a durable turn +5 %); to wake the writer without a future of asyncio (no CPU less); an awaitable of our own
that wakes all callers of a commit by one callback (0.2 µs less, and it must imitate asyncio's future); one INSERT of 100 rows
without a transaction (0.1 µs less, twice as many statements to keep); rows unpacked by SQLite from one JSON array (0.3 µs more);
to free what a commit held before its callers go on (no difference).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, process_time, thread_time

from bench.creatures import LINE, line, pairs, store_file
from bench.result import Result, judged, middle, profiled
from glasshouse import Event, SqliteStore, Terrarium
from glasshouse.events.codec import encoded
from glasshouse.runtime import event_loop
from glasshouse.stores.sqlite.journal import SQL, prepare
from glasshouse.stores.sqlite.migrate import bundled_migrations, migrate
from glasshouse.stores.sqlite.thread import WorkThread

rounds = 21


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
        ours.append(event_loop.run(_our_seconds(graphs=graphs, in_flight=in_flight, events=events)))
    return judged(
        name,
        middle(bare) / middle(ours),
        "× bare",
        "≥",
        limit,
        profile=lambda: (
            _where_it_goes(graphs=graphs, in_flight=in_flight, events=events)
            + profiled(_our_seconds(graphs=graphs, in_flight=in_flight, events=events))
        ),
    )


def _where_it_goes(*, graphs: int, in_flight: int, events: int) -> str:
    """What one append costs in CPU time, ours against bare. The quickest of several rounds counts, for each part."""
    costs = [_costs(graphs=graphs, in_flight=in_flight, events=events) for _ in range(rounds)]
    built, bare, decided, awaited, calling, loop, thread = [
        min(part) / events * 1e6 for part in zip(*costs, strict=True)
    ]
    rest = loop - decided - awaited
    return "\n".join(
        [
            "µs of CPU an append                               bare     ours",
            f"an event and its JSON                         {built:8.1f}",
            f"its row in SQLite, in the store's thread      {bare - built:8.1f} {thread:8.1f}",
            f"decide, stamp, encode, fold, queue                     {decided:8.1f}",
            f"asyncio: a task awaits a future and is woken           {awaited:8.1f}",
            f"commit, acknowledge, a copy for the caller             {rest:8.1f}",
            f"all                                           {bare:8.1f} {loop + thread:8.1f}",
            f"of this: one call to another thread and back, which does nothing  {calling / in_flight:8.1f}\n",
        ]
    )


def _costs(*, graphs: int, in_flight: int, events: int) -> tuple[float, ...]:
    """Seconds of CPU for this many events: building, all of the bare loop, deciding, awaiting, calls to a
    thread, and all of ours in the thread of the event loop and in that of the store."""
    start = process_time()
    for n in range(events):
        encoded(_event(n)).decode()
    built = process_time() - start
    bare = _bare_seconds(batch=in_flight, events=events, segments=graphs, clock=process_time)
    return built, bare, *event_loop.run(_our_costs(graphs=graphs, in_flight=in_flight, events=events))


async def _our_costs(*, graphs: int, in_flight: int, events: int) -> tuple[float, ...]:
    with store_file() as path:
        async with Terrarium(SqliteStore(path)) as terrarium:
            speakers = await pairs(terrarium, graphs)
            decided = 0.0
            for first in range(0, events, in_flight):
                start = thread_time()
                sent = [
                    terrarium.append_nowait(speakers[n % graphs], line(n))
                    for n in range(first, first + in_flight)
                ]
                decided += thread_time() - start
                for each in sent:
                    await each
            start = thread_time()
            await _await_futures(in_flight, events)
            awaited = thread_time() - start
            calling = await _call_a_thread(events)
            in_all, in_loop = process_time(), thread_time()
            await _append_all(terrarium, speakers, in_flight=in_flight, events=events)
            loop = thread_time() - in_loop
            return decided, awaited, calling, loop, process_time() - in_all - loop


async def _call_a_thread(times: int) -> float:
    thread = WorkThread("bench")
    start = process_time()
    for _ in range(times):
        await thread.call(int)
    seconds = process_time() - start
    thread.stop()
    return seconds


async def _await_futures(in_flight: int, events: int) -> None:
    """What asyncio alone costs: as many tasks, each of which awaits a new future again and again."""
    loop = asyncio.get_running_loop()
    waiting: list[asyncio.Future[None]] = []

    def wake_all() -> None:
        woken = waiting.copy()
        waiting.clear()
        for future in woken:
            future.set_result(None)

    async def wait() -> None:
        for _ in range(events // in_flight):
            waiting.append(loop.create_future())
            if len(waiting) == in_flight:
                loop.call_soon(wake_all)
            await waiting[-1]

    await asyncio.gather(*[wait() for _ in range(in_flight)])


async def _our_seconds(*, graphs: int, in_flight: int, events: int) -> float:
    with store_file() as path:
        async with Terrarium(SqliteStore(path)) as terrarium:
            speakers = await pairs(terrarium, graphs)
            start = perf_counter()
            await _append_all(terrarium, speakers, in_flight=in_flight, events=events)
            return perf_counter() - start


async def _append_all(terrarium: Terrarium, speakers: list[str], *, in_flight: int, events: int) -> None:
    if in_flight == 64:
        await _one_producer(terrarium, speakers[0], in_flight, events)
        return
    async with asyncio.TaskGroup() as group:
        for n in range(in_flight):
            group.create_task(_produce(terrarium, speakers[n % len(speakers)], events // in_flight))


async def _produce(terrarium: Terrarium, speaker: str, events: int) -> None:
    for n in range(events):
        await terrarium.append(speaker, line(n))


async def _one_producer(terrarium: Terrarium, speaker: str, in_flight: int, events: int) -> None:
    for start in range(0, events, in_flight):
        for sent in [terrarium.append_nowait(speaker, line(n)) for n in range(start, start + in_flight)]:
            await sent


def _bare_seconds(
    *, batch: int, events: int, segments: int, clock: Callable[[], float] = perf_counter
) -> float:
    """The same rows into the same table with its index, by hand."""
    with store_file() as path:
        connection = sqlite3.connect(path, isolation_level=None)
        prepare(connection)
        migrate(connection, path, bundled_migrations())
        start = clock()
        for first in range(0, events, batch):
            rows = [
                (n, n % segments, n // segments, 0, 0, 0, 0, "", encoded(_event(n)).decode())
                for n in range(first + 1, first + batch + 1)
            ]
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(SQL["add_event"], rows)
            connection.execute("COMMIT")
        seconds = clock() - start
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
        json_bytes = event_loop.run(_fill(path, events))
        return judged("disk per event", path.stat().st_size / json_bytes, "× its JSON", "≤", 0.9)


async def _fill(path: Path, events: int) -> int:
    async with Terrarium(SqliteStore(path)) as terrarium:
        speaker = (await pairs(terrarium, 1))[0]
        for start in range(0, events, 500):
            await asyncio.gather(*[terrarium.append(speaker, line(n)) for n in range(start, start + 500)])
        kept = await terrarium.events(terrarium.creature(speaker).session_id)
        return sum(len(encoded(event)) for event in kept)
