"""Prose on the command line: broken between words where a person reads it on a terminal, as it is in a pipe.

Always holds: no word is cut. A word that is wider than the terminal, such as a long path, stands whole on a line of its
own, so that it can be copied, and so does a line that is a command of this program.
"""

from __future__ import annotations

import os
import shutil
import sys
from textwrap import fill
from typing import TextIO

from glasshouse.cli.program import is_command


def say(*lines: str, file: TextIO | None = None) -> None:
    """Print prose, on standard output unless another stream is given."""
    stream = file or sys.stdout
    columns = _columns_of(stream)
    print(
        *[line if columns is None else wrapped(line, columns) for line in lines],
        sep="\n",
        file=stream,
        flush=True,
    )


def wrapped(text: str, columns: int) -> str:
    """A text with each of its lines broken between words; what follows a break is indented like its line."""
    return "\n".join([_filled(line, columns) for line in text.split("\n")])


def _filled(line: str, columns: int) -> str:
    if is_command(line):
        return line
    indent = line[: len(line) - len(line.lstrip(" "))]
    return fill(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _columns_of(stream: TextIO) -> int | None:
    """How wide the terminal behind a stream is; None if there is none."""
    if not (os.environ.get("FORCE_COLOR") or stream.isatty()):
        return None
    try:
        # A terminal that nobody has given a size says that it has none.
        return int(os.environ.get("COLUMNS") or os.get_terminal_size(stream.fileno()).columns) or None
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns
