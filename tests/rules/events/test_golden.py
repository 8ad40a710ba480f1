"""Golden files: bytes written long ago are read today, and mean what they meant."""

from pathlib import Path

import msgspec
import pytest

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.codec import VERSIONS, decoded, encoded
from glasshouse.events.payloads import PAYLOAD_TYPES, RUN_PAYLOAD_TYPES, builtins_of, payload_of
from tests.rules.events.events_by_hand import an_event
from tests.rules.events.golden_files import FOLDER, kind_of

FILES = sorted(FOLDER.glob("*.json"))

ENGINE_FILES = [path for path in FILES if kind_of(path) in kinds.ENGINE]

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
every_engine_file = pytest.mark.parametrize("path", ENGINE_FILES, ids=lambda path: path.stem)


def written_version(path: Path) -> int:
    version: int = msgspec.json.decode(path.read_bytes()).get("schema_version", 1)
    return version


@every_file
def test_a_golden_file_is_read_and_upcast_to_todays_version(path: Path) -> None:
    event = decoded(path.read_bytes())

    assert event.kind == kind_of(path)
    assert event.schema_version == VERSIONS.get(event.kind, 1)


@every_file
def test_a_golden_file_of_todays_version_comes_back_byte_for_byte(path: Path) -> None:
    body = path.read_bytes()
    event = decoded(body)

    assert encoded(event) == body or written_version(path) < event.schema_version


@every_engine_file
def test_an_engines_golden_payload_is_of_its_type_and_back(path: Path) -> None:
    event = decoded(path.read_bytes())

    typed = payload_of(event, PAYLOAD_TYPES[event.kind])

    assert builtins_of(typed) == event.payload


@every_engine_file
def test_an_engines_payload_with_one_field_more_is_refused_in_words(path: Path) -> None:
    event = decoded(path.read_bytes())
    spoilt = an_event(kind=event.kind, payload={**event.payload, "colour": "green"})

    with pytest.raises(BadEvent, match=f"is a {event.kind} with a broken payload.*colour"):
        payload_of(spoilt, PAYLOAD_TYPES[event.kind])


@pytest.mark.parametrize("kind", RUN_PAYLOAD_TYPES)
def test_a_runs_golden_payload_is_of_its_type_and_back(kind: str) -> None:
    event = decoded((FOLDER / f"{kind}.json").read_bytes())

    typed = payload_of(event, RUN_PAYLOAD_TYPES[kind])

    assert builtins_of(typed) == event.payload
