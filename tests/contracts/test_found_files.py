"""Models in files of this machine: where they are found, what counts as one, and which one `local` alone means."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFWriter

from glasshouse.errors import Refused
from glasshouse.models.installed import chosen_from
from glasshouse.models.local.found_files import digest_of, file_at, files_here, parameters_b_min
from glasshouse.models.local.memory import context_that_fits
from tests.servers.gguf_model import write_model

Make = Callable[..., Path]


def model_file(
    path: Path, *, parameters_b: float = 3.0, architecture: str = "llama", part: tuple[int, int] = (0, 1)
) -> Path:
    """A header without weights that claims to be a model of this size. Only its header is ever read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = GGUFWriter(path, architecture)
    if part[0] == 0:
        file.add_chat_template("{{ messages }}")
        file.add_context_length(32_768)
        file.add_block_count(28)
        file.add_embedding_length(3_072)
        file.add_head_count(24)
        file.add_head_count_kv(8)
        file.add_file_type(15)
    if part[1] > 1:
        file.add_uint16("split.no", part[0])
        file.add_uint16("split.count", part[1])
    file.add_tensor_info(
        "weights", (int(parameters_b * 1e6), 1_000), np.dtype("float16"), int(parameters_b * 2e9)
    )
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_ti_data_to_file()
    file.close()
    return path


def names_found(home: Path, **variables: str) -> dict[str, str]:
    """What is found, by name, with why it is not chosen."""
    files = files_here(home / "own", lambda name: variables.get(name, ""), home)
    return {file.name: file.why_not_chosen for file in files}


def test_files_are_found_in_every_cache(tmp_path: Path) -> None:
    model_file(tmp_path / "own" / "mine-3b.gguf")
    hub = tmp_path / ".cache" / "huggingface" / "hub" / "models--ann--small"
    blob = model_file(hub / "blobs" / ("ab" * 32))
    for revision in ("1", "2"):
        (hub / "snapshots" / revision).mkdir(parents=True)
        (hub / "snapshots" / revision / "small-q4.gguf").symlink_to(blob)
    model_file(tmp_path / ".lmstudio" / "models" / "bo" / "talk" / "talk-7b.gguf", parameters_b=7)
    ollama = tmp_path / ".ollama" / "models"
    weights = model_file(ollama / "blobs" / f"sha256-{'cd' * 32}")
    manifest = ollama / "manifests" / "registry.example" / "library" / "chatty" / "3b"
    manifest.parent.mkdir(parents=True)
    layers = [
        {"mediaType": "application/vnd.ollama.image.model", "digest": weights.name.replace("-", ":")},
        {"mediaType": "application/vnd.ollama.image.projector", "digest": f"sha256:{'ef' * 32}"},
    ]
    manifest.write_text(json.dumps({"layers": layers}))

    files = files_here(tmp_path / "own", lambda _name: "", tmp_path)

    assert [file.name for file in files] == ["mine-3b", "small-q4", "talk-7b", "chatty:3b"]
    assert [file.known_sha256 for file in files] == ["", "ab" * 32, "", "cd" * 32]
    chosen = chosen_from([file.installed() for file in files])
    assert chosen is not None
    assert chosen.name == "talk-7b"


def test_variables_name_other_folders(tmp_path: Path) -> None:
    model_file(tmp_path / "hub" / "models--a--b" / "snapshots" / "1" / "one.gguf")
    model_file(tmp_path / "ollama" / "blobs" / f"sha256-{'cd' * 32}")
    manifest = tmp_path / "ollama" / "manifests" / "hub.example" / "ann" / "two" / "latest"
    manifest.parent.mkdir(parents=True)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{'cd' * 32}"}
    manifest.write_text(json.dumps({"layers": [layer]}))

    names = names_found(tmp_path, HF_HUB_CACHE=str(tmp_path / "hub"), OLLAMA_MODELS=str(tmp_path / "ollama"))

    assert [*names] == ["one", "hub.example/ann/two:latest"]


def test_what_cannot_play_is_listed_and_never_chosen(tmp_path: Path) -> None:
    own = tmp_path / "own"
    model_file(own / "mmproj-model.gguf", architecture="clip")
    model_file(own / "nomic-embed.gguf", architecture="nomic-bert")
    model_file(own / "tiny-135m.gguf", parameters_b=0.135)
    (own / "unfinished.gguf").write_bytes(b"GGUF\x03")
    (own / "notes.txt").write_text("nothing")

    names = names_found(tmp_path)

    assert names["mmproj-model"].startswith("is a projector")
    assert names["nomic-embed"].startswith("makes embeddings")
    assert names["tiny-135m"] == "is too small to play, with 135M of at least 400M parameters"
    assert "unfinished" not in names
    files = files_here(own, lambda _name: "", tmp_path)
    assert chosen_from([file.installed() for file in files]) is None
    model_file(own / "just-enough.gguf", parameters_b=parameters_b_min)
    assert names_found(tmp_path)["just-enough"] == ""


def test_a_split_model_is_one_and_its_parts_are_counted(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        model_file(tmp_path / "own" / f"big-{number:05d}-of-00003.gguf", parameters_b=2, part=(number - 1, 3))

    (whole,) = files_here(tmp_path / "own", lambda _name: "", tmp_path)

    assert (whole.name, whole.problem, len(whole.parts)) == ("big", "", 3)
    assert whole.installed().parameters_b == pytest.approx(6.0)
    assert whole == file_at(tmp_path / "own" / "big-00002-of-00003.gguf")
    digests = "\n".join(hashlib.sha256(part.read_bytes()).hexdigest() for part in whole.parts)
    assert digest_of(whole) == hashlib.sha256(digests.encode()).hexdigest()
    whole.parts[1].unlink()
    (rest,) = files_here(tmp_path / "own", lambda _name: "", tmp_path)
    assert rest.problem == "has 2 of 3 parts"


def test_two_models_of_one_name_are_both_found(tmp_path: Path) -> None:
    model_file(tmp_path / "own" / "a" / "same.gguf")
    model_file(tmp_path / "own" / "b" / "same.gguf", parameters_b=4)

    assert [*names_found(tmp_path)] == ["same", "b/same"]


def test_a_file_that_is_changed_is_read_anew(tmp_path: Path) -> None:
    path = model_file(tmp_path / "one.gguf")
    before = file_at(path)

    model_file(path, parameters_b=5)

    assert before.has_changed()
    assert file_at(path).installed().parameters_b == pytest.approx(5.0)
    shutil.rmtree(tmp_path)
    assert before.has_changed()


def test_what_is_no_model_is_refused_with_its_path(tmp_path: Path) -> None:
    text = tmp_path / "text.gguf"
    text.write_text("hello, I am a text")

    with pytest.raises(Refused, match=r"text\.gguf is no GGUF file\."):
        file_at(text)
    with pytest.raises(Refused, match="There is no file"):
        file_at(tmp_path / "nowhere.gguf")
    with pytest.raises(Refused, match="cannot be read"):
        file_at(tmp_path)


def test_the_context_is_what_file_and_memory_allow(tmp_path: Path) -> None:
    file = file_at(model_file(tmp_path / "3b.gguf"))
    per_token = 28 * 8 * 2 * 128 * 2
    assert file.header.cache_bytes_per_token == per_token
    base = file.bytes + 200 * 1024 * 1024

    assert context_that_fits(file, base + 20_000 * per_token).context_tokens == 8_192
    assert context_that_fits(file, base + 5_000 * per_token).context_tokens == 4_864  # a multiple of 256
    assert context_that_fits(file, base + 20_000 * per_token, 16_384).context_tokens == 16_384
    with pytest.raises(Refused, match=r"3b needs 0\.4 GB of memory, and 0\.3 GB are free\."):
        context_that_fits(file, base + 1_000 * per_token)
    with pytest.raises(Refused, match=r"Lower context_tokens\."):
        context_that_fits(file, base + 5_000 * per_token, 16_384)


def test_memory_for_kept_prompts_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "random.gguf"
    write_model(path, "ascii")
    file = file_at(path)

    assert context_that_fits(file, 64 * 1024**3).prompts_bytes == 2 * 1024**3
    assert context_that_fits(file, 1024**3).prompts_bytes < 1024**3 / 4
