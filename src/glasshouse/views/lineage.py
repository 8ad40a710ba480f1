"""Sessions and their lineage as values."""

from __future__ import annotations

from collections.abc import Mapping

from glasshouse.world.lineage import MembersNow, agents_of, ancestors_of, descendants_of
from glasshouse.world.names import the_session
from glasshouse.world.state import World
from glasshouse.world.values import Lineage, Session


def session_of(world: World, session_id: str) -> Session:
    """One session, open or ended."""
    state = the_session(world, session_id)
    segment = state.segment
    graph = world.graphs.get(segment.graph_id)
    is_open = graph is not None and graph.session_id == session_id
    return Session(
        id=session_id,
        graph_id=segment.graph_id,
        origin=segment.origin,
        parent_session_ids=tuple([parent.session_id for parent in segment.parents]),
        child_session_ids=tuple(state.children or ()),
        agents=tuple(agents_of(world.sessions, session_id, _members_now(world))),
        events=state.head,
        is_open=is_open,
        merged_at=segment.at if segment.origin == "merge" else None,
        split_at=segment.at if segment.origin == "split" else None,
        forked_at=segment.at if segment.origin == "fork" else None,
    )


def _members_now(world: World) -> MembersNow:
    def members_now(session_id: str) -> Mapping[str, None] | None:
        graph = world.graphs.get(world.sessions[session_id].segment.graph_id)
        return graph.creatures if graph is not None and graph.session_id == session_id else None

    return members_now


def lineage_of(world: World, session_id: str) -> Lineage:
    """A session with everything it grew from and everything that grew from it."""
    return Lineage(
        session_id=session_id,
        ancestors=tuple([session_of(world, name) for name in ancestors_of(world.sessions, session_id)]),
        session=session_of(world, session_id),
        descendants=tuple([session_of(world, name) for name in descendants_of(world.sessions, session_id)]),
    )
