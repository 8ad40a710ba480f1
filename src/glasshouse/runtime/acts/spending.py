"""Model calls that an agent makes by its own means: `moment.spending` counts them on the run's purse (ADR 0090).

Always holds: the worst case is reserved before the block begins, so a limit refuses the call before it is made. What was
reported is recorded. A block that ends without a report costs its worst case, because the call may have been made. The
calls of one act, of whichever kind, come one after another.
"""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Any

from msgspec.structs import replace

from glasshouse.errors import Refused, in_brief
from glasshouse.events.model_use import Call, Usage
from glasshouse.model_values import Tokens
from glasshouse.runtime.acts.act_calls import ActCalls
from glasshouse.runtime.acts.asking import ModelAccess
from glasshouse.runtime.acts.call_record import CUT_OFF_CALL
from glasshouse.runtime.minds.faults import failure_of
from glasshouse.turns.moment.prompt import completion_chars_max, count_max, reported_chars_max, text_digest


class Spending:
    """The block round one call."""

    def __init__(
        self,
        models: ModelAccess,
        act_calls: ActCalls,
        model: str,
        tokens_max: int,
        usd_max: float | None,
    ) -> None:
        _check_counts((tokens_max,), usd_max)
        self._models = models
        self._act_calls = act_calls
        self._worst = Usage(1, tokens_max, usd_max or 0.0, usd_max is None)
        self._prompt = ""
        self._usd_max = usd_max
        nothing = text_digest("")
        self.call = Call(
            _storable(model, reported_chars_max),
            nothing,
            nothing,
            seed=0,
            usage=Tokens(tokens_max, is_estimated=True),
            usd=usd_max,
            form="prose",
            is_own=True,
        )
        """What is recorded when the block ends: the worst case, until something is reported."""
        self._is_reported = False

    def report(
        self,
        *,
        input_tokens: int,
        output_tokens: int,
        usd: float | None = None,
        prompt: str = "",
        reply: str = "",
    ) -> None:
        """Say what the call cost. `prompt` and `reply` are kept with it, for `why`."""
        _check_counts((input_tokens, output_tokens), usd)
        self._prompt = _storable(prompt, completion_chars_max)
        self._is_reported = True
        self.call = replace(
            self.call,
            user=text_digest(self._prompt),
            completion=_storable(reply, completion_chars_max),
            usage=Tokens(input_tokens, output_tokens),
            usd=self._usd_max if usd is None else usd,
        )

    async def __aenter__(self) -> Spending:
        await self._models.begin_own(self._act_calls, self._worst)
        self._began = asyncio.get_running_loop().time()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, wrong: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if wrong is not None and not self._is_reported:
            is_cut_off = isinstance(wrong, asyncio.CancelledError)
            self.call = replace(self.call, error=CUT_OFF_CALL if is_cut_off else failure_of(wrong))
        if not self.call.milliseconds:  # A replay gives the call as it was recorded.
            milliseconds = (asyncio.get_running_loop().time() - self._began) * 1_000
            self.call = replace(self.call, milliseconds=milliseconds)
        self._models.end_own(self._act_calls, self.call, self._prompt)


def _check_counts(tokens: tuple[Any, ...], usd: Any) -> None:
    """Refuse counts that a ledger could not keep. Tokens are whole: no ledger with half a token can be read again."""
    is_sound = all(type(count) is int and 0 <= count <= count_max for count in tokens)
    is_price = usd is None or (type(usd) in (int, float) and math.isfinite(usd) and 0 <= usd <= count_max)
    if not is_sound or not is_price:
        given = in_brief((*tokens, usd))
        raise Refused(f"moment.spending was given {given}.", "Give whole tokens and dollars, each 0 or more.")


def _storable(text: str, chars_max: int) -> str:
    """A text, cut, without lone surrogates, which UTF-8 cannot encode."""
    return text[:chars_max].encode("utf-8", "replace").decode()
