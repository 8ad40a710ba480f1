"""Names of fields that code writes as texts are the names that the structs have."""

from datetime import UTC, datetime

import msgspec
import pytest
from pydantic import BaseModel

from glasshouse.errors import BadEvent
from glasshouse.events import kinds, payloads
from glasshouse.events.digest import digest_of
from glasshouse.events.recorded_fields import ManifestFields, ScenarioFields, scenario_fields_of
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import Scenario
from glasshouse.turns.moment.playbill import Playbill
from tests.rules.events.events_by_hand import an_event


@pytest.mark.parametrize(
    ("reads", "written"), [(ManifestFields, Manifest), (ScenarioFields, Scenario), (Playbill, Scenario)]
)
def test_what_is_read_of_a_manifest_or_a_scenario_is_a_field_of_it(
    reads: type[msgspec.Struct], written: type[BaseModel]
) -> None:
    assert set(reads.__struct_fields__) - set(written.model_fields) == set()


def test_a_field_that_a_scenario_leaves_out_has_its_default() -> None:
    scenario = {"name": "moss", "goal": "Wake it.", "disturbances": ["A bell rings."]}

    assert scenario_fields_of(scenario) == ScenarioFields("moss", disturbances=("A bell rings.",))
    assert scenario_fields_of(None) == ScenarioFields()


def test_a_scenario_of_another_shape_is_refused_in_words() -> None:
    with pytest.raises(BadEvent, match="A scenario in the ledger is broken"):
        scenario_fields_of({"name": 5})


def test_the_fields_that_hold_creature_ids_are_fields_of_payloads() -> None:
    types: dict[str, type[payloads.Payload]] = {
        **payloads.PAYLOAD_TYPES,
        kinds.RUN_STARTED: payloads.CastEntry,  # Its cast is read entry by entry.
    }
    named = {
        payload_type.__name__: [
            name for name in payloads.CREATURE_FIELDS if name in payload_type.__struct_fields__
        ]
        for payload_type in types.values()
    }

    assert {name: fields for name, fields in named.items() if fields} == {
        "CreatureStarted": ["creature", "parent"],
        "CreatureStopped": ["creature"],
        "CreatureRenamed": ["creature"],
        "ChannelEdge": ["creature"],
        "WireAdded": ["source", "target"],
        "WireRemoved": ["source", "target"],
        "ParentChanged": ["child", "old_parent", "new_parent"],
        "TopologyChanged": ["affected_creatures"],
        "SessionRestated": ["creatures"],
        "SessionAttached": ["creatures", "stayed"],
        "PrivilegeGranted": ["creature", "by"],
        "PrivilegeRevoked": ["creature", "by"],
        "ToolChanged": ["creatures"],
        "ToolAccepted": ["creatures", "by"],
        "CastEntry": ["creature"],
    }


ONE, OTHER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
OF_ONE_HOUSE: dict[str, list[payloads.Payload]] = {
    kinds.RUN_STARTED: [
        payloads.RunStarted(recipe=payloads.Recipe(path=path, digest="d"), models=models)
        for path, models in (("/home/ada", "ollama"), ("/home/bo", "offline"))
    ],
    kinds.RUN_PAUSED: [payloads.RunPaused("No money.", frees_at=at) for at in (ONE, OTHER)],
    kinds.CREATURE_STARTED: [
        payloads.CreatureStarted("ada", "ada", "ada", "d", born=born) for born in (1, 2)
    ],
    kinds.CHANNEL_OPENED: [payloads.ChannelOpened("c-1", "talk", born=born) for born in (1, 2)],
}


@pytest.mark.parametrize("kind", sorted(OF_ONE_HOUSE))
def test_what_belongs_to_one_house_is_not_in_the_digest(kind: str) -> None:
    first, second = [
        an_event(kind=kind, payload=payloads.builtins_of(payload)) for payload in OF_ONE_HOUSE[kind]
    ]

    assert first.payload != second.payload
    assert digest_of([first]) == digest_of([second])
