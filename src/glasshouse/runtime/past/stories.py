"""Stories: the events that one page shows, numbered in the order of commits, and the page's view at any of them.

A story is a run with its past, and every run that shares a graph with it. Always holds: as long as no run joins it, a
story only grows at its end, so its numbers stay. The view at any event comes from the nearest snapshot and the events
behind it: at most `view_events_between` where somebody followed the story or looked there before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from glasshouse.errors import Refused, UnknownName
from glasshouse.events.event import Event, session_and_seq
from glasshouse.events.redaction import Role
from glasshouse.runtime.ledger.history import HistoryReader, spans_of_events
from glasshouse.runtime.store_port import Snapshot
from glasshouse.views import page
from glasshouse.views.page import Record
from glasshouse.views.page_fold import PageFold
from glasshouse.views.page_state import PageSnapshot
from glasshouse.world.state.ids import the_run
from glasshouse.world.state.lineage import joined_prefixes, span_of

view_events_between: Final = 1_000
"""A view is kept each time this many events were folded."""
view_bytes_small: Final = 65_536
"""Views up to this size are kept each time: they take at most an eighth of what the events between them take."""
page_events_max: Final = 1_000
"""A story is read from the store in pages of this many events."""
orders_kept_max: Final = 4
"""Of how many imported stories the order of their events is kept."""
gap_events_max: Final = 8
"""Events of one session whose seqs differ by at most this are read together."""

_decode_snapshot: Final = msgspec.msgpack.Decoder(PageSnapshot).decode


class Story(NamedTuple):
    """Which events belong together on one page."""

    runs: tuple[str, ...]
    """Its runs, in the order of their names."""
    ends: Mapping[str, int | None]
    """Its sessions, each with the last seq that belongs to it; none for a session that belongs to it whole."""
    is_imported: bool = False

    @property
    def id(self) -> str:
        """A name for snapshots of this story. A run that joins makes another story of it."""
        return blake2b(" ".join(self.runs).encode(), digest_size=8).hexdigest()

    def has(self, event: Event) -> bool:
        """Whether an event belongs to it."""
        end = self.ends.get(event.session_id, 0)
        return end is None or event.seq <= end


class Lane(NamedTuple):
    """A session of a story, and the logical times of its first and last event in it."""

    session: str
    graph: str
    origin: str
    first: int
    last: int
    parents: tuple[str, ...]


class Stories:
    """Reads stories and the page's views of them."""

    def __init__(self, history: HistoryReader) -> None:
        self._history = history
        self._orders_cache: dict[str, tuple[list[Lane], list[str]]] = {}

    def of_run(self, run_id: str) -> Story:
        """The story that a run is part of, as it stands now."""
        world = self._history.ledger.world
        if run_id not in world.runs and run_id in self._history.imported_runs():
            return Story((run_id,), {}, is_imported=True)
        the_run(world, run_id)
        runs, own = self._history.company_of(run_id)
        prefixes = joined_prefixes(world.sessions, {name: session.head for name, session in own.items()})
        ends = {name: None if name in own else seq for name, seq in prefixes.items()}
        return Story(tuple(sorted(runs)), ends)

    def length(self, story: Story) -> int:
        """How many events a story has. Not of an imported one: a file may hold more than the story."""
        sessions = self._history.ledger.world.sessions
        return sum(sessions[name].head if end is None else end for name, end in story.ends.items())

    def lanes(self, story: Story) -> list[Lane]:
        """The sessions of a story, the oldest first."""
        sessions = self._history.ledger.world.sessions
        ends = story.ends
        if story.is_imported:
            ends = dict.fromkeys(self._history.sessions_with(story.runs[0]))
        lanes = []
        for name, end in ends.items():
            session = sessions[name]
            segment = session.segment
            last = session.head if end is None else end
            parents = tuple([parent.session_id for parent in segment.parents if parent.session_id in ends])
            lanes.append(
                Lane(name, segment.graph_id, segment.origin, segment.base + 1, segment.base + last, parents)
            )
        return sorted(lanes, key=lambda lane: (lane.first, sessions[lane.session].segment.ordinal))

    async def events(self, story: Story, after: int = 0, position: int = 0) -> AsyncIterator[list[Event]]:
        """The events of a story behind its event number `after`, which stands at a position; page by page."""
        async for _, page_of_events in self.numbered(story, after, position):
            yield [event for _, event in page_of_events]

    async def numbered(
        self, story: Story, k: int, position: int, *, newest_first: bool = False
    ) -> AsyncIterator[tuple[int, list[tuple[int, Event]]]]:
        """The events behind event number `k`, which stands at a position, with their numbers; page by page, each with
        the position up to which the store was read. With `newest_first`, those before it."""
        await self._history.ledger.writer.wait_for_durability()
        if story.is_imported:  # Its positions tell in which order the file was read.
            order = await self._order_of(story)
            numbers = range(k - 1, 0, -1) if newest_first else range(k + 1, len(order) + 1)
            for first in range(0, len(numbers), page_events_max):
                some_numbers = numbers[first : first + page_events_max]
                events = await self._read([order[number - 1] for number in some_numbers])
                yield 0, list(zip(some_numbers, events, strict=True))
            return
        length = self.length(story)
        if not newest_first and position == 0:
            position = await self._beginning(story)
        while (
            k > 1 if newest_first else k < length
        ):  # Behind the last one there may be many of other stories.
            start = max(position - 1 - page_events_max, 0) if newest_first else position
            count = min(page_events_max, position - 1) if newest_first else page_events_max
            some = await self._history.store.read_after(start, count) if count > 0 else []
            if not some:
                return
            mine = [event for event in some if story.has(event)]
            if newest_first:
                position = start + 1
                page = [(k - 1 - index, event) for index, event in enumerate(reversed(mine))]
                k -= len(mine)
            else:
                position = some[-1].position or 0
                page = list(enumerate(mine, k + 1))
                k += len(mine)
            yield position, page

    async def _beginning(self, story: Story) -> int:
        """The position right before the first event of a story. Before it there may be many of other stories."""
        sessions = self._history.ledger.world.sessions
        roots = [sessions[name].segment for name in story.ends if not sessions[name].segment.parents]
        first = await self._history.store.read([span_of(segment, 1, 1) for segment in roots])
        return min([event.position or 1 for event in first], default=1) - 1

    async def _order_of(self, story: Story) -> list[str]:
        """The ids of the events of an imported story, in the order of histories."""
        run_id = story.runs[0]
        lanes = self.lanes(story)
        kept, order = self._orders_cache.get(run_id, (None, []))
        if kept != lanes:  # A later file may have brought more of it.
            order = [event.id for event in await self._history.events_of_run(run_id)]
            while len(self._orders_cache) >= orders_kept_max:
                del self._orders_cache[next(iter(self._orders_cache))]
            self._orders_cache[run_id] = lanes, order
        return order

    async def _read(self, ids: list[str]) -> list[Event]:
        spans = spans_of_events(self._history.ledger.world, sorted(ids, key=session_and_seq), gap_events_max)
        events = {event.id: event for event in await self._history.store.read(spans)}
        return [events[name] for name in ids]

    async def position_of(self, story: Story, role: Role, k: int) -> int:
        """The position in the store of event number `k` of a story; 0 if that is 0."""
        kept = await self._nearest(story, role, k)
        if kept.view["k"] == k or story.is_imported:
            return kept.view["position"] or 0
        async for _, some in self.numbered(story, kept.view["k"], kept.view["position"] or 0):
            for number, event in some:
                if number == k:
                    return event.position or 0
        raise _beyond(self.length(story), k)

    async def view_at(
        self, story: Story, role: Role, k: int | None = None, tell: Callable[[int], None] = lambda _: None
    ) -> PageFold:
        """The page's view right after event number `k` of a story; without a number, at its end. `tell` is called with the
        numbers of events that it has come to."""
        fold = await self._nearest(story, role, k)
        if k is not None and fold.view["k"] == k:
            return fold
        # Of a story with large views few are kept on a long way: they would be larger than the story. A view between them is
        # near one, and then keeps its own neighbours.
        is_far = (self.length(story) if k is None else k) - fold.view["k"] > 10 * view_events_between
        between = view_events_between
        async for some in self.events(story, fold.view["k"], fold.view["position"] or 0):
            tell(fold.view["k"])
            await asyncio.sleep(0)  # A store in memory never waits, and others want to be answered meanwhile.
            for event in some:
                fold.fold(event)
                if fold.view["k"] % between == 0:
                    is_large = self.keep(story, fold) > view_bytes_small
                    between = view_events_between * (10 if is_far and is_large else 1)
                if fold.view["k"] == k:
                    return fold
        if k is not None and k > 0:
            raise _beyond(fold.view["k"], k)
        return fold

    async def records(self, story: Story, role: Role, after: int, records_max: int) -> list[Record]:
        """The records behind event number `after`, oldest first."""
        fold = await self.view_at(story, role, after)
        records: list[Record] = []
        async for some in self.events(story, fold.view["k"], fold.view["position"] or 0):
            for event in some:
                records.append(fold.fold(event))
                if len(records) == records_max:
                    return records
        return records

    async def number_of(self, story: Story, role: Role, wanted: Event) -> int:
        """Which number an event has in a story, or `UnknownName`. Kept views tell near which number to look."""
        fold: PageFold | None = None
        low = 0
        high = view_events_between
        while not story.is_imported:  # Doubling steps, so that a long story is not folded.
            kept = await self._nearest(story, role, high)
            if kept.view["k"] <= low or (kept.view["position"] or 0) >= (wanted.position or 0):
                break
            fold = kept
            low = kept.view["k"]
            high *= 2
        number, position = (0, 0) if fold is None else (fold.view["k"], fold.view["position"] or 0)
        async for some in self.events(story, number, position):
            for event in some:
                number += 1
                if event.id == wanted.id:
                    return number
        raise UnknownName(noun="event", name=wanted.id, where=" and ".join(story.runs))

    async def _nearest(self, story: Story, role: Role, k: int | None) -> PageFold:
        kept = await self._history.store.snapshot(story.id, _name(role), _key(), k) if k != 0 else None
        return PageFold(role) if kept is None else PageFold(role, _decode_snapshot(kept.body))

    def keep(self, story: Story, fold: PageFold) -> int:
        """Keep a view, so that those behind it are near, and return its bytes. A view is a cache: that it is kept is not
        waited for."""
        body = msgspec.msgpack.encode(fold.snapshot())
        self._history.ledger.keep_snapshot(Snapshot(story.id, _name(fold.role), _key(), fold.view["k"], body))
        return len(body)


def _beyond(length: int, k: int) -> Refused:
    return Refused(f"This story has {length:,} events, and no event {k:,}.", "Give a number up to that.")


def _name(role: Role) -> str:
    return f"view.{role}"


def _key() -> str:
    return f"page {page.version}"
