"""How this program is called: by its name if the shell finds it so, else by the path it was called with."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

PROGRAM: Final = "glasshouse"

_COMMAND: Final = re.compile(rf"(?<![\w./-])(?<!-m ){PROGRAM} (?=[a-z])")
"""Where a message of a layer below names a command: such a layer does not know how the program was called."""


def program_called() -> str:
    """How the program is called from here."""
    called = Path(sys.argv[0])
    if shutil.which(PROGRAM):
        return PROGRAM
    if called.name == PROGRAM:
        return shlex.quote(os.path.relpath(called))
    return f"{shlex.quote(sys.executable)} -m {PROGRAM}"


def examples_to_paste(text: str) -> str:
    """A text with examples, one a line, in which the program is called as it was called here."""
    is_script = Path(sys.argv[0]).name == PROGRAM
    return text.replace(f"  {PROGRAM} ", f"  {program_called()} ") if is_script else text


def commands_to_paste(text: str) -> str:
    """A message in which the program is called as it was called here. Nothing changes if the shell finds it by its name."""
    called = program_called()
    return text if called == PROGRAM else _COMMAND.sub(lambda _match: f"{called} ", text)


def is_command(line: str) -> bool:
    """Whether a line of prose is a command of this program, which stands whole so that it can be pasted."""
    return line.lstrip(" ").startswith(f"{program_called()} ")
