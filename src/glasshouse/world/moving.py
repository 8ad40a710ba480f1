"""Creatures that change their graph: absorbed by a merge, moved by a split.

Always holds: small into large. Whoever stays where it is costs nothing; channels go with those who are on them.
"""

from __future__ import annotations

from glasshouse.errors import Refused
from glasshouse.events.event import Event
from glasshouse.events.payloads import TopologyChanged, payload_of
from glasshouse.world.lasting import leave
from glasshouse.world.state import CreatureState, GraphState, Stay, World


def absorb(world: World, survivor: GraphState, dropped: GraphState, lamport: int) -> None:
    """Small into large: everything of the dropped graph becomes the survivor's. Clashing names wait for
    their rename, which follows in the same batch."""
    survivor.turn = max(survivor.turn, dropped.turn)
    for name in dropped.creatures:
        creature = world.creatures[name]
        _relabel(creature, survivor.id, lamport)
        survivor.creatures[name] = None
        survivor.handles.take(creature.handle, name)
    for name, channel_id in dropped.channels.items():
        world.channels[channel_id].graph_id = survivor.id
        survivor.channels.take(name, channel_id)
    survivor.roots |= dropped.roots
    del world.graphs[dropped.id]


def move(world: World, creature: CreatureState, graph: GraphState, lamport: int) -> None:
    """One creature of a split's smaller part goes to its new graph, its channels with it, as that graph begins."""
    left = world.graphs[creature.graph_id]
    del left.creatures[creature.id]
    left.handles.release(creature.handle, creature.id)
    graph.name = graph.name or creature.handle
    graph.creatures[creature.id] = None
    graph.handles.take(creature.handle, creature.id)
    if creature.is_root:
        del left.roots[creature.id]
        graph.roots[creature.id] = None
    _relabel(creature, graph.id, lamport)
    for channel_id in world.topology.channels_of.get(creature.id, ()):
        channel = world.channels[channel_id]
        if channel.graph_id != graph.id:
            left.channels.release(channel.name, channel.id)
            graph.channels.take(channel.name, channel.id)
            channel.graph_id = graph.id


def _relabel(creature: CreatureState, graph_id: str, lamport: int) -> None:
    creature.graph_id = graph_id
    leave(creature, lamport)
    creature.stays.append(Stay(graph_id, lamport))


def part_unseen(world: World, event: Event) -> None:
    """Move those whom a split took away out of the graph, in a history that need not tell where they went."""
    told = payload_of(event, TopologyChanged)
    if told.affected_count > len(told.affected_creatures):
        raise Refused(
            f"{event.id} parted {told.affected_count:,} creatures and names {len(told.affected_creatures):,} of them; the"
            " file does not carry the side that tells of the others.",
            "Import that side as well, or ask in the store where it was played.",
        )
    world.births += 1
    parent = world.graphs[event.graph_id]
    graph = GraphState(told.new_graph_ids[1], "", event.session_id, world.births, parent.turn)
    world.graphs[graph.id] = graph
    for name in told.affected_creatures:
        move(world, world.creatures[name], graph, event.lamport + 1)
