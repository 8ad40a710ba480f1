"""Seeking: the stage after any number of events, without folding all of them again.

Always holds: `stage_at(k)` equals `rebuild_stage(events[:k])`, also before the start of a branch. Checkpoints are
copies of the stage at regular distances; when there are too many, every second one is dropped and the distance
doubles, so their number is bounded. They are a cache, made by the first seek, and can be dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.events.event import Event
from glasshouse.views.stage import StageProjection, past_runs

checkpoints_max = 256
checkpoint_events_min = 1_000


class StageSeeker:
    """Seeks in events that are at hand."""

    def __init__(
        self, events: Sequence[Event], run_id: str | None = None, every: int = checkpoint_events_min
    ) -> None:
        self._events = events
        self._every = every
        empty = StageProjection(run_id=run_id, past_run_ids=past_runs(events, run_id))
        self._checkpoints_cache = {0: empty}
        """Stages by the number of events before them, in order."""

    def stage_at(self, count: int) -> StageProjection:
        """The stage after the first `count` events; after all of them, where there are fewer."""
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
