"""An act that was cut off, read back: what it asked, which tools it called, and what they said.

Always holds: it is read from the ledger alone. A completion that came and a tool that returned are in it, in order;
the last call may have no answer yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.turns.prompt import Completion
from glasshouse.turns.tools import ToolCall, ToolTalk, answer_of


class Step(NamedTuple):
    """One call of a tool: how it was asked for, what was written on the way, and what came of it, if anything did."""

    called: Event
    on_the_way: tuple[Event, ...] = ()
    returned: Event | None = None

    @property
    def call(self) -> ToolCall:
        """What was asked for."""
        return ToolCall(self.called.payload["tool"], self.called.payload["arguments"], self.called.private)

    @property
    def talk(self) -> ToolTalk | None:
        """The call with its answer; none if there is no answer yet."""
        if self.returned is None:
            return None
        return ToolTalk(self.call.tool, self.call.arguments, answer_of(self.returned))


class TakenUp(NamedTuple):
    """What an act has written before it was cut off."""

    steps: tuple[Step, ...] = ()

    @property
    def as_of(self) -> str | None:
        """The last event that its prompts see."""
        told = None if not self.steps else self.steps[0].called.model
        found: str | None = None if told is None else told.get("as_of")
        return found

    @property
    def calls(self) -> list[Json]:
        """The model calls that were answered, in order."""
        return [call for step in self.steps for call in calls_of(step.called) if call.get("reached", True)]

    @property
    def is_untrusted(self) -> bool:
        """Whether words of a visitor, or of a tool that is not the engine's, were in its prompts."""
        return any((step.called.model or {}).get("is_untrusted", False) for step in self.steps)


NOTHING_YET = TakenUp()


def taken_up_from(events: Iterable[Event]) -> TakenUp:
    """What the events of an act under way come to."""
    steps: list[Step] = []
    for event in events:
        if event.kind == kinds.TOOL_CALLED:
            steps.append(Step(event))
        elif not steps or event.caused_by != steps[-1].called.id:
            continue  # Of another act.
        elif event.kind == kinds.TOOL_RETURNED:
            steps[-1] = steps[-1]._replace(returned=event)
        else:
            steps[-1] = steps[-1]._replace(on_the_way=(*steps[-1].on_the_way, event))
    return TakenUp(tuple(steps))


def calls_of(event: Event) -> Sequence[Json]:
    """The model calls behind an event."""
    calls: Sequence[Json] = () if event.model is None else event.model.get("calls", ())
    return calls


def completion_of(call: Json) -> Completion:
    """The completion that a recorded call was answered with."""
    usage = call.get("usage") or {}
    return Completion(
        text=call["completion"],
        model=call["model"],
        input_tokens=usage.get("input", 0),
        output_tokens=usage.get("output", 0),
        usd=call.get("usd"),
        reasoning=call.get("reasoning"),
        milliseconds=call.get("milliseconds", 0.0),
    )
