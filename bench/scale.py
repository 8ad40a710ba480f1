"""Scale: many graphs, many creatures, a large store opened again. Memory is measured in processes of its own."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import process_time

import psutil

from bench.creatures import line, pairs, silent, store_file
from bench.result import Result, judged, middle
from glasshouse import MemoryStore, SqliteStore, Terrarium
from glasshouse.runtime import event_loop

singletons = 1_000
open_graphs = 1_000
stored_events = 1_000_000
residents = 100_000
members_a_graph = 10
chain_repeated = 5
reopen_repeated = 3
mebibyte = 1024 * 1024


def run() -> list[Result]:
    """All figures of scale."""
    return [
        judged(
            f"{singletons:,} singletons joined into a chain, memory store",
            min(
                event_loop.run(_chain_seconds()) for _ in range(chain_repeated)
            ),  # Others use these cores, too.
            "s CPU",
            "≤",
            0.25,
        ),
        judged(
            "add a creature and connect it, pairs, memory store",
            min(event_loop.run(_pair_seconds()) for _ in range(chain_repeated)) / open_graphs * 1e6 / 2,
            "µs CPU",
            "≤",
            200,
            note="each creature; one connection a pair",
        ),
        *_large_store(),
        *[
            judged(
                f"{residents:,} creatures resident, {called}",
                float(_resident(kind)),
                "MiB",
                "≤",
                mebibytes_max,
                profile=partial(_resident, kind, "traced"),
            )
            for kind, called, mebibytes_max in (("memory", "memory store", 350), ("sqlite", "SQLite", 200))
        ],
    ]


async def _chain_seconds() -> float:
    async with Terrarium(MemoryStore()) as terrarium:
        for _ in range(singletons):
            await terrarium.add_creature(silent("link"))
        names = [creature.id for creature in terrarium.creatures()]
        start = process_time()
        for first, other in pairwise(names):
            await terrarium.connect(first, other)
        return process_time() - start


async def _pair_seconds() -> float:
    async with Terrarium(MemoryStore()) as terrarium:
        start = process_time()
        await pairs(terrarium, open_graphs)
        return process_time() - start


def _large_store() -> list[Result]:
    with store_file() as path:
        after_a_kill = path.with_name("killed.glasshouse")
        descriptors = event_loop.run(_fill(path, after_a_kill))
        reopened = [event_loop.run(_reopen_seconds(after_a_kill)) for _ in range(reopen_repeated)]
        return [
            judged("1,000 graphs open in one SQLite terrarium", descriptors, "file descriptors", "<", 64),
            judged("reopen 1M events and 1,000 open graphs, after a kill", reopened[0], "s CPU", "≤", 1.5),
            judged(
                "reopen 1M events and 1,000 open graphs, after closing",
                middle(reopened[1:]),
                "s CPU",
                "≤",
                1.5,
            ),
        ]


async def _fill(path: Path, copied_to: Path) -> int:
    """A thousand graphs of two creatures and a million lines; the file descriptors then open.

    The file is copied while it is open, as a kill would leave it.
    """
    async with Terrarium(SqliteStore(path)) as terrarium:
        speakers = await pairs(terrarium, open_graphs)
        await asyncio.gather(*[_talk(terrarium, name, stored_events // open_graphs) for name in speakers])
        for ending in ("", "-wal"):
            shutil.copy(path.with_name(path.name + ending), copied_to.with_name(copied_to.name + ending))
        return psutil.Process().num_fds()


async def _talk(terrarium: Terrarium, speaker: str, lines: int) -> None:
    for start in range(0, lines, 50):
        await terrarium.append_all(speaker, [line(n) for n in range(start, start + 50)])


async def _reopen_seconds(path: Path) -> float:
    start = process_time()
    async with Terrarium(SqliteStore(path)) as terrarium:
        spent = process_time() - start
        if len(terrarium.graphs()) != open_graphs:
            raise RuntimeError(f"{len(terrarium.graphs())} graphs came back")
    return spent


def _resident(*arguments: str) -> str:
    """What a process that hosts the creatures prints: how many mebibytes it holds, or which lines allocated them."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.residents", *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout
