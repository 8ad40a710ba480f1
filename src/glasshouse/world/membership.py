"""Decisions that part nobody and bear nobody: creatures started, stopped; channels opened; wires; privilege; forks."""

from __future__ import annotations

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.payloads import (
    ChannelOpened,
    CreatureStarted,
    CreatureStopped,
    Payload,
    PrivilegeGranted,
    SessionForked,
    WireAdded,
    WireRemoved,
)
from glasshouse.world.decision import Decision, Fact, Write, engine_fact
from glasshouse.world.intents import (
    AddChannel,
    AddWire,
    Fork,
    GrantPrivilege,
    RemoveWire,
    StartCreature,
    StopCreature,
)
from glasshouse.world.names import (
    channel_id_for,
    check_channel_name,
    check_length,
    free_session_id,
    graph_id_for,
    the_creature,
    the_graph,
    the_session,
    wire_id_for,
)
from glasshouse.world.register import free_name
from glasshouse.world.shaping import change_of
from glasshouse.world.state import CreatureState, Parent, Segment, World
from glasshouse.world.wiring import check_wire


def creature_started(world: World, intent: StartCreature) -> Decision:
    """A stopped creature runs again; a running one stays as it is."""
    creature = the_creature(world, intent.creature)
    if creature.is_running:
        return Decision(subject=creature.id)
    payload = CreatureStarted(
        creature=creature.id,
        handle=creature.handle,
        cast_key=creature.cast_key,
        manifest_digest=creature.manifest_digest,
        is_privileged=creature.is_privileged,
        is_root=creature.is_root,
        parent=creature.parent,
        run_id=creature.run_id,
    )
    return _one_fact(world, creature, kinds.CREATURE_STARTED, payload)


def creature_stopped(world: World, intent: StopCreature) -> Decision:
    """A running creature rests; a resting one stays as it is."""
    creature = the_creature(world, intent.creature)
    if not creature.is_running:
        return Decision(subject=creature.id)
    return _one_fact(world, creature, kinds.CREATURE_STOPPED, CreatureStopped(creature.id, "stopped"))


def privilege_granted(world: World, intent: GrantPrivilege) -> Decision:
    """A creature may change its graph from now on."""
    creature = the_creature(world, intent.creature)
    if intent.by in world.creatures:
        raise Refused(
            f"{intent.by} is a creature, and privilege is given only from outside.",
            "Let somebody outside the graph grant it.",
        )
    if creature.is_privileged:
        return Decision(subject=creature.id)
    return _one_fact(world, creature, kinds.PRIVILEGE_GRANTED, PrivilegeGranted(creature.id, intent.by))


def _one_fact(world: World, creature: CreatureState, kind: str, payload: Payload) -> Decision:
    graph = world.graphs[creature.graph_id]
    write = Write(graph.session_id, graph.id, (engine_fact(kind, payload),))
    return Decision((write,), change_of("nothing", (graph.id,), (graph.id,)), creature.id)


def channel_added(world: World, intent: AddChannel) -> Decision:
    """A channel nobody is on yet: no change of connectivity."""
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
    write = Write(graph.session_id, graph.id, (engine_fact(kinds.CHANNEL_OPENED, payload),))
    return Decision((write,), change_of("nothing", (graph.id,), (graph.id,)), channel_id)


def wire_added(world: World, intent: AddWire) -> Decision:
    """An output wire within one graph; the same wire twice is one, with other options it is replaced."""
    source, target = the_creature(world, intent.source), the_creature(world, intent.target)
    if source.id == target.id:
        raise Refused(f"{source.handle} cannot be wired to itself.", "Name another target.")
    if source.graph_id != target.graph_id:
        raise Refused(
            f"{source.handle} and {target.handle} are in two graphs, and a wire never joins graphs.",
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
        if (there.with_content, there.prompt, there.when) == (
            intent.with_content,
            intent.prompt,
            intent.when,
        ):
            return Decision(subject=wire_id)
        facts.insert(0, wire_gone(world, wire_id, "replaced"))
    graph = world.graphs[source.graph_id]
    change = change_of("nothing", (graph.id,), (graph.id,))
    return Decision((Write(graph.session_id, graph.id, tuple(facts)),), change, wire_id)


def wire_removed(world: World, intent: RemoveWire) -> Decision:
    """An output wire taken away."""
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
    write = Write(graph.session_id, graph.id, (wire_gone(world, wire_id, "removed"),))
    return Decision((write,), change_of("nothing", (graph.id,), (graph.id,)), wire_id)


def wire_gone(world: World, wire_id: str, reason: str) -> Fact:
    """The fact that a wire is removed, and why."""
    wire = world.wires[wire_id]
    return engine_fact(kinds.OUTPUT_WIRE_REMOVED, WireRemoved(wire.id, wire.source, wire.target, reason))


def session_forked(world: World, intent: Fork) -> Decision:
    """A session that shares the past up to an event. It seals nothing and has no live creatures."""
    parent = the_session(world, intent.session_id)
    if not 1 <= intent.upto <= parent.head:
        raise Refused(
            f"Session {intent.session_id} has no event {intent.upto}.",
            f"Fork at one of its {parent.head} events.",
        )
    session_id = free_session_id(world, "fork", (intent.session_id,), len(parent.children or ()))
    graph_id = graph_id_for(session_id)
    opens = Segment(
        id=session_id,
        graph_id=graph_id,
        origin="fork",
        ordinal=world.sessions_begun,
        base=parent.segment.base + intent.upto,
        parents=(Parent(intent.session_id, intent.upto),),
        at=intent.at,
    )
    payload = SessionForked(session=session_id, parents=[intent.session_id], how="fork", at=intent.at)
    write = Write(session_id, graph_id, (engine_fact(kinds.SESSION_FORKED, payload),), opens)
    return Decision((write,), change_of("nothing", (), ()), session_id)
