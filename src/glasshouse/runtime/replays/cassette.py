"""The cassette: a run's ledger as the record that a replay is driven from.

Always holds: an answer is found by creature, cause and attempt, named by what does not hang on ids: the how-manieth
creature of the run, the time of the cause. Nothing is asked of a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from glasshouse.errors import ModelUnreachable
from glasshouse.events import kinds
from glasshouse.events.event import RESERVED_ACTORS, VISITOR, Draft, Event
from glasshouse.events.model_use import Call
from glasshouse.runtime.acts.act_so_far import (
    ActKey,
    ActSoFar,
    Step,
    act_so_far_of,
    completion_of,
    ways_of,
)
from glasshouse.runtime.acts.asking import Recorded
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.minds.agent import Agent
from glasshouse.runtime.minds.manifest_agent import ManifestAgent
from glasshouse.runtime.ports import Route
from glasshouse.turns.moment import Moment
from glasshouse.turns.prompt import CONTEXT_TOKENS, REPLY_TOKENS, Completion, Prompt, text_digest
from glasshouse.world.speaking import ends_its_act
from glasshouse.world.state import CreatureState


class PromptChange(NamedTuple):
    """A prompt that is not what it was when it was recorded."""

    creature: str
    turn: int
    system_then: str
    user_then: str
    prompt_now: Prompt


class Cassette:
    """What was recorded of a run, in the order of its commits."""

    def __init__(self, events: Iterable[Event], times: Mapping[str, int]) -> None:
        self.events = sorted(events, key=lambda event: event.position or 0)
        self.changes: list[PromptChange] = []
        self.given: Counter[str] = Counter()
        self.produced: Callable[[], int] = lambda: 0
        """How many events the replay has written so far."""
        self.let_happen: Callable[[Event], Awaitable[None]] | None = None
        self.settle: Callable[[], Awaitable[None]] | None = None
        """Waits until everything that the replay has written counts as produced."""
        self.worlds_before: Mapping[str, Folded] = {}
        """The worlds that ticks of the past saw, by the first event of theirs."""
        self._times = times
        self._is_busy = False
        self._acts: dict[ActKey, Event] = {}
        self._ways: dict[ActKey, list[Event]] = {}
        """What acts wrote on their way, from the first tool they called on."""
        self._calls_before: dict[ActKey, int] = {}
        """How many calls acts had made before the record begins, which are not asked again."""
        self._positions = {event.id: event.position or 0 for event in self.events}

    def note_acts(
        self,
        run_id: str,
        born_before: Mapping[str, int],
        begun_before: Iterable[tuple[str, int, list[Event]]],
    ) -> None:
        """Note what acts came to, given the numbers of the creatures that were there when the record begins, and which of
        them were in the middle of an act: with the time of its cause, and what they had written on its way."""
        numbers = dict(born_before)
        for event in self.events:
            is_birth = event.kind == kinds.CREATURE_STARTED and event.payload.get("manifest") is not None
            if is_birth and event.payload.get("run_id") == run_id:
                numbers.setdefault(event.payload["creature"], max(numbers.values(), default=0) + 1)

        def key_of(event: Event) -> ActKey | None:
            number = numbers.get(event.actor)
            if number is None or event.caused_by is None:
                return None
            return number, self._times[event.caused_by]

        begun = {name: ((numbers[name], time), way) for name, time, way in begun_before if name in numbers}
        for key, way in begun.values():
            self._calls_before[key] = sum(len(one.calls) for one in way if one.kind == kinds.TOOL_CALLED)
        self._ways = ways_of(self.events, key_of, begun)
        ends = [event for event in self.events if ends_its_act(event)]
        self._acts = {found: event for event in ends if (found := key_of(event)) is not None}

    def now(self) -> datetime:
        """The clock of the replay: the time at which the next event was written then."""
        place = min(self.produced(), len(self.events) - 1)
        return self.events[place].created_at if self.events else datetime.min.replace(tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        """The clock of a replay moves by what was written."""

    def next(self) -> Event | None:
        """The event that was written next."""
        place = self.produced()
        return self.events[place] if place < len(self.events) else None

    async def before_commit(self) -> None:
        """Let happen what came from outside at this very place."""
        await self._let_in(lambda _event: True)

    async def let_in_what_was_seen(self) -> None:
        """Let happen what had come from outside when the next act began to think, and not only before it was written.
        Between two acts that is all that came; within a turn that has just begun, what the act saw."""
        if self.settle is not None:
            await self.settle()
        place = self.produced()
        has_begun_turn = 0 < place <= len(self.events) and self.events[place - 1].kind == kinds.TURN_STARTED
        await self._let_in(self._was_seen if has_begun_turn else lambda _event: True)

    async def _let_in(self, is_meant: Callable[[Event], bool]) -> None:
        if self._is_busy or self.let_happen is None:
            return
        self._is_busy = True
        try:
            while (event := self.next()) is not None and came_from_outside(event) and is_meant(event):
                written = self.produced()
                await self.let_happen(event)
                if self.produced() == written:
                    break
        finally:
            self._is_busy = False

    def _was_seen(self, event: Event) -> bool:
        """Whether the next act began to think after this had come from outside; what else is next did so anyway."""
        place = self.produced()
        ahead = (self.events[number] for number in range(place, len(self.events)))
        after = next((one for one in ahead if not came_from_outside(one)), None)
        if after is None or after.kind == kinds.TURN_STARTED:
            return True
        as_of = after.as_of
        return as_of is not None and self._positions.get(as_of, 0) >= (event.position or 0)

    def act(self, creature: CreatureState, cause: Event) -> Event | None:
        """The event that an act ended in then."""
        return self.act_by(creature.ordinal, cause)

    def act_by(self, number: int, cause: Event) -> Event | None:
        """The same, by the number of the creature in its run."""
        return self._acts.get((number, cause.lamport))

    def way_by(self, number: int, cause: Event) -> ActSoFar:
        """What an act did with tools before it ended."""
        return act_so_far_of(self._ways.get((number, cause.lamport), ()))

    def seen_upto(self, creature: CreatureState, cause: Event) -> int | None:
        """The time up to which an act's prompts saw the past then."""
        told = self.act(creature, cause)
        as_of = self.way_by(creature.ordinal, cause).as_of
        if as_of is None:
            as_of = None if told is None else told.as_of
        return None if as_of is None else self._times.get(as_of)

    async def make_ready(self, run_id: str) -> None:
        """The record is at hand."""

    def answers(self, creature: CreatureState, cause: Event, profile: str, model: str) -> Recorded | None:  # noqa: ARG002 (the protocol's names)
        """The recorded answers to an act's calls, in order: those on its way, then those behind its end."""
        told = self.act(creature, cause)
        steps = self.way_by(creature.ordinal, cause).steps
        calls = [call for step in steps for call in step.called.calls]
        calls += () if told is None else told.calls
        calls = calls[self._calls_before.get((creature.ordinal, cause.lamport), 0) :]

        def recorded(number: int, prompt: Prompt) -> Completion | None:
            if number >= len(calls):
                raise ModelUnreachable(f"Call {number + 1} of {creature.handle} was not recorded.")
            call = calls[number]
            if (call.system, call.user) != (text_digest(prompt.system), text_digest(prompt.user)):
                turn = 0 if told is None else told.turn
                self.changes.append(PromptChange(creature.handle, turn, call.system, call.user, prompt))
            return _answer(call)

        return recorded

    def world_before(self, event_id: str) -> Folded | None:
        """The world before an event of the past that the record begins with, if ticks began there that were cut off."""
        return self.worlds_before.get(event_id)

    def step_then(self, creature: CreatureState, cause: Event, way: Sequence[Step]) -> Step | None:
        """The call of the same number in the act as it was then, whatever it asked for: what differs is to be seen."""
        steps = self.way_by(creature.ordinal, cause).steps
        return steps[len(way) - 1] if len(way) <= len(steps) else None


def came_from_outside(event: Event) -> bool:
    """Whether no conductor wrote this: a visitor, somebody who paused the run, or a program that spoke for a creature.

    What a creature changed by a tool of its own names the call that asked for it.
    """
    if event.kind in kinds.ENGINE:
        return event.caused_by is None
    if event.kind in kinds.MID_ACT:
        return False
    if event.actor == VISITOR or event.kind in {kinds.RUN_PAUSED, kinds.RUN_CONTINUED}:
        return True
    if event.kind == kinds.RUN_FINISHED:
        return bool(event.payload.get("reason") == "stopped")
    return event.caused_by is None and event.actor not in RESERVED_ACTORS


def _answer(call: Call) -> Completion:
    if not call.reached:
        raise ModelUnreachable(call.error)
    return completion_of(call)


class RecordedAgent(Agent):
    """Plays a creature again: from recorded answers where a model was asked, else by saying what it said."""

    goes_on_from_its_talk = True

    def __init__(self, told: Callable[[Moment], Event | None], way: Callable[[Moment], ActSoFar]) -> None:
        self._told = told
        self._way = way
        self._by_manifest = ManifestAgent()

    async def act(self, moment: Moment) -> Draft | None:
        """What was said then, found again by the same way where that can be."""
        told = self._told(moment)
        if told is None or told.model is not None:
            return await self._by_manifest.act(moment)
        for step in self._way(moment).steps[len(moment.talk) :]:
            if moment.carry is not None:
                await moment.carry(step.call)
        if told.kind == kinds.AGENT_FAILED:
            raise ModelUnreachable(told.payload.get("reason", ""))
        return Draft(
            kind=told.kind,
            payload=told.payload,
            channel=told.channel,
            private=told.private,
            sealed=told.sealed,
        )


class NoModel:
    """Stands behind every profile in a replay, and is never asked."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    async def complete(self, prompt: Prompt) -> Completion:
        """Refuse: everything that was asked is on the record."""
        raise ModelUnreachable(f"A replay asks no model, and this prompt is not on record: {prompt.digest}.")

    def route(self, profile: str, model: str | None = None) -> Route:
        """The name that stood behind the profile then, with sizes as the record's prompts were made for."""
        name = model or self._names.get(profile, "")
        return Route(self, name, CONTEXT_TOKENS[profile], REPLY_TOKENS[profile])
