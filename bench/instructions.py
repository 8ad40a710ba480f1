"""How many instructions an act, an append and a durable turn take. Time differs by a third between two rounds of the same
code on a shared machine; instructions differ by half a percent (ADR 0094).

`python -m bench.instructions` counts those of this checkout; with `--against FOLDER`, also those of another checkout with its
own `.venv`, and the ratios. It needs valgrind: `apt-get install valgrind`. Not part of `make bench`, because a count takes minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from bench.acts import ENDLESS, AnswersAtOnce, stage_after
from glasshouse import Draft, Manifest, ModelRouter, SqliteStore, Terrarium
from glasshouse.manifests.manifest import Schedule

ratio_max: Final = 1.03
"""At most this many times the instructions of the other checkout."""
history: Final = 100
turns_counted: Final = 40
lines_counted: Final = 1_024
lines_in_flight: Final = 256

Counted = Callable[[], Awaitable[object]]


class Workload(NamedTuple):
    """Something that is done often, and how often it is done while instructions are counted."""

    unit: str
    times: int
    """How many units are counted."""
    begin: Callable[[Path], Awaitable[tuple[Terrarium, Counted]]]


async def _acts(_folder: Path) -> tuple[Terrarium, Counted]:
    t = await stage_after(history)
    return t, lambda: t.step(turns_counted)


async def _durable_turns(folder: Path) -> tuple[Terrarium, Counted]:
    t = Terrarium(SqliteStore(folder / "turns.db"), models=ModelRouter(AnswersAtOnce()), governor=ENDLESS)
    await t.open()
    await t.add_creature(Manifest(name="ada", persona="Keeps rows.", schedule=Schedule(tick_every=1)))
    await t.step(turns_counted)
    return t, lambda: t.step(turns_counted)


async def _appends(folder: Path) -> tuple[Terrarium, Counted]:
    t = Terrarium(SqliteStore(folder / "lines.db"))
    await t.open()
    ada = await t.add_creature(Manifest(name="ada", persona="Keeps rows."))
    bo = await t.add_creature(Manifest(name="bo", persona="Listens.", subscribes_to=()))
    await t.connect(ada.id, bo.id, channel="talk")

    async def append() -> None:
        for start in range(0, lines_counted, lines_in_flight):
            numbers = range(start, start + lines_in_flight)
            lines = [
                Draft(kind="agent.spoke", channel="talk", payload={"text": f"Bean {n}"}) for n in numbers
            ]
            await asyncio.gather(*[t.append_nowait(ada.id, line) for line in lines])

    await append()
    return t, append


WORKLOADS: Final = {
    "act": Workload("an act in memory", turns_counted * 3 // 2, _acts),
    "append": Workload("a durable append", lines_counted, _appends),
    "turn": Workload("a durable turn", turns_counted, _durable_turns),
}
"""Of the pair that acts, one speaks in each turn and the other in every second."""


def _callgrind(switch: str) -> None:
    subprocess.run(["callgrind_control", "-i", switch, str(os.getpid())], capture_output=True, check=True)


async def _count(name: str) -> None:
    """Play a workload, in a process that runs under valgrind."""
    with TemporaryDirectory() as folder:
        t, counted = await WORKLOADS[name].begin(Path(folder))
        gc.collect()
        gc.disable()
        _callgrind("on")
        await counted()
        _callgrind("off")
        await t.close()


def instructions(name: str, checkout: Path) -> float:
    """The instructions of one unit of a workload, with the `glasshouse` of a checkout."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        tool = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        python = str(checkout / ".venv" / "bin" / "python")
        command = [*tool, python, "-m", "bench.instructions", "--count", name]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        here = Path(__file__).parent.parent
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=here, check=False)
        if done.returncode:
            raise SystemExit(f"Counting {name} failed:\n{done.stderr[-2000:]}")
        total = re.search(r"^totals: (\d+)", out.read_text(), re.MULTILINE)
        if total is None:
            raise SystemExit(f"callgrind wrote no total for {name}.")
        return int(total[1]) / WORKLOADS[name].times


def main() -> int:
    """Count, and compare. The exit code is 1 if a ratio is above its bound."""
    parser = argparse.ArgumentParser(prog="python -m bench.instructions", description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout, with its own .venv")
    parser.add_argument("--only", choices=WORKLOADS, help="one of the workloads")
    parser.add_argument("--count", choices=WORKLOADS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.count:
        asyncio.run(_count(given.count))
        return 0
    if shutil.which("callgrind_control") is None:
        raise SystemExit("Instructions are counted by callgrind. Install it: apt-get install valgrind")
    is_missed = False
    for name in [given.only] if given.only else WORKLOADS:
        here = instructions(name, Path(__file__).parent.parent)
        line = f"{WORKLOADS[name].unit:20} {here:12,.0f} instructions"
        if given.against is not None:
            there = instructions(name, given.against.resolve())
            is_missed = is_missed or here / there > ratio_max
            line += f"   {there:12,.0f} there   ratio {here / there:.3f} (at most {ratio_max})"
        print(line)
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main())
