"""Worlds as newcomers write them: plain manifests, some clumsy, some with tools and fields; the general grammar plays them."""

from __future__ import annotations

import asyncio
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from glasshouse import Event, MemoryStore, Terrarium, kinds
from glasshouse.manifests import load_world
from glasshouse.troupe.speaking import name_of
from glasshouse.troupe.talk.replies import ANSWERS
from glasshouse.troupe.talk.situation import QUESTIONS
from glasshouse.troupe.talk.understanding import understood
from glasshouse.troupe.vocabulary import stems_of

FOLDER = Path(__file__).parents[1] / "worlds_of_newcomers"
WORLDS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
SEEDS = range(3)
NOUN = "quandle"
turn_disturbed = 3
lines_without_want_max = 6
lines_dropped_max = 3
"""So many lines of thirty plays repeat one that their player could not see any more."""
words_of_a_speech_min = 5
lines_in_sight_min = 4
"""When the older half of a window was dropped, a player sees so many lines for certain."""
ENGINE_WORDS = re.compile(
    r"\b(?:dealt|face down|conductor|terrarium|schema|prompt|payload|ticks?|subscri\w+)\b|agent\.|_",
    re.IGNORECASE,
)


@cache
def played(world: str, seed: int, *, is_disturbed: bool = False) -> tuple[Event, ...]:
    """A whole play; with a visitor who brings something that nobody has a word for, if it is disturbed."""

    async def play() -> tuple[Event, ...]:
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(load_world(str(FOLDER / world)), rng_seed=seed)
            await t.step(turn_disturbed)
            if is_disturbed:
                await t.disturb(run.id, f"Somebody has left a {NOUN} by the door.")
            while await t.step(4):
                pass
            return await t.run_events(run.id)

    return asyncio.run(play())


def told_by_tools(events: tuple[Event, ...]) -> set[str]:
    """The ids of the lines that say what a tool answered."""
    return {
        event.id
        for before, event in pairwise(events)
        if before.kind == kinds.TOOL_RETURNED and before.actor == event.actor
    }


def said_in(events: tuple[Event, ...]) -> list[Event]:
    """What the cast said, oldest first."""
    return [
        event
        for event in events
        if event.caused_by is not None and event.payload.get("text") and event.kind != kinds.TOOL_RETURNED
    ]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("world", WORLDS)
def test_nobody_fails_and_no_line_comes_twice(world: str, seed: int) -> None:
    events = played(world, seed)
    texts = [event.payload["text"] for event in said_in(events)]

    assert kinds.AGENT_FAILED not in [event.kind for event in events]
    assert len(texts) >= 10
    # A few words may be said as often as they are true.
    speeches = [text for text in texts if len(text.split()) >= words_of_a_speech_min]
    assert len(set(speeches)) == len(speeches)


def test_hardly_a_line_is_dropped_because_it_was_said_before() -> None:
    plays = [played(world, seed) for world in WORLDS for seed in SEEDS]
    dropped = [event for events in plays for event in events if event.kind == kinds.LOOP_SUSPECTED]

    assert len(dropped) <= lines_dropped_max


@pytest.mark.parametrize("world", WORLDS)
def test_what_a_visitor_brings_is_taken_up_and_nobody_speaks_of_it_otherwise(world: str) -> None:
    with_visitor = [event.payload["text"].lower() for event in said_in(played(world, 0, is_disturbed=True))]
    without = [event.payload["text"].lower() for event in said_in(played(world, 0))]

    assert any(NOUN in text for text in with_visitor)
    assert not any(NOUN in text for text in without)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("world", WORLDS)
def test_everybody_comes_back_to_what_it_wants_or_cares_about(world: str, seed: int) -> None:
    wanted = {
        name: stems_of("; ".join((manifest.wants, *manifest.cares_about)))
        for name, manifest in load_world(str(FOLDER / world)).manifests.items()
    }
    spoken: dict[str, list[bool]] = {}
    for event in said_in(played(world, seed)):
        if event.kind not in {kinds.WORLD_OBSERVED, kinds.JUDGE_VERDICT}:
            is_told = event.id in told_by_tools(played(world, seed))
            is_touched = is_told or bool(wanted[event.actor] & stems_of(event.payload["text"]))
            spoken.setdefault(event.actor, []).append(is_touched)

    assert spoken
    for touched in spoken.values():
        assert "." * (lines_without_want_max + 1) not in "".join(
            "x" if is_touched else "." for is_touched in touched
        )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("world", WORLDS)
def test_a_question_of_a_castmate_is_answered_or_openly_refused(world: str, seed: int) -> None:
    said, ids_of_lookups = said_in(played(world, seed)), told_by_tools(played(world, seed))
    asked, unanswered = 0, []
    names = {name_of(event.actor): event.actor for event in said}
    for at, event in enumerate(said):
        moves = [move for move in understood(event.payload["text"]) if move.move in QUESTIONS]
        to = names.get(moves[-1].slots.get("you") or "", "") if moves else ""
        answered = next((line for line in said[at + 1 :][:lines_in_sight_min] if line.actor == to), None)
        if answered is not None and answered.id not in ids_of_lookups:
            asked += 1
            if not {move.move for move in understood(answered.payload["text"])} & set(
                answers_to(moves[-1].move)
            ):
                unanswered.append((event.payload["text"], answered.payload["text"]))

    assert unanswered == []
    assert asked >= 1


def answers_to(question: str) -> tuple[str, ...]:
    """The moves that answer a question, or refuse to."""
    if question == "ask-want":
        return ("tell-want", "hold-want", "tell-care", "keep-secret")
    return ANSWERS[question]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("world", WORLDS)
def test_nobody_speaks_in_words_of_the_engine(world: str, seed: int) -> None:
    texts = [event.payload["text"] for event in said_in(played(world, seed))]

    assert [text for text in texts if ENGINE_WORDS.search(text)] == []


def test_fields_hold_what_the_world_says() -> None:
    logs = [event.payload for event in played("ships-log", 2) if event.kind == "log.written"]

    assert logs[0]["date"] == "14 March 1871"
    assert logs[0]["wind"] == "from the north-east"
