"""Requests: what was asked from outside the conductor, stored beside the change that it caused.

A replay makes the same requests again. Most changes need no request: a line is its own event, and a replayed act
repeats its own changes.

Always holds: a request holds no manifest, no agent, and nothing that was dealt, sealed or private. Requests are kept in
the store and in a director's files, never in an event, a digest or a file for others (ADR 0103).

Another process asks by an `Asked` in the inbox and gets an `Answer` there (ADR 0058). Only then a request holds a manifest,
until it is decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar, Union

import msgspec
from msgspec.structs import asdict, replace

from glasshouse.errors import BadEvent
from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event
from glasshouse.world.decisions.intents import AddCreature, Fork, GraphEdit, Intent, MoveRun, Say
from glasshouse.world.state.values import Change

request_version: Final = 1

Asker: TypeAlias = Literal["api", "outage", "limit", "act"]
"""Who asked: a program; the conductor, because a model was out of reach or a limit was reached; or a creature in its
act."""


class PauseRun(msgspec.Struct, frozen=True, tag=True, omit_defaults=True, forbid_unknown_fields=True):
    """Stop a run from beginning acts; recorded in the given graph."""

    run_id: str
    reason: str
    graph_id: str | None = None
    is_outage: bool = False
    backend: str = ""
    axis: str | None = None
    frees_at: datetime | None = None


class ContinueRun(msgspec.Struct, frozen=True, tag=True, omit_defaults=True, forbid_unknown_fields=True):
    """Continue a paused run."""

    run_id: str
    is_offline: bool = False
    by: str = ""


class FinishRun(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """End a run."""

    run_id: str
    reason: payloads.FinishReason


if TYPE_CHECKING:
    Requested: TypeAlias = GraphEdit | PauseRun | ContinueRun | FinishRun
    Askable: TypeAlias = GraphEdit
else:  # The codec needs every class by itself.
    Requested = Union[*GraphEdit.__subclasses__(), PauseRun, ContinueRun, FinishRun]
    Askable = Union[*(edit for edit in GraphEdit.__subclasses__() if edit is not Fork)]


class Request(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Who asked for a change, and what was asked; or what an act had seen of the house when it was written."""

    by: Asker
    intent: Requested | None = None
    """None if the events of the change say what was asked."""
    seen: int | None = None
    """For an act: the position of the last event in the house when the act last looked at the world. It is kept only if
    the act's graph has changed since then (ADR 0064)."""
    sender: str = ""
    """For whom a program asked: the sender in the inbox, `page`, `assistant`, or a tool server. Empty: for itself."""
    version: int = 1
    """The version it was written with. Version 1 is left out of the bytes."""


class Asked(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A change of the graph that another process asks for. It must not be decided after `until`."""

    intent: Askable
    sender: str
    until: datetime
    dry_run: bool = False
    version: int = request_version


class Answer(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What came of an `Asked`: the change and its subject, or the refusal in words."""

    change: Change | None = None
    subject: str = ""
    has_changed: bool = False
    """Whether anything was written. A dry run says whether it would be."""
    refusal: str = ""
    version: int = request_version


def request_for(intent: Intent, by: Asker | None, sender: str = "") -> Request | None:
    """The request to keep for a granted intent; None if its events say everything."""
    if isinstance(intent, GraphEdit):
        kept = (
            replace(intent, manifest={}, may_spawn={}, granted=())
            if isinstance(intent, AddCreature)
            else intent
        )
        return Request(by or "api", kept, sender=sender)
    if isinstance(intent, MoveRun) and by is not None:
        return Request(by, _moved(intent), sender=sender)
    # The event of an answer looks like the end of an act. The request tells a replay that it is not.
    is_answer = isinstance(intent, Say) and intent.caused_by is not None
    return Request("api", sender=sender) if is_answer else None


def _moved(intent: MoveRun) -> PauseRun | ContinueRun | FinishRun:
    match intent.payload:
        case payloads.RunPaused() as paused:
            return PauseRun(intent.run_id, graph_id=intent.graph_id, **asdict(paused))
        case payloads.RunContinued() as continued:
            return ContinueRun(intent.run_id, **asdict(continued))
        case payloads.RunFinished(reason=reason):
            return FinishRun(intent.run_id, reason)


def with_manifest(birth: AddCreature, events: Iterable[Event]) -> AddCreature:
    """The complete intent of a birth. Its manifests are read from its events."""
    event = next((event for event in events if event.kind == kinds.CREATURE_STARTED), None)
    if event is None:
        return birth
    born = payloads.payload_of(event, payloads.CreatureStarted)
    facts = {"manifest": born.manifest or {}, "may_spawn": born.may_spawn, "granted": tuple(born.granted)}
    return replace(birth, **facts)


def encoded_request(request: Request) -> str:
    """A request as a store keeps it."""
    return msgspec.json.encode(replace(request, version=request_version)).decode()


def decoded_request(body: str) -> Request:
    """A request from the bytes of a store."""
    return _decoded(body, Request)


def decoded_asked(body: str) -> Asked:
    """What another process asked for, from the bytes of the inbox."""
    return _decoded(body, Asked)


def decoded_answer(body: str) -> Answer:
    """The answer to it."""
    return _decoded(body, Answer)


Kept = TypeVar("Kept", Request, Asked, Answer)


def _decoded(body: str, kind: type[Kept]) -> Kept:
    try:
        kept = msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, TypeError, UnicodeError, RecursionError) as wrong:
        raise BadEvent(f"These bytes are not a request: {wrong}.") from wrong
    if kept.version != request_version:
        raise BadEvent(
            f"A request has version {kept.version}; this Glasshouse reads {request_version}.",
            "Upgrade Glasshouse.",
        )
    return kept
