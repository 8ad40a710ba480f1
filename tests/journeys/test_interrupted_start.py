"""Ctrl-C while the command line is still being imported: exit 130 and not a word."""

import signal
import subprocess
import sys

from tests.journeys.commanding import environment

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
