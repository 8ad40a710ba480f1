"""Asking models: the model behind a profile, the check that its price is known, and the model calls of one act.

Always holds: a run records the models that the router gives when it starts. A limit in dollars is refused if any
price is unknown, also the price of a creature that may be spawned. Every call reserves its worst case before it is
made. A call that reached a model counts; a call that reached none is free. Both are recorded in `calls`, in order. A
call without a price of its own costs the price of its route. A call that was sent and has no usable answer costs what
it reserved, because it may have been paid. A call with a recorded answer counts the recorded cost.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import asdict, astuple, replace

from glasshouse.errors import BudgetExceeded, ModelFailed, ModelUnreachable, Refused
from glasshouse.events.event import Json
from glasshouse.events.manifest_fields import fields_of
from glasshouse.events.model_use import NOTHING, Call, Usage, usage_of
from glasshouse.events.payloads import CastEntry, Fault, RunStarted
from glasshouse.events.shown import Shown
from glasshouse.model_values import Tokens
from glasshouse.runtime.acts.treasury import Reservation, Treasury
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.minds.faults import failure_of
from glasshouse.runtime.ports import Batch, Route, Router
from glasshouse.turns.moment.prompt import (
    Completion,
    Prompt,
    completion_chars_max,
    reasoning_chars_max,
    reported_chars_max,
    schema_digest,
    text_digest,
    tokens_guessed,
)
from glasshouse.world.decisions.intents import Member, OpenRun, Restate
from glasshouse.world.state.state import CreatureState

unreached_in_a_row_max: Final = 3
"""After this many attempts in a row that reached no model, the run pauses."""

digest_cache_texts_max: Final = 1_024

_system_digest = lru_cache(maxsize=digest_cache_texts_max)(text_digest)
"""Cached, because a creature's system message stays the same from act to act."""

Recorded = Callable[[int, Prompt], Completion | None]
"""Gives the recorded answer to an act's call by its number, if there is one."""


class RecordedFailure(Exception):
    """A failure that a replay takes from the record: of an act, or of one of its model calls."""

    def __init__(self, reason: str, call: Call | None = None, fault: Fault | None = None) -> None:
        super().__init__(reason)
        self.call = call
        self.fault = fault


def _storable(completion: Completion) -> Completion:
    """The completion with its texts bounded and without lone surrogates, which UTF-8 cannot encode. A malformed
    completion is refused here, because the ledger could not read it back."""
    try:
        completion = msgspec.convert(asdict(completion), Completion)
    except msgspec.ValidationError as wrong:
        raise Refused(f"The model returned a broken completion: {wrong}.", "Correct the backend.") from wrong
    counts = (
        *astuple(completion.usage),
        completion.usd or 0.0,
        *[getattr(completion, name) for name in _TIMES],
    )
    if min(counts) < 0 or not all(map(math.isfinite, counts)):
        raise Refused(f"The model {completion.model} reports a usage of {counts}.", "Correct the backend.")
    changed = {}
    for field, chars_max in _TEXTS:
        text = getattr(completion, field)
        if text is not None and (len(text) > chars_max or not text.isascii()):
            changed[field] = text[:chars_max].encode("utf-8", "replace").decode()
    return replace(completion, **changed) if changed else completion


_TIMES: Final = ("milliseconds", "queued_ms", "load_ms", "first_text_ms")
_TEXTS: Final = (
    ("text", completion_chars_max),
    ("reasoning", reasoning_chars_max),
    ("model", reported_chars_max),
    ("served_by", reported_chars_max),
    ("response_id", reported_chars_max),
)
"""The texts of a completion, and how many characters of each are kept."""


class Asking:
    """The model calls of one act."""

    def __init__(
        self, route: Route, treasury: Treasury, mine: Reservation, recorded: Recorded | None
    ) -> None:
        self.calls: list[Call] = []
        self._prompts: list[tuple[str, str]] = []
        self._shown: list[Shown] = []
        self._route = route
        self._decoding = dict(route.decoding)
        self._treasury = treasury
        self._mine = mine
        self._recorded = recorded
        self._calls_told = 0

    def tell_treasury(self, graph_id: str | None) -> None:
        """Say that the ledger now holds the cost so far. Later calls are reserved for the graph named."""
        self._treasury.tell(self._mine, graph_id)

    @property
    def beside(self) -> Batch:
        """What is stored beside the event that records the calls: their prompts, and the lines shown in them (ADR
        0044)."""
        return Batch(prompts=tuple(self._prompts), shown=tuple(self._shown))

    def begin_anew(self) -> None:
        """Start a new list of calls: those so far were recorded in the middle of the act."""
        self._calls_told += len(self.calls)
        self.calls, self._prompts, self._shown = [], [], []

    async def ask(self, prompt: Prompt, shown: Shown) -> Completion:
        """The model's answer. Raises `BudgetExceeded` before a call that does not fit the budget."""
        route = self._route
        tokens_in = tokens_guessed(prompt.system) + tokens_guessed(prompt.user)
        worst = Tokens(tokens_in, prompt.reply_tokens_max)
        usd = None if route.price is None else route.price.worst(worst)
        reserved = Usage(1, tokens_in + prompt.reply_tokens_max, usd or 0.0, usd is None)
        for attempt in range(unreached_in_a_row_max):
            await self._treasury.reserve(self._mine, reserved)
            try:
                completion = await self._answer(prompt, worst)
            except (BudgetExceeded, RecordedFailure) as end:  # Only in a replay: the recorded act ended here.
                failed = end if isinstance(end, RecordedFailure) else end.__cause__
                self._note(prompt, shown, failed.call if isinstance(failed, RecordedFailure) else None)
                raise
            except ModelUnreachable as away:
                self._note(prompt, shown, self._call(prompt, away, worst))
                if attempt + 1 == unreached_in_a_row_max:
                    raise
            except BaseException as wrong:
                self._note(prompt, shown, self._call(prompt, wrong, worst))
                raise
            else:
                self._note(prompt, shown, self._call(prompt, completion, worst))
                return completion
        raise ModelUnreachable(
            f"The model {route.name} was not reached. Start its server, then continue the run."
        )

    async def _answer(self, prompt: Prompt, worst: Tokens) -> Completion:
        if self._recorded is not None:
            recorded = self._recorded(self._calls_told + len(self.calls), prompt)
            if recorded is not None:
                return recorded
        completion, price = _storable(await self._route.model.complete(prompt)), self._route.price
        if completion.usd is not None or price is None:
            return completion
        # A model that counts no tokens is not free: its call costs what was reserved.
        usd = price.of(completion.usage) if completion.usage.total else price.worst(worst)
        return replace(completion, usd=usd, price_source="route")

    def _call(self, prompt: Prompt, answer: Completion | BaseException, worst: Tokens) -> Call:
        """The record of a call that ended in this answer or failure."""
        system, user, model = _system_digest(prompt.system), text_digest(prompt.user), self._route.name
        asked: Json = {
            "form": prompt.form,
            "schema": _schema_digest(prompt.schema),
            "decoding": self._decoding,
        }
        if isinstance(answer, Completion):
            return Call(
                answer.model,
                system,
                user,
                prompt.seed,
                answer.text,
                answer.reasoning,
                answer.usage,
                answer.usd,
                answer.milliseconds,
                finish=answer.finish,
                price_source=answer.price_source,
                served_by=answer.served_by,
                response_id=answer.response_id,
                queued_ms=answer.queued_ms,
                load_ms=answer.load_ms,
                first_text_ms=answer.first_text_ms,
                **asked,
            )
        model = getattr(answer, "model", "") or model
        if isinstance(answer, ModelUnreachable):
            return Call(model, system, user, prompt.seed, reached=False, error=str(answer), **asked)
        is_cut_off = isinstance(answer, asyncio.CancelledError)
        error = "The call was cut off before it was answered." if is_cut_off else failure_of(answer)
        price, usage = self._route.price, replace(worst, is_estimated=True)
        usd = None if price is None else price.worst(worst)
        if isinstance(answer, ModelFailed) and answer.usage is not None:
            usage, usd = answer.usage, None if price is None else price.of(answer.usage)
        return Call(model, system, user, prompt.seed, usage=usage, usd=usd, error=error, **asked)

    def _note(self, prompt: Prompt, shown: Shown, call: Call | None) -> None:
        """Settle the cost of a call, and record it. None: it was not made."""
        self._treasury.settle(self._mine, NOTHING if call is None else usage_of(call))
        if call is not None:
            self.calls.append(call)
            self._shown.append(shown)
            self._prompts += ((call.system, prompt.system), (call.user, prompt.user))


_schema_digests_cache: dict[int, tuple[Json | None, str]] = {}
"""The digests of schemas by their address in memory; each entry keeps its schema, so that the address stays its own."""


def _schema_digest(schema: Json | None) -> str:
    known = _schema_digests_cache.get(id(schema))
    if known is None:
        if len(_schema_digests_cache) >= digest_cache_texts_max:
            _schema_digests_cache.clear()
        known = _schema_digests_cache[id(schema)] = schema, schema_digest(schema)
    return known[1]


AskedFor: TypeAlias = tuple[str, str | None]
"""A profile, and the model that the run uses instead of the profile's own, if it names one."""


class Routes:
    """Turns profiles into models, for creatures and for whole casts."""

    def __init__(self, router: Router, offline: Router, ledger: Ledger) -> None:
        self._router = router
        self._offline = offline
        self._ledger = ledger

    def route(self, profile: str, model: str | None = None) -> Route:
        """The route of a profile, or of the model that a run names."""
        return self._router.route(profile) if model is None else self._router.route(profile, model)

    def route_of(self, creature: CreatureState, profile: str) -> Route:
        """The route of a creature, whose run may have bound it to a model (ADR 0037), or continue offline."""
        purse = self._ledger.folded.runs.purses.get(creature.run_id or "")
        if purse is not None and purse.is_offline:
            return self._offline.route(profile)
        return self.route(profile, None if purse is None else purse.bound.get(creature.id))

    def check_prices(self, asked_for: Iterable[AskedFor]) -> None:
        """Refuse a limit in dollars if the price of any of these models is unknown."""
        for profile, model in sorted(asked_for, key=str):
            route = self.route(profile, model)
            if route.price is None:
                raise Refused(
                    f"hourly_budget_usd is set, and nobody knows the price of {route.name} behind {profile!r}.",
                    "Give its price, or take the limit away.",
                )

    def check_price_for(self, run_id: str | None, profile: str) -> None:
        """Check the price of a creature that joins a run, if the run's limits are in dollars."""
        purse = self._ledger.folded.runs.purses.get(run_id or "")
        if purse is not None and purse.limits.hourly_budget_usd is not None:
            self.check_prices([(profile, None)])

    def check_prices_in(self, run_id: str) -> None:
        """Check the prices of the models of every live creature of a run."""
        world = self._ledger.world
        cast = [creature for creature in world.creatures.values() if creature.run_id == run_id]
        self.check_prices({(world.facts_of(one).model_profile, None) for one in cast})

    def with_models(self, intent: OpenRun) -> OpenRun:
        """The same opening with the model of each member filled in. Refused if dollars are limited and a price is
        unknown."""
        members = [member for troupe in intent.troupes for member in troupe.members]
        self._check_prices_for(intent.started, [_asked_for(member) for member in members])
        troupes = [
            replace(troupe, members=tuple([self._with_model(member) for member in troupe.members]))
            for troupe in intent.troupes
        ]
        return replace(intent, troupes=tuple(troupes))

    def _with_model(self, member: Member) -> Member:
        return replace(member, model=self.route(*_asked_for(member)).name)

    def with_models_now(self, past: Folded, started: RunStarted) -> RunStarted:
        """The `run.started` payload of a run that continues a past, with the models that the router gives now."""
        return replace(started, cast=[self._model_now(past, entry) for entry in started.cast])

    def _model_now(self, past: Folded, entry: CastEntry) -> CastEntry:
        creature = past.world.creatures.get(entry.creature)
        if creature is None:
            return entry
        profile = past.world.facts_of(creature).model_profile
        model = self.route(profile, entry.model if entry.is_bound else None).name
        return replace(entry, profile=profile, model=model)

    def check_prices_of(self, past: Folded, intent: Restate) -> None:
        """Check the prices of continued runs, whose limits and creatures may have changed."""
        for run in intent.runs:
            if run.started is not None:
                bound = past.runs.purses[run.old].bound
                asked_for = [
                    (fields_of(born.manifest or {}).model_profile, bound.get(born.creature))
                    for graph in intent.graphs
                    for born in graph.creatures
                    if born.run_id == run.old
                ]
                self._check_prices_for(run.started, asked_for)

    def _check_prices_for(self, started: RunStarted, asked_for: list[AskedFor]) -> None:
        if started.limits is not None and started.limits.hourly_budget_usd is not None:
            spawnable = [(fields_of(manifest).model_profile, None) for manifest in started.spawnable.values()]
            self.check_prices({*asked_for, *spawnable})


def _asked_for(member: Member) -> AskedFor:
    return fields_of(member.manifest).model_profile, member.model if member.is_bound else None
