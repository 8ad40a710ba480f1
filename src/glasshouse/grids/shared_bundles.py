"""`SharedBundles`: bundles that several players play at the same time, for an executor: which one is next, the rows as they come, and
how it ends. `Processes` and `OnRay` play by it.

Always holds: every row that was given is yielded before the end is told. What a player raised that nobody expected is raised; else,
if the grid cannot go on, `GridStopped` with the first reason.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Iterable
from typing import Any

from glasshouse.errors import GridStopped
from glasshouse.grids.executors import Bundle
from glasshouse.grids.grid_models import GridModels
from glasshouse.grids.rows import Row


class SharedBundles:
    """Bundles that wait, and the rows of those that were played."""

    def __init__(self, models: GridModels) -> None:
        self.waiting: deque[Bundle] = deque()
        self.stopped: GridStopped | None = None
        """Why the grid cannot go on, if it cannot."""
        self._models = models
        self._rows: asyncio.Queue[Row | None] = asyncio.Queue()
        self._players: list[asyncio.Task[None]] = []

    def next_for(self, number: int) -> Bundle | None:
        """The next bundle whose server has a slot for the player of this number; none if there is no such bundle."""
        for bundle in self.waiting:
            if number < self._models.slots(bundle.models):
                self.waiting.remove(bundle)
                return bundle
        return None

    def give(self, row: Row) -> None:
        """Give back the row of a cell that is over."""
        self._rows.put_nowait(row)

    def stop(self, stopped: GridStopped, *, at_once: bool) -> None:
        """Note that the grid cannot go on. The first reason counts. At once: what is in flight is cut off."""
        self.stopped = self.stopped or stopped
        if at_once:
            for player in self._players:
                player.cancel()

    async def rows(
        self,
        players: Iterable[Coroutine[Any, Any, None]],
        afterwards: Coroutine[Any, Any, None] | None = None,
    ) -> AsyncGenerator[Row, None]:
        """The rows that these players give, and then those of whoever plays afterwards. Leaving it cancels all."""
        self._players = [asyncio.create_task(player) for player in players]
        ending = asyncio.create_task(self._end(afterwards))
        try:
            while (row := await self._rows.get()) is not None:
                yield row
        finally:
            for task in (*self._players, ending):
                task.cancel()
            await asyncio.wait([*self._players, ending])
        for task in (*self._players, ending):
            if not task.cancelled() and (crash := task.exception()) is not None:
                raise crash
        if self.stopped is not None:
            raise self.stopped

    async def _end(self, afterwards: Coroutine[Any, Any, None] | None) -> None:
        try:
            await asyncio.wait(self._players)
            if afterwards is not None:
                await afterwards
        finally:
            if afterwards is not None:
                afterwards.close()
            self._rows.put_nowait(None)
