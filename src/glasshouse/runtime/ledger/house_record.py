"""House records: what a file tells of the house in which its sessions were played, so that they can be replayed elsewhere.

A replay makes the recorded changes again, in the order of commits and with their requests, in the house as it was. The
events of a file tell neither that order nor the requests, and what other runs did in the house is not in the file at all.
Ids follow from a few counters of the house, so the record holds these where other runs changed them (ADR 0103).

Always holds: only a director's file has records. A record names events by id and holds no position, which would mean
nothing in another store. It tells which runs of the file cannot be replayed, because the file lacks sessions of them.
"""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final

import msgspec
from msgspec.structs import replace

from glasshouse.errors import BadEvent, StoreDamaged
from glasshouse.events import kinds
from glasshouse.events.event import Event, event_id, session_and_seq
from glasshouse.events.payloads import CreatureStarted, payload_of
from glasshouse.runtime.ledger.folds import fold_page_events, load_folded, unfit_event
from glasshouse.runtime.ledger.history import HistoryReader
from glasshouse.runtime.store_port import Store
from glasshouse.world.decisions.requests import Request
from glasshouse.world.fold.evolve import begin, evolve, note_imported
from glasshouse.world.state.lineage import span_of
from glasshouse.world.state.state import Segment, SessionState, Standing, World

record_version: Final = 1
runs_of_order_max: Final = 10_000
"""How many runs of commits one line of a file holds."""
sessions_lacking_max: Final = 8
"""How many of the sessions that a file lacks are named."""


class KeptRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The request of a change. `of` is the id of the first event of that change."""

    of: str
    request: Request
    seen: str | None = None
    """For an act: the id of the last event of the record that it had seen; empty if it had seen none. It stands for the
    position in `Request.seen`, which is left out."""


class HouseRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The order of commits, the requests and the counters of a house, as far as some of its sessions go."""

    house: str
    """The id of the house."""
    sessions: dict[str, int] = {}
    """The sessions that were written in this house, each with its last seq in the record."""
    order: list[tuple[int, int, int]] = []
    """Which session wrote how many events, in the order of commits: the number of the session in `sessions`, the events, and
    the changes that these are: one, as many as there are events, or 0 if they continue the change before them."""
    requests: list[KeptRequest] = []
    standings: dict[str, Standing] = {}
    """By the id of the first event of a change: the counters before it, if others had moved them since the change before."""
    lacks: dict[str, list[str]] = {}
    """The runs that cannot be replayed, each with sessions of it that are missing."""
    version: int = record_version

    @property
    def events(self) -> int:
        """How many events it tells of."""
        return sum(self.sessions.values())


class RecordLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a file with a part of a record. The first part names the sessions; the others follow it."""

    record: HouseRecord


def lines_of(record: HouseRecord) -> Iterator[RecordLine]:
    """A record in parts that are short enough for a line."""
    yield RecordLine(replace(record, order=[], requests=[], standings={}))
    part = HouseRecord(record.house)
    for start in range(0, len(record.order), runs_of_order_max):
        yield RecordLine(replace(part, order=record.order[start : start + runs_of_order_max]))
    for request in record.requests:
        yield RecordLine(replace(part, requests=[request]))
    for before, standing in record.standings.items():
        yield RecordLine(replace(part, standings={before: standing}))


def joined(parts: Iterable[HouseRecord]) -> list[HouseRecord]:
    """The records of which these are the parts."""
    records: list[HouseRecord] = []
    for part in parts:
        if part.sessions:
            records.append(HouseRecord(part.house, part.sessions, [], [], {}, part.lacks, part.version))
        elif not records:
            raise BadEvent("a part of a record comes before its first part")
        records[-1].order.extend(part.order)
        records[-1].requests.extend(part.requests)
        records[-1].standings.update(part.standings)
    return records


def check_record(record: HouseRecord, heads: Mapping[str, int]) -> None:
    """Refuse a record that does not fit the sessions of its file."""
    if record.version > record_version:
        raise BadEvent(
            f"its record has version {record.version}; this Glasshouse reads up to {record_version}"
        )
    if not record.sessions or any(heads.get(name) != seq for name, seq in record.sessions.items()):
        raise BadEvent(f"the record of house {record.house!r} does not name the sessions of the file")
    written = dict.fromkeys(record.sessions, 0)
    names = list(record.sessions)
    is_first = True
    for number, events, changes in record.order:
        is_known = 0 <= number < len(names) and events >= 1 and changes in (0, 1, events)
        if not is_known or (is_first and not changes):
            raise BadEvent(f"the record of house {record.house!r} has an order that makes no sense")
        written[names[number]] += events
        is_first = False
    if written != record.sessions:
        raise BadEvent(f"the record of house {record.house!r} orders other events than the file has")
    named = [*record.standings, *[kept.of for kept in record.requests]]
    named += [kept.seen for kept in record.requests if kept.seen]
    for name in named:
        session_id, seq = session_and_seq(name)
        if not 1 <= seq <= record.sessions.get(session_id, 0):
            raise BadEvent(f"the record of house {record.house!r} tells of {name!r}, which it does not have")


def encoded_record(record: HouseRecord) -> str:
    """A record as a store keeps it."""
    return msgspec.json.encode(record).decode()


def decoded_record(body: str) -> HouseRecord:
    """A record from the text of a store."""
    try:
        return msgspec.json.decode(body, type=HouseRecord)
    except msgspec.DecodeError as wrong:
        raise BadEvent(f"These bytes are not the record of a house: {wrong}.") from wrong


class RecordInTheMaking:
    """Takes in the events of a file as they are exported, and makes the record of those that were written in this house."""

    def __init__(self, history: HistoryReader, prefixes: Mapping[str, int]) -> None:
        self._history = history
        sessions = history.ledger.world.sessions
        here = {name: sessions[name] for name in prefixes if not sessions[name].segment.is_imported}
        self._sessions = {name: prefixes[name] for name in here}
        self._names = list(self._sessions)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._runs = {run_id: None for state in here.values() for run_id in (*state.runs, *state.writers)}
        # Four numbers for each event, in columns: as objects they would take ten times the memory.
        self._positions = array("q")
        self._changes = array("q")
        self._writers = array("q")
        self._seqs = array("q")
        self._stems: dict[str, None] = {}
        """The names that creatures of the file were numbered by."""
        self._ends: dict[str, int] = {}
        """The position of the end of each run that has one."""

    def take(self, events: Iterable[Event]) -> None:
        """Note where events were committed."""
        for event in events:
            number = self._numbers.get(event.session_id)
            if number is None:
                continue
            self._positions.append(event.position or 0)
            self._changes.append(event.change or 0)
            self._writers.append(number)
            self._seqs.append(event.seq)
            if event.kind == kinds.CREATURE_STARTED:
                born = payload_of(event, CreatureStarted)
                self._stems[born.creature.partition("~")[0]] = None
            elif event.kind == kinds.RUN_FINISHED:
                self._ends[event.run_id or ""] = event.position or 0

    async def record(self) -> HouseRecord | None:
        """The record; None if nothing of the file was written in this house."""
        if not self._positions:
            return None
        await asyncio.to_thread(self._sort)
        store = self._history.store
        requests = await store.requests(self._changes[0], self._positions[-1])
        return HouseRecord(
            house=store.house_id,
            sessions=self._sessions,
            order=list(self._order()),
            requests=list(self._kept(requests)),
            standings=await self._standings(store),
            lacks=await self._lacks(),
        )

    def _sort(self) -> None:
        """Bring the columns into the order of commits."""
        order = sorted(range(len(self._positions)), key=self._positions.__getitem__)
        columns = (self._positions, self._changes, self._writers, self._seqs)
        self._positions, self._changes, self._writers, self._seqs = [
            array("q", [column[index] for index in order]) for column in columns
        ]

    def _id_at(self, index: int) -> str:
        return event_id(self._names[self._writers[index]], self._seqs[index])

    def _order(self) -> Iterator[tuple[int, int, int]]:
        """The runs of commits. Changes of one event each, in one session, are one run."""
        lone = 0
        lone_writer = 0
        for _, indexes in groupby(range(len(self._changes)), key=self._changes.__getitem__):
            parts = [(n, len(list(some))) for n, some in groupby(indexes, key=self._writers.__getitem__)]
            is_lone = parts[0][1] == len(parts) == 1
            if lone and not (is_lone and parts[0][0] == lone_writer):
                yield lone_writer, lone, lone
                lone = 0
            if is_lone:
                lone_writer = parts[0][0]
                lone += 1
            else:
                yield from ((number, events, int(n == 0)) for n, (number, events) in enumerate(parts))
        if lone:
            yield lone_writer, lone, lone

    def _kept(self, requests: Mapping[int, Request]) -> Iterator[KeptRequest]:
        """The requests of the changes in the file."""
        for change, request in sorted(requests.items()):
            index = bisect_left(self._changes, change)
            if index == len(self._changes) or self._changes[index] != change:
                continue  # It is a change of another run.
            seen = None
            if request.seen is not None:
                before = bisect_right(self._positions, request.seen)
                seen = self._id_at(before - 1) if before else ""
            yield KeptRequest(self._id_at(index), replace(request, seen=None), seen)

    async def _standings(self, store: Store) -> dict[str, Standing]:
        """The counters of the house before the first change in the file, and wherever others moved them in between."""
        world = (await load_folded(store, self._changes[0] - 1)).world
        standings = {self._id_at(0): self._standing_of(world)}
        if self._positions[-1] - self._changes[0] + 1 == len(self._positions):
            return standings  # Nobody else wrote meanwhile.
        segments = {segment.id: segment for segment in await store.segments_after(self._changes[0] - 1)}
        index = 0
        position = self._changes[0] - 1
        left: Standing | None = None
        while index < len(self._positions):
            page = await store.read_after(position, fold_page_events)
            position += len(page)
            for event in page:
                is_of_file = index < len(self._positions) and event.position == self._positions[index]
                if is_of_file and left is not None:
                    now = self._standing_of(world)
                    if now != left:
                        standings[self._id_at(index)] = now
                    left = None
                elif not is_of_file and left is None:
                    left = self._standing_of(world)
                index += is_of_file
                fold_shape(world, event, segments)
            await asyncio.sleep(0)  # The house may be large, and the show goes on meanwhile.
        return standings

    def _standing_of(self, world: World) -> Standing:
        given = {stem: world.numbers_given[stem] for stem in self._stems if stem in world.numbers_given}
        return Standing(world.births, world.roots, world.sessions_begun, given)

    async def _lacks(self) -> dict[str, list[str]]:
        """The runs of the file of which it lacks sessions, or parts of them, up to their end."""
        history = self._history
        lacks = dict[str, list[str]]()
        await history.ledger.writer.wait_for_durability()
        for run_id in self._runs:
            if run_id not in history.ledger.world.runs:
                continue
            run_ids, company = history.company_of(run_id)
            # Runs that met are replayed together, and acts of the others may be under way at the end of this one.
            end = self._ends.get(run_id) if len(run_ids) == 1 else None
            missing = [state for name, state in company.items() if self._sessions.get(name, 0) < state.head]
            missing = [state for state in missing if await self._is_before(state, end)]
            if missing:
                lacks[run_id] = [state.segment.id for state in missing[:sessions_lacking_max]]
        return lacks

    async def _is_before(self, state: SessionState, end: int | None) -> bool:
        """Whether what the file lacks of a session was written before this end, or before the end of the file."""
        seq = self._sessions.get(state.segment.id, 0) + 1
        events = await self._history.store.read([span_of(state.segment, seq, seq)])
        if not events:
            raise StoreDamaged(f"The ledger lacks event {event_id(state.segment.id, seq)}. Restore a copy.")
        return (events[0].change or 0) <= (self._positions[-1] if end is None else end)


def fold_shape(world: World, event: Event, segments: Mapping[str, Segment]) -> None:
    """Fold the next event of a house into its world, without what is owed and spent."""
    try:
        if event.session_id not in world.sessions:
            begin(world, segments[event.session_id])
        if world.sessions[event.session_id].segment.is_imported:
            note_imported(world, event)
        else:
            evolve(world, event)
    except (LookupError, BadEvent) as unfit:
        raise unfit_event(event.position, unfit) from unfit
