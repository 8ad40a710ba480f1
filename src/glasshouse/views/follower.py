"""`Follower`: which graph a creature is in, and which creatures are in it too, folded from events.

Always holds: only births, removals and `session.attached` move a creature between graphs. So a reader of all events
knows the graph of every creature. A reader that starts in the middle learns the graph of the followed creature from its
next act or move.
"""

from __future__ import annotations

from typing import Final

from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event
from glasshouse.events.payloads import payload_of
from glasshouse.views.stage import StageProjection, Touched, leave_only

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
        """Creature -> its graph, in the order in which the creatures came to their graphs."""

    @property
    def graph_id(self) -> str | None:
        """The graph that the creature is in; none before its birth and after its removal."""
        return self._graph_of.get(self._creature_id)

    def sees(self, event: Event) -> bool:
        """Take in an event, and return whether it happened in the creature's graph or took a creature out of it."""
        before = self.graph_id
        moves = self._moves(event)
        left = [self._graph_of.pop(name, None) for name in moves]
        self._graph_of.update({name: graph_id for name, graph_id in moves.items() if graph_id is not None})
        if event.kind in OF_THE_CAST:
            self._everybody.apply(event)
        here = (before, self.graph_id)
        if event.kind == kinds.TOPOLOGY_CHANGED:
            return not set(here).isdisjoint(payload_of(event, payloads.TopologyChanged).old_graph_ids)
        return event.graph_id in here or (before is not None and before in left)

    def cast_brought_to(self, stage: StageProjection) -> Touched:
        """Make a stage's cast equal to the creatures of the graph, and return the parts of the stage that changed."""
        here = {name: None for name, graph_id in self._graph_of.items() if graph_id == self.graph_id}
        gone = leave_only(stage, here)
        known = self._everybody.cast
        new = {name: known[name] for name in here if name in known and stage.cast.get(name) != known[name]}
        stage.cast.update(new)
        return (*gone, *[("cast", name) for name in new])

    def _moves(self, event: Event) -> dict[str, str | None]:
        """Creature -> the graph that an event brings it to; none if the event removes it."""
        if event.kind == kinds.CREATURE_STARTED:
            return {payload_of(event, payloads.CreatureStarted).creature: event.graph_id}
        if event.kind == kinds.CREATURE_STOPPED:
            stopped = payload_of(event, payloads.CreatureStopped)
            return {stopped.creature: None} if stopped.reason == "removed" else {}
        if event.kind == kinds.CREATURE_SESSION_ATTACHED:
            return dict.fromkeys(payload_of(event, payloads.SessionAttached).creatures, event.graph_id)
        is_first_sight = event.actor == self._creature_id and self.graph_id is None
        return {event.actor: event.graph_id} if is_first_sight else {}
