"""The model calls behind an event: `ModelUse`, with a `Call` for each; and `Usage`, what calls cost together.

Always holds: calls are in the order in which they were made; a call that reached no model has an error and no reply,
and costs nothing. A call of unknown price makes the sum of money unknown, never lower.
A new field gets a default, so that older events are still read and keep their digest.
"""

from __future__ import annotations

from typing import Final

import msgspec

from glasshouse.reprs import repr_of


class Tokens(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The length of one prompt and of its answer, as the model counted them."""

    input: int = 0
    output: int = 0


class PromptDigests(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The two messages of a prompt, each by the digest of its text."""

    system: str
    user: str


class Call(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """One attempt to ask a model."""

    __repr__ = repr_of("model", "completion", "error")

    model: str
    system: str
    """The digest of the system message; `user` likewise. The texts are kept beside the ledger."""
    user: str
    seed: int
    completion: str = ""
    reasoning: str | None = None
    usage: Tokens = Tokens()
    usd: float | None = None
    """None where nobody knows the price."""
    milliseconds: float = 0.0
    reached: bool = True
    error: str = ""


class ModelUse(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """The model calls behind an event. An act that told its calls earlier, on a tool's event, ends with none."""

    __repr__ = repr_of("profile", "calls", "as_of")

    profile: str
    as_of: str | None = None
    """The last event that the prompts could see."""
    calls: tuple[Call, ...] = ()
    shown: PromptDigests | None = None
    """The prompt that a model would have got, where the creature asked none and used a tool."""
    is_untrusted: bool = False
    """Whether words of a visitor, or of a tool that is not the engine's, were in the prompts."""

    @property
    def calls_answered(self) -> list[Call]:
        """Those that reached a model."""
        return [call for call in self.calls if call.reached]


class Usage(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """What something cost, or at worst may cost."""

    calls: int = 0
    tokens: int = 0
    """Of prompts and answers together."""
    usd_known: float = 0.0
    """What the calls of a known price cost."""
    is_unpriced: bool = False
    """Whether the price of some call is unknown."""

    @property
    def usd(self) -> float | None:
        """The whole price; none if that of some call is unknown."""
        return None if self.is_unpriced else self.usd_known

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.usd_known + other.usd_known,
            self.is_unpriced or other.is_unpriced,
        )

    def minus(self, other: Usage) -> Usage:
        """The difference to an earlier count."""
        return Usage(
            self.calls - other.calls,
            self.tokens - other.tokens,
            self.usd_known - other.usd_known,
            self.is_unpriced,
        )


NOTHING: Final = Usage()


def usage_of(call: Call) -> Usage:
    """What one call cost."""
    if not call.reached:
        return NOTHING
    return Usage(1, call.usage.input + call.usage.output, call.usd or 0.0, call.usd is None)
