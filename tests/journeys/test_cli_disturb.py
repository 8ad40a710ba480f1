"""`disturb`: a line from one process is heard in a run that another one plays."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Event, SqliteStore, Terrarium
from tests.journeys.commanding import OPEN, WOOD, environment, journey_seconds_max, run

LINE = "A heron delivers a bell."
PATIENT = f"""
from glasshouse.cli import main
from glasshouse.cli.commands import disturb

disturb.answer_seconds_max = {journey_seconds_max}
main()
"""
"""The command line of somebody who waits for as long as the other process takes to come to the line."""


def told_patiently(*words: str) -> dict[str, Any]:
    """What the command says with --json."""
    result = subprocess.run(
        [sys.executable, "-c", PATIENT, *words, "--json"],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts


async def disturbed_while_played(store: Path, *words: str) -> tuple[dict[str, Any], Event]:
    """Play on as soon as another process has left its line; what it was told, and what was heard."""
    kept = SqliteStore(store)
    async with Terrarium(kept) as t:
        disturbing = asyncio.create_task(asyncio.to_thread(told_patiently, *words))
        while not disturbing.done():
            if await kept.lines(1):
                await t.step(1)
            await asyncio.wait([disturbing], timeout=0.05)
        heard = [event for event in await t.run_events(OPEN) if event.kind == "user.injected"]
        return await disturbing, heard[-1]


def test_a_line_is_heard_in_a_run_that_is_being_played(own_store: Path) -> None:
    facts, event = asyncio.run(
        disturbed_while_played(own_store, "disturb", OPEN, LINE, "--store", str(own_store))
    )

    assert list(facts) == ["run_id", "text", "line", "status", "played_by"]
    assert facts["status"] == "heard"
    assert (event.payload, event.run_id) == ({"text": LINE}, OPEN)


def test_a_line_waits_for_the_next_play_where_nobody_plays(own_store: Path) -> None:
    result = run("disturb", OPEN, LINE, "--store", str(own_store))

    async def next_play() -> list[str]:
        async with Terrarium(SqliteStore(own_store)) as t:
            await t.step(1)
            return [e.payload["text"] for e in await t.run_events(OPEN) if e.kind == "user.injected"]

    assert (result.returncode, result.stderr) == (0, "")
    assert "Nobody plays this store now" in result.stdout
    assert f"glasshouse play --continue {OPEN}" in result.stdout
    assert asyncio.run(next_play())[-1] == LINE


def test_a_run_that_is_over_hears_nothing(own_store: Path) -> None:
    tried = run("disturb", WOOD, LINE, "--store", str(own_store))

    assert (tried.returncode, tried.stdout) == (3, "")
    assert "has finished" in tried.stderr


@pytest.mark.parametrize("text", ["", "   ", "x" * 20_000, "🌲" * 16_384, "🌲" * 16_379])
def test_what_no_event_can_hold_is_refused_before_anybody_hears_it(own_store: Path, text: str) -> None:
    tried = run("disturb", OPEN, text, "--store", str(own_store))

    async def inbox() -> int:
        guest = SqliteStore(own_store, is_guest=True)
        await guest.open("house")
        try:
            return len(await guest.lines(10))
        finally:
            await guest.close()

    assert (tried.returncode, tried.stdout) == (3, "")
    assert asyncio.run(inbox()) == 0
