"""`glasshouse tour` as a visitor meets it: the real command line, in a process of its own."""

import json
import re
import signal
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Event, SqliteStore, Terrarium
from glasshouse.events import digest_of
from tests.journeys.commanding import (
    ESCAPE,
    GLASSHOUSE,
    environment,
    journey_seconds_max,
    on_a_terminal,
    run,
    run_anew,
)


@cache
def scene_facts(*words: str) -> dict[str, Any]:
    """The facts of every scene, by the scene's key."""
    lines = [json.loads(line) for line in run("tour", "--json", *words).stdout.splitlines()]
    return {line["key"]: line["facts"] for line in lines}


async def remembered(path: Path) -> dict[str, tuple[Event, ...]]:
    async with Terrarium(SqliteStore(path)) as t:
        return {graph.session_id: await t.events(graph.session_id) for graph in t.graphs()}


def test_the_tour_tells_its_whole_story_without_escape_codes_in_a_pipe() -> None:
    toured = run("tour")

    assert (toured.returncode, toured.stderr) == (0, "")
    assert ESCAPE not in toured.stdout
    for fact in (
        "2 became 1",
        "pim is now pim~2, bench is now bench~2",
        "1 became 2",
        "shares 38, adds 1",
        "[agent.spoke     ] dew  Lux, the word was rain. We kept some for you.",
        "First connect('oona', 'lux'), then wire them.",
    ):
        assert fact in toured.stdout
    assert "✗" not in toured.stdout
    assert not re.search(r" $", toured.stdout, flags=re.MULTILINE)


def test_the_tour_is_the_same_every_time() -> None:
    tours = {run_anew("tour", PYTHONHASHSEED=seed).stdout for seed in ("0", "4711")}

    assert tours == {run("tour").stdout}


def test_ten_merges_and_splits_double_nothing() -> None:
    rounds = scene_facts()["rounds"]

    assert rounds["rounds"] == 10
    assert rounds["old_events_before"] == rounds["old_events_after"] > 0
    assert rounds["doubled"] == 0
    assert rounds["sessions_after"] == rounds["sessions_before"] + 30


def test_the_facts_for_machines_hold_together() -> None:
    facts = scene_facts()

    assert facts["merge"]["change"] == "merge"
    assert facts["merge"]["owed_before"] == facts["merge"]["owed_after"]
    assert facts["split"]["change"] == "split"
    assert (facts["split"]["owed_before_answer"], facts["split"]["owed_after_answer"]) == (1, 0)
    assert facts["fork"]["parent_events_before"] == facts["fork"]["parent_events_after"]
    assert [len(graph) for graph in facts["shape"]["graphs_then"]] == [5]
    assert [len(graph) for graph in facts["shape"]["graphs_now"]] == [3, 2]
    assert facts["reopen"]["is_same"] is True
    assert facts["carry"]["digest"] == facts["carry"]["digest_there"]


def test_machines_are_told_every_scene_in_order() -> None:
    lines = [json.loads(line) for line in run("tour", "--json").stdout.splitlines()]

    assert [line["scene"] for line in lines] == list(range(1, 14))
    assert all(set(line) == {"scene", "key", "heading", "facts"} for line in lines)


async def test_a_kept_store_opens_again_and_holds_what_was_told(tmp_path: Path) -> None:
    store = tmp_path / "kept.glasshouse"

    facts = scene_facts("--store", str(store))
    sessions = await remembered(store)

    carried = facts["carry"]
    assert len(sessions) == 2
    assert len(sessions[carried["session"]]) == carried["events"]
    assert digest_of(sessions[carried["session"]]) == carried["digest"]


def test_an_existing_file_is_refused_in_words_and_left_alone(tmp_path: Path) -> None:
    store = tmp_path / "kept.glasshouse"
    store.write_text("mine")

    toured = run("tour", "--store", str(store))

    assert (toured.returncode, toured.stdout) == (3, "")
    assert "exists already" in toured.stderr
    assert "Choose another --store" in toured.stderr
    assert "Traceback" not in toured.stderr
    assert store.read_text() == "mine"


def test_a_second_tour_on_a_kept_store_is_refused(tmp_path: Path) -> None:
    store = str(tmp_path / "kept.glasshouse")

    first, second = run("tour", "--store", store), run("tour", "--store", store)

    assert f"The store is kept in {store}" in first.stdout
    assert (first.returncode, second.returncode) == (0, 3)
    assert "exists already" in second.stderr


def test_a_store_in_a_folder_that_is_not_there_is_refused_in_words(tmp_path: Path) -> None:
    toured = run("tour", "--store", str(tmp_path / "nowhere" / "kept.glasshouse"))

    assert (toured.returncode, toured.stdout) == (3, "")
    assert toured.stderr.startswith("glasshouse: ")
    assert "Traceback" not in toured.stderr


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    run("tour", TMPDIR=str(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_the_tour_with_130_and_without_a_traceback(tmp_path: Path) -> None:
    process = subprocess.Popen(
        # A test run in the background inherits an ignored SIGINT, which a person at a terminal never has.
        ["env", "--default-signal=INT", *GLASSHOUSE, "tour", "--pace", "reading"],
        env=environment(TMPDIR=str(tmp_path), PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    while "Two troupes" not in process.stdout.readline():
        assert process.poll() is None

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=journey_seconds_max)

    assert process.returncode == 130
    assert "stopped" in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words", [("tour", "--pase", "fast"), ("tour", "--pace", "slow"), ("tuor",), ("tour", "extra")]
)
def test_wrong_usage_gives_2_and_says_what_is_wrong(words: tuple[str, ...]) -> None:
    tried = run(*words)

    assert tried.returncode == 2
    assert "Error: " in tried.stderr
    assert "Traceback" not in tried.stderr


def test_a_reader_who_leaves_early_is_no_error() -> None:
    command = " ".join(GLASSHOUSE) + " tour | head -n 1; echo ${PIPESTATUS[0]}"

    left = subprocess.run(
        ["bash", "-c", command], env=environment(), capture_output=True, text=True, check=False
    )

    assert left.stdout.splitlines()[-1] == "0"
    assert left.stderr == ""


def test_a_full_disk_behind_the_output_is_told_in_words() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        toured = subprocess.run(
            [*GLASSHOUSE, "tour"],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert toured.returncode == 3
    assert "the disk is full. Make room" in toured.stderr
    assert "Traceback" not in toured.stderr


def test_a_terminal_is_shown_colours() -> None:
    code, shown = on_a_terminal("tour", "--pace", "fast")

    assert code == 0
    assert f"{ESCAPE}[32m" in shown


def test_no_color_is_respected_on_a_terminal() -> None:
    code, shown = on_a_terminal("tour", "--pace", "fast", NO_COLOR="1")

    assert code == 0
    assert not re.search(ESCAPE + r"\[[0-9;]*\b[39][0-7]\b", shown)


def test_an_output_that_cannot_spell_everything_is_no_error() -> None:
    toured = run_anew("tour", PYTHONIOENCODING="ascii")

    assert (toured.returncode, toured.stderr) == (0, "")


def test_the_version_is_one_line() -> None:
    asked = run("--version")

    assert asked.returncode == 0
    assert re.fullmatch(r"glasshouse \d+\.\d+\.\d+\n", asked.stdout)


@pytest.mark.parametrize("words", [("--help",), ("tour", "--help")])
def test_help_shows_how_to_begin(words: tuple[str, ...]) -> None:
    helped = run(*words)

    assert helped.returncode == 0
    assert "glasshouse tour" in helped.stdout
