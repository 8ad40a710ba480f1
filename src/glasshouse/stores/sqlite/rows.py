"""How an event stands in its row: the number of its shape, its turn, its time, its payload, and the rest (ADR 0111).

Theory of operation. The body of an event, without what its place says of it (ADR 0052), is JSON in a fixed order of fields:

    {"turn":7,"actor":"ada","kind":"agent.spoke","payload":{…},"created_at":"…Z","run_id":"…","channel_id":"…","channel":"…",…}

Actor, kind, run and channel repeat from event to event, so they are kept once, as a *shape*. The time is a whole number of
microseconds. The payload and what stands behind the names are kept as they were written. The parts of a body, joined again in
the same order, are the same body, byte for byte. To read an event, nothing is joined: it is built from its columns.

Always holds: what could not be joined again exactly is not cut. Its row has no shape, and `rest` is the whole body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import astuple, force_setattr

from glasshouse.events.codec import VERSIONS, BodyStart, upgraded
from glasshouse.events.event import Event, Json
from glasshouse.events.model_use import ModelUse
from glasshouse.runtime.store_port import EventNames

Columns = tuple[int | None, int | None, int | None, str | None, str]
"""Shape, turn, time in microseconds since 1970, payload and rest, as an event's row has them. An event without a rest has an
empty one: to bind NULL, sqlite3 searches for an adapter first."""

seconds_remembered_max: Final = 4_096
"""Kept so as not to be computed again: times as text, to the second."""

_PAYLOAD: Final = ',"payload":'
_TIME: Final = ',"created_at":"'
_STRING: Final = r'("(?:[^"\\]|\\.)*")'
_BEFORE: Final = re.compile(
    rf'\{{"turn":(0|[1-9][0-9]{{0,17}}),"actor":{_STRING},"kind":{_STRING},"payload":'
)
_BEHIND: Final = re.compile(
    r',"created_at":"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{6})?)Z"'
    rf'(?:,"run_id":{_STRING})?(?:,"channel_id":{_STRING})?(?:,"channel":{_STRING})?'
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_second_texts_cache: dict[int, str] = {}
_json: Final = msgspec.json.Encoder()
_decode: Final = msgspec.json.Decoder(str).decode
_scanner: Final = json.JSONDecoder()


class _Rest(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The fields of an event that neither its place, its shape nor its other columns give."""

    private: Json | None = None
    sealed: Json | None = None
    caused_by: str | None = None
    model: ModelUse | None = None
    tools: tuple[str, ...] = ()
    schema_version: int = 1


_decode_rest: Final = msgspec.json.Decoder(_Rest).decode
_decode_payload: Final = msgspec.json.Decoder(Json).decode
_REST_FIELDS: Final = _Rest.__struct_fields__


class Shape(msgspec.Struct, frozen=True, gc=False):
    """The fields that many events share: its number in the file, their names, and the JSON before the payload and behind the
    time."""

    number: int
    names: EventNames
    before: str
    behind: str

    @classmethod
    def of(cls, number: int, names: EventNames) -> Shape:
        """The shape of events with these names."""
        actor, kind, run_id, channel_id, channel = names
        behind = 'Z"'
        for field, name in (("run_id", run_id), ("channel_id", channel_id), ("channel", channel)):
            if name is not None:
                behind += f',"{field}":{_text(name)}'
        return cls(number, names, f',"actor":{_text(actor)},"kind":{_text(kind)},"payload":', behind)

    def joined(self, turn: int, at: int, payload: str, rest: str) -> str:
        """The body that these columns were cut from, without its start and its opening brace."""
        ending = f",{rest[1:]}" if rest else "}"
        return f'"turn":{turn}{self.before}{payload},"created_at":"{time_text(at)}{self.behind}{ending}'


def event_in(row: Sequence[Any], start: BodyStart, shape: Shape) -> Event:
    """The event in a row that has a shape. Raises `TypeError`, `OverflowError` or a decoder's error if a value is damaged."""
    position, change, seq, _, turn, at, payload, rest = row[:8]
    if type(seq) is not int or type(turn) is not int or type(at) is not int:
        raise TypeError("an event's seq, turn or time is no whole number.")
    session_id = start.session_id
    actor, kind, run_id, channel_id, channel = shape.names
    # More than 15 keywords would be passed as a dict, which takes twice as long. So the rest is set afterwards.
    event = Event(
        id=f"{session_id}.{seq}",
        session_id=session_id,
        graph_id=start.graph_id,
        seq=seq,
        lamport=start.base + seq,
        turn=turn,
        actor=actor,
        kind=kind,
        payload=_decode_payload(payload),
        created_at=_EPOCH + timedelta(0, 0, at),
        run_id=run_id,
        channel_id=channel_id,
        channel=channel,
        position=position,
        change=change,
    )
    if rest:
        for field, value in zip(_REST_FIELDS, astuple(_decode_rest(rest)), strict=True):
            force_setattr(event, field, value)
    return upgraded(event) if VERSIONS or event.schema_version != 1 else event


def names_of(event: Event) -> EventNames:
    """What the shape of an event says."""
    return event.actor, event.kind, event.run_id, event.channel_id, event.channel


def microseconds(at: datetime) -> int:
    """A time in UTC as a whole number: microseconds since the beginning of 1970."""
    since = at - _EPOCH
    return since.days * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds


def time_text(at: int) -> str:
    """A whole number as the time that an event's JSON has, without the Z at its end."""
    second, fraction = divmod(at, 1_000_000)
    text = _second_texts_cache.get(second) or _second_text(second)
    return f"{text}.{fraction:06}" if fraction else text


def _second_text(second: int) -> str:
    if len(_second_texts_cache) >= seconds_remembered_max:
        _second_texts_cache.clear()
    text = (_EPOCH + timedelta(seconds=second)).isoformat()[:19]
    _second_texts_cache[second] = text
    return text


def cut_quickly(event: Event, body: str, start: BodyStart, shape: Shape) -> Columns | None:
    """The columns of an event that was just encoded as this whole body. None if only `cut` can tell.

    Nothing is parsed: the event says what stands where.
    """
    at = event.created_at
    parts = body.split(_TIME)
    if len(parts) != 2 or at.tzinfo is not UTC:
        return None
    if event.graph_id != start.graph_id or event.lamport != start.base + event.seq:
        return None
    ending = parts[1]
    end = (26 if at.microsecond else 19) + len(shape.behind)
    rest = "" if ending[end] == "}" else "{" + ending[end + 1 :]
    return shape.number, event.turn, microseconds(at), parts[0].partition(_PAYLOAD)[2], rest


def columns_of(body: str, shape_of: Callable[[EventNames], Shape]) -> Columns:
    """The columns of any body without its start. `shape_of` gives the shape of its names, if it can be cut."""
    parts = cut(body)
    if parts is None:
        return None, None, None, None, body
    return shape_of(parts.names).number, parts.turn, parts.at, parts.payload, parts.rest


class Cut(msgspec.Struct, frozen=True, gc=False):
    """A body in parts."""

    names: EventNames
    turn: int
    at: int
    payload: str
    rest: str


def cut(body: str) -> Cut | None:
    """The parts of any body without its start. None if they could not be joined to the same body again."""
    before = _BEFORE.match(body)
    end = 0 if before is None else _end_of_payload(body, before.end())
    behind = _BEHIND.match(body, end)
    if before is None or behind is None:
        return None
    try:
        actor, kind, *others = [
            name and _decode(name) for name in (before[2], before[3], behind[2], behind[3], behind[4])
        ]
        run_id, channel_id, channel = others
        at = microseconds(datetime.fromisoformat(f"{behind[1]}+00:00"))
        ending = body[behind.end() :]
        rest = "" if ending == "}" else "{" + ending[1:]
        parts = Cut(
            (str(actor), str(kind), run_id, channel_id, channel),
            int(before[1]),
            at,
            body[before.end() : end],
            rest,
        )
        whole = "{" + Shape.of(0, parts.names).joined(parts.turn, at, parts.payload, rest)
    except (ValueError, msgspec.DecodeError, UnicodeError):
        return None
    return parts if whole == body else None


def _end_of_payload(body: str, start: int) -> int:
    """Where the payload that begins at `start` ends; -1 if that cannot be told."""
    if body.count(_TIME) == 1:
        return body.find(_TIME)
    try:  # The payload, or a part behind it, has a field of the same name.
        return _scanner.raw_decode(body, start)[1]
    except (ValueError, RecursionError):
        return -1


def _text(name: str) -> str:
    return _json.encode(name).decode()
