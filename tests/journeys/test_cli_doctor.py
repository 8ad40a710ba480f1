"""`doctor`, and what every command has: help with examples, words instead of tracebacks, settings that are checked."""

from pathlib import Path

import pytest
from typer.main import get_command

from glasshouse.cli import health
from glasshouse.cli.app import app
from glasshouse.cli.live.progress_lines import ProgressLines
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.runtime.sharing import page_files
from tests.journeys.commanding import objects, run

GROUPS = [("new",), ("graph",), ("graph", "channel")]
"""Commands that only hold others."""
SERVERS = [("serve",), ("mcp",)]
"""Commands that run until they are stopped, and speak JSON to whoever asks."""


def commands() -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        paths.append((name,))
        paths += [(name, child) for child in getattr(command, "commands", {})]
    return paths


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_help_ends_with_examples_and_every_command_can_speak_to_machines(
    words: tuple[str, ...],
) -> None:
    helped = run(*words, "--help")

    assert (helped.returncode, helped.stderr) == (0, "")
    examples = helped.stdout.partition("Examples:")[2]
    assert f"glasshouse {' '.join(words)}" in examples
    assert all(line.startswith("    glasshouse ") for line in examples.strip("\n").splitlines())
    assert words in [*GROUPS, *SERVERS] or "--json" in helped.stdout


def test_a_healthy_place_is_told_line_by_line(tmp_path: Path) -> None:
    result = run("doctor", cwd=tmp_path)

    assert (result.returncode, result.stderr) == (0, "")
    assert {line.split()[1] for line in result.stdout.splitlines() if line.startswith("ok")} == {
        "python",
        "packages",
        "page",
        "settings",
        "store",
        "models",
        "terminal",
        "worlds",
    }
    assert list(tmp_path.iterdir()) == []


def test_missing_files_of_the_page_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_files, "VENDOR", tmp_path)

    findings: list[health.Finding] = []
    health.examine(str(tmp_path / "show"), ModelChoice(), findings.append, health.Waiting(ProgressLines(), 1))

    (finding,) = [each for each in findings if each.what == "page"]

    assert (finding.state, finding.todo) == (
        "warning",
        "In a checkout, run make setup; otherwise install Glasshouse again.",
    )


def test_everything_broken_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "show.glasshouse").write_bytes(b"this is no ledger, and never was one" * 200)
    run("new", "world", "mine", cwd=tmp_path)
    (tmp_path / "worlds/mine/scenario.yaml").write_text("name: mine\n", encoding="utf-8")

    result = run("doctor", "--json", cwd=tmp_path)
    findings = objects("doctor", cwd=tmp_path)

    broken = {finding["what"]: finding for finding in findings if finding["state"] == "broken"}
    assert result.returncode == 1
    assert set(broken) == {"store", "worlds"}
    assert "glasshouse check worlds/mine" in broken["worlds"]["todo"]


def test_a_setting_that_does_not_hold_is_named() -> None:
    result = run("runs", GLASSHOUSE_ALLOW_WORLD_CODE="maybe")
    doctor = run("doctor", GLASSHOUSE_ALLOW_WORLD_CODE="maybe")

    assert result.returncode == 3
    assert "GLASSHOUSE_ALLOW_WORLD_CODE" in result.stderr
    assert "Traceback" not in result.stderr
    assert doctor.returncode == 1
    assert "broken   settings" in doctor.stdout


def test_a_variable_that_is_no_setting_is_a_warning(tmp_path: Path) -> None:
    findings = objects("doctor", cwd=tmp_path, GLASSHOUSE_STOER="x")

    (warning,) = [finding for finding in findings if finding["state"] == "warning"]
    assert list(warning) == ["what", "state", "told", "todo"]
    assert "GLASSHOUSE_STOER" in warning["told"]
    assert "GLASSHOUSE_STORE" in warning["todo"]


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("show", "last", "--as", "king"),
        ("show", "last", "--at"),
        ("new", "planet"),
        ("disturb", "last"),
    ],
    ids=" ".join,
)
def test_wrong_usage_gives_2(words: tuple[str, ...]) -> None:
    tried = run(*words)

    assert tried.returncode == 2
    assert "Traceback" not in tried.stderr


@pytest.mark.parametrize("name", ["runs", "show", "digest", "replay", "export", "disturb"])
def test_a_store_that_is_none_is_refused_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / "show.glasshouse").write_bytes(b"this is no ledger, and never was one" * 200)
    rest = {"runs": (), "export": ("last", "a.glass"), "disturb": ("last", "hello")}.get(name, ("last",))

    tried = run(name, *rest, cwd=tmp_path)

    assert (tried.returncode, tried.stdout) == (3, "")
    assert tried.stderr.startswith("glasshouse: ")
    assert "Traceback" not in tried.stderr
