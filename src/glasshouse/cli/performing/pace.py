"""How fast a show goes on the screen."""

from __future__ import annotations

import sys
from enum import StrEnum


class Pace(StrEnum):
    """At the pace of a reader, or all at once."""

    READING = "reading"
    FAST = "fast"


def pace_here(wanted: Pace | None) -> Pace:
    """The pace that was asked for; else that of a reader on a terminal, and none in a pipe."""
    return wanted or (Pace.READING if sys.stdout.isatty() else Pace.FAST)
