"""The cassette: a run's ledger as the record that a replay is driven from.

Always holds: an answer is found by creature, cause and attempt, named by what does not hang on ids: the how-manieth
creature of the run, the time of the cause. Nothing is asked of a model.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from glasshouse.errors import ModelUnreachable
from glasshouse.events import kinds
from glasshouse.events.event import RESERVED_ACTORS, VISITOR, Draft, Event, Json
from glasshouse.runtime.agent import Agent
from glasshouse.runtime.asking import Recorded
from glasshouse.runtime.manifest_agent import ManifestAgent
from glasshouse.runtime.ports import Route
from glasshouse.runtime.taking_up import (
    ActKey,
    Step,
    TakenUp,
    calls_of,
    completion_of,
    taken_up_from,
    ways_of,
)
from glasshouse.turns.moment import Moment
from glasshouse.turns.profiles import CONTEXT_TOKENS, REPLY_TOKENS
from glasshouse.turns.prompt import Completion, Prompt, text_digest
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

    def __init__(self, events: Iterable[Event], times: dict[str, int]) -> None:
        self.events = sorted(events, key=lambda event: event.position or 0)
        self.changes: list[PromptChange] = []
        self.produced: Callable[[], int] = lambda: 0
        """How many events the replay has written so far."""
        self.let_happen: Callable[[Event], Awaitable[None]] | None = None
        self._times = times
        self._is_busy = False
        births = [
            str(event.payload["creature"])
            for event in self.events
            if event.kind == kinds.CREATURE_STARTED and event.payload.get("manifest") is not None
        ]
        self._numbers = {name: number for number, name in enumerate(dict.fromkeys(births), start=1)}
        self._ways = ways_of(self.events, self._key_of)
        ends = [event for event in self.events if ends_its_act(event)]
        self._acts = {key: event for event in ends if (key := self._key_of(event)) is not None}

    def _key_of(self, event: Event) -> ActKey | None:
        """Which act an event is of."""
        number = self._numbers.get(event.actor)
        if number is None or event.caused_by is None:
            return None
        return number, self._times[event.caused_by]

    def now(self) -> datetime:
        """The clock of the replay: the time at which the next event was written then."""
        place = min(self.produced(), len(self.events) - 1)
        return self.events[place].created_at

    def next(self) -> Event | None:
        """The event that was written next."""
        place = self.produced()
        return self.events[place] if place < len(self.events) else None

    async def before_commit(self) -> None:
        """Let happen what came from outside at this very place."""
        if self._is_busy or self.let_happen is None:
            return
        self._is_busy = True
        try:
            while (event := self.next()) is not None and came_from_outside(event):
                await self.let_happen(event)
        finally:
            self._is_busy = False

    def act(self, creature: CreatureState, cause: Event) -> Event | None:
        """The event that an act ended in then."""
        return self.act_by(creature.ordinal, cause)

    def act_by(self, number: int, cause: Event) -> Event | None:
        """The same, by the number of the creature in its run."""
        return self._acts.get((number, cause.lamport))

    def way_by(self, number: int, cause: Event) -> TakenUp:
        """What an act did with tools before it ended."""
        return taken_up_from(self._ways.get((number, cause.lamport), ()))

    def seen_upto(self, creature: CreatureState, cause: Event) -> int | None:
        """The time up to which an act's prompts saw the past then."""
        told = self.act(creature, cause)
        as_of = self.way_by(creature.ordinal, cause).as_of
        if as_of is None:
            as_of = None if told is None or told.model is None else told.model.get("as_of")
        return None if as_of is None else self._times.get(as_of)

    def answers(self, creature: CreatureState, cause: Event) -> Recorded | None:
        """The recorded answers to an act's calls, in order: those on its way, then those behind its end."""
        told = self.act(creature, cause)
        steps = self.way_by(creature.ordinal, cause).steps
        calls = [call for step in steps for call in calls_of(step.called)]
        calls += [] if told is None else calls_of(told)

        def recorded(number: int, prompt: Prompt) -> Completion | None:
            if number >= len(calls):
                raise ModelUnreachable(f"Call {number + 1} of {creature.handle} was not recorded.")
            call = calls[number]
            if (call["system"], call["user"]) != (text_digest(prompt.system), text_digest(prompt.user)):
                turn = 0 if told is None else told.turn
                self.changes.append(PromptChange(creature.handle, turn, call["system"], call["user"], prompt))
            return _answer(call)

        return recorded

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


def _answer(call: Json) -> Completion:
    if not call.get("reached", True):
        raise ModelUnreachable(str(call.get("error", "")))
    return completion_of(call)


class RecordedAgent(Agent):
    """Plays a creature again: from recorded answers where a model was asked, else by saying what it said."""

    def __init__(self, told: Callable[[Moment], Event | None], way: Callable[[Moment], TakenUp]) -> None:
        self._told = told
        self._way = way
        self._by_manifest = ManifestAgent()

    async def act(self, moment: Moment) -> Draft | None:
        """What was said then, found again by the same way where that can be."""
        told = self._told(moment)
        if told is None or told.model is not None:
            return await self._by_manifest.act(moment)
        for step in self._way(moment).steps:
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
