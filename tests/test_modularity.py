"""A world is data: every world that ships plays to its end, twice alike, and the engine names none of them.

A new world in `src/glasshouse/worlds/` is covered here without a line of test.
"""

import ast
import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import pytest

from glasshouse import Event, MemoryStore, Terrarium, kinds, rebuild_stage
from glasshouse.manifests import LoadedWorld, load_world
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.capabilities import capabilities_of
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.ports import Model
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.views.stage import StageProjection

SRC = Path(__file__).resolve().parent.parent / "src" / "glasshouse"
WORLDS = [world.name for world in bundled_worlds()]


class CountedTroupe:
    """The offline troupe, and how often it was asked."""

    name = "offline"

    def __init__(self) -> None:
        self.asked = 0
        self._troupe: Model = ModelRouter().route("fast").model

    def with_script(self, script: str) -> Self:
        scripted = capabilities_of(ModelRouter().route("fast").model).with_script
        assert scripted is not None
        self._troupe = scripted(script)
        return self

    async def complete(self, prompt: Prompt) -> Completion:
        self.asked += 1
        return await self._troupe.complete(prompt)


@dataclass(frozen=True)
class Play:
    """A world played to its end."""

    world: LoadedWorld
    events: tuple[Event, ...]
    digest: str
    asked: int

    @property
    def finished(self) -> Event:
        return self.events[-1]


@cache
def played(name: str, take: int = 1) -> Play:
    return asyncio.run(_played(name, take))


async def _played(name: str, take: int) -> Play:
    troupe = CountedTroupe()
    world = load_world(name)
    async with Terrarium(
        MemoryStore(), models=ModelRouter(troupe), clock=HandMovedClock(), ids=SeededIds(take)
    ) as t:
        run = await t.open_world(world, rng_seed=11)
        await t.run(run.id)
        return Play(world, await t.run_events(run.id), await t.digest(run.id), troupe.asked)


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_plays_to_its_end_offline_and_twice_alike(name: str) -> None:
    once, again = played(name), played(name, take=2)

    assert once.finished.kind == kinds.RUN_FINISHED
    assert once.finished.payload["reason"] in {"ended", "no_contest"}
    assert once.digest == again.digest
    assert [event.payload for event in once.events if not event.is_engine][1:] != []


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_keeps_the_invariants_of_a_run(name: str) -> None:
    play = played(name)
    acts = [e for e in play.events if e.caused_by is not None and e.ends_its_act]
    counts = Counter((act.actor, act.caused_by) for act in acts)
    known = {event.id for event in play.events}
    tools = [event for event in play.events if event.kind == kinds.TOOL_CALLED]

    assert [event.kind for event in play.events].count(kinds.RUN_FINISHED) == 1
    assert [pair for pair, times in counts.items() if times > 1] == []
    assert [act.id for act in acts if act.caused_by not in known] == []
    assert [act.id for act in acts if act.kind == kinds.AGENT_FAILED] == []
    assert play.finished.payload["calls"] == play.asked == len(acts) + len(tools)
    assert all(
        first.lamport <= second.lamport for first, second in zip(play.events, play.events[1:], strict=False)
    )
    assert play.finished.payload["turns"] <= play.world.scenario.governor.max_turns


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_has_three_movements_a_turn_of_fortune_and_three_disturbances(name: str) -> None:
    scenario = played(name).world.scenario
    titles = [event.payload["title"] for event in played(name).events if event.payload.get("title")]

    assert 12 <= scenario.governor.max_turns <= 24
    assert len(titles) == len(set(titles)) >= 2
    assert len(scenario.disturbances) >= 3
    assert len(scenario.seeds) >= 2
    assert scenario.title
    assert scenario.goal


@pytest.mark.parametrize("name", WORLDS)
def test_nobody_says_the_same_line_twice(name: str) -> None:
    texts = [
        e.payload["text"]
        for e in played(name).events
        if e.caused_by is not None and "text" in e.payload and e.kind != kinds.TOOL_RETURNED
    ]

    assert [text for text, times in Counter(texts).items() if times > 1] == []


@pytest.mark.parametrize("name", WORLDS)
def test_the_stage_at_every_event_is_the_same_folded_at_once_or_step_by_step(name: str) -> None:
    play = played(name)
    stage = StageProjection()

    for count, event in enumerate(play.events, start=1):
        stage.apply(event)
        assert rebuild_stage(play.events[:count]) == stage
    assert played(name).asked == play.asked


def test_the_ending_of_a_contest_depends_on_what_was_said() -> None:
    winners = {_winner("twenty-sprouts", seed) for seed in range(12)}

    assert winners == {"guesser", "keeper"}


@cache
def _winner(name: str, rng_seed: int) -> str | None:
    async def play() -> str | None:
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(name, rng_seed=rng_seed)
            await t.run(run.id)
            return t.run_of(run.id).winner

    return asyncio.run(play())


def words_of_worlds() -> set[str]:
    """Every name that belongs to a world: worlds, their titles, creatures and what they are called, kinds of their own."""
    names: set[str] = set()
    for name in WORLDS:
        world = load_world(name)
        scenario = world.scenario
        names |= {name, scenario.title, *world.manifests, *scenario.kinds, *scenario.competition.teams}
        names |= {entry.name for stage in scenario.stages.values() for entry in stage.cast}
    return names - {""}


def identifier(node: ast.AST) -> str | None:
    """The name that a node uses or defines, whatever it stands for."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.keyword(arg=name) | ast.alias(name=name):
            return name
        case ast.Attribute(attr=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case _:
            return None


def names_in(source: str, words: set[str]) -> set[str]:
    """Which of these words stand in a Python source: in its code or in its texts, docstrings left out.

    Capitals do not matter, and an underscore or a blank is as good as a hyphen.
    """
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
    text = "\n".join([*texts, *(name for node in ast.walk(tree) if (name := identifier(node)))])
    spellings = spellings_of(frozenset(words))
    is_there = any_of(tuple(spellings)).search(text)
    return {word for spelling, word in spellings.items() if is_there and any_of((spelling,)).search(text)}


@cache
def spellings_of(words: frozenset[str]) -> dict[str, str]:
    """A pattern for each word."""
    return {"[-_ ]".join(map(re.escape, re.split("[-_ ]", word))): word for word in words}


@cache
def any_of(spellings: tuple[str, ...]) -> re.Pattern[str]:
    """One of these, standing by itself."""
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(spellings)})(?![\w-]|\.\w)", re.IGNORECASE)


@pytest.mark.parametrize("name", WORLDS)
def test_a_tool_that_a_creature_is_granted_is_used_and_what_it_said_is_in_the_next_line(name: str) -> None:
    play = played(name)
    granted = {tool for manifest in play.world.manifests.values() for tool in manifest.tools}
    returned = [event for event in play.events if event.kind == kinds.TOOL_RETURNED]
    unsaid = [e.id for e in returned if e.payload["tool"] in granted and not _is_taken_up(e, play.events)]

    assert granted <= {event.payload["tool"] for event in returned}
    assert unsaid == []


def _is_taken_up(returned: Event, events: tuple[Event, ...]) -> bool:
    """Whether the numbers of a tool's answer stand in the next line of whoever used it. Of an answer in parts, a line may
    leave out those that nobody wanted to know: one that was not in the question must stand there whole."""
    at = events.index(returned)
    line = json.dumps(next(e for e in events[at:] if e.actor == returned.actor and e.ends_its_act).payload)
    question = next(e for e in reversed(events[:at]) if e.id == returned.caused_by).payload["arguments"]
    answer = returned.payload["result"]
    parts = (
        [part for part in answer.values() if part not in question.values()]
        if isinstance(answer, dict)
        else []
    )
    return any(
        all(re.search(rf"(?<![0-9]){int(figure)}(?![0-9])", line) for figure in figures)
        for part in parts or [returned.payload["text"]]
        if (figures := re.findall(r"\d+", str(part))) or not parts
    )


def test_no_python_of_the_engine_names_a_world_a_creature_or_a_kind_of_a_world() -> None:
    words = words_of_worlds()
    names_by_module = {
        str(path.relative_to(SRC)): named
        for path in sorted(SRC.rglob("*.py"))
        if SRC / "worlds" not in path.parents and (named := names_in(path.read_text(), words))
    }

    assert names_by_module == {}


def test_the_search_for_names_finds_them() -> None:
    source = '"""Module."""\nif kind == "clue.found":\n    echo = 1\n\ndef critic(moth: int) -> int:\n    return moth\n'

    assert names_in(source, {"clue.found", "echo", "critic", "moth", "Module", "wren"}) == {
        "clue.found",
        "echo",
        "critic",
        "moth",
    }


@pytest.mark.parametrize(
    "source",
    [
        "x = 'Dusk Keeper'",
        "dusk_keeper = 1",
        "one.dusk_keeper()",
        "import dusk_keeper",
        "x = 'a dusk-keeper, old'",
    ],
)
def test_the_search_finds_a_name_however_it_is_written(source: str) -> None:
    assert names_in(source, {"dusk-keeper"}) == {"dusk-keeper"}
