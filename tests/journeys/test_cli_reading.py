"""`runs`, `show`, `digest` and `replay` as a reader meets them: a played store, and one process a command."""

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from glasshouse import Event, SqliteStore, Terrarium
from glasshouse.events import digest_of
from glasshouse.views.stage import rebuild_stage
from tests.journeys.commanding import (
    ESCAPE,
    GLASSHOUSE,
    OPEN,
    ROOTS,
    WOOD,
    environment,
    journey_seconds_max,
    objects,
    on_a_terminal,
    run,
)


async def remembered(store: str, run_id: str) -> tuple[Event, ...]:
    async with Terrarium(SqliteStore(store, is_guest=True)) as t:
        return await t.run_events(run_id)


def test_runs_lists_every_run_the_oldest_first(store: str) -> None:
    result = run("runs", "--store", store)

    assert (result.returncode, result.stderr) == (0, "")
    assert [line.split()[0] for line in result.stdout.splitlines()] == [
        "run",
        "r-00aa11",
        "r-00aa99",
        "r-77aa99",
    ]
    assert ESCAPE not in result.stdout


def test_runs_for_machines_has_the_documented_keys(store: str) -> None:
    first, second, last = objects("runs", GLASSHOUSE_STORE=store)

    assert " ".join(first) == (
        "run_id world title status reason winner branch_of how seed rng_seed turns calls tokens usd session_id"
        " graph_ids began is_edited"
    )
    assert (first["run_id"], first["status"], first["reason"]) == (WOOD, "finished", "ended")
    assert (second["run_id"], second["world"]) == (ROOTS, "mystery-roots")
    assert (last["run_id"], last["status"], last["reason"], last["seed"]) == (
        OPEN,
        "playing",
        None,
        "a wet glove",
    )


@pytest.mark.parametrize("columns", [120, 80, 50])
def test_tables_fit_the_width(store: str, columns: int) -> None:
    result = run("runs", "--store", store, COLUMNS=str(columns))

    assert max(map(len, result.stdout.splitlines())) <= columns
    assert "r-00aa11" in result.stdout


def test_an_empty_place_is_told_apart_from_an_empty_store(tmp_path: Path) -> None:
    result = run("runs", cwd=tmp_path)

    assert (result.returncode, result.stdout) == (3, "")
    assert "There is no store" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_show_draws_the_stage_plainly_in_a_pipe(store: str) -> None:
    result = run("show", WOOD, "--store", store)

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Thousand Token Wood  {WOOD}\n")
    assert "III. Last light" in result.stdout
    assert "The end: " in result.stdout
    assert ESCAPE not in result.stdout
    assert not re.search(r" $", result.stdout, flags=re.MULTILINE)


async def test_show_at_any_event_is_the_stage_that_a_rebuild_gives(store: str) -> None:
    events = await remembered(store, WOOD)

    (answer,) = objects("show", WOOD, "--at", "40", "--as", "director", "--store", store)

    expected = rebuild_stage(events[:40], WOOD)
    assert list(answer) == ["run_id", "session_id", "at", "events", "role", "last_event", "stage"]
    assert (answer["at"], answer["events"], answer["last_event"]) == (40, len(events), events[39].id)
    assert answer["stage"]["current_scene"] == expected.current_scene
    assert [note["id"] for note in answer["stage"]["agent_notes"]] == [n.id for n in expected.agent_notes]
    assert answer["stage"]["counters"]["usage"]["calls"] == expected.counters.calls


async def test_the_place_in_a_run_may_be_an_event(store: str) -> None:
    events = await remembered(store, WOOD)

    (answer,) = objects("show", WOOD, "--at", events[29].id, "--store", store)

    assert answer["at"] == 30


def test_a_place_behind_the_end_is_refused_with_the_number_there_is(store: str) -> None:
    tried = run("show", WOOD, "--at", "100000", "--store", store)

    assert (tried.returncode, tried.stdout) == (3, "")
    assert "Give a number from 0 to" in tried.stderr


async def test_the_ledger_is_every_event_on_a_line(store: str) -> None:
    events = await remembered(store, WOOD)

    result = run("show", WOOD, "--ledger", "--store", store)

    lines = result.stdout.splitlines()
    spoken = next(n for n, event in enumerate(events) if event.kind == "agent.spoke")
    assert len(lines) == len(events)
    assert lines[spoken].startswith('[agent.spoke   ] pocket-actor {"text": "')
    assert json.loads(lines[spoken].split(" pocket-actor ")[1]) == events[spoken].payload
    assert lines[-1].startswith('[run.finished  ] conductor {"reason": "ended"')


@pytest.mark.parametrize(
    ("role", "seen", "hidden"),
    [
        ("spectator", ("model",), ("private", "sealed")),
        ("audience", ("private", "model"), ("sealed",)),
        ("director", ("private", "model"), ()),
    ],
)
def test_each_role_reads_its_own_part_of_the_ledger(
    store: str, role: str, seen: tuple[str, ...], hidden: tuple[str, ...]
) -> None:
    events = objects("show", WOOD, "--ledger", "--as", role, "--store", store)

    for name in seen:
        assert any(event.get(name) for event in events)
    for name in hidden:
        assert not any(event.get(name) for event in events)


def test_what_a_visitor_said_cannot_steer_a_terminal(store: str) -> None:
    shown = run("show", OPEN, "--store", store).stdout
    ledger = run("show", OPEN, "--ledger", "--store", store).stdout

    assert "A lantern \\u001b[31mwhispers." in shown
    assert ESCAPE not in shown + ledger


def test_a_terminal_is_shown_voices_in_colours_and_wrapped(store: str) -> None:
    code, shown = on_a_terminal("show", WOOD, "--store", store, columns=60)
    plain = re.sub(ESCAPE + r"\[[0-9;]*m", "", shown)

    assert code == 0
    assert f"{ESCAPE}[1;38;5;33m" in shown
    assert max(len(line) for line in plain.splitlines()) <= 60


def test_no_color_is_respected_on_a_terminal(store: str) -> None:
    _, shown = on_a_terminal("show", WOOD, "--store", store, NO_COLOR="1")

    assert "38;5" not in shown


async def test_a_digest_is_that_of_the_run(store: str) -> None:
    events = await remembered(store, ROOTS)

    plain, (answer,) = run("digest", ROOTS, "--store", store), objects("digest", ROOTS, "--store", store)

    assert plain.stdout == digest_of(events) + "\n"
    assert answer == {"run_id": ROOTS, "session_id": None, "digest": digest_of(events), "events": len(events)}


def test_replay_shows_the_run_line_by_line_without_thoughts(store: str) -> None:
    result = run("replay", ROOTS, "--store", store)
    lines = objects("replay", ROOTS, "--store", store)

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == "digest " + run("digest", ROOTS, "--store", store).stdout.strip()
    assert list(lines[0]) == [
        "id",
        "turn",
        "voice",
        "who",
        "kind",
        "text",
        "fields",
        "channel",
        "thought",
        "mood",
        "used",
    ]
    assert {line["thought"] for line in lines} == {""}
    assert all(line["text"] in result.stdout for line in lines if line["voice"] == "judge")


def test_replay_shows_minds_when_asked(store: str) -> None:
    lines = objects("replay", ROOTS, "--minds", "--store", store)

    assert any(line["thought"] for line in lines)


WITHOUT_TROUPE = """
import json, sys
sys.modules["glasshouse.troupe"] = None
from glasshouse.cli.app import app
for words in json.loads(sys.argv[1]):
    try:
        app(words)
    except SystemExit as end:
        print(f"ended with {end.code}", file=sys.stderr)
"""


def test_no_model_is_there_to_be_asked(store: str) -> None:
    words = [["show", WOOD], ["replay", WOOD], ["replay", WOOD, "--verify"]]
    commands = json.dumps([[*command, "--store", store] for command in words])

    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_TROUPE, commands],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.stderr.splitlines() == ["ended with 0"] * len(words)


def test_a_run_that_comes_out_the_same_is_verified(store: str) -> None:
    result = run("replay", ROOTS, "--verify", "--store", store)
    (facts,) = objects("replay", ROOTS, "--verify", "--store", store)

    assert (result.returncode, result.stderr) == (0, "")
    assert "verified" in result.stdout
    assert facts["is_same"]
    assert facts["recorded_digest"] == facts["replayed_digest"]


def test_a_reader_who_leaves_early_is_no_error(store: str) -> None:
    command = f"{sys.executable} -m glasshouse show {WOOD} --ledger --store {store} | head -n 1; echo ${{PIPESTATUS[0]}}"

    left = subprocess.run(
        ["bash", "-c", command], env=environment(), capture_output=True, text=True, check=False
    )

    assert left.stdout.splitlines()[-1] == "0"
    assert left.stderr == ""


def with_another_line(store: str, copy: Path) -> str:
    """A copy of a store in which somebody's recorded line was changed behind everybody's back."""
    shutil.copy(store, copy)
    with closing(sqlite3.connect(copy)) as ledger, ledger:
        spoken = "SELECT position FROM events JOIN shapes ON number = shape WHERE kind = 'agent.spoke'"
        (position,) = ledger.execute(f"{spoken} ORDER BY position").fetchone()
        changed = "json_set(payload, '$.text', 'Nobody ever said this.')"
        ledger.execute(f"UPDATE events SET payload = {changed} WHERE position = ?", (position,))
    return str(copy)


def test_a_run_that_comes_out_otherwise_is_shown_with_the_first_difference(
    store: str, tmp_path: Path
) -> None:
    changed = with_another_line(store, tmp_path / "changed.glasshouse")

    result = run("replay", WOOD, "--verify", "--store", changed)
    facts = json.loads(run("replay", WOOD, "--verify", "--json", "--store", changed).stdout)

    assert (result.returncode, result.stderr) == (1, "")
    assert '-payload: {"text": "Nobody ever said this."}' in result.stdout
    assert '+payload: {"text": "' in result.stdout
    assert not facts["is_same"]
    assert facts["recorded_event"]["payload"] == {"text": "Nobody ever said this."}


def test_a_replay_can_be_interrupted(store: str) -> None:
    process = subprocess.Popen(
        [*GLASSHOUSE, "replay", WOOD, "--pace", "reading", "--store", store],
        env=environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=journey_seconds_max)

    assert process.returncode == 130
    assert "Traceback" not in errors
