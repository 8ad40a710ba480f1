"""Tool servers on the command line: declared by a world or a tools.yaml, shown before they start, listed, accepted."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.commanding import objects, run
from tests.journeys.servers_of_tools import script
from tests.pages import fences, page_text, write_files

SCENARIO = """
name: harbour
opening: What is the weather like?
cast: [pilot]
tool_servers:
  weather: {command: %s, variables: [CALLS]}
governor: {max_turns: 2}
"""
PILOT = "name: pilot\nschedule: {tick_every: 1}\ntools: [weather/echo]\n"
ALLOWED = {"GLASSHOUSE_ALLOW_WORLD_CODE": "1"}
COMMAND = script("mcp_raw", "old")


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    folder = tmp_path / "worlds" / "harbour"
    (folder / "creatures").mkdir(parents=True)
    (folder / "scenario.yaml").write_text(SCENARIO % json.dumps(COMMAND))
    (folder / "creatures" / "pilot.yaml").write_text(PILOT)
    return tmp_path


def play(here: Path, *words: str, **environment: str) -> Any:
    return run("play", "harbour", *words, cwd=here, **environment)


def test_a_world_names_its_command_before_it_may_run(harbour: Path) -> None:
    checked = run("check", "harbour", cwd=harbour)
    refused = play(harbour)

    assert f"Tools of weather: {' '.join(COMMAND)} (a command of the world; it gets no CALLS)" in " ".join(
        checked.stdout.split()
    )
    assert refused.returncode == 3
    assert "GLASSHOUSE_ALLOW_WORLD_CODE=1" in refused.stderr
    assert " ".join(COMMAND) in " ".join(refused.stderr.split())


def test_a_world_names_its_address_before_it_may_be_asked(harbour: Path) -> None:
    declared = "weather: {command: %s, variables: [CALLS]}"
    with_address = SCENARIO.replace(declared, "weather: {url: 'http://127.0.0.1:9/mcp'}")
    (harbour / "worlds" / "harbour" / "scenario.yaml").write_text(with_address)

    listed = run("tools", "--world", "harbour", cwd=harbour)

    assert listed.returncode == 1, listed.stderr
    shown = " ".join(listed.stdout.split())
    assert shown.startswith("weather: http://127.0.0.1:9/mcp The world's tool server weather would be asked")
    assert "GLASSHOUSE_ALLOW_WORLD_CODE=1" in shown


def test_a_world_plays_with_its_server_which_gets_nothing_of_the_environment(harbour: Path) -> None:
    calls = harbour / "calls"

    played = play(harbour, **ALLOWED, CALLS=str(calls), MY_KEY="sesame")
    listed = objects("tools", "--run", "last", cwd=harbour)

    assert played.returncode == 0, played.stderr
    assert played.stdout.split()[:4] == ["Tools", "of", "weather:", COMMAND[0]]
    assert not calls.exists()
    assert [(tool["name"], tool["handles"], tool["now"]) for tool in listed] == [
        ("weather/echo", ["pilot"], None)
    ]


def test_a_tools_file_holds_over_a_world_and_hands_over_what_it_names(harbour: Path) -> None:
    server = {"command": COMMAND, "variables": ["CALLS"]}
    (harbour / "tools.yaml").write_text(json.dumps({"servers": {"weather": server}}))

    (said, *_) = objects("play", "harbour", "--turns", "1", cwd=harbour)
    listed = objects("tools", cwd=harbour)
    examined = run("doctor", "--json", cwd=harbour)
    findings = [json.loads(line) for line in examined.stdout.splitlines()]
    doctor = [finding for finding in findings if finding["what"] == "tools"]

    assert said == {
        "tool_servers": [{"name": "weather", "shown": " ".join(COMMAND), "by": "user", "is_other": True}]
    }
    assert listed[0] == {"type": "server", "name": "weather", "shown": " ".join(COMMAND)}
    assert [tool["is_read_only"] for tool in listed if tool["name"] == "weather/echo"] == [False]
    assert [finding["state"] for finding in doctor] == ["ok"]
    assert examined.stderr == "Asking weather for its tools: at most 60 seconds.\n"


def test_the_commands_of_the_how_to_run(tmp_path: Path) -> None:
    page = page_text("docs/how-to/give-creatures-tools-of-others.md")
    write_files(page, tmp_path)
    (tmp_path / "weather.py").rename(tmp_path / "worlds/harbour/weather.py")
    (commands,) = [fence.text for fence in fences(page) if fence.language == "sh" and "harbour" in fence.text]

    outputs = []
    for line in commands.splitlines():
        words = line.partition("#")[0].split()
        environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        if "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            environment[name] = value
        answer = run(*words[1:], cwd=tmp_path, **environment)
        assert answer.returncode == 0, answer.stderr
        outputs.append(answer.stdout)

    checked, listed, played, granted = outputs
    shown = "Tools of weather: python3 weather.py (a command of the world)"
    assert shown in checked
    assert "weather/forecast (reads): Tell tomorrow's weather in a city." in listed
    assert played.startswith(shown)
    assert "weather/forecast (pilot): Tell tomorrow's weather in a city." in granted


@pytest.mark.parametrize(
    ("servers", "problem"),
    [
        ({"weather": {"command": ["x"], "url": "http://localhost/mcp"}}, "either a command or a url"),
        (
            {"weather": {"url": "http://localhost/mcp", "headers": {"Key": "sk-123456789012345"}}},
            "looks like a key",
        ),
        ({"Weather": {"command": ["x"]}}, "is not a server's name"),
        ({"weather": {"command": ["x"], "environment": {}}}, "environment"),
    ],
)
def test_a_mistake_in_a_tools_file_is_told_with_its_line(
    tmp_path: Path, servers: dict[str, Any], problem: str
) -> None:
    (tmp_path / "mine.yaml").write_text(json.dumps({"servers": servers}))

    result = run("tools", "--tools", "mine.yaml", cwd=tmp_path)

    assert result.returncode == 3
    assert "mine.yaml:1:" in result.stderr
    assert problem in result.stderr
    assert "sk-1234" not in result.stderr


def test_a_tool_that_is_not_withheld_cannot_be_accepted(harbour: Path) -> None:
    play(harbour, "--turns", "1", **ALLOWED)

    result = run("tools", "accept", "weather/echo", cwd=harbour)

    assert result.returncode == 3
    assert "tool that is withheld" in result.stderr
