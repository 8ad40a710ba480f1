"""Stamping: a fact becomes an event when it is given its place, its turn and its time."""

from __future__ import annotations

from datetime import datetime

from glasshouse.events.codec import VERSIONS
from glasshouse.events.event import Event
from glasshouse.world.decision import Fact, Write
from glasshouse.world.state import SessionState


def stamped(fact: Fact, write: Write, session: SessionState, seq: int, turn: int, now: datetime) -> Event:
    """The event that this fact is, at this place of its session."""
    return Event(
        id=f"{write.session_id}.{seq}",
        session_id=write.session_id,
        graph_id=write.graph_id,
        seq=seq,
        lamport=session.segment.base + seq,
        turn=turn,
        actor=fact.actor,
        kind=fact.kind,
        payload=fact.payload,
        created_at=now,
        run_id=fact.run_id,
        channel_id=fact.channel_id,
        channel=fact.channel,
        private=fact.private,
        sealed=fact.sealed,
        caused_by=fact.caused_by,
        schema_version=VERSIONS.get(fact.kind, 1),
    )
