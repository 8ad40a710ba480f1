"""models.yaml: what it may say, and what its problems say."""

from pathlib import Path
from textwrap import dedent

import pytest

from glasshouse.errors import BadWorld
from glasshouse.manifests.models_file import Pins, load_models_file
from glasshouse.runtime.call_time import USUAL_BOUNDS

SOUND = """
    backends:
      here: {server: ollama, url: "http://127.0.0.1:11434/", max_parallel: 2}
      openai: {key_variable: MY_KEY}
    profiles:
      fast: {backend: here, model: "qwen3:8b", context_tokens: 8192}
      strong:
        backend: openai
        model: gpt-5-mini
        context_tokens: 32768
        decoding: {temperature: 1}
        price: {input: 0.25, output: 2, cache_read: 0.025}
        limits: {reasoning_tokens: 512, call_seconds: 60}
        fallbacks: [fast]
      spare: {backend: offline, model: offline, context_tokens: 8192}
    pins:
      run: fast
      teams: {fir: strong}
      creatures: {critic: spare}
"""
FAST = "profiles:\n  fast: {backend: ollama, model: a, context_tokens: 8192"


def file_of(folder: Path, text: str) -> Path:
    path = folder / "models.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    return path


def problems_of(folder: Path, text: str) -> list[str]:
    with pytest.raises(BadWorld) as refused:
        load_models_file(file_of(folder, text))
    return [str(problem).removeprefix(f"{folder}/") for problem in refused.value.problems]


def test_a_file_names_servers_models_prices_and_pins(tmp_path: Path) -> None:
    file = load_models_file(file_of(tmp_path, SOUND))

    fast, strong = file.profiles["fast"], file.profiles["strong"]
    assert file.backend_of(fast)[0] == "ollama"
    assert file.backend_of(fast)[1].url == "http://127.0.0.1:11434"
    assert file.backend_of(strong) == ("openai", file.backends["openai"])
    assert file.backend_of(file.profiles["spare"])[0] == "offline"
    assert (strong.price and strong.price.output, strong.limits.call_seconds) == (2, 60)


def test_the_bounds_of_calls_are_those_of_the_runtime_unless_a_file_says_otherwise(tmp_path: Path) -> None:
    fast = load_models_file(file_of(tmp_path, SOUND)).profiles["fast"]

    limits = fast.limits
    assert (limits.call_seconds, limits.first_token_seconds, limits.token_seconds) == USUAL_BOUNDS


def test_the_narrowest_pin_holds() -> None:
    pins = Pins(run="a", teams={"fir": "b"}, creatures={"ada": "c"})
    teams = {"fir": ("ada", "bo")}

    assert [pins.of(handle, teams) for handle in ("ada", "bo", "cy")] == ["c", "b", None]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("profiles: {}", "models.yaml:1:11: profiles: this is empty. Write at least one item."),
        ("backends: {}", "models.yaml:1:1: profiles: this field is missing. Write it."),
        (
            "profiles:\n  mine: {backend: ollama, model: a, context_tokens: 8192}",
            "models.yaml:2:3: profiles: none of these is a size. Bind one of tiny, fast, balanced, strong, or name a",
        ),
        (
            "profiles:\n  fast: {backend: ollama, model: a}",
            "models.yaml:2:9: profiles.fast.context_tokens: this field is missing. Write it.",
        ),
        (
            f"{FAST}, context_token: 9}}",
            "models.yaml:2:59: profiles.fast.context_token: there is no such field. Did you mean 'context_tokens'?",
        ),
        (
            "profiles:\n  fast: {backend: olama, model: a, context_tokens: 8192}",
            "models.yaml:2:19: profiles.fast.backend: no backend or server is called 'olama'. Did you mean 'ollama'?",
        ),
        (
            f"{FAST}, fallbacks: [fats]}}\n  fat: {{backend: ollama, model: b, context_tokens: 8192}}",
            "models.yaml:2:71: profiles.fast.fallbacks: no other profile is called 'fats'. Did you mean 'fat'?",
        ),
        (
            f"{FAST}, decoding: {{temprature: 1}}}}",
            "models.yaml:2:70: profiles.fast.decoding.temprature: there is no such field. Did you mean 'temperature'?",
        ),
        (
            f"{FAST}}}\npins: {{creatures: {{ada: fsat}}}}",
            "models.yaml:3:25: pins.creatures.ada: no profile is called 'fsat'. Did you mean 'fast'?",
        ),
        (
            f"backends: {{mine: {{url: 'http://10.0.0.2'}}}}\n{FAST}}}",
            "models.yaml:1:18: backends.mine.server: this field is missing, because no server is called 'mine'. Write one",
        ),
        (
            f"backends: {{other: {{}}}}\n{FAST}}}",
            "models.yaml:1:19: backends.other.url: this field is missing. Write the server's address.",
        ),
        (
            f"backends: {{ollama: {{url: 'localhost:11434'}}}}\n{FAST}}}",
            "models.yaml:1:26: backends.ollama.url: this is no address. Write one such as http://127.0.0.1:8080/v1.",
        ),
        (
            f"{FAST}}}\n  strong: {{backend: ollama, model: a, context_tokens: 4096}}",
            "models.yaml:3:55: profiles.strong.context_tokens: profile fast gives the same model 8,192 tokens.",
        ),
    ],
)
def test_a_problem_has_its_line_and_what_was_probably_meant(tmp_path: Path, text: str, problem: str) -> None:
    (said,) = problems_of(tmp_path, text)

    assert said.startswith(problem)


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-a1B2c3D4e5F6g7H8i9J0",
        "sk-or-v1-0123456789abcdef0123456789abcdef",
        "sk-ant-api03-a_b-c0123456789",
        "AIzaSyA0123456789abcdefghijk",
        "0123456789abcdef0123456789ABCDEF",
        "Bearer something-secret",
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "backends:\n  openai: {{key_variable: '{key}'}}\nprofiles: {{}}",
        "backends:\n  openai: {{api_key: '{key}'}}\nprofiles: {{}}",
        "backends:\n  openai: {{max_parallel: '{key}'}}",
        "profiles:\n  fast: '{key}'",
        "backends:\n  openai: {{'{key}': 1}}",
    ],
)
def test_a_key_in_the_file_is_refused_and_never_quoted(tmp_path: Path, text: str, key: str) -> None:
    (said,) = problems_of(tmp_path, text.format(key=key))

    assert "like a key" in said
    assert key not in said
    assert key[-8:] not in said


@pytest.mark.parametrize(
    "model",
    [
        "hf.co/bartowski/Qwen_Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_M",
        "/models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf",
        "meta-llama/llama-3.3-70b-instruct:free",
        "claude-haiku-4-5-20251001",
    ],
)
def test_a_models_name_does_not_look_like_a_key(tmp_path: Path, model: str) -> None:
    text = f"profiles:\n  fast: {{backend: ollama, model: '{model}', context_tokens: 8192}}"

    assert load_models_file(file_of(tmp_path, text)).profiles["fast"].model == model


def test_a_password_in_an_address_is_refused_and_not_quoted(tmp_path: Path) -> None:
    text = f"backends: {{vllm: {{url: 'http://me:hush@gpu:8000/v1'}}}}\n{FAST}}}"

    (said,) = problems_of(tmp_path, text)

    assert "must not hold a password" in said
    assert "hush" not in said
