"""The command line by call, as a process of its own or on a terminal; and stores for it to read."""

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from glasshouse import SqliteStore, Terrarium
from tests.journeys.calling import MAIN, called
from tests.journeys.understudy import understudy

journey_seconds_max = 300
"""Longer than any command takes on the slowest machine: only one that hangs is given up."""

GLASSHOUSE = [sys.executable, "-m", "glasshouse"]
ESCAPE = "\x1b"

WOOD = "r-00aa11bb22cc33d0"
ROOTS = "r-00aa99bb22cc33d1"
OPEN = "r-77aa99bb22cc33d2"


def environment(**more: str) -> dict[str, str]:
    unwanted = (
        "COLUMNS",
        "FORCE_",
        "TTY_",
        "GLASSHOUSE_",
        "NO_COLOR",
        "OLLAMA_",
        "OPENAI_",
        "OPENROUTER_",
        "OTEL_",
    )
    plain = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
    # Nobody's own models.yaml and no world that somebody installed changes what a test plays.
    return plain | {"XDG_CONFIG_HOME": os.devnull, "XDG_DATA_HOME": os.devnull} | more


def run(
    *words: str, cwd: Path | None = None, program: str = MAIN, **more: str
) -> subprocess.CompletedProcess[str]:
    """A command by call: the cheapest way. `program` is how it believes that it was called."""
    assert not any(key.startswith("PYTHON") for key in more), "run_anew() starts an interpreter"
    return called(words, environment(**more), cwd, program)


def run_apart(*words: str, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own that need not import everything again: beside this one, or several at once."""
    assert not any(key.startswith("PYTHON") for key in more), "run_anew() starts an interpreter"
    return understudy().perform(words, environment(**more), cwd, journey_seconds_max)


def run_code(
    code: str, *words: str, cwd: Path | None = None, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Python code in a process of its own that need not import everything again, which reads what was typed."""
    return understudy().perform(words, dict(os.environ), cwd, journey_seconds_max, code=code, typed=typed)


def run_anew(*words: str, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that is started for it, as a shell does it."""
    return subprocess.run(
        [*GLASSHOUSE, *words],
        env=environment(**more),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=journey_seconds_max,
        check=False,
    )


def drawn(
    *words: str, columns: int, cwd: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """A command by call, drawn as on a terminal of this width."""
    return run(*words, cwd=cwd, FORCE_COLOR="1", TERM="xterm-256color", COLUMNS=str(columns), **more)


def pasted(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command just as it was printed."""
    words = shlex.split(command)
    assert words[: len(GLASSHOUSE)] == GLASSHOUSE
    return run(*words[len(GLASSHOUSE) :], cwd=cwd)


def objects(*words: str, cwd: Path | None = None, **more: str) -> list[dict[str, Any]]:
    """What a command says with --json: one object a line."""
    result = run(*words, "--json", cwd=cwd, **more)
    assert result.stderr == ""
    return [json.loads(line) for line in result.stdout.splitlines()]


def on_a_terminal(*words: str, columns: int = 80, **more: str) -> tuple[int, str]:
    """What the command prints when it believes that a person is looking on."""
    mine, theirs = pty.openpty()
    env = environment(TERM="xterm-256color", COLUMNS=str(columns), **more)
    process = understudy().begin(words, env, None, [theirs, theirs, 2])
    os.close(theirs)
    shown = b""
    try:
        while some := os.read(mine, 4096):
            shown += some
    except OSError:
        pass  # Linux says so when the other end of a terminal is closed.
    os.close(mine)
    return process.wait(timeout=journey_seconds_max), shown.decode()


async def play_some(path: Path) -> None:
    """Two runs that are over and one that is not."""
    async with Terrarium(SqliteStore(path)) as t:
        for run_id, world in ((WOOD, "thousand-token-wood"), (ROOTS, "mystery-roots")):
            await t.open_world(world, run_id=run_id)
            await t.run(run_id)
        await t.open_world("thousand-token-wood", seed="a wet glove", run_id=OPEN)
        await t.step(3)
        await t.disturb(OPEN, "A lantern \x1b[31mwhispers.")
