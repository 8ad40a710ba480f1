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
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            },
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in SEEDS
    ]
    answers = set()
    for process in running:
        answer, complaint = process.communicate(timeout=program_seconds_max)
        assert process.returncode == 0, complaint
        answers.add(answer)
    return answers
