"""The typed payloads of the engine's kinds: decisions write them and the fold of the world reads them.

Always holds: every kind in `kinds.ENGINE` has exactly one type here, and a payload with an unknown field is refused.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.carried import Carried
from glasshouse.events.event import Event, Json
from glasshouse.events.limits import Governor
from glasshouse.reprs import repr_of

Direction = Literal["listen", "send"]
ChangeKind = Literal["merge", "split", "nothing"]
History = Literal["full", "since_joined"]
Origin = Literal["split", "fork", "branch", "resume"]
StopReason = Literal["stopped", "removed"]

affected_creatures_max = 1_000


class Payload(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What every engine payload shares: strict fields, defaults left out."""


class CreatureStarted(Payload, frozen=True):
    """A creature was added, or (without a manifest) started again after a stop."""

    creature: str
    handle: str
    cast_key: str
    manifest_digest: str
    is_privileged: bool = False
    parent: str | None = None
    run_id: str | None = None
    manifest: Json | None = None
    incarnation_of: str | None = None
    """The creature whose past it has, in a branch or a resumed session."""
    ordinal: int = 0
    """Its number among the creatures of its run."""
    is_root: bool = False


class CreatureStopped(Payload, frozen=True):
    """A creature was stopped, or removed with all its edges."""

    creature: str
    reason: StopReason


class CreatureRenamed(Payload, frozen=True):
    """A creature's handle changed, because its graph met another with the same handle."""

    creature: str
    old_handle: str
    handle: str


class ChannelOpened(Payload, frozen=True):
    """A channel was opened."""

    channel_id: str
    name: str
    description: str = ""
    history: History = "full"
    incarnation_of: str | None = None


class ChannelClosed(Payload, frozen=True):
    """A channel was closed with all its edges."""

    channel_id: str
    name: str


class ChannelRenamed(Payload, frozen=True):
    """A channel's name changed, because its graph met another with the same name."""

    channel_id: str
    old_name: str
    name: str


class ChannelEdge(Payload, frozen=True):
    """A creature began or ceased to listen, or to send, on a channel."""

    channel_id: str
    creature: str
    direction: Direction


class WireAdded(Payload, frozen=True):
    """A creature's finished lines are handed to another."""

    edge_id: str
    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None
    incarnation_of: str | None = None


class WireRemoved(Payload, frozen=True):
    """An output wire was removed, and why."""

    edge_id: str
    source: str
    target: str
    reason: str


class ParentChanged(Payload, frozen=True):
    """A creature answers to another parent, or to none."""

    child: str
    old_parent: str | None
    new_parent: str | None


class TopologyChanged(Payload, frozen=True):
    """One change of the graph. `affected_creatures` is cut at a bound; `affected_count` never is."""

    kind: ChangeKind
    old_graph_ids: list[str]
    new_graph_ids: list[str]
    affected_creatures: list[str]
    affected_count: int


class BranchChange(Payload, frozen=True):
    """How a branch or a resumed session differs from its past. Creatures are named by handle."""

    __repr__ = repr_of(
        "drop",
        "replace",
        "disturb",
        "profiles",
        "personas",
        "add",
        "remove",
        "connect",
        "disconnect",
        "limits",
        "edited",
    )

    drop: bool = False
    """The line it begins at was never said."""
    replace: str | None = None
    """The line it begins at was this one."""
    disturb: str | None = None
    """The visitor said this first of all."""
    profiles: dict[str, str] = {}
    personas: dict[str, str] = {}
    add: list[Json] = []
    """The manifests of new creatures."""
    remove: list[str] = []
    connect: list[list[str]] = []
    """Two handles, and the name of a channel if it mattered which."""
    disconnect: list[list[str]] = []
    limits: Governor | None = None
    edited: dict[str, str] = {}
    """The runs whose scenario was edited meanwhile, and its digest now."""


class SessionForked(Payload, frozen=True):
    """A session began as the child of another."""

    session: str
    parents: list[str]
    how: Origin
    at: str
    restated: int = 0
    """How many events at its head, this one included, only say again what was there already."""
    upto: list[int] = msgspec.field(default_factory=list)
    """The last seq of each parent that it sees, where it goes on from them."""
    skew: int = 0
    """How far its lamport times run ahead of the story's, because of events that only restate."""
    change: BranchChange | None = None


class SessionRestated(Payload, frozen=True):
    """What a branch or a resumed session takes over of the past it grows from: what was heard, owed, dealt and spent.

    `carried` names everything as it was called then; `creatures`, `places` and `runs` say what it is called now.
    """

    session: str
    creatures: dict[str, str]
    places: dict[str, str]
    runs: dict[str, str]
    carried: Carried


class SessionAttached(Payload, frozen=True):
    """Creatures write into this session from here on."""

    session: str
    creatures: list[str]


class PrivilegeGranted(Payload, frozen=True):
    """A creature may change its graph."""

    creature: str
    by: str


PAYLOAD_TYPES: dict[str, type[Payload]] = {
    kinds.CREATURE_STARTED: CreatureStarted,
    kinds.CREATURE_STOPPED: CreatureStopped,
    kinds.CREATURE_RENAMED: CreatureRenamed,
    kinds.CHANNEL_OPENED: ChannelOpened,
    kinds.CHANNEL_CLOSED: ChannelClosed,
    kinds.CHANNEL_RENAMED: ChannelRenamed,
    kinds.CHANNEL_JOINED: ChannelEdge,
    kinds.CHANNEL_LEFT: ChannelEdge,
    kinds.OUTPUT_WIRE_ADDED: WireAdded,
    kinds.OUTPUT_WIRE_REMOVED: WireRemoved,
    kinds.PARENT_LINK_CHANGED: ParentChanged,
    kinds.TOPOLOGY_CHANGED: TopologyChanged,
    kinds.SESSION_FORKED: SessionForked,
    kinds.SESSION_RESTATED: SessionRestated,
    kinds.CREATURE_SESSION_ATTACHED: SessionAttached,
    kinds.PRIVILEGE_GRANTED: PrivilegeGranted,
}

CREATURE_FIELDS = (
    "creature",
    "creatures",
    "affected_creatures",
    "child",
    "parent",
    "old_parent",
    "new_parent",
    "source",
    "target",
    "by",
)
"""The payload fields that hold creature ids."""

P = TypeVar("P", bound=Payload)


def payload_of(event: Event, as_type: type[P]) -> P:
    """An engine event's payload as its type."""
    try:
        return msgspec.convert(event.payload, as_type)
    except msgspec.ValidationError as wrong:
        raise BadEvent(f"{event.id} is a {event.kind} with a broken payload: {wrong}.") from wrong


_restated_cache: list[tuple[Event, SessionRestated]] = []
"""The one that was read last: it is large, and several folds read it one after another."""


def restated_of(event: Event) -> SessionRestated:
    """What a `session.restated` says; nobody may change anything in it."""
    if not _restated_cache or _restated_cache[0][0] is not event:
        _restated_cache[:] = [(event, payload_of(event, SessionRestated))]
    return _restated_cache[0][1]


def builtins_of(payload: Payload) -> Json:
    """A typed payload as the plain JSON object that an event carries."""
    plain: Json = msgspec.to_builtins(payload)
    return plain


def creatures_named_in(event: Event) -> frozenset[str]:
    """The creatures that an engine event speaks of in its payload; empty for every other kind."""
    if event.kind not in kinds.ENGINE:
        return frozenset()
    named: set[str] = set()
    for field in CREATURE_FIELDS:
        value: Any = event.payload.get(field)
        if isinstance(value, str):
            named.add(value)
        elif isinstance(value, list):
            named.update(value)
    return frozenset(named)
