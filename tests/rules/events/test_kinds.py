"""Kinds: one pattern, refused in words wherever a kind enters."""

import msgspec
import pytest

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.codec import decoded, encoded
from glasshouse.events.event import Draft
from glasshouse.events.payloads import PAYLOAD_TYPES
from tests.rules.events.events_by_hand import A_LINE, an_event

MALFORMED = [
    "",
    ".",
    "agent",
    "Agent.spoke",
    "agent.Spoke",
    "agent.",
    ".spoke",
    "agent..spoke",
    "a-b.c",
    "a.b-c",
    "agent.spoke\n",
    "\nagent.spoke",
    "agent.spoke ",
    " agent.spoke",
    "agent .spoke",
    "agent.spoke\x00",
    "agent.spoke\u2028",
    "1agent.spoke",
    "agent.1spoke",
    "_agent.spoke",
    "agent._spoke",
    "agent.spo\u0301ke",
    "\u00e4gent.spoke",
    "agent.spok\u00e9",
    "agent.spoke\u0663",
    "agent.spoke\uff11",
    "\uff41gent.spoke",
    "agent\uff0espoke",
    "agent/spoke",
    "agent.spoke.",
    "a." + "b" * 63,
]

WELL_FORMED = ["agent.spoke", "a.b", "question.asked", "a1.b_2", "one.two.three.four", "a." + "b" * 62]


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_draft_of_a_malformed_kind_is_refused_with_an_example_of_a_good_one(kind: str) -> None:
    with pytest.raises(BadEvent) as refusal:
        Draft(kind=kind)

    assert repr(kind) in refusal.value.reason
    assert "agent.spoke" in refusal.value.instead
    assert "64 characters" in refusal.value.instead


@pytest.mark.parametrize("kind", MALFORMED)
def test_an_event_of_a_malformed_kind_cannot_be_made(kind: str) -> None:
    with pytest.raises(BadEvent) as refusal:
        an_event(kind=kind)

    assert refusal.value.instead


@pytest.mark.parametrize("kind", MALFORMED)
def test_stored_bytes_with_a_malformed_kind_are_refused(kind: str) -> None:
    plain = msgspec.json.decode(encoded(A_LINE))
    body = msgspec.json.encode({**plain, "kind": kind})

    with pytest.raises(BadEvent) as refusal:
        decoded(body)

    assert "not an event kind" in refusal.value.reason


@pytest.mark.parametrize("kind", WELL_FORMED)
def test_a_well_formed_kind_passes_in_a_draft_in_an_event_and_in_bytes(kind: str) -> None:
    event = an_event(kind=kind)

    back = decoded(encoded(event))

    assert Draft(kind=kind).kind == event.kind == back.kind == kind


def test_a_refused_kind_is_refused_again_however_often_it_is_tried() -> None:
    for _ in range(3):
        with pytest.raises(BadEvent):
            kinds.check_kind("Agent.spoke")


def test_every_kind_of_the_core_is_well_formed_and_named_once() -> None:
    named = [value for name, value in vars(kinds).items() if name.isupper() and isinstance(value, str)]

    for kind in named:
        kinds.check_kind(kind)

    assert len(named) == len(set(named)) == 39


def test_every_kind_of_the_engine_has_a_typed_payload_and_no_other_has() -> None:
    assert set(PAYLOAD_TYPES) == kinds.ENGINE


def test_no_kind_that_an_act_appends_on_its_way_is_the_engines() -> None:
    assert kinds.MID_ACT.isdisjoint(kinds.ENGINE)
