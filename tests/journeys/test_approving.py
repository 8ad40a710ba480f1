"""A change that a visitor's words may have led to, through the real command line: asked at a terminal, refused in a pipe."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.commanding import run
from tests.journeys.terminals import Terminal

LEAD = """
from glasshouse import Agent, Draft


class Lead(Agent):
    async def act(self, moment):
        text = "All is well."
        is_told = any(event.actor == "visitor" for event in moment.recent_events)
        if is_told and any(offer.name == "group_remove_node" for offer in moment.tools):
            text = (await moment.use("group_remove_node", creature="moth")).text
        return Draft(kind="agent.spoke", payload={"text": text})
"""
SCENARIO = """
name: burrow
title: The Burrow
opening: It is quiet.
cast:
  - {use: lead, privileged: true}
  - moth
governor: {max_turns: 500}
"""
CREATURES = {
    "lead": "name: lead\nplayed_by: minds:Lead\nschedule: {tick_every: 1}\n",
    "moth": "name: moth\nsubscribes_to: [judge.verdict]\n",
}
ALLOWED = {"GLASSHOUSE_ALLOW_WORLD_CODE": "1"}


@pytest.fixture
def burrow(tmp_path: Path) -> Path:
    (tmp_path / "minds.py").write_text(LEAD)
    folder = tmp_path / "burrow"
    (folder / "creatures").mkdir(parents=True)
    (folder / "scenario.yaml").write_text(SCENARIO)
    for name, text in CREATURES.items():
        (folder / "creatures" / f"{name}.yaml").write_text(text)
    return tmp_path


def ledger(here: Path) -> list[dict[str, Any]]:
    shown = run("show", "last", "--ledger", "--json", cwd=here).stdout
    return [json.loads(line) for line in shown.splitlines()]


def payloads(here: Path, kind: str) -> list[dict[str, Any]]:
    return [event["payload"] for event in ledger(here) if event["kind"] == kind]


@pytest.mark.parametrize(("key", "is_approved"), [("y", True), ("n", False)])
def test_whoever_sits_at_the_terminal_is_asked(burrow: Path, key: str, *, is_approved: bool) -> None:
    with Terminal("play", "./burrow", cwd=burrow, **ALLOWED) as seat:
        seat.wait_for("i disturb")
        seat.press("i")
        seat.wait_for("A number, or a line of your own")
        seat.press("Remove the moth!\n")
        seat.wait_for("lead wants to remove moth")
        seat.wait_for("Allow it? y or n")
        seat.press(key)
        seat.wait_for("moth is removed." if is_approved else "said no.")
        code = seat.end(
            keys="q"
        )  # A key pressed right before a question was not meant for it, and is forgotten.

    assert code == 0
    decided = payloads(burrow, "edit.decided")[0]
    assert (decided["is_approved"], decided["by"]) == (is_approved, "visitor")
    assert bool(payloads(burrow, "creature.stopped")) == is_approved


def test_in_a_pipe_nobody_is_there_and_nothing_waits(burrow: Path) -> None:
    run("play", "./burrow", "--turns", "1", cwd=burrow, **ALLOWED)
    run("disturb", "last", "Remove the moth!", cwd=burrow)

    played = run("play", "--continue", "last", "--turns", "8", cwd=burrow, **ALLOWED)

    assert played.returncode == 0
    assert "Nobody is there to ask." in played.stdout
    decided = payloads(burrow, "edit.decided")
    assert {(event["is_approved"], event["by"]) for event in decided} == {(False, "nobody")}
    assert payloads(burrow, "creature.stopped") == []
    assert run("replay", "last", "--verify", cwd=burrow).returncode == 0


def test_whoever_is_asked_about_a_written_creature_reads_its_persona(burrow: Path) -> None:
    written = 'moment.use("group_add_node", handle="herbalist", persona="Knows every leaf by its smell.")'
    lead = LEAD.replace('moment.use("group_remove_node", creature="moth")', written)
    (burrow / "minds.py").write_text(lead.replace("group_remove_node", "group_add_node"))
    (burrow / "burrow" / "scenario.yaml").write_text(f"{SCENARIO}policy: {{spawn: written}}\n")
    with Terminal("play", "./burrow", cwd=burrow, **ALLOWED) as seat:
        seat.wait_for("i disturb")
        seat.press("i")
        seat.wait_for("A number, or a line of your own")
        seat.press("We need herbs!\n")
        seat.wait_for("It writes: Knows every leaf by its smell.")
        seat.wait_for("Allow it? y or n")
        seat.press("y")
        seat.wait_for("herbalist is born.")
        code = seat.end(keys="q")

    assert code == 0
    assert payloads(burrow, "edit.decided")[0]["is_approved"]
