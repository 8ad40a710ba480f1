"""Tools on the real command line: `check` knows which there are, a world with its own tool plays and verifies."""

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest

from glasshouse import Agent, Draft, Manifest, Moment, SqliteStore, Terrarium
from tests.journeys.commanding import ESCAPE, objects, on_a_terminal, run

POST_OFFICE = Path(__file__).parents[2] / "examples/tutorial/4-a-tool-and-a-team/worlds/pier-post"

SEA = '''"""Tools of the harbour."""


def tide(harbour: str) -> str:
    """Tell the tide of a harbour."""
    return f"The tide at {harbour} is out."
'''


def harbour(folder: Path, tools: str) -> Path:
    world = folder / "harbour"
    (world / "creatures").mkdir(parents=True)
    (world / "scenario.yaml").write_text(
        "name: harbour\nopening: Fog.\ncast: [pilot]\ngovernor: {max_turns: 2}\n", encoding="utf-8"
    )
    (world / "creatures" / "pilot.yaml").write_text(
        f"name: pilot\nschedule: {{tick_every: 1}}\ntools: {tools}\n", encoding="utf-8"
    )
    (world / "sea.py").write_text(SEA, encoding="utf-8")
    return world


def post_office(folder: Path, first_line: str) -> Path:
    """The tutorial's world, in which the letter scale uses a tool of the world; it begins with this line."""
    world = folder / "pier-post"
    shutil.copytree(POST_OFFICE, world)
    tariff = (world / "tariff.py").read_text(encoding="utf-8")
    (world / "tariff.py").write_text(tariff.replace("return f", f"{first_line}; return f"), encoding="utf-8")
    return world


def test_check_names_the_tool_that_was_likely_meant(tmp_path: Path) -> None:
    done = run("check", str(harbour(tmp_path, "[almanack]")), cwd=tmp_path)

    assert done.returncode == 1
    assert "pilot.yaml:3:9: tools: no tool is called 'almanack'. Did you mean 'almanac'?" in done.stdout


def test_a_world_with_a_tool_of_its_own_is_sound_plays_and_verifies(tmp_path: Path) -> None:
    world, allowed = harbour(tmp_path, "[sea.py:tide, almanac]"), {"GLASSHOUSE_ALLOW_WORLD_CODE": "1"}

    assert run("check", str(world), cwd=tmp_path).returncode == 0
    assert run("play", str(world), cwd=tmp_path, **allowed).returncode == 0
    assert run("replay", "last", "--verify", cwd=tmp_path, **allowed).returncode == 0


def test_code_beside_a_world_runs_only_where_it_is_allowed(tmp_path: Path) -> None:
    world = harbour(tmp_path, "[sea.py:tide, almanac]")
    with (world / "sea.py").open("a", encoding="utf-8") as file:
        file.write("\nraise SystemExit('It ran.')\n")

    result = run("play", str(world), cwd=tmp_path)

    assert (result.returncode, result.stdout) == (3, "")
    assert f"{world / 'sea.py'}: this tool would run Python code, which is not allowed here." in result.stderr
    assert "GLASSHOUSE_ALLOW_WORLD_CODE=1" in result.stderr
    assert (
        run("play", "one-odd-acorn", "--turns", "1", cwd=tmp_path).returncode == 0
    )  # It comes with Glasshouse.


@pytest.mark.parametrize("raised", ["ValueError('No moon.')", "FileNotFoundError('No moon.')"])
def test_strict_stops_with_the_traceback_of_a_tool_and_the_act_stays_due(tmp_path: Path, raised: str) -> None:
    world, allowed = post_office(tmp_path, f"raise {raised}"), {"GLASSHOUSE_ALLOW_WORLD_CODE": "1"}

    strict = run("play", str(world), "--strict", cwd=tmp_path, **allowed)
    events = objects("show", "last", "--ledger", cwd=tmp_path)
    lenient = run("play", "--continue", "last", cwd=tmp_path, **allowed)

    assert strict.returncode == 1
    assert 'tariff.py", line ' in strict.stderr
    assert strict.stderr.rstrip().endswith(f"{raised.partition('(')[0]}: No moon.")
    assert events[-1]["kind"] == "tool.called"
    assert lenient.returncode == 0


@pytest.mark.parametrize(
    "command", [("play", "pier-post"), ("resume", "last"), ("branch", "last", "--max-turns", "12")]
)
def test_with_json_what_code_of_a_world_prints_goes_to_standard_error(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    post_office(tmp_path / "worlds", "print('The pan moves.')")
    allowed = {"GLASSHOUSE_ALLOW_WORLD_CODE": "1"}
    if command[0] != "play":
        run("play", "pier-post", "--turns", "1", cwd=tmp_path, **allowed)

    result = run(*command, "--json", cwd=tmp_path, **allowed)

    assert result.returncode == 0
    assert [*map(json.loads, result.stdout.splitlines())]
    assert "The pan moves." in result.stderr


class Clerk(Agent):
    """It asks for a product, for a division by zero, and twice to open one channel."""

    async def act(self, moment: Moment) -> Draft:
        await moment.use("calculator", expression="3*4")
        await moment.use("calculator", expression="1/0")
        await moment.use("group_channel", action="open", channel="den")
        await moment.use("group_channel", action="open", channel="den")
        return Draft(kind="agent.spoke", payload={"text": "Twelve, I think."})


async def use_some(path: Path) -> None:
    async with Terrarium(SqliteStore(path)) as t:
        clerk = Manifest(name="clerk", tools=["calculator"], subscribes_to=["user.injected"])
        creature = await t.add_creature(clerk, agent=Clerk(), is_privileged=True)
        assert creature.run_id is not None
        await t.disturb(creature.run_id, "How much?")
        await t.step_one()


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store in which a creature used tools, and two of four uses failed."""
    path = tmp_path_factory.mktemp("using") / "used.glasshouse"
    asyncio.run(use_some(path))
    return str(path)


@pytest.mark.parametrize("command", [("show", "last"), ("replay", "last", "--pace", "fast")])
def test_tools_are_seen_on_one_line_each_before_the_line_they_led_to(
    used: str, command: tuple[str, ...]
) -> None:
    result = run(*command, "--store", used).stdout.splitlines()

    first = next(index for index, line in enumerate(result) if "calculator" in line)
    assert result[first : first + 2] == [
        "(clerk asked calculator 3*4 → 12)",
        "(clerk asked calculator 1/0 → failed)",
    ]
    assert result[first + 2] == "clerk: Twelve, I think."


def test_a_group_tool_is_a_plain_sentence_and_shown_without_minds_only_if_somebody_comes_or_goes(
    used: str,
) -> None:
    whole = run("replay", "last", "--pace", "fast", "--minds", "--store", used).stdout.splitlines()
    brief = run("replay", "last", "--pace", "fast", "--store", used).stdout

    assert "(clerk opens the channel den)" in whole
    assert [line for line in whole if line.startswith("(clerk cannot open the channel den: ")]
    assert "channel den" not in brief


def test_a_failed_tool_is_red_on_a_terminal_and_an_answer_dim(used: str) -> None:
    _, shown = on_a_terminal("show", "last", "--store", used)

    assert f"{ESCAPE}[2masked calculator 3*4 → 12" in shown
    assert f"{ESCAPE}[31masked calculator 1/0 → failed" in shown


def test_with_minds_the_whole_of_a_use_is_shown(tmp_path: Path) -> None:
    run("play", "almanac-oak", "--turns", "2", cwd=tmp_path)

    brief = run("replay", "last", cwd=tmp_path).stdout
    whole = run("replay", "last", "--minds", cwd=tmp_path).stdout

    asked = re.search(r"\(owl-oracle asked almanac (\S+), 54\.0 → \(day: (\S+); moon: ", brief)
    assert asked is not None
    assert asked[1] == asked[2]
    assert f"(owl-oracle asked almanac (day: {asked[1]}; latitude: 54.0), which answered (day: " in whole


def test_why_tells_tools_in_words(used: str) -> None:
    result = run("why", "last", "--store", used).stdout
    (facts,) = objects("why", "last", "--store", used)

    assert "  asked calculator 3*4, which answered 12\n" in result
    assert "  asked calculator 1/0, which failed\n" in result
    assert facts["links"][0]["tools"][0]["called"]["payload"]["arguments"] == {"expression": "3*4"}


@pytest.mark.parametrize(
    "command",
    [
        ("play", "--continue", "r-a"),
        ("resume", "r-a"),
        ("resume", "r-a", "--as-was"),
        ("branch", "r-a", "--at", "2"),
    ],
)
@pytest.mark.parametrize("is_edited", [False, True])
def test_forbidden_code_is_refused_before_a_run_continues_and_nothing_is_changed(
    tmp_path: Path, command: tuple[str, ...], is_edited: bool
) -> None:
    world = harbour(tmp_path, "[sea.py:tide]")
    run("play", str(world), "--run-id", "r-a", "--turns", "1", cwd=tmp_path, GLASSHOUSE_ALLOW_WORLD_CODE="1")
    if is_edited:
        scenario = (world / "scenario.yaml").read_text(encoding="utf-8")
        (world / "scenario.yaml").write_text(f"title: Another\n{scenario}", encoding="utf-8")
    before = run("runs", "--json", cwd=tmp_path).stdout, run("show", "r-a", "--json", cwd=tmp_path).stdout

    forbidden = run(*command, cwd=tmp_path)

    after = run("runs", "--json", cwd=tmp_path).stdout, run("show", "r-a", "--json", cwd=tmp_path).stdout
    assert (forbidden.returncode, forbidden.stdout) == (3, "")
    assert (
        f"{world / 'sea.py'}: this tool would run Python code, which is not allowed here." in forbidden.stderr
    )
    assert after == before
