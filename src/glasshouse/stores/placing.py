"""The rules that all stores share: whether a write fits its session, and the order of a read.

Always holds: nothing here reads or writes a file. A store passes in what it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Final

from glasshouse.errors import BadEvent, Conflict, StoreDamaged
from glasshouse.events.codec import all_decoded, content_of, decoded
from glasshouse.events.event import Event
from glasshouse.runtime.store_port import SegmentWrite
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import Segment

answers_kept_max: Final = 64
"""A store keeps the answers to this many requests of the inbox, for senders that have not read theirs yet."""

BodiesOf = Callable[[str, int, int], list[bytes]]
"""(session id, first seq, last seq) -> the stored bodies."""


def check_room(write: SegmentWrite, head: int | None, opened: Segment | None, bodies_of: BodiesOf) -> bool:
    """Whether a write is new. False if the store already has the same events; `Conflict` if it has other events.

    `head` is the last seq of the session, or None if the store does not have it. `opened` is how the session began.
    """
    if write.opens is not None and opened is not None and opened != write.opens:
        raise Conflict(f"Session {write.session_id} began otherwise. Give the new one another id.")
    if head is None:
        if write.opens is None or write.expected_head != 0:
            raise Conflict(f"There is no session {write.session_id} to append to. Open it first.")
        return True
    if write.expected_head == head and (write.opens is None or head > 0):
        return True
    first = write.expected_head + 1
    last = write.expected_head + len(write.bodies)
    if last <= head and _are_same(bodies_of(write.session_id, first, last), write.bodies):
        return False
    raise Conflict(
        f"Session {write.session_id} stands at seq {head}, but this append expects {write.expected_head}."
        " Read on, then append at the new seq."
    )


def _are_same(kept: Sequence[bytes], given: Sequence[bytes]) -> bool:
    return len(kept) == len(given) and all(
        mine == other or content_of(decoded(mine)) == content_of(decoded(other))
        for mine, other in zip(kept, given, strict=True)
    )


def in_order_of_histories(spans: Sequence[Span], events_of: Callable[[Span], list[Event]]) -> list[Event]:
    """The events of the spans, fetched by `events_of`, ordered by lamport, segment, seq."""
    events: list[Event] = []
    for span in sorted(spans, key=attrgetter("ordinal", "session_id")):
        events += events_of(span)
    if len(spans) > 1:
        # The events are already in the order of segments. The sort is stable, so equal times keep that order.
        events.sort(key=attrgetter("lamport"))
    return events


def soundly_decoded(rows: Iterable[tuple[int, int, bytes | str]]) -> list[Event]:
    """The events of (position, change, body) rows. A body that cannot be decoded raises `StoreDamaged`."""
    try:
        return all_decoded(rows)
    except BadEvent as broken:
        raise broken_event(broken) from broken


def broken_event(broken: Exception) -> StoreDamaged:
    """That the store is damaged: an event in it cannot be decoded."""
    return StoreDamaged(f"The ledger holds a broken event: {broken} Restore a copy.")
