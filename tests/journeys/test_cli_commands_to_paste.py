"""Every command that `models`, a refusal or `doctor` prints about models works as it is printed: each is run here."""

import itertools
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.commanding import GLASSHOUSE, drawn, run
from tests.servers.imitating_server import ImitatingServer, imitating_server
from tests.servers.imitations import ServedModel
from tests.servers.llama_server import llama_server

PROGRAM = " ".join(map(shlex.quote, GLASSHOUSE))
CODES = ServedModel("my coder#7b", parameters="7.6B")
GUARDS = ServedModel("llama-guard3:8b", parameters="8.0B")
EMBEDS = ServedModel("bge-m3", parameters="137M", capabilities=("embedding",))
PLAY = ("play", "mystery-roots", "--turns", "1")
KINDS = ("clue.found", "hypothesis.formed", "objection.raised")


@pytest.fixture
def unfit() -> Iterator[ImitatingServer]:
    """A server with two models, neither of which is chosen by itself."""
    with imitating_server("vllm", models=[CODES, GUARDS], kinds=KINDS) as server:
        yield server


def commands_in(text: str) -> list[str]:
    """The commands in a text: between backticks, or up to the end of their line."""
    quoted = re.findall(rf"`({re.escape(PROGRAM)} [^`]+)`", text)
    rest = re.sub(r"`[^`]+`", "", text)
    return [*quoted, *re.findall(rf"{re.escape(PROGRAM)} .+$", rest, re.MULTILINE)]


def options_in(text: str) -> list[list[str]]:
    """The options `--models TEXT` in a sentence, as a shell reads them."""
    words = shlex.split(text.replace("`", ""))
    return [[option, given] for option, given in itertools.pairwise(words) if option == "--models"]


def pasted_briefly(command: str, cwd: Path, *more: str) -> int:
    """The exit code of a command as it was printed; a play is kept to one turn."""
    words = shlex.split(command)
    assert words[:3] == GLASSHOUSE
    briefly = ["--turns", "1"] if words[3] == "play" else []
    return run(*words[3:], *briefly, *more, cwd=cwd).returncode


def test_the_only_model_plays_whatever_its_name_says(tmp_path: Path) -> None:
    for personality in ("llamacpp", "ollama", "vllm", "lmstudio"):
        with imitating_server(personality, models=[CODES], kinds=KINDS) as server:
            result = run(*PLAY, "--models", server.url, cwd=tmp_path)

            assert (result.returncode, result.stderr) == (0, "")
            assert {call.json()["model"] for call in server.calls} == {CODES.name}
            assert f"{CODES.name} writes code, by its name. It plays because " in result.stdout


def test_a_real_llama_server_with_one_model_of_any_name_plays_and_its_commands_work(tmp_path: Path) -> None:
    with llama_server() as server:
        listed = run("models", "--models", server.url, cwd=tmp_path)
        (play,) = commands_in(listed.stdout)

        assert listed.returncode == 0
        assert pasted_briefly(play, tmp_path) == 0


def test_several_models_are_refused_with_what_names_each(unfit: ImitatingServer, tmp_path: Path) -> None:
    refused = run(*PLAY, "--models", unfit.url, cwd=tmp_path)

    options = options_in(refused.stderr)
    assert refused.returncode == 3
    assert options == [["--models", f"{unfit.url}#{model.name}"] for model in (CODES, GUARDS)]
    for words in options:
        assert run(*PLAY, *words, cwd=tmp_path).returncode == 0


def test_a_wrong_name_is_refused_with_what_names_each(unfit: ImitatingServer, tmp_path: Path) -> None:
    refused = run(*PLAY, "--models", f"{unfit.url}#nobody", cwd=tmp_path)

    assert f"vLLM at {unfit.url} has no model 'nobody'." in refused.stderr
    assert len(options_in(refused.stderr)) == 2


def test_models_prints_a_command_for_each_model_and_all_of_them_play(
    unfit: ImitatingServer, tmp_path: Path
) -> None:
    listed = run("models", "--models", unfit.url, cwd=tmp_path)

    commands = commands_in(listed.stdout)
    assert listed.returncode == 1
    assert len(commands) == 2
    assert [pasted_briefly(command, tmp_path) for command in commands] == [0, 0]


def test_models_prints_no_command_if_nothing_can_play(tmp_path: Path) -> None:
    with imitating_server("lmstudio", models=[ServedModel("bge-m3", kind="embeddings")]) as server:
        no_model = run("models", "--models", server.url, cwd=tmp_path)
    no_server = run("models", "--models", server.url, cwd=tmp_path)

    assert "has no model that can play (bge-m3 does not write). Start it with a model" in no_model.stdout
    for listed in (no_model, no_server):
        assert (listed.returncode, commands_in(listed.stdout)) == (1, [])


def test_an_ollama_elsewhere_is_pulled_to_as_printed_and_then_plays_as_printed(tmp_path: Path) -> None:
    with imitating_server("ollama", models=[EMBEDS], kinds=KINDS) as server:
        refused = run(*PLAY, "--models", server.url, cwd=tmp_path)
        (pull,) = commands_in(refused.stderr)
        pulled = run(*shlex.split(pull)[3:], "--yes", cwd=tmp_path)
        (play,) = commands_in(pulled.stdout)

        assert pulled.returncode == 0
        assert pasted_briefly(play, tmp_path) == 0
        assert {call.json()["model"] for call in server.calls} == {"gemma3:4b"}


def test_a_command_names_the_file_with_the_keys(tmp_path: Path) -> None:
    (tmp_path / "my keys.env").write_text("OPENAI_API_KEY=sk-test-0123456789abcdef\n", encoding="utf-8")
    with imitating_server("openai", models=[ServedModel("gpt-5-mini")], kinds=KINDS) as server:
        address = {"OPENAI_BASE_URL": server.url}
        listed = run("models", "--models", "openai", "--env-file", "my keys.env", cwd=tmp_path, **address)
        (play,) = commands_in(listed.stdout)

        result = run(*shlex.split(play)[3:], "--turns", "1", "--yes", cwd=tmp_path, **address)

    assert result.returncode == 0


def test_a_hosted_server_of_one_model_plays_it_although_another_is_usual(tmp_path: Path) -> None:
    with imitating_server("openai", models=[ServedModel("house-model")], kinds=KINDS) as server:
        address = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test-0123456789abcdef"}
        result = run(*PLAY, "--models", "openai", cwd=tmp_path, **address)
    with imitating_server("openai", models=[ServedModel("one"), ServedModel("two")], kinds=KINDS) as server:
        several = run(*PLAY, "--models", "openai", cwd=tmp_path, **address | {"OPENAI_BASE_URL": server.url})

    assert "house-model plays every size" in result.stdout
    assert options_in(several.stderr) == [["--models", "openai:one"], ["--models", "openai:two"]]


def test_a_command_is_never_broken_into_lines(unfit: ImitatingServer, tmp_path: Path) -> None:
    listed = drawn("models", "--models", unfit.url, columns=40, cwd=tmp_path)

    lines = [line for line in listed.stdout.splitlines() if line.lstrip().startswith(sys.executable)]
    assert len(lines) == 2
    assert all(shlex.split(line)[-2] == "--models" for line in lines)
