"""A run that a model or a limit has paused, through the real command line: asked at a terminal, said in a pipe."""

import json
from pathlib import Path
from typing import Any

import pytest

from glasshouse.cli.live.start import WITHOUT_MODEL
from tests.journeys.commanding import run
from tests.journeys.terminals import Terminal
from tests.servers import faults
from tests.servers.imitating_server import imitating_server

CREATURE = """
import pathlib

from glasshouse import Agent, Draft
from glasshouse.errors import ModelUnreachable


class Caller(Agent):
    async def act(self, moment):
        if moment.turn > 1 and not pathlib.Path("there").exists():
            raise ModelUnreachable("Nobody answers at http://127.0.0.1:9. Start the server.")
        return Draft(kind="agent.spoke", payload={"text": f"line {moment.turn}"})
"""
SCENARIO = """
name: booth
title: The Booth
opening: It rings.
cast: [caller]
governor: {max_turns: 3}
"""
ALLOWED = {"GLASSHOUSE_ALLOW_WORLD_CODE": "1"}


@pytest.fixture
def booth(tmp_path: Path) -> Path:
    (tmp_path / "minds.py").write_text(CREATURE)
    (tmp_path / "booth" / "creatures").mkdir(parents=True)
    (tmp_path / "booth" / "scenario.yaml").write_text(SCENARIO)
    caller = "name: caller\nplayed_by: minds:Caller\nschedule: {tick_every: 1}\n"
    (tmp_path / "booth" / "creatures" / "caller.yaml").write_text(caller)
    return tmp_path


def payloads(here: Path, kind: str) -> list[dict[str, Any]]:
    shown = run("show", "last", "--ledger", "--json", cwd=here).stdout
    events = [json.loads(line) for line in shown.splitlines()]
    return [event["payload"] for event in events if event["kind"] == kind]


def test_in_a_pipe_one_sentence_says_what_to_do_and_the_exit_code_tells(booth: Path) -> None:
    played = run("play", "./booth", cwd=booth, **ALLOWED)

    assert played.returncode == 4
    assert "caller: line 1" in played.stdout
    (expectation, sentence) = played.stderr.splitlines()
    assert expectation == f"glasshouse: {WITHOUT_MODEL}"
    assert "is paused. Nobody answers at http://127.0.0.1:9. Start the server." in sentence
    assert "play --continue r-" in sentence

    (booth / "there").touch()
    again = run("play", "--continue", "last", cwd=booth, **ALLOWED)

    assert (again.returncode, again.stderr) == (0, "")
    assert "caller: line 3" in again.stdout
    assert run("replay", "last", "--verify", cwd=booth).returncode == 0


def test_a_limit_that_pauses_says_how_to_go_on(booth: Path) -> None:
    (booth / "there").touch()
    text = SCENARIO.replace("{max_turns: 3}", "{max_turns: 2, on_budget: pause}")
    (booth / "booth" / "scenario.yaml").write_text(text)

    played = run("play", "./booth", cwd=booth, **ALLOWED)

    assert played.returncode == 4
    (_expectation, sentence) = played.stderr.splitlines()
    assert "The run reached its limit max_turns. Branch it with a higher limit to continue." in sentence
    assert run("branch", "last", "--max-turns", "3", "--no-play", cwd=booth, **ALLOWED).returncode == 0


def test_at_a_terminal_r_tries_again_and_q_leaves_it_paused(booth: Path) -> None:
    with Terminal("play", "./booth", cwd=booth, **ALLOWED) as seat:
        seat.wait_for("Nobody answers at http://127.0.0.1:9.")
        seat.wait_for("r retry · o continue offline · q leave it paused")
        seat.press("r")
        seat.wait_for("Nobody answers at http://127.0.0.1:9.")
        seat.wait_for("r retry")
        seat.press("q")
        code = seat.end()

    assert code == 0
    assert "Paused: Nobody answers" in seat.shown
    assert len(payloads(booth, "run.paused")) == 2
    assert payloads(booth, "run.finished") == []


def test_at_a_terminal_o_lets_the_troupe_play_the_rest_and_the_ledger_says_who_decided(booth: Path) -> None:
    with Terminal("play", "./booth", cwd=booth, **ALLOWED) as seat:
        seat.wait_for("r retry · o continue offline · q leave it paused")
        (booth / "there").touch()
        seat.press("o")
        seat.wait_for("line 3")
        code = seat.end()

    assert code == 0
    assert payloads(booth, "run.continued") == [{"is_offline": True, "by": "visitor"}]
    assert run("replay", "last", "--verify", cwd=booth).returncode == 0


# With a real server


@pytest.fixture
def pond(tmp_path: Path) -> Path:
    (tmp_path / "pond" / "creatures").mkdir(parents=True)
    text = "name: pond\ntitle: The Pond\nopening: It is still.\ncast: [heron]\ngovernor: {max_turns: 4}\n"
    (tmp_path / "pond" / "scenario.yaml").write_text(text)
    heron = "name: heron\npersona: A patient heron.\nschedule: {tick_every: 1}\n"
    (tmp_path / "pond" / "creatures" / "heron.yaml").write_text(heron)
    return tmp_path


def models_asked(here: Path) -> list[str]:
    shown = run("show", "last", "--ledger", "--json", "--as", "director", cwd=here).stdout
    calls = [
        call for line in shown.splitlines() for call in (json.loads(line).get("model") or {}).get("calls", ())
    ]
    return [call["model"] for call in calls if call.get("reached", True)]


def test_a_key_that_is_refused_pauses_and_o_plays_the_rest_offline(pond: Path) -> None:
    with imitating_server("llamacpp") as server:
        server.next("fine", faults.status(401))
        with Terminal("play", "./pond", "--models", server.url, cwd=pond) as seat:
            seat.wait_for("r retry · o continue offline · q leave it paused")
            seat.press("o")
            code = seat.end()

    assert code == 0
    asked = models_asked(pond)
    assert (asked[0], {*asked[1:]}) == (server.model, {"offline"})
    assert payloads(pond, "run.continued") == [{"is_offline": True, "by": "visitor"}]
    assert run("replay", "last", "--verify", cwd=pond).returncode == 0


def test_whoever_waits_for_a_model_reads_who_thinks_and_for_how_long(pond: Path) -> None:
    with imitating_server("llamacpp") as server:
        server.next(faults.hang)
        with Terminal("play", "./pond", "--models", server.url, cwd=pond) as seat:

            def seconds_shown() -> int:
                seat.wait_for("heron thinks, ")
                return int(seat.wait_for(" s").removesuffix(" s"))

            # A slow machine may leave a second out.
            first = seconds_shown()
            while (later := seconds_shown()) == first:
                pass
            assert later > first >= 2
