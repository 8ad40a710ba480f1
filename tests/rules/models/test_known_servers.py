"""Servers by name: whose models cost nothing, where they are, and what a text means."""

import pytest

from glasshouse.models.known_servers import KNOWN_SERVERS, Wanted, how_to_start, is_own, usual_url, wanted_of


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://127.0.0.1:11434",
            "http://[::1]:8080/v1",
            "http://localhost:1234",
            "http://192.168.1.20:8000",
        ),
        *("http://gpu:8000/v1", "http://gpu.lan", "http://ollama.internal"),
    ],
)
def test_what_runs_here_or_in_the_own_network_costs_nothing(url: str) -> None:
    assert is_own(url)


@pytest.mark.parametrize(
    "url", ["", "https://api.openai.com/v1", "https://ollama.com", "http://8.8.8.8:8000"]
)
def test_what_runs_elsewhere_may_cost_something(url: str) -> None:
    assert not is_own(url)


def test_every_hosted_server_needs_a_key_and_is_not_ones_own() -> None:
    hosted = {name for name, known in KNOWN_SERVERS.items() if known.key_variable}

    assert hosted == {"openai", "openrouter", "anthropic", "gemini", "mistral"}
    assert not any(is_own(KNOWN_SERVERS[name].url) for name in hosted)


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:9", "http://127.0.0.1:9"),
        (":9", "http://127.0.0.1:9"),
        ("gpu.lan", "http://gpu.lan:11434"),
        ("gpu.lan:80", "http://gpu.lan:80"),
        ("https://gpu.lan/", "https://gpu.lan"),
    ],
)
def test_ollamas_own_variable_says_where_it_is(variable: str, url: str) -> None:
    assert usual_url("ollama", lambda _: variable) == url


def test_a_text_means_a_server_a_model_or_an_address() -> None:
    assert wanted_of("ollama") == Wanted("ollama")
    assert wanted_of("ollama:qwen3:8b") == Wanted("ollama", "", "qwen3:8b")
    assert wanted_of("openrouter:qwen/qwen3-8b") == Wanted("openrouter", "", "qwen/qwen3-8b")
    assert wanted_of("http://gpu:8000/v1#my-model") == Wanted("other", "http://gpu:8000/v1", "my-model")


def test_a_server_elsewhere_is_started_there() -> None:
    assert how_to_start("vllm", "http://gpu.lan:8000/v1") == (
        "start it there with `vllm serve MODEL`, where MODEL is a folder or a name on Hugging Face"
    )
    assert how_to_start("openai", "https://api.openai.com/v1") == "check the address and the network"
