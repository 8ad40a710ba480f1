"""The reply schema: the kinds that a creature may answer with, their fields, and the JSON Schema for both.

Always holds: the schema is `{"anyOf": [...]}`. It has one branch for each kind in the order of `may_emit`, then one for
each offered tool, then one for passing. Every branch names all its fields and allows no others. The fields of a kind
are required, in the order kind, thought, text, mood, others: a model that writes from left to right thinks before it
speaks. A tool's arguments stand in one field, `arguments`. A field that cites lines is a choice of the lines that the
prompt shows; a kind that must cite one is left out where none is shown. No text may be empty. Texts of the engine's own
fields are bounded below 1,000 characters, because grammars of servers refuse longer ones. Kinds that only the engine
writes are never offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.tools import ToolOffer

schema_cache_values_max: Final = 1_024
"""How many are kept: the schemas of answers; more are computed again."""

NOBODY: Final = "nobody"
"""The winner in a verdict without a winner."""

_WINNER: Final = "winner"
_CORE_FIELDS: Final[dict[str, dict[str, Any]]] = {
    kinds.AGENT_SPOKE: {"text": "string"},
    kinds.AGENT_THOUGHT: {"text": "string"},
    kinds.AGENT_REFLECTED: {"text": "string", "rests_on": "some_events"},
    kinds.JUDGE_VERDICT: {_WINNER: _WINNER, "text": "string", "cites": "some_events"},
    kinds.WORLD_OBSERVED: {"text": "string"},
}
_VERDICT_WITHOUT_CONTEST: Final[dict[str, Any]] = {"text": "string", "cites": "some_events"}
_PLAIN_FIELDS: Final[dict[str, Any]] = {"text": "string"}
_RESERVED: Final = frozenset({"kind", "thought", "mood"})

items_max: Final = 16
"""A reply with a longer list is not accepted."""
mood_asked_chars_max: Final = 40
"""The schema asks for no longer mood."""
reason_asked_chars_max: Final = 240
"""The schema asks for no longer reason to pass."""
field_asked_chars_max: Final = 240
"""The schema asks for no longer text in another field of a kind."""
line_asked_chars_max: Final = 960
"""The schema asks for no longer line, whatever `say_words_max` is."""
chars_a_word: Final = 16
"""What a line has room for in characters, for each word of `say_words_max`: twice the words, of an ordinary length."""
length_asked_max: Final = 1_000
"""Servers refuse, or choke on, grammars with longer texts."""


def _text_schema(chars_max: int) -> Json:
    return {"type": "string", "minLength": 1, "maxLength": chars_max}


_STRING: Final = _text_schema(field_asked_chars_max)
_MOOD: Final = _text_schema(mood_asked_chars_max)
_REASON: Final = _text_schema(reason_asked_chars_max)
_REF: Final[Json] = {"type": "string", "description": "the number of a line"}
_REFS: Final[Json] = {"type": "array", "items": _REF, "maxItems": items_max}
_SOME_REFS: Final[Json] = {**_REFS, "minItems": 1}
_SCHEMAS: Final[dict[str, Json]] = {
    "string": _STRING,
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "strings": {"type": "array", "items": _STRING, "maxItems": items_max},
    "event": _REF,
    "events": _REFS,
    "some_events": _SOME_REFS,
}


class ReplySchema(msgspec.Struct, frozen=True, eq=False):
    """The schema of a creature's replies, before it is known which lines they can cite. It is cached, so that two are
    the same exactly if they are one object."""

    value: Json
    cites: bool
    """Whether a field of it cites lines."""

    def with_refs(self, refs: Sequence[str]) -> Json:
        """The schema of a reply to a prompt that shows the lines with these refs."""
        if not self.cites:
            return self.value
        ref = {**_REF, "enum": [*refs]}
        cited = {
            id(_REF): ref,
            id(_REFS): {**_REFS, "items": ref} if refs else {**_REFS, "maxItems": 0},
            id(_SOME_REFS): {**_SOME_REFS, "items": ref},
        }
        branches = [
            {
                **branch,
                "properties": {n: cited.get(id(part), part) for n, part in branch["properties"].items()},
            }
            for branch in self.value["anyOf"]
            if refs or not any(part is _REF or part is _SOME_REFS for part in branch["properties"].values())
        ]
        return {"anyOf": branches}


def is_ref(schema: Json) -> bool:
    """Whether a field cites one line, or several."""
    return schema is _REF or schema is _REFS or schema is _SOME_REFS


@lru_cache(maxsize=schema_cache_values_max)
def kinds_offered(may_emit: tuple[str, ...]) -> tuple[str, ...]:
    """The kinds a creature may answer with, each once, in the order of its manifest."""
    return tuple(dict.fromkeys(kind for kind in may_emit if kind not in kinds.NO_LINES))


def fields_of(kind: str, playbill: Playbill) -> dict[str, Any]:
    """Field -> the name of its type, or the words allowed, for a kind. A scenario may add fields to core kinds."""
    core = _CORE_FIELDS.get(kind)
    added = playbill.kinds.get(kind)
    if kind == kinds.JUDGE_VERDICT and not playbill.competition.may_win:
        core = _VERDICT_WITHOUT_CONTEST
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
    playbill = moment.playbill
    character = moment.character
    handles = handles_around(moment)
    may_emit = character.may_emit
    words_max = character.voice.say_words_max
    own_kinds = canonical_json(playbill.kinds) if playbill.kinds else b""
    thought_chars = moment.depth.thought_asked_chars_max
    key: tuple[Any, ...] = (may_emit, words_max, own_kinds, handles, thought_chars)
    if kinds.JUDGE_VERDICT in may_emit:
        key = (*key, playbill.competition.may_win)
    if moment.tools:
        # What a server says of its tool is not part of the schema: it stands quoted in the user message.
        offers = [[tool.name, tool.is_foreign or tool.description, tool.parameters] for tool in moment.tools]
        key = (*key, canonical_json(offers))
    schema = _schema_cache.get(key)
    if schema is None:
        if len(_schema_cache) >= schema_cache_values_max:
            del _schema_cache[next(iter(_schema_cache))]
        said = _text_schema(min(words_max * chars_a_word, line_asked_chars_max))
        thought = _text_schema(thought_chars)
        branches = [_branch(kind, thought, said, playbill, handles) for kind in kinds_offered(may_emit)]
        cites = any(is_ref(part) for branch in branches for part in branch["properties"].values())
        branches += [_tool_branch(offer, thought) for offer in moment.tools]
        branches.append(_object({"kind": {"const": kinds.AGENT_PASSED}, "reason": _REASON}))
        schema = _schema_cache[key] = ReplySchema({"anyOf": branches}, cites)
    return schema


def _branch(kind: str, thought: Json, said: Json, playbill: Playbill, handles: tuple[str, ...]) -> Json:
    fields = {
        name: said if name == "text" else _field_schema(sort, playbill, handles)
        for name, sort in fields_of(kind, playbill).items()
    }
    text = {"text": fields.pop("text")} if "text" in fields else {}
    return _object({"kind": {"const": kind}, "thought": thought, **text, "mood": _MOOD, **fields})


def _tool_branch(offer: ToolOffer, thought: Json) -> Json:
    """A call. The arguments are an object of their own, so a parameter may have any name (ADR 0092)."""
    parameters = offer.parameters
    properties = {name: _bounded(part) for name, part in parameters.get("properties", {}).items()}
    required = [name for name in parameters.get("required", ()) if name in properties]
    fields = {
        "kind": {"const": kinds.TOOL_CALLED},
        "thought": thought,
        "tool": {"const": offer.name},
        "arguments": {**_object(properties), "required": required},
    }
    return {**_object(fields), **({} if offer.is_foreign else {"description": offer.description})}


def _bounded(schema: Json) -> Json:
    """An argument's schema without a length that servers refuse. The tool itself still holds to it."""
    is_long = schema.get("maxLength", 0) >= length_asked_max
    return {name: value for name, value in schema.items() if name != "maxLength"} if is_long else schema


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _field_schema(sort: Any, playbill: Playbill, handles: tuple[str, ...]) -> Json:
    words = words_allowed(sort, playbill, handles)
    if words is not None:
        return {"enum": list(words)}
    return _SCHEMAS.get(sort, _STRING) if isinstance(sort, str) else _STRING
