"""Decisions that connect creatures: edges within one graph, or a merge of two.

Always holds: the graph with more creatures keeps its id, on a tie the older one. Where names clash, the other side's creatures
and channels are renamed, never the survivor's. Both sessions end and one begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.payloads import ChannelRenamed, CreatureRenamed, Direction
from glasshouse.world.decisions.decision import (
    Decision,
    Fact,
    Write,
    attached,
    by_age,
    change_of,
    engine_fact,
    joined,
    opened,
    topology_changed,
    unchanged,
    written_in,
)
from glasshouse.world.decisions.intents import Connect
from glasshouse.world.state.ids import (
    channel_id_for,
    check_channel_name,
    free_session_id,
    name_chars_max,
    the_creature,
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

auto_name_chars_max = name_chars_max - 8


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
    change = unchanged(graph)
    seq = world.session_of(graph).head + 1
    channel_id = _found(world, intent.channel, graph)
    facts: list[Fact] = []
    if channel_id is None:
        channel_id = channel_id_for(graph.session_id, seq)
        name = intent.channel or name_between(source.handle, target.handle, graph.channels)
        facts.append(opened(channel_id, name))
    facts += _edges(world, channel_id, source, target, both=intent.both)
    if not facts:
        return Decision(change=change, subject=channel_id)
    return written_in(graph, [*facts, topology_changed(change)], channel_id, change)


def _found(world: World, name: str | None, *graphs: GraphState) -> str | None:
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


def _edges(
    world: World, channel_id: str, source: CreatureState, target: CreatureState, *, both: bool
) -> Iterator[Fact]:
    wanted: list[tuple[str, Direction]] = [(source.id, "send"), (target.id, "listen")]
    if both:
        wanted += [(target.id, "send"), (source.id, "listen")]
    for creature, direction in wanted:
        if not world.topology.directions(creature, channel_id) & BITS[direction]:
            yield joined(creature, channel_id, direction)


def _across(world: World, source: CreatureState, target: CreatureState, intent: Connect) -> Decision:
    first, second = world.graphs[source.graph_id], world.graphs[target.graph_id]
    survivor, dropped = sorted((first, second), key=lambda graph: (-len(graph.creatures), graph.born))
    opens = _merged_segment(world, survivor, dropped)
    moved = by_age(world, dropped.creatures)
    change = change_of("merge", (survivor.id, dropped.id), (survivor.id,), moved)
    channel_id = _found(world, intent.channel, first, second)
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
    facts += _edges(world, channel_id, source, target, both=intent.both)
    return Decision((Write(opens.id, survivor.id, tuple(facts), opens),), change, channel_id)


def _merged_segment(world: World, survivor: GraphState, dropped: GraphState) -> Segment:
    ended = [world.session_of(survivor), world.session_of(dropped)]
    parents = tuple(Parent(session.segment.id, session.head) for session in ended)
    session_id = free_session_id(world, "merge", (survivor.session_id, dropped.session_id), 0)
    base = max(session.lamport for session in ended)
    return Segment(session_id, survivor.id, "merge", world.sessions_begun, base, parents, f"{session_id}.1")


def _new_handles(world: World, survivor: GraphState, dropped: GraphState, moved: list[str]) -> Iterator[Fact]:
    """The dropped side's creatures whose handle the survivor has already."""
    taken: dict[str, str] = {}
    for creature in (world.creatures[name] for name in moved):
        if creature.handle in survivor.handles:
            handle = free_name(creature.handle, survivor.handles, dropped.handles, also_taken=taken)
            taken[handle] = creature.id
            yield engine_fact(kinds.CREATURE_RENAMED, CreatureRenamed(creature.id, creature.handle, handle))


def _new_channel_names(
    world: World, survivor: GraphState, dropped: GraphState, taken: dict[str, str]
) -> Iterator[Fact]:
    """The dropped side's channels whose name the survivor has already. `taken` learns the new names."""
    clashing = [channel_id for name, channel_id in dropped.channels.items() if name in survivor.channels]
    for channel in sorted((world.channels[c] for c in clashing), key=lambda channel: channel.born):
        name = free_name(channel.name, survivor.channels, dropped.channels, also_taken=taken)
        taken[name] = channel.id
        yield engine_fact(kinds.CHANNEL_RENAMED, ChannelRenamed(channel.id, channel.name, name))
