"""Who can be named in a group tool: creatures of the caller's own graph, nearest first, and those of graphs that do not hide.

Always holds: a handle is looked for in the caller's own graph first; however large the terrarium is, only so many are
looked at. Nobody in a hidden graph is ever named.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from glasshouse.errors import Refused, UnknownName
from glasshouse.runtime.folded import Folded
from glasshouse.turns.runs.policy import is_hidden
from glasshouse.world.state.ids import the_channel
from glasshouse.world.state.state import ChannelState, CreatureState, GraphState, World

creatures_looked_at_max: Final = 64
edges_looked_at_max: Final = 256
graphs_looked_at_max: Final = 64

OF_GRAPH: Final = "@"
"""Stands between a handle and the name of another graph."""


def nearest(world: World, creature: CreatureState) -> list[CreatureState]:
    """The other creatures of a graph: first whoever shares a channel, then whoever shares one with those."""
    topology = world.topology
    found, walked, channels = {creature.id: None}, [creature.id], set[str]()
    edges = 0
    for name in walked:
        for channel_id in topology.channels_of.get(name, ()):
            if channel_id in channels:
                continue
            channels.add(channel_id)
            for member in topology.members_of.get(channel_id, ()):
                edges += 1
                if member not in found:
                    found[member] = None
                    walked.append(member)  # Which lengthens the walk.
                if len(walked) > creatures_looked_at_max or edges > edges_looked_at_max:
                    return [world.creatures[other] for other in walked[1:]]
    return [world.creatures[other] for other in walked[1:]]


def creature_called(world: World, caller: CreatureState, name: str) -> CreatureState:
    """A creature of the caller's own graph by handle or id, or a refusal that names the likely meant one."""
    found = _own(world, caller, name)
    if found is None:
        handles = world.graphs[caller.graph_id].handles
        raise UnknownName(noun="creature of your graph", name=name, known=handles.owners)
    return found


def creature_called_anywhere(folded: Folded, caller: CreatureState, name: str) -> CreatureState:
    """The same, or else one of another graph that does not hide: as `handle@graph`, by handle, or by id."""
    world = folded.world
    found = _own(world, caller, name) or _of_others(folded, caller, name)
    if found is None:
        known = [
            *world.graphs[caller.graph_id].handles,
            *names_of_others(folded, caller, graphs_looked_at_max),
        ]
        raise UnknownName(noun="creature", name=name, known=known)
    return found


def _own(world: World, caller: CreatureState, name: str) -> CreatureState | None:
    handle, _, graph_name = name.partition(OF_GRAPH)
    graph = world.graphs[caller.graph_id]
    if graph_name and graph_name != graph.name:
        return None
    by_handle = graph.handles.get(handle)
    if by_handle is not None:
        return world.creatures[by_handle]
    by_id = world.creatures.get(name)
    return by_id if by_id is not None and by_id.graph_id == graph.id else None


def _of_others(folded: Folded, caller: CreatureState, name: str) -> CreatureState | None:
    world = folded.world
    handle, _, graph_name = name.partition(OF_GRAPH)
    for graph in other_graphs(folded, caller):
        creature_id = graph.handles.get(handle)
        if creature_id is not None and graph_name in ("", graph.name):
            return world.creatures[creature_id]
    by_id = world.creatures.get(name)
    if by_id is None or is_hidden(world, folded.runs, world.graphs[by_id.graph_id]):
        return None
    return by_id


def other_graphs(folded: Folded, caller: CreatureState) -> Iterator[GraphState]:
    """The graphs beside the caller's own that do not hide themselves and where somebody still plays, the oldest first."""
    world = folded.world
    others = (
        graph
        for graph in world.graphs.values()
        if graph.id != caller.graph_id
        and _is_played(world, graph)
        and not is_hidden(world, folded.runs, graph)
    )
    yield from islice(others, graphs_looked_at_max)


def _is_played(world: World, graph: GraphState) -> bool:
    """Whether any of a graph's first creatures is of a run that is not over."""
    some = (world.creatures[name] for name in islice(graph.creatures, creatures_looked_at_max))
    return any(one.run_id not in world.runs or world.runs[one.run_id].status != "finished" for one in some)


def _graphs_of_run(folded: Folded, caller: CreatureState) -> list[GraphState]:
    """The other graphs in which somebody of the caller's own run plays: of its cast, or found among the first graphs."""
    world, run_id = folded.world, caller.run_id
    purse = folded.runs.purses.get(run_id or "")
    living = [
        world.creatures[name] for name in (() if purse is None else purse.cast) if name in world.creatures
    ]
    found = {one.graph_id: world.graphs[one.graph_id] for one in living if one.graph_id != caller.graph_id}
    found = {name: graph for name, graph in found.items() if not is_hidden(world, folded.runs, graph)}
    for graph in other_graphs(folded, caller):
        some = islice(graph.creatures, creatures_looked_at_max)
        if any(world.creatures[name].run_id == run_id for name in some):
            found.setdefault(graph.id, graph)
    return sorted(found.values(), key=lambda graph: graph.born)


def names_of_others(folded: Folded, caller: CreatureState, names_max: int) -> list[str]:
    """Creatures of the other graphs of the caller's own run as `handle@graph`: of each graph its first, then more of
    each. What else is played in the house does not show, so that no prompt hangs on it."""
    graphs = _graphs_of_run(folded, caller)[:names_max]
    if not graphs:
        return []
    of_each = [list(islice(graph.handles, names_max)) for graph in graphs]
    names: list[str] = []
    for place in range(names_max):
        for graph, handles in zip(graphs, of_each, strict=True):
            if place < len(handles) and len(names) < names_max:
                names.append(f"{handles[place]}{OF_GRAPH}{graph.name}")
    return names


def channel_called(world: World, caller: CreatureState, name: str) -> ChannelState:
    """A channel of the caller's graph by name or id, or a refusal that names the likely meant one."""
    graph = world.graphs[caller.graph_id]
    try:
        return the_channel(world, graph, name)
    except UnknownName as unknown:
        if graph.channels:
            raise
        raise Refused(unknown.reason, "Open one first: action open, and a new name for channel.") from unknown
