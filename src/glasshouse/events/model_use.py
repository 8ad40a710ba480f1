"""The model calls that led to an event: `ModelUse`, with a `Call` for each; `Usage`, the sum of what calls cost; and
`Price`.

Always holds: calls are in the order in which they were made. A call that reached no model has an error and no reply,
and costs nothing. A call that reached a model and has an error has no reply either, and costs its worst case. One call
of unknown price makes the whole sum unknown, never lower. A new field needs a default, so that older events can still
be decoded and keep their digest.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from glasshouse.model_values import Finish, Form, Size, Tokens
from glasshouse.reprs import repr_of


class PromptDigests(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The digests of the two messages of a prompt."""

    __repr__ = repr_of()

    system: str
    user: str


class Call(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """One attempt to ask a model."""

    __repr__ = repr_of("model", "completion", "error")

    model: str
    system: str
    """The digest of the system message; `user` likewise. A store keeps the texts beside the ledger."""
    user: str
    seed: int
    completion: str = ""
    reasoning: str | None = None
    usage: Tokens = Tokens()
    usd: float | None = None
    """None if the price is unknown."""
    milliseconds: float = 0.0
    reached: bool = True
    error: str = ""
    form: Form = "schema"
    schema: str = ""
    """The digest of the JSON Schema of the reply; empty if there was none."""
    finish: Finish = "stop"
    decoding: dict[str, Any] = {}
    """The settings of the sampling that were sent, such as the temperature. What is not here was left to the server."""
    price_source: Literal["server", "route", ""] = ""
    """Who named the price: the server in its answer, or the route."""
    served_by: str = ""
    """What answered: the digest of the model, the server's fingerprint, or the provider behind a broker."""
    response_id: str = ""
    queued_ms: float = 0.0
    """How long the call waited for other calls before it was sent."""
    load_ms: float = 0.0
    """How long the server loaded the model."""
    first_text_ms: float = 0.0
    """When the first text came, counted from the sending."""
    is_own: bool = False
    """Whether an agent made the call by its own means and reported what it cost. Nobody can repeat such a call."""

    @property
    def is_answered(self) -> bool:
        """Whether a model gave a usable answer."""
        return not self.error

    @property
    def has_texts(self) -> bool:
        """Whether it tells what was asked and answered. For other readers than a director, redaction removed that."""
        return bool(self.system)


class ModelUse(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """The model calls that led to an event. If an act's tool events hold all its calls, its last event has none."""

    __repr__ = repr_of("profile", "calls", "as_of")

    profile: str
    as_of: str | None = None
    """The last event that the prompts could include."""
    calls: tuple[Call, ...] = ()
    shown: PromptDigests | None = None
    """The prompt that a model would have got, if the creature used a tool without asking a model."""
    context_tokens: int = 0
    """How many tokens a prompt and its reply could have, if these are not the usual ones of the profile."""
    reply_tokens: int = 0
    """How many tokens a reply could have, if these are not the usual ones of the profile."""
    model_size: Size | Literal[""] = ""
    """The size of the model that the prompts were made for, if that is not the profile."""
    is_untrusted: bool = False
    """Whether the prompts contained words of a visitor, or of a tool that is not part of the engine."""
    is_stale: bool = False
    """Whether the line has no word that its creature had not heard lately."""
    prompting: int = 1
    """The number under which the prompts were built and the replies read (`payloads.prompting_now`)."""

    recalled: tuple[str, ...] = ()
    """The lines that a search of its long memory found for the prompts, oldest first."""

    @property
    def calls_answered(self) -> list[Call]:
        """The calls that a model answered."""
        return [call for call in self.calls if call.is_answered]


class Usage(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """What model calls have cost, or may cost in the worst case."""

    calls: int = 0
    tokens: int = 0
    """Tokens of prompts and replies together."""
    usd_known: float = 0.0
    """What the calls with a known price cost."""
    is_unpriced: bool = False
    """Whether the price of at least one call is unknown."""

    @property
    def usd(self) -> float | None:
        """The total price; none if the price of any call is unknown."""
        return None if self.is_unpriced else self.usd_known

    def plus(self, other: Usage) -> Usage:
        """The sum of both."""
        return Usage(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.usd_known + other.usd_known,
            self.is_unpriced or other.is_unpriced,
        )

    def minus(self, other: Usage) -> Usage:
        """What was used since an earlier count."""
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
    tokens = call.usage
    total = tokens.input_uncached + tokens.cache_read + tokens.cache_write + tokens.output
    return Usage(1, total, call.usd or 0.0, call.usd is None)


class Price(msgspec.Struct, frozen=True, gc=False):
    """Dollars for a million tokens. A price for the cache that is None is the price of input."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def of(self, tokens: Tokens) -> float:
        """The price of these tokens in dollars."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        dollars = tokens.input_uncached * self.input + tokens.cache_read * read + tokens.cache_write * write
        return (dollars + tokens.output * self.output) / 1_000_000

    def worst(self, tokens: Tokens) -> float:
        """The highest price of tokens that were reserved, whichever of them the server will cache."""
        dearest = max(self.input, self.cache_read or 0.0, self.cache_write or 0.0)
        return (tokens.input_uncached * dearest + tokens.output * self.output) / 1_000_000


FREE: Final = Price(0.0, 0.0)
