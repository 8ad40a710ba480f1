"""Staging: a decision is stamped, encoded and folded into the pending world.

Always holds: what cannot be encoded is refused before anything changes; what was folded is written exactly so.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from glasshouse.events.codec import encoded_within_bounds
from glasshouse.events.event import Event
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folding import fold
from glasshouse.runtime.ports import SegmentWrite
from glasshouse.world.decisions.decision import Write, stamped
from glasshouse.world.fold.evolve import begin
from glasshouse.world.state.state import World


def taken_in(
    folded: Folded,
    decided: tuple[Write, ...],
    now: datetime,
    give_up: Callable[[BaseException], None],
) -> tuple[list[Event], list[SegmentWrite]]:
    """Move the pending world on by what was decided: its events, and how they are written.

    If the fold fails the world is half moved, and `give_up` is told why.
    """
    world = folded.world
    events, writes = written(world, decided, now)
    try:
        for event in events:
            if event.seq == 1:
                _begin(world, decided, event.session_id)
            fold(folded, event)
    except BaseException as unforeseen:
        give_up(unforeseen)
        raise
    return events, writes


def written(
    world: World, decided: tuple[Write, ...], now: datetime
) -> tuple[list[Event], list[SegmentWrite]]:
    """The events of a decision, and how they are written; nothing changes yet."""
    all_events: list[Event] = []
    writes: list[SegmentWrite] = []
    for write in decided:
        events = stamped(world, write, now)
        bodies = tuple(map(encoded_within_bounds, events))
        writes.append(SegmentWrite(write.session_id, events[0].seq - 1, bodies, write.opens))
        all_events = all_events + events if all_events else events
    return all_events, writes


def caused_by(decided: tuple[Write, ...], cause: str) -> tuple[Write, ...]:
    """The same writes, each of whose facts names its cause."""
    return tuple(
        [
            replace(write, facts=tuple([replace(fact, caused_by=cause) for fact in write.facts]))
            for write in decided
        ]
    )


def _begin(world: World, decided: tuple[Write, ...], session_id: str) -> None:
    for write in decided:
        if write.opens is not None and write.session_id == session_id:
            begin(world, write.opens)
