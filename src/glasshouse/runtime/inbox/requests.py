"""Changes of the graph that other processes ask for through the inbox: asking, and answering (ADR 0058).

Always holds: a request is decided at most once, by one terrarium, and its answer is written in the same commit as the
change. It is never decided after its sender has stopped waiting: a request that nobody has taken is withdrawn, and one
whose sender was killed is refused when its time is over.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

import msgspec

from glasshouse.errors import GlasshouseError, Refused
from glasshouse.runtime.ledger.ledger import Answering, Ledger, Receipt, sent_by
from glasshouse.runtime.ports import Clock
from glasshouse.runtime.store_port import Batch, InboxRequest, InboxWrites, Store
from glasshouse.runtime.waiting import whichever_first
from glasshouse.world.decisions.decision import Decision
from glasshouse.world.decisions.intents import GraphEdit
from glasshouse.world.decisions.requests import Answer, Asked, decoded_answer, decoded_asked

requests_read_max: Final = 64
"""Changes that other processes ask for are read this many at a time."""
taken_seconds_max: Final = 5.0
"""How much longer a sender waits for the answer to a request that was taken in the last moment."""

_log = logging.getLogger("glasshouse.inbox")

_NOT_DECIDED: Final = (
    "The process that took this request ended before it decided. Nothing was changed. Ask again."
)
_TOO_LATE: Final = "Its sender no longer waits for the answer. Nothing was changed. Ask again."

Edit = Callable[[GraphEdit, Answering | None], Awaitable[Receipt]]
"""Makes an edit, and answers it in the same commit; None for a dry run."""


async def answer_requests(store: Store, ledger: Ledger, clock: Clock, edit: Edit) -> None:
    """Decide the requests in the inbox, in order. Two calls must not run at the same time."""
    for request in await store.open_requests(requests_read_max):
        # A request that is taken and has no answer was taken by a process that is gone, or its commit failed.
        if request.is_taken:
            await _refuse(ledger, request, _NOT_DECIDED)
        elif await store.take_request(request.number):
            await _decide(ledger, await _now(store, clock), edit, request)


async def _now(store: Store, clock: Clock) -> datetime:
    """The time by which requests are timed: the store's own, else that of this machine."""
    return await store.time() or clock.now()


async def _decide(ledger: Ledger, now: datetime, edit: Edit, request: InboxRequest) -> None:
    def answered(decision: Decision | Receipt) -> InboxWrites:
        has_changed = bool(decision.writes if isinstance(decision, Decision) else decision.events)
        answer = Answer(decision.change, decision.subject, has_changed=has_changed)
        return _answer_to(request, answer)

    try:
        asked = decoded_asked(request.body)
        if now > asked.until:
            return await _refuse(ledger, request, _TOO_LATE)
        with sent_by(asked.sender):
            receipt = await edit(asked.intent, None if asked.dry_run else answered)
        if asked.dry_run:
            await ledger.settle(Batch(inbox=answered(receipt)))
        else:
            _log.info("%s, asked by %s", type(asked.intent).__name__, asked.sender)
    except GlasshouseError as refusal:
        await _refuse(ledger, request, str(refusal))


async def _refuse(ledger: Ledger, request: InboxRequest, why: str) -> None:
    await ledger.settle(Batch(inbox=_answer_to(request, Answer(refusal=why))))


def _answer_to(request: InboxRequest, answer: Answer) -> InboxWrites:
    return InboxWrites(answers=((request.number, msgspec.json.encode(answer).decode()),))


async def ask(
    store: Store, clock: Clock, intent: GraphEdit, *, sender: str, seconds: float, dry_run: bool = False
) -> Answer:
    """Ask the process that plays a store for a change, and wait at most this long for its answer.

    Raises `Refused` if the change is refused, and if nobody answers; then nothing is changed later, unless it says so.
    """
    until = await _now(store, clock) + timedelta(seconds=seconds)
    number = await store.put_request(msgspec.json.encode(Asked(intent, sender, until, dry_run)).decode())
    try:
        answer = await _answer(store, clock, number, seconds)
    except BaseException:
        await store.withdraw_request(number)
        raise
    if answer is None and await store.withdraw_request(number):
        raise Refused(
            f"Nobody answered in {seconds:g} seconds, so the request was withdrawn and nothing was changed.",
            "The process that plays this store is busy, suspended or ending. Ask again, or wait longer with --wait.",
        )
    answer = answer or await _answer(store, clock, number, taken_seconds_max)
    if answer is None:
        raise Refused(
            f"The request was taken but not answered in {seconds + taken_seconds_max:g} seconds. The change may still be"
            " made.",
            "Look at the graph before you ask again: glasshouse tree",
        )
    if answer.refusal:
        raise Refused(answer.refusal)
    return answer


async def _answer(store: Store, clock: Clock, number: int, seconds: float) -> Answer | None:
    """The answer, as soon as it is there; None if it does not come in time."""
    until = clock.now() + timedelta(seconds=seconds)
    seen = await store.wait_for_more("", 0)
    while True:
        request = await store.request(number)
        if request is not None and request.answer is not None:
            return decoded_answer(request.answer)
        left = (until - clock.now()).total_seconds()
        if left <= 0:
            return None
        # The store waits in real seconds, and the clock may be another.
        mark, _ = await whichever_first(store.wait_for_more(seen, left), clock.sleep(left))
        seen = mark or seen
