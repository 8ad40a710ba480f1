"""How long an average reader needs for a line."""

from __future__ import annotations

from typing import Final

words_per_minute: Final = 300
line_milliseconds_min: Final = 800
"""A reader gets at least this time for a line."""
line_milliseconds_max: Final = 7_000
"""A reader gets at most this time for a line."""


def seconds_to_read(text: str) -> float:
    """How long an average reader needs for a text."""
    milliseconds = len(text.split()) * 60_000 / words_per_minute
    return min(line_milliseconds_max, max(line_milliseconds_min, milliseconds)) / 1_000
