"""`Prompt` and `Completion`: what a model gets and returns, shared by every backend, the record and the replay.

Always holds: this module imports nothing of the engine but a few values, so a model such as the offline troupe needs
only this module.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from glasshouse.model_values import Finish, Form, Size, Tokens
from glasshouse.reprs import repr_of

Json: TypeAlias = dict[str, Any]

# The headings of a prompt's sections. What a creature heard is quoted below them, so no line can forge a heading.
FOREIGN_TOOLS: Final = "TOOLS OF OTHERS"
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
VOICE: Final = "You have said these lines before; never say them again:"
VOICE_TO_REPEAT: Final = "Lines in your voice:"
VOICE_HEADINGS: Final = (VOICE, VOICE_TO_REPEAT)
"""The headings of the lines in a creature's voice: as it is, and for one that may repeat itself."""


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
    form: Form = "schema"
    """How the reply is asked for. The schema says in every form what may be answered; a backend sends it only in the form
    `schema`. In the form `prose` the model writes it as `as_prose` does."""
    stop: tuple[str, ...] = ()
    """Texts at which the model stops."""

    @property
    def digest(self) -> str:
        """A digest of all that decides what a model may answer: both texts, the schema and the form."""
        parts = (text_digest(self.system), text_digest(self.user), schema_digest(self.schema), self.form)
        return text_digest(" ".join(parts))


completion_chars_max: Final = 64_000
"""How much of a reply is kept. What reads replies looks at less than that."""
reasoning_chars_max: Final = 16_000
"""The rest of a model's reasoning is not stored."""
reported_chars_max: Final = 200
"""How long the names may be that a server reports: of its model, of what served it, of the response."""
count_max: Final = 1_000_000_000_000
"""No call has more tokens, milliseconds or dollars: a backend that says so is broken, and a ledger could not keep it."""

ReportedName: TypeAlias = Annotated[str, Meta(max_length=reported_chars_max)]
Amount: TypeAlias = Annotated[float, Meta(ge=0, le=count_max)]


class Completion(msgspec.Struct, frozen=True, gc=False):
    """What a model returned, and what it cost. The fields without a comment are described in `Call`.

    The engine checks the bounds, and cuts texts that are longer."""

    __repr__ = repr_of("text", "model", "usage")

    text: Annotated[str, Meta(max_length=completion_chars_max)]
    model: ReportedName
    usage: Tokens = Tokens()
    usd: Amount | None = None
    """None if the model names no price; its route may know one."""
    reasoning: Annotated[str, Meta(max_length=reasoning_chars_max)] | None = None
    milliseconds: Amount = 0.0
    finish: Finish = "stop"
    price_source: Literal["server", "route", ""] = ""
    served_by: ReportedName = ""
    response_id: ReportedName = ""
    queued_ms: Amount = 0.0
    load_ms: Amount = 0.0
    first_text_ms: Amount = 0.0


seed_bits: Final = 31
"""Servers keep 32 bits of a seed, some of them with a sign."""


def seed_of(key: object, attempt: int) -> int:
    """The seed that belongs to a key and the number of an attempt."""
    digest = blake2b(f"{key}/{attempt}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) >> (32 - seed_bits)


_PROSE_LABELS: Final = {"thought": "THINK", "text": "SAY"}


def prose_label(name: str, names: Collection[str]) -> str:
    """The word before a field in prose, as `SAY`. A field that is called so itself keeps its own name."""
    label = _PROSE_LABELS.get(name, name.upper())
    return name.upper() if label.lower() in names else label


def as_prose(reply: Json) -> str:
    """A reply as prose: one line for each field, with its label. The arguments of a tool stand below `ARGUMENTS:`."""
    lines: list[str] = []
    # The arguments come last: below them only the tool's own labels count.
    for name, value in sorted(reply.items(), key=lambda field: isinstance(field[1], dict)):
        if isinstance(value, dict):
            lines += [f"{name.upper()}:", *[f"{part.upper()}: {_in_prose(value[part])}" for part in value]]
        else:
            lines.append(f"{prose_label(name, reply)}: {_in_prose(value)}")
    return "\n".join(lines)


def _in_prose(value: Any) -> str:
    if isinstance(value, str):
        return value
    return (
        "; ".join(map(_in_prose, value)) if isinstance(value, list) else msgspec.json.encode(value).decode()
    )


def text_digest(text: str) -> str:
    """The digest of a text: thirty-two hexadecimal characters."""
    return digest_and_size(text)[0]


def digest_and_size(text: str) -> tuple[str, int]:
    """The digest of a text, and how many bytes it has."""
    encoded = text.encode("utf-8", "surrogatepass")
    return blake2b(encoded, digest_size=16).hexdigest(), len(encoded)


def schema_digest(schema: Json | None) -> str:
    """The digest of a JSON Schema; empty if there is none."""
    return "" if schema is None else text_digest(_encode_sorted(schema).decode())


_encode_sorted: Final = msgspec.json.Encoder(order="sorted").encode

chars_per_token_min = 3
"""A cautious guess without a tokenizer: real text usually has more characters per token, so real counts are lower."""


def tokens_guessed(text: str) -> int:
    """A cautious estimate of the tokens in a text, for budgets and for cutting prompts."""
    return len(text) // chars_per_token_min + 1


PROFILES: Final[tuple[Size, ...]] = ("tiny", "fast", "balanced", "strong")
"""The model sizes that a manifest may ask for. The limits below hold unless a profile is bound with others."""
CONTEXT_TOKENS: Final = {"tiny": 4_096, "fast": 8_192, "balanced": 16_384, "strong": 32_768}
REPLY_TOKENS: Final = {"tiny": 256, "fast": 384, "balanced": 512, "strong": 768}
