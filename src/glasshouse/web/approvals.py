"""Approvals: changes that a creature proposes, answered by a director on the page.

Always holds: a proposal waits only while a director looks on at its run; otherwise the answer is no, at once. The first
answer stands. What was proposed and decided is in the ledger, like with any other approver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from glasshouse.errors import Refused
from glasshouse.runtime.ports import Proposal, Verdict
from glasshouse.web.commands import Command, Name, Stage, text_chars_max
from glasshouse.web.refusals import COMMANDS


class Answer(Command):
    """What a director says to the proposal of a creature."""

    creature: Name
    is_approved: bool
    reason: Annotated[str, Field(max_length=text_chars_max)] = ""


class Approvals:
    """Proposals that wait for an answer. `alone_seconds` tells how long no director has looked on at a run."""

    def __init__(self, alone_seconds: Callable[[str], float]) -> None:
        self._alone_seconds = alone_seconds
        self._waiting: dict[str, asyncio.Future[Verdict]] = {}
        """Creature -> the answer to come. An act makes one proposal at a time."""

    async def ask(self, proposal: Proposal) -> Verdict | None:
        """The answer to a proposal; none if nobody is there to ask."""
        if proposal.run_id is None or self._alone_seconds(proposal.run_id) > 0:
            return None
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._waiting[proposal.creature] = answer
        try:
            return await answer
        finally:
            del self._waiting[proposal.creature]

    def answer(self, creature: str, verdict: Verdict) -> None:
        """Answer what a creature has proposed."""
        waiting = self._waiting.get(creature)
        if waiting is None or waiting.done():
            raise Refused(f"{creature} waits for no answer.", "It was answered already, or waited too long.")
        waiting.set_result(verdict)


def approvals_of(request: Request) -> Approvals:
    """The proposals that the app of a request has."""
    approvals: Approvals = request.app.state.approvals
    return approvals


router = APIRouter(prefix="/api/v1", responses=COMMANDS)


@router.post("/approvals", status_code=204)
async def answer(
    _stage: Stage, approvals: Annotated[Approvals, Depends(approvals_of)], given: Answer
) -> None:
    """Allow or refuse what a creature proposes."""
    approvals.answer(given.creature, Verdict(given.is_approved, "director", given.reason))
