"""`glasshouse search`: lines of all runs by their words."""

from __future__ import annotations

from pathlib import Path

from glasshouse import Draft, Manifest, SqliteStore, Terrarium
from tests.journeys.commanding import ESCAPE, ROOTS, WOOD, objects, on_a_terminal, run


def test_lines_are_found_in_every_run_and_have_the_number_that_why_takes(store: str) -> None:
    shown = objects("show", WOOD, "--ledger", "--json", "--store", store)
    said = [event for event in shown if event["kind"] == "agent.spoke"]
    words = said[-1]["payload"]["text"].split()[:4]

    lines = objects("search", *words, "--lines", "1000", "--store", store)

    line = next(line for line in lines if line["event_id"] == said[-1]["id"])
    assert line["run_id"] == WOOD
    assert line["text"] == said[-1]["payload"]["text"]
    why = objects("why", str(line["number"]), "--run", WOOD, "--store", store)
    assert why[0]["event_id"] == line["event_id"]
    everywhere = objects("search", "the", "--lines", "1000", "--store", store)
    assert {line["run_id"] for line in everywhere} >= {WOOD, ROOTS}
    in_one = objects("search", "the", "--lines", "1000", "--run", ROOTS, "--store", store)
    assert in_one == [line for line in everywhere if line["run_id"] == ROOTS]


def test_people_read_the_newest_under_their_run_and_how_many_there_are(store: str) -> None:
    count = len(objects("search", "the", "--lines", "1000", "--store", store))

    result = run("search", "the", "--lines", "3", "--store", store)

    assert result.returncode == 0
    assert len([line for line in result.stdout.splitlines() if "  turn " in line]) == 3
    assert result.stdout.endswith(f"These are the newest 3 of {count:,} lines. See more with --lines.\n")
    assert ESCAPE not in result.stdout
    drawn = on_a_terminal("search", "the", "--lines", "1", "--store", store)
    assert f"{ESCAPE}[1m" in drawn[1]
    assert "pocket-actor: " in drawn[1]


def test_what_nobody_said_is_not_found(store: str) -> None:
    result = run("search", "xylophone", "--store", store)

    assert (result.returncode, result.stdout) == (0, "No line holds 'xylophone'.\n")
    assert run("search", " ", "--store", store).returncode == 3


async def test_lines_of_no_run_are_found_too(tmp_path: Path) -> None:
    path = tmp_path / "no-run.glasshouse"
    async with Terrarium(SqliteStore(path)) as t:
        await t.add_creature(Manifest(name="fen"))
        await t.append("fen", Draft(kind="agent.spoke", payload={"text": "A kettle sang."}))

    (line,) = objects("search", "kettle", "--store", str(path))

    assert (line["run_id"], line["number"], line["world"]) == (None, None, "")
    assert (line["handle"], line["text"]) == ("fen", "A kettle sang.")
    assert "fen: A kettle sang." in run("search", "kettle", "--store", str(path)).stdout


def test_lines_of_an_imported_run_have_its_world(store: str, tmp_path: Path) -> None:
    run("export", ROOTS, str(tmp_path / "roots.glass"), "--store", store)
    other = str(tmp_path / "other.glasshouse")
    run("import", str(tmp_path / "roots.glass"), "--store", other)

    lines = objects("search", "the", "--store", other)

    assert {line["world"] for line in lines} == {"mystery-roots"}
    assert all(line["number"] for line in lines)
    assert run("why", "last", "--store", other).returncode == 0
