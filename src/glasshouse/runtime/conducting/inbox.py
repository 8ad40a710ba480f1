"""The inbox: lines that other processes left for a run are said by the visitor, and removed from the inbox in the
same commit.

Always holds: a line is said once, or dropped if its run has finished; a line for a run that nobody plays waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from glasshouse.errors import StoreError
from glasshouse.events.event import Event
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import Clock, InboxLine, Store

inbox_lines_max: Final = 64
inbox_pages_max: Final = 16
"""So many times as many lines are looked through: those that wait must not keep the ones behind them from being said."""
inbox_seconds_min: Final = 0.25
"""The inbox is looked into no more often than this."""

Say = Callable[[str, str, tuple[int, ...]], Awaitable[Event]]
"""Says a text to a run as the visitor, and takes lines out of the inbox by their numbers."""


class Inbox:
    """Takes lines in, before each step of a drive and while nobody drives."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock, say: Say) -> None:
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._say = say
        self._looked_at: datetime | None = None
        self._one_at_a_time = asyncio.Lock()

    async def take_in_until_cancelled(self, is_driven: Callable[[], bool]) -> None:
        """Look again and again while nobody drives, who looks anyway. A store that fails now may not fail the next time."""
        while True:
            await self._clock.sleep(inbox_seconds_min)
            if not is_driven():
                with suppress(StoreError):
                    await self.take_in()

    async def take_in(self) -> None:
        """Let be said what waits, unless somebody is looking, or has just looked."""
        now = self._clock.now()
        if self._looked_at is not None and now - self._looked_at < timedelta(seconds=inbox_seconds_min):
            return
        if not self._one_at_a_time.locked():
            self._looked_at = now
            async with self._one_at_a_time:
                await self._take_in()

    async def _take_in(self) -> None:
        last, waiting = 0, set[str | None]()
        for _ in range(inbox_pages_max):
            lines = await self._store.read_inbox(inbox_lines_max, last)
            for line in lines:
                if line.run_id in waiting or not await self._is_answered(line):
                    waiting.add(line.run_id)
            if len(lines) < inbox_lines_max:
                return
            last = lines[-1].number

    async def _is_answered(self, line: InboxLine) -> bool:
        """Let a line be said, or set it aside; false if it is to wait."""
        world = self._ledger.world
        run_id = line.run_id or self._newest_playing()
        run = world.runs.get(run_id or "")
        if run is not None and run.status == "finished":
            await self._ledger.set_aside((line.number,))
            return True
        if (
            run is None
            or run_id is None
            or not any(creature.run_id == run_id for creature in world.creatures.values())
        ):
            return False  # Nobody is there to hear it yet.
        await self._say(run_id, line.text, (line.number,))
        return True

    def _newest_playing(self) -> str | None:
        runs = self._ledger.world.runs.values()
        playing = [run.id for run in runs if run.status == "playing" and run.is_begun]
        return playing[-1] if playing else None
