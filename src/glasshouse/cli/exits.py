"""How a command ends: 0 done, 1 a check failed, 2 wrong usage, 3 refused or not found, 4 left paused, 130 interrupted.

Always holds: an expected error, and one of the operating system, becomes a message on standard error; any other shows
its traceback. A command whose output is no longer read ends without a message. Below a refusal stands where the docs say what
to do about it; with --json, as an object of one line.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from glasshouse.cli.file_errors import in_words
from glasshouse.cli.program import commands_to_paste
from glasshouse.cli.prose import say
from glasshouse.errors import GlasshouseError

CHECK_FAILED: Final = 1
REFUSED: Final = 3
LEFT_PAUSED: Final = 4
INTERRUPTED: Final = 130


class LeftPaused(GlasshouseError):
    """A model or a limit paused a run, and nobody is at a keyboard to say what to do; the message says it."""


@contextmanager
def errors_in_words() -> Iterator[None]:
    """Turn an expected error of a command into a message and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except GlasshouseError as error:
        say(f"glasshouse: {commands_to_paste(str(error))}", file=sys.stderr)
        _tell_help(error)
        raise typer.Exit(LEFT_PAUSED if isinstance(error, LeftPaused) else REFUSED) from error
    except KeyboardInterrupt as stop:
        say("\nglasshouse: stopped. What was written until now is safe.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from stop
    except BrokenPipeError as closed:
        _close_standard_output()
        raise typer.Exit from closed
    except OSError as error:
        if "--strict" in sys.argv:  # It may be of an agent or of a tool: its traceback is asked for.
            raise
        _close_standard_output()
        say(f"glasshouse: {in_words(error)}", file=sys.stderr)
        raise typer.Exit(REFUSED) from error


def _tell_help(error: GlasshouseError) -> None:
    """Where the docs say what to do about a refusal. A run that is left paused has been told of already."""
    if isinstance(error, LeftPaused):
        return
    if "--json" not in sys.argv:
        say(f"Help: {error.help}", file=sys.stderr)
        return
    refusal = {"error": type(error).__name__, "message": commands_to_paste(str(error)), "help": error.help}
    print(json.dumps(refusal, ensure_ascii=False), file=sys.stderr, flush=True)


def _close_standard_output() -> None:
    """Redirect output to nowhere after a closed pipe or a full disk; else Python's last flush would print an error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
