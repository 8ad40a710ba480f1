"""Headers of GGUF files: what they say of a model, and that damage is always named."""

import io
from contextlib import suppress
from pathlib import Path

import pytest
from gguf import GGUFReader, GGUFWriter, LlamaFileType
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.models.local.gguf import QUANTIZATIONS, BadHeader, Header, header_bytes_max, header_read
from tests.servers.gguf_model import HEAD, LAYERS, TRAINED_CONTEXT_TOKENS, write_model


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("gguf") / "random.gguf"
    write_model(path, "ascii")
    return path.read_bytes()


def header_of(content: bytes) -> Header:
    return header_read(io.BytesIO(content).read)


def test_a_header_tells_what_the_library_of_the_format_reads(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "random.gguf"
    path.write_bytes(content)
    tensors = GGUFReader(path).tensors

    header = header_of(content)

    assert header.architecture == "llama"
    assert header.parameters == sum(int(tensor.n_elements) for tensor in tensors)
    assert header.tensors == len(tensors)
    assert header.context_tokens == TRAINED_CONTEXT_TOKENS
    assert header.vocabulary > 100
    assert header.cache_bytes_per_token == LAYERS * 2 * HEAD * 2
    assert header.problem == ""


def test_every_quantization_is_called_as_llama_cpp_calls_it() -> None:
    for number, name in QUANTIZATIONS.items():
        assert LlamaFileType(number).name.removeprefix("MOSTLY_").removeprefix("ALL_") == name


def test_a_vocabulary_of_any_length_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "words.gguf"
    file = GGUFWriter(path, "llama")
    file.add_token_list([f"word {number}" for number in range(60_000)])
    file.add_token_types([1] * 60_000)
    file.add_chat_template("{{ messages }}" * 1_000)
    file.add_context_length(4_096)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()

    header = header_of(path.read_bytes())

    assert header.vocabulary == 60_000
    assert header.context_tokens == 4_096
    assert header.problem == "has no weights"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"general.architecture": "clip"}, "is a projector"),
        ({"general.architecture": "llama", "general.type": "mmproj"}, "is a projector"),
        ({"general.architecture": "llama", "general.type": "adapter"}, "holds no model"),
        ({"general.architecture": "nomic-bert"}, "makes embeddings"),
        ({"general.architecture": "qwen3", "qwen3.pooling_type": 3}, "makes embeddings"),
        ({"general.architecture": "gemma3", "gemma3.attention.causal": False}, "makes embeddings"),
        ({"general.architecture": "llama"}, "has no chat template"),
        ({"general.architecture": "llama", "tokenizer.chat_template": "{{ messages }}"}, ""),
    ],
)
def test_what_cannot_play_is_told_by_its_header(fields: dict[str, object], problem: str) -> None:
    said = Header(fields, parameters=1, tensors=1).problem

    assert said.startswith(problem)
    assert bool(said) == bool(problem)


def test_heads_that_differ_from_layer_to_layer_are_added_up() -> None:
    fields = {
        "general.architecture": "x",
        "x.block_count": 3,
        "x.embedding_length": 64,
        "x.attention.head_count": 4,
    }

    header = Header({**fields, "x.attention.head_count_kv": [4, 0, 2]}, parameters=1, tensors=1)

    assert header.cache_bytes_per_token == (4 + 0 + 2) * (16 + 16) * 2


@given(data=st.data())
def test_however_a_header_is_damaged_it_is_read_or_called_bad(content: bytes, data: st.DataObject) -> None:
    damaged = bytearray(content[: data.draw(st.integers(0, 20_000))])
    for _ in range(data.draw(st.integers(0, 6))):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))

    with suppress(BadHeader):
        header = header_of(bytes(damaged))

        assert isinstance(header.problem + header.quantization, str)
        assert header.cache_bytes_per_token >= 0


def test_no_more_is_read_than_the_bound() -> None:
    # A field whose text claims to be as long as a disk.
    start = b"GGUF" + (3).to_bytes(4, "little") + (0).to_bytes(8, "little") + (1).to_bytes(8, "little")
    claims = (
        start + (1).to_bytes(8, "little") + b"a" + (8).to_bytes(4, "little") + (2**40).to_bytes(8, "little")
    )
    asked: list[int] = []

    def read(count: int) -> bytes:
        asked.append(count)
        return claims if len(asked) == 1 else b"x" * count

    with pytest.raises(BadHeader, match="more than 67,108,864 bytes"):
        header_read(read)
    assert sum(asked) < header_bytes_max
