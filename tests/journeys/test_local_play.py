"""Plays with a model in a file from the command line, and what is said about such models."""

import re
from collections.abc import Iterator
from importlib import util
from pathlib import Path

import pytest

from tests.journeys.commanding import objects, run
from tests.servers.gguf_model import write_model
from tests.servers.local_children import llama_children

WORLD = "thousand-token-wood"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own models") / "random.gguf"
    write_model(path, "ascii")
    return path


@pytest.fixture(autouse=True)
def _no_child_is_left() -> Iterator[None]:
    yield
    assert llama_children() == []


def test_a_play_names_its_file_and_goes_on_with_it(model: Path, tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "show.glasshouse"))
    played = run("play", WORLD, "--models", f"local:{model.name}", "--turns", "1", *store, cwd=model.parent)
    continued = run("play", "--continue", "last", "--turns", "1", *store, cwd=tmp_path)
    verified = run("replay", "last", "--verify", *store)
    spectator = run("export", "last", str(tmp_path / "out.jsonl"), "--as", "spectator", *store)

    assert played.returncode == 0, played.stderr
    heading = " ".join(played.stdout.split())
    assert "random plays every size (llama.cpp from a file, 79.3K, context 8,192 tokens)" in heading
    assert "random is too small to play" in heading
    assert played.stderr == ""
    assert continued.returncode == 0, continued.stderr
    assert "random plays every size" in continued.stdout
    assert "is not the same any more" not in continued.stderr
    assert verified.returncode == 0
    assert spectator.returncode == 0, spectator.stderr
    exported = (tmp_path / "out.jsonl").read_text()
    assert "local:random.gguf" in exported
    assert str(model.parent) not in exported


def test_a_file_that_cannot_be_loaded_is_one_sentence(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "short.gguf"
    path.write_bytes(model.read_bytes()[:200_000])

    result = run(
        "play", WORLD, "--models", f"local:{path}", "--store", str(tmp_path / "s.glasshouse"), cwd=tmp_path
    )

    assert result.returncode == 3
    said = " ".join(result.stderr.split())
    assert "llama.cpp was started with short and ended with code 1. Its last words:" in said
    assert "model is corrupted or incomplete" in said
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "s.glasshouse").exists()


def test_models_lists_the_files_of_this_machine(model: Path, tmp_path: Path) -> None:
    here = {"GLASSHOUSE_MODELS_FOLDER": str(model.parent), "HOME": str(tmp_path)}

    listed = run("models", "--models", "local", cwd=tmp_path, **here)
    lines = objects("models", "--models", "local:random", cwd=tmp_path, **here)
    refused = run("play", WORLD, "--models", "local", cwd=tmp_path, **here)

    assert listed.returncode == 1
    said = " ".join(listed.stdout.split())
    assert re.search(r"random is too small to play, with [\d.]+K of at least 400M parameters", said)
    assert [line["model"] for line in lines] == ["random"] * 5
    assert refused.returncode == 3
    assert "is too small to play" in " ".join(refused.stderr.split())


def test_without_the_extra_its_name_is_said(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = util.find_spec
    monkeypatch.setattr(
        "glasshouse.models.local.local_models.find_spec",
        lambda name: None if name == "xllamacpp" else find_spec(name),
    )

    result = run("play", WORLD, "--models", f"local:{model}", cwd=tmp_path)

    assert result.returncode == 3
    assert "Models in files need the extra `local`" in " ".join(result.stderr.split())
    assert "[local]" in result.stderr
