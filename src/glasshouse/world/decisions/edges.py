"""Decisions about channels and wires that neither merge nor split a graph."""

from __future__ import annotations

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.payloads import ChannelOpened, WireAdded, WireRemoved
from glasshouse.world.decisions.decision import (
    Decision,
    Fact,
    engine_fact,
    joined,
    topology_changed,
    unchanged,
    written_in,
)
from glasshouse.world.decisions.intents import AddChannel, AddWire, JoinChannel, RemoveWire
from glasshouse.world.fold.members import wire_arriving
from glasshouse.world.hearing.wires import check_wire
from glasshouse.world.state.ids import (
    channel_id_for,
    check_channel_name,
    check_length,
    the_channel,
    the_creature,
    the_graph,
    wire_id_for,
)
from glasshouse.world.state.state import World, free_name
from glasshouse.world.state.topology import BITS


def channel_added(world: World, intent: AddChannel) -> Decision:
    """Open a channel that nobody is on yet: connectivity does not change."""
    graph = the_graph(world, intent.graph_id)
    check_channel_name(intent.name)
    check_length("description", intent.description)
    if intent.history not in ("full", "since_joined"):
        raise Refused(f"A channel has no history {intent.history!r}.", "Use 'full' or 'since_joined'.")
    if intent.name in graph.channels:
        raise Refused(
            f"Graph {graph.name} has a channel {intent.name!r} already.",
            f"Use it, or open {free_name(intent.name, graph.channels)!r}.",
        )
    channel_id = channel_id_for(graph.session_id, world.session_of(graph).head + 1)
    payload = ChannelOpened(channel_id, intent.name, intent.description, intent.history)
    return written_in(graph, [engine_fact(kinds.CHANNEL_OPENED, payload)], channel_id, unchanged(graph))


def wire_added(world: World, intent: AddWire) -> Decision:
    """Add an output wire within one graph. The same wire again changes nothing; with other options it is replaced."""
    source, target = the_creature(world, intent.source), the_creature(world, intent.target)
    if source.id == target.id:
        raise Refused(f"{source.handle} cannot be wired to itself.", "Name another target.")
    if source.graph_id != target.graph_id:
        raise Refused(
            f"{source.handle} and {target.handle} are in two graphs, and a wire never merges graphs.",
            f"First connect({source.id!r}, {target.id!r}), then wire them.",
        )
    check_length("prompt", intent.prompt or "")
    check_length("condition", intent.when or "")
    check_wire(with_content=intent.with_content, prompt=intent.prompt, when=intent.when)
    wire_id = wire_id_for(source.id, target.id)
    added = WireAdded(wire_id, source.id, target.id, intent.with_content, intent.prompt, intent.when)
    facts = [engine_fact(kinds.OUTPUT_WIRE_ADDED, added)]
    there = world.wires.get(wire_id)
    if there is not None:
        if wire_arriving(added) == there:
            return Decision(subject=wire_id)
        facts.insert(0, wire_gone(world, wire_id, "replaced"))
    graph = world.graphs[source.graph_id]
    return written_in(graph, facts, wire_id, unchanged(graph))


def wire_removed(world: World, intent: RemoveWire) -> Decision:
    """Remove an output wire."""
    source, target = the_creature(world, intent.source), the_creature(world, intent.target)
    wire_id = wire_id_for(source.id, target.id)
    if wire_id not in world.wires:
        others = [
            world.wires[w].target
            for w in world.wires_of.get(source.id, {})
            if world.wires[w].source == source.id
        ]
        advice = f"It is wired to {', '.join(others)}." if others else "It has no output wires."
        raise Refused(f"No wire leads from {source.handle} to {target.handle}.", advice)
    graph = world.graphs[source.graph_id]
    return written_in(graph, [wire_gone(world, wire_id, "removed")], wire_id, unchanged(graph))


def wire_gone(world: World, wire_id: str, reason: str) -> Fact:
    """The fact that a wire is removed, and why."""
    wire = world.wires[wire_id]
    return engine_fact(kinds.OUTPUT_WIRE_REMOVED, WireRemoved(wire.id, wire.source, wire.target, reason))


def channel_joined(world: World, intent: JoinChannel) -> Decision:
    """Let a creature listen, send or both on a channel of its graph. If it already does, nothing happens."""
    creature = the_creature(world, intent.creature)
    graph = world.graphs[creature.graph_id]
    channel = the_channel(world, graph, intent.channel)
    edges = world.topology.directions(creature.id, channel.id)
    facts = [
        joined(creature.id, channel.id, direction)
        for direction in intent.directions
        if not edges & BITS[direction]
    ]
    change = unchanged(graph)
    if not facts:
        return Decision(change=change, subject=channel.id)
    return written_in(graph, [*facts, topology_changed(change)], channel.id, change)
