"""Which installed model plays if only the server is named: realistic lists, and what must come of each."""

import random

import pytest

from glasshouse.models.installed import (
    PARAMETERS_B,
    Installed,
    chosen_from,
    in_words,
    parameters_in,
    why_not_chosen,
)


def ollama(name: str, parameters_b: float, quantization: str = "Q4_K_M", **more: object) -> Installed:
    capabilities = frozenset({"completion"})
    fields = {"capabilities": capabilities, "context_tokens": 40_960, **more}
    return Installed(name=name, parameters_b=parameters_b, quantization=quantization, **fields)  # type: ignore[arg-type]


EMBEDS = ollama("nomic-embed-text:latest", 0.137, "F16", capabilities=frozenset({"embedding"}))
CODES = ollama("qwen2.5-coder:7b", 7.6)
CLOUD = ollama("gpt-oss:120b-cloud", 116.8, "MXFP4", is_remote=True)
GUARDS = ollama("llama-guard3:8b", 8.0)
CONTINUES = ollama("llama3.1:8b-text-q4_K_M", 8.0)
UNTAUGHT = ollama("mine:latest", 8.0, template="{{ .Prompt }}")
BIG, MIDDLE, SMALL = ollama("llama3.3:70b", 70.6), ollama("gemma3:12b", 12.2), ollama("gemma3:4b", 4.3)
QWEN, LLAMA = ollama("qwen3:8b", 8.2), ollama("llama3.1:8b", 8.0)


@pytest.mark.parametrize(
    ("installed", "chosen"),
    [
        ([], None),
        ([EMBEDS, CODES, CLOUD, GUARDS, CONTINUES, UNTAUGHT], None),
        ([EMBEDS, SMALL], "gemma3:4b"),
        # The largest below 10B, also beside larger ones and beside what cannot play.
        ([BIG, MIDDLE, QWEN, LLAMA, SMALL, EMBEDS, CODES, CLOUD], "qwen3:8b"),
        # If all are larger: the smallest.
        ([BIG, MIDDLE], "gemma3:12b"),
        ([BIG, CLOUD], "llama3.3:70b"),
        # The same size: the one that need not think, then the quantization, then the name.
        ([ollama("deepseek-r1:8b", 8.2), QWEN], "qwen3:8b"),
        ([ollama("deepseek-r1:8b", 8.2), LLAMA], "deepseek-r1:8b"),
        ([ollama("qwen3:4b-thinking", 4.0), ollama("qwen3:4b-instruct", 4.02)], "qwen3:4b-instruct"),
        ([ollama("qwen3:8b-q8_0", 8.2, "Q8_0"), QWEN], "qwen3:8b"),
        ([ollama("qwen3:8b-fp16", 8.2, "F16"), ollama("qwen3:8b-q8_0", 8.2, "Q8_0")], "qwen3:8b-q8_0"),
        ([ollama("a:8b", 8.2, "Q4_0"), ollama("b:8b", 8.2, "Q4_K_S")], "b:8b"),
        ([ollama("zeta:8b", 8.2), ollama("alpha:8b", 8.2)], "alpha:8b"),
        # LM Studio, llama.cpp and vLLM give no number: the name has it, and the quantization too.
        (
            [
                Installed(name="qwen/qwen3-8b", quantization="4bit"),
                Installed(name="google/gemma-3-12b", quantization="Q4_K_M"),
                Installed(name="text-embedding-nomic-embed-text-v1.5", capabilities=frozenset({"embedding"})),
            ],
            "qwen/qwen3-8b",
        ),
        (
            [Installed(name="/models/Llama-3.2-3B-Instruct-Q8_0.gguf")],
            "/models/Llama-3.2-3B-Instruct-Q8_0.gguf",
        ),
        (
            [Installed(name="Qwen3-8B-Q8_0.gguf"), Installed(name="Qwen3-8B-Q4_K_M.gguf")],
            "Qwen3-8B-Q4_K_M.gguf",
        ),
        ([Installed(name="Qwen/Qwen3-30B-A3B")], "Qwen/Qwen3-30B-A3B"),
        # A name that tells nothing plays only if there is nothing else.
        ([Installed(name="my-tune"), BIG], "llama3.3:70b"),
        ([Installed(name="my-tune")], "my-tune"),
        # The only model, and the only one that writes here, play whatever else their names say.
        *[([only], only.name) for only in (CODES, GUARDS, CONTINUES, UNTAUGHT)],
        ([Installed(name="bge-story-teller")], "bge-story-teller"),
        ([Installed(name="cloud-nine.gguf")], "cloud-nine.gguf"),
        ([CODES, EMBEDS, CLOUD], "qwen2.5-coder:7b"),
        ([Installed(name="bge-m3"), Installed(name="codellama:7b")], "codellama:7b"),
        ([CODES, GUARDS], None),
        # Not if the server itself says that it cannot write, or that another machine runs it.
        ([EMBEDS], None),
        ([CLOUD], None),
    ],
)
def test_one_model_plays_every_size_whatever_the_order_of_the_list(
    installed: list[Installed], chosen: str | None
) -> None:
    for seed in range(4):
        listed = random.Random(seed).sample(installed, len(installed))

        model = chosen_from(listed)

        assert (model and model.name) == chosen


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mxbai-embed-large", "does not write"),
        ("bge-m3:latest", "does not write"),
        ("codellama:7b", "writes code"),
        ("deepseek-coder-v2:16b", "writes code"),
        ("codestral:22b", "writes code"),
        ("starcoder2:3b", "writes code"),
        ("shieldgemma:2b", "guards"),
        ("granite3-guardian:2b", "guards"),
        ("qwen3-vl:235b-cloud", "runs elsewhere"),
        ("Qwen/Qwen3-8B-Base", "continues text"),
        ("google/gemma-3-4b-pt", "continues text"),
        ("google/gemma-3-4b-it", ""),
        ("mistral-nemo:12b", ""),
        ("hermes3:8b", ""),
        ("phi4-mini", ""),
    ],
)
def test_a_name_tells_what_a_model_is_not_for(name: str, why: str) -> None:
    assert why_not_chosen(Installed(name=name)) == why


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("qwen3:8b", 8),
        ("qwen3:0.6b", 0.6),
        ("gemma3:270m", 0.27),
        ("mixtral:8x7b", 56),
        ("Llama-3.2-3B-Instruct", 3),
        ("gemma3n:e4b", 4),
        ("Qwen3-30B-A3B", 30),
        ("phi4", None),
        ("gpt-5-mini", None),
        ("llama3.1", None),
    ],
)
def test_the_parameters_are_read_from_a_name(name: str, parameters: float | None) -> None:
    assert parameters_in(name) == parameters


def test_parameters_are_written_as_people_do() -> None:
    assert [in_words(count) for count in (70.6, 8.19, 1, 0.6, 0.0000793)] == [
        "70.6B",
        "8.19B",
        "1B",
        "600M",
        "79.3K",
    ]


def test_sizes_are_nominal() -> None:
    assert PARAMETERS_B == {"tiny": 4.7, "fast": 10, "balanced": 16, "strong": 36}


def test_the_usual_context_is_no_longer_than_the_model_has() -> None:
    contexts = [
        Installed(name="a", context_tokens=tokens).context_tokens_usual for tokens in (2_048, 131_072, None)
    ]

    assert contexts == [2_048, 8_192, 8_192]
