"""What the command line costs before it does anything: CPU time of a process of its own, warm."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from bench.result import Result, judged

rounds = 5
COMMAND = Path(sys.executable).with_name("glasshouse")


def _cpu_seconds(*arguments: str) -> float:
    """The quickest of some rounds; the first one warms the caches of compiled files."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    figures = []
    for _ in range(rounds + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([COMMAND, *arguments], check=True, capture_output=True, env=env)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        figures.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(figures[1:])


def run() -> list[Result]:
    """Every figure of the command line."""
    return [
        judged("glasshouse --help, warm", _cpu_seconds("--help"), "s CPU", "≤", 0.4),
        judged("glasshouse worlds, warm", _cpu_seconds("worlds"), "s CPU", "≤", 0.8),
    ]
