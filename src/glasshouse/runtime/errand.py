"""An errand: one tool call, made for a creature during its act, through the same intents as everybody's.

Always holds: an edit and the `tool.returned` that answers its call are one batch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import asdict

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import ToolCalled, ToolReturned, payload_of
from glasshouse.runtime.folded import Folded
from glasshouse.turns.moment.tools import ToolAnswer
from glasshouse.world.decisions.intents import FollowCall, Intent
from glasshouse.world.state.state import CreatureState
from glasshouse.world.state.values import Change

BeforeCommit = Callable[[str], Awaitable[None]]
"""Awaited before a creature writes anything: where a replay lets happen what came before."""


class Outcome(Protocol):
    """The durable result of an intent."""

    @property
    def events(self) -> list[Event]:
        """The events of it."""


class Door(Protocol):
    """The ledger as a tool may use it: the same door as everybody's."""

    @property
    def folded(self) -> Folded:
        """The pending world, and what the rules of playing keep beside it."""

    async def wait_for_room(self) -> None:
        """Wait until the next change can be decided at once, on the world as it is then."""

    async def change(self, intent: Intent) -> Outcome:
        """Decide an intent and wait until its result is durable."""

    async def edit(
        self, intent: Intent, creature_id: str, cause: str, tell: Callable[[Change, str], Intent]
    ) -> Outcome:
        """Decide an intent and its answer as one batch: all or nothing."""


@dataclass
class Errand:
    """One call of a tool on behalf of a creature in the middle of its act."""

    ledger: Door
    creature_id: str
    called: Event
    """The `tool.called` that asks for this; durable."""
    is_untrusted: bool
    """Whether a visitor's words, or those of a tool that is not the engine's, were in this act's prompts."""
    on_the_way: tuple[Event, ...] = ()
    """What this call has written already, where it is carried out again after a crash: `edit.proposed` and
    `edit.decided`."""
    then: tuple[Event, ...] = ()
    """In a replay, what this call wrote then."""
    before_commit: BeforeCommit | None = None
    returned: Event | None = None
    """The `tool.returned`, where the tool itself has written it together with its edit."""

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
        """The caller as it is now; none if it was removed meanwhile."""
        return self.ledger.folded.world.creatures.get(self.creature_id)

    async def wait_for_room(self) -> None:
        """Wait until the next change can be decided at once, on the world as it is then."""
        if self.before_commit is not None:
            await self.before_commit(self.creature_id)
        await self.ledger.wait_for_room()

    async def write(self, intent: Intent) -> None:
        """Write something on the way of this call; on return it is durable."""
        await self.wait_for_room()
        await self.ledger.change(intent)

    async def edit(self, intent: Intent, answer: Callable[[Change, str], ToolAnswer]) -> ToolAnswer:
        """Carry out an intent and tell the caller of it, in one batch; the answer, which is then written already.

        `answer` sees the world right after the change, and must not raise. Raises `Refused` where the intent is refused.
        """
        answers: list[ToolAnswer] = []

        def tell(change: Change, subject: str) -> FollowCall:
            answers.append(answer(change, subject))
            return self.returning(answers[0], is_edit=True)

        if self.before_commit is not None:
            await self.before_commit(self.creature_id)
        outcome = await self.ledger.edit(intent, self.creature_id, self.called.id, tell)
        answered = [
            e for e in outcome.events if e.kind == kinds.TOOL_RETURNED and e.caused_by == self.called.id
        ]
        self.returned = answered[0] if answered else None
        return answers[0]

    def returning(self, answer: ToolAnswer, *, is_edit: bool = False) -> FollowCall:
        """The intent that writes an answer."""
        call = payload_of(self.called, ToolCalled)
        returned = ToolReturned(call.tool, call.number, is_edit=is_edit, **asdict(answer))
        return FollowCall(self.creature_id, self.called.id, returned)
