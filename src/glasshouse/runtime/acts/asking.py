"""Asking models: reserve, ask, retry, settle.

Theory of operation. A model makes one request for each call. Whether it is asked again is decided here. A server that is
busy is waited for. A server that is not reached is asked again, until its circuit opens (`backend_queue.py`). After
`failed_calls_max` failed calls of one question, the route's fallbacks are asked, in order, if there are any; else the act
fails. If the server has failed many calls in a row, whoever made them, the act is stopped and its run pauses. A server that
refuses what it is asked would refuse it again, so its run pauses at once. Every attempt has a seed of its own.

The ways to an answer, each inside the one before it: `ask_in_turn` (after the act's other calls; from the record; by the
fallbacks), `ask` (one model), `_until_answered` (a model behind a server, again and again), `_attempt` (reserve, ask once, settle),
`_request` (within its bounds in time). Most acts need no turn, no record and no fallback and begin at `ask`.

Always holds: every attempt reserves its worst case before it is made. An attempt that reached a model counts; one that
reached none is free. Both are recorded in the act's calls, in order. A call without a price of its own costs the price of its
route. A call that was sent and not answered costs what it reserved, because it may have been paid. A call with a
recorded answer counts the recorded cost. If an act is interrupted, its calls are recorded when it is thought again
or given up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any, Final, cast

from msgspec.structs import replace

from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable, Refused
from glasshouse.events.model_use import NOTHING, Call, Usage, usage_of
from glasshouse.events.shown import Shown
from glasshouse.model_values import Tokens
from glasshouse.runtime.acts.act_calls import ActCalls
from glasshouse.runtime.acts.act_so_far import completion_of
from glasshouse.runtime.acts.backend_queue import BackendQueue, queue_of, unreached_in_a_row_max
from glasshouse.runtime.acts.call_record import answered_call, asked_of, failed_call
from glasshouse.runtime.acts.call_under_way import CallUnderWay, Request
from glasshouse.runtime.acts.completions import as_recorded
from glasshouse.runtime.acts.recorded_answers import InForm, Recorded, no_answers, prompt_for_route
from glasshouse.runtime.acts.reservations import Reservations
from glasshouse.runtime.call_time import CallTime
from glasshouse.runtime.capabilities import ModelCapabilities, capabilities_of, reports_progress
from glasshouse.runtime.hooks import Hooks
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import Clock, OnText, ProgressingModel, Route, StreamingModel
from glasshouse.turns.moment.prompt import Completion, Prompt, seed_of

busy_answers_max: Final = 20
"""After this many answers that a server is busy, to one question of an act, the run pauses."""
busy_seconds_max: Final = 60.0
"""How long a busy server is waited for before it is asked again, whatever it says."""
at_once_max: Final = 3
"""How often a server that does not say how long it is busy is asked again at once; then a second is waited."""
failed_calls_max: Final = 3
"""After this many calls to one model that failed, for one question of an act, the next fallback is asked, or the act fails."""


_calls_inside: ContextVar[ActCalls | None] = ContextVar(
    "the calls of the act whose `moment.spending` this is inside of", default=None
)


class ModelAccess:
    """Asks models for acts. It keeps who asks now; what an act has asked so far, the act keeps."""

    def __init__(
        self,
        reservations: Reservations,
        clock: Clock,
        ledger: Ledger,
        hooks: Hooks | None = None,
    ) -> None:
        self.reservations = reservations
        self._ledger = ledger
        self.clock = clock
        self.hooks = hooks
        """Who looks on while models are asked and acts are thought; None: nobody."""
        self.under_way: dict[CallUnderWay, None] = {}
        self.listener: Callable[[CallUnderWay], OnText] | None = None
        """Makes, for each attempt of a call, what hears the text of its reply as it comes. None: nobody listens, and the same is
        asked and recorded."""

    # The ways to an answer

    async def ask_in_turn(
        self,
        act: ActCalls,
        first: Route,
        recorded: Recorded,
        prompt: Prompt,
        shown: Shown,
        in_form: InForm,
    ) -> Completion:
        """The answer on record, else that of the first route's model, else that of the first fallback that answers. Each
        fallback is asked in its own form. Raises what `ask` raises.

        An agent of a program may ask several times at once: its calls come one after another.
        """
        lock = act.one_at_a_time
        if lock is not None:
            await _wait_for_turn(act, lock)
        try:
            if recorded is not no_answers:
                completion = await self._answer_on_record(act, first, recorded, prompt, shown, in_form)
                if completion is not None:
                    return completion  # Nobody needs to be asked.
            route = first
            for fallback in first.fallbacks:
                can = capabilities_of(route.model)
                if not queue_of(route.model, route.name, can).was_away_lately:
                    with suppress(ModelUnreachable, ModelFailed):
                        asked = prompt_for_route(route, first, prompt, in_form)
                        return await self.ask(act, route, can, asked, shown)
                route = fallback
            asked = prompt_for_route(route, first, prompt, in_form)
            return await self.ask(act, route, capabilities_of(route.model), asked, shown)
        finally:
            if lock is not None:
                lock.release()

    async def _answer_on_record(
        self,
        act: ActCalls,
        route: Route,
        recorded: Recorded,
        prompt: Prompt,
        shown: Shown,
        in_form: InForm,
    ) -> Completion | None:
        """The recorded answer, after the attempts that were made in vain; None if there is none."""
        while (call := recorded(act.told + len(act.calls), route, prompt, in_form)) is not None:
            again = in_form(_as_sent(act, route, prompt), call.form)
            asked = asked_of(route, again)
            await self.reservations.reserve(act.mine, asked.reserved)
            if call.is_answered:
                digests = {"system": asked.system, "user": asked.user, "schema": asked.schema}
                self._settle(act, again, shown, replace(call, seed=again.seed, form=again.form, **digests))
                return completion_of(call)  # The attempts before it are recorded, too.
            # It may have had another prompt, before the act was interrupted.
            self._settle(act, again, shown, call)
        return None

    def ask(
        self, act: ActCalls, route: Route, can: ModelCapabilities, prompt: Prompt, shown: Shown
    ) -> Coroutine[Any, Any, Completion]:
        """The answer of one model. A model that answers at once is asked once.

        Raises `BudgetExceeded` before a call that does not fit the budget, `ModelUnreachable` or `ModelMisconfigured` if
        the run must pause, and `ModelFailed` if the act must fail.
        """
        if not can.answers_at_once:
            return self._until_answered(act, route, can, prompt, shown)  # A server may need some patience.
        asking = self._attempt(act, route, prompt, shown)
        return asking if self.hooks is None else self.hooks.around_attempt(route, prompt, act, asking)

    async def _until_answered(
        self, act: ActCalls, route: Route, can: ModelCapabilities, prompt: Prompt, shown: Shown
    ) -> Completion:
        """Ask one model until it answers, or until it is not worth asking again."""
        queue = queue_of(route.model, route.name, can)
        under_way = CallUnderWay(act.mine, route.name, queue, can)
        self.under_way[under_way] = None
        busy = 0
        unreached = 0
        failed = 0
        try:
            while True:
                asking = self._attempt(act, route, prompt, shown, under_way)
                if self.hooks is not None:
                    asking = self.hooks.around_attempt(route, prompt, act, asking)
                try:
                    return await asking
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
                        with queue.busy(), _waiting(act, under_way):
                            await self.clock.sleep(min(seconds, busy_seconds_max))
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
            del self.under_way[under_way]

    async def _attempt(
        self,
        act: ActCalls,
        route: Route,
        prompt: Prompt,
        shown: Shown,
        under_way: CallUnderWay | None = None,
    ) -> Completion:
        """Make one request: reserve its worst case, ask, and settle what it cost."""
        lapse = self._ledger.writer.ended or self._ledger.store_lapse()
        if lapse is not None:
            raise lapse  # Another process plays this store, or may by now: no model is asked for it (ADR 0145).
        if act.calls:
            prompt = _as_sent(act, route, prompt)
        asked = asked_of(route, prompt)
        await self.reservations.reserve(act.mine, asked.reserved)
        queue = None if under_way is None else under_way.queue
        queued_ms = 0.0
        if under_way is not None and not under_way.queue.enter_now():
            queued_ms = await self._wait_for_slot(act, under_way)
            self._leave_if_lapsed(act, under_way)
        try:
            if under_way is None:  # A model that answers at once needs no bound in time.
                completion = as_recorded(await route.model.complete(prompt), route, asked.worst)
            else:
                completion = await self._request(act, route, prompt, asked.worst, under_way)
        except BaseException as wrong:
            if queue is not None:
                queue.note_failure(wrong)
                queue.leave()
            self._settle(act, prompt, shown, failed_call(route, prompt, asked, wrong, queued_ms))
            raise
        if queue is not None:
            queue.note_reached()
            queue.leave()
        self._settle(act, prompt, shown, answered_call(route, prompt, asked, completion, queued_ms))
        return completion

    def _leave_if_lapsed(self, act: ActCalls, under_way: CallUnderWay) -> None:
        """Leave a slot that was waited for if the store was lost meanwhile."""
        lapse = self._ledger.lapse()
        if lapse is not None:
            under_way.queue.leave()
            self.reservations.settle(act.mine, NOTHING)
            raise lapse

    async def _wait_for_slot(self, act: ActCalls, under_way: CallUnderWay) -> float:
        """Wait in the queue; how many milliseconds it took. Whoever waited in vain has sent and spent nothing."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        queue = under_way.queue
        hooks = self.hooks
        try:
            with (
                nullcontext() if hooks is None else hooks.around_waiting(queue.name),
                _waiting(act, under_way),
            ):
                await queue.wait_for_slot(act.mine.run_id, act.mine.creature_id)
        except BaseException:
            self.reservations.settle(act.mine, NOTHING)
            raise
        return (loop.time() - began) * 1_000

    async def _request(
        self, act: ActCalls, route: Route, prompt: Prompt, worst: Tokens, under_way: CallUnderWay
    ) -> Completion:
        """What a server returns for one request, within its bounds in time."""
        model = route.model
        can = under_way.can
        hear = None if self.listener is None or not can.streams else self.listener(under_way)
        request = Request(
            under_way,
            CallTime(route.bounds, is_streamed=can.streams, load_seconds=can.load_seconds_max),
            act.mine.time,
            hear,
        )
        if not can.streams:
            asking = model.complete(prompt)
        elif reports_progress(model):
            asking = cast("ProgressingModel", model).complete(prompt, on_text=hear, on_progress=request.note)
        else:
            asking = cast("StreamingModel", model).complete(prompt, on_text=request.note_text)
        try:
            async with request:
                completion = as_recorded(await asking, route, worst)
                request.note_answer(completion.load_ms / 1_000)
                return completion
        except TimeoutError:
            if not request.time.is_over:
                raise
            late = f"{route.name} {request.time.late}. {request.time.advice}"
            raise ModelFailed(late) from None

    def _settle(self, act: ActCalls, prompt: Prompt, shown: Shown, call: Call) -> None:
        """Settle the cost of a call that has ended, and add it to the calls of its act."""
        self.reservations.settle(act.mine, usage_of(call))
        act.calls.append(call)
        act.shown.append(shown)
        act.prompts += ((call.system, prompt.system), (call.user, prompt.user))

    # Calls that an agent makes by its own means

    async def begin_own(self, act: ActCalls, worst: Usage) -> None:
        """Reserve the worst case of a call that the agent makes by its own means. Raises `BudgetExceeded` at a limit."""
        assert act.one_at_a_time is not None, "only an agent of a program makes calls by its own means"
        await _wait_for_turn(act, act.one_at_a_time)
        try:
            await self.reservations.reserve(act.mine, worst)
        except BaseException:
            act.one_at_a_time.release()
            raise
        _calls_inside.set(act)

    def end_own(self, act: ActCalls, call: Call, prompt: str) -> None:
        """Settle the cost of such a call, and record it."""
        assert act.one_at_a_time is not None, "the call has begun"
        _calls_inside.set(None)
        self._settle(act, Prompt("", prompt), Shown(), call)
        act.one_at_a_time.release()
        if self.hooks is not None:
            self.hooks.own_call_ended(act, call)


async def _wait_for_turn(act: ActCalls, lock: asyncio.Lock) -> None:
    """Wait for the end of the act's other calls. A call inside `moment.spending` is refused: it would wait for the end
    of the block that it is in."""
    if _calls_inside.get() is act:
        raise Refused(
            "This call is inside a block of moment.spending, which counts one call.",
            "End the block before the next call.",
        )
    await lock.acquire()


@contextmanager
def _waiting(act: ActCalls, under_way: CallUnderWay) -> Iterator[None]:
    """Wait for others: the time does not count against the bound of the act."""
    under_way.is_waiting = True
    try:
        with act.mine.waiting():
            yield
    finally:
        under_way.is_waiting = False


def _as_sent(act: ActCalls, route: Route, prompt: Prompt) -> Prompt:
    """The prompt of the next attempt: each that reaches a model has a seed of its own."""
    attempt = act.unanswered
    if not attempt:
        return prompt  # It is the first one.
    reply_tokens_max = min(prompt.reply_tokens_max, route.reply_tokens_max)
    return replace(prompt, seed=seed_of(prompt.seed, attempt), reply_tokens_max=reply_tokens_max)


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
