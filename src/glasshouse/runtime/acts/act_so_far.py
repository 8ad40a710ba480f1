"""What the ledger holds of an act that uses tools: its model calls, its tool calls and their answers.

An interrupted act continues from this record. Replays and branches take answers from it.

Always holds: the record comes only from the ledger. It holds the tool calls in order, each with the model calls before
it. A call lacks an answer only if it was cut off, or is under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from glasshouse.events import kinds
from glasshouse.events.described_tool import is_of_server
from glasshouse.events.event import Event
from glasshouse.events.model_use import Call
from glasshouse.events.payloads import EditDecided, ToolCalled, ToolReturned, payload_of
from glasshouse.turns.moment.prompt import Completion
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolTalk, answer_of


class Step(NamedTuple):
    """One tool call: the event that records the call, the events written during it, and its answer, if there is one."""

    called: Event
    on_the_way: tuple[Event, ...] = ()
    returned: Event | None = None
    cut_off: Exception | None = None
    """In a replay: what the act met instead of an answer, because the call was cut off."""

    @property
    def call(self) -> ToolCall:
        """The call."""
        called = payload_of(self.called, ToolCalled)
        return ToolCall(called.tool, called.arguments, self.called.private)

    @property
    def is_untrusted(self) -> bool:
        """Whether the prompts before the call held text of a visitor or of a tool that is not the engine's."""
        return self.called.model is not None and self.called.model.is_untrusted

    @property
    def talk(self) -> ToolTalk | None:
        """The call with its answer; None if there is no answer yet."""
        if self.returned is None:
            return None  # The call was cut off, or is under way.
        return ToolTalk(self.call.tool, self.call.arguments, answer_of(self.returned))

    @property
    def answer_on_record(self) -> ToolAnswer | None:
        """The recorded answer, if it may be reused instead of calling the tool again. Edits of the graph and the
        engine's own tools are carried out again: their effects are part of the story. A tool of a server never is, also if
        the engine refused its call."""
        if self.returned is None or payload_of(self.returned, ToolReturned).is_edit:
            return None  # There is none, or it must be made again.
        answer = answer_of(self.returned)
        return None if answer.is_engine and not is_of_server(self.call.tool) else answer

    @property
    def may_have_been_made(self) -> bool:
        """Whether the tool may have been called: nobody had to be asked first, or somebody said yes."""
        decided = [event for event in self.on_the_way if event.kind == kinds.EDIT_DECIDED]
        return not self.on_the_way or any(payload_of(event, EditDecided).is_approved for event in decided)


class ActSoFar(NamedTuple):
    """What an act had written before it was interrupted."""

    steps: tuple[Step, ...] = ()

    @property
    def as_of(self) -> str | None:
        """The id of the last event that the act's prompts see."""
        return self.steps[0].called.as_of if self.steps else None

    @property
    def recalled(self) -> tuple[str, ...] | None:
        """The ids of the lines that its long memory gave it; None if it has written nothing."""
        use = self.steps[0].called.model if self.steps else None
        return None if use is None else use.recalled

    @property
    def calls(self) -> list[Call]:
        """The model calls that were answered, in order. Those without texts, from a redacted file, are asked again, and so
        are those that an agent made by its own means."""
        calls = [call for step in self.steps for call in step.called.calls]
        return [call for call in calls if call.is_answered and call.has_texts and not call.is_own]

    @property
    def is_untrusted(self) -> bool:
        """Whether its prompts held text of a visitor or of a tool that is not the engine's."""
        return any(step.is_untrusted for step in self.steps)


NOTHING_YET = ActSoFar()


def act_so_far_of(events: Iterable[Event]) -> ActSoFar:
    """The record of an act, made from its events."""
    steps: list[Step] = []
    for event in events:
        if event.kind == kinds.TOOL_CALLED:
            steps.append(Step(event))
        elif not steps or event.caused_by != steps[-1].called.id:
            continue  # The event belongs to another act.
        elif event.kind == kinds.TOOL_RETURNED:
            steps[-1] = steps[-1]._replace(returned=event)
        else:
            steps[-1] = steps[-1]._replace(on_the_way=(*steps[-1].on_the_way, event))
    return ActSoFar(tuple(steps))


ActKey = tuple[int, int]
"""Names an act without ids, which differ between branches: the creature's number in the run and the time of the
cause."""


Key = TypeVar("Key")


def tool_events_by_act(
    events: Iterable[Event],
    key_of: Callable[[Event], Key | None],
    begun: Mapping[str, tuple[Key, list[Event]]] = MappingProxyType({}),
) -> dict[Key, list[Event]]:
    """The events that each act wrote from its first tool call on, by the act's key.

    `events` are in the order of commits. A call without a key is left out. `begun` holds, by actor, the acts that were
    already under way before these events.
    """
    by_act = {key: list(written) for key, written in begun.values()}
    under_way = {actor: by_act[key] for actor, (key, _) in begun.items()}
    for event in events:
        if event.kind == kinds.TOOL_CALLED:
            key = key_of(event)
            under_way[event.actor] = [] if key is None else by_act.setdefault(key, [])
        if event.kind in kinds.MID_ACT and event.actor in under_way:
            under_way[event.actor].append(event)
    return by_act


def step_alike(now: Sequence[Step], then: Sequence[Step]) -> Step | None:
    """The recorded step that equals the last step of `now`, if all steps before it are equal, too; else None."""
    if not 0 < len(now) <= len(then):
        return None  # The record is shorter.
    pairs = list(zip(now, then, strict=False))
    is_same = all(_asked_for(mine.called) == _asked_for(other.called) for mine, other in pairs)
    return then[len(now) - 1] if is_same and all(a.talk == b.talk for a, b in pairs[:-1]) else None


def _asked_for(called: Event) -> object:
    """A call and what led to it: prompts and completions, or, for an agent that asked no model, what it was shown."""
    use = called.model
    if use is None:
        return called.payload  # Its event tells nothing of a model.
    calls = [(call.model, call.system, call.user, call.seed, call.completion) for call in use.calls_answered]
    return called.payload, use.profile, use.shown, calls


def completion_of(call: Call) -> Completion:
    """The completion of a recorded model call."""
    same = {name: getattr(call, name) for name in _IN_BOTH}
    return Completion(text=call.completion, **same)


_IN_BOTH = tuple(name for name in Completion.__struct_fields__ if name in Call.__struct_fields__)
"""The fields that a recorded call has from its completion."""
