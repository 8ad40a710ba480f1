"""Driving: every run that is being played has a task of its own, at its own speed.

Always holds: two runs do not wait for each other. The speed belongs to the run: at the pace of a reader the next act
begins when the last line could be read, whoever looks on. An act that has begun is never cut off: to pause, to stop and
to shut down let it end, and what is owed stays owed.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final, Literal

from glasshouse.errors import GlasshouseError
from glasshouse.events.event import Event
from glasshouse.terrarium import Terrarium
from glasshouse.views.reading_time import seconds_to_read

shutdown_seconds_max: Final = 2.5
"""How long the server waits for acts to end when it is shut down. What they had not written is owed still."""

Speed = Literal["reading", "fast"]

_log = logging.getLogger(__name__)


class Drivers:
    """The runs that are being played."""

    def __init__(self, terrarium: Terrarium) -> None:
        self._terrarium = terrarium
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._speeds: dict[str, Speed] = {}
        self._read_until: dict[str, float] = {}
        """When the last line of each run can have been read, by the clock of the event loop."""
        self._hurry: dict[str, asyncio.Event] = {}
        self._stopped: set[str] = set()
        """Runs whose drive ends before the next act."""

    def is_driven(self, run_id: str) -> bool:
        """Whether a run is being played here."""
        return run_id in self._tasks

    def note(self, event: Event) -> None:
        """Note a line, so that the next act leaves time to read it."""
        text = event.payload.get("text")
        if event.run_id in self._tasks and isinstance(text, str):
            now = asyncio.get_running_loop().time()
            begins = max(now, self._read_until.get(event.run_id, now))
            self._read_until[event.run_id] = begins + seconds_to_read(text)

    async def play(self, run_id: str, speed: Speed | None = None) -> None:
        """Play a run on, in the background. A paused run continues."""
        run = self._terrarium.run_of(run_id)
        if run.status == "paused":
            await self._terrarium.continue_run(run_id, by="page")
        if speed is not None:
            self._speeds[run_id] = speed
            self._hurry.setdefault(run_id, asyncio.Event()).set()
        if run_id not in self._tasks and run.status != "finished":
            self._hurry[run_id] = asyncio.Event()
            task = self._tasks[run_id] = asyncio.create_task(self._drive(run_id), name=f"play {run_id}")
            task.add_done_callback(lambda _: self._forget(run_id))

    async def pause(self, run_id: str) -> None:
        """Let no act begin any more. One that has begun ends."""
        await self._terrarium.pause(run_id, "paused on the page")
        self._let_go_on(run_id)

    async def stop(self, run_id: str) -> None:
        """End a run, once nobody thinks any more."""
        self._let_go_on(run_id)
        await self._terrarium.finish(run_id)

    async def step(self, run_id: str) -> Event | None:
        """Play one turn of a run that is not being played."""
        run = self._terrarium.run_of(run_id)
        if run.status == "paused":
            await self._terrarium.continue_run(run_id, by="page")
        played = await self._terrarium.run(run_id, turns=1)
        if run.status == "paused" and not self._terrarium.run_of(run_id).is_finished:
            await self._terrarium.pause(run_id, "paused on the page")
        return played.last

    async def close(self) -> None:
        """End every task; acts in flight may end for a while."""
        tasks = list(self._tasks.values())
        for run_id in tuple(self._tasks):
            self._closing(run_id)
        if tasks:
            await asyncio.wait(tasks, timeout=shutdown_seconds_max)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _closing(self, run_id: str) -> None:
        self._speeds[run_id] = "fast"
        self._stopped.add(run_id)
        self._let_go_on(run_id)

    async def _drive(self, run_id: str) -> None:
        try:
            await self._terrarium.run(run_id, before_act=lambda _graph: self._gate(run_id))
        except GlasshouseError as wrong:
            _log.warning("Run %s is not played on: %s", run_id, wrong)

    async def _gate(self, run_id: str) -> bool:
        """Wait until the last line can have been read. False ends the drive."""
        while self._speeds.get(run_id, "reading") == "reading" and run_id not in self._stopped:
            loop = asyncio.get_running_loop()
            seconds = self._read_until.get(run_id, 0.0) - loop.time()
            if seconds <= 0:
                break
            hurry = self._hurry[run_id]
            try:
                await asyncio.wait_for(hurry.wait(), seconds)
            except TimeoutError:
                break
            hurry.clear()
        return run_id not in self._stopped

    def _let_go_on(self, run_id: str) -> None:
        if run_id in self._hurry:
            self._hurry[run_id].set()

    def _forget(self, run_id: str) -> None:
        self._tasks.pop(run_id, None)
        self._hurry.pop(run_id, None)
        self._read_until.pop(run_id, None)
        self._stopped.discard(run_id)
