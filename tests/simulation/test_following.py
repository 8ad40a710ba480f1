"""Seeded random changes: whoever follows a creature is told what becomes of its graph, live and afterwards."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence

import pytest

from glasshouse import Event, EventFilter, Manifest, MemoryStore, Refused, Terrarium, kinds
from glasshouse.events.payloads import creatures_named_in
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.store_port import Batch
from tests.runtime.stores_around import StoreAround
from tests.runtime.troupe import all_events, soon
from tests.simulation.mixing import operate
from tests.simulation.seeds import fresh_seeds, replayable, rig_seeds, usual_seeds

steps = 60
soak_plays = 300


def home_of(t: Terrarium, name: str) -> tuple[str, str] | None:
    """The graph and session of a creature, if it is there."""
    try:
        return t.creature(name).graph_id, t.creature(name).session_id
    except Refused:
        return None


def is_told(event: Event, name: str, homes: list[tuple[str, str]]) -> bool:
    """Whether one who follows a creature is told this, by where the creature was before and after the change."""
    if event.actor == name or name in creatures_named_in(event):
        return True
    graphs, sessions = {graph for graph, _ in homes}, {session for _, session in homes}
    match event.kind:
        case kinds.TOPOLOGY_CHANGED:
            return bool(graphs & {*event.payload["old_graph_ids"], *event.payload["new_graph_ids"]})
        case kinds.SESSION_FORKED:
            return event.graph_id in graphs or bool(sessions & {*event.payload["parents"]})
        case kinds.CREATURE_SESSION_ATTACHED:
            return event.graph_id in graphs
        case _:
            return False


async def read(events: AsyncIterator[Event], count: int) -> list[str]:
    return [(await soon(anext(events))).id for _ in range(count)]


@pytest.mark.parametrize("seed", rig_seeds(6))
async def test_a_followed_creature_tells_every_change_of_its_graph(seed: int) -> None:
    store, name = MemoryStore(), "ada"
    async with Terrarium(store, clock=HandMovedClock(), ids=SeededIds(seed)) as t:
        wanted = EventFilter(creature_ids={name, "last"})
        live, expected = t.subscribe(wanted), list[Event]()
        for step in range(steps):
            before, position = home_of(t, name), len(await all_events(store))
            await operate(t, seed, step)
            homes = [home for home in (before, home_of(t, name)) if home is not None]
            change = (await all_events(store))[position:]
            expected += [event for event in change if is_told(event, name, homes)]
        await t.add_creature(Manifest(name="last"))
        everything = await all_events(store)
        ids = [event.id for event in (*expected, *everything[-3:])]
        begun = random.Random(seed).choice(everything[:-3]).change or 0

        assert await read(live, len(ids)) == ids
        assert await read(t.subscribe(wanted, after=0), len(ids)) == ids
        later = [event.id for event in everything if (event.position or 0) >= begun and event.id in ids]
        assert await read(t.subscribe(wanted, after=begun - 1), len(later)) == later


class UnhurriedStore(StoreAround):
    """A store whose commits and reads take a random number of turns of the loop. A read takes some before it looks, and
    some after."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._chance = random.Random(seed)

    async def commit(self, batches: Sequence[Batch]) -> int:
        await self._dawdle()
        return await super().commit(batches)

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        await self._dawdle()
        page = await super().read_after(position, events_max)
        await self._dawdle()
        return page

    async def _dawdle(self) -> None:
        for _ in range(self._chance.randrange(12)):
            await asyncio.sleep(0)


async def play_while_others_read(seed: int) -> None:
    """Readers with filters come at random moments and read while the world changes. Afterwards, each reads it all again."""
    store, chance = UnhurriedStore(seed), random.Random(seed)
    filters = [EventFilter(creature_ids={"ada"}), EventFilter(channels={"talk"}), EventFilter()]
    t = Terrarium(store, clock=HandMovedClock(), ids=SeededIds(seed))
    readings = list[tuple[EventFilter, int, asyncio.Task[list[str]]]]()
    await t.open()
    for step in range(steps):
        operation = asyncio.create_task(operate(t, seed, step))
        for _ in range(chance.randrange(6)):
            await asyncio.sleep(0)
        wanted, after = chance.choice(filters), t._house.subscriptions.position
        reader = t.subscribe(wanted, after=chance.choice([None, after]))
        readings.append((wanted, after, asyncio.create_task(_ids(reader))))
        await operation
    again = [asyncio.create_task(_ids(t.subscribe(wanted, after=after))) for wanted, after, _ in readings]
    for _ in range(steps):
        await asyncio.sleep(0)
    await t.close()

    for (wanted, after, reading), reread in zip(readings, again, strict=True):
        assert await soon(reading) == await soon(reread), f"{wanted} after {after}"


async def _ids(events: AsyncIterator[Event]) -> list[str]:
    return [event.id async for event in events]


@pytest.mark.parametrize("seed", usual_seeds(8))
async def test_a_filtered_reader_that_comes_while_the_world_changes_misses_nothing(seed: int) -> None:
    await play_while_others_read(seed)


@pytest.mark.soak
async def test_filtered_readers_that_come_while_the_world_changes_for_long() -> None:
    for seed in fresh_seeds(soak_plays):
        with replayable(seed, "test_following.py"):
            await play_while_others_read(seed)
