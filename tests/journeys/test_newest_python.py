"""Which Python the core is tested on: the newest that is finished and works, from the path, pyenv or uv."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.pages import ROOT

BROKEN = "exit 127"
UNFINISHED = "echo 0"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine whose .venv has Python 3.11."""
    has(tmp_path / "bin/python3.11", "echo 311")
    return tmp_path


def has(path: Path, answer: str) -> str:
    """Put a Python there that answers like this."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    return str(path)


def chosen(machine: Path, *words: str) -> str:
    environment = {
        "HOME": str(machine),
        "PATH": f"{machine}/bin:{os.defpath}",
        "PYENV_ROOT": f"{machine}/pyenv",
        "PYTHON": f"{machine}/bin/python3.11",
        "UV_PYTHON_INSTALL_DIR": f"{machine}/uv",
    }
    command = [str(ROOT / "tools/newest.sh"), *words]
    return subprocess.check_output(command, env=environment, text=True).strip()


def test_the_newest_of_the_path_is_taken(machine: Path) -> None:
    has(machine / "bin/python3.88", "echo 388")
    has(machine / "bin/python3.89", "echo 389")

    assert chosen(machine, "--python") == "python3.89"


def test_those_of_pyenv_and_uv_count_too(machine: Path) -> None:
    has(machine / "bin/python3.87", "echo 387")
    has(machine / "pyenv/versions/3.88.1/bin/python3", "echo 388")
    newest = has(machine / "uv/cpython-3.89.0/bin/python3", "echo 389")

    assert chosen(machine, "--python") == newest


def test_one_that_does_not_run_or_is_not_finished_is_passed_over(machine: Path) -> None:
    has(machine / "bin/python3.87", "echo 387")
    has(machine / "bin/python3.88", BROKEN)
    has(machine / "bin/python3.89", UNFINISHED)

    assert chosen(machine, "--python") == "python3.87"


def test_without_a_newer_one_a_line_says_so(machine: Path) -> None:
    here = has(machine / "bin/python3.99", "echo 399")
    (machine / "bin/python3.11").write_text("#!/bin/sh\necho 399\n")

    assert chosen(machine, "--python") == ""
    assert chosen(machine) == (
        f"make newest: skipped, because this machine has no Python newer than {here.replace('3.99', '3.11')}."
    )


def test_every_file_of_the_core_is_there() -> None:
    script = (ROOT / "tools/newest.sh").read_text()

    named = re.findall(r"tests/[\w/.]+", script)

    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []
