"""The programs of `examples/`: they run without a key or a network, print what is written down, and need no file of this repository."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.examples import EXAMPLES, PRINTED, PROGRAMS, masked, printed_by
from tests.servers.postgres import drop_databases

ALL = sorted(path.name for path in EXAMPLES.glob("*.py"))
lines_max = 60

EXTRAS_OF_EXAMPLES = {"langgraph", "mcp", "pydantic_ai", "pytest"}
"""What an example may import that an extra brings, or a newcomer has anyway."""
BROUGHT_ALONG = {"fastapi", "glasshouse", "msgspec", "pydantic"}
"""What `pip install glasshouse-agents` brings."""


def rows() -> dict[str, list[str]]:
    """The table of the README: the cells of each program."""
    cells = [
        line.strip("|").split("|")
        for line in (EXAMPLES / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| [")
    ]
    return {row[0].partition("]")[0].strip(" ["): [cell.strip() for cell in row[1:]] for row in cells}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_prints_what_is_written_down(name: str, tmp_path: Path) -> None:
    try:
        printed = printed_by(name, tmp_path)
    finally:
        drop_databases()

    assert printed == (PRINTED / f"{name}.txt").read_text(encoding="utf-8"), (
        "If that is as it should be: python -m tests.journeys.examples"
    )


def test_the_tests_of_a_world_pass_as_a_newcomer_runs_them(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"]

    ran = subprocess.run(
        [*words, str(EXAMPLES / "test_a_world.py")], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout
    assert "5 passed in SECONDS" in masked(ran.stdout)


@pytest.mark.parametrize("name", ALL)
def test_an_example_is_short_and_imports_only_what_a_newcomer_has(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")

    assert len(text.splitlines()) <= lines_max
    imported = {
        top.partition(".")[0]
        for node in ast.walk(ast.parse(text))
        for top in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported - sys.stdlib_module_names <= BROUGHT_ALONG | EXTRAS_OF_EXAMPLES


def test_the_readme_says_how_each_is_run_and_what_it_prints() -> None:
    table = rows()

    assert sorted(table) == ALL
    for name, (_, run, prints) in table.items():
        assert run.split()[1].rstrip("`") == name
        if name != "test_a_world.py":
            printed = (PRINTED / name).with_suffix(".txt").read_text(encoding="utf-8")
            assert prints.strip("`") in printed.splitlines()
