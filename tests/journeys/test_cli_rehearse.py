"""`glasshouse rehearse`, as people run it, against the offline troupe and a server with manners."""

import json

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
