"""`Event`, an immutable fact in the ledger, and `Draft`, an event before the engine stamps it.

Always holds: an unknown field is an error; every kind matches the pattern in `kinds`; an event's id is
`session_id.seq`. `position` and `change` are set by the store that read the event. They are not part of its content:
another store has other values. Both structs hold JSON, which has no cycles, so the garbage collector does not track
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import reduce
from typing import Any, Final, TypeAlias, TypeGuard

import msgspec
from msgspec.structs import replace

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.kinds import WITH_TEXT, check_kind, well_formed_cache
from glasshouse.events.model_use import NOTHING, Call, ModelUse, Usage, usage_of
from glasshouse.reprs import repr_of

Json: TypeAlias = dict[str, Any]
FLAT: Final = frozenset({str, int, bool, type(None)})
"""The types of JSON values that hold no other value, and need no copy."""

payload_bytes_max = 64 * 1024
"""A draft with a larger payload, private or sealed part is refused (`BadEvent`)."""
payload_levels_max = 64
"""A payload nested deeper is refused (`BadEvent`)."""
seq_digits_max = 18
"""A longer number is not accepted as part of an event id."""

TERRARIUM = "terrarium"
CONDUCTOR = "conductor"
VISITOR = "visitor"
RESERVED_ACTORS = frozenset({TERRARIUM, CONDUCTOR, VISITOR})

_EVENT_ID: Final = re.compile(rf"s-[0-9a-f]{{16}}\.[0-9]{{1,{seq_digits_max}}}")


class Draft(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, kw_only=True):
    """What an agent returns. It has no actor, turn, id or time, so an agent cannot forge them."""

    __repr__ = repr_of("kind", "channel", "payload")

    kind: str
    payload: Json = msgspec.field(default_factory=dict)
    channel: str | None = None
    private: Json | None = None
    sealed: Json | None = None

    def __post_init__(self) -> None:
        if self.kind not in well_formed_cache:
            check_kind(self.kind)


def check_text(draft: Draft) -> None:
    """Refuse a draft that says something without a text."""
    payload: object = draft.payload  # It may be anything: whether it is JSON is checked later.
    if draft.kind in WITH_TEXT and isinstance(payload, dict) and not isinstance(payload.get("text"), str):
        raise BadEvent(f"A draft of {draft.kind} has no text.", 'Write payload={"text": "..."}.')


class Event(
    msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """One fact. Two events with the same id have the same content."""

    __repr__ = repr_of("id", "kind", "actor", "turn", "payload")

    id: str
    session_id: str
    graph_id: str
    seq: int
    lamport: int
    turn: int
    actor: str
    kind: str
    payload: Json
    created_at: datetime
    run_id: str | None = None
    channel_id: str | None = None
    channel: str | None = None
    private: Json | None = None
    sealed: Json | None = None
    caused_by: str | None = None
    model: ModelUse | None = None
    tools: tuple[str, ...] = ()
    """The ids of the `tool.called` and `tool.returned` events of the act that this event ends, in order."""
    schema_version: int = 1
    position: int | None = None
    change: int | None = None
    """The position of the first event of the change that this event belongs to."""

    def __post_init__(self) -> None:
        if self.kind not in well_formed_cache:
            check_kind(self.kind)

    @property
    def ends_its_act(self) -> bool:
        """Whether this event, if a creature wrote it, ends that creature's act."""
        return self.kind not in kinds.MID_ACT and self.kind not in kinds.ENGINE

    @property
    def is_engine(self) -> bool:
        """Whether the engine itself wrote this event, about the shape of the world."""
        return self.kind in kinds.ENGINE

    @property
    def calls(self) -> tuple[Call, ...]:
        """The model calls that led to this event."""
        return () if self.model is None else self.model.calls

    @property
    def as_of(self) -> str | None:
        """The last event that the prompts of these calls could include; none if there was no prompt."""
        return None if self.model is None else self.model.as_of


EngineEvent: TypeAlias = Event
"""An event whose kind is in `kinds.ENGINE`."""


def usage_in(events: Iterable[Event]) -> Usage:
    """The total cost of the model calls in these events, the same for every role."""
    return reduce(Usage.plus, [usage_of(call) for event in events for call in event.calls], NOTHING)


def costs_of(event: Event) -> list[Usage]:
    """What a run pays for an event: its calls that reached a model, or one call for an act that reached none (ADR 0022).

    An act whose calls are all on its tool events ends with an empty list of calls, and is not counted again.
    """
    use = event.model
    if use is not None:
        costs = [usage_of(call) for call in use.calls if call.reached]
        if costs or not use.calls:
            return costs
    ends_an_act = event.caused_by is not None and event.actor not in RESERVED_ACTORS and event.ends_its_act
    return [Usage(calls=1)] if ends_an_act else []


def text_of(event: Event, field: str = "text") -> str:
    """What an event says, or what another field of its payload says; empty if that is no text."""
    value = event.payload.get(field)
    return value if isinstance(value, str) else ""


def own_copy(event: Event) -> Event:
    """A copy of the event for code outside the engine: changing its JSON does not change the original."""
    payload = event.payload
    for part in payload.values():
        if type(part) not in FLAT:
            payload = msgspec.to_builtins(payload)
            break
    else:
        payload = {**payload}
    if event.private is None and event.sealed is None:
        return replace(event, payload=payload)
    private = msgspec.to_builtins(event.private)
    sealed = msgspec.to_builtins(event.sealed)
    return replace(event, payload=payload, private=private, sealed=sealed)


def event_id(session_id: str, seq: int) -> str:
    """The id of the event with this `seq` in a session's own segment."""
    return f"{session_id}.{seq}"


def is_event_id(value: object) -> TypeGuard[str]:
    """Whether a value has the shape of an event's id."""
    return isinstance(value, str) and _EVENT_ID.fullmatch(value) is not None


def session_and_seq(id_of_event: str) -> tuple[str, int]:
    """The session and seq in an event id; seq 0, which no event has, if the text is not an event id."""
    session_id, dot, seq = str(id_of_event).rpartition(".")
    is_seq = dot and len(seq) <= seq_digits_max and seq.isascii() and seq.isdigit()
    return (session_id, int(seq)) if is_seq else (str(id_of_event), 0)
