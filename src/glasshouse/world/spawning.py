"""Spawning: a creature born of another while a show runs.

Always holds: who is spawned is never privileged, has no tool that its parent has not, lives in its parent's graph, and
draws on the purse of its parent's run. A channel between the two makes it a member: no unrelated change ejects it.
"""

from __future__ import annotations

from hashlib import blake2b

from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.events.payloads import CreatureStarted
from glasshouse.world.decision import Decision, Fact, Write, engine_fact
from glasshouse.world.intents import Spawn
from glasshouse.world.joining import name_between
from glasshouse.world.membership import handle_for, next_ordinal
from glasshouse.world.names import channel_id_for, check_handle, check_name, free_creature_id, the_creature
from glasshouse.world.shaping import attached, change_of, joined, opened, topology_changed
from glasshouse.world.speaking import check_may_act
from glasshouse.world.state import CreatureState, World

DEFAULT_PROFILE = "fast"


def creature_spawned(world: World, intent: Spawn) -> Decision:
    """A worker beside its parent, heard by it and hearing it."""
    parent = the_creature(world, intent.parent)
    check_name("creature name", intent.name)
    if intent.handle is not None:
        check_handle(intent.handle)
    check_may_act(world, parent)
    graph = world.graphs[parent.graph_id]
    handle = handle_for(graph, intent.handle, intent.name)
    creature_id = free_creature_id(world, intent.name)
    facts = [
        _born(world, intent, parent, creature_id, handle),
        *attached(graph.session_id, [creature_id]),
    ]
    channel_id = channel_id_for(graph.session_id, world.session_of(graph).head + len(facts) + 1)
    name = name_between(parent.handle, handle, graph.channels)
    facts.append(opened(channel_id, name, f"where {parent.handle} and {handle} speak with each other"))
    for member in (parent.id, creature_id):
        facts += (joined(member, channel_id, "listen"), joined(member, channel_id, "send"))
    change = change_of("nothing", (graph.id,), (graph.id,), (creature_id,))
    facts.append(topology_changed(change))
    return Decision((Write(graph.session_id, graph.id, tuple(facts)),), change, creature_id)


def narrowed(world: World, parent: CreatureState, intent: Spawn) -> Json:
    """The manifest as the newcomer gets it: with tools that its parent has too, and with the profile asked for."""
    manifest = {key: value for key, value in intent.manifest.items() if key != "tools"}
    granted = world.facts_of(parent).manifest.get("tools") or []
    tools = [name for name in intent.manifest.get("tools") or [] if name in granted]
    if tools:
        manifest["tools"] = tools
    if intent.profile is not None:
        manifest.pop("model_profile", None)
        if intent.profile != DEFAULT_PROFILE:
            manifest["model_profile"] = intent.profile
    return manifest


def _born(world: World, intent: Spawn, parent: CreatureState, creature_id: str, handle: str) -> Fact:
    manifest = narrowed(world, parent, intent)
    return engine_fact(
        kinds.CREATURE_STARTED,
        CreatureStarted(
            creature=creature_id,
            handle=handle,
            cast_key=intent.name,
            manifest_digest=blake2b(canonical_json(manifest), digest_size=8).hexdigest(),
            parent=parent.id,
            run_id=parent.run_id,
            manifest=manifest,
            ordinal=next_ordinal(world, parent.run_id),
        ),
    )
