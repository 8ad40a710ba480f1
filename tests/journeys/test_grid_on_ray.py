"""A grid on a real Ray cluster of two nodes with a token, on loopback: whatever is killed, no cell is lost or doubled."""

import csv
import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Terrarium
from glasshouse.grids import experiment
from tests.grid_worlds import grid_file, models_file, small_world
from tests.journeys.commanding import GLASSHOUSE, environment, run
from tests.servers.gate import Gate
from tests.servers.imitating_server import imitating_server
from tests.servers.ray_nodes import Nodes, two_nodes

look_seconds = 0.05
KEY = "GRID_TEST_KEY"
DEADLY_REFEREE = "import os\n\n\ndef end_it(match):\n    os._exit(1)\n"


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with two_nodes(secrets.token_hex(32)) as up:
        yield up


def wait_for(is_so: Callable[[], Any]) -> None:
    while not is_so():
        time.sleep(look_seconds)


def rows_in(folder: Path) -> list[dict[str, str]]:
    with (folder / "cells.csv").open(newline="") as file:
        return [*csv.DictReader(file)]


def lost_in(folder: Path) -> int:
    return (folder / "journal.jsonl").read_text().count('"type":"lost"')


def plays(nodes: Nodes, node: int, folder: Path) -> bool:
    """Whether a node plays a bundle that is not home. The name of a process that has just ended one is still there."""
    journal = (folder / "journal.jsonl").read_text()
    stores = [process.cmdline()[0].split()[-1] for process in nodes.busy(node)]
    return any(f'"store":"{store}"' not in journal for store in stores)


def stores_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.glasshouse"))


async def recorded_usd(folder: Path) -> float:
    """What the stores that came home say that all their runs cost."""
    total = 0.0
    for store in stores_in(folder):
        async with Terrarium(store) as terrarium:
            total += sum(run.usd or 0.0 for run in terrarium.runs())
    return total


def on_cluster(nodes: Nodes, *words: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GLASSHOUSE, "grid", "night.yaml", "--on", nodes.on, "--json", *words],
        env=environment(**nodes.variables, **more), cwd=cwd, capture_output=True, text=True, check=False,
    )  # fmt: skip


async def test_slots_and_money_hold_over_the_cluster(nodes: Nodes, tmp_path: Path) -> None:
    small_world(tmp_path)
    with imitating_server("vllm", delay_seconds=0.01) as server:
        priced = models_file(tmp_path, server, price={"input": 5.0, "output": 50.0})
        grid_file(tmp_path, models=[priced], rng_seeds="0..19")

        result = on_cluster(nodes, "--max-usd", "0.2", "--yes", cwd=tmp_path)

        assert server.in_flight_most <= 4
    last = json.loads(result.stdout.splitlines()[-1])
    assert (result.returncode, last["stopped_by"], last["left"] > 0) == (3, "budget", True), result.stderr
    assert 0 < await recorded_usd(tmp_path / "night.grid") <= 0.2


def test_a_worker_that_lacks_a_key_says_which(nodes: Nodes, tmp_path: Path) -> None:
    small_world(tmp_path)
    with imitating_server("vllm", key="s3cret-of-this-test") as server:
        grid_file(tmp_path, models=[models_file(tmp_path, server, key_variable=KEY)])

        result = on_cluster(nodes, cwd=tmp_path, **{KEY: "s3cret-of-this-test"})

    assert result.returncode == 3
    assert f"It lacks {KEY}, which is set where the grid was started." in " ".join(result.stderr.split())
    assert "s3cret-of-this-test" not in result.stderr


def test_offline_cells_have_the_digests_of_the_local_grid(nodes: Nodes, tmp_path: Path) -> None:
    small_world(tmp_path)
    short = {"name": "short", "limits": {"max_turns": 2}}
    file = grid_file(tmp_path, rng_seeds="0..19", what_ifs=[{"name": "as is"}, short])

    result = on_cluster(nodes, cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    alone = experiment(file=file)
    rows = rows_in(tmp_path / "night.grid")
    assert [(row["cell"], row["digest"]) for row in rows] == [(row.cell, row.digest) for row in alone]


def test_a_cell_whose_task_dies_again_and_again_is_set_aside_with_its_error(
    nodes: Nodes, tmp_path: Path
) -> None:
    world = small_world(tmp_path)
    (world / "deadly.py").write_text(DEADLY_REFEREE)
    with (world / "scenario.yaml").open("a") as scenario:
        scenario.write(
            "competition: {kind: versus, referee: 'deadly.py:end_it', teams: {one: [ada], two: [bo]}}\n"
        )
    grid_file(tmp_path, rng_seeds="0..1")

    result = on_cluster(nodes, cwd=tmp_path)

    assert result.returncode == 1, result.stderr
    *cells, last = map(json.loads, result.stdout.splitlines())
    assert (last["done"], last["failed"], last["begun_again"]) == (0, 2, 4)
    assert [cell["begun_again"] for cell in cells] == [3, 3]
    assert all(cell["error"].startswith("Its task died 4 times: ") for cell in cells)
    assert stores_in(tmp_path / "night.grid") == []


def test_whatever_is_killed_no_cell_is_lost_or_doubled(nodes: Nodes, tmp_path: Path) -> None:
    small_world(tmp_path, turns=2)
    gate = Gate()
    with imitating_server("vllm", say=gate.say) as server:
        file = grid_file(tmp_path, models=[models_file(tmp_path, server, slots=2)], rng_seeds="0..39")
        alone = experiment(file=file)
        folder = tmp_path / "night.grid"
        # Two bundles are in flight. With half of all answers, at least one of four is home, and two others are not.
        gate.let(gate.answered // 2 + 2)
        with subprocess.Popen(
            [*GLASSHOUSE, "grid", "night.yaml", "--on", nodes.on, "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(**nodes.variables), cwd=tmp_path, text=True,
        ) as driver:  # fmt: skip
            assert driver.stdout is not None
            driver.stdout.readline()  # A bundle is home.
            gate.wait_until_shut()  # No more bundle ends.
            wait_for(lambda: plays(nodes, 0, folder) and plays(nodes, 1, folder))
            nodes.busy(0)[0].kill()
            wait_for(lambda: lost_in(folder) == 1)
            wait_for(lambda: plays(nodes, 1, folder))
            os.kill(nodes.raylets[1], signal.SIGKILL)
            wait_for(lambda: lost_in(folder) == 2)  # The driver, which lives, was told.
            driver.kill()
        home = (folder / "journal.jsonl").read_text().count('"type":"row"')
        gate.let(inf)

        result = on_cluster(nodes, cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    *cells, last = map(json.loads, result.stdout.splitlines())
    assert (last["done"], last["failed"], last["left"], last["begun_again"]) == (40, 0, 0, 2)
    assert 10 <= home < 40
    assert home + len(cells) == 40, "a cell that was home was played again"
    rows = rows_in(folder)
    assert len({row["run"] for row in rows}) == len(rows) == 40
    assert [(row["cell"], row["digest"]) for row in rows] == [(row.cell, row.digest) for row in alone]
    verified = run(*rows[39]["verify"].split()[1:])
    assert (verified.returncode, rows[39]["digest"] in verified.stdout) == (0, True)
