"""How long it takes to read something. Pure."""

from __future__ import annotations

from typing import Final

words_per_minute: Final = 230
line_seconds_min: Final = 0.8
line_seconds_max: Final = 15.0


def seconds_to_read(text: str) -> float:
    """As long as somebody takes who reads neither fast nor slowly."""
    return min(line_seconds_max, max(line_seconds_min, len(text.split()) * 60 / words_per_minute))
