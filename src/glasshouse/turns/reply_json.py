"""The JSON object in a reply: in a fence, after chatter, with raw line ends in its texts or commas too many.

Always holds: never raises; an object is taken as it was written or not at all. Nothing is guessed: only a comma before
a closing bracket, outside of any text, is taken away, because it cannot mean anything.
"""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import Any, Final

import msgspec

from glasshouse.events.event import Json

objects_tried_max: Final = 8

_SPURIOUS_COMMA: Final = re.compile(r'("(?:[^"\\]|\\.)*(?:"|\Z))|,(?=\s*[}\]])', re.DOTALL)


def object_in(text: str) -> Json | None:
    """The first object in a text that has a kind; else the first object; else none."""
    try:
        whole = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        return whole
    return _first_object(text) or _first_object(_SPURIOUS_COMMA.sub(lambda found: found[1] or "", text))


def _first_object(text: str) -> Json | None:
    first: Json | None = None
    at = text.find("{")
    for _ in range(objects_tried_max):
        if at < 0:
            break
        found, end = _object_at(text, at)
        if found is not None and "kind" in found:
            return found
        first = first or found
        at = text.find("{", end)
    return first


def _object_at(text: str, at: int) -> tuple[Json | None, int]:
    try:
        found, end = _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at + 1
    return (found, end) if isinstance(found, dict) else (None, at + 1)


def _refused(constant: str) -> Any:
    raise ValueError(constant)


_decoder: Final = JSONDecoder(strict=False, parse_constant=_refused)
"""Lets raw line ends in texts pass, which small models write; refuses NaN and infinity, which JSON does not know."""
