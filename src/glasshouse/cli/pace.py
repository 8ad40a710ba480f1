"""How fast a run goes on the screen, and how long reading a line takes."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Final

words_per_minute: Final = 300
line_milliseconds_min: Final = 800
line_milliseconds_max: Final = 7_000


class Pace(StrEnum):
    """At the pace of a reader, or all at once."""

    READING = "reading"
    FAST = "fast"


def pace_here(wanted: Pace | None) -> Pace:
    """The pace that was asked for; else that of a reader on a terminal, and fast in a pipe."""
    return wanted or (Pace.READING if sys.stdout.isatty() else Pace.FAST)


def seconds_to_read(text: str) -> float:
    """How long an average reader takes."""
    milliseconds = len(text.split()) * 60_000 / words_per_minute
    return min(line_milliseconds_max, max(line_milliseconds_min, milliseconds)) / 1_000
