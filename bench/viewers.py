"""A hundred viewers of one run, in another process: how late they see an event, what they cost, whether the play waits.

As a program (`python -m bench.viewers PORT RUN COUNT`) it is the viewers: it prints a line when all of them look on, and
when its input ends, when each of them received what.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, process_time

import msgspec

from bench.acts import ENDLESS, AnswersAtOnce
from bench.creatures import store_file
from bench.result import Result, judged, middle, percentile
from glasshouse import Manifest, ModelRouter, SqliteStore, Terrarium
from glasshouse.manifests.manifest import Schedule
from glasshouse.runtime import event_loop
from glasshouse.runtime.store_port import Batch
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.web.served import served

viewers = 100
events_a_second = 20
turns = 100
late_max, slower_max, send_max = 250, 1.1, 100


class Speaks(AnswersAtOnce):
    """A model that takes its time, so that so many events happen in a second: each act writes two."""

    answers_at_once = False

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float] = []

    async def complete(self, prompt: Prompt) -> Completion:
        """The next line."""
        self.asked.append(monotonic())
        await asyncio.sleep(2 / events_a_second)
        return await super().complete(prompt)


class NotesCommits(SqliteStore):
    """A store that knows when each of its positions became durable."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.durable: dict[int, float] = {}

    async def commit(self, batches: Sequence[Batch]) -> int:
        """Make the batches durable, and note when."""
        position = await super().commit(batches)
        self.durable.update(dict.fromkeys(range(len(self.durable) + 1, position + 1), monotonic()))
        return position


def run() -> list[Result]:
    """Every figure of the viewers."""
    return event_loop.run(_watched())


async def _watched() -> list[Result]:
    model = Speaks()
    with store_file() as path:
        store = NotesCommits(path)
        async with Terrarium(store, models=ModelRouter(model), governor=ENDLESS) as t, served(t) as page:
            await t.add_creature(
                Manifest(name="ada", persona="Counts beans.", schedule=Schedule(tick_every=1))
            )
            await t.step(2)
            alone, cpu_alone, _ = await _played(t, model, store)
            command = [
                sys.executable,
                "-m",
                "bench.viewers",
                str(page.client.base_url.port),
                t.runs()[0].id,
                str(viewers),
            ]
            child = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**26
            )
            assert child.stdout is not None
            await child.stdout.readline()
            watched, cpu_watched, positions = await _played(t, model, store)
            await asyncio.sleep(1)
            output, _ = await child.communicate(b"")
    received: list[dict[int, float]] = msgspec.json.decode(output, type=list[dict[int, float]])
    late = [seen[at] - store.durable[at] for seen in received for at in positions if at in seen]
    if len(late) != viewers * len(positions):
        raise RuntimeError(f"{len(late)} of {viewers * len(positions)} events were received")
    sends = viewers * len(positions)
    return [
        judged(
            f"{viewers} viewers: from commit to receipt",
            percentile(late, 0.95) * 1e3,
            "ms p95",
            "≤",
            late_max,
        ),
        judged(f"{viewers} viewers: gaps between acts against none", watched / alone, "×", "≤", slower_max),
        judged(
            f"{viewers} viewers: a send", (cpu_watched - cpu_alone) / sends * 1e6, "µs CPU", "≤", send_max
        ),
    ]


async def _played(t: Terrarium, model: Speaks, store: NotesCommits) -> tuple[float, float, range]:
    """The median gap between acts, CPU seconds, and the positions that were written."""
    model.asked.clear()
    first, began = await store.position() + 1, process_time()
    await t.step(turns)
    gaps = [later - earlier for earlier, later in zip(model.asked, model.asked[1:], strict=False)]
    return middle(gaps), process_time() - began, range(first, await store.position() + 1)


async def _look_on(port: int, run_id: str, began: asyncio.Semaphore) -> dict[int, float]:
    """One viewer: the time at which each position came, until it is ended."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /api/v1/runs/{run_id}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    came: dict[int, float] = {}
    try:
        while line := await reader.readline():
            if line.startswith(b"id: "):
                came[int(line[4:])] = monotonic()
                began.release()
    except asyncio.CancelledError:
        writer.close()
    return came


async def _main(port: int, run_id: str, count: int) -> None:
    began = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(_look_on(port, run_id, began)) for _ in range(count)]
    for _ in range(count):
        await began.acquire()
    print("all look on", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    print(msgspec.json.encode(await asyncio.gather(*tasks)).decode())


if __name__ == "__main__":
    event_loop.run(_main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
