"""`glasshouse play` as a visitor meets it: the real command line, in processes of their own, in pipes and on terminals."""

import json
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from glasshouse.manifests.world_folders import BUNDLED
from tests.journeys.commanding import GLASSHOUSE, environment, journey_seconds_max, pasted, run, run_anew
from tests.journeys.terminals import Terminal, colours_in

WOOD = "thousand-token-wood"
ESCAPE = "\x1b"
RULES = """
from glasshouse.turns.contests.referees import Ruling


def ours(match):
    return Ruling("guesser", "It is our rule.")
"""


def digest_in(text: str) -> str:
    (digest,) = re.findall(r"digest ([0-9a-f]{64})", text)
    return str(digest)


def run_id_in(text: str) -> str:
    run_ids = set(re.findall(r"\br-[0-9a-f]{16}\b", text))
    assert len(run_ids) == 1, run_ids
    return str(run_ids.pop())


def objects_in(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


# In a pipe


def test_in_a_pipe_every_voice_is_one_plain_line(tmp_path: Path) -> None:
    played = run("play", WOOD, cwd=tmp_path)

    voices, _, end = played.stdout.partition("\n\n")
    assert (played.returncode, played.stderr) == (0, "")
    assert ESCAPE not in played.stdout
    assert all(re.match(r"(\(?[a-z][a-z0-9~-]*): ", line) for line in voices.splitlines())
    assert {"world", "seedkeeper", "pocket-actor", "echo", "critic"} <= {
        line.partition(":")[0] for line in voices.splitlines()
    }
    assert "world: [II. The wrong weather] " in voices
    assert end.startswith("The end: ")


def test_the_commands_it_ends_with_can_be_pasted(tmp_path: Path) -> None:
    played = run("play", WOOD, "--store", "my show.glasshouse", cwd=tmp_path)

    commands = [line.strip() for line in played.stdout.splitlines() if line.startswith("  ")]
    done = [pasted(command, tmp_path) for command in commands]
    assert [command.split()[3] for command in commands][:3] == ["show", "why", "replay"]
    assert all("--store 'my show.glasshouse'" in command for command in commands)
    assert [(result.returncode, result.stderr) for result in done] == [(0, "")] * len(done)


def test_the_same_seeds_give_the_same_play_and_others_another(tmp_path: Path) -> None:
    def digest(*words: str) -> str:
        return digest_in(run("play", WOOD, *words, cwd=tmp_path).stdout)

    first, *others = [
        digest_in(run_anew("play", WOOD, cwd=tmp_path, PYTHONHASHSEED=seed).stdout) for seed in ("1", "2")
    ]

    assert others == [first]
    assert digest("--rng-seed", "7") != first
    assert digest("--seed", "a lost glove") != first


def test_machines_get_one_event_a_line_as_the_audience_reads_it(tmp_path: Path) -> None:
    played = run("play", "twenty-sprouts", "--json", cwd=tmp_path)

    *events, last = objects_in(played.stdout)
    assert played.returncode == 0
    assert [event["kind"] for event in events[:1]] == ["run.started"]
    assert events[-1]["kind"] == "run.finished"
    assert not any("completion" in str(event.get("model")) or "sealed" in event for event in events)
    assert any("private" in event for event in events)
    assert last["played"]["status"] == "finished"
    assert last["played"]["winner"] == events[-1]["payload"]["winner"]
    assert re.fullmatch(r"[0-9a-f]{64}", last["played"]["digest"])


def test_thoughts_are_shown_when_minds_are_asked_for_and_only_then(tmp_path: Path) -> None:
    answers = objects_in(run("play", WOOD, "--turns", "3", "--json", cwd=tmp_path).stdout)
    thoughts = [event["private"]["thought"] for event in answers if "private" in event]

    without = run("play", WOOD, "--turns", "3", cwd=tmp_path).stdout
    with_minds = run("play", WOOD, "--turns", "3", "--minds", cwd=tmp_path).stdout

    assert thoughts
    assert all(thought in with_minds and thought not in without for thought in thoughts)


def test_a_run_left_open_goes_on_as_if_it_had_never_been_left(tmp_path: Path) -> None:
    whole = run("play", WOOD, cwd=tmp_path)

    begun = run("play", WOOD, "--turns", "3", cwd=tmp_path)
    run_id = run_id_in(begun.stdout)
    further = run("play", "--continue", "last", "--turns", "2", cwd=tmp_path)
    ended = run("play", "--continue", run_id, cwd=tmp_path)

    assert f"play --continue {run_id}" in begun.stdout
    assert "To be continued: turn 3 of 20" in begun.stdout
    assert "To be continued: turn 5 of 20" in further.stdout
    assert digest_in(ended.stdout) == digest_in(whole.stdout)
    spoken = [played.stdout.partition("\n\n")[0] for played in (begun, further, ended)]
    assert "\n".join(spoken) == whole.stdout.partition("\n\n")[0]


def test_a_referee_beside_the_world_rules_on_a_run_that_was_left_open_too(tmp_path: Path) -> None:
    world = tmp_path / "worlds" / "mine"
    shutil.copytree(BUNDLED / "twenty-sprouts", world)
    scenario = (world / "scenario.yaml").read_text(encoding="utf-8")
    ours = scenario.replace("name: twenty-sprouts", "name: mine").replace("names_the_word", "rules.py:ours")
    (world / "scenario.yaml").write_text(ours, encoding="utf-8")
    (world / "rules.py").write_text(RULES, encoding="utf-8")

    allowed = {"GLASSHOUSE_ALLOW_WORLD_CODE": "1"}

    whole = run("play", "mine", cwd=tmp_path, **allowed)
    run("play", "mine", "--turns", "2", cwd=tmp_path, **allowed)
    forbidden = run("play", "--continue", "last", cwd=tmp_path)
    ended = run("play", "--continue", "last", cwd=tmp_path, **allowed)

    assert "rules.py: this referee would run Python code" in forbidden.stderr
    assert "The end: guesser won. It is our rule." in whole.stdout
    assert digest_in(ended.stdout) == digest_in(whole.stdout)


def test_another_open_run_of_the_store_is_left_as_it_was(tmp_path: Path) -> None:
    begun = run("play", WOOD, "--turns", "2", cwd=tmp_path)

    run("play", "mystery-roots", "--turns", "4", cwd=tmp_path)

    digest = run("digest", run_id_in(begun.stdout), cwd=tmp_path).stdout
    assert digest_in(begun.stdout) in digest


def test_a_reader_who_has_seen_enough_ends_it_and_it_can_go_on(tmp_path: Path) -> None:
    whole = run("play", WOOD, cwd=tmp_path)
    script = f"{shlex.join(GLASSHOUSE)} play {WOOD} | head -n 2; exit ${{PIPESTATUS[0]}}"

    cut = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    ended = run("play", "--continue", "last", cwd=tmp_path)

    assert (cut.returncode, cut.stderr) == (0, "")
    assert digest_in(ended.stdout) == digest_in(whole.stdout)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["play"], 2, "Name a world"),
        (["play", WOOD, "--continue", "last"], 2, "leave WORLD"),
        (["play", WOOD, "--turns", "0"], 2, "--turns"),
        (["play", "thousand-token-wod"], 3, f"Did you mean '{WOOD}'?"),
        (["play", "--continue", "last", "--seed", "a glove"], 2, "--seed is for a new run"),
        (["play", "--continue", "last", "--rng-seed", "0"], 2, "--rng-seed is for a new run"),
        (["play", "--continue", "last", "--run-id", "r-mine"], 2, "--run-id is for a new run"),
        (["play", "--watch", "--rng-seed", "7"], 2, "--rng-seed is for a new run"),
        (["play", "--continue", "r-nobody"], 3, "There is no store at "),
        (["play", "--watch"], 3, "There is no store"),
    ],
)
def test_what_cannot_be_done_is_told_in_words(
    words: list[str], code: int, message: str, tmp_path: Path
) -> None:
    refused = run(*words, cwd=tmp_path)

    assert refused.returncode == code
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_run_that_is_over_is_not_gone_on_with(tmp_path: Path) -> None:
    run_id = run_id_in(run("play", "twenty-sprouts", cwd=tmp_path).stdout)

    refused = run("play", "--continue", "last", cwd=tmp_path)

    assert refused.returncode == 3
    assert f"Run {run_id} is over." in refused.stderr


def test_a_seed_cannot_steer_the_terminal(tmp_path: Path) -> None:
    with Terminal(
        "play", WOOD, "--seed", "a \x1b[2Jbell\x07", "--pace", "fast", "--turns", "1", cwd=tmp_path
    ) as seat:
        code = seat.end()

    assert code == 0
    assert "\\u001b[2Jbell\\u0007" in seat.shown
    assert "\x1b[2J" not in seat.shown


# On a terminal


def test_on_a_terminal_there_is_a_header_a_bar_and_colour(tmp_path: Path) -> None:
    with Terminal("play", WOOD, "--turns", "1", cwd=tmp_path) as seat:
        header = seat.wait_for("Dusk in Thousand Token Wood")
        seat.wait_for("turn 0/20")
        seat.wait_for("i disturb")
        seat.press("\n\n\n\n")
        code = seat.end()

    assert code == 0
    assert "Thousand Token Wood" in header
    assert "seed: a kettle that remembers the sea" in header
    assert colours_in(seat.shown)
    assert seat.shown.count("To be continued: turn 1 of 20") == 1


def test_at_its_start_a_play_says_how_long_it_takes_and_which_keys_there_are(tmp_path: Path) -> None:
    with Terminal("play", WOOD, cwd=tmp_path) as seat:
        header = seat.wait_for("Dusk in Thousand Token Wood")
        seat.wait_for("turn 0/20")
        seat.press("q")
        seat.end()
    with Terminal("play", WOOD, "--turns", "1", "--pace", "fast", cwd=tmp_path) as fast:
        fast.end()

    what_to_expect = (
        r"Up to 20 turns, about \d+ minutes at reading pace \(--pace fast: at once\)\. Keys: i says"
    )
    assert re.search(what_to_expect, header)
    assert seat.shown.count("Keys: ") == 1
    assert "Keys: " not in fast.shown


def test_without_colour_nothing_is_coloured(tmp_path: Path) -> None:
    with Terminal("play", WOOD, "--pace", "fast", cwd=tmp_path, NO_COLOR="1") as seat:
        code = seat.end()

    assert code == 0
    assert "II. The wrong weather" in seat.shown
    assert colours_in(seat.shown) == []


def test_space_pauses_i_disturbs_and_q_stops(tmp_path: Path) -> None:
    with Terminal("play", WOOD, cwd=tmp_path) as seat:
        seat.wait_for("i disturb")
        seat.press(" ")
        seat.wait_for("paused")
        seat.press(" ")
        seat.wait_for("seedkeeper")
        seat.press("i")
        seat.wait_for("3  Every acorn in the wood")
        seat.wait_for("A number, or a line of your own")
        seat.press("A walrus in a paper hat asks the way.\n")
        seat.wait_for("visitor")
        seat.press("i")
        seat.wait_for("A number, or a line of your own")
        seat.press("2\n")
        seat.wait_for("visitor")
        seat.press("q")
        code = seat.end()

    events = objects_in(run("show", "last", "--ledger", "--json", cwd=tmp_path).stdout)
    said = [event["payload"]["text"] for event in events if event["kind"] == "user.injected"]
    assert code == 0
    assert said == [
        "A walrus in a paper hat asks the way.",
        "A brass telephone rings inside the oldest oak, and it is for the audience.",
    ]
    assert [event["payload"]["reason"] for event in events if event["kind"] == "run.finished"] == ["stopped"]
    assert not {event["kind"] for event in events} & {"run.paused", "run.continued"}
    assert "Stopped before its end. " in seat.shown


def test_keys_leave_the_terminal_as_they_found_it(tmp_path: Path) -> None:
    with Terminal("play", WOOD, cwd=tmp_path) as seat:
        seat.wait_for("i disturb")
        during = seat.state
        seat.press("q")
        seat.end()
        after = seat.state

    assert during != seat.found
    assert after == seat.found


def test_ctrl_c_twice_is_safe_and_the_run_goes_on(tmp_path: Path) -> None:
    whole = run("play", WOOD, "--store", "whole.glasshouse", cwd=tmp_path)

    with Terminal("play", WOOD, cwd=tmp_path) as seat:
        seat.wait_for("i disturb")
        seat.press("\n")
        seat.wait_for("turn 1/20")
        seat.press("\x03\x03")
        code = seat.end()
        state = seat.state
    ended = run("play", "--continue", "last", cwd=tmp_path)

    assert code == 130
    assert state == seat.found
    assert "play --continue r-" in seat.shown
    assert "Traceback" not in seat.shown
    assert digest_in(ended.stdout) == digest_in(whole.stdout)


def test_ctrl_c_while_a_line_is_typed_gives_the_terminal_back(tmp_path: Path) -> None:
    with Terminal("play", WOOD, cwd=tmp_path) as seat:
        seat.wait_for("i disturb")
        seat.press("i")
        seat.wait_for("A number, or a line of your own")
        seat.press("half a li\x03")
        code = seat.end()
        state = seat.state

    assert code == 130
    assert state == seat.found
    assert "Traceback" not in seat.shown


def test_ctrl_d_at_the_prompt_sends_nothing_and_the_keys_still_work(tmp_path: Path) -> None:
    with Terminal("play", WOOD, "--turns", "3", cwd=tmp_path) as seat:
        seat.wait_for("i disturb")
        seat.press("i")
        seat.wait_for("A number, or a line of your own")
        seat.wait_for_lines(are_read=True)
        seat.press("\x04")
        seat.wait_for_lines(are_read=False)
        seat.press(" ")
        seat.wait_for("paused")
        code = seat.end(keys="q")

    events = objects_in(run("show", "last", "--ledger", "--json", cwd=tmp_path).stdout)
    assert code == 0
    assert [event["payload"]["reason"] for event in events if event["kind"] == "run.finished"] == ["stopped"]
    assert "user.injected" not in {event["kind"] for event in events}


def test_a_guest_watches_what_another_process_plays_and_may_throw_something_in(tmp_path: Path) -> None:
    with Terminal("play", WOOD, cwd=tmp_path) as seat:
        seat.wait_for("i disturb")
        seat.press(" ")
        seat.wait_for("paused")
        with Terminal("play", "--watch", cwd=tmp_path) as guest:
            guest.wait_for("Dusk in Thousand Token Wood")
            refused = run("play", WOOD, cwd=tmp_path)
            seat.press(" ")
            guest.wait_for("turn 1/20")
            guest.press("i")
            guest.wait_for("A number, or a line of your own")
            guest.press("A lantern coughs.\n")
            seat.wait_for("A lantern coughs.")
            seat.press("q")
            seat.end()
            guest.press("\n\n\n\n\n\n")
            code = guest.end()

    assert refused.returncode == 3
    assert "play --watch" in refused.stderr
    assert code == 0
    assert "A lantern coughs." in guest.shown
    assert digest_in(guest.shown) == digest_in(seat.shown)
    assert ("q finish" in seat.shown, "q leave" in seat.shown) == (True, False)
    assert ("q finish" in guest.shown, "q leave" in guest.shown) == (False, True)


def test_being_told_to_end_closes_the_store_like_ctrl_c(tmp_path: Path) -> None:
    player = subprocess.Popen(
        [*GLASSHOUSE, "play", WOOD, "--pace", "reading"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert player.stdout is not None
    player.stdout.readline()

    player.send_signal(signal.SIGTERM)
    _, errors = player.communicate(timeout=journey_seconds_max)

    assert player.returncode == 130
    assert "What was written until now is safe." in errors
    assert run("play", "--continue", "last", cwd=tmp_path).returncode == 0
