"""`Approval`: asks somebody outside before a change that strangers' words may have led to, or that lets in another run,
and before a call of a server's tool that may change something.

Always holds: the proposal and the verdict are in the ledger before anything changes. A recorded verdict is final:
after a crash or in a replay, the approver is not asked again. Without an approver, or without an answer in time, the
verdict is no. ADR 0035.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import VISITOR, Event
from glasshouse.events.payloads import EditDecided, EditProposed, payload_of
from glasshouse.runtime.acts.inside import be_part_of_the_act
from glasshouse.runtime.ports import Approver, Proposal, Verdict
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.line_text import cut, one_line
from glasshouse.turns.moment.tools import ToolCall
from glasshouse.world.decisions.intents import FollowCall
from glasshouse.world.state.state import CreatureState

approval_seconds_max: Final = 120.0
"""An approver that has not answered by then has said no."""
reason_chars_max: Final = 400
"""A longer reason of an approver is cut."""

NOBODY: Final = "nobody"


class ApprovalReason(NamedTuple):
    """Why somebody outside is asked, as the caller reads it and as the approver reads it."""

    for_caller: str
    for_approver: str


class Approval:
    """Asks the approver, if there is one, and records the verdict."""

    def __init__(self, approver: Approver | None) -> None:
        self._approver = approver

    async def check(
        self,
        context: ToolContext,
        caller: CreatureState,
        call: ToolCall,
        deed: str,
        reasons: list[ApprovalReason],
    ) -> None:
        """Refuse a change or a call that needs approval for these reasons, unless the approver allows it."""
        asked_because = " and ".join(part.for_approver for part in reasons)
        why = f"{caller.handle} wants to {deed}, and {asked_because}."
        verdict = await self._verdict(context, caller, call, why)
        if not verdict.is_approved:
            said_no = "" if verdict.by == NOBODY else f" The {verdict.by} said no."
            reason = f" {verdict.reason}" if verdict.reason else ""
            because = " and ".join(part.for_caller for part in reasons)
            raise Refused(
                f"To {deed} needs a yes from outside, because {because}.{said_no}{reason}",
                "Say what should be done and why, and go on without it.",
            )

    async def _verdict(
        self, context: ToolContext, caller: CreatureState, call: ToolCall, why: str
    ) -> Verdict:
        """The recorded verdict on this call; if there is none, ask and record it."""
        known = _decided(context.on_the_way)
        if known is not None:
            return known
        called = context.called.id
        number = context.number
        if not context.on_the_way:
            proposed = EditProposed(call.tool, call.arguments, number, why)
            await context.write(FollowCall(caller.id, called, proposed))
        verdict = _decided(context.then)
        if verdict is None:
            proposal = Proposal(caller.id, caller.handle, caller.run_id, call.tool, call.arguments, why)
            verdict = await self._asked(proposal)
        decided = EditDecided(verdict.is_approved, verdict.by, verdict.reason, number)
        await context.write(FollowCall(caller.id, called, decided))
        return verdict

    async def _asked(self, proposal: Proposal) -> Verdict:
        if self._approver is None:
            return Verdict(False, NOBODY, "Nobody is there to ask.")
        task = asyncio.create_task(_answer(self._approver, proposal), name="glasshouse approval")
        try:
            await asyncio.wait([task], timeout=approval_seconds_max)
            if not task.done():
                return Verdict(False, NOBODY, "Nobody answered in time.")
            failure = asyncio.CancelledError() if task.cancelled() else task.exception()
            return _read(task.result()) if failure is None else _failed(failure)
        finally:
            task.cancel()


def _decided(on_the_way: tuple[Event, ...]) -> Verdict | None:
    event = next((event for event in on_the_way if event.kind == kinds.EDIT_DECIDED), None)
    if event is None:
        return None
    decided = payload_of(event, EditDecided)
    return Verdict(decided.is_approved, decided.by, decided.reason)


async def _answer(approver: Approver, proposal: Proposal) -> bool | Verdict | None:
    be_part_of_the_act()
    try:
        return await approver(proposal)
    except SystemExit as leaving:
        return _failed(leaving)


def _failed(failure: BaseException) -> Verdict:
    """The verdict when the approver raises or is cancelled: no."""
    words = one_line(str(failure)) if isinstance(failure, Refused) else f"{type(failure).__name__}."
    return Verdict(False, NOBODY, cut(f"Asking failed: {words}", reason_chars_max))


def _read(said: object) -> Verdict:
    """The verdict in an approver's answer. Only `True` is a yes, because a string such as "no" is truthy."""
    if isinstance(said, Verdict):
        by, reason = (_plain(text) for text in (said.by, said.reason))
        return Verdict(said.is_approved is True, by or VISITOR, reason)
    if said is None:
        return Verdict(False, NOBODY, "Nobody is there to ask.")
    return Verdict(said is True, VISITOR)


def _plain(text: object) -> str:
    return cut(one_line(text), reason_chars_max) if isinstance(text, str) else ""
