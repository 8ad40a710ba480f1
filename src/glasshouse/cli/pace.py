"""How fast a show goes on the screen."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Final

seconds_per_word: Final = 0.24
seconds_per_line: Final = 0.4
pause_seconds_max: Final = 8.0


class Pace(StrEnum):
    """At the pace of a reader, or all at once."""

    READING = "reading"
    FAST = "fast"


def pace_here(wanted: Pace | None) -> Pace:
    """The pace that was asked for; else that of a reader on a terminal, and none in a pipe."""
    return wanted or (Pace.READING if sys.stdout.isatty() else Pace.FAST)


def seconds_to_read(text: str) -> float:
    """How long a reader takes."""
    return min(pause_seconds_max, seconds_per_line + seconds_per_word * len(text.split()))
