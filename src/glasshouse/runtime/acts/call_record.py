"""The record of one model call: what is known before it is made, and what is recorded when it has ended.

Always holds: a call that was sent and not answered costs what it reserved, because it may have been paid. One that reached no
model is free.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import astuple, replace

from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.events.event import Json
from glasshouse.events.model_use import Call, Usage
from glasshouse.model_values import Tokens
from glasshouse.runtime.minds.faults import failure_of
from glasshouse.runtime.ports import Route
from glasshouse.turns.moment.prompt import (
    Completion,
    Prompt,
    chars_per_token_min,
    count_max,
    digest_and_size,
    reported_chars_max,
    schema_digest,
)

CUT_OFF_CALL: Final = "The call was cut off before it was answered."
digest_cache_texts_max: Final = 1_024
"""Digests of more system messages are computed again."""


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What is known of a call before it is made: the digests of its prompt, and what it may cost at most."""

    system: str
    user: str
    schema: str
    worst: Tokens
    reserved: Usage


def asked_of(route: Route, prompt: Prompt) -> Asked:
    """What is known of a call before it is made."""
    system, system_bytes = _system_facts(prompt.system)
    user, user_bytes = digest_and_size(prompt.user)
    schema = ""
    # More tokens than a text has in any usual tokenizer, which takes at least three bytes for most of them.
    tokens_in = system_bytes // chars_per_token_min + user_bytes // chars_per_token_min + 2
    if prompt.schema is not None:
        known = _schemas_cache.get(id(prompt.schema)) or _kept_schema(prompt.schema)
        schema = known.digest
        if prompt.form == "schema":
            tokens_in += known.tokens_max
    tokens_out = prompt.reply_tokens_max + route.reasoning_tokens_max
    worst = Tokens(tokens_in, tokens_out)
    usd = None if route.price is None else route.price.worst(worst)
    return Asked(system, user, schema, worst, Usage(1, tokens_in + tokens_out, usd or 0.0, usd is None))


_system_facts = lru_cache(maxsize=digest_cache_texts_max)(digest_and_size)
"""Cached, because a creature's system message stays the same from act to act."""


class _Schema(NamedTuple):
    """What is kept of a schema, and the schema itself: so its address in memory stays its own."""

    digest: str
    tokens_max: int
    """More tokens than it has."""
    schema: Json


_schemas_cache: dict[int, _Schema] = {}
"""Schemas by their address in memory. Few are used, by many calls."""


def _kept_schema(schema: Json) -> _Schema:
    if len(_schemas_cache) >= digest_cache_texts_max:
        _schemas_cache.clear()
    tokens_max = len(msgspec.json.encode(schema)) // chars_per_token_min + 1
    known = _schemas_cache[id(schema)] = _Schema(schema_digest(schema), tokens_max, schema)
    return known


def answered_call(
    route: Route, prompt: Prompt, asked: Asked, completion: Completion, queued_ms: float
) -> Call:
    """The record of a call that was answered."""
    return Call(
        completion.model,
        asked.system,
        asked.user,
        prompt.seed,
        completion.text,
        completion.reasoning,
        completion.usage,
        completion.usd,
        completion.milliseconds,
        form=prompt.form,
        schema=asked.schema,
        finish=completion.finish,
        decoding=dict(route.decoding),
        price_source=completion.price_source,
        served_by=completion.served_by,
        response_id=completion.response_id,
        queued_ms=queued_ms or completion.queued_ms,
        load_ms=completion.load_ms,
        first_text_ms=completion.first_text_ms,
    )


def failed_call(route: Route, prompt: Prompt, asked: Asked, wrong: BaseException, queued_ms: float) -> Call:
    """The record of a call that was not answered. If it may have reached a model, it costs what the server says, or what
    was reserved."""
    model = _model_named_by(wrong) or route.name
    about: Json = {
        "model": model[:reported_chars_max].encode("utf-8", "replace").decode(),
        "system": asked.system,
        "user": asked.user,
        "seed": prompt.seed,
        "form": prompt.form,
        "schema": asked.schema,
        "decoding": dict(route.decoding),
        "queued_ms": queued_ms,
    }
    usage = wrong.usage if isinstance(wrong, ModelFailed | ModelMisconfigured) else None
    if usage is None and isinstance(wrong, ModelUnreachable | ModelMisconfigured):
        return Call(**about, reached=False, error=failure_of(wrong))  # It reached no model, so it is free.
    price = route.price
    error = CUT_OFF_CALL if isinstance(wrong, asyncio.CancelledError) else failure_of(wrong)
    if usage is not None and _is_sound(usage):
        # The server has told what it cost.
        return Call(**about, usage=usage, usd=None if price is None else price.of(usage), error=error)
    usd = None if price is None else price.worst(asked.worst)
    return Call(**about, usage=replace(asked.worst, is_estimated=True), usd=usd, error=error)


def _model_named_by(wrong: BaseException) -> str:
    """The model that a failure names, if it names one."""
    return str(wrong.model) if isinstance(wrong, ModelFailed | ModelUnreachable | ModelMisconfigured) else ""


def _is_sound(usage: object) -> bool:
    """Whether a model reports tokens that can be counted, and kept."""
    *counts, is_estimated = astuple(usage) if isinstance(usage, Tokens) else (None, None)
    is_counted = all(type(count) is int and 0 <= count <= count_max for count in counts)
    return is_counted and type(is_estimated) is bool
