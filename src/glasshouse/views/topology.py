"""The shape of the world as immutable values: graphs, their environments, their channels and their creatures."""

from __future__ import annotations

import msgspec

from glasshouse.reprs import repr_of
from glasshouse.world.state.ids import the_graph
from glasshouse.world.state.state import ChannelState, CreatureState, World
from glasshouse.world.state.topology import LISTEN, SEND
from glasshouse.world.state.values import Channel, Environment, Graph


class Member(msgspec.Struct, frozen=True):
    """A creature in a picture of its graph."""

    __repr__ = repr_of()

    id: str
    handle: str
    role: str
    run_id: str | None = None
    parent: str | None = None
    is_privileged: bool = False
    is_running: bool = True


class Shape(msgspec.Struct, frozen=True):
    """One graph with its channels, their edges, and its creatures, the oldest first."""

    __repr__ = repr_of("graph", "members")

    graph: Graph
    channels: tuple[Channel, ...]
    members: tuple[Member, ...]


def graph_of(world: World, graph_id: str) -> Graph:
    """An open graph as a value, with its creatures oldest first."""
    graph = the_graph(world, graph_id)
    members = tuple(world.by_age(graph.creatures))
    channels = tuple(graph.channels.owners)
    wire_ids = {wire_id: None for name in graph.creatures for wire_id in world.wires_of.get(name, ())}
    wires = tuple([world.wires[wire_id] for wire_id in wire_ids])
    return Graph(graph.id, graph.name, graph.session_id, graph.turn, members, channels, wires)


def graphs_of(world: World) -> tuple[Graph, ...]:
    """Every open graph, the oldest first."""
    by_age = sorted(world.graphs.values(), key=lambda graph: graph.born)
    return tuple([graph_of(world, graph.id) for graph in by_age])


def channel_of(world: World, channel: ChannelState) -> Channel:
    """A channel as a value, with its listeners and senders."""
    members = world.topology.members_of.get(channel.id, {}).items()
    listeners, senders = [tuple([name for name, how in members if how & wanted]) for wanted in (LISTEN, SEND)]
    about = (channel.id, channel.name, channel.description, channel.history, channel.graph_id)
    return Channel(*about, listeners, senders)


def environment_of(world: World, graph_id: str) -> Environment:
    """The channels of one graph, the oldest first."""
    channels = [
        world.channels[channel_id] for channel_id in the_graph(world, graph_id).channels.owners.values()
    ]
    channels.sort(key=lambda channel: channel.born)
    return Environment(graph_id, tuple([channel_of(world, channel) for channel in channels]))


def shapes_of(world: World) -> tuple[Shape, ...]:
    """Every open graph with its channels and creatures, the oldest first."""
    return tuple([_shape(world, graph) for graph in graphs_of(world)])


def _shape(world: World, graph: Graph) -> Shape:
    members = tuple([_member(world, world.creatures[name]) for name in graph.creature_ids])
    return Shape(graph, environment_of(world, graph.id).channels, members)


def _member(world: World, creature: CreatureState) -> Member:
    role = world.facts_of(creature).role
    marks = (creature.is_privileged, creature.is_running)
    return Member(creature.id, creature.handle, role, creature.run_id, creature.parent, *marks)
