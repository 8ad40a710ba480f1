"""Decisions about single creatures: add, spawn, start, stop, grant privilege.

Always holds: a creature that is added to a graph joins one of its channels in the same batch, because only edges make a
member. A spawned creature is never privileged, has only tools that its parent has, begins in its parent's graph, and
spends from the purse of its parent's run (ADR 0035).
"""

from __future__ import annotations

from hashlib import blake2b

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.events.manifest_fields import fields_of
from glasshouse.events.payloads import CreatureStarted, CreatureStopped, Payload, PrivilegeGranted
from glasshouse.world.decisions.acts import check_may_act
from glasshouse.world.decisions.decision import (
    Decision,
    Fact,
    Write,
    attached,
    engine_fact,
    joined,
    opened,
    topology_changed,
    unchanged,
    written_in,
)
from glasshouse.world.decisions.edges import name_between
from glasshouse.world.decisions.intents import AddCreature, GrantPrivilege, Spawn, StartCreature, StopCreature
from glasshouse.world.state.ids import (
    channel_id_for,
    check_handle,
    check_name,
    check_not_spoken_for,
    free_creature_id,
    free_session_id,
    graph_id_for,
    the_creature,
    the_graph,
)
from glasshouse.world.state.state import CreatureState, GraphState, Segment, World, free_name
from glasshouse.world.state.values import Change

COMMONS = "commons"
"""The channel that connects creatures that were added to a graph without another connection."""
DEFAULT_PROFILE = "fast"


def creature_added(world: World, intent: AddCreature) -> Decision:
    """Add a creature: in a graph of its own, or on the commons of the given graph."""
    _check_called(intent.name, intent.handle)
    if intent.parent is not None:
        the_creature(world, intent.parent)
    if intent.graph_id is None:
        return _born_alone(world, intent)
    graph = the_graph(world, intent.graph_id)
    return _born_into(world, graph, intent, None)


def _check_called(name: str, handle: str | None) -> None:
    """Refuse a name or a handle that no creature can have."""
    check_name("creature name", name)
    check_not_spoken_for(name)
    if handle is not None:
        check_handle(handle)


def _born_alone(world: World, intent: AddCreature) -> Decision:
    creature_id = free_creature_id(world, intent.name)
    session_id = free_session_id(world, "root", (), world.roots)
    graph_id = graph_id_for(session_id)
    change = Change("nothing", (), (graph_id,), (creature_id,))
    facts = (
        _born(world, intent, creature_id, intent.handle or intent.name),
        *attached(session_id, [creature_id]),
        topology_changed(change),
    )
    opens = Segment(id=session_id, graph_id=graph_id, origin="root", ordinal=world.sessions_begun)
    return Decision((Write(session_id, graph_id, facts, opens),), change, creature_id)


def _born_into(
    world: World, graph: GraphState, intent: AddCreature, spawned_by: CreatureState | None
) -> Decision:
    """Add a creature to an existing graph: on the commons, or on a channel between it and the one that spawned it."""
    handle = _handle_for(graph, intent.handle, intent.name)
    creature_id = free_creature_id(world, intent.name)
    facts = [_born(world, intent, creature_id, handle), *attached(graph.session_id, [creature_id])]
    new_channel_id = channel_id_for(graph.session_id, world.session_of(graph).head + len(facts) + 1)
    if spawned_by is not None:
        channel_id, members = new_channel_id, [spawned_by.id, creature_id]
        name = name_between(spawned_by.handle, handle, graph.channels)
        facts.append(
            opened(channel_id, name, f"where {spawned_by.handle} and {handle} speak with each other")
        )
    else:
        channel_id = graph.channels.get(COMMONS) or new_channel_id
        if channel_id == new_channel_id:
            facts.append(opened(channel_id, COMMONS, "where everybody added to this graph can be heard"))
        # If the commons has no members yet, every creature of the graph joins it, so that it connects them.
        is_used = world.topology.members_of.get(channel_id)
        members = [creature_id] if is_used else [*graph.creatures, creature_id]
    for member in members:
        facts += [joined(member, channel_id, "listen"), joined(member, channel_id, "send")]
    change = Change("nothing", (graph.id,), (graph.id,), (creature_id,))
    return written_in(graph, [*facts, topology_changed(change)], creature_id, change)


def _handle_for(graph: GraphState, wanted: str | None, name: str) -> str:
    """The newcomer's handle: the wanted one, refused if taken; else its name, numbered if necessary."""
    if wanted is not None and wanted in graph.handles:
        raise Refused(
            f"The handle {wanted!r} is taken in graph {graph.name}.",
            f"Use {free_name(wanted, graph.handles)!r}, or leave the handle out.",
        )
    return wanted or free_name(name, graph.handles)


def _born(world: World, intent: AddCreature, creature_id: str, handle: str) -> Fact:
    return engine_fact(
        kinds.CREATURE_STARTED,
        CreatureStarted(
            creature=creature_id,
            handle=handle,
            cast_key=intent.name,
            manifest_digest=intent.manifest_digest,
            is_privileged=intent.is_privileged,
            parent=intent.parent,
            run_id=intent.run_id,
            manifest=intent.manifest,
            ordinal=_next_ordinal(world, intent.run_id),
        ),
    )


def _next_ordinal(world: World, run_id: str | None) -> int:
    """The number of the next creature of a run."""
    run = world.runs.get(run_id or "")
    return 0 if run_id is None else 1 if run is None else run.creatures_born + 1


def creature_spawned(world: World, intent: Spawn) -> Decision:
    """Add a worker with a parent; the two hear each other."""
    parent = the_creature(world, intent.parent)
    _check_called(intent.name, intent.handle)
    check_may_act(world, parent)
    graph = world.graphs[parent.graph_id]
    manifest = _narrowed(world, parent, intent)
    asked = AddCreature(
        name=intent.name,
        manifest=manifest,
        manifest_digest=blake2b(canonical_json(manifest), digest_size=8).hexdigest(),
        handle=intent.handle,
        parent=parent.id,
        run_id=parent.run_id,
    )
    return _born_into(world, graph, asked, parent)


def _narrowed(world: World, parent: CreatureState, intent: Spawn) -> Json:
    """The newcomer's manifest: only tools that its parent has too, and the requested profile."""
    manifest = {key: value for key, value in intent.manifest.items() if key != "tools"}
    granted = world.facts_of(parent).tools
    tools = [name for name in fields_of(intent.manifest).tools if name in granted]
    if tools:
        manifest["tools"] = tools
    if intent.profile is not None:
        manifest.pop("model_profile", None)
        if intent.profile != DEFAULT_PROFILE:
            manifest["model_profile"] = intent.profile
    return manifest


def creature_started(world: World, intent: StartCreature) -> Decision:
    """Start a stopped creature; a running one does not change."""
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
    """Stop a running creature; a stopped one does not change."""
    creature = the_creature(world, intent.creature)
    if not creature.is_running:
        return Decision(subject=creature.id)
    return _one_fact(world, creature, kinds.CREATURE_STOPPED, CreatureStopped(creature.id, "stopped"))


def privilege_granted(world: World, intent: GrantPrivilege) -> Decision:
    """Give a creature the right to change its graph; a privileged one does not change."""
    creature = the_creature(world, intent.creature)
    if intent.by in world.creatures:
        raise Refused(
            f"{intent.by} is a creature, and privilege is given only from outside.",
            "Grant it from outside the graph.",
        )
    if creature.is_privileged:
        return Decision(subject=creature.id)
    return _one_fact(world, creature, kinds.PRIVILEGE_GRANTED, PrivilegeGranted(creature.id, intent.by))


def _one_fact(world: World, creature: CreatureState, kind: str, payload: Payload) -> Decision:
    graph = world.graphs[creature.graph_id]
    return written_in(graph, [engine_fact(kind, payload)], creature.id, unchanged(graph))
