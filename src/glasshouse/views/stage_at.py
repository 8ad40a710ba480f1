"""Seeking: the stage after any number of events, without folding all of them again.

Always holds: `stage_at(k)` equals `rebuild_stage(events[:k])`, also before the start of a branch. Checkpoints are
copies of the stage at regular distances; when there are too many, every second one is dropped and the distance
doubles, so their number is bounded. They are a cache, made by the first seek, and can be dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from glasshouse.events.event import Event
from glasshouse.views.stage import StageProjection, past_runs

checkpoints_max = 256
checkpoint_events_min = 1_000


class Checkpoints:
    """Stages at growing numbers of events, the empty stage first."""

    def __init__(
        self,
        run_id: str | None = None,
        every: int = checkpoint_events_min,
        past_run_ids: tuple[str, ...] = (),
    ) -> None:
        self._every = every
        self._counts = [0]
        empty = StageProjection(run_id=run_id, past_run_ids=past_run_ids)
        self._kept = [empty]

    def nearest(self, count: int) -> tuple[int, StageProjection]:
        """The last checkpoint at or before `count` events: its own count, and a copy of its stage."""
        index = bisect_right(self._counts, count) - 1
        return self._counts[index], self._kept[index].copy()

    def offer(self, count: int, stage: StageProjection) -> None:
        """Keep a copy of the stage if it is far enough behind the last one kept."""
        if count - self._counts[-1] < self._every:
            return
        self._counts.append(count)
        self._kept.append(stage.copy())
        if len(self._counts) > checkpoints_max:
            self._every *= 2
            self._counts = self._counts[::2]
            self._kept = self._kept[::2]


class StageSeeker:
    """Seeks in events that are at hand."""

    def __init__(
        self, events: Sequence[Event], run_id: str | None = None, every: int = checkpoint_events_min
    ) -> None:
        self._events = events
        self._every = every
        self._checkpoints = Checkpoints(run_id, every, past_runs(events, run_id))

    def stage_at(self, count: int) -> StageProjection:
        """The stage after the first `count` events; after all of them, where there are fewer."""
        count = max(0, min(count, len(self._events)))
        done, stage = self._checkpoints.nearest(count)
        while done < count:
            upto = min(count, done + self._every)
            for event in self._events[done:upto]:
                stage.apply(event)
            done = upto
            self._checkpoints.offer(done, stage)
        return stage
