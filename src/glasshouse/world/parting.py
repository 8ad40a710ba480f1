"""Disconnecting, removing and closing: where the only bridge goes, the graph splits.

Always holds: the largest part keeps the graph's id, on a tie the one with the oldest creature. The split's `topology.changed`
is the last event of the parent's session. Wires between two parts are removed with the reason `split`.
"""

from __future__ import annotations

from collections.abc import Iterator

from glasshouse.errors import Refused, names_shown_max
from glasshouse.events import kinds
from glasshouse.events.payloads import (
    ChannelClosed,
    ChannelEdge,
    CreatureStopped,
    ParentChanged,
    SessionForked,
)
from glasshouse.world.decision import (
    Decision,
    Fact,
    Write,
    attached,
    by_age,
    change_of,
    engine_fact,
    topology_changed,
)
from glasshouse.world.edges import wire_gone
from glasshouse.world.ids import graph_id_for, session_id_for
from glasshouse.world.intents import CloseGraph, Disconnect, LeaveChannel, RemoveChannel, RemoveCreature
from glasshouse.world.lookup import the_channel, the_creature, the_graph
from glasshouse.world.state import CreatureState, GraphState, Parent, Segment, World
from glasshouse.world.topology import BITS, LISTEN, SEND, Edge, Node, parted


def disconnected(world: World, intent: Disconnect) -> Decision:
    """`source` no longer sends and `target` no longer listens, where both did."""
    source, target = the_creature(world, intent.source), the_creature(world, intent.target)
    if source.id == target.id:
        raise Refused(f"{source.handle} cannot be disconnected from itself.", "Name another creature.")
    graph = world.graphs[source.graph_id]
    channels = _channels_between(world, graph, source, target, intent.channel)
    facts: list[Fact] = []
    cut: list[Edge] = []
    for channel_id in channels:
        facts.append(engine_fact(kinds.CHANNEL_LEFT, ChannelEdge(channel_id, source.id, "send")))
        facts.append(engine_fact(kinds.CHANNEL_LEFT, ChannelEdge(channel_id, target.id, "listen")))
        if world.topology.directions(source.id, channel_id) == SEND:
            cut.append((source.id, channel_id))
        if world.topology.directions(target.id, channel_id) == LISTEN:
            cut.append((target.id, channel_id))
    ends: list[Node] = []
    for creature, channel_id in cut:
        ends += (("creature", creature), ("channel", channel_id))
    apart = parted(world.topology, ends, cut=cut)
    return _finished(world, graph, facts, apart, gone=None, subject=source.id)


def _channels_between(
    world: World, graph: GraphState, source: CreatureState, target: CreatureState, name: str | None
) -> list[str]:
    topology = world.topology
    fewer = min((topology.channels_of.get(end.id, {}) for end in (source, target)), key=len)
    both = [
        channel_id
        for channel_id in fewer
        if topology.directions(source.id, channel_id) & SEND
        and topology.directions(target.id, channel_id) & LISTEN
    ]
    both.sort(key=lambda channel_id: world.channels[channel_id].born)
    if name is not None:
        wanted = the_channel(world, graph, name).id
        both = [channel_id for channel_id in both if channel_id == wanted]
    if not both:
        where = "" if name is None else f" on {name}"
        raise Refused(
            f"{source.handle} does not send to {target.handle}{where}.",
            "Look at environment(graph_id) for who sends where; to cut the other direction, disconnect it separately.",
        )
    return both


def channel_left(world: World, intent: LeaveChannel) -> Decision:
    """A creature is taken off a channel; where that was the only bridge, the graph splits."""
    creature = the_creature(world, intent.creature)
    graph = world.graphs[creature.graph_id]
    channel = the_channel(world, graph, intent.channel)
    edges = world.topology.directions(creature.id, channel.id)
    leaves = [direction for direction in intent.directions if edges & BITS[direction]]
    if not leaves:
        raise Refused(
            f"{creature.handle} does not {' or '.join(intent.directions)} on {channel.name}.",
            _where_it_is(world, creature),
        )
    facts = [
        engine_fact(kinds.CHANNEL_LEFT, ChannelEdge(channel.id, creature.id, direction))
        for direction in leaves
    ]
    is_off = edges == sum(BITS[direction] for direction in leaves)
    ends: list[Node] = [("creature", creature.id), ("channel", channel.id)] if is_off else []
    apart = parted(world.topology, ends, cut=[(creature.id, channel.id)])
    return _finished(world, graph, facts, apart, gone=None, subject=channel.id)


def _where_it_is(world: World, creature: CreatureState) -> str:
    names = [world.channels[name].name for name in world.topology.channels_of.get(creature.id, {})]
    return f"It is on {', '.join(names[:names_shown_max])}." if names else "It is on no channel."


def creature_removed(world: World, intent: RemoveCreature) -> Decision:
    """A creature is gone, with its edges and wires, and with the channel that it had with its parent alone; what hung on
    it alone comes apart."""
    creature = the_creature(world, intent.creature)
    graph = world.graphs[creature.graph_id]
    facts = [wire_gone(world, wire_id, "removed") for wire_id in world.wires_of.get(creature.id, {})]
    for child in world.children_of.get(creature.id, {}):
        facts.append(
            engine_fact(kinds.PARENT_LINK_CHANGED, ParentChanged(child, creature.id, creature.parent))
        )
    facts += _direct_channels_closed(world, creature)
    facts.append(engine_fact(kinds.CREATURE_STOPPED, CreatureStopped(creature.id, "removed")))
    ends: list[Node] = [("channel", name) for name in world.topology.channels_of.get(creature.id, {})]
    apart = parted(world.topology, ends, gone=("creature", creature.id))
    return _finished(world, graph, facts, apart, gone=creature.id, subject=creature.id)


def _direct_channels_closed(world: World, creature: CreatureState) -> list[Fact]:
    """Close channels on which only the creature's parent would be left."""
    if creature.parent is None:
        return []
    pair = {creature.id, creature.parent}
    alone = [
        world.channels[name]
        for name in world.topology.channels_of.get(creature.id, {})
        if world.topology.members_of[name].keys() == pair
    ]
    return [engine_fact(kinds.CHANNEL_CLOSED, ChannelClosed(channel.id, channel.name)) for channel in alone]


def graph_closed(world: World, intent: CloseGraph) -> Decision:
    """Close a graph with everybody in it, if all runs in it have finished."""
    graph = the_graph(world, intent.graph_id)
    for name in graph.creatures:
        creature = world.creatures[name]
        run = world.runs.get(creature.run_id or "")
        if run is None or run.status != "finished":
            raise Refused(
                f"{creature.handle} in graph {graph.name} still plays.",
                f"Finish run {creature.run_id} first, or remove its creatures one by one.",
            )
    wires = {wire: None for name in graph.creatures for wire in world.wires_of.get(name, {})}
    facts = [wire_gone(world, wire, "removed") for wire in wires]
    for name in graph.creatures:
        for child in world.children_of.get(name, {}):
            if child not in graph.creatures:
                facts.append(engine_fact(kinds.PARENT_LINK_CHANGED, ParentChanged(child, name, None)))
    facts += [
        engine_fact(kinds.CREATURE_STOPPED, CreatureStopped(name, "removed")) for name in graph.creatures
    ]
    change = change_of("nothing", (graph.id,), (), by_age(world, graph.creatures))
    write = Write(graph.session_id, graph.id, (*facts, topology_changed(change)))
    return Decision((write,), change, graph.id)


def channel_removed(world: World, intent: RemoveChannel) -> Decision:
    """Close a channel; the graph splits if it was the only connection."""
    graph = the_graph(world, intent.graph_id)
    channel = the_channel(world, graph, intent.name)
    facts = [engine_fact(kinds.CHANNEL_CLOSED, ChannelClosed(channel.id, channel.name))]
    ends: list[Node] = [("creature", name) for name in world.topology.members_of.get(channel.id, {})]
    apart = parted(world.topology, ends, gone=("channel", channel.id))
    return _finished(world, graph, facts, apart, gone=None, subject=channel.id)


def _finished(
    world: World,
    graph: GraphState,
    facts: list[Fact],
    apart: list[list[str]],
    *,
    gone: str | None,
    subject: str,
) -> Decision:
    """The whole decision: the graph stays, closes or splits."""
    sides = _sides(world, graph, apart, gone)
    if len(sides) > 1:
        return _split(world, graph, facts, sides, gone, subject)
    stays = (graph.id,) if len(graph.creatures) > (gone is not None) else ()
    change = change_of("nothing", (graph.id,), stays, () if gone is None else (gone,))
    write = Write(graph.session_id, graph.id, (*facts, topology_changed(change)))
    return Decision((write,), change, subject)


def _sides(world: World, graph: GraphState, apart: list[list[str]], gone: str | None) -> list[list[str]]:
    """The parts, survivor first, the others by their oldest creature. The survivor's list is left empty
    when it is the part that was never walked, because nobody in it moves."""
    if not apart:
        return [[]]
    rest = len(graph.creatures) - (gone is not None) - sum(map(len, apart))
    if rest > max(map(len, apart)):
        others = [by_age(world, part) for part in apart]
        return [[], *sorted(others, key=lambda part: world.creatures[part[0]].born)]
    walked = {name for part in apart for name in part}
    unwalked = [name for name in graph.creatures if name not in walked and name != gone]
    parts = [by_age(world, part) for part in (*apart, unwalked) if part]
    parts.sort(key=lambda part: world.creatures[part[0]].born)
    survivor = max(parts, key=len)
    return [survivor, *(part for part in parts if part is not survivor)]


def _split(
    world: World, graph: GraphState, facts: list[Fact], sides: list[list[str]], gone: str | None, subject: str
) -> Decision:
    parent = world.session_of(graph)
    session_ids = _session_ids_for_parts(world, graph, len(sides))
    graph_ids = [graph.id, *(graph_id_for(session_id) for session_id in session_ids[1:])]
    moved = by_age(world, (name for side in sides[1:] for name in side))
    change = change_of("split", (graph.id,), graph_ids, moved)
    facts = [*facts, *_parted_wires(world, sides[1:], gone), topology_changed(change)]
    upto = parent.head + len(facts)
    writes = [Write(graph.session_id, graph.id, tuple(facts))]
    for n, side in enumerate(sides):
        segment = Segment(
            id=session_ids[n],
            graph_id=graph_ids[n],
            origin="split",
            ordinal=world.sessions_begun + n,
            base=parent.segment.base + upto,
            parents=(Parent(graph.session_id, upto),),
            at=f"{graph.session_id}.{upto}",
        )
        writes.append(_opening(segment, side if n else []))
    return Decision(tuple(writes), change, subject)


def _session_ids_for_parts(world: World, graph: GraphState, count: int) -> list[str]:
    """An id for each part that no imported session has."""
    session_ids: list[str] = []
    ordinal = 0
    while len(session_ids) < count:
        name = session_id_for("split", (graph.session_id,), ordinal)
        ordinal += 1
        if name not in world.sessions:
            session_ids.append(name)
    return session_ids


def _opening(segment: Segment, moved: list[str]) -> Write:
    parents = [parent.session_id for parent in segment.parents]
    forked = SessionForked(session=segment.id, parents=parents, how="split", at=segment.at or "")
    facts = (engine_fact(kinds.SESSION_FORKED, forked), *attached(segment.id, moved))
    return Write(segment.id, segment.graph_id, facts, segment)


def _parted_wires(world: World, moved_sides: list[list[str]], gone: str | None) -> Iterator[Fact]:
    """Remove each wire that leads out of a moved part."""
    removed: set[str] = set()
    for side in moved_sides:
        together = set(side)
        for name in side:
            for wire_id in world.wires_of.get(name, {}):
                wire = world.wires[wire_id]
                other = wire.target if wire.source == name else wire.source
                if other not in together and other != gone and wire_id not in removed:
                    removed.add(wire_id)
                    yield wire_gone(world, wire_id, "split")
