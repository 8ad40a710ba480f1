"""Support for the runtime's tests: a small troupe that listens and speaks, and functions that read its lines back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import TypeVar

from glasshouse import Draft, Event, Manifest, Terrarium, kinds
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.store_port import Store
from glasshouse.views import Creature
from tests.runtime.stores_around import GatedStore

T = TypeVar("T")

patience_seconds_max = 120.0
"""Longer than anything takes on the slowest machine: only what never comes is given up."""

turns_of_the_loop = 30


@asynccontextmanager
async def terrarium_on(store: Store) -> AsyncIterator[Terrarium]:
    """An open terrarium. However the test ends, the gates are open and the terrarium closed behind it."""
    terrarium = new_terrarium(store)
    await terrarium.open()
    try:
        yield terrarium
    finally:
        if isinstance(store, GatedStore):
            store.gate.set()
            store.gate_of_reads.set()
            store.gate_of_answers.set()
        await soon(terrarium.close())


def terrarium_of(parts: Parts) -> Terrarium:
    """A terrarium over parts that a test has constructed, for example with a toolbox without group tools."""
    terrarium = Terrarium.__new__(Terrarium)
    terrarium.approver, terrarium._parts, terrarium._house = None, parts, parts.house
    terrarium._guest = parts.guest
    terrarium._edits, terrarium._stage, terrarium._archive = parts.edits, parts.stage, parts.archive
    return terrarium


def new_terrarium(store: Store) -> Terrarium:
    return Terrarium(store, clock=HandMovedClock(), ids=SeededIds(7))


async def born(terrarium: Terrarium, *names: str) -> list[Creature]:
    """One creature alone in its graph for each name."""
    return [await terrarium.add_creature(Manifest(name=name)) for name in names]


async def troupe(terrarium: Terrarium, *names: str, channel: str = "talk") -> str:
    """Creatures that all send and listen on one channel; their graph."""
    await born(terrarium, *names)
    for first, other in pairwise(names):
        await terrarium.connect(first, other, channel=channel, both=True)
    return terrarium.creature(names[0]).graph_id


def line(text: str, channel: str | None = "talk") -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, channel=channel, payload={"text": text})


async def mail_of(terrarium: Terrarium, name: str) -> list[str]:
    """The texts that a creature is owed."""
    return [text_of(event) async for event in terrarium.mail(name)]


def text_of(event: Event) -> str:
    return str(event.payload.get("text", event.kind))


async def taken(events: AsyncIterator[Event], count: int) -> list[Event]:
    """The next events of an endless stream."""
    return [await soon(anext(events)) for _ in range(count)]


async def soon(waiting: Awaitable[T]) -> T:
    """What is waited for, or a red test if it never comes."""
    return await asyncio.wait_for(waiting, patience_seconds_max)


async def loop_turns() -> None:
    """Let everything run that can run by itself."""
    for _ in range(turns_of_the_loop):
        await asyncio.sleep(0)


async def all_events(store: Store) -> list[Event]:
    """The whole ledger in the order of commits."""
    return await store.read_after(0, 1_000_000)
