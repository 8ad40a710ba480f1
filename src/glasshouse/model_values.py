"""Values that prompts, completions, errors and the ledger share: `Tokens`, `Form`, `Size` and `Finish`.

Always holds: this module imports nothing of Glasshouse, so a model needs nothing of the engine to use it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Form: TypeAlias = Literal["schema", "json", "prose"]
"""How a reply is asked for: JSON whose schema the server enforces, JSON that the prompt describes, or labelled lines."""

Size: TypeAlias = Literal["tiny", "fast", "balanced", "strong"]
"""The size of a model: a profile that a manifest may ask for, or what the parameters of the model that plays tell."""

Finish: TypeAlias = Literal["stop", "length", "filtered"]
"""Why a model stopped: it was done, it ran out of tokens, or a content filter stopped it."""


class Tokens(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """The tokens of one model call."""

    input_uncached: int = 0
    """Tokens of the prompt that were neither read from nor written to the server's cache."""
    output: int = 0
    """Tokens of the reply, its reasoning included."""
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    """How many of the output tokens are reasoning."""
    is_estimated: bool = False
    """Whether these are the worst case that was reserved, because the server reported nothing."""

    @property
    def input(self) -> int:
        """All tokens of the prompt."""
        return self.input_uncached + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        """All tokens of the prompt and of the reply."""
        return self.input_uncached + self.cache_read + self.cache_write + self.output
