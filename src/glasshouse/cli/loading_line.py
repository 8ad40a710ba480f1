"""The line that says how far a model in a file is loaded: one that is drawn over on a terminal, and a few lines elsewhere.

Always holds: it is written to standard error, so that what a command prints for machines stays whole.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from glasshouse.assembly import Loading

quiet_seconds_min: Final = 1.0
"""What takes less is not worth a line."""
line_seconds: Final = 10.0
"""Where nothing can be drawn over, a line comes so often."""


class LoadingLine:
    """Shows how far models are loaded."""

    def __init__(self) -> None:
        self._said_at: dict[tuple[str, str], float] = {}

    def __call__(self, loading: Loading) -> None:
        """Show a step, or take it away when it is over."""
        if sys.stderr.isatty():
            print(f"\r\033[K{in_words(loading)}", end="", file=sys.stderr, flush=True)
        elif loading.step != "over" and loading.seconds >= quiet_seconds_min:
            step = loading.name, loading.step
            if loading.seconds - self._said_at.get(step, -line_seconds) >= line_seconds:
                self._said_at[step] = loading.seconds
                print(f"glasshouse: {in_words(loading)}", file=sys.stderr, flush=True)


def in_words(loading: Loading) -> str:
    """One step as a sentence; empty if it is over."""
    if loading.step == "over":
        return ""
    size = f"{loading.bytes_total / 1e9:.1f} GB"
    if loading.step == "reading":
        share = loading.bytes_done / max(1, loading.bytes_total)
        return f"Reading {loading.name}: {share:.0%} of {size}."
    return f"Loading {loading.name} ({size}) into llama.cpp: {loading.seconds:.0f} s."
