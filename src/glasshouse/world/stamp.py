"""Stamping: facts become events when they get their id, their place in the ledger, their turn and their time."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from glasshouse.events.codec import VERSIONS
from glasshouse.events.event import Event
from glasshouse.world.decision import Fact, Write
from glasshouse.world.state import World


def stamped(world: World, write: Write, now: datetime) -> list[Event]:
    """The events that a write's facts are, right after the last one of its session."""
    if write.opens is None:
        session = world.sessions[write.session_id]
        seq, base = session.head, session.segment.base
        graph = world.graphs.get(write.graph_id)
        turn = 0 if graph is None else graph.turn
    else:
        seq, base, turn = 0, write.opens.base, _turn_at_birth(world, write)
    if write.turn is not None:
        turn = write.turn
    return [
        event_of(fact, write.session_id, write.graph_id, number, base, turn, now)
        for number, fact in enumerate(write.facts, seq + 1)
    ]


def event_of(
    fact: Fact, session_id: str, graph_id: str, seq: int, base: int, turn: int, now: datetime
) -> Event:
    """The event that a fact is at its place."""
    # Fifteen keywords at most: with more, the interpreter packs them into a dict first, at three times the cost.
    event = Event(
        id=f"{session_id}.{seq}",
        session_id=session_id,
        graph_id=graph_id,
        seq=seq,
        lamport=base + seq,
        turn=turn,
        actor=fact.actor,
        kind=fact.kind,
        payload=fact.payload,
        created_at=now,
        run_id=fact.run_id,
        channel_id=fact.channel_id,
        channel=fact.channel,
        private=fact.private,
        caused_by=fact.caused_by,
    )
    if fact.model is not None or fact.sealed is not None or fact.kind in VERSIONS:
        version = VERSIONS.get(fact.kind, 1)
        event = replace(event, sealed=fact.sealed, model=fact.model, schema_version=version)
    return event


def _turn_at_birth(world: World, write: Write) -> int:
    """A new session's clock is the latest of its parents' graphs. A parent of the same batch has not begun to count."""
    parents = write.opens.parents if write.opens is not None else ()
    known = [world.sessions[parent.session_id] for parent in parents if parent.session_id in world.sessions]
    graph_ids = [session.segment.graph_id for session in known]
    return max((world.graphs[name].turn for name in graph_ids if name in world.graphs), default=0)
