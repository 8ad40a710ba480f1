"""What a branch knows of the answers that its parent got: a call in which nothing differs is not asked again.

Always holds: an answer is taken from the record only if prompt, model, profile and seed are the same. It costs then
what it cost in the parent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from glasshouse.events.event import Event, Json
from glasshouse.runtime.asking import Recorded
from glasshouse.runtime.ledger import Ledger
from glasshouse.runtime.reading import HistoryReader
from glasshouse.runtime.taking_up import completion_of
from glasshouse.turns.prompt import Completion, Prompt, text_digest

calls_recalled_max: Final = 200_000
"""Of a longer record, the calls after these are asked anew."""

Key = tuple[str, str, str, str, int]
"""Profile, model, system message, user message, seed."""


class Recall:
    """The answers of parents, brought to hand when a branch of theirs is first driven."""

    def __init__(self, ledger: Ledger, history: HistoryReader) -> None:
        self._ledger = ledger
        self._history = history
        self._calls_cache: dict[str, dict[Key, Json]] = {}
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
        while branch_of is not None and self._history.is_of_this_house(branch_of):
            cut = (await self._history.event(branch_of.at)).position or 0
            told = await self._history.events_of_run(branch_of.run_id)
            events += [event for event in told if (event.position or 0) > cut]
            branch_of = purses[branch_of.run_id].branch_of if branch_of.run_id in purses else None
        self._calls_cache[run_id] = _by_key(events)

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


def _by_key(events: Iterable[Event]) -> dict[Key, Json]:
    calls: dict[Key, Json] = {}
    for event in events:
        model = event.model or {}
        for call in model.get("calls", ()):
            if call.get("reached", True) and len(calls) < calls_recalled_max:
                key = (model["profile"], call["model"], call["system"], call["user"], call["seed"])
                calls.setdefault(key, call)
    return calls
