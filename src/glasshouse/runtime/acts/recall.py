"""What a branch knows of the answers that its parent got: a call in which nothing differs is not made again.

Always holds: an answer of a model is taken from the record only if prompt, model, profile and seed are the same, and
costs then what it cost in the parent; that of a tool only if the same creature calls it with the same arguments at the
same place of the story, after prompts and answers that were the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from glasshouse.events.event import Event, place_of
from glasshouse.events.model_use import Call
from glasshouse.runtime.acts.asking import Recorded
from glasshouse.runtime.acts.taking_up import (
    ActKey,
    Step,
    TakenUp,
    completion_of,
    step_alike,
    taken_up_from,
    ways_of,
)
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.reading import HistoryReader
from glasshouse.turns.prompt import Completion, Prompt, text_digest
from glasshouse.world.lineage import story_time
from glasshouse.world.state import CreatureState

calls_recalled_max: Final = 200_000
"""Of a longer record, the calls of models and of tools after these are made anew."""

Key = tuple[str, str, str, str, int]
"""Profile, model, system message, user message, seed."""


class Recall:
    """The answers of parents, brought to hand when a branch of theirs is first driven."""

    def __init__(self, ledger: Ledger, history: HistoryReader) -> None:
        self._ledger = ledger
        self._history = history
        self._calls_cache: dict[str, dict[Key, Call]] = {}
        self._ways_cache: dict[str, dict[ActKey, list[TakenUp]]] = {}
        self.given: Counter[str] = Counter()
        """How many calls of each run were answered from the record since this house was opened."""

    def is_needed(self, run_id: str) -> bool:
        """Whether a run is a branch whose parent's answers are not at hand yet."""
        purse = self._ledger.folded.runs.purses.get(run_id)
        return purse is not None and purse.branch_of is not None and run_id not in self._calls_cache

    async def make_ready(self, run_id: str) -> None:
        """Bring the answers to hand that the parent of a branch got after the two parted, and those of its own parents."""
        purses = self._ledger.folded.runs.purses
        branch_of = purses[run_id].branch_of
        events: list[Event] = []
        ways: dict[ActKey, list[TakenUp]] = {}
        while branch_of is not None and self._history.is_of_this_house(branch_of):
            cut = (await self._history.event(branch_of.at)).position or 0
            told = await self._history.events_of_run(branch_of.run_id)
            events += [event for event in told if (event.position or 0) > cut]
            self._note_ways(ways, told, cut)
            branch_of = purses[branch_of.run_id].branch_of if branch_of.run_id in purses else None
        self._calls_cache[run_id], self._ways_cache[run_id] = _by_key(events), ways

    def _note_ways(self, ways: dict[ActKey, list[TakenUp]], told: Sequence[Event], cut: int) -> None:
        """Keep what acts did with tools that were not over at the cut."""
        in_order = sorted(told, key=lambda event: event.position or 0)
        for key, way in ways_of(in_order, self._key_of).items():
            if (way[-1].position or 0) > cut and len(ways) < calls_recalled_max:
                ways.setdefault(key, []).append(taken_up_from(way))

    def _key_of(self, event: Event) -> ActKey | None:
        world = self._ledger.world
        gone = world.departed.get(event.actor)
        creature = world.creatures.get(event.actor) or (None if gone is None else gone.creature)
        if creature is None or event.caused_by is None:
            return None
        session_id, seq = place_of(event.caused_by)
        session = world.sessions[session_id]
        return creature.ordinal, session.segment.base + seq - session.skew

    def answers(self, run_id: str, profile: str, model: str) -> Recorded | None:
        """The answers that a creature of this profile and model may be given; none if there are none."""
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
        """The call of a parent in which nothing differs from the last one of this way."""
        ways = self._ways_cache.get(creature.run_id or "")
        if not ways:
            return None
        acts = ways.get((creature.ordinal, story_time(self._ledger.world, cause)), ())
        return next((found for act in acts if (found := step_alike(way, act.steps)) is not None), None)


def _by_key(events: Iterable[Event]) -> dict[Key, Call]:
    calls: dict[Key, Call] = {}
    for use in [event.model for event in events if event.model is not None]:
        for call in use.calls_answered:
            if len(calls) < calls_recalled_max:
                calls.setdefault((use.profile, call.model, call.system, call.user, call.seed), call)
    return calls
