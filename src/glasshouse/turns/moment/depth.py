"""`PromptDepth`: how much a prompt shows, and how long a thought it asks for, by the size of the model that plays.

Always holds: there is one value for each size, so caches compare them by identity. A `window` in a manifest comes
before the window here, and a judge sees all lines that fit (ADR 0126).
"""

from __future__ import annotations

from typing import Final

import msgspec

from glasshouse.turns.moment.prompt import PROFILES


class PromptDepth(msgspec.Struct, frozen=True, gc=False):
    """What a prompt holds for a model of one size."""

    window_lines_max: int
    """How many of the latest lines a prompt shows, if the manifest does not say."""
    voice_lines_max: int
    """How many example lines of a voice a prompt shows; more are left out."""
    thought_asked_chars_max: int
    """The schema asks for no longer thought."""


DEPTHS: Final = dict(
    zip(
        PROFILES,
        (
            PromptDepth(window_lines_max=6, voice_lines_max=8, thought_asked_chars_max=160),
            PromptDepth(window_lines_max=8, voice_lines_max=8, thought_asked_chars_max=320),
            PromptDepth(window_lines_max=12, voice_lines_max=8, thought_asked_chars_max=480),
            PromptDepth(window_lines_max=16, voice_lines_max=8, thought_asked_chars_max=480),
        ),
        strict=True,
    )
)
"""Size -> depth. Small models lose the thread in long discussions, and think in circles when they think long."""
USUAL_DEPTH: Final = DEPTHS["fast"]
"""The depth of a moment that nobody gave another."""
