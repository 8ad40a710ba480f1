"""Real sessions, events and writes for the contract of stores, a line each."""

from datetime import UTC, datetime
from itertools import chain

from msgspec.structs import replace

from glasshouse.events.codec import encoded, payload_within_bounds
from glasshouse.events.event import Event, event_id
from glasshouse.runtime.store_port import Batch, Lines, SegmentWrite, Store
from glasshouse.world.state.lineage import Span, span_of
from glasshouse.world.state.state import Parent, Segment
from glasshouse.world.state.values import SessionOrigin

NOON = datetime(2026, 5, 9, 12, 0, tzinfo=UTC)


def root(name: str, *, base: int = 0, ordinal: int = 1) -> Segment:
    """A session without parents."""
    return Segment(f"s-{name}", f"g-{name}", "root", ordinal, base)


def child(name: str, *parents: tuple[Segment, int], base: int, ordinal: int = 2) -> Segment:
    """A session that began in others: a split of one, or a merge of several."""
    seen = tuple(Parent(parent.id, upto) for parent, upto in parents)
    origin: SessionOrigin = "merge" if len(parents) > 1 else "split"
    return Segment(f"s-{name}", f"g-{name}", origin, ordinal, base, seen, event_id(seen[0].session_id, 1))


def line(segment: Segment, seq: int, text: str) -> Event:
    """An event with a text."""
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
    """Further events of a session that stands at `head`."""
    bodies = [encoded(line(segment, seq, text)) for seq, text in enumerate(texts, head + 1)]
    return SegmentWrite(segment.id, head, tuple(bodies))


def opening(segment: Segment, *texts: str) -> SegmentWrite:
    """The first events of a session."""
    return replace(lines(segment, 0, *texts), opens=segment)


def one_batch(*writes: SegmentWrite) -> list[Batch]:
    """A commit of one batch."""
    return [Batch(writes)]


def span(segment: Segment, first: int = 1, last: int = 1_000_000) -> Span:
    """The events of a session from its first to its last."""
    return span_of(segment, first, last)


def texts_of(events: list[Event]) -> list[str]:
    """What the events say."""
    return [event.payload["text"] for event in events]


async def ledger_of(store: Store) -> list[str]:
    """What the whole ledger says, in its order."""
    return texts_of(await store.read_after(0, 1_000))


def in_one_batch(*events: Event) -> Batch:
    """Events as the lines of one batch."""
    rows = [
        (
            event.session_id,
            event.seq,
            (event.actor, event.kind, event.run_id, event.channel_id, event.channel),
            event.turn,
            event.created_at,
            payload_within_bounds(event),
        )
        for event in events
    ]
    return Batch(lines=Lines(list(events), [*chain(*rows)]))
