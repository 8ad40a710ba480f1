"""Spawning: a creature born of another while a show runs.

Always holds: who is spawned is never privileged, has no tool that its parent has not, lives in its parent's graph, and
draws on the purse of its parent's run. A channel between the two makes it a member: no unrelated change ejects it.
"""

from __future__ import annotations

from hashlib import blake2b

from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.world.births import born_into, check_called, on_both_ways
from glasshouse.world.decision import Decision, Fact
from glasshouse.world.intents import AddCreature, Spawn
from glasshouse.world.joining import name_between
from glasshouse.world.names import channel_id_for, the_creature
from glasshouse.world.shaping import opened
from glasshouse.world.speaking import check_may_act
from glasshouse.world.state import CreatureState, GraphState, World

DEFAULT_PROFILE = "fast"


def creature_spawned(world: World, intent: Spawn) -> Decision:
    """A worker beside its parent, heard by it and hearing it."""
    parent = the_creature(world, intent.parent)
    check_called(intent.name, intent.handle)
    check_may_act(world, parent)
    graph = world.graphs[parent.graph_id]
    manifest = narrowed(world, parent, intent)
    asked = AddCreature(
        name=intent.name,
        manifest=manifest,
        manifest_digest=blake2b(canonical_json(manifest), digest_size=8).hexdigest(),
        handle=intent.handle,
        parent=parent.id,
        run_id=parent.run_id,
    )
    return born_into(
        world,
        graph,
        asked,
        lambda child, handle, facts: _beside(world, graph, parent, child, handle, facts),
    )


def _beside(
    world: World, graph: GraphState, parent: CreatureState, child: str, handle: str, facts_before: int
) -> list[Fact]:
    """Put the newcomer and its parent on a channel of their own."""
    channel_id = channel_id_for(graph.session_id, world.session_of(graph).head + facts_before + 1)
    name = name_between(parent.handle, handle, graph.channels)
    facts = [opened(channel_id, name, f"where {parent.handle} and {handle} speak with each other")]
    for member in (parent.id, child):
        facts += on_both_ways(member, channel_id)
    return facts


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
