"""A decision: the facts to be written, where, and the change they make. Not yet stamped, not yet true."""

from __future__ import annotations

import msgspec

from glasshouse.errors import BadEvent
from glasshouse.events.event import TERRARIUM, Json
from glasshouse.events.model_use import ModelUse
from glasshouse.events.payloads import Payload, builtins_of
from glasshouse.world.state import Segment
from glasshouse.world.values import Change


class Fact(msgspec.Struct, frozen=True, gc=False):
    """An event without its stamp: no ids, no seq, no time."""

    kind: str
    payload: Json
    actor: str = TERRARIUM
    channel_id: str | None = None
    channel: str | None = None
    private: Json | None = None
    sealed: Json | None = None
    caused_by: str | None = None
    run_id: str | None = None
    model: ModelUse | None = None


class Write(msgspec.Struct, frozen=True, gc=False):
    """Facts for one segment, in order. With `opens`, the segment begins here."""

    session_id: str
    graph_id: str
    facts: tuple[Fact, ...]
    opens: Segment | None = None
    turn: int | None = None
    """The clock that these facts are stamped with, where they move it."""


NO_CHANGE = Change(kind="nothing")


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What an intent leads to: one batch of writes, all or nothing."""

    writes: tuple[Write, ...] = ()
    change: Change = NO_CHANGE
    subject: str = ""
    """The id of the thing that the intent made or touched: a creature, a channel, a wire, a session."""


def engine_fact(kind: str, payload: Payload) -> Fact:
    """A fact of the engine about the shape of the world. A field of the wrong type is refused here, before anything
    has changed, because the fold would find it too late."""
    plain = builtins_of(payload)
    try:
        msgspec.convert(plain, type(payload))
    except msgspec.ValidationError as wrong:
        raise BadEvent(
            f"{kind} cannot be told: {wrong}.", "Give the argument in its documented type."
        ) from wrong
    return Fact(kind, plain)
