"""Seeded random changes: whoever follows a creature is told what becomes of its graph, live and afterwards."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest

from glasshouse import Event, EventFilter, Manifest, MemoryStore, Refused, Terrarium, kinds
from glasshouse.events.payloads import creatures_named_in
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from tests.runtime.troupe import all_events, soon
from tests.simulation.mixing import operate
from tests.simulation.seeds import usual_seeds

steps = 60


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


@pytest.mark.parametrize("seed", usual_seeds(6))
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
