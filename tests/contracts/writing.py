"""Real segments, events and writes for the store contract, a line each."""

from datetime import UTC, datetime

from msgspec.structs import replace

from glasshouse.events.codec import encoded
from glasshouse.events.event import Event, event_id
from glasshouse.runtime.store_port import Batch, SegmentWrite
from glasshouse.world.state.lineage import Span, span_of
from glasshouse.world.state.state import Parent, Segment
from glasshouse.world.state.values import SessionOrigin

NOON = datetime(2026, 5, 9, 12, 0, tzinfo=UTC)


def root(name: str, *, base: int = 0, ordinal: int = 1) -> Segment:
    return Segment(f"s-{name}", f"g-{name}", "root", ordinal, base)


def child(name: str, *parents: tuple[Segment, int], base: int, ordinal: int = 2) -> Segment:
    seen = tuple(Parent(parent.id, upto) for parent, upto in parents)
    origin: SessionOrigin = "merge" if len(parents) > 1 else "split"
    return Segment(f"s-{name}", f"g-{name}", origin, ordinal, base, seen, event_id(seen[0].session_id, 1))


def line(segment: Segment, seq: int, text: str) -> Event:
    return Event(
        id=event_id(segment.id, seq),
        session_id=segment.id,
        graph_id=segment.graph_id,
        seq=seq,
        lamport=segment.base + seq,
        turn=0,
        actor="ada",
        kind="agent.spoke",
        payload={"text": text},
        created_at=NOON,
    )


def lines(segment: Segment, head: int, *texts: str) -> SegmentWrite:
    bodies = [encoded(line(segment, seq, text)) for seq, text in enumerate(texts, head + 1)]
    return SegmentWrite(segment.id, head, tuple(bodies))


def opening(segment: Segment, *texts: str) -> SegmentWrite:
    return replace(lines(segment, 0, *texts), opens=segment)


def one_batch(*writes: SegmentWrite) -> list[Batch]:
    return [Batch(writes)]


def span(segment: Segment, first: int = 1, last: int = 1_000_000) -> Span:
    return span_of(segment, first, last)


def texts_of(events: list[Event]) -> list[str]:
    return [event.payload["text"] for event in events]
