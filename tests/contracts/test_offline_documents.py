"""The offline troupe looks things up: a question for a fact is answered from a document, with the file named."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from glasshouse import Event, kinds
from glasshouse.terrarium import Terrarium, verify

FILES = {
    "scenario.yaml": """
        name: help-desk
        goal: Answer whoever rings, from the handbook.
        cast: [clerk]
        documents: [handbook/*.md]
        opening: A counter, a bell, and a handbook with a ribbon in it.
        governor: {max_turns: 3}
    """,
    "creatures/clerk.yaml": """
        name: clerk
        persona: Answers from the handbook.
        subscribes_to: [user.injected]
        tools: [look_up]
    """,
    "handbook/kettles.md": """
        # Kettles

        A kettle that does not sing has lost its whistle. Whistles are kept in the third drawer, behind the string.
    """,
    "handbook/umbrellas.md": """
        # Umbrellas

        Umbrellas go back to the porter by six.
    """,
}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "help-desk" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).lstrip())
    return tmp_path / "help-desk"


async def answered(world: Path, question: str) -> tuple[list[Event], list[Event]]:
    """The calls of tools and the lines of a play in which a visitor says this."""
    async with Terrarium() as t:
        run = await t.open_world(world, rng_seed=1)
        await t.disturb(run.id, question)
        await t.run(run.id)
        events = await t.run_events(run.id)
        assert (await verify(t, run.id)).is_same
    calls = [event for event in events if event.kind == kinds.TOOL_CALLED]
    return calls, [event for event in events if event.kind == kinds.AGENT_SPOKE]


@pytest.mark.parametrize(
    ("question", "file", "words"),
    [
        ("Where are the whistles kept?", "handbook/kettles.md", "third drawer"),
        ("When do the umbrellas go back?", "handbook/umbrellas.md", "porter by six"),
    ],
)
async def test_a_question_for_a_fact_is_answered_from_the_file_that_holds_it(
    world: Path, question: str, file: str, words: str
) -> None:
    calls, lines = await answered(world, question)

    assert [call.payload["tool"] for call in calls] == ["look_up"]
    (line,) = lines
    assert file in line.payload["text"]
    assert words in line.payload["text"]


@pytest.mark.parametrize("said", ["Would you like an umbrella?", "The whistles are in the third drawer."])
async def test_what_asks_for_no_fact_is_not_looked_up(world: Path, said: str) -> None:
    calls, lines = await answered(world, said)

    assert calls == []
    assert len(lines) == 1


async def test_where_nothing_was_found_the_talk_goes_on(world: Path) -> None:
    calls, lines = await answered(world, "Where is the lighthouse?")

    assert [call.payload["arguments"] for call in calls] == [{"words": "lighthouse"}]
    (line,) = lines
    assert "handbook/" not in line.payload["text"]
    assert "lighthouse" in line.payload["text"].lower()


async def test_a_question_that_was_answered_is_not_put_off_by_the_others(world: Path) -> None:
    caller = "name: caller\npersona: Has a kettle that does not sing.\nschedule: {tick_every: 1}\n"
    (world / "creatures" / "caller.yaml").write_text(caller)
    scenario = world / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("cast: [clerk]", "cast: [clerk, caller]"))

    _, lines = await answered(world, "Where are the whistles kept?")

    assert {line.actor for line in lines} == {"clerk", "caller"}
    said = [line.payload["text"] for line in lines if line.actor == "caller"]
    assert not any("whistles" in text for text in said), said
