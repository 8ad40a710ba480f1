"""`glasshouse rehearse`, as people run it, against the offline troupe and a server with manners."""

import json

from glasshouse.events.payloads import prompting_now
from tests.journeys.commanding import run
from tests.servers.imitating_server import imitating_server


def test_the_troupe_hears_the_visitor_in_every_form_and_the_table_can_be_pasted() -> None:
    lines = run("rehearse", "mystery-roots", "--rounds", "1").stdout.splitlines()

    assert [cell.strip() for cell in lines[0].split("|")[1:5]] == ["offline", "schema", "json", "prose"]
    assert {line.count("|") for line in lines if line} == {5}
    assert len({len(line) for line in lines if line}) == 1
    assert any(line.startswith("| uptake ") and line.count("100% (") == 3 for line in lines)


def test_a_server_that_fences_its_replies_is_measured_for_machines() -> None:
    with imitating_server("llamacpp", "fences") as server:
        words = ("--models", server.url, "--rounds", "1", "--turns", "2", "--form", "json", "--json")
        result = json.loads(run("rehearse", "mystery-roots", *words).stdout)

    measures = result["measures"]
    assert result["form"] == "json"
    assert measures["fenced"]["value"] == 1.0
    assert measures["prompt_tokens"]["value"] > 100
    assert measures["valid_at_first_try"]["n"] > 0


def test_a_model_that_nobody_serves_is_one_sentence() -> None:
    done = run("rehearse", "mystery-roots", "--models", "http://127.0.0.1:9/v1")

    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "127.0.0.1:9" in done.stderr


def test_it_speaks_in_a_pipe_and_two_worlds_stand_side_by_side() -> None:
    words = ("mystery-roots", "two-tale-hearth", "--rounds", "2", "--turns", "2", "--form", "json")

    done = run("rehearse", *words)

    progress = done.stderr.splitlines()
    assert progress[0] == "Rehearsal: looking for offline."
    assert "offline, mystery-roots, json: round 1 of 2, 0 calls" in progress[1]
    assert any("round 2 of 2: valid at first try 100%" in line for line in progress)
    header = [cell.strip() for cell in done.stdout.splitlines()[0].split("|")[1:4]]
    assert header == ["offline", "mystery-roots, json", "two-tale-hearth, json"]
    assert all(f"\n| {name} " in done.stdout for name in ("recited", "echoed", "prompt text", "placeholder"))


def test_machines_read_each_round_and_then_the_whole() -> None:
    words = ("twenty-sprouts", "--rounds", "2", "--turns", "2", "--form", "json", "--json")

    results = [json.loads(line) for line in run("rehearse", *words).stdout.splitlines()]

    assert [(result["rounds"], result["is_partial"]) for result in results] == [(1, True), (2, False)]
    assert results[1]["measures"]["recited"]["n"] >= results[0]["measures"]["recited"]["n"] > 0


def test_it_ends_in_time_and_measures_what_was_played() -> None:
    words = ("mystery-roots", "--rounds", "5000", "--turns", "4", "--form", "json", "--max-minutes", "0.02")

    done = run("rehearse", *words)

    assert done.returncode == 0
    assert "Stopped after 0.02 minutes" in done.stderr
    assert "| valid at first try " in done.stdout


def test_prompts_that_nobody_has_are_refused_with_what_to_do() -> None:
    done = run(
        "rehearse",
        "mystery-roots",
        "--prompting",
        f"{prompting_now},9999",
        "--store",
        "/nowhere/show.glasshouse",
    )

    assert done.returncode == 3
    assert "9999" in done.stderr
    assert "--store" in done.stderr
