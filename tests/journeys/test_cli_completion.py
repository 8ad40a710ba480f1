"""What a shell is told when somebody presses Tab, and the table of runs for spreadsheets."""

import csv
import io
import sys
from pathlib import Path

import pytest

from tests.journeys.commanding import ROOTS, WOOD, run


def completed(words: str, cwd: Path | None = None, store: str = "") -> list[str]:
    """What bash offers for the last word."""
    more = {"GLASSHOUSE_STORE": store} if store else {}
    number = str(len(words.split(" ")) - 1)
    result = run(cwd=cwd, _GLASSHOUSE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=number, **more)
    assert result.stderr == ""
    return result.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("glasshouse wor", ["worlds"]),
        ("glasshouse play my", ["mystery-roots"]),
        ("glasshouse worlds pack thou", ["thousand-token-wood"]),
        ("glasshouse play x --models ol", ["ollama"]),
        ("glasshouse play x --pace f", ["fast"]),
        ("glasshouse play x --max-total-u", ["--max-total-usd"]),
    ],
)
def test_commands_worlds_models_and_options_are_completed(words: str, offered: list[str]) -> None:
    assert completed(words) == offered


def test_runs_are_completed_from_the_store_that_the_command_would_read(store: str, tmp_path: Path) -> None:
    assert completed("glasshouse show r-00aa1", store=store) == [WOOD[:8]]
    assert completed(f"glasshouse show --store {store} la") == ["last"]
    assert completed("glasshouse show r-", cwd=tmp_path, store="none.glasshouse") == []
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_told_of_commands(shell: str) -> None:
    result = run(
        _TYPER_COMPLETE_ARGS="glasshouse wor",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _GLASSHOUSE_COMPLETE=f"complete_{shell}",
        COMP_WORDS="glasshouse wor",
        COMP_CWORD="1",
    )

    assert "worlds" in result.stdout


def test_runs_are_a_table_for_spreadsheets(store: str) -> None:
    rows = [*csv.DictReader(io.StringIO(run("runs", "--csv", "--store", store).stdout))]

    by_id = {row["run_id"]: row for row in rows}
    digest = run("digest", ROOTS, "--store", store).stdout.strip()
    assert [*by_id][:2] == [WOOD, ROOTS]
    assert (by_id[ROOTS]["status"], by_id[ROOTS]["digest"]) == ("finished", digest)
    assert float(by_id[ROOTS]["usd"]) == 0
    assert int(by_id[ROOTS]["calls"]) > 0
    words = by_id[ROOTS]["replay"].removeprefix(f"{sys.executable} -m glasshouse ").split()
    assert run(*words).returncode == 0
    assert words == ["replay", ROOTS, "--verify", "--store", store]
    assert run("runs", "--csv", "--json", "--store", store).returncode == 3
