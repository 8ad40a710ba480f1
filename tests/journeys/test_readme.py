"""After `make play`, what README and the play itself print works as printed, in the same folder."""

import asyncio
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from glasshouse import SqliteStore, Terrarium
from glasshouse.cli.command_line import world_to_try
from tests.journeys.commanding import environment, journey_seconds_max, run
from tests.pages import ROOT, fences
from tests.servers.imitating_server import imitating_server
from tests.servers.imitations import ServedModel

README = (ROOT / "README.md").read_text()
PROGRAM = ".venv/bin/glasshouse"
PRINTED = re.compile(rf"^\s*({re.escape(PROGRAM)} .*)$", re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a `.venv`, as a fresh checkout has one after `make play`."""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def in_a_shell(command: str, folder: Path, status: int = 0, **more: str) -> str:
    """What it prints to a person whose shell does not find `glasshouse` by its short name."""
    result = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=environment(PATH="/usr/bin:/bin", **more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=journey_seconds_max,
        check=False,
    )
    assert result.returncode == status, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout + result.stderr


def by_call(command: str, folder: Path, status: int = 0, **more: str) -> str:
    """The same, from a command that calls `.venv/bin/glasshouse`, without a shell and a process."""
    program, *words = shlex.split(command, comments=True)
    assert program == PROGRAM
    result = run(*words, cwd=folder, program=program, PATH="/usr/bin:/bin", **more)
    assert result.returncode == status, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout + result.stderr


def make_play() -> str:
    """The command behind `make play`."""
    recipe = re.search(r"^play: .*\n\t@(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    # Without MODELS=..., what make inserts for it is empty.
    return re.sub(r" \$\(if \$\(MODELS\).*\)$", "", recipe[1]).replace("$(bin)", ".venv/bin")


def test_every_command_of_the_readme_and_of_the_farewell_works_after_make_play(folder: Path) -> None:
    farewell = in_a_shell(make_play(), folder)
    offered = PRINTED.findall(farewell)
    assert len(offered) >= 4

    with (
        imitating_server("ollama") as ollama,
        imitating_server("openai", models=[ServedModel("gpt-5-mini")]) as openai,
    ):
        servers = {"OLLAMA_HOST": ollama.url, "OPENAI_BASE_URL": openai.url, "OPENAI_API_KEY": "sk-anything"}
        in_a_shell(offered[0], folder, **servers)
        for command in offered[1:] + PRINTED.findall(README):
            by_call(command, folder, **servers)
        assert ollama.calls
        assert openai.calls

    assert [path.name for path in folder.glob("*.glasshouse")] == ["show.glasshouse"]


def test_the_sample_prints_the_same_when_it_is_run_again(folder: Path) -> None:
    (sample,) = [fence.text for fence in fences(README) if fence.language == "python"]
    (folder / "ten_lines.py").write_text(sample)

    printed = [in_a_shell(".venv/bin/python ten_lines.py", folder) for _ in range(2)]

    assert printed == [printed[0]] * 2
    assert printed[0].endswith("the same play, byte for byte: True\n")
    assert not (folder / "show.glasshouse").exists()  # That one is of `make play`.


async def opened_and_closed(store: SqliteStore) -> None:
    async with Terrarium(store):
        pass


def test_every_command_that_is_printed_calls_the_program_as_it_was_called(folder: Path) -> None:
    glasshouse, elsewhere = PROGRAM, "--store other.glasshouse"
    asyncio.run(opened_and_closed(SqliteStore(folder / "empty.glasshouse")))

    printed = {
        f"new world pond --in {folder}": 0,
        f"play {folder}/pond --turns 1 {elsewhere}": 0,
        f"disturb last Hush. {elsewhere}": 0,
        f"leaderboard {elsewhere}": 0,
        f"leaderboard --by model {elsewhere}": 0,
        f"export last play.glass {elsewhere}": 0,
        "import play.glass --store copy.glasshouse": 0,
        "play --continue last --store copy.glasshouse": 3,
        "play --continue last --store empty.glasshouse": 3,
        "play": 2,
        "play --help": 0,
        "tour --json": 0,
    }
    texts = {words: by_call(f"{glasshouse} {words}", folder, code) for words, code in printed.items()}
    texts["--help"] = in_a_shell(f"{glasshouse} --help", folder)  # It is written when the program starts.

    call = re.compile(r"(?:^|[ `\"])((?:[^\s`\"]*/)?glasshouse) (?=[a-z])", re.MULTILINE)
    for words, text in texts.items():
        assert set(call.findall(text.replace("Usage: glasshouse", ""))) <= {glasshouse}, (words, text)
    assert f"Play it: {glasshouse} play {folder}/pond\n" in texts[f"new world pond --in {folder}"]
    assert f"{glasshouse} show " in texts["import play.glass --store copy.glasshouse"]
    assert f"#   {glasshouse} check {folder}/pond " in (folder / "pond/scenario.yaml").read_text()
    assert (
        f": {glasshouse} play {world_to_try()} --store empty.glasshouse\n"
        in texts["play --continue last --store empty.glasshouse"]
    )
    assert f"`{glasshouse} worlds` lists them" in " ".join(texts["play"].split())
    assert f"  {glasshouse} tour  " in texts["--help"]
