"""The cold open: how long the scenes of a run's opening hold its first line, and who may go on sooner. The clock is moved by hand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import RESERVED_ACTORS, Event
from glasshouse.manifests.world_folders import found_worlds
from glasshouse.views.reading_time import seconds_to_read
from glasshouse.web.driving import Drivers
from tests.runtime.troupe import soon

first_line_seconds_max = 5.0
"""A line is there this long after the start, in every world."""


class HandMovedPace:
    """A clock for the pace of a run that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0
        self.is_waited_for = asyncio.Event()
        """Set while an act waits for its reader."""
        self.seconds_awaited = 0.0
        self._moved = asyncio.Event()

    def time(self) -> float:
        return self.now

    async def wait(self, changed: asyncio.Event, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until and not changed.is_set():
            self._moved.clear()
            self.seconds_awaited = until - self.now
            self.is_waited_for.set()
            either = [asyncio.create_task(event.wait()) for event in (changed, self._moved)]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            for task in either:
                task.cancel()
        self.is_waited_for.clear()

    def move(self, seconds: float) -> None:
        """Move it, and forget who waited."""
        self.is_waited_for.clear()
        self.now += seconds
        self._moved.set()


@asynccontextmanager
async def played(world: str) -> AsyncIterator[tuple[Terrarium, Drivers, HandMovedPace, str]]:
    """A world that is played at the pace of a reader, and waits for the first time."""
    async with Terrarium(MemoryStore()) as terrarium:
        clock = HandMovedPace()
        drivers = Drivers(terrarium, clock)
        run = await terrarium.open_world(world)
        await drivers.play(run.id)
        await soon(clock.is_waited_for.wait())
        try:
            yield terrarium, drivers, clock, run.id
        finally:
            await drivers.close()


async def said_in(terrarium: Terrarium, run_id: str) -> list[Event]:
    """The lines of creatures."""
    events = await terrarium.run_events(run_id)
    return [event for event in events if event.actor not in RESERVED_ACTORS and "text" in event.payload]


async def next_line(drivers: Drivers, clock: HandMovedPace, run_id: str) -> None:
    """Skip what is being read, until the next line is."""
    clock.is_waited_for.clear()
    drivers.next_line(run_id)
    await soon(clock.is_waited_for.wait())


async def test_the_openings_of_three_ways_in_are_read_side_by_side() -> None:
    async with played("three-ways-in") as (terrarium, drivers, clock, run_id):
        events = await terrarium.run_events(run_id)
        openings = [event for event in events if event.kind == kinds.WORLD_OBSERVED]
        one_after_another = sum(seconds_to_read(event.payload["text"]) for event in openings)
        reading = drivers.states([run_id])[run_id].reading

        assert len({event.graph_id for event in openings}) == 4
        assert one_after_another > 20
        assert reading is not None
        assert reading.event_id in [event.id for event in openings]
        assert (reading.seconds, reading.seconds_left, reading.lines_after) == (3.0, 3, 0)
        clock.move(2.9)
        await soon(clock.is_waited_for.wait())
        assert await said_in(terrarium, run_id) == []
        clock.move(0.1)
        await soon(clock.is_waited_for.wait())
        assert await said_in(terrarium, run_id)


@pytest.mark.parametrize("world", [world.name for world in found_worlds()])
async def test_the_first_line_of_every_world_is_there_within_five_seconds(world: str) -> None:
    async with played(world) as (terrarium, _, clock, run_id):
        while not await said_in(terrarium, run_id):
            clock.move(clock.seconds_awaited)
            await soon(clock.is_waited_for.wait())

        assert clock.now < first_line_seconds_max


async def test_next_goes_on_to_the_next_line_and_the_line_after_it_is_read_in_its_own_time() -> None:
    async with played("thousand-token-wood") as (terrarium, drivers, clock, run_id):
        await next_line(drivers, clock, run_id)
        (first,) = await said_in(terrarium, run_id)
        reading = drivers.states([run_id])[run_id].reading
        assert reading is not None
        assert reading.event_id == first.id
        assert reading.seconds == round(seconds_to_read(first.payload["text"]), 1)

        await next_line(drivers, clock, run_id)
        assert len(await said_in(terrarium, run_id)) == 2
        assert clock.now == 0.0

        await drivers.play(run_id, "fast")
        assert drivers.states([run_id])[run_id].reading is None


async def test_there_is_no_next_line_in_a_run_that_is_not_played() -> None:
    async with Terrarium(MemoryStore()) as terrarium:
        run = await terrarium.open_world("thousand-token-wood")

        with pytest.raises(Refused, match="not being played"):
            Drivers(terrarium).next_line(run.id)
