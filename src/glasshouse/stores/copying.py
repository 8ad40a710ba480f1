"""`copy_store`: a whole store, copied into a new one: a file, or a house in a database.

Theory of operation. The copy is written under another name, `NAME.copying` or the house `NAME (copying)`, and gets its own name when it is whole and was compared.
So what has the name is never half a copy, and a copy that was cut off goes on behind its last event. Events keep their positions, and changes their numbers; what
hangs on them goes into the same commit: prompts, lines shown, requests. Labels, records and what waits in the inbox follow. Snapshots are caches, which
the first opening makes anew.

Always holds: nothing is written into the source. The digests of its runs are those of the copy.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final, NamedTuple

from glasshouse.errors import Refused, StoreFailed
from glasshouse.events.codec import content_of, encoded
from glasshouse.events.event import Event
from glasshouse.runtime.ledger.session_file import sync
from glasshouse.runtime.ledger.writer import bytes_in, commit_bytes_max
from glasshouse.runtime.store_port import Batch, SegmentWrite, SideWrites, Store
from glasshouse.stores.store_address import StoreAddress
from glasshouse.world.decisions.requests import Request
from glasshouse.world.state.state import Segment

page_events_max: Final = 512
"""How many events are read at once, and written in one commit, unless one change has more. Fewer, if they are large: see `commit_bytes_max`."""
waiting_max: Final = 10_000
"""How many lines and requests that wait in an inbox are copied."""

OnCopied = Callable[[str, int, int], None]
"""Is told what is done, for how many events, of how many."""


class Copied(NamedTuple):
    """What a copy holds."""

    events: int
    sessions: int
    continued_at: int
    """How many events were there already, from a copy that was cut off."""


async def copy_store(given: StoreAddress, into: StoreAddress, on_copied: OnCopied) -> Copied:
    """Copy a store into a new one. Refused if the source is being played, or the other one exists."""
    if given.is_same(into):
        raise Refused("A store cannot be copied onto itself.", "Name another place.")
    await _check_is_idle(given)
    await _check_is_free(into)
    part = _unfinished(into)
    async with AsyncExitStack() as stack:
        source = given.guest()
        await source.open("")
        stack.push_async_callback(source.close)
        copy = part.to_write()
        await copy.open(source.house_id)
        stack.push_async_callback(copy.close)
        if copy.house_id != source.house_id:
            raise Refused(f"{part} holds the beginning of another copy.", "Remove it, then copy again.")
        copying = _Copying(source, copy, on_copied)
        continued_at = await copy.position()
        await copying.check_beginning(continued_at)
        await copying.copy_events(continued_at)
        await copying.copy_the_rest()
        await copying.compare()
        await _check_is_idle(given)
        if await source.position() != await copy.position():
            raise Refused(f"{given} was played meanwhile.", "Copy again: it goes on where it stopped.")
        copied = Copied(await copy.position(), len(await copy.segments_after(0)), continued_at)
    await _name(part, into)
    return copied


class _Copying:
    """A copy on its way from one open store to another."""

    def __init__(self, source: Store, copy: Store, on_copied: OnCopied) -> None:
        self._source = source
        self._copy = copy
        self._on_copied = on_copied
        self._prompts: set[str] = set()
        self._segments: dict[str, Segment] = {}

    async def check_beginning(self, position: int) -> None:
        """Refuse to go on behind an event that the source does not have there."""
        last = await self._copy.read_after(position - 1, 1) if position else []
        theirs = await self._source.read_after(position - 1, 1) if position else []
        if list(map(content_of, last)) != list(map(content_of, theirs)):
            raise Refused("The copy that was begun is of another store.", "Remove it, then copy again.")

    async def copy_events(self, position: int) -> None:
        """Copy the events after a position, change by change."""
        self._segments = {segment.id: segment for segment in await self._source.segments_after(0)}
        total = await self._source.position()
        waiting: list[Event] = []
        read = position
        while read < total or waiting:
            page = await self._source.read_after(read, page_events_max)
            read += len(page)
            waiting += page
            cut = len(waiting) if read >= total else _last_boundary(waiting)
            if cut:
                await self._commit(waiting[:cut])
                waiting = waiting[cut:]
            elif not page:
                raise StoreFailed("The ledger of the source lacks events. Restore a copy of it.")
            self._on_copied("copied", read - len(waiting), total)

    async def _commit(self, events: list[Event]) -> None:
        first = events[0].position or 0
        requests = await self._source.requests(first, events[-1].position or 0)
        batches: list[Batch] = []
        size = 0
        for changed in _changes(events):
            batch = await self._batch(changed, requests.get(changed[0].position or 0))
            more = bytes_in(batch)
            if batches and size + more > commit_bytes_max:
                await self._write(batches, first)
                batches = []
                size = 0
                first = changed[0].position or 0
            batches.append(batch)
            size += more
        await self._write(batches, first)

    async def _batch(self, changed: list[Event], request: Request | None) -> Batch:
        last = changed[-1].position or 0
        shown = await self._source.shown(last) if changed[-1].calls else None
        prompts = tuple([pair async for pair in _texts(self._source, self._new_prompts(changed))])
        return Batch(tuple(self._writes(changed)), SideWrites(prompts, shown=shown or (), request=request))

    async def _write(self, batches: list[Batch], first: int) -> None:
        if await self._copy.commit(batches) != first:
            raise StoreFailed("The copy does not stand where the source does. Remove it, then copy again.")

    def _writes(self, events: Iterable[Event]) -> Iterator[SegmentWrite]:
        for session_id, some in groupby(events, key=lambda event: event.session_id):
            of_session = list(some)
            opens = self._segments[session_id] if of_session[0].seq == 1 else None
            bodies = tuple(map(encoded, of_session))
            changes = tuple([str(event.change) for event in of_session])
            yield SegmentWrite(session_id, of_session[0].seq - 1, bodies, opens, changes)

    def _new_prompts(self, events: Iterable[Event]) -> list[str]:
        """The digests of the prompts behind these events that were not copied yet."""
        named = [
            name for event in events for call in event.calls for name in (call.system, call.user, call.schema)
        ]
        new = [name for name in dict.fromkeys(named) if name and name not in self._prompts]
        self._prompts.update(new)
        return new

    async def copy_the_rest(self) -> None:
        """Copy what stands beside the ledger, and what waits in the inbox."""
        labels = tuple((await self._source.labels()).items())
        records = tuple((await self._source.records()).items())
        if labels or records:
            await self._copy.commit([Batch(side=SideWrites(labels=labels, records=records))])
        lines = await self._source.lines(waiting_max)
        for line in lines[len(await self._copy.lines(waiting_max)) :]:
            await self._copy.put_line(line.text, line.run_id)
        requests = [request.body for request in await self._source.open_requests(waiting_max)]
        for body in requests[len(await self._copy.open_requests(waiting_max)) :]:
            await self._copy.put_request(body)

    async def compare(self) -> None:
        """Read both from the beginning. Raises if they differ."""
        position = 0
        total = await self._copy.position()
        while position < total:
            ours = await self._copy.read_after(position, page_events_max)
            theirs = await self._source.read_after(position, len(ours))
            if not ours or [*map(_compared, ours)] != [*map(_compared, theirs)]:
                raise StoreFailed(
                    f"The copy differs from its source after event {position}. Remove it, then copy again."
                )
            position += len(ours)
            self._on_copied("compared", position, total)
        if await self._copy.segments_after(0) != await self._source.segments_after(0):
            raise StoreFailed(
                "The sessions of the copy differ from those of its source. Remove it, then copy again."
            )


def _compared(event: Event) -> tuple[object, ...]:
    return event.position, event.change, content_of(event)


async def _texts(source: Store, digests: Iterable[str]) -> AsyncIterator[tuple[str, str]]:
    for digest in digests:
        text = await source.prompt(digest)
        if text is not None:  # It may have been dropped.
            yield digest, text


def _last_boundary(events: list[Event]) -> int:
    """How many of the first events are whole changes, as far as these tell: 0 if none is."""
    return max(_boundaries(events), default=0)


def _changes(events: list[Event]) -> Iterator[list[Event]]:
    """Events that belong to one change, or to an import whose changes lie among one another."""
    cuts = [0, *sorted(_boundaries(events)), len(events)]
    for first, last in pairwise(cuts):
        yield events[first:last]


def _boundaries(events: list[Event]) -> list[int]:
    """Where a change begins, and none from before it goes on behind. The first event is left out."""
    boundaries: list[int] = []
    oldest = events[-1].change or 0
    for index in range(len(events) - 1, 0, -1):
        oldest = min(oldest, events[index].change or 0)
        if oldest == events[index].position:
            boundaries.append(index)
    return boundaries


async def _check_is_idle(address: StoreAddress) -> None:
    holder = await address.holder()
    if holder is not None:
        who = f"Process {holder}" if holder else "Another process"
        raise Refused(f"{who} plays {address}.", "Stop it first, then copy.")


async def _check_is_free(address: StoreAddress) -> None:
    is_there = _is_file(address.path) if address.path is not None else await address.has_house()
    if is_there:
        advice = (
            "Name another house behind the '#'." if address.path is None else "Name a file that does not."
        )
        raise Refused(f"{address} exists already.", advice)


def _is_file(path: Path) -> bool:
    return os.path.lexists(path)


def _unfinished(into: StoreAddress) -> StoreAddress:
    """Where a copy stands until it is whole."""
    if into.path is not None:
        return StoreAddress(into.path.with_name(f"{into.path.name}.copying"))
    return into.of_house(f"{into.house} (copying)")


async def _name(part: StoreAddress, into: StoreAddress) -> None:
    """Give a whole copy its name."""
    if part.path is None or into.path is None:
        await part.rename_house(into.house)
    else:
        _rename_file(part.path, into.path)


def _rename_file(part: Path, path: Path) -> None:
    os.rename(part, path)  # Closed, a store is one file: its log was moved into it.
    sync(path.parent)
    Path(f"{part}.lock").unlink(missing_ok=True)
