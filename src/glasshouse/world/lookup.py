"""Looking up ids and names in a world, or a refusal that names the one that was probably meant."""

from __future__ import annotations

from glasshouse.errors import Refused, UnknownName
from glasshouse.world.state import ChannelState, CreatureState, GraphState, RunFacts, SessionState, World


def the_creature(world: World, creature_id: str) -> CreatureState:
    """A live creature by id, or a refusal."""
    creature = world.creatures.get(creature_id)
    if creature is None:
        raise UnknownName(noun="creature", name=creature_id, known=world.creatures)
    return creature


def the_graph(world: World, graph_id: str) -> GraphState:
    """An open graph by id, or a refusal."""
    graph = world.graphs.get(graph_id)
    if graph is None:
        raise UnknownName(noun="open graph", name=graph_id, known=world.graphs)
    return graph


def the_session(world: World, session_id: str) -> SessionState:
    """A session by id, or a refusal."""
    session = world.sessions.get(session_id)
    if session is None:
        raise UnknownName(noun="session", name=session_id, known=world.sessions)
    return session


def the_channel(world: World, graph: GraphState, name: str) -> ChannelState:
    """A channel of a graph by name or id, or a refusal."""
    channel_id = graph.channels.get(name)
    if channel_id is not None:
        return world.channels[channel_id]
    by_id = world.channels.get(name)
    if by_id is not None and by_id.graph_id == graph.id:
        return by_id
    raise UnknownName(noun=f"channel of graph {graph.name}", name=name, known=graph.channels)


def the_run(world: World, run_id: str) -> RunFacts:
    """A run by id, or a refusal."""
    run = world.runs.get(run_id)
    if run is None:
        raise UnknownName(noun="run", name=run_id, known=world.runs)
    return run


def the_unfinished_run(world: World, run_id: str) -> RunFacts:
    """A run that has not finished, or a refusal."""
    run = the_run(world, run_id)
    if run.status == "finished":
        raise Refused(f"Run {run.id} has finished.", "Branch it to continue.")
    return run
