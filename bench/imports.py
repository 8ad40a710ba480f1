"""What a program pays to import what it needs: CPU time of a process of its own, warm, without the interpreter's start."""

from __future__ import annotations

import os
import subprocess
import sys

from bench.result import Result, judged

rounds = 7
STATEMENT = "from glasshouse import Terrarium, SqliteStore, Manifest, Agent"
MEASURED = f"import time; began = time.process_time(); {STATEMENT}; print(time.process_time() - began)"
modules_shown = 25


def run() -> list[Result]:
    """The quickest of some imports; the first one warms the caches of compiled files."""
    seconds = [float(_output("-c", MEASURED)) for _ in range(rounds + 1)]
    return [judged(STATEMENT, min(seconds[1:]), "s CPU", "≤", 0.4, profile=_slowest_modules)]


def _output(*arguments: str) -> str:
    # An installed package has its compiled files; where they may not be written, each import would compile anew.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True, env=env)
    return done.stdout + done.stderr


def _slowest_modules() -> str:
    """Which modules took how long to import, with all that they import."""
    lines = [line for line in _output("-X", "importtime", "-c", STATEMENT).splitlines() if line[-1:] != "e"]
    return "\n".join(
        sorted(lines, key=lambda line: line.split("|")[1].rjust(12), reverse=True)[:modules_shown]
    )
