"""Connectivity: which creatures are joined by a path of channels, at low cost while edges are added and removed.

Theory of operation. The graph has two sorts of nodes, creatures and channels. An edge means that a creature
listens or sends (or both) on a channel. Both sides of every edge are kept, in dicts that remember the order
of insertion, so that every walk is the same on every machine. Component ids are not kept here: the world
labels each creature and channel with its graph's id, and merges relabel the smaller side.

Removing edges is the hard part. `parted` starts one search from every node that may have been separated and
advances the searches in turn, a few edges at a time. Searches that meet become one. When at most one search
can still grow, the others have walked their whole components, and the remaining one is the unwalked rest.
So the cost is that of the smaller sides, never of the whole: cutting one leaf off a star of 100,000 costs one step.
ADR 0015.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, Literal, TypeVar

import msgspec

from glasshouse.events.payloads import Direction

T = TypeVar("T")

LISTEN = 1
SEND = 2

Sort = Literal["creature", "channel"]
Node = tuple[Sort, str]
Edge = tuple[str, str]
"""A creature and a channel."""

edges_examined_in_a_row_max = 16
"""The search for separated parts examines this many edges on one side before it changes sides."""


class Topology(msgspec.Struct):
    """Edges between creatures and channels, each with its directions as bits."""

    channels_of: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    members_of: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)

    def join(self, creature: str, channel: str, direction: int) -> None:
        """Add an edge, or one more direction to it."""
        channels = self.channels_of.setdefault(creature, {})
        channels[channel] = channels.get(channel, 0) | direction
        members = self.members_of.setdefault(channel, {})
        members[creature] = members.get(creature, 0) | direction

    def leave(self, creature: str, channel: str, direction: int) -> None:
        """Remove one direction of an edge, and with the last direction the edge."""
        left = self.directions(creature, channel) & ~direction
        if left:
            self.channels_of[creature][channel] = left
            self.members_of[channel][creature] = left
        else:
            discard(self.channels_of, creature, channel)
            discard(self.members_of, channel, creature)

    def remove_creature(self, creature: str) -> None:
        """Drop a creature and all its edges."""
        for channel in self.channels_of.pop(creature, {}):
            discard(self.members_of, channel, creature)

    def remove_channel(self, channel: str) -> None:
        """Drop a channel and all its edges."""
        for creature in self.members_of.pop(channel, {}):
            discard(self.channels_of, creature, channel)

    def directions(self, creature: str, channel: str) -> int:
        """The bits of one edge; 0 if there is none."""
        return self.channels_of.get(creature, _NO_EDGES).get(channel, 0)

    def neighbours(self, node: Node) -> dict[str, int]:
        """The other ends of a node's edges, oldest edge first."""
        sort, name = node
        return (self.channels_of if sort == "creature" else self.members_of).get(name, _NO_EDGES)

    def component(self, creature: str) -> list[str]:
        """Every creature that a path joins to this one, itself first."""
        walk = _Walk(_Ground(self, frozenset()), ("creature", creature), 0)
        while not walk.is_exhausted:
            walk.advance()
        return walk.creatures


_NO_EDGES: dict[str, int] = {}
_GONE: Final = -1


def discard(table: dict[str, dict[str, T]], key: str, entry: str) -> None:
    """Remove an entry of a row, and the row if it is empty then."""
    row = table.get(key)
    if row is not None:
        row.pop(entry, None)
        if not row:
            del table[key]


class _Ground:
    """What several searches share: the edges, the removed edges, and which search claimed which node."""

    def __init__(self, topology: Topology, cut: frozenset[Edge]) -> None:
        self.channels_of = topology.channels_of
        self.members_of = topology.members_of
        self.cut = cut
        self.creature_owner: dict[str, int] = {}
        self.channel_owner: dict[str, int] = {}


class _Walk:
    """One breadth-first search that can be advanced a little at a time."""

    def __init__(self, ground: _Ground, start: Node, number: int) -> None:
        sort, name = start
        self.creatures: list[str] = [name] if sort == "creature" else []
        self.is_exhausted = False
        owners = ground.creature_owner if sort == "creature" else ground.channel_owner
        owners[name] = number
        self._steps = self._walk(ground, name if sort == "channel" else "", number)

    def advance(self) -> int | None:
        """Examine a few edges, and return the number of another search if this one met it."""
        for met in self._steps:
            return met
        self.is_exhausted = True
        return None

    def _walk(self, ground: _Ground, first_channel: str, number: int) -> Iterator[int | None]:
        """Claim everything within reach, and pause every few edges; yield the number of each search it meets."""
        channels_of = ground.channels_of
        members_of = ground.members_of
        cut = ground.cut
        creature_owner = ground.creature_owner
        channel_owner = ground.channel_owner
        examined = 0
        for creature in chain([""] if first_channel else [], self.creatures):
            for channel in channels_of.get(creature, ()) if creature else [first_channel]:
                owner = channel_owner.get(channel)
                if creature:
                    if owner in (number, _GONE) or (cut and (creature, channel) in cut):
                        continue
                    if owner is not None:
                        yield owner
                        continue
                    channel_owner[channel] = number
                for name in members_of.get(channel, ()):
                    examined += 1
                    if examined >= edges_examined_in_a_row_max:
                        examined = 0
                        yield None
                    owner = creature_owner.get(name)
                    if owner == number or (cut and (name, channel) in cut):
                        continue
                    if owner is None:
                        creature_owner[name] = number
                        self.creatures.append(name)  # The outer loop iterates over this list.
                    elif owner != _GONE:
                        yield owner


def parted(
    topology: Topology, ends: Iterable[Node], *, cut: Iterable[Edge] = (), gone: Node | None = None
) -> list[list[str]]:
    """The separated components, as lists of creatures, without the one that was not walked to its end.

    `ends` are the nodes that one removal touches; all are in one component before it. `cut` are the edges and
    `gone` the node that the removal takes away; the topology itself may still have them. The component that
    is left out is "the rest": everything not listed. The list is empty if the component stays whole.
    """
    ground = _Ground(topology, frozenset(cut))
    if gone is not None:
        owners = ground.creature_owner if gone[0] == "creature" else ground.channel_owner
        owners[gone[1]] = _GONE
    fewest_edges_first = sorted(dict.fromkeys(ends), key=lambda end: len(topology.neighbours(end)))
    groups = _Groups([_Walk(ground, end, n) for n, end in enumerate(fewest_edges_first)])
    while len(groups.growing) > 1:
        for group in list(groups.growing):
            if group in groups.growing and len(groups.growing) > 1:
                groups.advance(group)
    return [component for component in groups.apart if component]


class _Groups:
    """Groups of searches that have met: the growing ones by number, and what the finished ones walked."""

    def __init__(self, walks: list[_Walk]) -> None:
        self.growing = {n: [walk] for n, walk in enumerate(walks)}
        self.apart: list[list[str]] = []
        self._walked: list[list[str]] = [[] for _ in walks]
        self._above = list(range(len(walks)))

    def advance(self, group: int) -> None:
        """Let one group take a few steps; it may meet another, or be walked to its end."""
        walks = self.growing[group]
        met = walks[-1].advance()
        if met is not None:
            self._unite(group, self._group_of(met))
        elif walks[-1].is_exhausted:
            self._walked[group].extend(walks.pop().creatures)
            if not walks:
                del self.growing[group]
                self.apart.append(self._walked[group])

    def _group_of(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = number = self._above[self._above[number]]
        return number

    def _unite(self, first: int, second: int) -> None:
        if first == second:
            return
        small, large = sorted((first, second), key=lambda g: len(self.growing[g]) + len(self._walked[g]))
        self._above[small] = large
        self.growing[large].extend(self.growing.pop(small))
        self._walked[large].extend(self._walked[small])


BITS: dict[Direction, int] = {"listen": LISTEN, "send": SEND}
