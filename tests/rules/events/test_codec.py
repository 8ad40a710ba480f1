"""The codec: bytes and back, bounds, what is no JSON, and old payloads lifted to today's."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import BadEvent
from glasshouse.events import codec, kinds
from glasshouse.events.codec import (
    all_decoded,
    canonical_json,
    decoded,
    encoded,
    encoded_within_bounds,
    payload_within_bounds,
    upcaster_set,
)
from glasshouse.events.digest import digest_of
from glasshouse.events.event import Draft, Event, Json, payload_bytes_max
from glasshouse.events.model_use import ModelUse
from glasshouse.world.decisions.intents import Say
from tests.rules.events.events_by_hand import A_LINE, NOON, an_event, model_uses, payloads
from tests.rules.worlds_by_hand import HandWorld

PARTS = ["payload", "private", "sealed"]

maybe_payloads = st.none() | payloads()


def part_of_size(size: int) -> Json:
    """An object whose JSON has exactly this many bytes."""
    empty = len(msgspec.json.encode({"text": ""}))
    return {"text": "x" * (size - empty)}


@given(
    payloads(), maybe_payloads, st.none() | model_uses(), st.timedeltas(timedelta(0), timedelta(days=9_000))
)
def test_every_event_comes_back_from_its_bytes_as_it_was(
    payload: Json, private: Json | None, model: ModelUse | None, later: timedelta
) -> None:
    event = an_event(payload=payload, private=private, sealed=private, model=model, created_at=NOON + later)
    body = encoded_within_bounds(event)

    back = decoded(body)

    assert back == event
    assert encoded(back) == body


@pytest.mark.parametrize("encoder", [encoded_within_bounds, payload_within_bounds])
@pytest.mark.parametrize(
    "wrong", [part_of_size(payload_bytes_max + 1), {"text": "\ud800"}, {"day": object()}]
)
def test_the_payload_of_a_line_is_refused_as_the_whole_line_is(
    encoder: Callable[[Event], object], wrong: Json
) -> None:
    with pytest.raises(BadEvent, match=r"The payload of agent\.spoke"):
        encoder(an_event(payload=wrong))


@pytest.mark.parametrize("part", ["model", "call", "usage"])
def test_an_unknown_field_in_the_models_side_is_refused(part: str) -> None:
    plain = msgspec.json.decode(encoded(A_LINE))
    call = plain["model"]["calls"][0]
    {"model": plain["model"], "call": call, "usage": call["usage"]}[part]["colour"] = "green"

    with pytest.raises(BadEvent, match="colour"):
        decoded(msgspec.json.encode(plain))


def test_fields_at_their_default_take_no_room() -> None:
    plain = an_event(run_id=None, channel_id=None, channel=None, private=None, sealed=None, caused_by=None)

    written = msgspec.json.decode(encoded(msgspec.structs.replace(plain, model=None)))

    assert set(written) == {
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
    }


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b"nonsense", b"\xff\xfe", encoded(A_LINE)[:-1], encoded(A_LINE) + b"}"],
)
def test_bytes_that_are_no_event_are_refused_in_words(body: bytes) -> None:
    with pytest.raises(BadEvent, match="These bytes are no event"):
        decoded(body)


def test_bytes_nested_without_end_are_refused_in_words_too() -> None:
    body = encoded(A_LINE).replace(b'{"text":"The moss is listening."}', b'{"a":' + b"[" * 100_000)

    with pytest.raises(BadEvent, match="These bytes are no event"):
        decoded(body)
    with pytest.raises(BadEvent, match="These bytes are no event"):
        all_decoded([(1, 1, body)])


def test_many_events_are_decoded_with_their_positions_as_one_by_one() -> None:
    events = [an_event(seq=seq, payload={"n": seq}) for seq in range(1, 4)]

    back = all_decoded((seq + 10, 10, encoded(event)) for seq, event in enumerate(events))

    assert back == [decoded(encoded(event), n, change=10) for n, event in enumerate(events, start=10)]


@pytest.mark.parametrize("part", PARTS)
def test_a_payload_of_exactly_the_bound_passes(part: str) -> None:
    event = an_event(**{part: part_of_size(payload_bytes_max)})

    body = encoded_within_bounds(event)

    assert payload_bytes_max == 64 * 1024
    assert decoded(body) == event


@pytest.mark.parametrize("part", PARTS)
def test_a_payload_one_byte_over_the_bound_is_refused_with_both_sizes(part: str) -> None:
    event = an_event(**{part: part_of_size(payload_bytes_max + 1)})

    with pytest.raises(BadEvent) as refusal:
        encoded_within_bounds(event)

    assert f"The {part} of agent.spoke is 65,537 bytes; at most 65,536 fit." == refusal.value.reason
    assert refusal.value.instead


def test_the_bound_counts_bytes_and_not_characters() -> None:
    event = an_event(payload={"text": "\u00e4" * 40_000})

    with pytest.raises(BadEvent, match="80,011 bytes"):
        encoded_within_bounds(event)


def test_three_parts_that_fit_one_by_one_pass_together() -> None:
    largest = part_of_size(payload_bytes_max)
    event = an_event(payload=largest, private=largest, sealed=largest)

    assert decoded(encoded_within_bounds(event)) == event


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: [1, n], lambda n: {"deep": [{"er": n}]}])
def test_a_number_that_json_cannot_carry_is_refused(
    number: float, part: str, wrap: Callable[[float], object]
) -> None:
    world = HandWorld()
    world.add("echo")

    with pytest.raises(BadEvent) as refusal:
        world.do(Say("echo", (draft_with(part, {"score": wrap(number)}),)))

    assert "NaN or infinity" in refusal.value.reason
    assert "null" in refusal.value.instead


def test_a_null_that_is_meant_passes() -> None:
    event = an_event(payload={"winner": None, "said": "null"})

    assert decoded(encoded_within_bounds(event)).payload == {"winner": None, "said": "null"}


NOT_JSON: dict[str, Any] = {
    "an object": object(),
    "a function": len,
    "a complex number": 1 + 2j,
    "a set, whose order hangs on hashes": {"b", "a"},
    "a frozen set": frozenset({"b", "a"}),
    "bytes": b"moss",
    "a time": NOON,
    "a decimal": Decimal("1.5"),
    "an id": UUID(int=7),
    "half a character": "\ud800",
    "a key that is a number": {1: "one"},
    "a key that is none": {None: "one"},
    "a key that is half a character": {"\ud800": 1},
}


def draft_with(part: str, value: Any) -> Draft:
    fields: dict[str, Any] = {part: value}
    return Draft(kind=kinds.AGENT_SPOKE, **fields)


@pytest.mark.parametrize(
    ("what", "part"), [*((what, "payload") for what in NOT_JSON), ("bytes", "private"), ("bytes", "sealed")]
)
def test_what_is_no_json_is_refused_before_it_reaches_the_ledger(what: str, part: str) -> None:
    world = HandWorld()
    world.add("echo")
    before = world.as_bytes()

    with pytest.raises(BadEvent) as refusal:
        world.do(Say("echo", (draft_with(part, {"value": [NOT_JSON[what]]}),)))

    assert "agent.spoke" in refusal.value.reason
    assert "lists and objects with text keys" in refusal.value.instead
    assert world.as_bytes() == before


@pytest.mark.parametrize(
    ("part", "value"), [("payload", "moss"), ("payload", ["moss"]), ("private", "moss"), ("sealed", 3)]
)
def test_what_is_no_object_is_refused_before_it_reaches_the_ledger(part: str, value: Any) -> None:
    world = HandWorld()
    world.add("echo")

    with pytest.raises(BadEvent):
        world.do(Say("echo", (draft_with(part, value),)))

    assert all(decoded(body) for body in world.bodies)


def test_a_tuple_is_a_list_as_soon_as_it_is_said() -> None:
    world = HandWorld()
    world.add("echo")

    said = world.do(Say("echo", (Draft(kind=kinds.AGENT_SPOKE, payload={"pair": (1, 2)}),))).events[0]

    assert said.payload == {"pair": [1, 2]} == decoded(world.bodies[-1]).payload


def test_what_an_agent_does_to_its_payload_later_does_not_reach_the_event() -> None:
    world = HandWorld()
    world.add("echo")
    payload: Json = {"lines": ["one"]}
    said = world.do(Say("echo", (Draft(kind=kinds.AGENT_SPOKE, payload=payload),))).events[0]

    payload["lines"].append("two")

    assert said.payload == {"lines": ["one"]}


def nested(depth: int) -> Json:
    payload: Json = {}
    for _ in range(depth):
        payload = {"in": payload}
    return payload


@pytest.mark.parametrize("depth", [10, 200, 400, 800, 5_000])
def test_a_payload_is_refused_or_can_be_read_and_digested_however_deep_it_is(depth: int) -> None:
    world = HandWorld()
    world.add("echo")

    with suppress(BadEvent):
        world.do(Say("echo", (Draft(kind=kinds.AGENT_SPOKE, payload=nested(depth)),)))

    assert len(world.bodies) == 4 or depth > 10
    assert len(digest_of(map(decoded, world.bodies))) == 64


OLD_WORDS = an_event(kind="question.asked", payload={"q": "is it green"}, schema_version=1)
VERSIONS = {"question.asked": 3}
UPCASTERS: dict[tuple[str, int], Callable[[Json], Json]] = {
    ("question.asked", 1): lambda old: {"question": old["q"]},
    ("question.asked", 2): lambda old: {"text": old["question"] + "?", "tries": 1},
}


@pytest.fixture
def with_upcasters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "VERSIONS", VERSIONS)
    monkeypatch.setattr(codec, "UPCASTERS", UPCASTERS)


@pytest.mark.usefixtures("with_upcasters")
def test_an_old_payload_is_upcast_step_by_step_to_todays() -> None:
    stored = encoded(OLD_WORDS)

    today = decoded(stored, 9)

    assert today.payload == {"text": "is it green?", "tries": 1}
    assert today.schema_version == 3
    assert today.position == 9
    assert encoded(OLD_WORDS) == stored


@pytest.mark.usefixtures("with_upcasters")
def test_a_payload_of_the_version_between_takes_only_the_last_step() -> None:
    stored = encoded(an_event(kind="question.asked", payload={"question": "is it"}, schema_version=2))

    assert decoded(stored).payload == {"text": "is it?", "tries": 1}


@pytest.mark.usefixtures("with_upcasters")
def test_a_payload_of_todays_version_and_other_kinds_are_left_alone() -> None:
    today = an_event(kind="question.asked", payload={"text": "is it?"}, schema_version=3)

    assert decoded(encoded(today)) == today
    assert decoded(encoded(A_LINE)) == A_LINE


@pytest.mark.usefixtures("with_upcasters")
def test_a_missing_upcaster_is_named_with_the_step_that_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    only_first = {("question.asked", 1): UPCASTERS["question.asked", 1]}
    monkeypatch.setattr(codec, "UPCASTERS", only_first)

    with pytest.raises(BadEvent) as refusal:
        decoded(encoded(OLD_WORDS))

    assert OLD_WORDS.id in refusal.value.reason
    assert "no upcaster from version 2 to 3 of question.asked" in refusal.value.reason
    assert "upcaster" in refusal.value.instead


@pytest.mark.usefixtures("with_upcasters")
def test_an_upcaster_that_misses_a_field_is_not_taken_for_a_missing_upcaster() -> None:
    stored = encoded(an_event(kind="question.asked", payload={}, schema_version=1))

    with pytest.raises(Exception) as failure:  # noqa: PT011 (only what it must not say matters here)
        decoded(stored)

    assert "no upcaster" not in str(failure.value)


@pytest.mark.parametrize("version", [2, 7])
def test_an_event_of_a_newer_version_asks_for_an_upgrade(version: int) -> None:
    stored = encoded(an_event(schema_version=version))

    with pytest.raises(BadEvent) as refusal:
        decoded(stored)

    assert f"version {version}; this Glasshouse reads up to 1" in refusal.value.reason
    assert refusal.value.instead == "Upgrade Glasshouse."


def test_the_name_of_the_upcaster_set_changes_with_the_set_and_not_with_its_order() -> None:
    turned_round = dict(reversed(UPCASTERS.items()))
    first, second = ({step: upcaster} for step, upcaster in UPCASTERS.items())

    assert upcaster_set(UPCASTERS) == upcaster_set(turned_round)
    assert len({upcaster_set(some) for some in (UPCASTERS, first, second, {})}) == 4


@given(payloads())
def test_canonical_json_does_not_depend_on_the_order_of_keys(payload: Json) -> None:
    turned_round = dict(reversed(payload.items()))

    assert canonical_json(turned_round) == canonical_json(payload)
    assert msgspec.json.decode(canonical_json(payload)) == payload
