"""Looking up names in calls of group tools: creatures and channels of the caller's graph, creatures of other graphs.

Always holds: the caller's own graph is searched first. The constants bound how many creatures, channels and graphs are
returned, however large the terrarium is. Creatures of hidden graphs, and of graphs that policy forbids to
join, are never listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest
from typing import Final

from glasshouse.errors import Refused, UnknownName
from glasshouse.runtime.folded import Folded
from glasshouse.turns.runs.policy import is_hidden, rule_of_joining
from glasshouse.world.state.ids import the_channel
from glasshouse.world.state.state import ChannelState, CreatureState, GraphState, World

creatures_looked_at_max: Final = 64
"""The search for the nearest creatures ends here."""
edges_looked_at_max: Final = 256
"""The search for the nearest creatures ends here, too, if many channels have the same members."""
graphs_looked_at_max: Final = 64
"""This many of the oldest graphs are searched for others."""
channels_looked_at_max: Final = 16
"""An offer names, and `group_status` lists, at most this many channels."""
names_in_words_max: Final = 8
"""The text of an answer lists at most this many; `and 5 more` follows."""
names_in_results_max: Final = 32
"""A list of names in an answer's data is cut here."""

OF_GRAPH: Final = "@"
"""The separator between a handle and the name of another graph."""


def nearest(world: World, creature: CreatureState) -> list[CreatureState]:
    """Other creatures of the graph, nearest first: those that share a channel, then those that share one with them."""
    topology = world.topology
    walked = [creature.id]
    channels = set[str]()
    edges = 0
    for name in walked:
        for channel_id in topology.channels_of.get(name, ()):
            if channel_id in channels:
                continue
            channels.add(channel_id)
            for member in topology.members_of.get(channel_id, ()):
                edges += 1
                if member not in walked:
                    walked.append(member)  # The outer loop iterates over this list.
                if len(walked) > creatures_looked_at_max or edges > edges_looked_at_max:
                    return [world.creatures[other] for other in walked[1:]]
    return [world.creatures[other] for other in walked[1:]]


def channels_near(world: World, creatures: list[CreatureState]) -> list[ChannelState]:
    """Channels of a graph: those of the first of these creatures, then those of the others, then the remaining ones."""
    used = [islice(world.topology.channels_of.get(each.id, ()), channels_looked_at_max) for each in creatures]
    rest = islice(world.graphs[creatures[0].graph_id].channels.owners.values(), channels_looked_at_max)
    return [
        world.channels[name] for name in islice(dict.fromkeys(chain(*used, rest)), channels_looked_at_max)
    ]


def creature_called(world: World, caller: CreatureState, name: str) -> CreatureState:
    """A creature of the caller's own graph by handle or id, or a refusal with a suggestion."""
    creature = _own(world, caller, name)
    if creature is None:
        handles = world.graphs[caller.graph_id].handles.owners
        raise UnknownName(noun="creature of your graph", name=name, known=handles)
    return creature


def creature_called_anywhere(folded: Folded, caller: CreatureState, name: str) -> CreatureState:
    """A creature of the caller's graph, or of another that is not hidden: by `handle@graph`, handle or id. Those of its own run come
    first: several runs of a world have the same names."""
    world = folded.world
    if own := _own(world, caller, name):
        return own
    by_handle = _with_handle(world, _graphs_of_run(folded, caller), name)
    creature = (
        by_handle or _with_handle(world, other_graphs(folded, caller), name) or world.creatures.get(name)
    )
    if creature is None or is_hidden(world, folded.runs, caller, world.graphs[creature.graph_id]):
        others = names_of_others(folded, caller, graphs_looked_at_max)
        known = [*world.graphs[caller.graph_id].handles.owners, *others]
        raise UnknownName(noun="creature", name=name, known=known)
    return creature


def _own(world: World, caller: CreatureState, name: str) -> CreatureState | None:
    by_id = world.creatures.get(name)
    is_own = by_id is not None and by_id.graph_id == caller.graph_id
    return _with_handle(world, [world.graphs[caller.graph_id]], name) or (by_id if is_own else None)


def _with_handle(world: World, graphs: Iterable[GraphState], name: str) -> CreatureState | None:
    handle, _, graph_name = name.partition(OF_GRAPH)
    for graph in graphs:
        creature_id = graph.handles.owners.get(handle)
        if creature_id is not None and graph_name in ("", graph.name):
            return world.creatures[creature_id]
    return None


def other_graphs(folded: Folded, caller: CreatureState) -> Iterator[GraphState]:
    """The first other graphs that are not hidden and have a creature whose run has not finished."""
    world = folded.world
    is_apart = caller.run_id in folded.runs.apart
    around = world.graphs_of(caller.run_id or "") if is_apart else world.graphs_in_play()
    others = (
        graph
        for graph in around.values()
        if graph.id != caller.graph_id
        and _is_played(world, graph)
        and not is_hidden(world, folded.runs, caller, graph)
    )
    yield from islice(others, graphs_looked_at_max)


def _is_played(world: World, graph: GraphState) -> bool:
    """Whether one of a graph's first creatures is in a run that has not finished."""
    some = islice(graph.creatures, creatures_looked_at_max)
    return any(not world.is_finished(world.creatures[name].run_id) for name in some)


def _graphs_of_run(folded: Folded, caller: CreatureState) -> list[GraphState]:
    """The other graphs with creatures of the caller's run: those of its cast, and those found by `other_graphs`."""
    world = folded.world
    run_id = caller.run_id
    purse = folded.runs.purses.get(run_id or "")
    cast = () if purse is None else purse.cast
    graph_ids = {world.creatures[name].graph_id for name in cast if name in world.creatures}
    for graph in other_graphs(folded, caller):
        some = islice(graph.creatures, creatures_looked_at_max)
        if any(world.creatures[name].run_id == run_id for name in some):
            graph_ids.add(graph.id)
    graphs = [world.graphs[graph_id] for graph_id in graph_ids - {caller.graph_id}]
    seen = [graph for graph in graphs if not is_hidden(world, folded.runs, caller, graph)]
    return sorted(joinable(folded, caller, seen), key=lambda graph: graph.born)


def joinable(folded: Folded, caller: CreatureState, graphs: Iterable[GraphState]) -> Iterator[GraphState]:
    """Those of these graphs that no policy forbids the caller to join."""
    world = folded.world
    runs = folded.runs
    return (graph for graph in graphs if rule_of_joining(world, runs, caller, graph) != "refuse")


def names_of_others(folded: Folded, caller: CreatureState, names_max: int) -> list[str]:
    """Creatures in the other graphs of the caller's run, as `handle@graph`: the first of each graph, then the second of
    each, and so on. Other runs are left out, so that no prompt depends on what else is played."""
    of_each = [names_in(graph, names_max) for graph in _graphs_of_run(folded, caller)[:names_max]]
    return [name for names in zip_longest(*of_each) for name in names if name is not None][:names_max]


def names_in(graph: GraphState, names_max: int) -> list[str]:
    """The first creatures of another graph, as `handle@graph`."""
    return [f"{handle}{OF_GRAPH}{graph.name}" for handle in islice(graph.handles.owners, names_max)]


def channel_called(world: World, caller: CreatureState, name: str) -> ChannelState:
    """A channel of the caller's graph by name or id, or a refusal with a suggestion."""
    graph = world.graphs[caller.graph_id]
    try:
        return the_channel(world, graph, name)
    except UnknownName as unknown:
        if graph.channels.owners:
            raise
        raise Refused(unknown.reason, "Open one first: action open, and a new name for channel.") from unknown
