"""`glasshouse new world`: what it asks at a terminal, what it takes as options, and worlds that are sound and play well at once."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import pytest

from glasshouse import Event, MemoryStore, Terrarium
from glasshouse.cli.commands.new import Contest, NewTool
from glasshouse.cli.world_plan import PARTS, TOOLS, WorldPlan, files_of_plan
from glasshouse.manifests.editor_schema import editor_schemas
from glasshouse.manifests.loading import problems_in, warnings_in
from tests.journeys.commanding import objects, run
from tests.journeys.terminals import Terminal

SIX = ("ada", "bo", "cy", "dee", "eve", "fay")
SECRETS = ("the widow", 'a "lamp", #lit: {maybe}')
TOOL_NAMES = tuple(TOOLS)


def written(plan: WorldPlan, folder: Path) -> Path:
    world = folder / plan.name
    for file, text in files_of_plan(plan, world).items():
        (world / file).parent.mkdir(parents=True, exist_ok=True)
        (world / file).write_text(text, encoding="utf-8")
    return world


async def played(world: Path, rng_seed: int) -> tuple[list[Event], str | None, str | None]:
    """The events of a play, why it ended and who won."""
    async with Terrarium(MemoryStore()) as t:
        begun = await t.open_world(world, rng_seed=rng_seed)
        await t.run(begun.id)
        ended = t.run_of(begun.id)
        return list(await t.run_events(begun.id)), ended.reason, ended.winner


def test_whatever_is_wanted_makes_a_world_without_a_problem_or_a_warning(tmp_path: Path) -> None:
    for at, (contest, tool) in enumerate(product(map(str, Contest), map(str, NewTool))):
        secrets = SECRETS if at % 2 else ()
        plan = WorldPlan(f"w{at}", "", SIX[: 2 + at % 5], contest, secrets, tool, has_script=at % 7 != 0)
        world = written(plan, tmp_path)

        assert [*problems_in(world), *warnings_in(world)] == [], plan


async def test_everybody_in_a_new_world_speaks_in_every_turn_and_it_ends_by_itself(tmp_path: Path) -> None:
    world = written(WorldPlan("pond", cast=SIX), tmp_path)

    for rng_seed in (1, 2, 3):
        events, reason, winner = await played(world, rng_seed)

        lines = [event for event in events if event.kind == "agent.spoke"]
        assert (len(lines), reason, winner) == (36, "ended", None)


@pytest.mark.parametrize("contest", ["judged", "versus"])
async def test_the_judge_of_a_new_world_finds_for_whoever_settled_it(tmp_path: Path, contest: str) -> None:
    world = written(WorldPlan("pond", cast=SIX[:3], contest=contest, secrets=SECRETS), tmp_path)
    may_win = {"judged": {"ada", "bo"}, "versus": {"movers", "keepers"}}[contest]

    for rng_seed in (1, 2, 3):
        events, _, winner = await played(world, rng_seed)

        (verdict,) = [event for event in events if event.kind == "judge.verdict"]
        assert verdict.payload["cites"]
        assert winner in may_win


@pytest.mark.parametrize("tool", TOOL_NAMES)
async def test_the_clerk_of_a_new_world_is_asked_and_looks_it_up(tmp_path: Path, tool: str) -> None:
    world = written(WorldPlan("pond", tool=tool), tmp_path)

    events, _, _ = await played(world, 3)

    (called,) = [event for event in events if event.kind == "tool.called"]
    assert (called.actor.partition("@")[0].startswith("clerk"), called.payload["tool"]) == (True, tool)


async def test_a_secret_of_a_new_world_is_dealt_and_never_said(tmp_path: Path) -> None:
    world = written(WorldPlan("pond", secrets=("the lamplighter",)), tmp_path)

    events, _, _ = await played(world, 2)

    assert {"whose": "the lamplighter"} in [event.sealed["facts"] for event in events if event.sealed]
    assert not any("lamplighter" in str(event.payload.get("text", "")) for event in events)


def test_a_world_is_asked_for_at_a_terminal_and_a_wrong_answer_is_asked_for_again(tmp_path: Path) -> None:
    answers = [
        ("Its title [Inn]: ", "The Inn: at night"),
        ("Who plays, two to six names [gardener,wanderer]: ", "cook"),
        ("Who plays, two to six names [gardener,wanderer]: ", "cook, cat"),
        ("A contest: none, judged or versus [none]: ", "duel"),
        ("A contest: none, judged or versus [none]: ", "judged"),
        ("Secrets, of which one is dealt, such as: the cook, the cat [none]: ", "the moon, nobody at all"),
        ("A tool: none, look_up, almanac or calendar [none]: ", ""),
        ("A script for playing without a model, yes or no [yes]: ", ""),
    ]

    with Terminal("new", "world", "inn", cwd=tmp_path) as terminal:
        for question, answer in answers:
            terminal.wait_for(question)
            terminal.press(f"{answer}\r")
        assert terminal.end() == 0

    scenario = (tmp_path / "worlds/inn/scenario.yaml").read_text(encoding="utf-8")
    assert 'title: "The Inn: at night"\n' in scenario
    assert "cast: [cook, cat, judge]\n" in scenario
    assert 'whose: {to: cat, from: ["the moon", "nobody at all"]}' in scenario
    assert "A new world has 2 to 6 creatures, and these are 1." in terminal.shown
    assert "no answer is called 'duel'" in terminal.shown
    assert run("check", "inn", cwd=tmp_path).stdout == "worlds/inn: sound.\n"


def test_what_an_option_says_is_not_asked_and_with_yes_nothing_is(tmp_path: Path) -> None:
    words = ["--title", "T", "--cast", "a,b", "--contest", "none", "--secrets", "none", "--no-script"]
    with Terminal("new", "world", "one", *words, cwd=tmp_path) as terminal:
        terminal.wait_for("A tool: none")
        terminal.press("\r")
        assert terminal.end() == 0
    assert "Its title" not in terminal.shown
    assert not (tmp_path / "worlds/one/script.txt").exists()

    with Terminal("new", "world", "two", "--yes", cwd=tmp_path) as terminal:
        assert terminal.end() == 0
    assert "]: " not in terminal.shown


def test_whoever_ends_the_questions_gets_no_world(tmp_path: Path) -> None:
    with Terminal("new", "world", "inn", cwd=tmp_path) as terminal:
        terminal.wait_for("Its title")
        terminal.press("\x04")
        assert terminal.end() == 3

    assert "Nothing was written." in terminal.shown
    assert list(tmp_path.iterdir()) == []


def test_without_a_terminal_options_make_a_world_that_says_what_a_model_would_add(tmp_path: Path) -> None:
    made = run("new", "world", "inn", "--cast", "cook,cat,fly", "--tool", "look_up", cwd=tmp_path)

    assert made.returncode == 0
    assert "  worlds/inn/creatures/clerk.yaml\n" in made.stdout
    assert "  worlds/inn/house-book.md\n" in made.stdout
    assert "Without a model it plays from script.txt" in made.stdout
    assert "A real model never reads that file. It makes up its lines from the goal" in made.stdout
    assert re.search(r"^With one: .* play inn --models ollama$", made.stdout, re.MULTILINE)


def test_each_file_of_a_new_world_names_the_schema_that_an_editor_checks_it_with(tmp_path: Path) -> None:
    (made,) = objects("new", "world", "inn", cwd=tmp_path)
    run("new", "creature", "fly", "--in", "worlds/inn", cwd=tmp_path)

    files = sorted((tmp_path / "worlds/inn").rglob("*.yaml"))
    assert len(files) == 4
    for file in files:
        first, _, _ = file.read_text(encoding="utf-8").partition("\n")
        schema = (file.parent / first.removeprefix("# yaml-language-server: $schema=")).resolve()
        assert json.loads(schema.read_text(encoding="utf-8")) == json.loads(editor_schemas()[schema.name])
    assert "worlds/inn/.schema/scenario.schema.json" in made["files"]


def test_a_new_world_is_packed_without_the_schemas_of_its_editor(tmp_path: Path) -> None:
    run("new", "world", "inn", cwd=tmp_path)

    made = run("worlds", "pack", "inn", cwd=tmp_path)

    assert "inn.world.zip: inn, 4 files" in made.stdout
    assert "Left out" not in made.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cast", "ada"], "A new world has 2 to 6 creatures"),
        (["--cast", "a,b,c,d,e,f,g"], "A new world has 2 to 6 creatures"),
        (["--cast", "ada,ada"], "Two creatures have the same name."),
        (["--cast", "ada,judge"], "judge is the name of something else in a new world."),
        (["--cast", "Ada,bo"], "Ada"),
        (["--title", "a\u202eb"], "title: there is a RIGHT-TO-LEFT OVERRIDE"),
        (["--contest", "duel"], "'duel' is not one of"),
    ],
)
def test_a_world_that_would_not_be_sound_is_not_written(tmp_path: Path, words: list[str], said: str) -> None:
    tried = run("new", "world", "inn", *words, cwd=tmp_path)

    assert tried.returncode in {2, 3}
    assert said in tried.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_options_name_every_tool_and_every_part_has_its_templates() -> None:
    assert {str(tool) for tool in NewTool} == {"none", *TOOLS}
    assert len(PARTS) == 6
