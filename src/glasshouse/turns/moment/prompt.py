"""`Prompt` and `Completion`: what a model gets and returns, shared by every backend, the record and the replay.

Always holds: this module imports nothing of the engine, so a model such as the offline troupe needs only this module.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Final, TypeAlias

import msgspec

from glasshouse.reprs import repr_of

Json: TypeAlias = dict[str, Any]

# The headings of a prompt's sections. What a creature heard is quoted below them, so no line can forge a heading.
DISCUSSION: Final = "THE DISCUSSION"
AROUND: Final = "AROUND YOU"
SCENE: Final = "THE SCENE"
KNOWN: Final = "WHAT YOU KNOW ALONE"
REMEMBERED: Final = "WHAT YOU REMEMBER"
DISTURBANCES: Final = "DISTURBANCES"
TOOLS_SAID: Final = "WHAT YOUR TOOLS SAID"
ANSWERED: Final = "WHAT YOU ANSWER NOW"
LAST_ANSWER: Final = "YOUR LAST ANSWER"
HOW_TO_ANSWER: Final = "HOW TO ANSWER"


class Prompt(msgspec.Struct, frozen=True, gc=False):
    """Everything a model gets to see. The same prompt and seed may be answered from a record."""

    __repr__ = repr_of("digest", "user")

    system: str
    user: str
    schema: Json | None = None
    seed: int = 0
    reply_tokens_max: int = 384
    is_untrusted: bool | None = None
    """Whether it contains words of a visitor or of a tool that is not the engine's; none if this was not checked."""

    @property
    def digest(self) -> str:
        """A digest of both texts. Two prompts with different digests showed a model different texts."""
        return text_digest(f"{text_digest(self.system)}{text_digest(self.user)}")


class Completion(msgspec.Struct, frozen=True, gc=False):
    """What a model returned, and what it cost. `usd` is none if the price is unknown."""

    __repr__ = repr_of("text", "model", "output_tokens")

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    reasoning: str | None = None
    milliseconds: float = 0.0


def text_digest(text: str) -> str:
    """The digest of a text: thirty-two hexadecimal characters."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


chars_per_token_min = 3
"""A cautious guess without a tokenizer: real text usually has more characters per token, so real counts are lower."""


def tokens_guessed(text: str) -> int:
    """A cautious estimate of the tokens in a text, for budgets and for cutting prompts."""
    return len(text) // chars_per_token_min + 1


PROFILES: Final = ("tiny", "fast", "balanced", "strong")
"""The model sizes that a manifest may ask for. The limits below hold unless a profile is bound with others."""
CONTEXT_TOKENS: Final = {"tiny": 4_096, "fast": 8_192, "balanced": 16_384, "strong": 32_768}
REPLY_TOKENS: Final = {"tiny": 256, "fast": 384, "balanced": 512, "strong": 768}
