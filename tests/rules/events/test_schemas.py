"""A struct that reaches the ledger changes only with a version and an upcaster."""

from types import ModuleType

import msgspec
import pytest

from glasshouse.events import codec, kinds
from glasshouse.events.codec import EVENT_VERSION, UPCASTERS, VERSIONS
from glasshouse.events.model_use import ModelUse
from glasshouse.events.payloads import PAYLOAD_TYPES, RUN_PAYLOAD_TYPES, TurnStarted
from glasshouse.runtime.ledger import house_record, session_file
from glasshouse.world.decisions import requests
from tests.rules.events import golden_beside
from tests.rules.events.golden_beside import READERS
from tests.rules.events.golden_files import OPEN_PAYLOADS, samples
from tests.rules.events.schemas import TYPES, changed, kept, schema_of, schemas_now

ADVICE = (
    "The shape of these changed. Raise the version (codec.VERSIONS for a payload, codec.EVENT_VERSION for the event),"
    " add an upcaster, then run python -m tests.rules.events.schemas and python -m tests.rules.events.golden_files."
)


def test_no_struct_that_reaches_the_ledger_has_changed_without_a_version() -> None:
    assert not changed(schemas_now(), kept()), ADVICE


def test_every_earlier_version_has_its_schema_and_an_upcaster() -> None:
    earlier = [(kind, version) for kind, newest in VERSIONS.items() for version in range(1, newest)]

    assert [step for step in earlier if step not in UPCASTERS] == []
    assert {f"{kind}@{version}" for kind, version in earlier} <= set(kept())
    assert {f"event@{version}" for version in range(1, EVENT_VERSION)} <= set(kept())


def test_every_version_of_what_is_stored_beside_events_is_read_today() -> None:
    written_today = {
        name: golden_beside.path_of(name, golden_beside.newest()[name]).read_bytes() for name in READERS
    }

    assert golden_beside.unread() == []
    assert written_today == golden_beside.samples()


@pytest.mark.parametrize(
    ("module", "number", "names"),
    [
        (codec, "EVENT_VERSION", ["event@2", "shown@2"]),
        (
            requests,
            "request_version",
            ["request@1", "request@2", "asked@1", "asked@2", "answer@1", "answer@2"],
        ),
        (session_file, "format_version", ["session file@3"]),  # It reads those of before.
        (house_record, "record_version", ["house record@2"]),
    ],
)
def test_a_version_that_is_raised_is_noticed_until_the_earlier_one_is_read(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, number: str, names: list[str]
) -> None:
    monkeypatch.setattr(module, number, getattr(module, number) + 1)

    assert [wrong.partition(":")[0] for wrong in golden_beside.unread()] == names


def test_every_kind_of_the_core_has_a_type_unless_creatures_write_it() -> None:
    core = {value for name, value in vars(kinds).items() if name.isupper() and isinstance(value, str)}

    assert set(PAYLOAD_TYPES) == kinds.ENGINE
    assert core - set(PAYLOAD_TYPES) - set(RUN_PAYLOAD_TYPES) == set(OPEN_PAYLOADS)


class OneFieldMore(TurnStarted, frozen=True):
    colour: str = "green"


class OneFieldLess(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class AnotherType(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    turn: str


@pytest.mark.parametrize("other", [OneFieldMore, OneFieldLess, AnotherType])
def test_a_changed_struct_is_noticed_until_its_version_goes_up(other: type[msgspec.Struct]) -> None:
    types = {**TYPES, kinds.TURN_STARTED: msgspec.defstruct("TurnStarted", [], bases=(other,), frozen=True)}
    then = schemas_now()

    assert changed(schemas_now(types), then) == ["turn.started@1+full"]
    assert changed(schemas_now(types, {kinds.TURN_STARTED: 2}), then) == ["turn.started@2+full"]


def structs_in(value: object) -> set[str]:
    """The structs that a value is made of, with the fields that are not at their default."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(value)
        parts = [(field, getattr(value, field.name)) for field in fields]
        given = {f"{type(value).__name__}.{field.name}" for field, part in parts if part != _default(field)}
        return given.union(*[structs_in(part) for _, part in parts])
    parts_of = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return set().union(*map(structs_in, parts_of))


def _default(field: msgspec.structs.FieldInfo) -> object:
    is_made = field.default_factory is not msgspec.NODEFAULT
    return field.default_factory() if is_made else field.default


def test_golden_files_give_every_field_of_every_struct_a_value() -> None:
    """So that a field which is dropped or renamed makes a golden file unreadable."""
    typed = [
        msgspec.convert(event.payload, TYPES[event.kind])
        for event in samples().values()
        if event.kind in TYPES
    ]
    given = structs_in([*typed, *[event.model for event in samples().values()]])

    structs: list[type[msgspec.Struct]] = [*TYPES.values(), ModelUse]
    names = {
        f"{name}.{field}"
        for struct in structs
        for name, schema in schema_of(struct)["$defs"].items()
        for field in schema["properties"]
    }
    assert names - given == set()
