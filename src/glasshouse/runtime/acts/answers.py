"""What is known already of the acts that are driven: answers of models and tools that need not be asked for again.

Live acts are answered by `Recall`, which knows what the parent of a branch was told. A replay is answered by its cassette,
which also says what an act saw then, and lets happen what came from outside at that very place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from glasshouse.events.event import Event
from glasshouse.runtime.acts.act_so_far import Step
from glasshouse.runtime.acts.asking import Recorded
from glasshouse.runtime.folded import Folded
from glasshouse.world.state import CreatureState


class Answers(Protocol):
    """Answers the calls of acts from a record, where there is one."""

    given: Counter[str]
    """How many calls of each run were answered from the record since this house was opened."""

    async def make_ready(self, run_id: str) -> None:
        """Bring to hand what is on record for a run, if it is not yet."""

    def answers(self, creature: CreatureState, cause: Event, profile: str, model: str) -> Recorded | None:
        """The recorded answers to an act's calls; none if there are none."""

    def seen_upto(self, creature: CreatureState, cause: Event) -> int | None:
        """The time up to which an act's prompts saw the past then, if that is on record."""

    def step_then(self, creature: CreatureState, cause: Event, way: Sequence[Step]) -> Step | None:
        """What is on record of the last call of a tool in an act, given all its calls so far; none if it is to be done now."""

    def world_before(self, event_id: str) -> Folded | None:
        """The world before an event; none if it is to be folded from the store."""

    async def before_commit(self, who: str) -> None:
        """Awaited before anything is written: by a creature in its act; for a turn, named by its graph; for the end of a
        run, by that. A replay lets happen here what came before."""
