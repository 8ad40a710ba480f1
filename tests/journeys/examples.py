"""Runs the programs of `examples/` in this process, and keeps what they print: `python -m tests.journeys.examples` writes it anew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.pages import ROOT
from tests.servers.postgres import drop_databases, new_database

EXAMPLES = ROOT / "examples"
PRINTED = EXAMPLES / "printed"

PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith("test_"))
"""All but the tests of a world, which pytest runs."""


def masked(text: str) -> str:
    """What was printed, without what differs each time: ids of runs and seconds."""
    return re.sub(r"\bin \d+\.\d+s", "in SECONDS", re.sub(r"\br-[0-9a-f]{4,}", "r-ID", text))


def arguments_of(name: str) -> Sequence[str]:
    """What a program is given on its command line."""
    return [new_database()] if name == "store_on_postgresql" else []


def printed_by(name: str, folder: Path) -> str:
    """What a program prints that is run as a newcomer runs it, in a folder of its own."""
    path = EXAMPLES / f"{name}.py"
    arguments = sys.argv
    before = Path.cwd()
    sys.argv = [str(path), *arguments_of(name)]
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv = arguments
        os.chdir(before)
    return masked(out.getvalue())


def main() -> None:
    """Run all of them, and write what they print."""
    PRINTED.mkdir(exist_ok=True)
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            printed = printed_by(name, Path(folder))
        (PRINTED / f"{name}.txt").write_text(printed, encoding="utf-8")
        print(f"examples/printed/{name}.txt")
    drop_databases()


if __name__ == "__main__":
    main()
