"""How fast a show goes on the screen."""

from __future__ import annotations

from enum import StrEnum


class Pace(StrEnum):
    """At the pace of a reader, or all at once."""

    READING = "reading"
    FAST = "fast"
