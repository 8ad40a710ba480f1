"""Decisions about single creatures: add, spawn, start, stop, change the parent, grant and revoke privilege.

Always holds: a creature that is added to a graph joins one of its channels in the same batch, because only edges make a
member. A spawned creature is never privileged, has only tools that its parent has, begins in its parent's graph, and
spends from the purse of its parent's run (ADR 0035).
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.events import payloads
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.events.payloads import CreatureStarted
from glasshouse.events.recorded_fields import fields_of
from glasshouse.world.decisions import decision, intents
from glasshouse.world.decisions.acts import check_may_act
from glasshouse.world.decisions.decision import Decision, Fact, Write, engine_fact, written_in
from glasshouse.world.decisions.edges import name_between
from glasshouse.world.decisions.intents import AddCreature, Member, Spawn
from glasshouse.world.state import ids
from glasshouse.world.state.state import CreatureState, GraphState, Segment, World, free_name
from glasshouse.world.state.values import Change

DEFAULT_PROFILE = "fast"


def creature_added(world: World, intent: AddCreature) -> Decision:
    """Add a creature: in a graph of its own, or on a channel of the given graph."""
    _check_called(intent.name, intent.handle)
    if intent.parent is not None:
        ids.the_creature(world, intent.parent)
    if intent.graph_id is None:
        if intent.channel is not None:
            raise Refused("A new graph has no channels.", "Name the graph of the channel too: graph=...")
        return _born_alone(world, intent)
    return _born_into(world, ids.the_graph(world, intent.graph_id), intent, None)


def _check_called(name: str, handle: str | None) -> None:
    """Refuse a name or a handle that no creature can have."""
    ids.check_name("creature name", name)
    ids.check_not_spoken_for(name)
    if handle is not None:
        ids.check_handle(handle)


def _born_alone(world: World, intent: AddCreature) -> Decision:
    creature_id = ids.free_creature_id(world, intent.name)
    session_id = ids.free_session_id(world, "root", (), world.roots)
    graph_id = ids.graph_id_for(session_id)
    change = Change("nothing", (), (graph_id,), (creature_id,))
    facts = (
        *_born(world, intent, creature_id, intent.handle or intent.name),
        *decision.attached(session_id, [creature_id]),
        decision.topology_changed(change),
    )
    opens = Segment(id=session_id, graph_id=graph_id, origin="root", ordinal=world.sessions_begun)
    return Decision((Write(session_id, graph_id, facts, opens),), change, creature_id)


def _born_into(
    world: World, graph: GraphState, intent: AddCreature, spawned_by: CreatureState | None
) -> Decision:
    """Add a creature to an existing graph: on an open channel, or on a new one with the one that spawned it, else with
    the oldest member. It is never put on a channel with everybody, because then no later change could split the graph.
    """
    handle = _handle_for(graph, intent.handle, intent.name)
    creature_id = ids.free_creature_id(world, intent.name)
    facts = [*_born(world, intent, creature_id, handle), *decision.attached(graph.session_id, [creature_id])]
    channel_id = None if spawned_by is not None else _channel_for(world, graph, intent.channel)
    members = [creature_id]
    if channel_id is None or not world.topology.members_of.get(channel_id):  # Then nobody connects it.
        living = map(world.creatures.__getitem__, graph.creatures)
        peer = spawned_by or min(living, key=lambda creature: creature.born)
        members = [peer.id, creature_id]
        if channel_id is None:
            channel_id = ids.channel_id_for(graph.session_id, world.session_of(graph).head + len(facts) + 1)
            name = name_between(peer.handle, handle, graph.channels)
            description = f"where {peer.handle} and {handle} speak with each other"
            # The creature is the first birth of this change, its channel the second.
            facts.append(decision.opened(world.births + 2, channel_id, name, description))
    for member in members:
        facts += [decision.joined(member, channel_id, "listen"), decision.joined(member, channel_id, "send")]
    change = Change("nothing", (graph.id,), (graph.id,), (creature_id,))
    return decision.reshaped(graph, facts, creature_id, change)


def _channel_for(world: World, graph: GraphState, name: str | None) -> str | None:
    """The open channel that a newcomer joins: the one of this name or id, else the graph's only one."""
    if name is not None:
        return ids.the_channel(world, graph, name).id
    return next(iter(graph.channels.owners.values())) if len(graph.channels.owners) == 1 else None


def _handle_for(graph: GraphState, wanted: str | None, name: str) -> str:
    """The newcomer's handle: the wanted one, refused if taken; else its name, numbered if necessary."""
    if wanted is not None and wanted in graph.handles.owners:
        raise Refused(
            f"The handle {wanted!r} is taken in graph {graph.name}.",
            f"Use {free_name(wanted, graph.handles)!r}, or leave the handle out.",
        )
    return wanted or free_name(name, graph.handles)


def _born(world: World, intent: AddCreature, creature_id: str, handle: str) -> Iterator[Fact]:
    run = world.runs.get(intent.run_id or "")
    ordinal = 0 if intent.run_id is None else 1 if run is None else run.creatures_born + 1
    born = replace(birth(intent, creature_id, handle, intent.run_id), born=world.births + 1)
    yield engine_fact(replace(born, parent=intent.parent, ordinal=ordinal, may_spawn=intent.may_spawn))
    if intent.parent is not None:
        yield engine_fact(payloads.ParentChanged(creature_id, None, intent.parent))


def birth(
    described: AddCreature | Member, creature_id: str, handle: str, run_id: str | None
) -> CreatureStarted:
    """The payload that adds a creature as it is described."""
    started = CreatureStarted(creature_id, handle, described.name, described.manifest_digest, run_id=run_id)
    return replace(
        started,
        is_privileged=described.is_privileged,
        manifest=described.manifest,
        granted=list(described.granted),
        played_by_code=described.played_by_code,
    )


def as_started(creature: CreatureState) -> CreatureStarted:
    """The payload that starts a creature again as it is now."""
    return CreatureStarted(
        creature=creature.id,
        handle=creature.handle,
        cast_key=creature.cast_key,
        manifest_digest=creature.manifest_digest,
        is_privileged=creature.is_privileged,
        is_root=creature.is_root,
        parent=creature.parent,
        run_id=creature.run_id,
        played_by_code=creature.played_by_code,
    )


def creature_spawned(world: World, intent: Spawn) -> Decision:
    """Add a worker with a parent; the two hear each other."""
    parent = ids.the_creature(world, intent.parent)
    _check_called(intent.name, intent.handle)
    check_may_act(world, parent)
    manifest = _narrowed(world, parent, intent)
    digest = blake2b(canonical_json(manifest), digest_size=8).hexdigest()
    granted = [tool for tool in world.granted_to(parent) if tool.tool.name in fields_of(manifest).tools]
    asked = AddCreature(intent.name, manifest, digest, intent.handle, parent=parent.id, run_id=parent.run_id)
    asked = replace(asked, granted=tuple(granted))
    return _born_into(world, world.graphs[parent.graph_id], asked, parent)


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


def creature_started(world: World, intent: intents.StartCreature) -> Decision:
    """Start a stopped creature; a running one does not change."""
    creature = ids.the_creature(world, intent.creature)
    if creature.is_running:
        return Decision(subject=creature.id)
    return _one_fact(world, creature, as_started(creature))


def creature_stopped(world: World, intent: intents.StopCreature) -> Decision:
    """Stop a running creature; a stopped one does not change."""
    creature = ids.the_creature(world, intent.creature)
    if not creature.is_running:
        return Decision(subject=creature.id)
    return _one_fact(world, creature, payloads.CreatureStopped(creature.id, "stopped"))


def parent_set(world: World, intent: intents.SetParent) -> Decision:
    """Give a creature another parent, or none. Nobody can be its own ancestor."""
    child = ids.the_creature(world, intent.creature)
    ancestor = None if intent.parent is None else ids.the_creature(world, intent.parent)
    while ancestor is not None:
        if ancestor.id == child.id:
            raise Refused(
                f"{child.handle} cannot be a child of itself or of its own descendants.",
                f"Choose a parent that does not descend from {child.handle}.",
            )
        ancestor = world.creatures.get(ancestor.parent or "")
    if intent.parent == child.parent:
        return Decision(subject=child.id)
    return _one_fact(world, child, payloads.ParentChanged(child.id, child.parent, intent.parent))


def privilege_granted(world: World, intent: intents.GrantPrivilege) -> Decision:
    """Give a creature the right to change its graph; a privileged one does not change."""
    creature = _of_right(world, intent, "given", "Grant it")
    if creature.is_privileged:
        return Decision(subject=creature.id)
    return _one_fact(world, creature, payloads.PrivilegeGranted(creature.id, intent.by))


def privilege_revoked(world: World, intent: intents.RevokePrivilege) -> Decision:
    """Take back the right of a creature to change its graph; one without it does not change."""
    creature = _of_right(world, intent, "taken back", "Revoke it")
    if not creature.is_privileged:
        return Decision(subject=creature.id)
    return _one_fact(world, creature, payloads.PrivilegeRevoked(creature.id, intent.by))


def _of_right(
    world: World, intent: intents.GrantPrivilege | intents.RevokePrivilege, done: str, do: str
) -> CreatureState:
    """The creature whose privilege changes. Refused if a creature asks."""
    creature = ids.the_creature(world, intent.creature)
    if intent.by in world.creatures:
        raise Refused(
            f"{intent.by} is a creature, and privilege is {done} only from outside.",
            f"{do} from outside the graph.",
        )
    return creature


def _one_fact(world: World, creature: CreatureState, payload: payloads.Payload) -> Decision:
    graph = world.graphs[creature.graph_id]
    return written_in(graph, [engine_fact(payload)], creature.id, decision.unchanged(graph))
