"""Histories: what a split, a merge and a fork cost on a long past, and what reading costs. CPU time."""

from __future__ import annotations

import gc
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

from bench.creatures import LINE, silent, store_file
from bench.result import Result, judged, middle
from glasshouse import Draft, Event, SqliteStore, Terrarium
from glasshouse.events.codec import encoded
from glasshouse.runtime import event_loop
from glasshouse.runtime.store_port import Batch, SegmentWrite
from glasshouse.world.state.state import Parent, Segment

pasts = (1_000, 10_000, 100_000, 1_000_000)
fill_events = 5_000
reads_events = 100_000
changes_repeated = 40
reads_repeated = 5


def run() -> list[Result]:
    """All figures about histories."""
    return [*_changes_on_a_long_past(), *_reads()]


def _changes_on_a_long_past() -> list[Result]:
    medians: dict[str, list[float]] = {"split": [], "merge": [], "fork": []}
    with store_file() as path:
        written = 0
        for past in pasts:
            for how, seconds in event_loop.run(_grow_and_change(path, past - written)).items():
                medians[how].append(seconds)
            written = past
    results = []
    for how, of_each in medians.items():
        table = ", ".join(f"{past:,}: {s * 1e6:.0f} µs" for past, s in zip(pasts, of_each, strict=True))
        ratio = of_each[-1] / of_each[0]
        results.append(judged(f"{how} at 1M events of history", ratio, "× at 1k", "≤", 2, table))
    return results


async def _grow_and_change(path: Path, more: int) -> dict[str, float]:
    """Lengthen one creature's past, then merge it with a newcomer, split them again, and fork: medians of each."""
    async with Terrarium(SqliteStore(path)) as terrarium:
        if not terrarium.creatures():
            await terrarium.add_creature(silent("elder"))
        await _lengthen(terrarium, more)
        spent: dict[str, list[float]] = {"split": [], "merge": [], "fork": []}
        guest = await terrarium.add_creature(silent("guest"))
        for _ in range(changes_repeated):
            spent["merge"].append(await _cpu(terrarium.connect("elder", guest.id, channel="talk")))
            spent["split"].append(await _cpu(terrarium.disconnect("elder", guest.id)))
            spent["fork"].append(await _cpu(terrarium.fork(terrarium.creature("elder").session_id)))
        await terrarium.remove_creature(guest.id)
        return {how: middle(values) for how, values in spent.items()}


async def _lengthen(terrarium: Terrarium, more: int) -> None:
    for _ in range(more // fill_events):
        drafts = [_draft(n) for n in range(fill_events)]
        await terrarium.append_all("elder", drafts)


def _draft(n: int) -> Draft:
    return Draft(kind="agent.spoke", payload={"text": LINE, "n": n})


async def _cpu(call: Coroutine[Any, Any, object]) -> float:
    start = process_time()
    await call
    return process_time() - start


def _reads() -> list[Result]:
    single = event_loop.run(_seconds_an_event(segments=1))
    many = event_loop.run(_seconds_an_event(segments=120))
    tiny = event_loop.run(_seconds_an_event(segments=30_000))
    return [
        judged("read 100k events, one segment", single * 1e6, "µs an event", "≤", 6),
        judged("read 100k events, 120 segments", many / single, "× one segment", "≤", 1.25),
        judged("read 100k events, 30k tiny segments", tiny * 1e6, "µs an event", "≤", 15),
    ]


async def _seconds_an_event(segments: int) -> float:
    with store_file() as path:
        store = SqliteStore(path)
        await store.open("b" * 16)
        last = await _write_segments(store, segments)
        await store.close()
        async with Terrarium(SqliteStore(path)) as terrarium:
            spent = []
            for _ in range(reads_repeated):
                gc.collect()
                start = process_time()
                events = await terrarium.events(last)
                spent.append((process_time() - start) / len(events))
                if len(events) != reads_events:
                    raise RuntimeError(f"read {len(events)} events instead of {reads_events}")
            return min(spent)  # Others use these cores, too.


async def _write_segments(store: SqliteStore, segments: int) -> str:
    """A past of splits in two and merges again; the last session sees all of it."""
    batches: list[Batch] = []
    merged: list[Parent] = []
    tips: list[Parent] = []
    name = ""
    bases: dict[str, int] = {}
    for n in range(segments):
        events = reads_events // segments + (n < reads_events % segments)
        is_split = n % 3 != 0 and n != segments - 1
        parents = tuple(merged if is_split else tips)
        base = max((bases[parent.session_id] + parent.upto for parent in parents), default=0)
        name = f"s-{n:016x}"
        segment = Segment(name, f"g-{n:016x}", "split" if is_split else "merge", n, base, parents)
        bases[segment.id] = base
        tips = [Parent(segment.id, events)] if n % 3 < 2 else [*tips, Parent(segment.id, events)]
        merged = merged if is_split else tips
        bodies = tuple(encoded(_event(segment, seq)) for seq in range(1, events + 1))
        batches.append(Batch((SegmentWrite(segment.id, 0, bodies, segment),)))
        if len(batches) == 500 or n == segments - 1:
            await store.commit(batches)
            batches.clear()
    return name


def _event(segment: Segment, seq: int) -> Event:
    return Event(
        id=f"{segment.id}.{seq}",
        session_id=segment.id,
        graph_id=segment.graph_id,
        seq=seq,
        lamport=segment.base + seq,
        turn=0,
        actor="elder",
        kind="agent.spoke",
        payload={"text": LINE, "n": seq},
        created_at=datetime(2000, 1, 1, tzinfo=UTC),
        run_id="r-0123456789abcdef",
    )
