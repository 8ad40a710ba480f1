"""The reply schema: the kinds that a creature may answer with, their fields, and the JSON Schema for both.

Always holds: the schema is `{"anyOf": [...]}`. It has one branch for each kind in the order of `may_emit`, then one for
each offered tool, then one for passing. Every branch names all its fields and allows no others. Kinds that only the
engine writes are never offered.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import msgspec

from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.turns.moment.line_text import compact_json
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.tools import RESERVED_ARGUMENTS, ToolOffer

schema_cache_values_max: Final = 1_024

NOBODY: Final = "nobody"
"""The winner in a verdict without a winner."""

_WINNER: Final = "winner"
_CORE_FIELDS: Final[dict[str, dict[str, Any]]] = {
    kinds.AGENT_SPOKE: {"text": "string"},
    kinds.AGENT_THOUGHT: {"text": "string"},
    kinds.AGENT_REFLECTED: {"text": "string", "rests_on": "events"},
    kinds.JUDGE_VERDICT: {_WINNER: _WINNER, "text": "string", "cites": "events"},
    kinds.WORLD_OBSERVED: {"text": "string"},
}
_PLAIN_FIELDS: Final[dict[str, Any]] = {"text": "string"}
_RESERVED: Final = frozenset({"kind", "thought", "mood"})

_STRING: Final[Json] = {"type": "string"}
_REF: Final[Json] = {"type": "string", "description": "the #number of a line"}
_SCHEMAS: Final[dict[str, Json]] = {
    "string": _STRING,
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "strings": {"type": "array", "items": _STRING},
    "event": _REF,
    "events": {"type": "array", "items": _REF},
}


class ReplySchema(msgspec.Struct, frozen=True):
    """The schema of a reply, and its text as one line for the prompt."""

    value: Json
    text: str


@lru_cache(maxsize=schema_cache_values_max)
def kinds_offered(may_emit: tuple[str, ...]) -> tuple[str, ...]:
    """The kinds a creature may answer with, each once, in the order of its manifest."""
    return tuple(dict.fromkeys(kind for kind in may_emit if kind not in kinds.NO_LINES))


def fields_of(kind: str, playbill: Playbill) -> dict[str, Any]:
    """Field -> the name of its type, or the words allowed, for a kind. A scenario may add fields to core kinds."""
    core, added = _CORE_FIELDS.get(kind), playbill.kinds.get(kind)
    if added is None:
        return _PLAIN_FIELDS if core is None else core
    own = {name: sort for name, sort in added.items() if name not in _RESERVED}
    return own if core is None else {**core, **own, **core}


def words_allowed(sort: Any, playbill: Playbill, handles: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words allowed in a field; none if any text is allowed."""
    if sort == _WINNER:
        return (*playbill.competition.may_win, NOBODY)
    if sort == "creature":
        return handles or None
    return tuple(str(word) for word in sort) if isinstance(sort, list | tuple) else None


def handles_around(moment: Moment) -> tuple[str, ...]:
    """The handles that a field of type `creature` may name."""
    return tuple([neighbour.handle for neighbour in moment.around.neighbours])


_schema_cache: dict[tuple[Any, ...], ReplySchema] = {}


def reply_schema(moment: Moment) -> ReplySchema:
    """The schema of this moment's reply."""
    playbill, may_emit, handles = moment.playbill, moment.character.may_emit, handles_around(moment)
    key: tuple[Any, ...] = (may_emit, canonical_json(playbill.kinds) if playbill.kinds else b"", handles)
    if kinds.JUDGE_VERDICT in may_emit:
        key = (*key, playbill.competition.may_win)
    if moment.tools:
        offers = [[offer.name, offer.description, offer.parameters] for offer in moment.tools]
        key = (*key, canonical_json(offers))
    schema = _schema_cache.get(key)
    if schema is None:
        if len(_schema_cache) >= schema_cache_values_max:
            del _schema_cache[next(iter(_schema_cache))]
        value: Json = {
            "anyOf": [
                *[_branch(kind, playbill, handles) for kind in kinds_offered(may_emit)],
                *[_tool_branch(offer) for offer in moment.tools],
                _object({"kind": {"const": kinds.AGENT_PASSED}, "reason": _STRING}, ["kind", "reason"]),
            ]
        }
        schema = _schema_cache[key] = ReplySchema(value, compact_json(value))
    return schema


def _branch(kind: str, playbill: Playbill, handles: tuple[str, ...]) -> Json:
    fields = {
        name: _field_schema(sort, playbill, handles) for name, sort in fields_of(kind, playbill).items()
    }
    return _object({**_start(kind), **fields}, ["kind", "thought", *fields])


def _tool_branch(offer: ToolOffer) -> Json:
    arguments: Json = offer.parameters.get("properties", {})
    fields = {name: schema for name, schema in arguments.items() if name not in RESERVED_ARGUMENTS}
    properties = {**_start(kinds.TOOL_CALLED), "tool": {"const": offer.name}, **fields}
    required = ["kind", "thought", "tool", *offer.parameters.get("required", ())]
    return _object(properties, required, description=offer.description)


def _start(kind: str) -> Json:
    return {"kind": {"const": kind}, "thought": _STRING, "mood": _STRING}


def _object(properties: Json, required: list[str], **described: str) -> Json:
    fields = {"properties": properties, "required": required, "additionalProperties": False}
    return {"type": "object", **described, **fields}


def _field_schema(sort: Any, playbill: Playbill, handles: tuple[str, ...]) -> Json:
    words = words_allowed(sort, playbill, handles)
    if words is not None:
        return {"enum": list(words)}
    return _SCHEMAS.get(sort, _STRING) if isinstance(sort, str) else _STRING
