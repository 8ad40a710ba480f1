"""`InboxReader`: the process that plays a store reads what others left in its inbox, and says each line as the visitor.

Another process (`glasshouse disturb`, a guest) may not write events of a store that somebody plays. It leaves a row in the
inbox: the run and the text. This process finds the row at its next look, and has it said like any other disturbance.

Always holds: a line is said once, because the same commit writes its event and removes its row. A run hears its lines in
the order in which they came. A line is dropped if its run has finished, and waits while its run has no living creature;
lines of other runs do not wait for it. Requests for changes of the graph are answered by `requests.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from glasshouse.errors import StoreError, StoreFenced
from glasshouse.events.event import Event
from glasshouse.runtime.inbox.requests import Edit, answer_requests
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import Clock
from glasshouse.runtime.store_port import Batch, InboxLine, InboxWrites, Store

inbox_lines_max: Final = 64
"""How many lines are read at once."""
inbox_pages_max: Final = 16
"""How many pages of `inbox_lines_max` lines are read at once: waiting lines must not block the lines behind them."""
inbox_seconds_min: Final = 0.25
"""The shortest time between two reads of the inbox."""
idle_seconds_max: Final = 60.0
"""How long the reader of an empty inbox waits at once for something to come, before it looks again."""

Say = Callable[[str, str, int], Awaitable[Event]]
"""Says a text to a run as the visitor, and removes the line with this number from the inbox."""


@contextmanager
def _tried_again_later() -> Iterator[None]:
    """Suppress what a store raises, for it is tried again, but not that another process has taken it over."""
    try:
        yield
    except StoreFenced:
        raise
    except StoreError:
        pass


class InboxReader:
    """Says the lines of the inbox, before each step of a drive and while nobody drives, and has requests answered."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock, say: Say, edit: Edit) -> None:
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._say = say
        self._edit = edit
        self._looks_again_at: datetime | None = None
        self._one_at_a_time = asyncio.Lock()

    async def read_until_cancelled(self, is_driven: Callable[[], bool]) -> None:
        """Read the inbox whenever it has changed, and at intervals while something is left in it. A failing store is tried
        again later.

        Requests are answered at any time: their sender waits, and a drive may wait long for a model or a key. A drive
        reads lines itself.
        """
        seen = ""
        is_empty = True
        try:
            while True:
                await self._clock.sleep(inbox_seconds_min)
                if is_empty:
                    with _tried_again_later():
                        seen = await self._store.wait_for_more(seen, idle_seconds_max)
                is_empty = await self._is_emptied(is_driven)
        except StoreFenced as fenced:
            self._ledger.writer.end(fenced)  # Another process reads this inbox now.

    async def _is_emptied(self, is_driven: Callable[[], bool]) -> bool:
        """Answer the requests, and say the lines unless a drive does; whether nothing is left."""
        are_answered = False
        with _tried_again_later():
            await answer_requests(self._store, self._ledger, self._clock, self._edit)
            are_answered = True
        are_said = False
        if not is_driven():
            with _tried_again_later():
                are_said = not await self._are_lines_left()
        return are_answered and are_said

    async def say_waiting_lines(self) -> None:
        """Say the waiting lines, unless the inbox is being read or was read a moment ago."""
        await self._are_lines_left()

    async def _are_lines_left(self) -> bool:
        """Say the waiting lines, unless the inbox is being read or was read a moment ago; whether some may be left."""
        now = self._clock.now()
        if self._looks_again_at is not None and now < self._looks_again_at:
            return True  # It was read a moment ago, and reading it costs a question to the store.
        if self._one_at_a_time.locked():
            return True  # Two readers would say a line twice.
        self._looks_again_at = now + timedelta(seconds=inbox_seconds_min)
        async with self._one_at_a_time:
            return await self._say_all()

    async def _say_all(self) -> bool:
        """Say every line that can be said; whether others must wait."""
        last = 0
        waiting = set[str | None]()
        for _ in range(inbox_pages_max):
            lines = await self._store.lines(inbox_lines_max, last)
            for line in lines:
                if line.run_id in waiting or not await self._is_answered(line):
                    waiting.add(line.run_id)
            if len(lines) < inbox_lines_max:
                return bool(waiting)  # This was the last page.
            last = lines[-1].number
        return True

    async def _is_answered(self, line: InboxLine) -> bool:
        """Say a line, or drop it if its run has finished; False if it must wait."""
        world = self._ledger.world
        newest_first = [world.runs[name] for name in reversed(world.open_runs)]
        newest = next((run for run in newest_first if run.status == "playing" and run.is_begun), None)
        run = world.runs.get(line.run_id) if line.run_id else newest
        if run is not None and run.status == "finished":
            await self._ledger.settle(Batch(inbox=InboxWrites(done=(line.number,))))
            return True  # Nothing may be written into a finished run.
        if run is None or not run.creatures_living:
            return False  # No creature is there to hear it yet.
        await self._say(run.id, line.text, line.number)
        return True
