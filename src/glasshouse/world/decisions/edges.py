"""Decisions that add, rename or describe channels, add edges, and add or remove wires. An edge may merge two graphs.

Always holds: in a merge, the graph with more creatures keeps its id; on a tie, the older one does. Where names
conflict, creatures and channels of the other graph are renamed, never those of the survivor (ADR 0009). Both sessions
end and one begins. Wires never merge or split a graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from glasshouse.errors import Refused
from glasshouse.events import payloads
from glasshouse.world.decisions import decision
from glasshouse.world.decisions.decision import Decision, Fact, Write, engine_fact, written_in
from glasshouse.world.decisions.intents import (
    AddChannel,
    AddWire,
    Connect,
    DescribeChannel,
    JoinChannel,
    RemoveWire,
    RenameChannel,
)
from glasshouse.world.fold.members import wire_arriving
from glasshouse.world.hearing.wires import check_wire
from glasshouse.world.state import ids
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

auto_name_chars_max = ids.name_chars_max - 8
"""`connect` cuts the name that it makes for a channel here, so that a `~2` still fits."""


def channel_added(world: World, intent: AddChannel) -> Decision:
    """Open a channel that nobody is on yet: connectivity does not change."""
    graph = ids.the_graph(world, intent.graph_id)
    ids.check_channel_name(intent.name)
    ids.check_length("description", intent.description)
    if intent.history not in ("full", "since_joined"):
        raise Refused(f"A channel has no history {intent.history!r}.", "Use 'full' or 'since_joined'.")
    _check_free(graph, intent.name, "open")
    channel_id = ids.channel_id_for(graph.session_id, world.session_of(graph).head + 1)
    fact = decision.opened(world.births + 1, channel_id, intent.name, intent.description, intent.history)
    return written_in(graph, [fact], channel_id, decision.unchanged(graph))


def channel_renamed(world: World, intent: RenameChannel) -> Decision:
    """Rename a channel. Edges follow its id, so nobody hears more or less."""
    graph = ids.the_graph(world, intent.graph_id)
    channel = ids.the_channel(world, graph, intent.name)
    ids.check_channel_name(intent.new_name)
    if intent.new_name == channel.name:
        return Decision(subject=channel.id)
    _check_free(graph, intent.new_name, "choose")
    fact = engine_fact(payloads.ChannelRenamed(channel.id, channel.name, intent.new_name))
    return written_in(graph, [fact], channel.id, decision.unchanged(graph))


def channel_described(world: World, intent: DescribeChannel) -> Decision:
    """Describe a channel anew."""
    graph = ids.the_graph(world, intent.graph_id)
    channel = ids.the_channel(world, graph, intent.name)
    ids.check_length("description", intent.description)
    if intent.description == channel.description:
        return Decision(subject=channel.id)
    fact = engine_fact(payloads.ChannelDescribed(channel.id, channel.name, intent.description))
    return written_in(graph, [fact], channel.id, decision.unchanged(graph))


def _check_free(graph: GraphState, name: str, instead: str) -> None:
    if name in graph.channels.owners:
        raise Refused(
            f"Graph {graph.name} has a channel {name!r} already.",
            f"Use it, or {instead} {free_name(name, graph.channels)!r}.",
        )


def wire_added(world: World, intent: AddWire) -> Decision:
    """Add an output wire within one graph. The same wire again changes nothing; with other options it is replaced."""
    source = ids.the_creature(world, intent.source)
    target = ids.the_creature(world, intent.target)
    if source.id == target.id:
        raise Refused(f"{source.handle} cannot be wired to itself.", "Name another target.")
    if source.graph_id != target.graph_id:
        raise Refused(
            f"{source.handle} and {target.handle} are in two graphs, and a wire never merges graphs.",
            f"First connect({source.id!r}, {target.id!r}), then wire them.",
        )
    ids.check_length("prompt", intent.prompt or "")
    ids.check_length("condition", intent.when or "")
    check_wire(with_content=intent.with_content, prompt=intent.prompt, when=intent.when)
    wire_id = ids.wire_id_for(source.id, target.id)
    added = payloads.WireAdded(wire_id, source.id, target.id, intent.with_content, intent.prompt, intent.when)
    facts = [engine_fact(added)]
    there = world.wires.get(wire_id)
    if there is not None:
        if wire_arriving(added) == there:
            return Decision(subject=wire_id)
        facts.insert(0, wire_gone(world, wire_id, "replaced"))
    graph = world.graphs[source.graph_id]
    return written_in(graph, facts, wire_id, decision.unchanged(graph))


def wire_removed(world: World, intent: RemoveWire) -> Decision:
    """Remove an output wire."""
    source = ids.the_creature(world, intent.source)
    target = ids.the_creature(world, intent.target)
    wire_id = ids.wire_id_for(source.id, target.id)
    if wire_id not in world.wires:
        wires = [world.wires[name] for name in world.wires_of.get(source.id, {})]
        others = [wire.target for wire in wires if wire.source == source.id]
        advice = f"It is wired to {', '.join(others)}." if others else "It has no output wires."
        raise Refused(f"No wire leads from {source.handle} to {target.handle}.", advice)
    graph = world.graphs[source.graph_id]
    return written_in(graph, [wire_gone(world, wire_id, "removed")], wire_id, decision.unchanged(graph))


def wire_gone(world: World, wire_id: str, reason: str) -> Fact:
    """The fact that a wire is removed, and why."""
    wire = world.wires[wire_id]
    return engine_fact(payloads.WireRemoved(wire.id, wire.source, wire.target, reason))


def channel_joined(world: World, intent: JoinChannel) -> Decision:
    """Let a creature listen, send or both on a channel of its graph. If it already does, nothing happens."""
    creature = ids.the_creature(world, intent.creature)
    graph = world.graphs[creature.graph_id]
    channel = ids.the_channel(world, graph, intent.channel)
    facts = _missing_edges(world, channel.id, [(creature.id, direction) for direction in intent.directions])
    return _reshaped(graph, facts, channel.id)


def _missing_edges(world: World, channel_id: str, wanted: list[tuple[str, payloads.Direction]]) -> list[Fact]:
    """Facts for the wanted edges to a channel that do not exist yet."""
    return [
        decision.joined(creature, channel_id, direction)
        for creature, direction in wanted
        if not world.topology.directions(creature, channel_id) & BITS[direction]
    ]


def _reshaped(graph: GraphState, facts: list[Fact], channel_id: str) -> Decision:
    """The decision to add edges inside one graph. Without new edges, it writes nothing."""
    change = decision.unchanged(graph)
    if not facts:
        return Decision(change=change, subject=channel_id)
    return decision.reshaped(graph, facts, channel_id, change)


def connected(world: World, intent: Connect) -> Decision:
    """Let `source` send and `target` listen on one channel; two graphs merge."""
    source = ids.the_creature(world, intent.source)
    target = ids.the_creature(world, intent.target)
    if source.id == target.id:
        raise Refused(f"{source.handle} cannot be connected to itself.", "Name another creature.")
    if intent.channel is not None:
        ids.check_channel_name(intent.channel)
    if source.graph_id == target.graph_id:
        return _within(world, world.graphs[source.graph_id], source, target, intent)
    return _across(world, source, target, intent)


def _within(
    world: World, graph: GraphState, source: CreatureState, target: CreatureState, intent: Connect
) -> Decision:
    channel_id = _known_channel(world, intent.channel, graph)
    facts: list[Fact] = []
    if channel_id is None:
        channel_id = ids.channel_id_for(graph.session_id, world.session_of(graph).head + 1)
        name = intent.channel or name_between(source.handle, target.handle, graph.channels)
        facts.append(decision.opened(world.births + 1, channel_id, name))
    return _reshaped(graph, facts + _edges(world, channel_id, intent), channel_id)


def _known_channel(world: World, name: str | None, *graphs: GraphState) -> str | None:
    """The channel of that name (or id) in the first graph that has it."""
    if name is None:
        return None
    for graph in graphs:
        if name in graph.channels.owners:
            return graph.channels.owners[name]
    named = world.channels.get(name)
    return name if named is not None and any(named.graph_id == graph.id for graph in graphs) else None


def name_between(source: str, target: str, *registers: Register, also_taken: Collection[str] = ()) -> str:
    """A free name for a channel between two creatures, made from their handles."""
    stem = f"{source}-{target}".replace("~", "_")[:auto_name_chars_max]
    return free_name(stem, *registers, also_taken=also_taken)


def _edges(world: World, channel_id: str, intent: Connect) -> list[Fact]:
    wanted: list[tuple[str, payloads.Direction]] = [(intent.source, "send"), (intent.target, "listen")]
    if intent.both:
        wanted += [(intent.target, "send"), (intent.source, "listen")]
    return _missing_edges(world, channel_id, wanted)


def _across(world: World, source: CreatureState, target: CreatureState, intent: Connect) -> Decision:
    first = world.graphs[source.graph_id]
    second = world.graphs[target.graph_id]
    survivor, dropped = sorted((first, second), key=lambda graph: (-len(graph.creatures), graph.born))
    opens = _merged_segment(world, survivor, dropped)
    moved = world.by_age(dropped.creatures)
    change = Change("merge", (survivor.id, dropped.id), (survivor.id,), tuple(moved))
    channel_id = _known_channel(world, intent.channel, first, second)
    names_taken = set() if channel_id is not None or intent.channel is None else {intent.channel}
    facts = [
        decision.topology_changed(change),
        *decision.attached(opens.id, moved, decision.staying(world, survivor, (), 0)),
        *_new_handles(world, survivor, dropped, moved),
        *_new_channel_names(world, survivor, dropped, names_taken),
    ]
    if channel_id is None:
        channel_id = ids.channel_id_for(opens.id, len(facts) + 1)
        both = (survivor.channels, dropped.channels)
        name = intent.channel or name_between(source.handle, target.handle, *both, also_taken=names_taken)
        facts.append(decision.opened(world.births + 1, channel_id, name))
    facts += _edges(world, channel_id, intent)
    return Decision((Write(opens.id, survivor.id, tuple(facts), opens),), change, channel_id)


def _merged_segment(world: World, survivor: GraphState, dropped: GraphState) -> Segment:
    ended = [world.session_of(survivor), world.session_of(dropped)]
    parents = tuple(Parent(session.segment.id, session.head) for session in ended)
    session_id = ids.free_session_id(world, "merge", (survivor.session_id, dropped.session_id), 0)
    base = max(session.lamport for session in ended)
    return Segment(session_id, survivor.id, "merge", world.sessions_begun, base, parents, f"{session_id}.1")


def _new_handles(world: World, survivor: GraphState, dropped: GraphState, moved: list[str]) -> Iterator[Fact]:
    """Rename each creature of the dropped graph whose handle the survivor already has."""
    taken: set[str] = set()
    for creature in (world.creatures[name] for name in moved):
        if creature.handle in survivor.handles.owners:
            handle = free_name(creature.handle, survivor.handles, dropped.handles, also_taken=taken)
            taken.add(handle)
            yield engine_fact(payloads.CreatureRenamed(creature.id, creature.handle, handle))


def _new_channel_names(
    world: World, survivor: GraphState, dropped: GraphState, taken: set[str]
) -> Iterator[Fact]:
    """Rename each channel of the dropped graph whose name the survivor already has, and add the names to `taken`."""
    names_of_both = survivor.channels.owners.keys() & dropped.channels.owners.keys()
    clashing = [world.channels[dropped.channels.owners[name]] for name in names_of_both]
    for channel in sorted(clashing, key=lambda channel: channel.born):
        name = free_name(channel.name, survivor.channels, dropped.channels, also_taken=taken)
        taken.add(name)
        yield engine_fact(payloads.ChannelRenamed(channel.id, channel.name, name))
