"""The decision to fork a session."""

from __future__ import annotations

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.payloads import SessionForked
from glasshouse.world.decision import Decision, Write, change_of, engine_fact
from glasshouse.world.ids import free_session_id, graph_id_for
from glasshouse.world.intents import Fork
from glasshouse.world.lookup import the_session
from glasshouse.world.state import Parent, Segment, World


def session_forked(world: World, intent: Fork) -> Decision:
    """Start a session that shares the past up to an event. Its parent stays open, and no creature lives in it."""
    parent = the_session(world, intent.session_id)
    if not 1 <= intent.upto <= parent.head:
        raise Refused(
            f"Session {intent.session_id} has no event {intent.upto}.",
            f"Fork at one of its {parent.head} events.",
        )
    session_id = free_session_id(world, "fork", (intent.session_id,), len(parent.children or ()))
    graph_id = graph_id_for(session_id)
    base, parents = parent.segment.base + intent.upto, (Parent(intent.session_id, intent.upto),)
    opens = Segment(session_id, graph_id, "fork", world.sessions_begun, base, parents, intent.at)
    payload = SessionForked(session=session_id, parents=[intent.session_id], how="fork", at=intent.at)
    write = Write(session_id, graph_id, (engine_fact(kinds.SESSION_FORKED, payload),), opens)
    return Decision((write,), change_of("nothing", (), ()), session_id)
