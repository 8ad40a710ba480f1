"""The house in which an imported run was played, as far as its file tells of it.

Theory of operation. A replay needs a house: events in the order of commits, the requests of changes, and an id from which
other ids follow. The events of a file are in the store, and a record of that house came with them. Here both are put
together in memory, under the id of that house. Sessions that were imported into that house are imported in this one too.

Always holds: nothing is written to the store. A run that the file does not hold whole is refused, and the refusal says what
is missing (ADR 0103).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

from msgspec.structs import replace

from glasshouse.errors import BadEvent, Conflict, Refused, StoreDamaged
from glasshouse.events.codec import encoded
from glasshouse.events.event import Event
from glasshouse.runtime.clock import SeededIds
from glasshouse.runtime.house import House
from glasshouse.runtime.ledger.folds import fold_page_events
from glasshouse.runtime.ledger.house_record import HouseRecord, decoded_record, fold_shape
from glasshouse.runtime.replay.overlay import OverlayStore
from glasshouse.runtime.store_port import Batch, SegmentWrite, SideWrites
from glasshouse.world.decisions.requests import Request
from glasshouse.world.fold.evolve import stand
from glasshouse.world.state.lineage import ancestors_of, by_age, span_of
from glasshouse.world.state.state import SessionState, Standing, World


class HouseOfFile(NamedTuple):
    """The house of an imported run, and its counters where others had moved them, by position."""

    house: House
    standings: dict[int, Standing]

    async def standings_after(self, position: int) -> dict[int, Standing]:
        """The same, and the counters right after a position, where a replay begins. Folding the events of the file alone
        does not give them: others had moved the counters before."""
        if position + 1 in self.standings:
            return self.standings
        store = self.house.store
        world = World()
        folded = 0
        segments = {segment.id: segment for segment in await store.segments_after(0)}
        while folded < position:
            for event in await store.read_after(folded, min(fold_page_events, position - folded)):
                folded += 1
                if folded in self.standings:
                    stand(world, self.standings[folded])
                fold_shape(world, event, segments)
        counters = (world.births, world.roots, world.sessions_begun, world.numbers_given)
        return {**self.standings, position + 1: Standing(*counters)}


@asynccontextmanager
async def house_of_file(house: House, run_id: str) -> AsyncIterator[HouseOfFile]:
    """The house in which an imported run was played. Refused if the file lacks something that a replay needs."""
    record = await _record_of(house, run_id)
    store = OverlayStore(house.store, 0, {}, record.house)
    there = House(store, house.clock, SeededIds(0))
    try:
        standings = await _fill(house, store, record)
        await there.open()
    except (BadEvent, Conflict, StoreDamaged) as unsound:
        raise Refused(
            f"The record that came with run {run_id} does not fit its events: {unsound}",
            "Export the run again, and import it into a new store.",
        ) from unsound
    try:
        yield HouseOfFile(there, standings)
    finally:
        await there.close(_nothing_to_stop)


async def _nothing_to_stop() -> None:
    """Nobody acts in a house that is only read."""


async def _record_of(house: House, run_id: str) -> HouseRecord:
    """The record that came with a run, or a refusal that says what is missing."""
    sessions = house.ledger.world.sessions
    begun_in = house.history.imported_runs()[run_id]
    named = f"Run {run_id} was imported, and cannot be replayed from its file:"
    as_director = f"Export it with `glasshouse export {run_id} --as director` where it was played"
    elsewhere = "and import that file into a new store, or verify the run where it was played."
    if any(state.segment.is_redacted for state in house.history.sessions_with(run_id).values()):
        raise Refused(
            f"{named} the file was redacted, and lacks the requests, completions and sealed facts that only a director reads.",
            f"{as_director}, {elsewhere}",
        )
    records = [decoded_record(body) for body in (await house.store.records()).values()]
    known = [record for record in records if begun_in in record.sessions]
    if not known:
        raise Refused(
            f"{named} it has no requests from outside and not the order of commits, as files of older versions.",
            f"{as_director}, by this version, {elsewhere}",
        )
    complete = [record for record in known if run_id not in record.lacks]
    if not complete:
        lacking = known[0].lacks[run_id]
        count = f"{len(lacking)} sessions" if len(lacking) > 1 else "a session"
        raise Refused(
            f"{named} it lacks {count} in which the run, or a run that it met, was played: {', '.join(lacking)}.",
            f"{as_director}, as a run and not as one of its sessions, {elsewhere}",
        )
    record = max(complete, key=lambda record: record.events)
    if any(name not in sessions or sessions[name].head < seq for name, seq in record.sessions.items()):
        raise Refused(f"{named} the store lacks events that the file had.", "Import the file again.")
    return record


async def _fill(house: House, store: OverlayStore, record: HouseRecord) -> dict[int, Standing]:
    """Write the events of a record into a store, in the order of commits; returns the standings by position."""
    sessions = house.ledger.world.sessions
    await house.ledger.writer.wait_for_durability()
    events = {name: await _events(house, sessions[name], seq) for name, seq in record.sessions.items()}
    before = {name: None for known in record.sessions for name in ancestors_of(sessions, known)}
    for name in by_age(sessions, [name for name in before if name not in record.sessions]):
        body = tuple(map(encoded, await _events(house, sessions[name], sessions[name].head)))
        await store.commit([Batch((SegmentWrite(name, 0, body, sessions[name].segment),))])
    requests = {kept.of: kept for kept in record.requests}
    positions: dict[str, int] = {}
    standings: dict[int, Standing] = {}
    for change in _changes(record, events):
        first = change[0].id
        position = store.last_position
        positions |= {event.id: position + number for number, event in enumerate(change, 1)}
        if first in record.standings:
            standings[position + 1] = record.standings[first]
        kept = requests.get(first)
        request = None
        if kept is not None:
            seen = None if kept.seen is None else positions.get(kept.seen, 0)
            request = replace(kept.request, seen=seen)
        await store.commit([_batch(change, sessions, request)])
    return standings


async def _events(house: House, session: SessionState, upto: int) -> list[Event]:
    return await house.store.read([span_of(session.segment, 1, upto)])


def _changes(record: HouseRecord, events: Mapping[str, list[Event]]) -> Iterator[list[Event]]:
    """The events of a record by change, in the order of commits."""
    names = list(record.sessions)
    left = {name: iter(some) for name, some in events.items()}
    change: list[Event] = []
    for number, count, changes in record.order:
        some = [next(left[names[number]]) for _ in range(count)]
        if changes and change:
            yield change
            change = []
        if changes == count > 1:
            yield from ([event] for event in some)
        else:
            change += some
    if change:
        yield change


def _batch(change: list[Event], sessions: Mapping[str, SessionState], request: Request | None) -> Batch:
    """The writes of a change, with its request. The first event of a session opens its segment."""
    writes: dict[str, list[Event]] = {}
    for event in change:
        writes.setdefault(event.session_id, []).append(event)
    return Batch(
        tuple(
            [
                SegmentWrite(
                    name,
                    some[0].seq - 1,
                    tuple(map(encoded, some)),
                    replace(sessions[name].segment, is_imported=False) if some[0].seq == 1 else None,
                )
                for name, some in writes.items()
            ]
        ),
        SideWrites(request=request),
    )
