"""A grid that is killed with SIGKILL at any moment, in one process or several, ends with the cells and digests of one that was not.

The grid plays as a command. It is killed at seeded points, and the same command continues, each time with other numbers of runs in
flight and of processes.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from pathlib import Path

import pytest

from glasshouse.grids import experiment
from tests.grid_worlds import grid_file, small_world
from tests.journeys.commanding import GLASSHOUSE, environment, run
from tests.simulation.seeds import replayable, rig_seeds

cuts_max = 3
moment_seconds_max = 0.05
WHAT_IFS = [
    {"name": "short", "limits": {"max_turns": 3}},
    {"name": "boo", "lines": [{"turn": 2, "text": "Boo."}]},
]


def kill_in_the_middle(file: Path, how: list[str], chance: random.Random) -> None:
    """Start the grid, and kill it a random moment after it has told of some cells."""
    with subprocess.Popen(
        [*GLASSHOUSE, "grid", str(file), "--json", *how],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(), text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        for _ in range(chance.randint(0, 12)):
            child.stdout.readline()
        time.sleep(chance.random() * moment_seconds_max)  # The moment of the kill is the fault itself.
        child.kill()


@pytest.mark.parametrize("seed", rig_seeds(3, plays=60))
def test_a_grid_that_is_killed_again_and_again_has_the_digests_of_one_that_is_not(
    seed: int, tmp_path: Path
) -> None:
    with replayable(seed, "test_grid_cuts.py"):
        chance = random.Random(seed)
        world = small_world(tmp_path, turns=4)
        file = grid_file(tmp_path, rng_seeds="0..19", what_ifs=WHAT_IFS)
        uncut = experiment(world, rng_seeds="0..19", what_ifs=WHAT_IFS)

        for _ in range(chance.randint(1, cuts_max)):
            how = ["--at-once", str(chance.choice([1, 4, 64])), "--processes", str(chance.choice([1, 2]))]
            kill_in_the_middle(file, how, chance)
        result = run("grid", str(file), "--json")

        assert result.returncode == 0, result.stderr
        last = json.loads(result.stdout.splitlines()[-1])
        assert (last["cells"], last["done"], last["failed"]) == (40, 40, 0)
        again = run("grid", str(file), "--json")
        assert len(again.stdout.splitlines()) == 1, "a finished cell was played again"
        assert digests_in(tmp_path / "night.grid" / "cells.csv") == [row.digest for row in uncut]


def digests_in(path: Path) -> list[str]:
    header, *lines = path.read_text().splitlines()
    column = header.split(",").index("digest")
    return [line.split(",")[column] for line in lines]
