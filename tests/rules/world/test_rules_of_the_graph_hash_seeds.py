"""Event order, ids and tie-breaks hang on the story alone: not on the hash seed, not on who watches."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = Path(__file__).with_name("seeded_play.py")


def told(hash_seed: str, *, seed: int, watchers: int = 0) -> str:
    """What the play prints in a process of its own."""
    played = subprocess.run(
        [sys.executable, str(SCRIPT), str(seed), str(watchers)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    return played.stdout


@pytest.mark.parametrize("seed", [1, 2])
def test_the_hash_seed_changes_nothing(seed: int) -> None:
    stories = {told(hash_seed, seed=seed) for hash_seed in ("0", "1", "2", "random")}

    assert len(stories) == 1


def test_the_number_of_watchers_changes_nothing() -> None:
    stories = {told("random", seed=3, watchers=watchers) for watchers in (0, 1, 5)}

    assert len(stories) == 1


def test_another_seed_is_another_story() -> None:
    assert told("0", seed=4) != told("0", seed=5)
