"""Calling a model for one act: limited before, recorded after.

Always holds: every call is in `calls`, in order, answered or not. A call that reached a model counts; one that
reached none is free. A call with a recorded answer is answered from the record and counts the recorded cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import msgspec
from msgspec.structs import asdict, replace

from glasshouse.errors import ModelUnreachable, Refused
from glasshouse.events.model_use import NOTHING, Call, Tokens, Usage
from glasshouse.events.shown import Shown
from glasshouse.runtime.acts.treasury import Reservation, Treasury
from glasshouse.runtime.ports import Batch, Route
from glasshouse.turns.moment.prompt import Completion, Prompt, text_digest, tokens_guessed

unreached_in_a_row_max: Final = 3
"""After so many attempts that reached no model, the run pauses."""

digest_cache_texts_max: Final = 1_024

_system_digest = lru_cache(maxsize=digest_cache_texts_max)(text_digest)
"""Of system messages, which stay the same from act to act."""

Recorded = Callable[[int, Prompt], Completion | None]
"""Gives the recorded answer to an act's call by its number, if there is one."""


def _storable(completion: Completion) -> Completion:
    """The same words without halves of characters, which no ledger can hold. What is no completion is refused here,
    because once written it could not be read back."""
    try:
        completion = msgspec.convert(asdict(completion), Completion)
    except msgspec.ValidationError as wrong:
        raise Refused(f"The model returned a broken completion: {wrong}.", "Correct the backend.") from wrong
    tokens = completion.input_tokens, completion.output_tokens
    counts = (*tokens, completion.usd or 0.0, completion.milliseconds)
    if min(counts) < 0 or not all(map(math.isfinite, counts)):
        raise Refused(f"The model {completion.model} reports a usage of {counts}.", "Correct the backend.")
    if completion.text.isascii() and (completion.reasoning is None or completion.reasoning.isascii()):
        return completion
    texts = (completion.text, completion.reasoning)
    whole = [text and text.encode("utf-8", "replace").decode() for text in texts]
    return (
        completion if texts == tuple(whole) else replace(completion, text=whole[0] or "", reasoning=whole[1])
    )


class Asking:
    """The model calls of one act."""

    def __init__(
        self, route: Route, treasury: Treasury, mine: Reservation, recorded: Recorded | None
    ) -> None:
        self.calls: list[Call] = []
        self._prompts: list[tuple[str, str]] = []
        self._shown: list[Shown] = []
        self._route = route
        self._treasury = treasury
        self._mine = mine
        self._recorded = recorded
        self._calls_told = 0

    def tell_treasury(self, graph_id: str | None) -> None:
        """What this act has cost so far is counted by the fold; from here on it is held for the graph named."""
        self._treasury.tell(self._mine, graph_id)

    @property
    def beside(self) -> Batch:
        """What is kept beside the event that tells of the calls: their prompts, and the lines in them."""
        return Batch(prompts=tuple(self._prompts), shown=tuple(self._shown))

    def begin_anew(self) -> None:
        """The calls so far are told in the middle of the act; from here on new ones gather."""
        self._calls_told += len(self.calls)
        self.calls, self._prompts, self._shown = [], [], []

    async def ask(self, prompt: Prompt, shown: Shown) -> Completion:
        """The model's answer; `BudgetExceeded` before a call that does not fit."""
        route = self._route
        tokens_in = tokens_guessed(prompt.system) + tokens_guessed(prompt.user)
        usd = route.usd(tokens_in, prompt.reply_tokens_max)
        for attempt in range(unreached_in_a_row_max):
            await self._treasury.reserve(self._mine, Usage(1, tokens_in + prompt.reply_tokens_max, usd))
            try:
                completion = _storable(await self._answer(prompt))
            except ModelUnreachable as away:
                self._treasury.settle(self._mine, NOTHING)
                self._note(prompt, shown, None, str(away))
                if attempt + 1 == unreached_in_a_row_max:
                    raise
            except BaseException:
                self._treasury.settle(self._mine, Usage(1))
                raise
            else:
                tokens = completion.input_tokens + completion.output_tokens
                self._treasury.settle(self._mine, Usage(1, tokens, completion.usd or 0.0))
                self._note(prompt, shown, completion, "")
                return completion
        raise ModelUnreachable(
            f"The model {route.name} was not reached. Start its server, then continue the run."
        )

    async def _answer(self, prompt: Prompt) -> Completion:
        recorded = (
            None if self._recorded is None else self._recorded(self._calls_told + len(self.calls), prompt)
        )
        return recorded if recorded is not None else await self._route.model.complete(prompt)

    def _note(self, prompt: Prompt, shown: Shown, completion: Completion | None, error: str) -> None:
        system, user = _system_digest(prompt.system), text_digest(prompt.user)
        if completion is None:
            call = Call(self._route.name, system, user, prompt.seed, reached=False, error=error)
        else:
            call = Call(
                completion.model,
                system,
                user,
                prompt.seed,
                completion.text,
                completion.reasoning,
                Tokens(completion.input_tokens, completion.output_tokens),
                completion.usd,
                completion.milliseconds,
            )
        self.calls.append(call)
        self._shown.append(shown)
        self._prompts += ((system, prompt.system), (user, prompt.user))
