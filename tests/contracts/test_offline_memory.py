"""The offline troupe remembers: a question for what was said long ago is answered with the line, in the words in which it was spoken."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from glasshouse import Draft, Event, kinds
from glasshouse.terrarium import Terrarium, verify
from tests.made_up_words import word_for

FILES = {
    "scenario.yaml": """
        name: mill
        goal: Keep the mill going.
        cast: [cora, ada]
        opening: A mill, a pond, and a bench between them.
        governor: {max_turns: 3}
    """,
    "creatures/cora.yaml": """
        name: cora
        persona: Has kept the mill for thirty years.
        subscribes_to: [user.injected]
        memory: {long: LONG}
    """,
    "creatures/ada.yaml": """
        name: ada
        persona: Sits on the bench.
        subscribes_to: [mill.closed]
    """,
}


def mill(folder: Path, *, long: bool) -> Path:
    for name, text in FILES.items():
        file = folder / "mill" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).lstrip().replace("LONG", str(long).lower()))
    scenario = folder / "mill" / "scenario.yaml"
    scenario.write_text(scenario.read_text() + "kinds: {mill.closed: {text: string}}\n")
    return folder / "mill"


async def answered(
    folder: Path, question: str, *, long: bool, lines_between: int = 300
) -> tuple[list[Event], str]:
    """The calls of tools, and what is said after much was said since somebody told of a kettle."""
    async with Terrarium() as t:
        run = await t.open_world(mill(folder, long=long), rng_seed=1)
        await t.append("ada", said("The copper kettle has seven dents from the fall. It still sings."))
        await t.append("ada", said("The miller before you was called Barnaby."))
        for number in range(lines_between):
            await t.append("ada", said(f"Only {word_for(number)}."))
        await t.disturb(run.id, question)
        await t.run(run.id)
        events = await t.run_events(run.id)
        assert (await verify(t, run.id)).is_same
    calls = [event for event in events if event.kind == kinds.TOOL_CALLED]
    lines = [e.payload["text"] for e in events if e.kind == kinds.AGENT_SPOKE and e.actor == "cora"]
    return calls, lines[-1]


def said(text: str) -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, payload={"text": text})


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many dents does the copper kettle have?", "copper kettle has seven dents from the fall"),
        ("Who was the miller before?", "miller before you was called Barnaby"),
    ],
)
async def test_what_was_said_long_ago_is_answered_in_its_words(
    tmp_path: Path, question: str, answer: str
) -> None:
    _, remembering = await answered(tmp_path / "a", question, long=True)
    _, forgetting = await answered(tmp_path / "b", question, long=False)

    assert answer in remembering
    assert "ada" in remembering.lower()
    assert answer not in forgetting


async def test_where_nothing_comes_to_mind_a_memory_is_searched_and_the_talk_goes_on(tmp_path: Path) -> None:
    calls, line = await answered(tmp_path, "Who said that the lighthouse was empty?", long=True)

    assert [call.payload["arguments"] for call in calls] == [{"words": "lighthouse"}]
    assert "recall" not in line.lower()
    assert "barnaby" not in line.lower()
    assert "kettle" not in line.lower()


async def test_what_the_tool_finds_is_answered_in_its_words_too(tmp_path: Path) -> None:
    question = "Did anybody ever count the dents of the copper kettle?"

    calls, line = await answered(tmp_path, question, long=True, lines_between=60)

    assert [call.payload["tool"] for call in calls] == ["recall"]
    assert "copper kettle has seven dents from the fall" in line
