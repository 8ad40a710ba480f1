"""The codec: encodes events as JSON, decodes them, and upgrades old payloads with upcasters.

Always holds: stored bytes are never rewritten. When the shape of a payload changes, its kind gets a higher version in
`VERSIONS` and an upcaster from the version before; the old golden file stays. Encoded events have no position and no
change, because these belong to one store.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec.structs import force_setattr, replace

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.event import FLAT, Event, Json, payload_bytes_max, payload_levels_max

Upcaster = Callable[[Json], Json]

VERSIONS: dict[str, int] = {}
"""The payload version of each kind whose payload has changed. All other kinds are at version 1."""

EVENT_VERSION = 1
"""The version of the fields of `Event` and `ModelUse`. A new field needs a default, so that older events can still be
decoded."""

UPCASTERS: dict[tuple[str, int], Upcaster] = {}
"""(kind, old version) -> the function that converts a payload to the next version."""

_encoder = msgspec.json.Encoder()
_sorted_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(Event)


def encoded(event: Event) -> bytes:
    """The event as compact JSON, without its position and change."""
    return _encoder.encode(event if event.position is None else _unplaced(event))


def _unplaced(event: Event) -> Event:
    return replace(event, position=None, change=None)


def decoded(body: bytes | str, position: int | None = None, *, change: int | None = None) -> Event:
    """The event in `body`, upgraded to the current payload version."""
    event = upgraded(raw_decoded(body))
    if position is not None:
        force_setattr(event, "position", position)
        force_setattr(event, "change", change)
    return event


def upgraded(event: Event) -> Event:
    """The event with the current version of its payload."""
    return event if event.schema_version == VERSIONS.get(event.kind, 1) else _upcast(event)


class BodyStart(msgspec.Struct, frozen=True, gc=False):
    """The fields of a segment that determine how the body of each of its events begins.

    A store cuts this start off and restores it on reading (ADR 0052).
    """

    session_id: str
    graph_id: str
    base: int

    def without_start(self, body: str, seq: int) -> str:
        """The body without this start; the whole body if it starts differently."""
        rest = body.removeprefix(self.text(seq))
        return body if rest is body else "{" + rest

    def whole(self, kept: str, seq: int) -> str:
        """The whole body, given the stored part. A value that is not text is damaged, and decoding refuses it."""
        if type(kept) is not str or kept.startswith('{"id":'):
            return kept
        return self.text(seq) + kept[1:]

    def text(self, seq: int) -> str:
        """The JSON that the body of the event with this seq begins with."""
        name = self.session_id
        digits = str(seq)
        graph_id = self.graph_id
        return (
            f'{{"id":"{name}.{digits}","session_id":"{name}","graph_id":"{graph_id}",'
            f'"seq":{digits},"lamport":{self.base + seq},'
        )


def raw_decoded(body: bytes | str) -> Event:
    """The event in `body` as it was written, without upgrading its payload."""
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as wrong:
        raise BadEvent(f"These bytes are no event: {wrong}.") from wrong


def all_decoded(rows: Iterable[tuple[int, int, bytes | str]]) -> list[Event]:
    """The events of many (position, change, body) rows."""
    decode = _decoder.decode
    events = []
    try:
        for position, change, body in rows:
            event = decode(body)
            if VERSIONS or event.schema_version != 1:
                event = decoded(body)
            force_setattr(event, "position", position)
            force_setattr(event, "change", change)
            events.append(event)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as wrong:
        raise BadEvent(f"These bytes are no event: {wrong}.") from wrong
    return events


def _upcast(event: Event) -> Event:
    current = VERSIONS.get(event.kind, 1)
    payload = event.payload
    version = event.schema_version
    while version < current:
        upcaster = UPCASTERS.get((event.kind, version))
        if upcaster is None:
            raise BadEvent(
                f"{event.id}: no upcaster from version {version} to {version + 1} of {event.kind}.",
                "Register an upcaster in glasshouse.events.codec.",
            )
        payload = upcaster(payload)
        version += 1
    if version > current:
        raise BadEvent(
            f"{event.id} is a {event.kind} of version {version}; this Glasshouse reads up to {current}.",
            "Upgrade Glasshouse.",
        )
    return replace(event, payload=payload, schema_version=version)


def upcaster_set(upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS) -> str:
    """A short hash of the registered upcasters. Caches made with another set of upcasters are not used."""
    names = ",".join([f"event@{EVENT_VERSION}", *sorted(f"{kind}@{version}" for kind, version in upcasters)])
    return blake2b(names.encode(), digest_size=6).hexdigest()


def json_copy(kind: str, value: Json) -> Json:
    """A deep copy of the value, as a JSON round trip would give it; raises `BadEvent` if it is not JSON."""
    if not isinstance(value, dict):
        raise _not_json(kind, f"it is {_sort_of(value)}")
    for key, part in value.items():
        if type(key) is not str or type(part) not in FLAT:
            copy: Json = _copied(kind, value, 1)
            return copy
    return {**value}


def _copied(kind: str, value: Any, depth: int) -> Any:
    if type(value) in FLAT or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, str):  # Some packages give texts of a class of their own.
        return str.__str__(value)
    if depth > payload_levels_max:
        raise _not_json(kind, f"it is nested more than {payload_levels_max} levels deep")
    if isinstance(value, dict):
        wrong = next((key for key in value if type(key) is not str), None)
        if wrong is not None:
            raise _not_json(kind, f"the key {wrong!r} is {_sort_of(wrong)}")
        return {key: _copied(kind, part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(kind, part, depth + 1) for part in value]
    if isinstance(value, float):
        raise BadEvent(
            f"The payload of {kind} holds NaN or infinity, which JSON cannot carry.",
            "Leave the field out, or write null.",
        )
    raise _not_json(kind, f"it holds {_sort_of(value)}")


def _sort_of(value: object) -> str:
    return f"a {type(value).__name__}"


def _not_json(kind: str, wrong: object) -> BadEvent:
    return BadEvent(
        f"The payload of {kind} is no JSON object: {wrong}.",
        "Use text, numbers, lists and objects with text keys.",
    )


def encoded_within_bounds(event: Event, part: Event | Json | None = None) -> bytes:
    """The event's bytes, or those of a part of it; raises `BadEvent` if it is too large or cannot be written as JSON."""
    try:
        body = _encoder.encode(event if part is None else part)
    except (TypeError, ValueError, OverflowError, RecursionError) as wrong:
        raise _not_json(event.kind, wrong) from wrong
    if len(body) > payload_bytes_max and event.kind not in kinds.ENGINE:
        _check_sizes(event)
    return body


def payload_within_bounds(line: Event) -> str:
    """The JSON of the payload of a public line: all that its place and its names do not say. It is refused as the line is."""
    return encoded_within_bounds(line, line.payload).decode()


def _check_sizes(event: Event) -> None:
    for name, part in (("payload", event.payload), ("private", event.private), ("sealed", event.sealed)):
        size = 0 if part is None else len(_encoder.encode(part))
        if size > payload_bytes_max:
            raise BadEvent(
                f"The {name} of {event.kind} is {size:,} bytes; at most {payload_bytes_max:,} fit.",
                "Shorten it, or say it in several events.",
            )


def canonical_json(value: Any) -> bytes:
    """Any JSON value with sorted keys and no white space: the same bytes on every machine."""
    return _sorted_encoder.encode(value)


def content_of(event: Event) -> Json:
    """All fields except position and change. Two events with the same id must have equal content."""
    plain: Json = msgspec.to_builtins(_unplaced(event))
    return plain
