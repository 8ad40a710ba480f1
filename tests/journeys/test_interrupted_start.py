"""Ctrl-C while the command line is still being imported: exit 130 and not a word."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.journeys.commanding import GLASSHOUSE, environment

INTERRUPTED_AT_AN_IMPORT = """
import signal, sys
from glasshouse.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
main()
"""


def test_an_interrupt_during_the_imports_ends_quietly() -> None:
    for module in ("typer", "glasshouse.cli.app", "glasshouse.cli.commands.runs", "glasshouse.terrarium"):
        code = INTERRUPTED_AT_AN_IMPORT.format(module=module)
        command = [sys.executable, "-c", code, "runs"]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)

        assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGINT, "", ""), module


def test_nothing_is_loaded_before_ctrl_c_is_provided_for() -> None:
    code = (
        "import sys; before = {*sys.modules}; import glasshouse.cli; print(*sorted({*sys.modules} - before))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["__future__", "glasshouse", "glasshouse.cli", "glasshouse.public_names"]


def test_an_interrupted_import_ends_in_one_line_and_imports_nothing(tmp_path: Path) -> None:
    pipe, store = tmp_path / "pipe", tmp_path / "show.glasshouse"
    os.mkfifo(pipe)
    importing = subprocess.Popen(
        # A test run in the background inherits an ignored SIGINT, which a person at a terminal never has.
        ["env", "--default-signal=INT", *GLASSHOUSE, "import", str(pipe), "--store", str(store)],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    with pipe.open("wb"):  # Opens when the command has begun to read.
        importing.send_signal(signal.SIGINT)
        _, errors = importing.communicate(timeout=60)

    assert importing.returncode == 128 + signal.SIGINT
    assert errors.strip() == "glasshouse: stopped. The file is imported whole or not at all."
    assert not store.exists()


AT_A_POINT_OF_THE_START = """
import os, signal, sys

points = None

def count(event, arguments):
    global points
    if event == "exec" and arguments[0].co_filename == os.environ["COMMAND"]:
        points = 0
    elif points is not None and event in {"import", "open", "exec"}:
        points += 1
        if points == int(os.environ["INTERRUPTED_AT"]):
            os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(count)
"""
COMMAND = str(Path(sys.executable).with_name("glasshouse"))
QUIET = {
    (-signal.SIGINT, ""),
    (128 + signal.SIGINT, ""),
    (128 + signal.SIGINT, "glasshouse: stopped. What was written until now is safe."),
}


def test_ctrl_c_at_any_point_of_the_start_is_quiet(tmp_path: Path) -> None:
    # Python imports this module before it runs the command. What it counts are the command's own imports and files.
    (tmp_path / "sitecustomize.py").write_text(AT_A_POINT_OF_THE_START)

    def end_of(point: int) -> tuple[int, str]:
        done = subprocess.run(
            ["env", "--default-signal=INT", COMMAND, "runs"],
            env=environment(INTERRUPTED_AT=str(point), COMMAND=COMMAND, PYTHONPATH=str(tmp_path)),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr.strip()

    with ThreadPoolExecutor(4) as threads:
        points = [*range(1, 25), *range(25, 400, 15), *range(400, 2_000, 160)]
        ends = dict(zip(points, threads.map(end_of, points), strict=True))

    assert {point: end for point, end in ends.items() if end not in QUIET} == {}
