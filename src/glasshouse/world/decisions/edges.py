"""Decisions that add channels and edges, and that add or remove wires. Connecting creatures of two graphs merges them.

Always holds: in a merge, the graph with more creatures keeps its id; on a tie, the older one does. Where names
conflict, creatures and channels of the other graph are renamed, never those of the survivor (ADR 0009). Both sessions
end and one begins. Wires never merge or split a graph.
"""

from __future__ import annotations

from collections.abc import Iterator

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.payloads import (
    ChannelRenamed,
    CreatureRenamed,
    Direction,
    WireAdded,
    WireRemoved,
)
from glasshouse.world.decisions.decision import (
    Decision,
    Fact,
    Write,
    attached,
    by_age,
    engine_fact,
    joined,
    opened,
    topology_changed,
    unchanged,
    written_in,
)
from glasshouse.world.decisions.intents import AddChannel, AddWire, Connect, JoinChannel, RemoveWire
from glasshouse.world.fold.members import wire_arriving
from glasshouse.world.hearing.wires import check_wire
from glasshouse.world.state.ids import (
    channel_id_for,
    check_channel_name,
    check_length,
    free_session_id,
    name_chars_max,
    the_channel,
    the_creature,
    the_graph,
    wire_id_for,
)
from glasshouse.world.state.state import (
    CreatureState,
    GraphState,
    Parent,
    Register,
    Segment,
    World,
    free_name,
)
from glasshouse.world.state.topology import BITS
from glasshouse.world.state.values import Change

auto_name_chars_max = name_chars_max - 8


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
    fact = opened(channel_id, intent.name, intent.description, intent.history)
    return written_in(graph, [fact], channel_id, unchanged(graph))


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
    facts = _missing_edges(world, channel.id, [(creature.id, direction) for direction in intent.directions])
    return _reshaped(graph, facts, channel.id)


def _missing_edges(world: World, channel_id: str, wanted: list[tuple[str, Direction]]) -> list[Fact]:
    """Facts for the wanted edges to a channel that do not exist yet."""
    return [
        joined(creature, channel_id, direction)
        for creature, direction in wanted
        if not world.topology.directions(creature, channel_id) & BITS[direction]
    ]


def _reshaped(graph: GraphState, facts: list[Fact], channel_id: str) -> Decision:
    """The decision to add edges inside one graph. Without new edges, it writes nothing."""
    change = unchanged(graph)
    if not facts:
        return Decision(change=change, subject=channel_id)
    return written_in(graph, [*facts, topology_changed(change)], channel_id, change)


def connected(world: World, intent: Connect) -> Decision:
    """Let `source` send and `target` listen on one channel; two graphs merge."""
    source, target = the_creature(world, intent.source), the_creature(world, intent.target)
    if source.id == target.id:
        raise Refused(f"{source.handle} cannot be connected to itself.", "Name another creature.")
    if intent.channel is not None:
        check_channel_name(intent.channel)
    if source.graph_id == target.graph_id:
        return _within(world, world.graphs[source.graph_id], source, target, intent)
    return _across(world, source, target, intent)


def _within(
    world: World, graph: GraphState, source: CreatureState, target: CreatureState, intent: Connect
) -> Decision:
    channel_id = _known_channel(world, intent.channel, graph)
    facts: list[Fact] = []
    if channel_id is None:
        channel_id = channel_id_for(graph.session_id, world.session_of(graph).head + 1)
        name = intent.channel or name_between(source.handle, target.handle, graph.channels)
        facts.append(opened(channel_id, name))
    return _reshaped(graph, facts + _edges(world, channel_id, intent), channel_id)


def _known_channel(world: World, name: str | None, *graphs: GraphState) -> str | None:
    """The channel of that name (or id) in the first graph that has it."""
    if name is None:
        return None
    for graph in graphs:
        if name in graph.channels:
            return graph.channels[name]
    named = world.channels.get(name)
    return name if named is not None and any(named.graph_id == graph.id for graph in graphs) else None


def name_between(
    source: str, target: str, *registers: Register, also_taken: dict[str, str] | None = None
) -> str:
    """A free name for a channel between two creatures, made from their handles."""
    stem = f"{source}-{target}".replace("~", "_")[:auto_name_chars_max]
    return free_name(stem, *registers, also_taken=also_taken)


def _edges(world: World, channel_id: str, intent: Connect) -> list[Fact]:
    wanted: list[tuple[str, Direction]] = [(intent.source, "send"), (intent.target, "listen")]
    if intent.both:
        wanted += [(intent.target, "send"), (intent.source, "listen")]
    return _missing_edges(world, channel_id, wanted)


def _across(world: World, source: CreatureState, target: CreatureState, intent: Connect) -> Decision:
    first, second = world.graphs[source.graph_id], world.graphs[target.graph_id]
    survivor, dropped = sorted((first, second), key=lambda graph: (-len(graph.creatures), graph.born))
    opens = _merged_segment(world, survivor, dropped)
    moved = by_age(world, dropped.creatures)
    change = Change("merge", (survivor.id, dropped.id), (survivor.id,), tuple(moved))
    channel_id = _known_channel(world, intent.channel, first, second)
    names_taken = {} if channel_id is not None or intent.channel is None else {intent.channel: ""}
    facts = [
        topology_changed(change),
        *attached(opens.id, moved),
        *_new_handles(world, survivor, dropped, moved),
        *_new_channel_names(world, survivor, dropped, names_taken),
    ]
    if channel_id is None:
        channel_id = channel_id_for(opens.id, len(facts) + 1)
        name = intent.channel or name_between(
            source.handle, target.handle, survivor.channels, dropped.channels, also_taken=names_taken
        )
        facts.append(opened(channel_id, name))
    facts += _edges(world, channel_id, intent)
    return Decision((Write(opens.id, survivor.id, tuple(facts), opens),), change, channel_id)


def _merged_segment(world: World, survivor: GraphState, dropped: GraphState) -> Segment:
    ended = [world.session_of(survivor), world.session_of(dropped)]
    parents = tuple(Parent(session.segment.id, session.head) for session in ended)
    session_id = free_session_id(world, "merge", (survivor.session_id, dropped.session_id), 0)
    base = max(session.lamport for session in ended)
    return Segment(session_id, survivor.id, "merge", world.sessions_begun, base, parents, f"{session_id}.1")


def _new_handles(world: World, survivor: GraphState, dropped: GraphState, moved: list[str]) -> Iterator[Fact]:
    """Rename each creature of the dropped graph whose handle the survivor already has."""
    taken: dict[str, str] = {}
    for creature in (world.creatures[name] for name in moved):
        if creature.handle in survivor.handles:
            handle = free_name(creature.handle, survivor.handles, dropped.handles, also_taken=taken)
            taken[handle] = creature.id
            yield engine_fact(kinds.CREATURE_RENAMED, CreatureRenamed(creature.id, creature.handle, handle))


def _new_channel_names(
    world: World, survivor: GraphState, dropped: GraphState, taken: dict[str, str]
) -> Iterator[Fact]:
    """Rename each channel of the dropped graph whose name the survivor already has, and add the names to `taken`."""
    clashing = [channel_id for name, channel_id in dropped.channels.items() if name in survivor.channels]
    for channel in sorted((world.channels[c] for c in clashing), key=lambda channel: channel.born):
        name = free_name(channel.name, survivor.channels, dropped.channels, also_taken=taken)
        taken[name] = channel.id
        yield engine_fact(kinds.CHANNEL_RENAMED, ChannelRenamed(channel.id, channel.name, name))
