"""The values that the world returns: frozen, each true at the time of the call.

Always holds: they hold ids, never references. After a merge they are outdated: ask again by id. ADR 0018.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from glasshouse.events.payloads import ChangeKind, History
from glasshouse.reprs import repr_of

SessionOrigin = Literal["root", "split", "merge", "fork", "branch", "resume", "import"]
GROWN_APART = frozenset({"fork", "branch", "resume"})
"""Origins of sessions that leave their parent unchanged."""
GOES_ON = frozenset({"branch", "resume"})
"""Origins of sessions that continue their parents as if nothing had followed."""


class Change(msgspec.Struct, frozen=True):
    """What one intent did, or with `dry_run` would do, to the shape of the world."""

    __repr__ = repr_of("kind", "old_graph_ids", "new_graph_ids", "affected_creatures")

    kind: ChangeKind
    old_graph_ids: tuple[str, ...] = ()
    new_graph_ids: tuple[str, ...] = ()
    affected_creatures: tuple[str, ...] = ()


class Channel(msgspec.Struct, frozen=True):
    """A broadcast channel: every listener hears every message except its own."""

    __repr__ = repr_of("name", "listeners", "senders", "id")

    id: str
    name: str
    description: str
    history: History
    graph_id: str
    listeners: tuple[str, ...]
    senders: tuple[str, ...]


class Environment(msgspec.Struct, frozen=True):
    """The channels of one graph with their listeners and senders."""

    __repr__ = repr_of("graph_id", "channels")

    graph_id: str
    channels: tuple[Channel, ...]

    def channel(self, name: str) -> Channel | None:
        """The channel of this name, if there is one."""
        return next((channel for channel in self.channels if channel.name == name), None)


class Wire(msgspec.Struct, frozen=True):
    """An output wire: the source's finished line is handed to the target."""

    __repr__ = repr_of()

    id: str
    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class Graph(msgspec.Struct, frozen=True):
    """One connected component of creatures over channels."""

    __repr__ = repr_of("id", "name", "turn", "creature_ids", "channels")

    id: str
    name: str
    session_id: str
    turn: int
    creature_ids: tuple[str, ...]
    channels: tuple[str, ...]
    wires: tuple[Wire, ...]


class Session(msgspec.Struct, frozen=True):
    """What a graph remembers: its own segment and all ancestors."""

    __repr__ = repr_of("id", "origin", "events", "is_open", "agents")

    id: str
    graph_id: str
    origin: SessionOrigin
    parent_session_ids: tuple[str, ...]
    child_session_ids: tuple[str, ...]
    agents: tuple[str, ...]
    events: int
    is_open: bool
    recipes: tuple[str, ...] = ()
    merged_at: str | None = None
    split_at: str | None = None
    forked_at: str | None = None
    began_at: datetime | None = None
    """The wall time of the merge, split or fork that began it; none for a session without parents."""

    @property
    def config_path(self) -> str | None:
        """The first recipe."""
        return self.recipes[0] if self.recipes else None


class Lineage(msgspec.Struct, frozen=True):
    """A session with all its ancestors and descendants, oldest first."""

    __repr__ = repr_of("session_id", "ancestors", "descendants")

    session_id: str
    ancestors: tuple[Session, ...]
    session: Session
    descendants: tuple[Session, ...]
