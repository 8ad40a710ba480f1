"""`Following`: an `EventFilter` that knows where its creatures and channels are.

A change of a graph names only the creatures that move, and an edge names its channel by id. So a subscription notes in
which graph each wanted creature is, and which channels have a wanted name, from the events that it reads.

Always holds: the caller passes events in commit order, each once. The cost of an event does not grow with the graph.
"""

from __future__ import annotations

from collections.abc import Callable

from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event
from glasshouse.events.filter import EventFilter
from glasshouse.events.payloads import PAYLOAD_TYPES, Payload, payload_of
from glasshouse.world.state.state import World

_FOLLOWED = kinds.OF_GRAPHS | kinds.OF_CHANNELS | {kinds.CREATURE_STARTED, kinds.CREATURE_STOPPED}


class Following:
    """Matches what a filter wants, in the world as it is at each event."""

    def __init__(self, wanted: EventFilter, world: World, is_imported: Callable[[str], bool]) -> None:
        self._wanted = wanted
        self._is_imported = is_imported
        living = [world.creatures[name] for name in wanted.creature_ids or () if name in world.creatures]
        self._graph_of = {creature.id: creature.graph_id for creature in living}
        self._session_of = {name: world.graphs[name].session_id for name in self._graph_of.values()}
        """The session of each graph that a wanted creature is in."""
        self._removed: list[str] = []
        self._sides: frozenset[str] = frozenset()
        """The graphs that the last change, a split of a followed graph, made of it."""
        self._names = wanted.channels or frozenset()
        owners = [graph.channels.owners for graph in world.graphs.values()] if self._names else []
        self._channel_ids = {names[name] for names in owners for name in self._names if name in names}

    def matches(self, event: Event) -> bool:
        """Whether the event is wanted. Notes what it changes."""
        # Creatures and graphs of an imported session are not those of this house, even if they have the same ids.
        if event.kind not in _FOLLOWED or self._is_imported(event.session_id):
            return self._wanted.matches(event)
        payload = payload_of(event, PAYLOAD_TYPES[event.kind])
        is_of_graph = self._is_of_graph(event, payload)
        is_of_channel = getattr(payload, "channel_id", None) in self._channel_ids
        self._note(event, payload, is_of_graph=is_of_graph)
        return self._wanted.takes(event, is_of_graph=is_of_graph, is_of_channel=is_of_channel)

    def _is_of_graph(self, event: Event, payload: Payload) -> bool:
        """Whether the event changes a graph with a wanted creature, or its session."""
        graphs = self._session_of
        match payload:
            case payloads.TopologyChanged():
                return any(name in graphs for name in (*payload.old_graph_ids, *payload.new_graph_ids))
            case payloads.SessionAttached():
                return event.graph_id in graphs
            case payloads.SessionForked():
                is_side = event.graph_id in graphs or event.graph_id in self._sides
                return is_side or not frozenset(payload.parents).isdisjoint(graphs.values())
            case _:
                return False

    def _note(self, event: Event, payload: Payload, *, is_of_graph: bool) -> None:
        match payload:
            case payloads.CreatureStarted():
                self._move([payload.creature], event)
            case payloads.SessionAttached():
                self._move(payload.creatures, event)
            case payloads.CreatureStopped(reason="removed") if payload.creature in self._graph_of:
                self._removed.append(payload.creature)
            case payloads.TopologyChanged():
                self._sides = frozenset(payload.new_graph_ids if is_of_graph else ())
                if self._removed:
                    self._graph_of = {k: v for k, v in self._graph_of.items() if k not in self._removed}
                    self._keep_sessions(self._session_of)
                    self._removed.clear()
            case payloads.ChannelOpened() | payloads.ChannelRenamed() if payload.name in self._names:
                self._channel_ids.add(payload.channel_id)
            case payloads.ChannelClosed() | payloads.ChannelRenamed():
                self._channel_ids.discard(payload.channel_id)
            case _:
                pass
        if event.graph_id in self._session_of:
            self._session_of[event.graph_id] = event.session_id

    def _move(self, creature_ids: list[str], event: Event) -> None:
        moved = (self._wanted.creature_ids or frozenset()).intersection(creature_ids)
        if moved:
            self._graph_of |= dict.fromkeys(moved, event.graph_id)
            self._keep_sessions(self._session_of | {event.graph_id: event.session_id})

    def _keep_sessions(self, sessions: dict[str, str]) -> None:
        self._session_of = {graph_id: sessions[graph_id] for graph_id in self._graph_of.values()}
