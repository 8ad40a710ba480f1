"""Decisions that disconnect, remove and close. If they remove the only connection, the graph splits.

Always holds: the largest part keeps the graph's id; on a tie, the part with the oldest creature does. The split's
`topology.changed` is the last event of the parent's session. Wires between two parts are removed with the reason
`split`. Removing a creature or channel drops its edges without an event for each: ADR 0010.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, islice

from glasshouse.errors import Refused, names_shown_max
from glasshouse.events import kinds, payloads
from glasshouse.world.decisions import decision, intents
from glasshouse.world.decisions.decision import Decision, Fact, Write, engine_fact
from glasshouse.world.decisions.edges import wire_gone
from glasshouse.world.state import ids
from glasshouse.world.state.state import CreatureState, GraphState, Parent, Segment, World
from glasshouse.world.state.topology import BITS, LISTEN, SEND, Edge, Node, parted
from glasshouse.world.state.values import Change


def disconnected(world: World, intent: intents.Disconnect) -> Decision:
    """Stop `source` sending and `target` listening on the channels where both did."""
    source = ids.the_creature(world, intent.source)
    target = ids.the_creature(world, intent.target)
    if source.id == target.id:
        raise Refused(f"{source.handle} cannot be disconnected from itself.", "Name another creature.")
    graph = world.graphs[source.graph_id]
    facts: list[Fact] = []
    cut: list[Edge] = []
    for channel_id in _channels_between(world, graph, source, target, intent.channel):
        facts += [_left(source, channel_id, "send"), _left(target, channel_id, "listen")]
        if world.topology.directions(source.id, channel_id) == SEND:
            cut.append((source.id, channel_id))
        if world.topology.directions(target.id, channel_id) == LISTEN:
            cut.append((target.id, channel_id))
    return _without(world, graph, facts, source.id, cut=cut)


def _left(creature: CreatureState, channel_id: str, direction: payloads.Direction) -> Fact:
    return engine_fact(payloads.ChannelEdge(channel_id, creature.id, direction), kinds.CHANNEL_LEFT)


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
        wanted = ids.the_channel(world, graph, name).id
        both = [channel_id for channel_id in both if channel_id == wanted]
    if not both:
        where = "" if name is None else f" on {name}"
        raise Refused(
            f"{source.handle} does not send to {target.handle}{where}.",
            "Look at environment(graph_id) for who sends where; to cut the other direction, disconnect it separately.",
        )
    return both


def channel_left(world: World, intent: intents.LeaveChannel) -> Decision:
    """Take a creature off a channel; the graph splits if that was the only connection."""
    creature = ids.the_creature(world, intent.creature)
    graph = world.graphs[creature.graph_id]
    channel = ids.the_channel(world, graph, intent.channel)
    edges = world.topology.directions(creature.id, channel.id)
    leaves = [direction for direction in intent.directions if edges & BITS[direction]]
    if not leaves:
        raise Refused(
            f"{creature.handle} does not {' or '.join(intent.directions)} on {channel.name}.",
            _where_it_is(world, creature),
        )
    facts = [_left(creature, channel.id, direction) for direction in leaves]
    is_off = edges == sum(BITS[direction] for direction in leaves)
    cut = [(creature.id, channel.id)] if is_off else []
    return _without(world, graph, facts, channel.id, cut=cut)


def _where_it_is(world: World, creature: CreatureState) -> str:
    names = [world.channels[name].name for name in world.topology.channels_of.get(creature.id, {})]
    return f"It is on {', '.join(names[:names_shown_max])}." if names else "It is on no channel."


def creature_removed(world: World, intent: intents.RemoveCreature) -> Decision:
    """Remove a creature with its edges, its wires, and each channel that only it and its parent use. The graph splits
    if the creature was the only connection."""
    creature = ids.the_creature(world, intent.creature)
    graph = world.graphs[creature.graph_id]
    facts = [wire_gone(world, wire_id, "removed") for wire_id in world.wires_of.get(creature.id, {})]
    for child in world.children_of.get(creature.id, {}):
        facts.append(engine_fact(payloads.ParentChanged(child, creature.id, creature.parent)))
    if creature.parent is not None:
        facts.append(engine_fact(payloads.ParentChanged(creature.id, creature.parent, None)))
    for channel_id in world.topology.channels_of.get(creature.id, {}):
        if world.topology.members_of[channel_id].keys() == {creature.id, creature.parent}:
            facts.append(engine_fact(payloads.ChannelClosed(channel_id, world.channels[channel_id].name)))
    facts.append(engine_fact(payloads.CreatureStopped(creature.id, "removed")))
    return _without(world, graph, facts, creature.id, gone=("creature", creature.id))


def graph_closed(world: World, intent: intents.CloseGraph) -> Decision:
    """Close a graph with everybody in it, if all runs in it have finished."""
    graph = ids.the_graph(world, intent.graph_id)
    for creature in map(world.creatures.__getitem__, graph.creatures):
        if not world.is_finished(creature.run_id):
            raise Refused(
                f"{creature.handle} in graph {graph.name} still plays.",
                f"Finish run {creature.run_id} first, or remove its creatures one by one.",
            )
    wires = {wire: None for name in graph.creatures for wire in world.wires_of.get(name, {})}
    facts = [wire_gone(world, wire, "removed") for wire in wires]
    members = [world.creatures[name] for name in graph.creatures]
    links = {(member.id, member.parent): None for member in members if member.parent is not None}
    links |= {(child, name): None for name in graph.creatures for child in world.children_of.get(name, {})}
    facts += [engine_fact(payloads.ParentChanged(child, parent, None)) for child, parent in links]
    facts += [engine_fact(payloads.CreatureStopped(name, "removed")) for name in graph.creatures]
    change = Change("nothing", (graph.id,), (), tuple(world.by_age(graph.creatures)))
    return decision.reshaped(graph, facts, graph.id, change)


def channel_removed(world: World, intent: intents.RemoveChannel) -> Decision:
    """Close a channel; the graph splits if it was the only connection."""
    graph = ids.the_graph(world, intent.graph_id)
    channel = ids.the_channel(world, graph, intent.name)
    closed = engine_fact(payloads.ChannelClosed(channel.id, channel.name))
    return _without(world, graph, [closed], channel.id, gone=("channel", channel.id))


def _without(
    world: World,
    graph: GraphState,
    facts: list[Fact],
    subject: str,
    *,
    cut: Iterable[Edge] = (),
    gone: Node | None = None,
) -> Decision:
    """The whole decision to remove edges (`cut`) or a node (`gone`): the graph stays, closes or splits."""
    removed = gone[1] if gone is not None and gone[0] == "creature" else None
    ends: list[Node] = []
    for creature, channel_id in cut:
        ends += [("creature", creature), ("channel", channel_id)]
    for name in () if gone is None else world.topology.neighbours(gone):
        ends.append(("creature" if removed is None else "channel", name))
    sides = _sides(world, graph, parted(world.topology, ends, cut=cut, gone=gone), removed)
    if len(sides) > 1:
        return _split(world, graph, facts, sides, removed, subject)
    stays = (graph.id,) if len(graph.creatures) > (removed is not None) else ()
    change = Change("nothing", (graph.id,), stays, () if removed is None else (removed,))
    return decision.reshaped(graph, facts, subject, change)


def _sides(world: World, graph: GraphState, apart: list[list[str]], removed: str | None) -> list[list[str]]:
    """The parts of a split graph: the survivor first, then the others by their oldest creature. The survivor's list is
    empty if that part was not walked, because none of its creatures moves."""
    if not apart:
        return [[]]
    rest = len(graph.creatures) - (removed is not None) - sum(map(len, apart))
    if rest > max(map(len, apart)):
        others = [world.by_age(part) for part in apart]
        return [[], *sorted(others, key=lambda part: world.creatures[part[0]].born)]
    walked = {name for part in apart for name in part}
    unwalked = [name for name in graph.creatures if name not in walked and name != removed]
    parts = [world.by_age(part) for part in (*apart, unwalked) if part]
    parts.sort(key=lambda part: world.creatures[part[0]].born)
    survivor = max(parts, key=len)
    return [survivor, *(part for part in parts if part is not survivor)]


def _split(
    world: World, graph: GraphState, facts: list[Fact], sides: list[list[str]], gone: str | None, subject: str
) -> Decision:
    parent = world.session_of(graph)
    candidates = (ids.session_id_for("split", (graph.session_id,), ordinal) for ordinal in count())
    session_ids = list(islice((name for name in candidates if name not in world.sessions), len(sides)))
    graph_ids = [graph.id, *(ids.graph_id_for(session_id) for session_id in session_ids[1:])]
    moved = world.by_age(name for side in sides[1:] for name in side)
    change = Change("split", (graph.id,), tuple(graph_ids), tuple(moved))
    facts = [*facts, *_wires_between(world, sides[1:], gone), decision.topology_changed(change)]
    writes = [Write(graph.session_id, graph.id, tuple(facts))]
    upto = parent.head + len(facts)
    base = parent.segment.base + upto
    parents = (Parent(graph.session_id, upto),)
    at = f"{graph.session_id}.{upto}"
    leaving = {*moved, *([] if gone is None else [gone])}
    stay = decision.staying(world, graph, leaving, len(leaving))
    for n, (session_id, graph_id) in enumerate(zip(session_ids, graph_ids, strict=True)):
        opens = Segment(session_id, graph_id, "split", world.sessions_begun + n, base, parents, at)
        forked = payloads.SessionForked(session_id, [graph.session_id], "split", at)
        of_side = decision.attached(session_id, sides[n]) if n else decision.attached(session_id, [], stay)
        writes.append(Write(session_id, graph_id, (engine_fact(forked), *of_side), opens))
    return Decision(tuple(writes), change, subject)


def _wires_between(world: World, moved_sides: list[list[str]], gone: str | None) -> Iterator[Fact]:
    """Facts that remove each wire between two parts. The wires of a removed creature have their facts already."""
    side_of = {name: n for n, side in enumerate(moved_sides) for name in side}
    for wire_id in dict.fromkeys(wire for name in side_of for wire in world.wires_of.get(name, {})):
        wire = world.wires[wire_id]
        if gone not in (wire.source, wire.target) and side_of.get(wire.source) != side_of.get(wire.target):
            yield wire_gone(world, wire_id, "split")
