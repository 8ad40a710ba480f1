"""Seeking: the stage after any number of events, without folding all of them again.

Always holds: `stage_at(k)` equals `rebuild_stage(events[:k])`; of a branch, also where it had not begun yet.
Checkpoints are copies of the stage at regular distances; when there are too many, every second one goes and the distance
doubles, so they are bounded however long a story is. They are a cache: made on the way to the first seek, they can be
dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Sequence

from glasshouse.events.event import Event
from glasshouse.views.stage import StageProjection, past_runs

checkpoints_max = 256
checkpoint_events_min = 1_000


class Checkpoints:
    """Stages at growing numbers of events, the empty stage first. Each knows the last event that went into it."""

    def __init__(
        self,
        run_id: str | None = None,
        every: int = checkpoint_events_min,
        past_run_ids: tuple[str, ...] = (),
    ) -> None:
        self._every = every
        self._counts = [0]
        empty = StageProjection(run_id=run_id, past_run_ids=past_run_ids)
        self._kept: list[tuple[StageProjection, str | None]] = [(empty, None)]

    def nearest(self, count: int) -> tuple[int, StageProjection, str | None]:
        """The last checkpoint at or before `count` events: its own count, a copy of its stage, its last event."""
        place = bisect_right(self._counts, count) - 1
        stage, last = self._kept[place]
        return self._counts[place], stage.copy(), last

    def offer(self, count: int, stage: StageProjection, last: str) -> None:
        """Keep a copy of the stage if it is far enough behind the last one kept."""
        if count - self._counts[-1] < self._every:
            return
        self._counts.append(count)
        self._kept.append((stage.copy(), last))
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
        done, stage, _ = self._checkpoints.nearest(count)
        while done < count:
            upto = min(count, done + self._every)
            for event in self._events[done:upto]:
                stage.apply(event)
            done = upto
            self._checkpoints.offer(done, stage, self._events[done - 1].id)
        return stage


Pages = Callable[[str | None], AsyncIterator[Sequence[Event]]]
"""Reads the events behind one, or from the beginning, page after page."""


class PagedStageSeeker:
    """Seeks in events that are read page by page, such as a session's history."""

    def __init__(self, pages: Pages, run_id: str | None = None, every: int = checkpoint_events_min) -> None:
        self._pages = pages
        self._checkpoints = Checkpoints(run_id, every)

    async def stage_at(self, count: int) -> StageProjection:
        """The stage after the first `count` events; after all of them, where there are fewer."""
        done, stage, last = self._checkpoints.nearest(max(0, count))
        if done >= count:
            return stage
        async for page in self._pages(last):
            for event in page:
                stage.apply(event)
                done += 1
                self._checkpoints.offer(done, stage, event.id)
                if done >= count:
                    return stage
        return stage
