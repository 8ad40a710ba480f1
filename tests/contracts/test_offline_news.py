"""What a visitor tells in a world whose script has no lines for events: told by whoever speaks first, asked about, and not forgotten."""

from __future__ import annotations

import asyncio

import pytest

from glasshouse import Event, MemoryStore, Terrarium, kinds
from glasshouse.manifests import load_world
from glasshouse.troupe.talk.understanding import understood

NEWS = "Somebody stole the key to the shed."
turn_disturbed = 2
SCENARIO = """\
name: pond
goal: Find out whose the boot is.
cast: [heron, frog]
governor: {max_turns: 9}
"""
CREATURE = """\
name: {name}
persona: {persona}
schedule: {{tick_every: 1}}
subscribes_to: [user.injected]
may_emit: [agent.spoke]
"""
PERSONAS = {"heron": "A heron that stands on one leg.", "frog": "A frog that sits on a leaf."}
SAID = {
    "heron": ("The reeds are in my way.", "I stood in the mud until noon.", "One leg is enough for me.", "A ferry went by without a light.",
              "My neck is longer than the jetty.", "Nobody fishes after supper here.", "Otters make poor guests, I find.", "Wind from the hill, as ever."),
    "frog": ("This leaf is mine by right.", "Rain would suit everybody tonight.", "I can jump as far as that lamp.", "Somewhere a willow lost a branch.",
             "Flies are late this year.", "My cousin sings better than I do.", "Water remembers every stone.", "The moon looks thin to me."),
}  # fmt: skip


def script() -> str:
    parts = []
    for handle, words in (("heron", "stands on one leg"), ("frog", "sits on a leaf")):
        entries = [f"* {handle}-{number} report\n  {text}" for number, text in enumerate(SAID[handle])]
        visitor = f"* {handle}-visitor react on=visitor again\n  {{X}}? Not here."
        parts.append("\n".join([f"[part {handle}: {words}]", *entries, visitor]))
    return "\n".join(parts)


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """What was said after the news."""
    world = tmp_path_factory.mktemp("worlds") / "pond"
    (world / "creatures").mkdir(parents=True)
    (world / "scenario.yaml").write_text(SCENARIO)
    (world / "script.txt").write_text(script())
    for name, persona in PERSONAS.items():
        (world / "creatures" / f"{name}.yaml").write_text(CREATURE.format(name=name, persona=persona))

    async def play() -> tuple[Event, ...]:
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(load_world(world), rng_seed=11)
            await t.step(turn_disturbed)
            await t.disturb(run.id, NEWS)
            await t.run(run.id)
            return await t.run_events(run.id)

    events = asyncio.run(play())
    at = max(index for index, event in enumerate(events) if event.kind == kinds.USER_INJECTED)
    return [event for event in events[at + 1 :] if event.kind == kinds.AGENT_SPOKE]


def test_the_first_tells_it_the_next_asks_and_it_comes_back_once(lines: list[Event]) -> None:
    about = [event for event in lines if "stole the key" in event.payload["text"]]
    moves = [
        said.move
        for event in about
        for said in understood(event.payload["text"])
        if said.move.endswith("-event")
    ]

    assert moves == ["note-event", "ask-event", "return-event"]
    assert about[0].actor != about[1].actor


def test_lines_of_the_script_keep_their_words_beside_the_news(lines: list[Event]) -> None:
    assert "? Not here." in lines[0].payload["text"]
    for event in lines[2:]:
        assert any(text in event.payload["text"] for text in SAID[event.actor])
