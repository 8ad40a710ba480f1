"""Finished runs: what the next run costs beside many of them, what they hold in memory, and how long their store opens.

Instructions are counted by callgrind around a whole run, as in ADR 0094. `python -m bench.finished_runs PATH RUNS` plays
runs into a store and prints the bytes that each finished run holds; with `counted` behind it, under valgrind, it counts
instructions instead.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from time import process_time

import psutil

from bench.acts import AnswersAtOnce
from bench.creatures import store_file
from bench.result import Result, judged, profiled
from glasshouse import Manifest, ModelRouter, SqliteStore, Terrarium
from glasshouse.manifests import LoadedWorld
from glasshouse.manifests.manifest import Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.runtime import event_loop

finished_before = 2_000
finished_in_store = 10_000
runs_counted = 3
"""The run with the fewest instructions counts: a snapshot or a look into the inbox may fall into one of them."""
runs_to_warm_up = 2
opened_repeated = 3


def tiny_world() -> LoadedWorld:
    """Three creatures, of which the first speaks once."""
    speaker = Manifest(name="ada", persona="Keeps the rows.", schedule=Schedule(tick_every=1))
    cast = [speaker, *[Manifest(name=name, persona="Listens.", subscribes_to=()) for name in ("bo", "cy")]]
    fields = {"name": "rows", "opening": "It rains.", "cast": [each.name for each in cast]}
    return LoadedWorld.of(Scenario.model_validate({**fields, "governor": {"max_turns": 1}}), cast)


async def _play(t: Terrarium, world: LoadedWorld, runs: int) -> None:
    for _ in range(runs):
        run = await t.open_world(world)
        await t.run(run.id)


async def _bytes_of_each(path: Path, runs: int) -> float:
    """Play runs; the bytes of memory that each held, after the first that fill the bounded caches."""
    process, world = psutil.Process(), tiny_world()
    async with Terrarium(SqliteStore(path), models=ModelRouter(AnswersAtOnce())) as t:
        await _play(t, world, finished_before)
        gc.collect()
        before = process.memory_info().rss
        await _play(t, world, runs - finished_before)
        gc.collect()
        return (process.memory_info().rss - before) / (runs - finished_before)


async def _counted(path: Path) -> None:
    """Play runs under callgrind, and let it write down the first few and the last few."""
    world = tiny_world()
    gc.disable()
    async with Terrarium(SqliteStore(path), models=ModelRouter(AnswersAtOnce())) as t:
        await _play(t, world, runs_to_warm_up)
        for _ in range(runs_counted):
            await _played_once_counted(t, world)
        gc.enable()
        await _play(t, world, finished_before)
        gc.disable()
        for _ in range(runs_counted):
            await _played_once_counted(t, world)


async def _played_once_counted(t: Terrarium, world: LoadedWorld) -> None:
    _callgrind("--instr=on")
    _callgrind("--zero")
    await _play(t, world, 1)
    _callgrind("--dump=run")
    _callgrind("--instr=off")


def _callgrind(command: str) -> None:
    subprocess.run(["callgrind_control", command, str(os.getpid())], capture_output=True, check=True)


def _instructions() -> tuple[float, float]:
    """Of a run beside none, and beside many finished ones."""
    if shutil.which("callgrind_control") is None:
        raise RuntimeError("Instructions are counted by callgrind. Install it: apt-get install valgrind")
    with store_file() as path:
        out = path.with_name("callgrind.out")
        tool = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        command = [*tool, sys.executable, "-m", "bench.finished_runs", str(path), "counted"]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        subprocess.run(command, capture_output=True, check=True, env=environment)
        # A dump is written for each run, in order; the file without a number is of the end of the program.
        counts = [_total(out.with_name(f"{out.name}.{n}")) for n in range(1, 2 * runs_counted + 1)]
        return min(counts[:runs_counted]), min(counts[runs_counted:])


def _total(dump: Path) -> int:
    total = re.search(r"^totals: (\d+)", dump.read_text(), re.MULTILINE)
    if total is None:
        raise RuntimeError(f"callgrind wrote no total into {dump}")
    return int(total[1])


async def _opened_seconds(path: Path) -> float:
    begun = process_time()
    async with Terrarium(SqliteStore(path)) as t:
        spent = process_time() - begun
        if len(t.runs()) != finished_in_store or not all(run.is_finished for run in t.runs()):
            raise RuntimeError("not every run came back finished")
    return spent


def run() -> list[Result]:
    """All figures of finished runs."""
    first, later = _instructions()
    with store_file() as path:
        command = [sys.executable, "-m", "bench.finished_runs", str(path), str(finished_in_store)]
        held = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        # Others use these cores, too.
        opened = min([event_loop.run(_opened_seconds(path)) for _ in range(opened_repeated)])
        return [
            judged(
                f"instructions of a run after {finished_before:,} finished ones against the first",
                later / first,
                "×",
                "≤",
                1.1,
                note=f"{first / 1e6:.1f} M at first",
            ),
            judged("memory of a finished run", held / 1_000, "kB", "≤", 25),
            judged(
                f"open a store of {finished_in_store:,} finished runs",
                opened,
                "s CPU",
                "≤",
                0.5,
                profile=lambda: profiled(_opened_seconds(path)),
            ),
        ]


if __name__ == "__main__":
    if sys.argv[2] == "counted":
        event_loop.run(_counted(Path(sys.argv[1])))
    else:
        print(event_loop.run(_bytes_of_each(Path(sys.argv[1]), int(sys.argv[2]))))
