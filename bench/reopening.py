"""What it costs to open a store that was closed, and to fork or branch what it holds. CPU time.

Where the time goes: a snapshot is read, and the events behind it are folded, 255 at most in a small world. About 12 µs are needed for
each of them, and 1 ms for the threads, the connections and the lock.
"""

from __future__ import annotations

import gc
import shutil
from pathlib import Path
from time import process_time

from bench.acts import ENDLESS
from bench.creatures import store_file
from bench.listeners import played_by_code
from bench.result import Result, judged, profiled
from glasshouse import SqliteStore, Terrarium
from glasshouse.runtime import event_loop

turns = 3_340
"""Three events each: 10,000 in all."""
rounds = 15


def run() -> list[Result]:
    """How long opening takes, and forking and branching at the last event."""
    with store_file() as path:
        event_loop.run(played_by_code(path, turns))
        copy = path.with_name("copy.glasshouse")
        spent: list[tuple[float, float, float]] = []
        for _ in range(rounds):
            shutil.copy(path, copy)
            gc.collect()
            spent.append(event_loop.run(_opened_and_forked(copy)))
        # The lowest cost of each: others use these cores, too.
        opened, forked, branched = [min(each) * 1e3 for each in zip(*spent, strict=True)]
        figures = (("open a store of", opened, 5), ("fork at", forked, 3), ("branch at", branched, 5))
        return [
            judged(
                f"{what} 10,000 events",
                milliseconds,
                "ms CPU",
                "≤",
                limit,
                profile=lambda: profiled(_opened_and_forked(copy)),
            )
            for what, milliseconds, limit in figures
        ]


async def _opened_and_forked(path: Path) -> tuple[float, float, float]:
    began = process_time()
    async with Terrarium(SqliteStore(path), governor=ENDLESS) as t:
        opened = process_time()
        session_id = t.graphs()[0].session_id
        await t.fork(session_id)
        forked = process_time()
        await t.branch(session_id)
        return opened - began, forked - opened, process_time() - forked
