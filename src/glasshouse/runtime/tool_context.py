"""What a tool is given with a call: for whom it works, and the part of the ledger that it may use. It changes the world
through the usual intents (ADR 0035).

Always holds: an edit and the `tool.returned` that answers its call are one batch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import asdict

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import EditDecided, EditProposed, ToolCalled, ToolReturned, payload_of
from glasshouse.runtime.folded import Folded
from glasshouse.turns.moment.moment import FarLine
from glasshouse.turns.moment.tools import ToolAnswer
from glasshouse.world.decisions.intents import FollowCall, Intent
from glasshouse.world.state.state import CreatureState
from glasshouse.world.state.values import Change

Recall = Callable[[str], Awaitable[Sequence[FarLine]]]
"""Searches the caller's long memory for some words."""

BeforeCommit = Callable[[], Awaitable[None]]
"""Awaited before a creature writes anything. A replay uses it to repeat first what was recorded before."""


class Outcome(Protocol):
    """The durable result of an intent."""

    @property
    def events(self) -> list[Event]:
        """The events that the intent became."""


class ToolLedger(Protocol):
    """The part of the ledger that a tool may use."""

    @property
    def folded(self) -> Folded:
        """The pending world, and the state of runs and turns beside it."""

    async def wait_for_room(self) -> None:
        """Wait until the next change can be decided at once, on the world as it is then."""

    async def change(self, intent: Intent) -> Outcome:
        """Decide an intent and wait until its result is durable."""

    async def edit(self, intent: Intent, cause: str, tell: Callable[[Change, str], Intent]) -> Outcome:
        """Decide an intent and its answer as one batch: all or nothing."""


@dataclass
class ToolContext:
    """The context of one tool call, made for a creature in the middle of its act."""

    ledger: ToolLedger
    creature_id: str
    called: Event
    """The `tool.called` event of this call; it is durable."""
    is_untrusted: bool
    """Whether this act's prompts held text of a visitor or of a tool that is not the engine's."""
    on_the_way: tuple[Event, ...] = ()
    """What this call had already written before a crash: `edit.proposed` and `edit.decided`."""
    then: tuple[Event, ...] = ()
    """In a replay or a branch, what the recorded call wrote."""
    before_commit: BeforeCommit | None = None
    recall: Recall | None = None
    """Searches the caller's long memory; None if it has none. In a replay, the lines on record are read and checked instead."""
    is_strict: bool = False
    """Whether what a program's own tool raises is raised to whoever drives, instead of being its answer."""
    returned: Event | None = None
    """The `tool.returned` event, once it is written; an edit writes it in the same batch."""

    @property
    def number(self) -> int:
        """The number of the call in its act."""
        return payload_of(self.called, ToolCalled).number

    @property
    def folded(self) -> Folded:
        """The pending world."""
        return self.ledger.folded

    @property
    def creature(self) -> CreatureState | None:
        """The caller as it is now; None if it was removed meanwhile."""
        return self.ledger.folded.world.creatures.get(self.creature_id)

    async def wait_for_room(self) -> None:
        """Wait until the next change can be decided at once, on the world as it is then."""
        if self.before_commit is not None:
            await self.before_commit()
        await self.ledger.wait_for_room()

    async def write(self, intent: Intent) -> None:
        """Write an intent during this call. On return it is durable."""
        await self.wait_for_room()
        await self.ledger.change(intent)

    async def repeat(self) -> None:
        """Write what the recorded call wrote before its answer, as far as this call has not written it."""
        for event in self.then[len(self.on_the_way) :]:
            is_proposal = event.kind == kinds.EDIT_PROPOSED
            payload = payload_of(event, EditProposed) if is_proposal else payload_of(event, EditDecided)
            await self.write(FollowCall(self.creature_id, self.called.id, payload))

    async def edit(self, intent: Intent, answer: Callable[[Change, str], ToolAnswer]) -> ToolAnswer:
        """Carry out an intent and record the tool's answer in the same batch; returns that answer.

        `answer` sees the world right after the change, and must not raise. Raises `Refused` if the intent is refused.
        """
        answers: list[ToolAnswer] = []

        def tell(change: Change, subject: str) -> FollowCall:
            answers.append(answer(change, subject))
            return self.returning(answers[0], is_edit=True)

        if self.before_commit is not None:
            await self.before_commit()
        outcome = await self.ledger.edit(intent, self.called.id, tell)
        answered = [event for event in outcome.events if event.kind == kinds.TOOL_RETURNED]
        self.returned = next((event for event in answered if event.caused_by == self.called.id), None)
        return answers[0]

    def returning(self, answer: ToolAnswer, *, is_edit: bool = False) -> FollowCall:
        """The intent that writes an answer."""
        call = payload_of(self.called, ToolCalled)
        returned = ToolReturned(call.tool, call.number, is_edit=is_edit, **asdict(answer))
        return FollowCall(self.creature_id, self.called.id, returned)
