"""`glasshouse grid` as somebody meets it: on a real HTTP server, with processes, refused, stopped and continued."""

import csv
import errno
import json
import os
import threading
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from glasshouse.turns.moment.prompt import text_digest
from tests.grid_worlds import grid_file, models_file, small_world
from tests.journeys.commanding import ESCAPE, on_a_terminal, run
from tests.servers import faults
from tests.servers.imitating_server import imitating_server


def rows_in(folder: Path) -> list[dict[str, str]]:
    with (folder / "cells.csv").open(newline="") as file:
        return [*csv.DictReader(file)]


def said(result: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_grid_is_played_told_and_not_played_again(tmp_path: Path) -> None:
    small_world(tmp_path)
    grid_file(tmp_path, models=["offline", "offline:hasty"])

    result = run("grid", "night.yaml", cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    assert "Grid: 8 cells (1 world \u00d7 2 models \u00d7 4 seeds) in night.grid." in result.stderr
    assert "8 of 8 cells done, 0 failed, $0.00." in result.stdout
    assert ESCAPE not in result.stdout
    folder = tmp_path / "night.grid"
    assert {"cells.csv", "summary.csv", "summary.html", "runs-0001.glasshouse"} <= {
        file.name for file in folder.iterdir()
    }
    rows = rows_in(folder)
    assert [row["rng_seed"] for row in rows] == ["0", "1", "2", "3"] * 2
    verified = run(*rows[5]["verify"].split()[1:], cwd=tmp_path)
    assert (verified.returncode, rows[5]["digest"] in verified.stdout) == (0, True)
    again = said(run("grid", "night.yaml", "--json", cwd=tmp_path))
    assert [(row["type"], row["cells"], row["done"]) for row in again] == [("grid", 8, 8)]


def test_processes_play_the_same_cells_with_the_same_digests(tmp_path: Path) -> None:
    small_world(tmp_path)
    short = {"name": "short", "limits": {"max_turns": 2}}
    grid_file(tmp_path, rng_seeds="0..11", what_ifs=[{"name": "as is"}, short])

    alone = run("grid", "night.yaml", "--folder", "alone", "--json", cwd=tmp_path)
    both = run("grid", "night.yaml", "--folder", "both", "--processes", "2", "--json", cwd=tmp_path)

    assert (alone.returncode, both.returncode) == (0, 0), both.stderr
    digests = [
        [(row["cell"], row["digest"]) for row in rows_in(tmp_path / name)] for name in ("alone", "both")
    ]
    assert digests[0] == digests[1]
    assert len({row["digest"] for row in said(both) if row["type"] == "cell"}) > 12


def test_a_model_server_is_never_asked_more_than_it_has_slots_for(tmp_path: Path) -> None:
    small_world(tmp_path)
    with imitating_server("vllm", delay_seconds=0.01) as server:
        grid_file(tmp_path, models=[models_file(tmp_path, server)], rng_seeds="0..11")

        result = run("grid", "night.yaml", "--json", cwd=tmp_path)

        assert result.returncode == 0, result.stderr
        assert server.in_flight_most == 4
    assert said(result)[-1]["done"] == 12


def test_processes_divide_the_slots_of_a_server(tmp_path: Path) -> None:
    small_world(tmp_path)
    with imitating_server("vllm", delay_seconds=0.02) as server:
        grid_file(tmp_path, models=[models_file(tmp_path, server)], rng_seeds="0..23")

        result = run("grid", "night.yaml", "--processes", "2", "--json", cwd=tmp_path)

        assert result.returncode == 0, result.stderr
        assert 2 <= server.in_flight_most <= 4


def test_a_server_that_goes_away_stops_the_grid_and_the_same_command_continues_on_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasshouse.grids.grid_models.pause_seconds", 0.0)
    small_world(tmp_path)
    calls = count(1)

    def say_and_leave(prompt: str) -> str:
        if next(calls) == 12:
            threading.Thread(target=server.close).start()
        return f"I see {text_digest(prompt)[:12]}."

    with imitating_server("vllm", say=say_and_leave) as server:
        grid_file(tmp_path, models=[models_file(tmp_path, server)], rng_seeds="0..7")

        result = run("grid", "night.yaml", cwd=tmp_path)

    assert result.returncode == 3, result.stdout
    assert "What was played is safe, and the same command continues." in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    with imitating_server("vllm") as server:
        models_file(tmp_path, server)
        again = run("grid", "night.yaml", "--json", cwd=tmp_path)
    last = said(again)[-1]
    assert (again.returncode, last["done"], last["failed"], last["left"]) == (0, 8, 0, 0), again.stderr
    rows = rows_in(tmp_path / "night.grid")
    assert len({row["run"] for row in rows}) == 8
    assert run(*rows[0]["verify"].split()[1:]).returncode == 0


def test_a_server_that_refuses_the_key_stops_the_grid(tmp_path: Path) -> None:
    small_world(tmp_path)
    with imitating_server("vllm") as server:
        grid_file(tmp_path, models=[models_file(tmp_path, server)])
        server.next("fine", "fine", "fine", *[faults.status(401)] * 40)

        result = run("grid", "night.yaml", cwd=tmp_path)

    assert result.returncode == 3
    assert "wants a key" in result.stderr


def test_a_limit_in_dollars_holds_for_the_whole_grid(tmp_path: Path) -> None:
    small_world(tmp_path)
    with imitating_server("vllm") as server:
        priced = models_file(tmp_path, server, price={"input": 5.0, "output": 50.0})
        grid_file(tmp_path, models=[priced], rng_seeds="0..9")

        short = run("grid", "night.yaml", "--max-usd", "0.2", "--json", cwd=tmp_path)
        assert short.returncode == 3, short.stderr
        stopped = said(short)[-1]
        more = run("grid", "night.yaml", "--yes", "--json", cwd=tmp_path)

    assert (stopped["stopped_by"], stopped["left"] > 0) == ("budget", True)
    assert stopped["usd"] <= 0.2
    assert "will probably take about" in short.stderr
    words = f"{stopped['left']} cells left; what they have cost counts too. To go on: the same command with a higher --max-usd."
    assert words in " ".join(short.stderr.split())
    assert said(more)[-1]["done"] == 10, more.stderr


def test_what_a_grid_will_cost_is_agreed_to_once(tmp_path: Path) -> None:
    small_world(tmp_path)
    with imitating_server("vllm") as server:
        priced = models_file(tmp_path, server, price={"input": 500.0, "output": 500.0})
        file = grid_file(tmp_path, models=[priced], rng_seeds="0..3")

        refused = run("grid", "night.yaml", "--json", cwd=tmp_path)
        agreed = run("grid", "night.yaml", "--yes", "--max-usd", "3", "--json", cwd=tmp_path)
        continued = run("grid", str(file), "--max-usd", "3", "--json", cwd=tmp_path)

    assert (refused.returncode, refused.stdout) == (3, "")
    assert "Agree with --yes" in refused.stderr
    for stopped in (agreed, continued):
        assert (stopped.returncode, said(stopped)[-1]["stopped_by"]) == (3, "budget"), stopped.stderr
        assert "Agree with --yes" not in stopped.stderr


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"wurlds": []}, "night.yaml:4:1: wurlds: there is no such field. Did you mean 'worlds'?"),
        ({"models": []}, "night.yaml:4:9: models: this is empty. Write at least one item."),
        ({"worlds": ["pnod"]}, "night.yaml:2:3: worlds: no world is called 'pnod'. Did you mean 'pond'?"),
        (
            {"models": ["ofline"]},
            "night.yaml:5:3: models: no server is called 'ofline'. Did you mean 'offline'?",
        ),
        (
            {"models": ["modls.yaml"]},
            "night.yaml:5:3: models: no models file is called 'modls.yaml'. Did you mean 'models.yaml'?",
        ),
        ({"rng_seeds": "0..99999", "repeats": 2}, "the grid has 200,000 cells."),
    ],
)
def test_a_grid_with_a_fault_is_refused_before_anything_is_written(
    tmp_path: Path, axes: dict[str, Any], words: str
) -> None:
    (tmp_path / "worlds").mkdir()
    small_world(tmp_path / "worlds")
    (tmp_path / "models.yaml").write_text("profiles: {fast: {backend: ollama, model: m}}\n")
    grid_file(tmp_path, **axes)

    result = run("grid", "night.yaml", cwd=tmp_path)

    assert (result.returncode, result.stdout) == (3, "")
    assert words in " ".join(result.stderr.split())
    assert not (tmp_path / "night.grid").exists()


def test_a_folder_without_a_name_is_refused(tmp_path: Path) -> None:
    small_world(tmp_path)
    grid_file(tmp_path)

    result = run("grid", "night.yaml", "--folder", "", cwd=tmp_path)

    assert result.returncode == 3
    assert "The folder of this grid has no name." in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["night.yaml", "pond"]


def test_cells_whose_store_is_gone_are_told_and_played_again(tmp_path: Path) -> None:
    small_world(tmp_path)
    grid_file(tmp_path)
    run("grid", "night.yaml", cwd=tmp_path)
    before = rows_in(tmp_path / "night.grid")
    (tmp_path / "night.grid" / "runs-0001.glasshouse").unlink()

    result = run("grid", "night.yaml", cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    assert "runs-0001.glasshouse is gone. What was done in it is played again." in result.stderr
    after = rows_in(tmp_path / "night.grid")
    assert [row["digest"] for row in after] == [row["digest"] for row in before]
    assert run(*after[0]["verify"].split()[1:], cwd=tmp_path).returncode == 0
    again = run("grid", "night.yaml", cwd=tmp_path)
    assert (again.returncode, "is gone. What" in again.stderr) == (0, False)


def test_a_full_disk_stops_the_grid_in_words_and_the_same_command_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_world(tmp_path)
    grid_file(tmp_path)
    lines: list[bytes] = []

    def write(descriptor: int, content: bytes) -> int:
        lines.append(content)
        if len(lines) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.pwrite(descriptor, content, os.fstat(descriptor).st_size)

    with monkeypatch.context() as full:
        full.setattr("glasshouse.grids.folder.written", write)
        result = run("grid", "night.yaml", cwd=tmp_path)
    again = run("grid", "night.yaml", "--json", cwd=tmp_path)

    assert result.returncode == 3
    assert "journal.jsonl: the disk is full. Make room" in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert (again.returncode, said(again)[-1]["done"]) == (0, 4), again.stderr


@pytest.mark.parametrize("machine", [(), ("--json",)])
def test_tables_that_cannot_be_written_stop_the_grid_in_words_and_the_same_command_writes_them(
    tmp_path: Path, machine: tuple[str, ...]
) -> None:
    small_world(tmp_path)
    grid_file(tmp_path)
    in_the_way = tmp_path / "night.grid" / "cells.csv"
    in_the_way.mkdir(parents=True)

    result = run("grid", "night.yaml", *machine, cwd=tmp_path)
    in_the_way.rmdir()
    again = run("grid", "night.yaml", "--json", cwd=tmp_path)

    assert result.returncode == 3
    words = "The tables could not be written. night.grid/cells.csv: Is a directory."
    assert words in " ".join(result.stderr.split())
    assert "the same command continues" in " ".join(result.stderr.split())
    assert "Tables:" not in result.stdout
    if machine:
        last = said(result)[-1]
        assert (last["done"], last["stopped_by"], last["cells_csv"]) == (4, "store", None)
    assert (again.returncode, len(rows_in(tmp_path / "night.grid"))) == (0, 4), again.stderr


def test_a_cell_that_cannot_end_makes_the_command_say_so(tmp_path: Path) -> None:
    small_world(tmp_path)
    stuck = {"name": "stuck", "limits": {"max_total_calls": 2, "on_budget": "pause"}}
    grid_file(tmp_path, what_ifs=[{"name": "as is"}, stuck], rng_seeds="0..1")

    result = run("grid", "night.yaml", cwd=tmp_path)

    assert result.returncode == 1
    assert "2 of 4 cells done, 2 failed" in result.stdout
    assert "2 cells failed: The run did not end:" in result.stdout


def test_on_a_terminal_a_grid_tells_how_far_it_is(tmp_path: Path) -> None:
    small_world(tmp_path)
    file = grid_file(tmp_path)

    code, shown = on_a_terminal("grid", str(file))

    assert code == 0
    assert "4 of 4 cells done" in shown
