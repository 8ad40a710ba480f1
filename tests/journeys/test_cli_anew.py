"""Each command in a process that is started for it: it imports what it needs by itself, and does its work."""

import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from glasshouse.cli.app import app
from tests.journeys.commanding import (
    GLASSHOUSE,
    OPEN,
    ROOTS,
    WOOD,
    environment,
    journey_seconds_max,
    run,
    run_anew,
)

WORDS: dict[str, tuple[str, ...]] = {
    "tour": (),
    "worlds": (),
    "play": ("twenty-sprouts", "--turns", "1"),
    "disturb": (OPEN, "A bell rings."),
    "graph": ("channel", "add", "cellar"),
    "runs": (),
    "show": (WOOD,),
    "replay": (WOOD, "--verify"),
    "search": ("the",),
    "copy": ("played.glasshouse", "again.glasshouse"),
    "why": ("last",),
    "who-knew": ("last",),
    "lineage": (),
    "tree": (WOOD,),
    "branch": (WOOD, "--at", "30", "--no-play"),
    "resume": (OPEN, "--turns", "1"),
    "compare": (WOOD, ROOTS),
    "digest": (WOOD,),
    "export": (WOOD, "again.glass"),
    "import": ("play.glass",),
    "tournament": ("twenty-sprouts", "--models", "offline,offline:hasty"),
    "grid": ("night.yaml",),
    "rehearse": ("twenty-sprouts", "--rounds", "1", "--turns", "2", "--form", "prose"),
    "leaderboard": (),
    "check": ("twenty-sprouts",),
    "new": ("world", "mine"),
    "models": (),
    "tools": (),
    "doctor": (),
}

SERVERS = {"serve", "mcp"}
"""They run until they are stopped, and have tests with processes of their own."""

TELLS_PROGRESS = {"grid", "rehearse"}
"""What takes minutes with a real model tells on standard error how far it is."""


def test_no_command_is_left_out() -> None:
    assert {*WORDS, *SERVERS} == {*get_command(app).commands}  # type: ignore[attr-defined]  # It is a group; its type says any command.


@pytest.mark.parametrize("name", WORDS)
def test_a_command_works_in_a_process_that_is_started_for_it(name: str, own_store: Path) -> None:
    store = {"GLASSHOUSE_STORE": str(own_store)}
    if name == "import":
        run("export", WOOD, "play.glass", cwd=own_store.parent, **store)

    (own_store.parent / "night.yaml").write_text("worlds: [twenty-sprouts]\n")

    result = run_anew(name, *WORDS[name], cwd=own_store.parent, **store)

    assert result.returncode == 0, result.stderr
    assert bool(result.stderr) is (name in TELLS_PROGRESS), result.stderr
    assert result.stdout


ALL_CLOSED = "<&- >&- 2>&-"


@pytest.mark.parametrize(
    ("closed", "words"),
    [
        (">&-", ("play", "twenty-sprouts", "--turns", "1")),
        (">&-", ("worlds",)),
        (">&-", ("check", "twenty-sprouts")),
        ("<&-", ("runs",)),
        (">&-", ("runs",)),
        ("2>&-", ("runs",)),
        (ALL_CLOSED, ("play", "twenty-sprouts", "--turns", "1")),
        (ALL_CLOSED, ("why", "last")),
    ],
)
def test_a_command_works_where_standard_streams_are_closed(
    closed: str, words: tuple[str, ...], own_store: Path
) -> None:
    ended = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *GLASSHOUSE, *words],
        env=environment(GLASSHOUSE_STORE=str(own_store)),
        cwd=own_store.parent,
        capture_output=True,
        encoding="utf-8",
        timeout=journey_seconds_max,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert bool(ended.stdout) is (closed in {"<&-", "2>&-"})
