"""How a command ends: 0 done, 1 a check failed, 2 wrong usage, 3 refused or not found, 130 interrupted.

Always holds: what was raised on purpose is told in words, on standard error; what was not expected crashes loudly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from glasshouse.errors import GlasshouseError

CHECK_FAILED: Final = 1
REFUSED: Final = 3
INTERRUPTED: Final = 130


@contextmanager
def in_words() -> Iterator[None]:
    """Turn what a command raises on purpose into a message and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except GlasshouseError as error:
        print(f"glasshouse: {error}", file=sys.stderr)
        raise typer.Exit(REFUSED) from error
    except KeyboardInterrupt as stop:
        print("\nglasshouse: stopped. What was written until now is safe.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from stop
    except BrokenPipeError as gone:
        _write_no_more()
        raise typer.Exit from gone
    except OSError as error:
        _write_no_more()
        print(
            f"glasshouse: {_told(error)} Make room or choose another place, then try again.", file=sys.stderr
        )
        raise typer.Exit(REFUSED) from error


def _told(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}."


def _write_no_more() -> None:
    """Nobody can read on, because `head` has seen enough or the disk is full: let the last flush be quiet too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
