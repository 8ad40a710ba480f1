"""How llama.cpp is asked to sample if nobody says how."""

from typing import Any

import pytest

from glasshouse.models.decoding_defaults import DRY, usual_decoding
from tests.servers.imitations import LLAMA_CPP_SAMPLES


def props(**params: Any) -> dict[str, Any]:
    return {"default_generation_settings": {"n_ctx": 8_192, "params": params}, "total_slots": 1}


def test_a_server_that_samples_by_its_own_defaults_gets_dry() -> None:
    assert usual_decoding(props(**LLAMA_CPP_SAMPLES)) == DRY


def test_nothing_that_is_sent_can_sample_cooler_than_the_server_does() -> None:
    assert all(name.startswith("dry_") for name in DRY)


@pytest.mark.parametrize(
    "answer",
    [
        props(**{**LLAMA_CPP_SAMPLES, "dry_multiplier": 0.5}),
        props(temperature=0.8),
        props(dry_multiplier="0"),
        {"default_generation_settings": {"params": "none"}},
        {"default_generation_settings": [0]},
        {},
    ],
    ids=["started with DRY", "does not know DRY", "a text", "no settings", "a list", "tells nothing"],
)
def test_a_server_with_a_dry_of_its_own_or_without_any_gets_nothing(answer: dict[str, Any]) -> None:
    assert usual_decoding(answer) == {}
