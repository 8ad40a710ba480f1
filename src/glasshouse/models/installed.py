"""Installed models: which of the models that a server lists may play, and which one plays if only the server is named.

Pure. Always holds: the choice depends on the list alone, never on its order, on dates or on what is loaded. So the same
models are chosen on every start.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from glasshouse.events.model_use import Price
from glasshouse.model_values import Size
from glasshouse.turns.moment.prompt import PROFILES

usual_context_tokens: Final = 8_192
"""The context of a model that was chosen by its server's name alone, if the model has that much."""
usual_parameters_b: Final = 10.0
"""A model that was chosen by its server's name alone is the largest one below this, in billions of parameters."""

DOES_NOT_WRITE: Final = "does not write"
RUNS_ELSEWHERE: Final = "runs elsewhere"
PARAMETERS_B: Final[dict[str, float]] = dict(zip(PROFILES, (4.7, 10.0, 16.0, 36.0), strict=True))
"""Each size is nominally below this many billions of parameters. So a `4B` model with 4.3 billion is `tiny`."""

_BITS: Final = {
    "Q2_K": 2.6, "IQ3_XS": 3.3, "IQ3_M": 3.7, "Q3_K_S": 3.5, "Q3_K_M": 3.9, "Q3_K_L": 4.3, "IQ4_XS": 4.25, "IQ4_NL": 4.5,
    "MXFP4": 4.25, "NVFP4": 4.5, "4BIT": 4.5, "AWQ": 4.5, "GPTQ": 4.5, "Q4_0": 4.55, "Q4_K_S": 4.58, "Q4_K_M": 4.85,
    "Q4_1": 5.0, "Q4_K_L": 5.0, "Q5_0": 5.5, "Q5_K_S": 5.54, "Q5_K_M": 5.7, "Q5_1": 6.0, "6BIT": 6.5, "Q6_K": 6.56,
    "Q8_0": 8.5, "8BIT": 8.5, "FP8": 8.0, "F16": 16.0, "FP16": 16.0, "BF16": 16.0, "F32": 32.0, "FP32": 32.0,
}  # fmt: skip
"""About how many bits a weight takes."""

_PARAMETERS = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?e?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
_WORDS = re.compile(r"[^a-z0-9]+")
_EMBEDS = re.compile(r"(.*embed.*|.*rerank.*|bge|gte|e5|.*minilm.*|.*bert)")
_CODES = re.compile(r"(code.*|.*coder\d*|starcoder.*|devstral.*)")
_GUARDS = re.compile(r"(.*guard\d*|.*guardian|shield.*|.*moderation)")
_CONTINUES_TEXT = frozenset({"base", "text", "pt"})
_ALWAYS_THINKS = re.compile(r"(.*thinking|.*thinker|.*reasoning|.*reasoner|qwq|r1|oss|magistral.*)")
_NO_TEMPLATE = "{{ .Prompt }}"
"""The template of a model in Ollama that was not trained to talk: it continues its prompt."""


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """A model that a server lists. What the server does not say is None or empty."""

    name: str
    digest: str = ""
    parameters_b: float | None = None
    """Billions of parameters."""
    quantization: str = ""
    context_tokens: int | None = None
    """The longest context that the server would give it: what it gives now, or else what the model was trained for."""
    context_tokens_unasked: int | None = None
    """The context that the server gives it if nobody asks for another, where that may be shorter."""
    bytes: int | None = None
    is_remote: bool = False
    """Whether another machine runs it, although a server here lists it."""
    capabilities: frozenset[str] | None = None
    """For example `completion`, `embedding`, `thinking`."""
    template: str = ""
    decoding: Mapping[str, Any] = {}
    """How it is asked to sample if nobody says how. Empty: as its server does by itself."""
    slots: int | None = None
    """How many calls its server answers at the same time."""
    price: Price | None = None
    unfit: str = ""
    """Why it is never chosen by itself, if that was found out otherwise than by its name and its capabilities."""

    @property
    def parameters(self) -> float | None:
        """Billions of parameters, as the server says or as the name does."""
        return self.parameters_b if self.parameters_b is not None else parameters_in(self.name)

    @property
    def context_tokens_usual(self) -> int:
        """The context that it gets if nobody says otherwise."""
        known = (self.context_tokens, self.context_tokens_unasked)
        return min([usual_context_tokens, *[tokens for tokens in known if tokens]])


def parameters_in(name: str) -> float | None:
    """The billions of parameters that a model's name tells, such as 8 for `qwen3:8b`."""
    match = _PARAMETERS.search(name.lower())
    if match is None:
        return None
    experts, number, unit = match.groups()
    return int(experts or 1) * float(number) / (1 if unit == "b" else 1_000)


def size_of(parameters_b: float | None) -> Size | Literal[""]:
    """The size of a model with this many billions of parameters; empty if nobody knows how many it has."""
    if parameters_b is None:
        return ""
    return next((size for size in PROFILES if parameters_b < PARAMETERS_B[size]), PROFILES[-1])


def in_words(parameters_b: float) -> str:
    """Billions of parameters as people write them: 8.2B, 600M, 79K."""
    for unit, size in (("B", 1.0), ("M", 1e-3), ("K", 1e-6)):
        if parameters_b >= size:
            return f"{parameters_b / size:.3g}{unit}"
    return f"{parameters_b * 1e9:.0f}"


def why_not_chosen(model: Installed) -> str:
    """Why a model is never chosen by its server's name alone, in a few words; empty if it may be."""
    words = set(filter(None, _WORDS.split(model.name.lower())))
    can = model.capabilities
    if model.unfit:
        return model.unfit
    if model.is_remote or words & {"cloud"}:
        return RUNS_ELSEWHERE
    if (can is not None and "completion" not in can) or any(map(_EMBEDS.fullmatch, words)):
        return DOES_NOT_WRITE
    if any(map(_CODES.fullmatch, words)):
        return "writes code"
    if any(map(_GUARDS.fullmatch, words)):
        return "guards"
    if words & _CONTINUES_TEXT or model.template.strip() == _NO_TEMPLATE:
        return "continues text"
    return ""


def always_thinks(model: Installed) -> bool:
    """Whether a model is known to think before each answer, whatever it is asked."""
    return any(map(_ALWAYS_THINKS.fullmatch, filter(None, _WORDS.split(model.name.lower()))))


def cannot_play(model: Installed) -> bool:
    """Whether the server itself says that a model does not write, or that another machine runs it, which may cost something.
    What a name says is left aside."""
    return model.is_remote or (model.capabilities is not None and "completion" not in model.capabilities)


def chosen_from(installed: Iterable[Installed]) -> Installed | None:
    """The one model that plays every size: the largest below 10 billion parameters, otherwise the smallest. If there is none, the
    only model, or the only one that writes, whatever else its name says (ADR 0127)."""
    listed = [*installed]
    fit = [model for model in listed if not why_not_chosen(model)]
    return min(fit, key=_rank) if fit else only_one_of(listed)


def only_one_of(listed: Collection[Installed]) -> Installed | None:
    """The model that is the server's only one, or the only one that writes here; none if there are several, or if the server
    says that it cannot play. Whoever started a server with one model meant that model; a file that is too small to play was
    perhaps only never deleted."""
    able = [model for model in listed if not cannot_play(model) and not model.unfit]
    writes = [model for model in able if why_not_chosen(model) not in {DOES_NOT_WRITE, RUNS_ELSEWHERE}]
    for candidates in (able, writes):
        if len(candidates) == 1:
            return candidates[0]
    return None


def _rank(model: Installed) -> tuple[int, float, bool, float, str]:
    """Smaller is better. Sizes that differ by less than a tenth of a billion are the same size."""
    parameters = model.parameters
    if parameters is None:
        size = (2, 0.0)
    elif parameters < usual_parameters_b:
        size = (0, -round(parameters, 1))
    else:
        size = (1, round(parameters, 1))
    return (*size, always_thinks(model), _bits_from_usual(model), model.name)


def _bits_from_usual(model: Installed) -> float:
    """How far its quantization is from Q4_K_M. An unknown one is taken for 16 bits."""
    texts = (model.quantization.upper(), model.name.upper())
    named = [name for name in sorted(_BITS, key=len, reverse=True) if any(name in text for text in texts)]
    return abs(_BITS[named[0]] - _BITS["Q4_K_M"]) if named else abs(16.0 - _BITS["Q4_K_M"])
