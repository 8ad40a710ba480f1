"""Programs run under several hash seeds: what depends on the order of a set shows as more than one answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ("0", "1", "4242")
program_seconds_max = 300


def printed_under_hash_seeds(program: str) -> set[str]:
    """What the program prints under each seed, as a set: one element if hashes do not show."""
    return set(printed_by([started(seed, "-c", program) for seed in SEEDS]))


def printed(hash_seed: str, *arguments: str) -> str:
    """What Python prints, called with these arguments under a hash seed."""
    return printed_by([started(hash_seed, *arguments)])[0]


def started(hash_seed: str, *arguments: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def printed_by(processes: list[subprocess.Popen[str]]) -> list[str]:
    """What each printed. All are waited for before one may fail, so that none is left behind in another's test."""
    outputs = [process.communicate(timeout=program_seconds_max) for process in processes]
    assert [
        said[1] for process, said in zip(processes, outputs, strict=True) if process.returncode != 0
    ] == []
    return [said[0] for said in outputs]
