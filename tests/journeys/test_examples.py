"""The programs of `examples/`: they run without a key or a network, print what is written down, and need no file of this repository."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.examples import EXAMPLES, PRINTED, PROGRAMS, masked, printed_by
from tests.servers.postgres import drop_databases
from tools.docs_site.sources import page_of_a_notebook
from tools.notebooks import NOTEBOOKS, as_text, notebook_bytes_max, notebooks

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
        if line.startswith("| [") and ".ipynb" not in line
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


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_is_small_and_holds_what_all_of_its_cells_print(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)

    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    assert any(cell["outputs"] for cell in code)
    assert not any(output["output_type"] == "error" for cell in code for output in cell["outputs"])
    assert len(text.encode()) <= notebook_bytes_max
    assert as_text(notebook) == text, "run: python -m tools.notebooks --write"
    assert not re.search(r"\br-[0-9a-f]{6,}|/tmp/|/home/|<iframe", text)


def test_the_three_notebooks_are_listed_and_lie_where_their_links_lead() -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")

    assert [path.stem for path in notebooks()] == ["first_look", "what_if", "who_wins_and_why"]
    for path in notebooks():
        assert f"(notebooks/{path.name})" in readme
        links = re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8"))
        assert links
        assert [link for link in links if not (path.parent / link).is_file()] == []


def test_a_notebook_is_a_page_of_the_site_with_its_code_and_what_that_printed() -> None:
    page = page_of_a_notebook((NOTEBOOKS / "first_look.ipynb").read_text(encoding="utf-8"))

    assert page.startswith("# First look\n")
    assert (
        '```python\nfrom glasshouse import play\n\nplayed = play("twenty-sprouts", rng_seed=3)\nplayed\n```\n'
        in page
    )
    assert "```{raw} html\n<div><p><b>Twenty Sprouts</b></p>" in page
    assert "```text\ndealt: {'word': " in page


def test_what_a_cell_prints_is_one_text_however_the_kernel_sends_it() -> None:
    parts = [
        {"output_type": "stream", "name": "stdout", "text": text} for text in ("a\n", "b\nc r-00ff00ff\n")
    ]
    cell = {"cell_type": "code", "metadata": {"x": 1}, "source": "1", "execution_count": 1, "outputs": parts}

    (stored,) = json.loads(as_text({"cells": [cell], "nbformat": 4, "nbformat_minor": 5}))["cells"]

    assert [output["text"] for output in stored["outputs"]] == [["a\n", "b\n", "c r-ID\n"]]
    assert stored["metadata"] == {}
