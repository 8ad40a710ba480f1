"""Recorded answers for branches: a call that equals a recorded call of the parent run is not made again (ADR 0039).

Always holds: a model's answer is taken from the record only if prompt, model, profile and seed are the same. It
counts the recorded cost. A tool's answer is taken only if the same creature makes the same call at the same point of
the story, after the same prompts and answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from glasshouse.events.event import Event, place_of
from glasshouse.events.model_use import Call
from glasshouse.runtime.acts.act_so_far import (
    ActKey,
    ActSoFar,
    Step,
    act_so_far_of,
    completion_of,
    step_alike,
    ways_of,
)
from glasshouse.runtime.acts.asking import Recorded
from glasshouse.runtime.ledger.history import HistoryReader
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.turns.moment.prompt import Completion, Prompt, text_digest
from glasshouse.world.state.state import CreatureState


class Answers(Protocol):
    """Answers the calls of acts from a record, if there is one."""

    given: Counter[str]
    """How many calls of each run were answered from the record since this house was opened."""

    async def make_ready(self, run_id: str) -> None:
        """Load the record for a run, if it is not yet loaded."""

    def answers(self, creature: CreatureState, cause: Event, profile: str, model: str) -> Recorded | None:
        """The recorded answers to an act's model calls; None if there are none."""

    def seen_upto(self, creature: CreatureState, cause: Event) -> int | None:
        """The time up to which the recorded act saw the past, if it is on record."""

    def step_then(self, creature: CreatureState, cause: Event, way: Sequence[Step]) -> Step | None:
        """The recorded step for the last of an act's tool calls so far; None if the tool is to be called now."""

    async def before_commit(self, who: str) -> None:
        """Awaited before anything is written. `who` is the id of the creature that acts, of the graph that begins a
        turn, or of the run that ends. A replay uses it to repeat first what was recorded before."""


calls_recalled_max: Final = 200_000
"""How many model calls, and how many acts with tools, are kept of a record. Calls beyond that are made anew."""

Key = tuple[str, str, str, str, int]
"""Profile, model, system message, user message, seed."""


class Recall:
    """The answers of parent runs, loaded when a branch is first driven."""

    def __init__(self, ledger: Ledger, history: HistoryReader) -> None:
        self._ledger = ledger
        self._history = history
        self._calls_cache: dict[str, dict[Key, Call]] = {}
        self._ways_cache: dict[str, dict[ActKey, list[ActSoFar]]] = {}
        self.given: Counter[str] = Counter()
        """How many calls of each run were answered from the record since this house was opened."""

    async def make_ready(self, run_id: str) -> None:
        """Load the answers that the parent of a branch got after the branch point, and those of the parent's own
        parents."""
        purses = self._ledger.folded.runs.purses
        branch_of = None if run_id not in purses else purses[run_id].branch_of
        if branch_of is None or run_id in self._calls_cache:
            return
        events: list[Event] = []
        ways: dict[ActKey, list[ActSoFar]] = {}
        while branch_of is not None and self._history.is_of_this_house(branch_of):
            cut = (await self._history.event(branch_of.at)).position or 0
            told = await self._history.events_of_run(branch_of.run_id)
            events += [event for event in told if (event.position or 0) > cut]
            self._note_ways(ways, told, cut)
            branch_of = purses[branch_of.run_id].branch_of if branch_of.run_id in purses else None
        self._calls_cache[run_id], self._ways_cache[run_id] = _by_key(events), ways

    def _note_ways(self, ways: dict[ActKey, list[ActSoFar]], told: Sequence[Event], cut: int) -> None:
        """Keep the tool calls of acts that wrote anything after the cut."""
        in_order = sorted(told, key=lambda event: event.position or 0)
        for key, way in ways_of(in_order, self._key_of).items():
            if (way[-1].position or 0) > cut and len(ways) < calls_recalled_max:
                ways.setdefault(key, []).append(act_so_far_of(way))

    def _key_of(self, event: Event) -> ActKey | None:
        world = self._ledger.world
        gone = world.departed.get(event.actor)
        creature = world.creatures.get(event.actor) or (None if gone is None else gone.creature)
        if creature is None or event.caused_by is None:
            return None
        session_id, seq = place_of(event.caused_by)
        session = world.sessions[session_id]
        return creature.ordinal, session.segment.base + seq - session.skew

    def answers(self, creature: CreatureState, cause: Event, profile: str, model: str) -> Recorded | None:  # noqa: ARG002 (the protocol's names)
        """The recorded answers for a creature with this profile and model; None if there are none."""
        run_id = creature.run_id or ""
        calls = self._calls_cache.get(run_id)
        if not calls:
            return None

        def recorded(_number: int, prompt: Prompt) -> Completion | None:
            key = (profile, model, text_digest(prompt.system), text_digest(prompt.user), prompt.seed)
            call = calls.get(key)
            if call is None:
                return None
            self.given[run_id] += 1
            return completion_of(call)

        return recorded

    def step_then(self, creature: CreatureState, cause: Event, way: Sequence[Step]) -> Step | None:
        """The step of a parent run that equals the last step of `way`."""
        ways = self._ways_cache.get(creature.run_id or "")
        if not ways:
            return None
        acts = ways.get((creature.ordinal, self._ledger.world.story_time(cause)), ())
        return next((found for act in acts if (found := step_alike(way, act.steps)) is not None), None)

    def seen_upto(self, creature: CreatureState, cause: Event) -> int | None:  # noqa: ARG002 (the protocol's names)
        """None: a live act sees the current past."""
        return None

    async def before_commit(self, who: str) -> None:
        """Nothing to do: only a replay has recorded changes to repeat."""


def _by_key(events: Iterable[Event]) -> dict[Key, Call]:
    calls: dict[Key, Call] = {}
    for use in [event.model for event in events if event.model is not None]:
        for call in use.calls_answered:
            if len(calls) < calls_recalled_max:
                calls.setdefault((use.profile, call.model, call.system, call.user, call.seed), call)
    return calls
