"""A completion as it may be recorded: its texts bounded, its counts checked, with its price.

Always holds: whatever a model's code returns, the ledger can read it back, or it is refused here. A model that counts no tokens
is not free.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

import msgspec
from msgspec.structs import astuple, replace

from glasshouse.errors import Refused
from glasshouse.model_values import Tokens
from glasshouse.runtime.ports import Route
from glasshouse.turns.moment.prompt import (
    Completion,
    completion_chars_max,
    count_max,
    reasoning_chars_max,
    reported_chars_max,
)


def as_recorded(completion: Completion, route: Route, worst: Tokens) -> Completion:
    """The completion with its texts bounded and without lone surrogates, which UTF-8 cannot encode, and with its price, if
    its route knows one.

    A malformed completion is refused here, because the ledger could not read it back. If the model counts no tokens, the call
    costs what was reserved.
    """
    try:  # The quickest check of all fields and their bounds: lone surrogates, for one, cannot be written.
        completion = _read_completion(_encode(completion))
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.ValidationError):
        completion = _mended(completion)
    for count in astuple(completion.usage):
        if not 0 <= count <= count_max:
            raise Refused(f"The model {completion.model} reports {count} tokens.", "Correct its code.")
    if completion.usd is not None:
        # The server names the price itself.
        return completion if completion.price_source else replace(completion, price_source="server")
    if not completion.usage.total:
        completion = replace(completion, usage=replace(worst, is_estimated=True))
    if route.price is None:
        return completion  # Nobody knows a price.
    usd = route.price.worst(worst) if completion.usage.is_estimated else route.price.of(completion.usage)
    return replace(completion, usd=usd, price_source="route")


def _mended(completion: Completion) -> Completion:
    try:
        fields = {**msgspec.to_builtins(completion, builtin_types=(bytes, Decimal), enc_hook=_plain)}
        for field, chars_max in _TEXTS.items():
            if isinstance(text := fields.get(field), str):
                fields[field] = text[:chars_max].encode("utf-8", "replace").decode()
        return msgspec.convert(fields, Completion)
    except (TypeError, ValueError, RecursionError, msgspec.ValidationError) as wrong:
        raise Refused(f"The model returned a broken completion: {wrong}.", "Correct its code.") from wrong


def _plain(value: object) -> object:
    """A text or a number of a subclass, as some libraries return it, as a plain one."""
    for plain in (str, int, float):
        if isinstance(value, plain):
            return plain(value)  # The plain value that it stands for.
    raise TypeError(f"it holds a value of the type {type(value).__name__}")


_encode: Final = msgspec.msgpack.Encoder().encode
_read_completion: Final = msgspec.msgpack.Decoder(Completion).decode
_TEXTS: Final = {"text": completion_chars_max, "reasoning": reasoning_chars_max} | dict.fromkeys(
    ("model", "served_by", "response_id"), reported_chars_max
)
"""The texts of a completion, and how many characters of each are kept."""
