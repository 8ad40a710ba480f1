"""Driving: every run that is being played has a task of its own, at its own speed.

Always holds: two runs do not wait for each other. The speed belongs to the run: at the pace of a reader the next act
begins when every line before it could be read, whoever looks on. An act that has begun is never cut off: to pause, to
finish and to shut down let it end, and what is owed stays owed. Speed, step, next and pause are gates: they write nothing
(ADR 0046). The opening of a run holds its first line for a few seconds at most, whatever there is to read (ADR 0129). Only a run that costs something, and at which no director has looked for a while, is paused in the ledger,
unless it may continue alone: the reason must survive a restart.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import ceil
from typing import Final, Literal, Protocol

import msgspec

from glasshouse.errors import GlasshouseError, Refused
from glasshouse.runtime.ledger.subscriptions import Subscription
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, guest_of
from glasshouse.views.reading_time import Reader
from glasshouse.web.run_info import State

shutdown_seconds_max: Final = 2.0
"""How long the server waits for acts to end when it is shut down. What they had not written is owed still."""

alone_seconds_max: Final = 60.0
"""How long a run that costs something is played with no director looking on."""

Speed = Literal["reading", "fast"]
AloneSeconds = Callable[[str], float]
"""How long no director has looked on at a run: 0 while one does."""


class LineHeld(msgspec.Struct, frozen=True):
    """The line that the next act waits for: a reader reads it."""

    event_id: str
    seconds: float
    """How long it is read in all."""
    seconds_left: int
    """How long it is still read, begun seconds included: a signal that tells it changes once a second."""
    lines_after: int
    """How many more lines are read before the next act."""


class DriverState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a run does here: it plays, waits for acts in flight before it rests, or rests; its speed; and for which line it
    waits."""

    state: Literal["playing", "pausing", "idle"]
    speed: Speed
    reading: LineHeld | None = None


class PaceClock(Protocol):
    """The clock by which lines are read."""

    def time(self) -> float:
        """Seconds that only go forward."""

    async def wait(self, changed: asyncio.Event, seconds: float) -> None:
        """Wait until something has changed, at most so long."""


class LoopClock:
    """The clock of the event loop."""

    def time(self) -> float:
        """Seconds since some moment."""
        return asyncio.get_running_loop().time()

    async def wait(self, changed: asyncio.Event, seconds: float) -> None:
        """Wait until something has changed, at most so long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), seconds)


_log = logging.getLogger(__name__)


class Drive:
    """One run that is being played: until it ends or pauses, or for some turns."""

    def __init__(
        self,
        terrarium: Terrarium,
        run: Run,
        speed: Speed,
        turns: int | None,
        after: int | None,
        alone_seconds: AloneSeconds,
        clock: PaceClock,
    ) -> None:
        """`after` is the position behind which a reader has read nothing; none if it has read everything."""
        self._terrarium = terrarium
        self._run_id = run.id
        self._turns = turns
        self._alone_seconds = alone_seconds
        self._began = 0.0
        self._usd = run.usd
        self._is_wanted = True
        """Whether somebody has asked for it since it last began to play."""
        self._is_left_alone = False
        self._lines: Subscription | None = None
        """What was committed since the drive was last at its gate; none if nobody is given time to read."""
        self._clock = clock
        self._reader = Reader(is_opening=after is not None)
        self._noting = asyncio.Lock()
        self._changed = asyncio.Event()
        """Set when it must look again whether it still waits for a reader."""
        self.speed: Speed = "fast"
        self._is_stopping = False
        """Whether it ends before the next act."""
        if speed == "reading":
            self.speed = speed
            self._lines = terrarium.subscribe(after=after)

    def set_speed(self, speed: Speed) -> None:
        """Play on at this speed, from the next act on."""
        if speed != self.speed:
            self.speed = speed
            self._lines = self._terrarium.subscribe() if speed == "reading" else None
        self._changed.set()

    def play_on(self) -> None:
        """Play on, also if it is just ending."""
        self._is_wanted = True
        self._is_stopping = False
        self._turns = None
        self._changed.set()

    def next_line(self) -> None:
        """Take the line that is being read as read."""
        self._reader.skip(self._now)
        self._changed.set()

    @property
    def reading(self) -> LineHeld | None:
        """The line that is being read now; none if the next act waits for no reader."""
        now = self._now
        hold = None if self._lines is None else self._reader.hold(now)
        if hold is None:
            return None
        seconds = round(hold.ends - hold.begins, 1)
        return LineHeld(
            hold.event_id, seconds, ceil(hold.ends - max(now, hold.begins)), self._reader.waiting(now)
        )

    def stop(self) -> None:
        """Let no act begin any more, and end."""
        self._is_stopping = True
        self._changed.set()

    async def play(self) -> None:
        """Play until the run ends or is paused, or its turns are over."""
        for handle in self._terrarium.send_visitors_away(self._run_id):
            _log.info("%s is played by a visitor, and passes.", handle)
        while self._is_wanted and self.is_playing:
            self._is_wanted = self._is_left_alone = False
            self._began = self._now
            self._usd = self._run.usd
            await self._terrarium.run(self._run_id, turns=self._turns, before_act=self._gate)
            if self._is_left_alone and self.is_playing:
                seconds = f"{alone_seconds_max:g} seconds"
                reason = f"No director has looked on for {seconds}, and the run costs something."
                await self._terrarium.pause(self._run_id, reason)

    @property
    def is_playing(self) -> bool:
        """Whether a next act may begin."""
        return not self._is_stopping and self._run.status == "playing"

    @property
    def _run(self) -> Run:
        return self._terrarium.run_of(self._run_id)

    @property
    def _now(self) -> float:
        return self._clock.time()

    async def _gate(self, _graph_id: str) -> bool:
        """Wait until every line that is in the ledger can have been read. False ends the drive. Free graphs come here at the
        same time."""
        while self.is_playing:
            self._changed.clear()
            async with self._noting:
                await self._note_lines()
            seconds = self._reader.seconds_left(self._now)
            if self._lines is None or seconds <= 0:
                break
            await self._clock.wait(self._changed, seconds)
        self._is_left_alone = self._is_left_alone or self._costs_with_nobody_there
        return not self._is_stopping and not self._is_left_alone

    @property
    def _costs_with_nobody_there(self) -> bool:
        alone = min(self._alone_seconds(self._run_id), self._now - self._began)
        usd = self._run.usd
        return alone > alone_seconds_max and (usd is None or usd > (self._usd or 0.0))

    async def _note_lines(self) -> None:
        """Count the time to read what was said since. Everything before the gate is committed (see the conductor)."""
        now = self._now
        for event in [] if self._lines is None else await self._lines.arrived():
            if event.run_id == self._run_id:
                self._reader.take(event, now)


class Drivers:
    """The runs that are being played."""

    def __init__(self, terrarium: Terrarium, clock: PaceClock | None = None) -> None:
        self._terrarium = terrarium
        self._clock = LoopClock() if clock is None else clock
        self._drives: dict[str, Drive] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._speeds: dict[str, Speed] = {}
        self._alone: set[str] = set()
        """The runs that may continue alone."""
        self._held: set[str] = set()
        """The runs that were paused here. A disturbance does not play them on."""
        self.alone_seconds: AloneSeconds = lambda _run_id: 0.0
        self._closes_at: float | None = None

    def state_of(self, run: Run) -> State:
        """How a run stands to a viewer: `playing` only while it is played here. Beside a process that plays the store,
        only what the ledger says is known."""
        if run.status != "playing" or guest_of(self._terrarium) is not None:
            return run.status
        return "playing" if self._driver_state(run) == "playing" else "paused"

    def states(self, run_ids: Iterable[str]) -> dict[str, DriverState]:
        """What each of these runs that is not over is doing here; nothing is known of those that another process plays."""
        if guest_of(self._terrarium) is not None:
            return {}
        runs = [run for run in map(self._terrarium.run_of, run_ids) if not run.is_finished]
        return {
            run.id: DriverState(self._driver_state(run), self._speed_of(run.id), self._reading(run))
            for run in runs
        }

    def _driver_state(self, run: Run) -> Literal["playing", "pausing", "idle"]:
        drives = self._drives_of(run)
        if any(drive.is_playing for drive in drives.values()):
            return "playing"
        return "pausing" if drives else "idle"

    def _reading(self, run: Run) -> LineHeld | None:
        """The line that a run waits for: its own, else that of a run that shares a graph with it."""
        drives = self._drives_of(run)
        drive = drives.get(run.id) or next(iter(drives.values()), None)
        return drive.reading if drive is not None and drive.is_playing else None

    def _drives_of(self, run: Run) -> dict[str, Drive]:
        """The drives that play a run, by their runs: its own, and those of runs that share a graph with it."""
        graph_ids = set(run.graph_ids) if run.status == "playing" else set[str]()
        run_of = self._terrarium.run_of
        return {
            name: drive
            for name, drive in self._drives.items()
            if name == run.id or not graph_ids.isdisjoint(run_of(name).graph_ids)
        }

    async def play(
        self, run_id: str, speed: Speed | None = None, *, continue_alone: bool | None = None
    ) -> None:
        """Play a run on, in the background. A paused run continues."""
        if continue_alone is not None:
            (self._alone.add if continue_alone else self._alone.discard)(run_id)
        self._held.discard(run_id)
        if speed is not None:
            self._speeds[run_id] = speed
        if await self._is_open(run_id):
            await self._begin(run_id)
        drive = self._drives.get(run_id)
        if drive is not None and self._closes_at is None:
            drive.set_speed(self._speed_of(run_id))
            drive.play_on()

    async def play_on_if_disturbed(self, run_id: str) -> None:
        """Play a run on after a disturbance, unless it is paused."""
        if run_id not in self._held and self._terrarium.run_of(run_id).status == "playing":
            await self.play(run_id)

    def pause(self, run_id: str) -> None:
        """Let no act begin any more in the graphs of a run, until it is played on. One that has begun ends."""
        run = self._terrarium.run_of(run_id)
        if run.is_finished:
            raise Refused(f"Run {run_id} has finished.", "Branch it to continue.")
        drives = self._drives_of(run)
        self._held |= {run_id, *drives}
        for drive in drives.values():
            drive.stop()

    def next_line(self, run_id: str) -> None:
        """Wait no longer for the line that is being read in a run that plays at the pace of a reader."""
        run = self._terrarium.run_of(run_id)
        drives = [drive for drive in self._drives_of(run).values() if drive.is_playing]
        if not drives:
            raise Refused("The run is not being played.", "Play it, or run one turn.")
        for drive in drives:
            drive.next_line()

    async def finish(self, run_id: str) -> None:
        """Finish a run, once nobody thinks any more."""
        if run_id in self._drives:
            self._drives[run_id].stop()
        await self._terrarium.finish(run_id)

    async def step(self, run_id: str) -> None:
        """Play one turn of a run that is not being played. A paused run continues for this turn."""
        while drives := self._drives_of(run := self._terrarium.run_of(run_id)):
            if self._driver_state(run) == "playing":
                raise Refused("The run is being played.", "Pause it first.")
            await asyncio.wait([self._tasks[name] for name in drives])
        if await self._is_open(run_id):
            await self._begin(run_id, turns=1)
            await asyncio.shield(self._tasks[run_id])  # Whoever asked may leave: the turn ends.

    def begin_to_close(self) -> None:
        """Let no act begin any more, in no run."""
        if self._closes_at is None:
            self._closes_at = asyncio.get_running_loop().time() + shutdown_seconds_max
        for drive in self._drives.values():
            drive.stop()

    async def close(self) -> None:
        """End every drive; acts in flight may end for a while."""
        self.begin_to_close()
        tasks = [*self._tasks.values()]
        if tasks and self._closes_at is not None:
            await asyncio.wait(tasks, timeout=self._closes_at - asyncio.get_running_loop().time())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _is_open(self, run_id: str) -> bool:
        """Whether a run can be played on. A paused one continues."""
        if self._closes_at is not None:
            raise Refused("The server is being shut down.", "Start it again, then play on.")
        run = self._terrarium.run_of(run_id)
        if run.status == "paused":
            await self._terrarium.continue_run(run_id, by="page")
        return not run.is_finished

    def _alone_seconds(self, run_id: str) -> float:
        return 0.0 if run_id in self._alone else self.alone_seconds(run_id)

    def _speed_of(self, run_id: str) -> Speed:
        return self._speeds.get(run_id, "reading")

    async def _begin(self, run_id: str, turns: int | None = None) -> None:
        run = self._terrarium.run_of(run_id)
        # What the world shows at the beginning is read before anybody acts.
        opening = None if run.calls else await self._terrarium.event(f"{run.session_id}.1")
        if run_id in self._tasks:
            return
        after = None if opening is None or opening.position is None else opening.position - 1
        speed = self._speed_of(run_id) if turns is None else "fast"
        drive = Drive(self._terrarium, run, speed, turns, after, self._alone_seconds, self._clock)
        self._drives[run_id] = drive
        self._tasks[run_id] = asyncio.create_task(self._drive(run_id, drive), name=f"play {run_id}")

    async def _drive(self, run_id: str, drive: Drive) -> None:
        try:
            await drive.play()
        except GlasshouseError as wrong:
            _log.warning("Run %s is not played on.\n%s", run_id, wrong, extra={"fault": wrong})
        finally:
            del self._drives[run_id], self._tasks[run_id]
