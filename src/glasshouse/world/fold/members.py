"""The fold's steps for creatures, channels and wires: how they are added, move between graphs, and are removed.

Always holds: the fold and every dry run make new creatures, channels and wires here, so both give the same (ADR
0041). A merge moves only the smaller graph, and channels move with their members. What is kept of removed creatures
and wires is for `who_knew` and old names; no decision reads it.
"""

from __future__ import annotations

from sys import intern
from typing import Final

from glasshouse.errors import Refused
from glasshouse.events.event import Event
from glasshouse.events.payloads import ChannelOpened, CreatureStarted, TopologyChanged, WireAdded, payload_of
from glasshouse.world.state import state
from glasshouse.world.state.state import ChannelState, CreatureState, GraphState, Stay, World
from glasshouse.world.state.topology import discard
from glasshouse.world.state.values import Wire

departed_creatures_max: Final = 10_000
"""How many removed creatures are remembered; of older ones, only the ids in events remain."""


def creature_arriving(payload: CreatureStarted, event: Event, born: int) -> CreatureState:
    """The creature that this event adds."""
    return CreatureState(
        id=payload.creature,
        handle=intern(payload.handle),  # Each graph numbers handles from `name~2`, so the same handles recur.
        graph_id=event.graph_id,
        cast_key=payload.cast_key,
        manifest_digest=payload.manifest_digest,
        born=born,
        stays=(Stay(event.graph_id, event.lamport),),
        ears={},
        run_id=payload.run_id,
        parent=payload.parent,
        is_privileged=payload.is_privileged,
        is_root=payload.is_root,
        may_spawn=payload.may_spawn or None,
        played_by_code=payload.played_by_code,
    )


def channel_arriving(payload: ChannelOpened, event: Event, born: int) -> ChannelState:
    """The channel that this event opens."""
    return ChannelState(
        payload.channel_id, payload.name, payload.description, payload.history, event.graph_id, born
    )


def wire_arriving(payload: WireAdded) -> Wire:
    """The wire of a payload."""
    return Wire(
        payload.edge_id, payload.source, payload.target, payload.with_content, payload.prompt, payload.when
    )


def number_at_birth(world: World, recorded: int = 0) -> int:
    """The number by age of what is added now, as it was recorded or, if it was not, after all others."""
    world.births = max(world.births + 1, recorded)
    return recorded or world.births


def graph_arriving(world: World, graph_id: str, name: str, session_id: str, turn: int = 0) -> GraphState:
    """Add a graph without members to the world."""
    graph = world.graphs[graph_id] = GraphState(graph_id, name, session_id, number_at_birth(world), turn)
    return graph


def absorb(world: World, survivor: GraphState, dropped: GraphState, lamport: int) -> None:
    """Merge the smaller graph into the survivor. Later events of the same batch rename conflicting names."""
    survivor.turn = max(survivor.turn, dropped.turn)
    for name in dropped.creatures:
        creature = world.creatures[name]
        _relabel(world, creature, survivor.id, lamport)
        survivor.creatures[name] = None
        survivor.handles.take(creature.handle, name)
    for name, channel_id in dropped.channels.owners.items():
        world.channels[channel_id].graph_id = survivor.id
        survivor.channels.take(name, channel_id)
    survivor.roots |= dropped.roots
    del world.graphs[dropped.id]


def move(world: World, creature: CreatureState, graph: GraphState, lamport: int) -> None:
    """Move one creature of a split's smaller part, with its channels, to its new graph."""
    left = world.graphs[creature.graph_id]
    del left.creatures[creature.id]
    left.handles.release(creature.handle, creature.id)
    graph.name = graph.name or creature.handle
    graph.creatures[creature.id] = None
    graph.handles.take(creature.handle, creature.id)
    if creature.is_root:
        del left.roots[creature.id]
        graph.roots[creature.id] = None
    _relabel(world, creature, graph.id, lamport)
    for channel_id in world.topology.channels_of.get(creature.id, ()):
        channel = world.channels[channel_id]
        if channel.graph_id != graph.id:
            left.channels.release(channel.name, channel.id)
            graph.channels.take(channel.name, channel.id)
            channel.graph_id = graph.id


def count_in(world: World, creature: CreatureState) -> None:
    """Count a creature among those of its run in its graph."""
    graphs = world.graphs_by_run.setdefault(creature.run_id or "", {})
    graphs[creature.graph_id] = graphs.get(creature.graph_id, 0) + 1


def count_out(world: World, creature: CreatureState) -> None:
    """Count a creature no longer among those of its run in its graph, before it leaves."""
    graphs = world.graphs_by_run[creature.run_id or ""]
    graphs[creature.graph_id] -= 1
    if not graphs[creature.graph_id]:
        discard(world.graphs_by_run, creature.run_id or "", creature.graph_id)


def _relabel(world: World, creature: CreatureState, graph_id: str, lamport: int) -> None:
    count_out(world, creature)
    creature.graph_id = graph_id
    count_in(world, creature)
    if creature.stays[-1].since < lamport:
        leave(creature, lamport)
    else:  # It moves on at once from a graph that stood for those that the history may lack.
        creature.stays = creature.stays[:-1]
    creature.stays += (Stay(graph_id, lamport),)


def part_unseen(world: World, event: Event) -> None:
    """Move creatures out of a graph that was split, in a history that may lack the sessions they moved to.

    All go to one graph that stands for the new ones. Sessions that the history has then take those that they name.
    """
    payload = payload_of(event, TopologyChanged)
    if payload.affected_count > len(payload.affected_creatures):
        raise Refused(
            f"{event.id} separated {payload.affected_count:,} creatures but names only {len(payload.affected_creatures):,}; the"
            " file lacks the side that names the others.",
            "Import that side as well, or ask in the store where it was played.",
        )
    turn = world.graphs[event.graph_id].turn
    graph = graph_arriving(world, f"g-{event.id}", "", event.session_id, turn)
    for name in payload.affected_creatures:
        move(world, world.creatures[name], graph, event.lamport + 1)


def leave(creature: CreatureState, lamport: int) -> None:
    """End a creature's stay in a graph, and keep its handle for the lines of it that others remember."""
    creature.stays[-1].until = lamport
    creature.stays[-1].handle = creature.handle


def depart(world: World, creature: CreatureState, event: Event) -> None:
    """Remember a removed creature: its handle, and what it could hear until its end."""
    while len(world.departed) >= departed_creatures_max:
        del world.departed[next(iter(world.departed))]
    leave(creature, event.lamport)
    for ear in creature.ears.values():
        if ear.is_open:
            ear.spans += (event.lamport,)
    world.departed[creature.id] = state.Departed(creature, event.id)


def note_wired(world: World, wire: Wire, lamport: int) -> None:
    """Note that a wire now hands lines to its target."""
    target = world.creatures[wire.target]
    if target.handed is None:
        target.handed = {}
    target.handed.setdefault(wire.id, []).append(state.Handing(wire, lamport))


def note_unwired(world: World, target_id: str, wire_id: str, lamport: int) -> None:
    """Note that a wire no longer hands lines to its target."""
    target = world.ever(target_id)
    for handing in () if target is None else (target.handed or {}).get(wire_id, ())[-1:]:
        handing.until = lamport
