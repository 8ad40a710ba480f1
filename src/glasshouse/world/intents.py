"""Intents: what somebody asks of the world. The API, tools, scenarios and visitors all make these.

Always holds: an intent names things by id and decides nothing; `decide` answers it with facts or a refusal.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from glasshouse.events.event import Draft, Json
from glasshouse.events.payloads import History


class Intent(msgspec.Struct, frozen=True, gc=False):
    """What every intent shares: it is a value."""


class AddCreature(Intent, frozen=True, gc=False):
    """Bring a creature to life, alone or in a graph."""

    name: str
    manifest: Json
    manifest_digest: str
    handle: str | None = None
    graph_id: str | None = None
    is_privileged: bool = False
    parent: str | None = None
    run_id: str | None = None


class RemoveCreature(Intent, frozen=True, gc=False):
    """Take a creature and all its edges and wires away."""

    creature: str


class StartCreature(Intent, frozen=True, gc=False):
    """Let a stopped creature run again."""

    creature: str


class StopCreature(Intent, frozen=True, gc=False):
    """Let a creature rest; its edges and mail stay."""

    creature: str


class AddChannel(Intent, frozen=True, gc=False):
    """Open a channel nobody is on yet."""

    graph_id: str
    name: str
    description: str = ""
    history: History = "full"


class RemoveChannel(Intent, frozen=True, gc=False):
    """Close a channel with all its edges."""

    graph_id: str
    name: str


class Connect(Intent, frozen=True, gc=False):
    """Let `source` send where `target` listens; with `both`, the other way too."""

    source: str
    target: str
    channel: str | None = None
    both: bool = False


class Disconnect(Intent, frozen=True, gc=False):
    """Take `source`'s send edge and `target`'s listen edge away where both exist."""

    source: str
    target: str
    channel: str | None = None


class AddWire(Intent, frozen=True, gc=False):
    """Hand every finished line of `source` to `target`."""

    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class RemoveWire(Intent, frozen=True, gc=False):
    """Take an output wire away."""

    source: str
    target: str


class GrantPrivilege(Intent, frozen=True, gc=False):
    """Give a creature the right to change its graph. Only from outside."""

    creature: str
    by: str


class Say(Intent, frozen=True, gc=False):
    """Append a creature's drafts, as one batch."""

    creature: str
    drafts: tuple[Draft, ...]
    caused_by: str | None = None


class Fork(Intent, frozen=True, gc=False):
    """Begin a session that shares the past of another up to `upto`, the end of the batch of event `at`."""

    session_id: str
    at: str
    upto: int


AnyIntent: TypeAlias = (
    AddCreature
    | RemoveCreature
    | StartCreature
    | StopCreature
    | AddChannel
    | RemoveChannel
    | Connect
    | Disconnect
    | AddWire
    | RemoveWire
    | GrantPrivilege
    | Say
    | Fork
)
