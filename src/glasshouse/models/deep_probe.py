"""A deep probe: asks a model a few questions to find out what its server really does. The questions cost a few calls.

Always holds: it uses only `complete`, so it finds what a play would find. A small model may answer a question wrongly
by itself. So a check is bad only if the server shows it too: by its count of tokens, by a failed call, or because the
schema had to be given up.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable
from typing import Final, Protocol, TypeVar

from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.events.event import Json
from glasshouse.model_values import Form
from glasshouse.runtime.ports import OnProbe, OnProgress, OnText, ProbeCheck, ProbeStep
from glasshouse.turns.moment.prompt import Completion, Prompt

context_tokens_probed_max: Final = 16_384
"""A longer context is probed up to this length only, because the probe is paid for."""
repeats_max: Final = 4
"""How often a call is made again after a server refused something that can be left out."""
probe_reply_tokens: Final = 160

whole_prompt_part_min: Final = 0.88
"""A prompt was cut if the server counted less than this part of what its length lets one expect."""

step_seconds_max: Final = 90.0
"""One step of a probe that takes longer is given up, and that is what was found out: a play would wait as long for each line. A
model that is loaded from a slow disk needs most of it."""

_TOO_SLOW: Final = "It may still be loading: try again. If it stays so slow, choose a smaller model."
_SHORTEN: Final = (
    "Prompts of that length take too long to read. Lower context_tokens, or choose a smaller model."
)
_ESTIMATED: Final = "They are estimated, and marked so in the record."
_SCHEMA: Final[Json] = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "weather.told"}, "text": {"type": "string", "maxLength": 200}},
            "required": ["kind", "text"],
            "additionalProperties": False,
        }
    ]
}
_FILLER: Final = "Row {} of the beans wants water before noon, and so does the next one.\n"
_chars_measured: Final = 2_400


T = TypeVar("T")


class Probed(Protocol):
    """What a deep probe needs of a model."""

    name: str
    form: Form
    remarks: tuple[str, ...]

    async def complete(
        self, prompt: Prompt, *, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> Completion:
        """The model's answer."""


async def deep_checks(
    model: Probed, context_tokens: int, cache_advice: str, on_probe: OnProbe | None = None
) -> tuple[ProbeCheck, ...]:
    """The checks that need the model itself. `cache_advice` says how its server keeps the beginnings of prompts; `on_probe` is
    told each step and each check."""
    checks: list[ProbeCheck] = []
    tell = on_probe or _nobody
    try:
        async for check in _checks(model, context_tokens, cache_advice, tell):
            checks.append(check)
            tell(check)
    except (ModelUnreachable, ModelFailed, ModelMisconfigured) as wrong:
        checks.append(ProbeCheck("answers", is_good=False, advice=str(wrong)))
        tell(checks[-1])
    return tuple(checks)


async def _checks(
    model: Probed, context_tokens: int, cache_advice: str, tell: OnProbe
) -> AsyncIterator[ProbeCheck]:
    """One check after the other. It ends with one that did not end in time: the next would ask for more."""
    try:
        yield await _within(tell, "a reply under a JSON Schema", _schema_check(model))
        measured = _prompt(_filler(min(_chars_measured, context_tokens)), "Say good evening.")
        reply = await _within(tell, "a reply that counts its tokens", _reply_to(model, measured))
    except TimeoutError:
        yield ProbeCheck(f"answers within {step_seconds_max:g} seconds", is_good=False, advice=_TOO_SLOW)
        return
    is_counted = not reply.usage.is_estimated
    yield ProbeCheck("reports tokens", is_good=is_counted, advice="" if is_counted else _ESTIMATED)
    tokens_a_char = reply.usage.input / (len(measured.system) + len(measured.user))
    room = min(context_tokens, context_tokens_probed_max) - probe_reply_tokens
    # A tenth is left free for the marks round each message.
    filler = _filler(int(room * 0.9 / max(tokens_a_char, 0.01)))
    what = f"a prompt of about {room * 0.9:,.0f} tokens"
    try:
        yield await _within(tell, what, _whole_prompt_check(model, filler, tokens_a_char))
        again = _reply_to(model, _prompt(filler, "Say good night."))
        is_cached = (await _within(tell, f"{what} with the same beginning", again)).usage.cache_read > 0
    except TimeoutError:
        yield ProbeCheck(f"reads {what} within {step_seconds_max:g} seconds", is_good=False, advice=_SHORTEN)
        return
    yield ProbeCheck(
        "reads the beginning of a prompt from its cache",
        is_good=True if is_cached else None,
        advice="" if is_cached else cache_advice,
    )


async def _within(tell: OnProbe, what: str, work: Awaitable[T]) -> T:
    """The result of one step, which is told first. Raises `TimeoutError` if it takes too long."""
    tell(ProbeStep(what, step_seconds_max))
    async with asyncio.timeout(step_seconds_max):
        return await work


def _nobody(_news: ProbeStep | ProbeCheck) -> None:
    """Nobody is told."""


async def _schema_check(model: Probed) -> ProbeCheck:
    """Ask for a sentence, so that only a server which enforces the schema gives JSON. The model may learn from the
    first replies and change what it sends, so ask until nothing changes."""
    prompt = Prompt("You write sentences.", "Write a sentence about rain.", _SCHEMA, 1, probe_reply_tokens)
    reply = await _reply_to(model, prompt)
    remarks: tuple[str, ...] = ()
    while remarks != model.remarks and model.form == "schema":
        remarks = model.remarks
        reply = await _reply_to(model, prompt)
    if model.form != "schema":
        return ProbeCheck("holds replies to a JSON Schema", is_good=False, advice=" ".join(model.remarks))
    thinking = "and thinks before it replies" if reply.reasoning else "with thinking off"
    return ProbeCheck(
        f"holds replies to a JSON Schema {thinking}", is_good=True, advice=" ".join(model.remarks)
    )


async def _whole_prompt_check(model: Probed, filler: str, tokens_a_char: float) -> ProbeCheck:
    word = f"heron-{secrets.token_hex(3)}"
    prompt = _prompt(
        f"The password is {word}.\n{filler}", "What is the password in the first line? Write it alone."
    )
    reply = await _reply_to(model, prompt)
    tokens = reply.usage
    what = f"reads a prompt of {tokens.input:,} tokens whole"
    if word in f"{reply.text} {reply.reasoning}":
        return ProbeCheck(what, is_good=True)
    if tokens.is_estimated:
        return ProbeCheck(
            what, advice="A word of the first line did not come back, and no tokens are counted."
        )
    expected = int(tokens_a_char * (len(prompt.system) + len(prompt.user)))
    if tokens.input < expected * whole_prompt_part_min:
        advice = (
            f"It should have {expected:,} tokens, so it was cut. Raise the context that its server gives it."
        )
        return ProbeCheck(what, is_good=False, advice=advice)
    advice = "A word of the first line did not come back; small models may miss it. The counts show no cut."
    return ProbeCheck(what, advice=advice)


async def _reply_to(model: Probed, prompt: Prompt) -> Completion:
    for repeat in range(repeats_max):
        try:
            return await model.complete(prompt)
        except ModelUnreachable as refused:
            if refused.retry_after != 0.0 or repeat + 1 == repeats_max:
                raise
    raise ModelUnreachable(f"{model.name} refuses one thing after another.")


def _prompt(system: str, user: str) -> Prompt:
    return Prompt(system, user, None, 1, probe_reply_tokens, None, "json")


def _filler(chars: int) -> str:
    line_chars = len(_FILLER.format(100))
    return "".join([_FILLER.format(number) for number in range(100, 101 + chars // line_chars)])
