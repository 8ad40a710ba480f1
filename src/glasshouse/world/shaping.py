"""Facts that several changes share: one `topology.changed`, who is attached to a session, who joins a channel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from glasshouse.events import kinds
from glasshouse.events.payloads import (
    ChangeKind,
    ChannelEdge,
    ChannelOpened,
    Direction,
    SessionAttached,
    TopologyChanged,
    affected_creatures_max,
)
from glasshouse.world.decision import Fact, engine_fact
from glasshouse.world.state import World
from glasshouse.world.topology import LISTEN, SEND
from glasshouse.world.values import Change

BITS: dict[Direction, int] = {"listen": LISTEN, "send": SEND}


def topology_changed(change: Change) -> Fact:
    """The one fact that tells of a change, its list of creatures cut at the bound."""
    affected = change.affected_creatures
    return engine_fact(
        kinds.TOPOLOGY_CHANGED,
        TopologyChanged(
            kind=change.kind,
            old_graph_ids=list(change.old_graph_ids),
            new_graph_ids=list(change.new_graph_ids),
            affected_creatures=list(affected[:affected_creatures_max]),
            affected_count=len(affected),
        ),
    )


def change_of(
    kind: ChangeKind, old: Iterable[str], new: Iterable[str], affected: Iterable[str] = ()
) -> Change:
    """A change as a value."""
    return Change(kind, tuple(old), tuple(new), tuple(affected))


def attached(session_id: str, creatures: Sequence[str]) -> Iterator[Fact]:
    """Who writes into a session from here on, in events of a bounded size."""
    for start in range(0, len(creatures), affected_creatures_max):
        some = list(creatures[start : start + affected_creatures_max])
        yield engine_fact(kinds.CREATURE_SESSION_ATTACHED, SessionAttached(session_id, some))


def by_age(world: World, creatures: Iterable[str]) -> list[str]:
    """Creatures, the oldest first."""
    return sorted(creatures, key=lambda name: world.creatures[name].born)


def joined(creature: str, channel_id: str, direction: Direction) -> Fact:
    """A creature listens or sends on a channel."""
    return engine_fact(kinds.CHANNEL_JOINED, ChannelEdge(channel_id, creature, direction))


def opened(channel_id: str, name: str, description: str = "") -> Fact:
    """A channel exists."""
    return engine_fact(kinds.CHANNEL_OPENED, ChannelOpened(channel_id, name, description))
