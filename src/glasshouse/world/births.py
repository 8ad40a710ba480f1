"""Births: one creature more, in a graph of its own or in one that is there. Every newcomer of a play is built here.

Always holds: whoever is born into a graph is put on one of its channels in the same batch, so that it is a member by an
edge; how a creature comes to be asked for makes no difference to what is told of its birth.
"""

from __future__ import annotations

from collections.abc import Callable

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.payloads import CreatureStarted
from glasshouse.world.decision import Decision, Fact, Write, engine_fact
from glasshouse.world.intents import AddCreature
from glasshouse.world.names import (
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
from glasshouse.world.register import free_name
from glasshouse.world.shaping import attached, change_of, joined, opened, topology_changed
from glasshouse.world.state import GraphState, Segment, World

COMMONS = "commons"
"""The channel that holds a graph together when creatures are added to the graph itself."""

Placing = Callable[[str, str, int], list[Fact]]
"""Takes a newcomer's id, its handle and how many facts of the batch go before, and gives what puts it on a channel."""


def creature_added(world: World, intent: AddCreature) -> Decision:
    """A new creature: in a graph of its own, or on the commons of the graph named."""
    check_called(intent.name, intent.handle)
    if intent.parent is not None:
        the_creature(world, intent.parent)
    if intent.graph_id is None:
        return _born_alone(world, intent)
    graph = the_graph(world, intent.graph_id)
    return born_into(
        world, graph, intent, lambda newcomer, _, facts: _onto_commons(world, graph, newcomer, facts)
    )


def check_called(name: str, handle: str | None) -> None:
    """Refuse a name or a handle that no creature can have."""
    check_name("creature name", name)
    check_not_spoken_for(name)
    if handle is not None:
        check_handle(handle)


def _born_alone(world: World, intent: AddCreature) -> Decision:
    creature_id = free_creature_id(world, intent.name)
    session_id = free_session_id(world, "root", (), world.roots)
    graph_id = graph_id_for(session_id)
    change = change_of("nothing", (), (graph_id,), (creature_id,))
    facts = (
        _born(world, intent, creature_id, intent.handle or intent.name),
        *attached(session_id, [creature_id]),
        topology_changed(change),
    )
    opens = Segment(id=session_id, graph_id=graph_id, origin="root", ordinal=world.sessions_begun)
    return Decision((Write(session_id, graph_id, facts, opens),), change, creature_id)


def born_into(world: World, graph: GraphState, intent: AddCreature, placing: Placing) -> Decision:
    """A new creature in a graph that is there, on the channel that `placing` puts it on."""
    handle = _handle_for(graph, intent.handle, intent.name)
    creature_id = free_creature_id(world, intent.name)
    facts = [_born(world, intent, creature_id, handle), *attached(graph.session_id, [creature_id])]
    facts += placing(creature_id, handle, len(facts))
    change = change_of("nothing", (graph.id,), (graph.id,), (creature_id,))
    facts.append(topology_changed(change))
    return Decision((Write(graph.session_id, graph.id, tuple(facts)),), change, creature_id)


def _handle_for(graph: GraphState, wanted: str | None, name: str) -> str:
    """The handle a newcomer gets: the one it wants, refused if it is taken; else its name, numbered if need be."""
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
    """The how-manieth creature of its run the next one will be."""
    run = world.runs.get(run_id or "")
    return 0 if run_id is None else 1 if run is None else run.creatures_born + 1


def _onto_commons(world: World, graph: GraphState, newcomer: str, facts_before: int) -> list[Fact]:
    """Put the newcomer on the commons; where nobody is on it, everybody, so that it does join them."""
    facts: list[Fact] = []
    channel_id = graph.channels.get(COMMONS)
    if channel_id is None:
        channel_id = channel_id_for(graph.session_id, world.session_of(graph).head + facts_before + 1)
        facts.append(opened(channel_id, COMMONS, "where everybody added to this graph can be heard"))
    on_it = world.topology.members_of.get(channel_id)
    for member in (newcomer,) if on_it else (*graph.creatures, newcomer):
        facts += on_both_ways(member, channel_id)
    return facts


def on_both_ways(creature: str, channel_id: str) -> tuple[Fact, Fact]:
    """A creature listens and sends on a channel."""
    return joined(creature, channel_id, "listen"), joined(creature, channel_id, "send")
