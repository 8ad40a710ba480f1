"""Sessions and their lineage as immutable values, read from the world's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from glasshouse.world.state.ids import the_session
from glasshouse.world.state.lineage import agents_of, ancestors_of, descendants_of
from glasshouse.world.state.state import World
from glasshouse.world.state.values import GROWN_APART, Lineage, Session


def session_of(world: World, session_id: str) -> Session:
    """One session, open or ended."""
    the_session(world, session_id)
    return _sessions_of(world, [session_id])[0]


def lineage_of(world: World, session_id: str) -> Lineage:
    """A session with all its ancestors and all its descendants."""
    the_session(world, session_id)
    before = ancestors_of(world.sessions, session_id)
    after = descendants_of(world.sessions, session_id)
    sessions = _sessions_of(world, [*before, session_id, *after])
    return Lineage(
        session_id=session_id,
        ancestors=tuple(sessions[: len(before)]),
        session=sessions[len(before)],
        descendants=tuple(sessions[len(before) + 1 :]),
    )


def _sessions_of(world: World, names: Sequence[str]) -> list[Session]:
    def members_now(session_id: str) -> Mapping[str, None] | None:
        graph = world.graphs.get(world.sessions[session_id].segment.graph_id)
        return graph.creatures if graph is not None and graph.session_id == session_id else None

    agents = agents_of(world.sessions, names, members_now)
    return [_session(world, name, agents[name]) for name in names]


def _session(world: World, session_id: str, agents: list[str]) -> Session:
    state = world.sessions[session_id]
    segment = state.segment
    graph = world.graphs.get(segment.graph_id)
    return Session(
        id=session_id,
        graph_id=segment.graph_id,
        origin=segment.origin,
        parent_session_ids=tuple([parent.session_id for parent in segment.parents]),
        child_session_ids=tuple(state.children or ()),
        agents=tuple(agents),
        events=state.head,
        is_open=graph is not None and graph.session_id == session_id,
        recipes=tuple([recipe.path for recipe in state.recipes]),
        merged_at=segment.at if segment.origin == "merge" else None,
        split_at=segment.at if segment.origin == "split" else None,
        forked_at=segment.at if segment.origin in GROWN_APART else None,
        skew=state.skew,
    )
