"""An errand: one tool call, made for a creature during its act, through the same intents as everybody's.

Always holds: an edit and the `tool.returned` that answers its call are one batch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import payload_of
from glasshouse.events.run_payloads import ToolCalled
from glasshouse.runtime.folded import Folded
from glasshouse.turns.tools import ToolAnswer
from glasshouse.world.intents import Intent, ReturnTool
from glasshouse.world.state import CreatureState
from glasshouse.world.values import Change

BeforeCommit = Callable[[str], Awaitable[None]]
"""Awaited before a creature writes anything: where a replay lets happen what came before."""


class Outcome(Protocol):
    """What came of an intent, durable."""

    @property
    def events(self) -> list[Event]:
        """The events that tell of it."""


class Door(Protocol):
    """The ledger as a tool may use it: the same door as everybody's."""

    @property
    def folded(self) -> Folded:
        """The pending world, and what the rules of playing keep beside it."""

    async def wait_for_room(self) -> None:
        """Wait until the next change is decided at once: what is asked of the world until then holds for it."""

    async def change(self, intent: Intent) -> Outcome:
        """Decide an intent and wait until what came of it is durable."""

    async def edit(
        self, intent: Intent, creature_id: str, cause: str, tell: Callable[[Change, str], Intent]
    ) -> Outcome:
        """Decide an intent and what is told of it, as one batch: all or nothing."""


class Errand:
    """One call of a tool on behalf of a creature in the middle of its act."""

    __slots__ = (
        "before_commit",
        "called",
        "creature_id",
        "is_untrusted",
        "ledger",
        "number",
        "on_the_way",
        "returned",
        "then",
        "tool",
    )

    def __init__(
        self,
        ledger: Door,
        creature_id: str,
        called: Event,
        *,
        is_untrusted: bool,
        on_the_way: tuple[Event, ...] = (),
        then: tuple[Event, ...] = (),
        before_commit: BeforeCommit | None = None,
    ) -> None:
        self.ledger = ledger
        self.creature_id = creature_id
        self.called = called
        """The `tool.called` that asks for this; durable."""
        call = payload_of(called, ToolCalled)
        self.tool, self.number = call.tool, call.number
        self.is_untrusted = is_untrusted
        """Whether a visitor's words, or those of a tool that is not the engine's, were in this act's prompts."""
        self.on_the_way = on_the_way
        """What this very call has written already, where it is carried out again after a crash: `edit.proposed` and
        `edit.decided`."""
        self.then = then
        """In a replay, what this call wrote on its way then."""
        self.before_commit = before_commit
        self.returned: Event | None = None
        """The `tool.returned`, where the tool itself has written it together with its edit."""

    @property
    def folded(self) -> Folded:
        """The pending world."""
        return self.ledger.folded

    @property
    def creature(self) -> CreatureState | None:
        """The caller as it is now; none if it was removed meanwhile."""
        return self.ledger.folded.world.creatures.get(self.creature_id)

    async def wait_for_room(self) -> None:
        """Wait until the next change is decided at once: what is asked of the world until then holds for it."""
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

        def tell(change: Change, subject: str) -> ReturnTool:
            answers.append(answer(change, subject))
            return self.returning(answers[0], is_edit=True)

        outcome = await self.ledger.edit(intent, self.creature_id, self.called.id, tell)
        self.returned = next(
            (one for one in outcome.events if one.caused_by == self.called.id and _tells(one)), None
        )
        return answers[0]

    def returning(self, answer: ToolAnswer, *, is_edit: bool = False) -> ReturnTool:
        """The intent that writes an answer."""
        return ReturnTool(
            creature=self.creature_id,
            called=self.called.id,
            tool=self.tool,
            number=self.number,
            is_ok=answer.is_ok,
            text=answer.text,
            result=answer.result,
            is_edit=is_edit,
            is_engine=answer.is_engine,
        )


def _tells(event: Event) -> bool:
    return event.kind == kinds.TOOL_RETURNED
