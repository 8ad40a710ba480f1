"""A word that is no field's name, and the field that whoever writes it means."""

import pytest

from glasshouse.manifests.field_words import field_meant
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import Scenario
from glasshouse.manifests.validation import valid_or_complaints


@pytest.mark.parametrize(
    ("word", "field"),
    [
        ("scene", "opening"),
        ("Setting", "opening"),
        ("description", "goal"),
        ("characters", "cast"),
        ("agents", "cast"),
        ("max_turns", "governor"),
        ("gaol", "goal"),
    ],
)
def test_a_word_for_a_field_of_a_scenario_leads_to_it(word: str, field: str) -> None:
    _, complaints = valid_or_complaints({"name": "pond", "cast": ["ada"], word: "x"}, Scenario)

    assert [each.text for each in complaints] == [f"there is no such field. Did you mean {field!r}?"]


@pytest.mark.parametrize(
    ("word", "field"),
    [
        ("description", "persona"),
        ("system prompt", "persona"),
        ("likes", "cares_about"),
        ("personality", "temper"),
        ("goal", "wants"),
        ("model", "model_profile"),
        ("personna", "persona"),
    ],
)
def test_a_word_for_a_field_of_a_creature_leads_to_it(word: str, field: str) -> None:
    _, complaints = valid_or_complaints({"name": "ada", word: "x"}, Manifest)

    assert [each.text for each in complaints] == [f"there is no such field. Did you mean {field!r}?"]


def test_a_word_leads_only_to_fields_that_are_there() -> None:
    assert field_meant("scene", ["title"]) is None
    assert field_meant("beats", ["beats"]) is None
