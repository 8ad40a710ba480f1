"""A terrarium that is killed at any moment reopens with everything it acknowledged and without partial batches.

A child plays on a file and reports every acknowledgement. The parent kills it with SIGKILL at seeded points, opens what
is left, checks it, and lets a new child continue from there.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from glasshouse import Event, MemoryStore, SqliteStore, Terrarium, kinds
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.folded import Folded
from tests.simulation.ledger_checks import (
    check_folds,
    check_histories,
    check_no_gaps,
    contents_of,
    ledger_of,
)
from tests.simulation.mixing import fingerprint, operate
from tests.simulation.seeds import fresh_seeds, replayable, usual_seeds

ROOT = Path(__file__).resolve().parents[2]

early_kills = 0.3
opening_seconds_max = 0.02
step_seconds_max = 0.004


def acknowledged_before_the_kill(
    path: Path, seed: int, kind: str, first_step: int, chance: random.Random, lines_max: int
) -> list[str]:
    """Let a child play, kill it at a random moment, and give what it had said by then."""
    command = [
        sys.executable,
        "-m",
        "tests.simulation.kill_child",
        str(path),
        str(seed),
        kind,
        str(first_step),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "opening\n"
        is_early = chance.random() < early_kills
        said = [] if is_early else [child.stdout.readline() for _ in range(chance.randint(1, lines_max))]
        # The moment of the kill is the fault itself: nothing waits for this.
        time.sleep(chance.random() * (opening_seconds_max if is_early else step_seconds_max))
        child.kill()
        said += child.stdout.read().splitlines(keepends=True)
    assert child.returncode == -9, "the child ended by itself; its own traceback says why"
    return [line.rstrip("\n") for line in said if line.endswith("\n") and line != "open\n"]


class Twin:
    """The same story in memory, moved on by hand: what the killed one must equal."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.steps = 0
        self.store = MemoryStore()
        self.terrarium = Terrarium(self.store, clock=HandMovedClock(), ids=SeededIds(seed))

    async def move_to(self, steps: int) -> None:
        while self.steps < steps:
            await operate(self.terrarium, self.seed, self.steps)
            self.steps += 1


async def left_by_the_killed(path: Path, seed: int) -> tuple[list[Event], Folded]:
    """Open the file as the next process would, check everything that must hold of any ledger, and close it."""
    store = SqliteStore(path)
    async with Terrarium(store, clock=HandMovedClock(), ids=SeededIds(seed)) as terrarium:
        ledger = await ledger_of(store)
        check_no_gaps(ledger)
        await check_histories(terrarium, ledger)
        return ledger, await check_folds(store)


async def play_a_story(path: Path, seed: int, rounds: int, lines_max: int = 40) -> None:
    chance, twin = random.Random(seed), Twin(seed)
    async with twin.terrarium:
        for _ in range(rounds):
            said = await asyncio.to_thread(
                acknowledged_before_the_kill, path, seed, "story", twin.steps, chance, lines_max
            )
            ledger, folded = await left_by_the_killed(path, seed)
            await twin.move_to(twin.steps + len(said))
            if contents_of(ledger) != contents_of(await ledger_of(twin.store)):
                await twin.move_to(twin.steps + 1)
            assert contents_of(ledger) == contents_of(await ledger_of(twin.store)), f"after {said[-1:]}"
            assert folded.world == (await check_folds(twin.store)).world


async def play_a_crowd(path: Path, seed: int, rounds: int, lines_max: int = 150) -> None:
    chance = random.Random(seed)
    said: list[str] = []
    for number in range(rounds):
        said += await asyncio.to_thread(
            acknowledged_before_the_kill, path, seed, "crowd", number * 1_000, chance, lines_max
        )
        ledger, _ = await left_by_the_killed(path, seed)
        there = traces_in(ledger)
        assert [line for line in said if trace_of(line) not in there] == []


def trace_of(line: str) -> str:
    """What must be found in the ledger if this was acknowledged."""
    _, did, *names = line.split()
    if did == "said":
        return f"said {names[0]} {names[1]}"
    if did in ("added", "removed", "forked", "wired", "unwired", "privileged"):
        return f"{did} {names[0]}"
    return ""


def traces_in(ledger: list[Event]) -> set[str]:
    traces = {""}
    for event in ledger:
        payload = event.payload
        match event.kind:
            case kinds.AGENT_SPOKE:
                traces.add(f"said {event.id} {fingerprint(event)}")
            case kinds.CREATURE_STARTED:
                traces.add(f"added {payload['creature']}")
            case kinds.CREATURE_STOPPED if payload["reason"] == "removed":
                traces.add(f"removed {payload['creature']}")
            case kinds.SESSION_FORKED:
                traces.add(f"forked {event.session_id}")
            case kinds.OUTPUT_WIRE_ADDED:
                traces.add(f"wired {payload['edge_id']}")
            case kinds.OUTPUT_WIRE_REMOVED:
                traces.add(f"unwired {payload['edge_id']}")
            case kinds.PRIVILEGE_GRANTED:
                traces.add(f"privileged {payload['creature']}")
            case kinds.PRIVILEGE_REVOKED:
                traces.add(f"unprivileged {payload['creature']}")
            case _:
                pass
    return traces


@pytest.mark.parametrize("seed", usual_seeds(2))
async def test_a_killed_story_is_the_acknowledged_one_or_one_step_further(tmp_path: Path, seed: int) -> None:
    with replayable(seed, "test_kill.py::test_a_killed_story_is_the_acknowledged_one_or_one_step_further"):
        await play_a_story(tmp_path / "show.glasshouse", seed, rounds=5)


@pytest.mark.parametrize("seed", usual_seeds(2))
async def test_a_killed_crowd_has_lost_nothing_it_was_told_is_safe(tmp_path: Path, seed: int) -> None:
    with replayable(seed, "test_kill.py::test_a_killed_crowd_has_lost_nothing_it_was_told_is_safe"):
        await play_a_crowd(tmp_path / "show.glasshouse", seed, rounds=3)


@pytest.mark.soak
async def test_many_stories_are_killed_many_times(tmp_path: Path) -> None:
    for seed in fresh_seeds(plays=150):
        with replayable(seed, "test_kill.py::test_many_stories_are_killed_many_times"):
            await play_a_story(tmp_path / f"{seed}.glasshouse", seed, rounds=20, lines_max=150)


@pytest.mark.soak
async def test_many_crowds_are_killed_many_times(tmp_path: Path) -> None:
    for seed in fresh_seeds(plays=100):
        with replayable(seed, "test_kill.py::test_many_crowds_are_killed_many_times"):
            await play_a_crowd(tmp_path / f"{seed}.glasshouse", seed, rounds=10, lines_max=600)


def test_the_rig_notices_a_lost_line() -> None:
    assert trace_of("12 said s-1.4 0011aabb") not in traces_in([])
