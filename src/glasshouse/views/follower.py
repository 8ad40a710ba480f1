"""`Follower`: which graph a creature is in, and which creatures are in it too, folded from events.

Always holds: only births, removals and `session.attached` move a creature between graphs. So a reader of all events
knows the graph of every creature. A reader that starts in the middle learns the graph of the followed creature from its
next act or move.
"""

from __future__ import annotations

from typing import Final

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import (
    CreatureStarted,
    CreatureStopped,
    SessionAttached,
    TopologyChanged,
    payload_of,
)
from glasshouse.views.stage import Part, StageProjection, Touched

OF_THE_CAST: Final = frozenset(
    {
        kinds.CREATURE_STARTED,
        kinds.CREATURE_STOPPED,
        kinds.CREATURE_RENAMED,
        kinds.CREATURE_SESSION_ATTACHED,
        kinds.RUN_STARTED,
    }
)
"""Kinds that may change which creatures are in a graph, or what the stage shows of them."""


class Follower:
    """Follows one creature, so that a stage's cast can be kept equal to the creatures in its graph."""

    def __init__(self, creature_id: str) -> None:
        self._creature_id = creature_id
        self._everybody = StageProjection()
        self._graph_of: dict[str, str] = {}
        self._members: dict[str, dict[str, None]] = {}

    @property
    def graph_id(self) -> str | None:
        """The graph that the creature is in; none before its birth and after its removal."""
        return self._graph_of.get(self._creature_id)

    def sees(self, event: Event) -> bool:
        """Take in an event, and return whether it happened in the creature's graph or took a creature out of it."""
        before = self.graph_id
        left = self._take_note(event)
        here = (before, self.graph_id)
        if event.kind == kinds.TOPOLOGY_CHANGED:
            return any(graph_id in here for graph_id in payload_of(event, TopologyChanged).old_graph_ids)
        return event.graph_id in here or (before is not None and before in left)

    def cast_brought_to(self, stage: StageProjection) -> Touched:
        """Make a stage's cast equal to the creatures of the graph, and return the parts of the stage that changed."""
        here = self._members.get(self.graph_id or "", {})
        gone = [name for name in stage.cast if name not in here]
        for name in gone:
            del stage.cast[name]
        touched: list[Part] = [("cast", name) for name in gone]
        for name in here:
            member = self._everybody.cast.get(name)
            if member is not None and stage.cast.get(name) != member:
                stage.cast[name] = member
                touched.append(("cast", name))
        return tuple(touched)

    def _take_note(self, event: Event) -> list[str | None]:
        """Move the creatures that an event moves, and return the graphs that they left."""
        kind = event.kind
        left: list[str | None] = []
        if kind == kinds.CREATURE_STARTED:
            left.append(self._move(payload_of(event, CreatureStarted).creature, event.graph_id))
        elif kind == kinds.CREATURE_STOPPED:
            stopped = payload_of(event, CreatureStopped)
            if stopped.reason == "removed":
                left.append(self._move(stopped.creature, None))
        elif kind == kinds.CREATURE_SESSION_ATTACHED:
            attached = payload_of(event, SessionAttached)
            left += [self._move(name, event.graph_id) for name in attached.creatures]
        elif event.actor == self._creature_id and self.graph_id is None:
            self._move(event.actor, event.graph_id)
        if kind in OF_THE_CAST:
            self._everybody.apply(event)
        return left

    def _move(self, creature_id: str, graph_id: str | None) -> str | None:
        old = self._graph_of.pop(creature_id, None)
        if old is not None:
            members = self._members[old]
            del members[creature_id]
            if not members:
                del self._members[old]
        if graph_id is not None:
            self._graph_of[creature_id] = graph_id
            self._members.setdefault(graph_id, {})[creature_id] = None
        return old
