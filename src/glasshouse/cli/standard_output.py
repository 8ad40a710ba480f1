"""Standard output, and who may write to it: with --json only the JSON objects, because programs read each line.

Always holds: while a command with --json runs, what anything else prints, such as a tool of a world, goes to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from typing import Any, TextIO

_kept: list[TextIO] = []
"""Standard output while it is kept for JSON."""


def standard_output() -> TextIO:
    """The stream that a command's own output goes to."""
    return _kept[-1] if _kept else sys.stdout


def prints_json_alone(command: Callable[..., None]) -> Callable[..., None]:
    """A command that keeps standard output for its JSON objects if it is given --json."""

    @wraps(command)
    def kept(*given: Any, **options: Any) -> None:
        if not options.get("as_json"):
            command(*given, **options)
            return
        with _kept_for_json():
            command(*given, **options)

    return kept


@contextmanager
def _kept_for_json() -> Iterator[None]:
    _kept.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _kept.pop()
