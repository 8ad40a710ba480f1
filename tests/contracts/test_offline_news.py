"""What a visitor tells in a world with a script: told by whoever speaks first, asked about, and not forgotten."""

from __future__ import annotations

import asyncio
from functools import cache

import pytest

from glasshouse import Event, MemoryStore, Terrarium, kinds
from glasshouse.troupe.talk.understanding import understood

WORLDS = (
    "almanac-oak", "far-end-of-the-attic", "hatbox-and-cello", "hedge-parliament", "keeper-of-dusk", "mystery-roots", "one-odd-acorn",
    "plum-tree-table", "thousand-token-wood", "three-ways-in", "twenty-sprouts", "two-tale-hearth",
)  # fmt: skip
NEWS = "Somebody stole the key to the shed."
turn_disturbed = 4


@cache
def lines_after_the_news(world: str) -> tuple[Event, ...]:
    async def play() -> tuple[Event, ...]:
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(world, rng_seed=11)
            await t.step(turn_disturbed)
            await t.disturb(run.id, NEWS)
            await t.run(run.id)
            return await t.run_events(run.id)

    events = asyncio.run(play())
    at = max(index for index, event in enumerate(events) if event.kind == kinds.USER_INJECTED)
    said = (event for event in events[at + 1 :] if event.caused_by is not None)
    return tuple(event for event in said if isinstance(event.payload.get("text"), str))


def moves_about_the_news(world: str) -> list[str]:
    """What was done with the news, in the order of the lines."""
    moves = []
    for event in lines_after_the_news(world):
        if "stole the key" in event.payload["text"]:
            moves += [said.move for said in understood(event.payload["text"]) if said.move.endswith("-event")]
    return moves


@pytest.mark.parametrize("world", WORLDS)
def test_whoever_speaks_first_says_what_happened_and_it_comes_back(world: str) -> None:
    moves = moves_about_the_news(world)

    assert moves[:1] == ["note-event"]
    assert "return-event" in moves


def test_most_worlds_ask_about_it_and_none_says_it_more_often_than_its_graphs_can() -> None:
    asking = [world for world in WORLDS if "ask-event" in moves_about_the_news(world)]
    one_graph = [
        world for world in WORLDS if world not in {"hatbox-and-cello", "keeper-of-dusk", "three-ways-in"}
    ]

    assert len(asking) >= len(WORLDS) - 2
    assert {world: moves_about_the_news(world).count("return-event") for world in one_graph} == dict.fromkeys(
        one_graph, 1
    )
