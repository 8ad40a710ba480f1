"""Kinds of a world's own that name one of the cast, in worlds where no word was dealt: a vote, a suspicion."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path

import pytest

from glasshouse import Event, MemoryStore, Terrarium, kinds
from glasshouse.manifests import load_world

SCENARIO = """\
name: flat
goal: Agree who gets the big room.
opening: "Sunday evening, the kitchen table. There are eleven dirty cups in the sink."
cast: [lena, omar, piet]
kinds:
  vote.given: {text: string, for: creature}
  suspicion.raised: {text: string, suspect: creature}
  meter.read: {text: string, litres: number}
beats:
  - {turn: 4, text: "The doorbell rings."}
governor: {max_turns: 9}
"""
CAST = {
    "lena": "persona: Moves out in three weeks.\nwants: to leave without a quarrel\ncares_about: [her plants, the deposit]\n"
    "may_emit: [agent.spoke, vote.given]\n",
    "omar": "persona: A nurse who works nights.\nwants: the big room, because it is quiet\ncares_about: [sleep]\n"
    "may_emit: [agent.spoke, suspicion.raised]\n",
    "piet": "persona: Plays the drums.\nwants: the big room for the drums\nmay_emit: [meter.read]\n",
}


@cache
def played(folder: Path, rng_seed: int) -> tuple[Event, ...]:
    async def play() -> tuple[Event, ...]:
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(load_world(folder), rng_seed=rng_seed)
            await t.run(run.id)
            return await t.run_events(run.id)

    return asyncio.run(play())


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("worlds") / "flat"
    (folder / "creatures").mkdir(parents=True)
    (folder / "scenario.yaml").write_text(SCENARIO)
    for name, text in CAST.items():
        (folder / "creatures" / f"{name}.yaml").write_text(
            f"name: {name}\n{text}schedule: {{tick_every: 1}}\n"
        )
    return folder


def of_kind(events: tuple[Event, ...], kind: str) -> list[Event]:
    return [event for event in events if event.kind == kind]


def test_whoever_is_named_is_named_for_something_and_by_no_game_of_words(flat: Path) -> None:
    named = [
        event
        for rng_seed in range(8)
        for kind in ("vote.given", "suspicion.raised")
        for event in of_kind(played(flat, rng_seed), kind)
    ]

    assert len(named) >= 8
    for event in named:
        whom = str(event.payload.get("for") or event.payload.get("suspect"))
        assert whom != event.actor
        assert whom.capitalize() in event.payload["text"]
        assert not any(words in event.payload["text"] for words in ("odd one", "card", "fits nothing"))


@pytest.mark.parametrize("rng_seed", range(8))
def test_nobody_is_named_twice_in_the_same_words(flat: Path, rng_seed: int) -> None:
    texts = [event.payload["text"] for event in of_kind(played(flat, rng_seed), "vote.given")]

    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("rng_seed", range(8))
def test_a_number_that_nothing_tells_is_not_made_up(flat: Path, rng_seed: int) -> None:
    assert of_kind(played(flat, rng_seed), "meter.read") == []


@pytest.mark.parametrize("rng_seed", range(8))
def test_no_line_is_dropped_as_a_copy(flat: Path, rng_seed: int) -> None:
    assert of_kind(played(flat, rng_seed), kinds.LOOP_SUSPECTED) == []
