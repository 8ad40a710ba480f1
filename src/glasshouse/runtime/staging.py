"""Staging: what was decided is stamped, encoded and folded into the pending world.

Always holds: what cannot be encoded is refused before anything has changed; what was folded is written as it was.
"""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from glasshouse.events.codec import encoded_within_bounds
from glasshouse.events.event import Event
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.folding import fold
from glasshouse.runtime.ports import SegmentWrite
from glasshouse.world.decision import Write
from glasshouse.world.evolve import begin
from glasshouse.world.stamp import stamped
from glasshouse.world.state import World


def staged(world: World, decided: tuple[Write, ...], now: datetime) -> tuple[list[Event], list[SegmentWrite]]:
    """The events of a decision, and how they are written; the world has not moved yet."""
    all_events: list[Event] = []
    writes: list[SegmentWrite] = []
    for write in decided:
        events = stamped(world, write, now)
        bodies = tuple([encoded_within_bounds(event) for event in events])
        writes.append(SegmentWrite(write.session_id, events[0].seq - 1, bodies, write.opens))
        all_events = all_events + events if all_events else events
    return all_events, writes


def fold_staged(folded: Folded, decided: tuple[Write, ...], events: list[Event]) -> None:
    """Move the pending world on by the events of a decision."""
    for event in events:
        if event.seq == 1:
            _begin(folded.world, decided, event.session_id)
        fold(folded, event)


def caused_by(decided: tuple[Write, ...], cause: str) -> tuple[Write, ...]:
    """The same writes, each of whose facts names its cause."""
    return tuple(
        [
            replace(write, facts=tuple([replace(fact, caused_by=cause) for fact in write.facts]))
            for write in decided
        ]
    )


def as_one_batch(first: list[SegmentWrite], second: list[SegmentWrite]) -> tuple[SegmentWrite, ...]:
    """Two decisions' writes as one batch: where both write to one session, the first part ends no batch there."""
    again = {write.session_id for write in second}
    return (*[_as_inner(write) if write.session_id in again else write for write in first], *second)


def _as_inner(write: SegmentWrite) -> SegmentWrite:
    seqs = range(write.expected_head + 1, write.expected_head + len(write.bodies) + 1)
    return replace(write, inner=frozenset(seqs))


def _begin(world: World, decided: tuple[Write, ...], session_id: str) -> None:
    for write in decided:
        if write.opens is not None and write.session_id == session_id:
            begin(world, write.opens)
