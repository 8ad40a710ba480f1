"""`Event` and `Draft`: strict, immutable, and an id that says where an event lies."""

from typing import Any

import msgspec
import pytest

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.codec import content_of, decoded, encoded
from glasshouse.events.event import Draft, Event, event_id, session_and_seq
from tests.rules.events.events_by_hand import A_LINE, an_event

PLAIN: dict[str, Any] = msgspec.json.decode(encoded(A_LINE))

REQUIRED = [
    "id",
    "session_id",
    "graph_id",
    "seq",
    "lamport",
    "turn",
    "actor",
    "kind",
    "payload",
    "created_at",
]

FORGERIES = [
    "actor",
    "turn",
    "id",
    "run_id",
    "session_id",
    "seq",
    "lamport",
    "created_at",
    "caused_by",
    "model",
]


def test_an_event_with_an_unknown_field_cannot_be_made() -> None:
    fields: dict[str, Any] = {**msgspec.structs.asdict(A_LINE), "colour": "green"}

    with pytest.raises(TypeError, match="colour"):
        Event(**fields)


def test_stored_bytes_with_an_unknown_field_are_refused_and_the_field_is_named() -> None:
    body = msgspec.json.encode({**PLAIN, "colour": "green"})

    with pytest.raises(BadEvent, match="colour"):
        decoded(body)


@pytest.mark.parametrize("field", REQUIRED)
def test_stored_bytes_without_a_required_field_are_refused_and_the_field_is_named(field: str) -> None:
    body = msgspec.json.encode({name: value for name, value in PLAIN.items() if name != field})

    with pytest.raises(BadEvent, match=field):
        decoded(body)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("payload", "text"),
        ("payload", ["text"]),
        ("payload", None),
        ("private", "thought"),
        ("sealed", 3),
        ("seq", "7"),
        ("seq", 7.5),
        ("lamport", None),
        ("actor", 3),
        ("created_at", "yesterday"),
        ("schema_version", "1"),
    ],
)
def test_stored_bytes_with_a_field_of_the_wrong_type_are_refused(field: str, value: object) -> None:
    body = msgspec.json.encode({**PLAIN, field: value})

    with pytest.raises(BadEvent, match=field):
        decoded(body)


@pytest.mark.parametrize("field", FORGERIES)
def test_a_draft_cannot_carry_what_only_the_ledger_gives(field: str) -> None:
    fields: dict[str, Any] = {"kind": kinds.AGENT_SPOKE, field: "forged"}

    with pytest.raises(TypeError, match=field):
        Draft(**fields)


def test_a_draft_decoded_from_json_refuses_an_unknown_field() -> None:
    with pytest.raises(msgspec.ValidationError, match="actor"):
        msgspec.json.decode(b'{"kind":"agent.spoke","actor":"ada"}', type=Draft)


@pytest.mark.parametrize("field", ["id", "payload", "actor", "position"])
def test_an_event_cannot_be_changed(field: str) -> None:
    event = an_event()

    with pytest.raises(AttributeError):
        setattr(event, field, "other")

    assert event == A_LINE


def test_a_draft_cannot_be_changed() -> None:
    draft = Draft(kind=kinds.AGENT_SPOKE)

    with pytest.raises(AttributeError):
        setattr(draft, "kind", kinds.AGENT_PASSED)  # noqa: B010 (the type checker would refuse the assignment)

    assert draft.kind == kinds.AGENT_SPOKE


def test_two_drafts_without_a_payload_do_not_share_one() -> None:
    first, other = Draft(kind=kinds.AGENT_SPOKE), Draft(kind=kinds.AGENT_SPOKE)

    assert first.payload == other.payload == {}
    assert first.payload is not other.payload


def test_the_position_is_no_part_of_an_events_content_or_bytes() -> None:
    here, there = an_event(position=3), an_event(position=900)

    assert content_of(here) == content_of(there) == content_of(A_LINE)
    assert encoded(here) == encoded(there) == encoded(A_LINE)
    assert decoded(encoded(A_LINE), 12).position == 12


def test_only_kinds_of_the_engine_make_an_engine_event() -> None:
    assert an_event(kind=kinds.TOPOLOGY_CHANGED).is_engine
    assert not an_event(kind=kinds.AGENT_SPOKE).is_engine
    assert not an_event(kind=kinds.RUN_STARTED).is_engine


@pytest.mark.parametrize(("session_id", "seq"), [("s-0123456789abcdef", 1), ("a.b", 12), ("s", 1_000_000)])
def test_an_event_id_names_its_session_and_seq(session_id: str, seq: int) -> None:
    assert session_and_seq(event_id(session_id, seq)) == (session_id, seq)


@pytest.mark.parametrize("name", ["s-0123456789abcdef", "s.", "", "s.x", "s.-1", "s.\u0663", "s.1 ", "s.1\n"])
def test_what_names_no_event_has_no_seq(name: str) -> None:
    assert session_and_seq(name) == (name, 0)
