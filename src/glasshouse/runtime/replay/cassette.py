"""The cassette: what is on record of the acts that a replay drives again.

Always holds: an answer is found by creature, cause and attempt. Nothing is asked of a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from glasshouse.errors import ModelUnreachable
from glasshouse.events import kinds
from glasshouse.events.event import Draft, Event
from glasshouse.events.payloads import AgentFailed, payload_of
from glasshouse.runtime.acts.act import time_of
from glasshouse.runtime.acts.act_so_far import ActSoFar, Step, act_so_far_of, completion_of, ways_of
from glasshouse.runtime.acts.asking import Recorded
from glasshouse.runtime.minds.minds import Agent, ManifestAgent
from glasshouse.runtime.ports import Route
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import CONTEXT_TOKENS, REPLY_TOKENS, Completion, Prompt, text_digest
from glasshouse.world.state.state import CreatureState, World

Act = tuple[str, str]
"""A creature and the cause it answers."""


class PromptChange(NamedTuple):
    """A prompt that is not what it was when it was recorded."""

    creature: str
    turn: int
    system_then: str
    user_then: str
    prompt_now: Prompt


def act_of(event: Event) -> Act | None:
    """The act that an event ends, or in which a tool is called."""
    is_step = event.kind == kinds.TOOL_CALLED or event.ends_its_act
    return (event.actor, event.caused_by) if is_step and event.caused_by is not None else None


class Cassette:
    """The recorded acts: how each ended, what it did with tools, what its models answered."""

    def __init__(self, events: Iterable[Event], begun: Mapping[str, tuple[str, list[Event]]]) -> None:
        """`begun` are the acts that were in the middle of using tools when the record begins: by creature, with their
        cause and what they had written."""
        self.changes: list[PromptChange] = []
        self.given: Counter[str] = Counter()
        self.world: Callable[[], World] = World
        """The world of the replay."""
        self.wait_for_turn_of: Callable[[str], Awaitable[None]] | None = None
        """Waits until the next recorded change is of this creature, graph or run."""
        before = {name: ((name, cause), written) for name, (cause, written) in begun.items()}
        self._calls_before = {
            act: sum(len(event.calls) for event in written if event.kind == kinds.TOOL_CALLED)
            for act, written in before.values()
        }
        """How many calls acts had made before the record begins, which are not asked again."""
        recorded = list(events)
        self._ways = ways_of(recorded, act_of, before)
        self._ends = {act_of(event): event for event in recorded if event.ends_its_act}

    async def before_commit(self, who: str) -> None:
        """Wait until the next recorded change is of this creature, graph or run."""
        if self.wait_for_turn_of is not None:
            await self.wait_for_turn_of(who)

    async def make_ready(self, run_id: str) -> None:
        """The record is at hand."""

    def end_of(self, creature_id: str, cause_id: str) -> Event | None:
        """The event that an act ended in then."""
        return self._ends.get((creature_id, cause_id))

    def way_of(self, creature_id: str, cause_id: str) -> ActSoFar:
        """What an act did with tools before it ended."""
        return act_so_far_of(self._ways.get((creature_id, cause_id), ()))

    def as_of(self, creature_id: str, cause_id: str) -> str | None:
        """The last event that an act's prompts saw then."""
        end = self.end_of(creature_id, cause_id)
        return self.way_of(creature_id, cause_id).as_of or (None if end is None else end.as_of)

    def seen_upto(self, creature: CreatureState, cause: Event) -> int | None:
        """The time up to which an act's prompts saw the past then."""
        as_of = self.as_of(creature.id, cause.id)
        is_known = as_of is not None and as_of.rpartition(".")[0] in self.world().sessions
        return time_of(self.world(), as_of) if is_known and as_of is not None else None

    def answers(self, creature: CreatureState, cause: Event, profile: str, model: str) -> Recorded | None:  # noqa: ARG002 (the protocol's names)
        """The recorded answers to an act's calls, in order: those on its way, then those behind its end."""
        act = (creature.id, cause.id)
        end = self.end_of(*act)
        calls = [call for step in self.way_of(*act).steps for call in step.called.calls]
        calls += [] if end is None else end.calls
        calls = calls[self._calls_before.get(act, 0) :]

        def recorded(number: int, prompt: Prompt) -> Completion | None:
            if number >= len(calls):
                raise ModelUnreachable(f"Call {number + 1} of {creature.handle} was not recorded.")
            call = calls[number]
            if (call.system, call.user) != (text_digest(prompt.system), text_digest(prompt.user)):
                turn = 0 if end is None else end.turn
                self.changes.append(PromptChange(creature.handle, turn, call.system, call.user, prompt))
            if not call.reached:
                raise ModelUnreachable(call.error)
            return completion_of(call)

        return recorded

    def step_then(self, creature: CreatureState, cause: Event, way: Sequence[Step]) -> Step | None:
        """The call of the same number in the act as it was then, whatever it asked for: what differs is to be seen."""
        steps = self.way_of(creature.id, cause.id).steps
        return steps[len(way) - 1] if len(way) <= len(steps) else None


class RecordedAgent(Agent):
    """Plays a creature again: from recorded answers where a model was asked, else by saying what it said."""

    goes_on_from_its_talk = True

    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette
        self._by_manifest = ManifestAgent()

    async def act(self, moment: Moment) -> Draft | None:
        """What was said then, found again by the same way where that can be."""
        end = self._cassette.end_of(moment.creature_id, moment.cause.id)
        if end is None or end.model is not None:
            return await self._by_manifest.act(moment)
        if moment.carry is not None:
            for step in self._cassette.way_of(moment.creature_id, moment.cause.id).steps[len(moment.talk) :]:
                await moment.carry(step.call)
        if end.kind == kinds.AGENT_FAILED:
            raise ModelUnreachable(payload_of(end, AgentFailed).reason)
        return draft_of(end)


def draft_of(event: Event) -> Draft:
    """What a creature handed in that became this event."""
    return Draft(**{name: getattr(event, name) for name in Draft.__struct_fields__})


class NoModel:
    """Stands behind every profile in a replay, and is never asked."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    async def complete(self, prompt: Prompt) -> Completion:
        """Refuse: everything that was asked is on the record."""
        raise ModelUnreachable(f"A replay asks no model, and this prompt is not on record: {prompt.digest}.")

    def route(self, profile: str, model: str | None = None) -> Route:
        """The name that stood behind the profile then, with sizes as the record's prompts were made for."""
        return Route(
            self, model or self._names.get(profile, ""), CONTEXT_TOKENS[profile], REPLY_TOKENS[profile]
        )
