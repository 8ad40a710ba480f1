"""Grids: how busy they keep a model server, what processes bring, what a cell costs beside a run alone, and what they hold in memory.

What two processes bring is told by CPU time: that of the process that plays alone, against what the first of two needs before the
other is started plus half of what both need from then on. On a quiet machine that is the ratio of wall times; on a busy one, wall
times tell of others.
`python -m bench.grids offline N` plays with N processes, and `python -m bench.grids memory` measures what is held; each prints its figures.
"""

from __future__ import annotations

import gc
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from bench.finished_runs import tiny_world
from bench.model_calls import model_server
from bench.result import Result, figure, judged, middle
from glasshouse import Manifest, ModelRouter, SqliteStore, Terrarium
from glasshouse.grids import Grid
from glasshouse.manifests import LoadedWorld
from glasshouse.manifests.loading import load_world
from glasshouse.manifests.manifest import Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.models import OpenAICompatible
from glasshouse.runtime import event_loop
from glasshouse.runtime.ports import Route
from glasshouse.turns.moment.prompt import Completion, Prompt

slots, answer_seconds, runs_on_server = 32, 0.2, 256
offline_runs = 200
runs_compared, comparisons = 24, 5
cells_first, cells_in_all = 200, 1_000
OFFLINE_WORLD = "thousand-token-wood"


class Watched:
    """A model that notes how many of its calls are at the server, as time passes. In all else it is the model itself."""

    def __init__(self, model: OpenAICompatible) -> None:
        self._model = model
        self._running = 0
        self._since = 0.0
        self.is_counting = False
        self.busy_seconds = 0.0
        self.seconds = 0.0
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def _note(self, change: int) -> None:
        now = time.monotonic()
        if self.is_counting and self._since:
            self.busy_seconds += self._running * (now - self._since)
            self.seconds += now - self._since
        self._since = now
        self._running += change

    async def complete(self, prompt: Prompt, **how: Any) -> Completion:
        """The answer of the model."""
        self._note(1)
        self.calls += 1
        self.is_counting = self.is_counting or self._running >= slots
        try:
            return await self._model.complete(prompt, **how)
        finally:
            self._note(-1)


def _talk() -> LoadedWorld:
    """Three creatures that each speak in four turns."""
    names = ("ada", "bo", "cy")
    cast = [Manifest(name=name, persona="Keeps the rows.", schedule=Schedule(tick_every=1)) for name in names]
    fields = {"name": "talk", "opening": "It rains.", "cast": [*names], "governor": {"max_turns": 4}}
    return LoadedWorld.of(Scenario.model_validate(fields), cast)


async def _busy_slots(url: str) -> tuple[float, float]:
    """How many slots were busy on average, as long as there were more runs to begin; and the CPU seconds of a call."""
    model = Watched(OpenAICompatible("m", url, server="vllm", max_parallel=slots))
    route = Route(model, "m", 8_192, 256)
    began = time.process_time()
    with _folder() as folder:
        grid = Grid(
            _talk(), rng_seeds=range(runs_on_server), models=ModelRouter({"fast": route}), folder=folder
        )
        ended = 0
        async for _ in grid.play():
            ended += 1
            model.is_counting = model.is_counting and ended < runs_on_server - 64
    return model.busy_seconds / model.seconds, (time.process_time() - began) / model.calls


async def _cpu_alone(world: LoadedWorld, first: int) -> float:
    with _folder() as folder:
        began = time.process_time()
        async with Terrarium(SqliteStore(folder / "alone.glasshouse")) as terrarium:
            for number in range(runs_compared):
                run = await terrarium.open_world(world, None, first + number)
                await terrarium.run(run.id)
        return (time.process_time() - began) / runs_compared


async def _cpu_of_cell(world: LoadedWorld, first: int) -> float:
    with _folder() as folder:
        began = time.process_time()
        async for _ in Grid(world, rng_seeds=range(first, first + runs_compared), folder=folder).play():
            pass
        return (time.process_time() - began) / runs_compared


async def _ratio_of_cell() -> float:
    world = load_world(OFFLINE_WORLD)
    await _cpu_alone(world, 0)
    ratios = []
    for number in range(comparisons):
        first = number * runs_compared
        alone, cell = (await _cpu_alone(world, first), await _cpu_of_cell(world, first))
        again = await _cpu_alone(world, first)
        ratios.append(cell / ((alone + again) / 2))
    return middle(ratios)


async def _play_offline(processes: int) -> None:
    begun = time.process_time()
    with _folder() as folder:
        grid = Grid(OFFLINE_WORLD, rng_seeds=range(offline_runs), folder=folder, processes=processes)
        async for _ in grid.play():
            pass
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(begun, time.process_time() - begun + children.ru_utime + children.ru_stime)


async def _print_memory() -> None:
    process = psutil.Process()
    held = []
    with _folder() as folder:
        ended = 0
        async for _ in Grid(tiny_world(), rng_seeds=range(cells_in_all), folder=folder).play():
            ended += 1
            if ended in (cells_first, cells_in_all):
                gc.collect()
                held.append(process.memory_info().rss)
    print(*held)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _figures(*words: str) -> list[float]:
    """What this module prints in a process of its own, and how many seconds that took."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "bench.grids", *words], capture_output=True, text=True, check=True
    )
    return [*map(float, done.stdout.split()), time.monotonic() - began]


def run() -> list[Result]:
    """All figures of grids."""
    with model_server(answer_seconds) as url:
        busy, cpu = event_loop.run(_busy_slots(f"{url}/v1"))
    ratio = event_loop.run(_ratio_of_cell())
    begun, alone, alone_seconds = _figures("offline", "1")
    begun_of_two, both, both_seconds = _figures("offline", "2")
    speedup = (begun + alone) / (begun_of_two + both / 2)
    before, after, _ = _figures("memory")
    return [
        judged(f"grid: share of {slots} slots busy, {answer_seconds * 1e3:g} ms an answer, one process", busy / slots, "", "≥", 0.9),
        figure("grid: CPU of a call to a server", cpu * 1e3, "ms"),
        judged(f"grid: {offline_runs} offline runs, one process to two, by CPU time", speedup, "×", "≥", 1.7),
        figure(f"grid: {offline_runs} offline runs, one process to two, by wall time", alone_seconds / both_seconds, "×"),
        judged("grid: CPU of a cell to that of the same run in a Terrarium", ratio, "×", "≤", 1.15),
        judged(f"grid: memory after {cells_in_all:,} cells to that after {cells_first}", after / before, "×", "≤", 1.3),
    ]  # fmt: skip


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["offline", count]:
            event_loop.run(_play_offline(int(count)))
        case ["memory"]:
            event_loop.run(_print_memory())
        case _:
            sys.exit("Write: python -m bench grids")
