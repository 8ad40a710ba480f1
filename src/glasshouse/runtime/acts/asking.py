"""Asking models: the model calls of one act.

Theory of operation. A model makes one request for each call. Whether it is asked again is decided here. A server that is
busy is waited for. A server that is not reached is asked again, until its circuit opens (`backend_queue.py`). A call that
fails is repeated, at most `failed_calls_max` times; then the route's fallbacks are asked, in order, if there are any. If
the server has not answered anybody for long, the act fails and its run pauses. A server that refuses what it is asked
would refuse it again, so its run pauses at once. Every attempt has a seed of its own.

Always holds: every attempt reserves its worst case before it is made. An attempt that reached a model counts; one that
reached none is free. Both are recorded in `calls`, in order. A call without a price of its own costs the price of its
route. A call that was sent and not answered costs what it reserved, because it may have been paid. A call with a
recorded answer counts the recorded cost. If an act is interrupted, its calls are recorded when it is thought again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple, cast

import msgspec
from msgspec.structs import astuple, replace

from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable, Refused
from glasshouse.events.event import Json
from glasshouse.events.model_use import NOTHING, Call, Usage, usage_of
from glasshouse.events.payloads import Fault
from glasshouse.events.shown import Shown
from glasshouse.model_values import Form, Tokens
from glasshouse.runtime.acts.act_so_far import completion_of
from glasshouse.runtime.acts.backend_queue import BackendQueue, queue_of, unreached_in_a_row_max
from glasshouse.runtime.acts.reservations import Reservation, Reservations
from glasshouse.runtime.capabilities import ModelCapabilities, capabilities_of
from glasshouse.runtime.hooks import Hooks
from glasshouse.runtime.minds.faults import failure_of
from glasshouse.runtime.ports import Clock, OnText, Route, StreamingModel
from glasshouse.runtime.store_port import SideWrites
from glasshouse.turns.moment.prompt import (
    Completion,
    Prompt,
    chars_per_token_min,
    completion_chars_max,
    count_max,
    digest_and_size,
    reasoning_chars_max,
    reported_chars_max,
    schema_digest,
    seed_of,
)

INTERRUPTED: Final = "The act was interrupted and thought again."
"""What is recorded of an answer that was not used."""
CUT_OFF_CALL: Final = "The call was cut off before it was answered."
busy_answers_max: Final = 20
"""After this many answers that a server is busy, to one question of an act, the run pauses."""
busy_seconds_max: Final = 60.0
"""How long a busy server is waited for before it is asked again, whatever it says."""
at_once_max: Final = 3
"""How often a server that does not say how long it is busy is asked again at once; then a second is waited."""
failed_calls_max: Final = 3
"""After this many calls to one model that failed, for one question of an act, the next fallback is asked, or the act fails."""
interrupted_acts_max: Final = 1_024
"""Of how many acts the calls are kept that could not be recorded, because the act was interrupted."""

digest_cache_texts_max: Final = 1_024
"""Digests of more system messages are computed again."""

InForm = Callable[[Prompt, Form], Prompt]
"""Gives the same prompt in another form."""

Recorded = Callable[[int, Route, Prompt, InForm], Call | None]
"""Gives the recorded call of an act by its number, if there is one. It may have asked in another form than the act."""


class RecordedAct(NamedTuple):
    """What is on record of an act that is played again: in a replay, or in a branch."""

    answers: Recorded
    form: Form | None = None
    """The form in which it first asked."""
    upto: int | None = None
    """The time up to which it saw the past. A live act sees the current past."""
    context_tokens: int = 0
    reply_tokens: int = 0
    """The sizes of its prompts; 0: those of the route."""


def no_answers(_number: int, _route: Route, _prompt: Prompt, _in_form: InForm) -> Call | None:
    """The recorded answers of an act that is not on record."""
    return None


NOT_ON_RECORD: Final = RecordedAct(no_answers)


class RecordedFailure(Exception):
    """The failure of an act that a replay takes from the record."""

    def __init__(self, reason: str, fault: Fault | None = None, rule: str | None = None) -> None:
        super().__init__(reason)
        self.fault = fault
        self.rule = rule


def _storable(completion: Completion) -> Completion:
    """The completion with its texts bounded and without lone surrogates, which UTF-8 cannot encode. A malformed
    completion is refused here, because the ledger could not read it back."""
    try:  # The quickest check of all fields and their bounds: lone surrogates, for one, cannot be written.
        completion = _read_completion(_encode(completion))
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.ValidationError):
        completion = _mended(completion)
    for count in astuple(completion.usage):
        if not 0 <= count <= count_max:
            raise Refused(f"The model {completion.model} reports {count} tokens.", "Correct its code.")
    return completion


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
            return plain(value)
    raise TypeError(f"it holds a value of the type {type(value).__name__}")


_encode: Final = msgspec.msgpack.Encoder().encode
_read_completion: Final = msgspec.msgpack.Decoder(Completion).decode
_TEXTS: Final = {"text": completion_chars_max, "reasoning": reasoning_chars_max} | dict.fromkeys(
    ("model", "served_by", "response_id"), reported_chars_max
)
"""The texts of a completion, and how many characters of each are kept."""


class CallUnderWay:
    """A question to a model that takes its time: from its first attempt to its answer."""

    __slots__ = ("can", "creature_id", "is_waiting", "model", "queue", "run_id", "since", "text")

    def __init__(self, mine: Reservation, model: str, queue: BackendQueue, can: ModelCapabilities) -> None:
        self.can = can
        self.creature_id = mine.creature_id
        self.run_id = mine.run_id
        self.model = model
        self.queue = queue
        self.since = asyncio.get_running_loop().time()
        self.is_waiting = False
        """Whether it waits for its turn, or for a server that is busy."""
        self.text = ""
        """What has come of the line that its creature will say aloud, if the server sends it in pieces."""


_calls_inside: ContextVar[ActCalls | None] = ContextVar(
    "the calls of the act whose `moment.spending` this is inside of", default=None
)


class UnrecordedCalls(NamedTuple):
    """The calls of an act that are not recorded yet, with their prompts and the lines shown in them."""

    calls: list[Call]
    prompts: list[tuple[str, str]]
    shown: list[Shown]
    mine: Reservation
    """It holds their cost until they are recorded."""


class ModelAccess:
    """What acts need to ask models: the purses, the clock, and who asks now."""

    def __init__(self, reservations: Reservations, clock: Clock, hooks: Hooks | None = None) -> None:
        self.reservations = reservations
        self.clock = clock
        self.hooks = hooks
        self.under_way: dict[CallUnderWay, None] = {}
        self.listener: Callable[[CallUnderWay], OnText] | None = None
        """Makes, for each attempt of a call, what hears the text of its reply as it comes. None: nobody listens."""
        self.interrupted: dict[tuple[str, str], UnrecordedCalls] = {}
        """What was kept of acts that may be thought again, by the ids of their creature and their cause."""

    def keep(self, act: tuple[str, str], act_calls: ActCalls) -> None:
        """Keep the calls of an act that was interrupted, until it is thought again and recorded."""
        self.reservations.settle(act_calls.mine, NOTHING)
        if not act_calls.calls:
            self.reservations.release(act_calls.mine)
            return
        self.interrupted[act] = act_calls.unrecorded
        if len(self.interrupted) > interrupted_acts_max:
            self.reservations.release(self.interrupted.pop(next(iter(self.interrupted))).mine)


class ActCalls(msgspec.Struct, eq=False):
    """The model calls of one act."""

    _route: Route
    _model_access: ModelAccess
    mine: Reservation
    _recorded: Recorded
    calls: list[Call] = []
    _prompts: list[tuple[str, str]] = []
    _shown: list[Shown] = []
    _calls_told: int = 0
    _calls_before: int = 0
    """How many of the calls were made before the act was interrupted."""
    one_at_a_time: asyncio.Lock | None = None
    """For an agent of a program, which may ask several times at once: its act has one reservation, so its calls come one
    after another. The engine's own agents need no lock."""

    def take_up(self, unrecorded: UnrecordedCalls) -> None:
        """Continue the calls of an act that was interrupted."""
        self.calls, self._prompts, self._shown, _ = unrecorded
        self._calls_before = len(unrecorded.calls)

    def tell_reservations(self, graph_id: str | None) -> None:
        """Say that the ledger now holds the cost so far. Later calls are reserved for the graph named."""
        self._model_access.reservations.tell(self.mine, graph_id)

    @property
    def side_writes(self) -> SideWrites:
        """What is stored beside the event that records the calls: their prompts, and the lines shown in them (ADR
        0044)."""
        return SideWrites(prompts=tuple(self._prompts), shown=tuple(self._shown))

    @property
    def has_reached_a_model(self) -> bool:
        """Whether a call since the last recorded one, or since an interruption, reached a model."""
        return any(call.reached for call in self.calls[self._calls_before :])

    @property
    def is_answered(self) -> bool:
        """Whether a model answered a call since the last recorded one, or since an interruption."""
        return any(call.is_answered for call in self.calls[self._calls_before :])

    @property
    def unrecorded(self) -> UnrecordedCalls:
        """What to keep of an interrupted act. It will be thought again, so its answers are not used."""
        calls = [
            replace(call, completion="", reasoning=None, error=call.error or INTERRUPTED)
            for call in self.calls
        ]
        return UnrecordedCalls(calls, self._prompts, self._shown, self.mine)

    def begin_anew(self) -> None:
        """Start a new list of calls: those so far were recorded in the middle of the act."""
        self._calls_told += len(self.calls)
        self._calls_before = 0
        self.calls, self._prompts, self._shown = [], [], []

    async def ask(self, prompt: Prompt, shown: Shown, in_form: InForm) -> Completion:
        """The model's answer; a fallback is asked in its own form.

        Raises `BudgetExceeded` before a call that does not fit the budget, `ModelUnreachable` or `ModelMisconfigured` if
        the run must pause, and `ModelFailed` if the act must fail.
        """
        lock = self.one_at_a_time
        if lock is not None:
            await self._wait_for_turn(lock)
        try:
            if self._recorded is not no_answers:
                completion = await self._answer_on_record(prompt, shown, in_form)
                if completion is not None:
                    return completion
            first = route = self._route
            for fallback in first.fallbacks:
                if not queue_of(route.model, route.name, capabilities_of(route.model)).was_away_lately:
                    with suppress(ModelUnreachable, ModelFailed):
                        return await self._answer(
                            route, prompt_for_route(route, first, prompt, in_form), shown
                        )
                route = fallback
            return await self._answer(route, prompt_for_route(route, first, prompt, in_form), shown)
        finally:
            if lock is not None:
                lock.release()

    async def begin_own(self, worst: Usage) -> None:
        """Reserve the worst case of a call that the agent makes by its own means. Raises `BudgetExceeded` at a limit."""
        assert self.one_at_a_time is not None, "only an agent of a program makes calls by its own means"
        await self._wait_for_turn(self.one_at_a_time)
        try:
            await self._model_access.reservations.reserve(self.mine, worst)
        except BaseException:
            self.one_at_a_time.release()
            raise
        _calls_inside.set(self)

    def end_own(self, call: Call, prompt: str) -> None:
        """Settle the cost of such a call, and record it."""
        assert self.one_at_a_time is not None, "the call has begun"
        _calls_inside.set(None)
        self._note(Prompt("", prompt), Shown(), call)
        self.one_at_a_time.release()
        if self._model_access.hooks is not None:
            self._model_access.hooks.own_call_ended(self.mine, call)

    async def _wait_for_turn(self, lock: asyncio.Lock) -> None:
        """Wait for the end of the act's other calls. A call inside `moment.spending` is refused: it would wait for the end
        of the block that it is in."""
        if _calls_inside.get() is self:
            raise Refused(
                "This call is inside a block of moment.spending, which counts one call.",
                "End the block before the next call.",
            )
        await lock.acquire()

    async def _answer_on_record(self, prompt: Prompt, shown: Shown, in_form: InForm) -> Completion | None:
        """The recorded answer, after the attempts that were made in vain; None if there is none."""
        while (
            call := self._recorded(self._calls_told + len(self.calls), self._route, prompt, in_form)
        ) is not None:
            again = in_form(self._as_sent(self._route, prompt), call.form)
            asked = _asked(self._route, again)
            await self._model_access.reservations.reserve(self.mine, asked.reserved)
            if call.is_answered:
                digests = {"system": asked.system, "user": asked.user, "schema": asked.schema}
                self._note(again, shown, replace(call, seed=again.seed, form=again.form, **digests))
                return completion_of(call)
            self._note(again, shown, call)  # It may have had another prompt, before the act was interrupted.
        return None

    def _answer(self, route: Route, prompt: Prompt, shown: Shown) -> Awaitable[Completion]:
        """Ask one model. A model that answers at once is asked once."""
        can = capabilities_of(route.model)
        if can.answers_at_once:
            return self._attempt(route, prompt, shown)
        return self._answer_of_server(route, can, prompt, shown)

    def _attempt(
        self,
        route: Route,
        prompt: Prompt,
        shown: Shown,
        queue: BackendQueue | None = None,
        under_way: CallUnderWay | None = None,
    ) -> Awaitable[Completion]:
        """Make one request, and record it."""
        asking = self._asked_once(route, prompt, shown, queue, under_way)
        hooks = self._model_access.hooks
        return asking if hooks is None else hooks.around_attempt(route, prompt, self.mine, self.calls, asking)

    async def _answer_of_server(
        self, route: Route, can: ModelCapabilities, prompt: Prompt, shown: Shown
    ) -> Completion:
        """Ask one model until it answers, or until it is not worth asking again."""
        queue = queue_of(route.model, route.name, can)
        under_way = CallUnderWay(self.mine, route.name, queue, can)
        self._model_access.under_way[under_way] = None
        busy, unreached, failed = 0, 0, 0
        try:
            while True:
                try:
                    return await self._attempt(route, prompt, shown, queue, under_way)
                except ModelUnreachable as away:
                    if away.retry_after is None:
                        unreached += 1
                        if unreached == unreached_in_a_row_max or queue.is_open:
                            raise _named(away, queue) from away
                        continue
                    busy += 1
                    if busy == busy_answers_max:
                        raise _busy(away, queue, busy) from away
                    # A server that refused a parameter is asked again at once without it; a busy one must get a rest.
                    seconds = away.retry_after if busy <= at_once_max else max(away.retry_after, 1.0)
                    if seconds:
                        with queue.busy(), self._waiting(under_way):
                            await self._model_access.clock.sleep(min(seconds, busy_seconds_max))
                except ModelMisconfigured as wrong:
                    facts = wrong.reason, wrong.instead, wrong.model
                    raise ModelMisconfigured(*facts, usage=wrong.usage, backend=queue.name) from wrong
                except ModelFailed as wrong:
                    failed += 1
                    if failed == failed_calls_max:
                        if queue.is_failing:
                            raise _failing(wrong, queue) from wrong
                        raise
        finally:
            del self._model_access.under_way[under_way]

    async def _asked_once(
        self,
        route: Route,
        prompt: Prompt,
        shown: Shown,
        queue: BackendQueue | None,
        under_way: CallUnderWay | None,
    ) -> Completion:
        prompt, queued_ms = self._as_sent(route, prompt), 0.0
        asked = _asked(route, prompt)
        await self._model_access.reservations.reserve(self.mine, asked.reserved)
        if queue is not None and not queue.enter_now():
            assert under_way is not None, "only a question to a model that takes its time waits"
            hooks = self._model_access.hooks
            with nullcontext() if hooks is None else hooks.around_waiting(queue.name):
                queued_ms = await self._wait_for_slot(queue, under_way)
        try:
            if under_way is None:  # A model that answers at once needs no bound in time.
                completion = _storable(await route.model.complete(prompt))
            else:
                completion = await self._request(route, prompt, under_way)
            completion = _priced(completion, route, asked.worst)
        except BaseException as wrong:
            if queue is not None:
                queue.note_failure(wrong)
                queue.leave()
            self._note(prompt, shown, _failed(route, prompt, asked, wrong, queued_ms))
            raise
        if queue is not None:
            queue.note_reached()
            queue.leave()
        self._note(prompt, shown, _answered(route, prompt, asked, completion, queued_ms))
        return completion

    async def _wait_for_slot(self, queue: BackendQueue, under_way: CallUnderWay) -> float:
        """Wait in the queue; how many milliseconds it took. Whoever waited in vain has sent and spent nothing."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            with self._waiting(under_way):
                await queue.wait_for_slot(self.mine.run_id, self.mine.creature_id)
        except BaseException:
            self._model_access.reservations.settle(self.mine, NOTHING)
            raise
        return (loop.time() - began) * 1_000

    @contextmanager
    def _waiting(self, under_way: CallUnderWay) -> Iterator[None]:
        """Wait for others: the time does not count against the bound of the act."""
        under_way.is_waiting = True
        try:
            with self.mine.waiting():
                yield
        finally:
            under_way.is_waiting = False

    async def _request(self, route: Route, prompt: Prompt, under_way: CallUnderWay) -> Completion:
        """What a model returns for one request, within its bound in time."""
        model, listener, time = route.model, self._model_access.listener, self.mine.time
        if listener is not None and under_way.can.streams:
            asked = cast("StreamingModel", model).complete(prompt, on_text=listener(under_way))
        else:
            asked = model.complete(prompt)
        # A server that loads its models inside a call has more time, which its model bounds. The act gets it, too, until
        # the server says how long it has loaded.
        load_seconds_max = under_way.can.load_seconds_max
        load_seconds = 0.0
        seconds_max = route.call_seconds_max + load_seconds_max
        bound = asyncio.timeout(seconds_max)
        if load_seconds_max and time is not None:
            time.give_back(load_seconds_max)
        try:
            async with bound:
                completion = _storable(await asked)
                load_seconds = completion.load_ms / 1_000
                return completion
        except TimeoutError:
            if not bound.expired():
                raise
            late = f"{route.name} did not answer within {seconds_max:g} seconds."
            raise ModelFailed(f"{late} Give its route more time, or take a smaller model.") from None
        finally:
            if (load_seconds_max or load_seconds) and time is not None:
                time.give_back(load_seconds - load_seconds_max)

    def _as_sent(self, route: Route, prompt: Prompt) -> Prompt:
        """The prompt of the next attempt: each has a seed of its own, and a fallback its own bound of the reply."""
        attempt = 0
        for call in reversed(self.calls):
            if call.is_answered:
                break
            attempt += 1
        if not attempt and route is self._route:
            return prompt
        seed = seed_of(prompt.seed, attempt) if attempt else prompt.seed
        return replace(
            prompt, seed=seed, reply_tokens_max=min(prompt.reply_tokens_max, route.reply_tokens_max)
        )

    def _note(self, prompt: Prompt, shown: Shown, call: Call) -> None:
        """Settle the cost of a call, and record it."""
        self._model_access.reservations.settle(self.mine, usage_of(call))
        self.calls.append(call)
        self._shown.append(shown)
        self._prompts += ((call.system, prompt.system), (call.user, prompt.user))


def prompt_for_route(route: Route, first: Route, prompt: Prompt, in_form: InForm) -> Prompt:
    """The prompt as a route wants it. If answers could not be used, and the act asks in a simpler form than its first route
    has, all are asked in that."""
    if route is first or prompt.form != first.form or route.form == "auto":
        return prompt
    return in_form(prompt, route.form)


def _named(away: ModelUnreachable, queue: BackendQueue) -> ModelUnreachable:
    """The same failure with the name of the server."""
    reason = str(away) if queue.name in str(away) else f"{queue.name}: {away}"
    return ModelUnreachable(reason, away.model, backend=queue.name)


def _busy(away: ModelUnreachable, queue: BackendQueue, times: int) -> ModelUnreachable:
    reason = f"{queue.name} was busy {times} times in a row: {away}"
    return ModelUnreachable(
        f"{reason} Wait, or lower max_parallel, then continue the run.", away.model, backend=queue.name
    )


def _failing(wrong: ModelFailed, queue: BackendQueue) -> ModelUnreachable:
    reason = f"{queue.name} failed {queue.failed_in_a_row} times in a row, the last time so: {wrong}"
    advice = "Look at the server, then continue the run."
    return ModelUnreachable(f"{reason} {advice}", wrong.model, backend=queue.name)


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What is known of a call before it is made: the digests of its prompt, and what it may cost at most."""

    system: str
    user: str
    schema: str
    worst: Tokens
    reserved: Usage


def _asked(route: Route, prompt: Prompt) -> Asked:
    system, system_bytes = _system_facts(prompt.system)
    user, user_bytes = digest_and_size(prompt.user)
    schema, schema_tokens = _schema_facts(prompt.schema)
    # More tokens than a text has in any usual tokenizer, which takes at least three bytes for most of them.
    tokens_in = system_bytes // chars_per_token_min + user_bytes // chars_per_token_min + 2
    if prompt.form == "schema":
        tokens_in += schema_tokens
    tokens_out = prompt.reply_tokens_max + route.reasoning_tokens_max
    worst = Tokens(tokens_in, tokens_out)
    usd = None if route.price is None else route.price.worst(worst)
    return Asked(system, user, schema, worst, Usage(1, tokens_in + tokens_out, usd or 0.0, usd is None))


_system_facts = lru_cache(maxsize=digest_cache_texts_max)(digest_and_size)
"""Cached, because a creature's system message stays the same from act to act."""


def _priced(completion: Completion, route: Route, worst: Tokens) -> Completion:
    """The completion with its price, if its route knows one. A model that counts no tokens is not free: the call costs
    what was reserved."""
    if completion.usd is not None:
        return completion if completion.price_source else replace(completion, price_source="server")
    if not completion.usage.total:
        completion = replace(completion, usage=replace(worst, is_estimated=True))
    if route.price is None:
        return completion
    usd = route.price.worst(worst) if completion.usage.is_estimated else route.price.of(completion.usage)
    return replace(completion, usd=usd, price_source="route")


def _answered(route: Route, prompt: Prompt, asked: Asked, completion: Completion, queued_ms: float) -> Call:
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


def _failed(route: Route, prompt: Prompt, asked: Asked, wrong: BaseException, queued_ms: float) -> Call:
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
        return Call(**about, reached=False, error=failure_of(wrong))
    price, is_cut_off = route.price, isinstance(wrong, asyncio.CancelledError)
    error = CUT_OFF_CALL if is_cut_off else failure_of(wrong)
    if usage is not None and _is_sound(usage):
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


_schemas_cache: dict[int, tuple[tuple[str, int], Json]] = {}
"""Facts of schemas by their address in memory; each entry keeps its schema, so that the address stays its own."""


def _schema_facts(schema: Json | None) -> tuple[str, int]:
    """The digest of a schema, and more tokens than it has."""
    if schema is None:
        return "", 0
    known = _schemas_cache.get(id(schema))
    if known is None:
        if len(_schemas_cache) >= digest_cache_texts_max:
            _schemas_cache.clear()
        tokens = len(msgspec.json.encode(schema)) // chars_per_token_min + 1
        known = _schemas_cache[id(schema)] = ((schema_digest(schema), tokens), schema)
    return known[0]
