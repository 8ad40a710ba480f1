"""The sizes of model that a manifest may ask for, and how much each can read and say unless it is bound otherwise."""

from __future__ import annotations

from typing import Final

PROFILES: Final = ("tiny", "fast", "balanced", "strong")
CONTEXT_TOKENS: Final = {"tiny": 4_096, "fast": 8_192, "balanced": 16_384, "strong": 32_768}
REPLY_TOKENS: Final = {"tiny": 256, "fast": 384, "balanced": 512, "strong": 768}
