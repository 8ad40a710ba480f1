"""Readings: what is the same of an event in every prompt that shows it, computed once.

Always holds: a reading is a function of what every hearer may see: the speaker's handle, the kind and the payload, never an
id, a turn or a time. No text in it can end its line or begin another.
"""

from __future__ import annotations

import re
from typing import Final
from zlib import crc32

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, TERRARIUM, VISITOR, Event, Json, is_event_id
from glasshouse.turns.moment import Origin
from glasshouse.turns.quoting import compact_json, cut, one_line, quoted

line_chars_max: Final = 1_200
field_chars_max: Final = 240
fields_chars_max: Final = 800
reading_cache_events_max: Final = 32_768

"""Kinds that never are a line."""

_NUMBERS_FROM: Final = 10_000
_NUMBERS: Final = 90_000
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_PLAIN_WORD: Final = re.compile(r"[a-z]{4,}")
"""The same where every letter is one of these."""
_HOLLOW: Final = frozenset(
    re.findall(
        r"\w+",
        "about after again also because been before being between both came cannot come could does done "
        "down each even ever every from gave give goes gone have here into itself just know like made "
        "make many maybe more most much must never nothing once only other over quite really said same "
        "shall should some something still such take than that their them then there these they thing "
        "think this those though through upon very want well went were what when where which while whom "
        "whose will with without would your yours ",
    )
)


class Reading(msgspec.Struct, frozen=True, gc=False):
    """What is the same of an event in every prompt it stands in."""

    payload: Json
    kind: str
    actor: str
    known_as: str | None
    number: int
    head: str
    body: str
    plain: str | None
    """The whole line under its bare number; none if it cites others, which are shown by numbers of their own."""
    rest: Json
    points: dict[str, list[str]]
    words: tuple[str, ...]
    importance: int


def is_line_for(creature_id: str, event: Event) -> bool:
    """Whether an event that a creature sees is a line to it."""
    kind = event.kind
    return kind not in kinds.NO_LINES and (kind not in kinds.INNER or event.actor == creature_id)


def speaker_of(actor: str, known_as: str | None) -> tuple[str, Origin]:
    """The name a line shows for its actor, and where the line comes from."""
    if actor == VISITOR:
        return "visitor", "visitor"
    if actor in (CONDUCTOR, TERRARIUM):
        return "world", "world"
    return one_line(known_as or "") or "somebody", "cast"


_reading_cache: dict[int, Reading] = {}
"""By the identity of a payload, which an entry keeps alive, so that an identity is never mistaken for another."""


def reading_of(event: Event, known_as: str | None) -> Reading:
    """The reading of an event whose actor has this handle."""
    reading = _reading_cache.get(id(event.payload))
    if (
        reading is not None
        and reading.kind == event.kind
        and reading.actor == event.actor
        and reading.known_as == known_as
    ):
        return reading
    return _kept(_read(event, known_as))


def _kept(reading: Reading) -> Reading:
    if len(_reading_cache) >= reading_cache_events_max:
        del _reading_cache[next(iter(_reading_cache))]
    _reading_cache[id(reading.payload)] = reading
    return reading


def _read(event: Event, known_as: str | None) -> Reading:
    handle, origin = speaker_of(event.actor, known_as)
    payload, kind = event.payload, event.kind
    text = payload.get("text")
    rest, points = ({}, {}) if len(payload) == 1 and "text" in payload else _parted(payload)
    head, body = f"{handle} ({origin}, {kind}): ", body_of(text, rest)
    said = head + body
    number = _NUMBERS_FROM + crc32(said.encode()) % _NUMBERS
    return Reading(
        payload=payload,
        kind=kind,
        actor=event.actor,
        known_as=known_as,
        number=number,
        head=head,
        body=body,
        plain=None if points else f"[#{number}] {said}",
        rest=rest,
        points=points,
        words=content_words(body),
        importance=_importance(kind, text),
    )


def _parted(payload: Json) -> tuple[Json, dict[str, list[str]]]:
    """The fields beside the text: those that are shown as they are, and the event ids in those that cite."""
    others = {field: value for field, value in payload.items() if field != "text"}
    points = {field: ids for field, value in others.items() if (ids := _ids_in(value))}
    return {field: value for field, value in others.items() if field not in points}, points


def body_of(text: object, rest: Json) -> str:
    """What stands behind a line's colon: the quoted text, then the other fields if there are any."""
    said = quoted(text, line_chars_max) if isinstance(text, str) else '""'
    return f"{said} {_fields(rest)}" if rest else said


def _fields(rest: Json) -> str:
    """The other fields as JSON; long texts are cut, and the last fields left out, until they fit."""
    written = compact_json(rest)
    if len(written) <= fields_chars_max:
        return written
    parts: list[str] = []
    room = fields_chars_max - 2
    for field, value in rest.items():
        short = cut(value, field_chars_max) if isinstance(value, str) else value
        part = compact_json({cut(field, field_chars_max): short})[1:-1]
        if len(part) + 1 > room:
            continue
        parts.append(part)
        room -= len(part) + 1
    return "{" + ",".join(parts) + "}"


def _ids_in(value: object) -> list[str]:
    """The event ids that a field holds, if it holds nothing else."""
    if isinstance(value, list):
        return value if all(is_event_id(one) for one in value) else []
    return [value] if is_event_id(value) else []


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that say what it is about, each once, without an ending `s`, in the order they come."""
    pattern = _PLAIN_WORD if text.isascii() else _WORD
    words = dict.fromkeys(pattern.findall(text.casefold()))
    return tuple(dict.fromkeys([word.rstrip("s") for word in words if word not in _HOLLOW]))


def _importance(kind: str, text: object) -> int:
    weight = _KIND_WEIGHTS.get(kind, 1)
    return weight + 1 if isinstance(text, str) and "?" in text else weight


_KIND_WEIGHTS: Final = {
    kinds.USER_INJECTED: 4,
    kinds.JUDGE_VERDICT: 4,
    kinds.AGENT_REFLECTED: 3,
    kinds.WORLD_OBSERVED: 2,
}
