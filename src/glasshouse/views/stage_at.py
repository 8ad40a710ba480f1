"""`StageSeeker`: the stage after any number of events, without folding all of them again.

Always holds: `stage_at(k)` gives the stage after the first `k` events. Checkpoints are copies of the stage at regular
distances. When there are too many, every second one is dropped and the distance doubles, so their number is bounded.
They are a cache, made by the first seek, and can be dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.events.event import Event
from glasshouse.views.stage import StageProjection, past_runs

checkpoints_max = 256
checkpoint_events_min = 1_000


class StageSeeker:
    """Seeks in a sequence of events that is in memory."""

    def __init__(
        self, events: Sequence[Event], run_id: str | None = None, every: int = checkpoint_events_min
    ) -> None:
        self._events = events
        self._every = every
        empty = StageProjection(run_id=run_id, past_run_ids=past_runs(events, run_id))
        self._checkpoints_cache = {0: empty}
        """Number of events -> the stage after them, in ascending order."""

    def stage_at(self, count: int) -> StageProjection:
        """The stage after the first `count` events, or after all events if there are fewer."""
        count = max(0, min(count, len(self._events)))
        done = max([kept for kept in self._checkpoints_cache if kept <= count])
        stage = self._checkpoints_cache[done].copy()
        while done < count:
            upto = min(count, done + self._every)
            for event in self._events[done:upto]:
                stage.apply(event)
            done = upto
            self._keep(done, stage)
        return stage

    def _keep(self, count: int, stage: StageProjection) -> None:
        cache = self._checkpoints_cache
        if count - next(reversed(cache)) < self._every:
            return
        cache[count] = stage.copy()
        if len(cache) > checkpoints_max:
            self._every *= 2
            self._checkpoints_cache = dict(list(cache.items())[::2])
