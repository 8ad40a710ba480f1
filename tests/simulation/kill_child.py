"""The child process of the kill tests: it plays a seed on a file until it is killed, and reports each acknowledgement.

    python -m tests.simulation.kill_child PATH SEED story|crowd FIRST_STEP

A story performs one operation after another; a crowd of tasks performs many at once.
"""

from __future__ import annotations

import asyncio
import sys

from glasshouse import SqliteStore, Terrarium
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.ledger import writer
from tests.simulation.mixing import operate

tasks_in_a_crowd = 6
steps_max = 100_000


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def story(terrarium: Terrarium, seed: int, first_step: int) -> None:
    for step in range(first_step, steps_max):
        tell(f"{step} {await operate(terrarium, seed, step)}")


async def crowd(terrarium: Terrarium, seed: int, first_step: int) -> None:
    await asyncio.gather(
        *[story(terrarium, seed * tasks_in_a_crowd + n, first_step) for n in range(tasks_in_a_crowd)]
    )


async def main(path: str, seed: int, kind: str, first_step: int) -> None:
    if seed % 2:  # Half of the plays keep snapshots all the time, so that kills meet them too.
        writer.snapshot_events_min = 60
        writer.snapshot_bytes_per_event_max = 1 << 40
    terrarium = Terrarium(SqliteStore(path), clock=HandMovedClock(), ids=SeededIds(seed))
    tell("opening")
    async with terrarium:
        tell("open")
        await (story if kind == "story" else crowd)(terrarium, seed, first_step)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
