"""One grid on a real HTTP server: the same digests however many runs are in flight, whatever its cache holds, and wherever it is cut.

The server's answers are a function of what it is asked, and every other line is one that the engine asks for again.
"""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from glasshouse.grids import Grid, GridTable, experiment
from tests.grid_worlds import grid_file, models_file, small_world, told_differing
from tests.servers import faults
from tests.servers.gate import Gate
from tests.servers.imitating_server import ImitatingServer, imitating_server

CACHE_PRICES = {"input": 5.0, "output": 50.0, "cache_read": 0.5}


COPY = "It rains on the reeds."


class Served(NamedTuple):
    """A server, and the gate of its answers."""

    server: ImitatingServer
    gate: Gate


@pytest.fixture
def served() -> Iterator[Served]:
    gate = Gate(echoes=COPY)
    with imitating_server("vllm", say=gate.say) as server:
        yield Served(server, gate)
        gate.let(inf)


def planned(folder: Path, server: ImitatingServer) -> Path:
    small_world(folder)
    return grid_file(folder, models=[models_file(folder, server, price=CACHE_PRICES)], rng_seeds="0..7")


def played(file: Path, name: str, **how: Any) -> GridTable:
    return experiment(file=file, folder=file.parent / name, **how)


async def cut_after(file: Path, name: str, answers: int, gate: Gate, **how: Any) -> int:
    """Play a grid until so many calls are answered and the next one is in flight, and leave it. How many cells were over?"""
    gate.let(answers)
    rows = []
    async with Grid(file=file, folder=file.parent / name, **how) as grid:

        async def play() -> None:
            async with aclosing(grid.play()) as each:
                async for row in each:
                    rows.append(row)

        playing = asyncio.create_task(play())
        await asyncio.to_thread(gate.wait_until_shut)
        playing.cancel()
        await asyncio.wait([playing])
    gate.let(inf)
    return len(rows)


def test_digests_do_not_depend_on_how_many_runs_share_a_server(served: Served, tmp_path: Path) -> None:
    file = planned(tmp_path, served.server)

    alone = played(file, "alone", at_once=1)
    some = played(file, "some", at_once=7)
    many = played(file, "many", at_once=64)
    both = played(file, "both", processes=2)

    assert [told_differing(alone, other) for other in (some, many, both)] == [[], [], []]
    assert sum(row.calls for row in alone) > 8 * 6, "no line was asked for again"
    # The cache had other parts of the prompts each time, which costs otherwise.
    assert {row.usd for row in alone} != {row.usd for row in many}


def test_digests_do_not_depend_on_how_often_the_server_was_too_busy(served: Served, tmp_path: Path) -> None:
    file = planned(tmp_path, served.server)
    alone = played(file, "alone", at_once=1)
    served.server.next(*[faults.status(429, retry_after="0")] * 3)

    busy = played(file, "busy", at_once=64)

    assert told_differing(alone, busy) == []
    assert sum(count for name, count in served.server.completions.items() if "429" in name) == 3


async def test_digests_do_not_depend_on_where_a_grid_is_cut(served: Served, tmp_path: Path) -> None:
    file = planned(tmp_path, served.server)
    async with Grid(file=file) as grid:
        alone = [row async for row in grid.play()]

    over = [
        await cut_after(file, "cut", answers, served.gate, at_once=at_once)
        for answers, at_once in ((2, 7), (9, 64), (11, 1), (14, 3), (8, 7))
    ]

    async with Grid(file=file, folder=tmp_path / "cut", at_once=64) as grid:
        rest = [row async for row in grid.play()]
        assert sum(over) + len(rest) == len(alone)
        assert 0 < len(rest) < len(alone)
        assert told_differing(alone, grid.table()) == []
