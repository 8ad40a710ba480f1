"""Hosts many creatures and prints how much memory that takes. A process of its own: `python -m bench.residents sqlite`.

With `traced` behind it, it prints which lines of code hold the memory; that takes several times as long.
"""

from __future__ import annotations

import asyncio
import sys
import tracemalloc

import psutil

from bench.creatures import silent, store_file
from bench.scale import mebibyte, members_a_graph, residents
from glasshouse import MemoryStore, SqliteStore, Terrarium
from glasshouse.runtime import event_loop

in_parallel = 100
lines_shown = 25


async def host(terrarium: Terrarium) -> None:
    """Graphs of a few members each, every member on the one channel of its graph."""
    async with asyncio.TaskGroup() as group:
        for _ in range(in_parallel):
            group.create_task(_settle(terrarium, residents // members_a_graph // in_parallel))


async def _settle(terrarium: Terrarium, graphs: int) -> None:
    manifest = silent("resident")
    for _ in range(graphs):
        first = await terrarium.add_creature(manifest)
        for _ in range(members_a_graph - 1):
            await terrarium.add_creature(manifest, graph=first.graph_id)


async def _main(kind: str) -> None:
    with store_file() as path:
        async with Terrarium(MemoryStore() if kind == "memory" else SqliteStore(path)) as terrarium:
            await host(terrarium)
            if len(terrarium.creatures()) != residents:
                raise RuntimeError(f"{len(terrarium.creatures())} creatures came")
            if tracemalloc.is_tracing():
                print(*tracemalloc.take_snapshot().statistics("lineno")[:lines_shown], sep="\n")
            else:
                print(psutil.Process().memory_info().rss / mebibyte)


if __name__ == "__main__":
    if "traced" in sys.argv:
        tracemalloc.start()
    event_loop.run(_main(sys.argv[1]))
