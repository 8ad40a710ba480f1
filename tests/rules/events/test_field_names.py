"""Structs that read a part of someone else's JSON have the names that it is written with."""

import msgspec
import pytest
from pydantic import BaseModel

from glasshouse.errors import BadEvent
from glasshouse.events.manifest_fields import ManifestFields
from glasshouse.events.scenario_fields import ScenarioFields, scenario_fields_of
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import Scenario
from glasshouse.turns.moment.playbill import Playbill


@pytest.mark.parametrize(
    ("reads", "written"), [(ManifestFields, Manifest), (ScenarioFields, Scenario), (Playbill, Scenario)]
)
def test_what_is_read_of_a_manifest_or_a_scenario_is_a_field_of_it(
    reads: type[msgspec.Struct], written: type[BaseModel]
) -> None:
    assert set(reads.__struct_fields__) - set(written.model_fields) == set()


def test_a_world_without_a_title_is_shown_by_its_name() -> None:
    scenario = {"name": "moss", "goal": "Wake it.", "disturbances": ["A bell rings."]}

    assert scenario_fields_of(scenario) == ScenarioFields("moss", disturbances=("A bell rings.",))
    assert scenario_fields_of(scenario).title_or_name == "moss"
    assert scenario_fields_of({**scenario, "title": "The Moss"}).title_or_name == "The Moss"
    assert scenario_fields_of(None) == ScenarioFields()


def test_a_scenario_of_another_shape_is_refused_in_words() -> None:
    with pytest.raises(BadEvent, match="A scenario in the ledger is broken"):
        scenario_fields_of({"name": 5})
