"""Sessions and their lineage as immutable values, read from the world's state.

Always holds: nothing here changes the world, and the values do not change when the world does. A session that has ended
is shown like an open one. Its agents are all creatures that were ever in its graph.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    at = len(before)
    return Lineage(session_id, sessions[:at], sessions[at], sessions[at + 1 :])


def _sessions_of(world: World, names: Sequence[str]) -> tuple[Session, ...]:
    agents = agents_of(world.sessions, names, lambda name: _members_now(world, name))
    return tuple([_session(world, name, agents[name]) for name in names])


def _members_now(world: World, session_id: str) -> dict[str, None] | None:
    """The creatures of an open session; none if it has ended."""
    graph = world.graphs.get(world.sessions[session_id].segment.graph_id)
    return graph.creatures if graph is not None and graph.session_id == session_id else None


def _session(world: World, session_id: str, agents: list[str]) -> Session:
    state = world.sessions[session_id]
    segment = state.segment
    return Session(
        id=session_id,
        graph_id=segment.graph_id,
        origin=segment.origin,
        parent_session_ids=tuple([parent.session_id for parent in segment.parents]),
        child_session_ids=tuple(state.children or ()),
        agents=tuple(agents),
        events=state.head,
        is_open=_members_now(world, session_id) is not None,
        recipes=tuple([recipe.path for recipe in state.recipes if recipe.path]),
        merged_at=segment.at if segment.origin == "merge" else None,
        split_at=segment.at if segment.origin == "split" else None,
        forked_at=segment.at if segment.origin in GROWN_APART else None,
        began_at=state.began_at,
    )
