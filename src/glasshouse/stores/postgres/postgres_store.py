"""`PostgresStore`: a house in a PostgreSQL database.

Always holds: one process at a time owns a house, and a commit is one statement that holds only for the owner's epoch and token (`owned_house.py`). Every
error of the driver during a commit means that nobody knows whether it was written: it is looked up by its position before anybody is answered.
Texts are kept as bytes, so a NUL stays what it was.
A place is a name for where lines stand in the index of words.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, TypeVar

import msgspec

from glasshouse.errors import (
    BadEvent,
    GlasshouseError,
    OutcomeUnknown,
    Refused,
    StoreDamaged,
    StoreError,
    StoreFailed,
    StoreFenced,
)
from glasshouse.events.codec import encoded
from glasshouse.events.event import Event
from glasshouse.events.shown import Shown, decoded_shown
from glasshouse.runtime.store_port import (
    NO_INBOX_WRITES,
    NO_SIDE_WRITES,
    Batch,
    FoundLine,
    InboxLine,
    InboxRequest,
    Lines,
    PlacedLine,
    PlaceRange,
    SegmentWrite,
    Snapshot,
    StoreRole,
)
from glasshouse.stores.placing import check_room, in_order_of_histories, soundly_decoded
from glasshouse.stores.postgres import server as servers
from glasshouse.stores.postgres.address import Address, address_of
from glasshouse.stores.postgres.driver_faults import driver_errors, store_error
from glasshouse.stores.postgres.owned_house import OwnedHouse, lease_seconds_max
from glasshouse.stores.postgres.placement import Placement
from glasshouse.stores.postgres.schema import (
    Migration,
    bundled_migrations,
    check_server,
    format_number,
    migrate,
)
from glasshouse.stores.postgres.server import SQL, Server, inbox_channel, let_go, server_for
from glasshouse.world.decisions.requests import Request, decoded_request
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import Parent, Segment
from glasshouse.world.state.values import GOES_ON

commit_seconds_max = 5.0
"""How long a commit may take, and longer if it is large. Then it is in doubt, and is looked up."""
commit_bytes_a_second_min: Final = 1024 * 1024
"""How fast a large commit must at least be sent and written: it gets a second more for so many bytes."""
puts_max: Final = 3
"""How often a line or a request is left again, if the answer was lost. The database keeps it once."""
snapshot_keys_max: Final = 2
"""Snapshots of this many versions of the fold stand side by side; older ones are dropped when a house is opened."""
prompts_remembered_max: Final = 4_096
"""Kept so as not to be sent again: digests of prompts that the database has."""
houses_named_max: Final = 8
"""A message about an unknown house lists no more."""

T = TypeVar("T")
_decode_labels: Final = msgspec.json.Decoder(tuple[str, ...]).decode


class _SegmentHead(msgspec.Struct):
    """A segment in the database: its number, and its last seq with what this commit adds."""

    number: int
    head: int
    segment: Segment | None = None
    """How it began, if that was looked up."""


class PostgresStore:
    """A durable store on a server. `dsn` is an address, `postgresql://USER@HOST/DATABASE`, which may name the house behind a `#`."""

    def __init__(
        self,
        dsn: str,
        house: str | None = None,
        *,
        is_guest: bool = False,
        lease_seconds: float = lease_seconds_max,
        migrations: list[Migration] | None = None,
    ) -> None:
        self.address: Address = address_of(dsn, house)
        self._name = self.address.shown
        """The address for messages, without a password."""
        self.is_guest = is_guest
        self.lease_seconds = lease_seconds
        self._migrations = migrations if migrations is not None else bundled_migrations()
        self.house_id = ""
        """The id that this house got when it was first opened."""
        self._server: Server | None = None
        self._number = 0
        self._house: OwnedHouse | None = None
        self._fenced: StoreFenced | None = None
        """Why it was closed, if another process has taken the house."""
        self._must_look = True
        self._position = 0
        self._segment_numbers = 0
        self._segments_cache: dict[str, _SegmentHead] = {}
        self._prompts_kept_cache: set[str] = set()

    def __repr__(self) -> str:
        return f"PostgresStore({self.address.shown!r}{', is_guest=True' if self.is_guest else ''})"

    # Opening and closing

    async def open(self, new_house_id: str) -> None:
        """Connect, migrate the database if needed, and take the house. A guest takes nothing."""
        if self._server is not None:
            raise Refused(f"{self._name} is open already.", "Give each terrarium a store of its own.")
        self._server = server_for(self.address)
        self._fenced = None
        try:
            await self._in_words(self._open(self._server, new_house_id))
        except BaseException:
            await self.close()
            raise

    async def _open(self, server: Server, new_house_id: str) -> None:
        await check_server(server, is_guest=self.is_guest)
        await migrate(server, self._migrations, is_guest=self.is_guest)
        row = await server.fetch_row(SQL["house"], self.address.house)
        if row is None and self.is_guest:
            raise await self._no_house(server)
        if row is None:
            await server.fetch(SQL["add_house"], self.address.house, new_house_id.encode(), format_number)
            row = await server.fetch_row(SQL["house"], self.address.house)
        self._number = row["number"]
        self.house_id = row["id"].decode()
        self._forget()
        if not self.is_guest:
            house = OwnedHouse(server, self.address, self.lease_seconds, self._number)
            await house.take()
            self._house = house
            await server.fetch(SQL["drop_snapshots_of_older_folds"], self._number, snapshot_keys_max)

    async def _no_house(self, server: Server) -> StoreFailed:
        names = [row["name"] for row in await server.fetch(SQL["house_names"], houses_named_max)]
        there = f"There is {', '.join(names)}." if names else "There is none yet."
        return StoreFailed(
            f"{server.shown} has no house {self.address.house!r}. {there} Play something in it first, or name another behind the '#'."
        )

    async def close(self) -> None:
        """Let the house go, and the connections if no other store of this process needs them."""
        server = self._server
        house = self._house
        self._server = None
        self._house = None
        if server is not None:
            if house is not None:
                self._fenced = house.fenced
                await house.let_go()
            await let_go(self.address, server)

    @property
    def role(self) -> StoreRole:
        """Whether this object commits, or is a guest."""
        return "guest" if self.is_guest else "owner"

    async def owner(self) -> str:
        """Who has this house, in words; empty if nobody has, or its owner has been silent for a lease."""
        row = await self._asked(self._row_if_there)
        if row is None or not row["owner"] or row["silent_seconds"] > self.lease_seconds:
            return ""
        return str(row["owner_words"])

    async def exists(self) -> bool:
        """Whether the database has this house, open or not."""
        return await self._asked(self._row_if_there) is not None

    async def rename(self, name: str) -> None:
        """Give this house another name, if nobody has it open."""

        async def renaming(server: Server) -> list[Any]:
            return await server.fetch(SQL["rename_house"], self.address.house, name)

        if not await self._asked(renaming):
            raise StoreFailed(f"{self._name} cannot be renamed: somebody plays it, or it is gone.")

    async def _asked(self, ask: Callable[[Server], Awaitable[T]]) -> T:
        """Ask the database something, whether this store is open or not."""
        is_open = self._server is not None
        server = self._server or server_for(self.address)
        try:
            return await self._in_words(ask(server))
        finally:
            if not is_open:
                await let_go(self.address, server)

    async def _row_if_there(self, server: Server) -> Any:
        has_schema = (await server.fetch_row(SQL["has_schema"]))[0]
        return await server.fetch_row(SQL["house"], self.address.house) if has_schema else None

    async def announce(self, address: str) -> None:
        """Note for messages where this house is shown."""
        if self._house is not None:
            await self._house.announce(f"{servers.this_process()} ({address})")

    def lapse(self) -> StoreError | None:
        """Why this process may ask no model for this house now; None if it may."""
        return self._fenced if self._house is None else self._house.lapse()

    # Statements

    async def _in_words(self, work: Awaitable[T]) -> T:
        """Await something, and turn an error of the driver into a `StoreError`."""
        try:
            return await work
        except GlasshouseError:
            raise
        except BaseException as wrong:
            # Only now: without the extra, there is no driver to ask.
            if isinstance(wrong, driver_errors()):
                raise store_error(self._name, wrong) from None  # The driver's words may quote the address.
            raise

    def _opened(self) -> Server:
        if self._server is None:
            raise self._fenced or StoreFailed(f"{self._name} is not open.")
        return self._server

    async def _rows(self, query: str, *values: object) -> list[Any]:
        return await self._in_words(self._opened().fetch(SQL[query], self._number, *values))

    async def _row(self, query: str, *values: object) -> Any:
        rows = await self._rows(query, *values)
        return rows[0] if rows else None

    def _owned(self) -> OwnedHouse:
        self._opened()
        if self._house is None:
            raise StoreFailed(f"{self._name} is open as a guest, who writes nothing but the inbox.")
        if self._house.fenced is not None:
            raise self._house.fenced
        return self._house

    async def _settled(self) -> OwnedHouse:
        """The house that is owned here, with no commit in doubt."""
        house = self._owned()
        if house.is_in_doubt:
            await self._in_words(house.settle())
            house = self._owned()
        return house

    # Committing

    async def commit(self, batches: Sequence[Batch]) -> int:
        """Make the batches durable in one statement, and return the position of the first new event."""
        house = await self._settled()
        if self._must_look:
            await self._look()
        placement = Placement(self._position, self._segment_numbers)
        try:
            for batch in batches:
                await self._add_batch(batch, placement)
        except BaseException:
            self._forget()
            raise
        await self._send(house, placement)
        self._position = placement.position
        self._segment_numbers = placement.segments
        server = self._opened()
        if placement.has_events:
            server.wake(self._events_channel)
        if placement.settles_inbox:
            server.wake(self._inbox_channel)
        return placement.before + 1

    async def _send(self, house: OwnedHouse, placement: Placement) -> None:
        """Send a commit. Whatever goes wrong with it, nobody knows whether it was written."""
        statement, values = placement.statement(house.number, house.epoch, house.token)
        server = self._opened()
        seconds = commit_seconds_max + sum(map(len, placement.bodies)) / commit_bytes_a_second_min
        connection = None
        try:
            connection = await server.take_connection()
            is_held = await connection.fetchval(statement, *values, timeout=seconds)
        except BaseException as wrong:
            self._forget()
            if connection is None:
                # Nothing was sent: there was no connection.
                if isinstance(wrong, driver_errors()):
                    raise store_error(self._name, wrong) from None
                raise
            with suppress(*driver_errors()):
                house.must_settle(connection.get_server_pid())
            house.is_in_doubt = True
            server.throw_away(connection)
            if isinstance(wrong, driver_errors()):
                raise OutcomeUnknown(str(store_error(self._name, wrong))) from wrong
            raise
        server.give_back(connection)
        if is_held is None:
            self._forget()
            house.was_taken()
            assert house.fenced is not None
            raise house.fenced

    async def committed(self, first_position: int) -> bool:
        """Whether a commit in doubt is in the database. If it is not, it never will be, because the token was changed."""
        house = self._house
        if house is None:
            raise self._fenced or StoreFailed(f"{self._name} is not open.")
        if house.is_in_doubt:
            await self._in_words(house.settle())
        row = await self._row("epoch_at", first_position)
        return row is not None and row["epoch"] == house.epoch

    async def _look(self) -> None:
        """Read again what the database holds, after a failure."""
        (position,) = await self._row("position")
        (numbers,) = await self._row("last_segment_number")
        self._position = position
        self._segment_numbers = numbers
        self._must_look = False

    def _forget(self) -> None:
        self._must_look = True
        self._segments_cache.clear()
        self._prompts_kept_cache.clear()

    async def _add_batch(self, batch: Batch, placement: Placement) -> None:
        if batch.lines is not None:
            await self._add_lines(batch.lines, placement)
            return
        change = placement.position + 1
        numbers: dict[str, int] = {}
        kept_of = self._segments_cache.get
        for write in batch.writes:
            kept = kept_of(write.session_id)
            if kept is None or write.opens is not None or kept.head != write.expected_head:
                kept = await self._checked(write, placement)
            if kept is not None:
                placement.add_events(write, kept.number, change, numbers)
                kept.head = write.expected_head + len(write.bodies)
        if batch.side is not NO_SIDE_WRITES:
            placement.add_side(self._without_kept_prompts(batch), change)
        if batch.snapshot is not None or batch.inbox is not NO_INBOX_WRITES:
            placement.add_notes(batch)

    async def _add_lines(self, lines: Lines, placement: Placement) -> None:
        kept_of = self._segments_cache.get
        for event in lines.events:
            kept = kept_of(event.session_id)
            if kept is None or kept.head != event.seq - 1:
                await self._add_batch(
                    Batch((SegmentWrite(event.session_id, event.seq - 1, (encoded(event),)),)), placement
                )
                continue
            kept.head = event.seq
            placement.add_event(kept.number, event.seq, placement.position + 1, encoded(event))

    def _without_kept_prompts(self, batch: Batch) -> Batch:
        """The batch without prompts that the database is known to have."""
        kept = self._prompts_kept_cache
        if not batch.side.prompts or all(digest not in kept for digest, _ in batch.side.prompts):
            if len(kept) >= prompts_remembered_max:
                kept.clear()
            kept.update([digest for digest, _ in batch.side.prompts])
            return batch
        new = tuple([(digest, text) for digest, text in batch.side.prompts if digest not in kept])
        kept.update([digest for digest, _ in new])
        return msgspec.structs.replace(batch, side=msgspec.structs.replace(batch.side, prompts=new))

    async def _checked(self, write: SegmentWrite, placement: Placement) -> _SegmentHead | None:
        """The segment of a write, which may begin here; None if these events are stored already."""
        kept = await self._segment(write.session_id)
        head = None if kept is None else kept.head
        bodies = await self._bodies(write, kept, placement)
        if not check_room(write, head, None if kept is None else kept.segment, lambda *_: bodies):
            return None
        if kept is None:
            assert write.opens is not None, "checked before"
            kept = _SegmentHead(placement.open(write.opens), 0, write.opens)
            self._segments_cache[write.session_id] = kept
        return kept

    async def _segment(self, session_id: str) -> _SegmentHead | None:
        kept = self._segments_cache.get(session_id)
        if kept is None and (row := await self._row("segment", session_id.encode())) is not None:
            kept = self._segments_cache[session_id] = _SegmentHead(
                row["number"], row["head"], _segment_from(row)
            )
        return kept

    async def _bodies(
        self, write: SegmentWrite, kept: _SegmentHead | None, placement: Placement
    ) -> list[bytes]:
        """The stored bodies where a write belongs, and those of this commit, which nobody has written yet."""
        if kept is None or write.expected_head >= kept.head:
            return []
        first = write.expected_head + 1
        last = write.expected_head + len(write.bodies)
        rows = await self._rows("events_of_spans", [write.session_id.encode()], [first], [last])
        return [row["body"] for row in rows] + placement.bodies_of(kept.number, first, last)

    # Reading

    async def position(self) -> int:
        """The position of the last event."""
        position: int = (await self._row("position"))[0]
        return position

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        """The events of these spans in the order of histories."""
        wanted = [*spans]
        rows = await self._rows(
            "events_of_spans",
            [span.session_id.encode() for span in wanted],
            [span.first for span in wanted],
            [span.last for span in wanted],
        )
        of_span: dict[int, list[Any]] = {}
        for number, *row in rows:
            of_span.setdefault(number - 1, []).append(row)
        numbers = {id(span): number for number, span in enumerate(wanted)}
        return in_order_of_histories(wanted, lambda span: soundly_decoded(of_span.get(numbers[id(span)], ())))

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        """The next events in the order of commits."""
        rows = await self._rows("events_after", position, events_max)
        before = max(position, 0)
        if rows and (rows[0][0], rows[-1][0]) != (before + 1, before + len(rows)):
            raise StoreDamaged(f"The ledger lacks events after position {position}. Restore a copy.")
        return soundly_decoded(rows)

    async def read_at(self, positions: Sequence[int]) -> list[Event]:
        """The events at these positions, in the order of commits."""
        return soundly_decoded(await self._rows("events_at", [*positions]))

    async def segments_after(self, position: int) -> list[Segment]:
        """The segments that began after this position."""
        return [*map(_segment_from, await self._rows("segments_after", position))]

    async def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot with this key, up to a position."""
        row = await self._row("snapshot", scope.encode(), name.encode(), key.encode(), at_most)
        return None if row is None else Snapshot(scope, name, key, row["at"], row["body"])

    # Side tables

    async def prompt(self, digest: str) -> str | None:
        """The text of a prompt by its digest, if it is still kept."""
        row = await self._row("prompt", digest.encode())
        return None if row is None else row["body"].decode()

    async def shown(self, position: int) -> tuple[Shown, ...] | None:
        """The lines that the model calls of an event were shown, if they are still kept."""
        row = await self._row("shown", position)
        return None if row is None else _soundly(decoded_shown, row["body"].decode())

    async def requests(self, first: int, last: int) -> dict[int, Request]:
        """The requests of the changes from `first` to `last`, by change number."""
        rows = await self._rows("requests", first, last)
        return {change: _soundly(decoded_request, body.decode()) for change, body in rows}

    async def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels of every run that has some."""
        read = {
            run_id.decode(): _soundly(_decode_labels, body) for run_id, body in await self._rows("labels")
        }
        return {run_id: labels for run_id, labels in read.items() if labels}

    async def records(self) -> dict[str, str]:
        """The records of the houses in which imported sessions were played, by name."""
        return {name.decode(): body.decode() for name, body in await self._rows("records")}

    # The index of words

    async def indexed(self) -> int:
        """The position up to which all lines are in the index of words."""
        row = await self._row("indexed")
        return 0 if row is None else int(row[0])

    async def indexed_places(self) -> dict[str, tuple[int, int]]:
        """The places in the index, each with the times of its first and its last line."""
        rows = await self._rows("indexed_places")
        return {place.decode(): (first, last) for place, first, last in rows}

    async def index_lines(self, after: int, upto: int, lines: Sequence[PlacedLine]) -> None:
        """Add the lines between two positions to the index, in one statement."""
        times: dict[bytes, list[int]] = {}
        rows: list[tuple[bytes, bytes, int, int]] = []
        for line in lines:
            for place in map(str.encode, line.places):
                times.setdefault(place, []).append(line.lamport)
                rows += [(place, word.encode(), line.lamport, line.position) for word in line.words]
        await self._rows_of_owner(
            "index_lines",
            self._owned(),
            after,
            upto,
            [*times],
            [min(of_place) for of_place in times.values()],
            [max(of_place) for of_place in times.values()],
            *([row[column] for row in rows] for column in range(4)),
        )

    async def lines_with(
        self, words: Sequence[str], ranges: Sequence[PlaceRange], lines_max: int
    ) -> dict[str, list[FoundLine]]:
        """For each word, the newest lines that have it in these ranges."""
        matches: dict[str, list[FoundLine]] = {word: [] for word in words}
        rows = await self._rows(
            "lines_with",
            [word.encode() for word in matches],
            [part.place.encode() for part in ranges],
            [part.first for part in ranges],
            [part.last for part in ranges],
            lines_max,
        )
        for word, lamport, position in rows:
            matches[word.decode()].append(FoundLine(lamport, position))
        return matches

    async def drop_index(self) -> None:
        """Empty the index."""
        house = self._owned()
        await self._rows_of_owner("drop_index", house)

    # The inbox

    async def put_line(self, text: str, run_id: str | None = None) -> int:
        """Add a line to the inbox, for the process that owns this house."""
        return await self._put("put_line", None if run_id is None else run_id.encode(), text.encode())

    async def put_request(self, body: str) -> int:
        """Leave a request in the inbox, for the process that owns this house."""
        return await self._put("put_request", body.encode())

    async def _put(self, query: str, *values: object) -> int:
        """Leave something in the inbox. It has a key of its own, so that it is left once even if an answer is lost."""
        key = secrets.token_bytes(12)
        for is_last in (*[False] * (puts_max - 1), True):
            try:
                row = await self._row(query, key, *values)
                number: int = (await self._row("last_number"))[0] if row is None else row["number"]
            except StoreFailed:
                if is_last:
                    raise
                continue
            self._opened().wake(self._inbox_channel)
            return number
        raise AssertionError("The last try returns or raises.")

    async def lines(self, lines_max: int, after: int = 0) -> list[InboxLine]:
        """The oldest inbox lines after a number."""
        rows = await self._rows("inbox_lines", after, lines_max)
        return [InboxLine(number, run_id and run_id.decode(), text.decode()) for number, run_id, text in rows]

    async def open_requests(self, requests_max: int) -> list[InboxRequest]:
        """The oldest requests of the inbox without an answer."""
        return [_inbox_request(row) for row in await self._rows("open_requests", requests_max)]

    async def request(self, number: int) -> InboxRequest | None:
        """One request of the inbox, if it is still there."""
        row = await self._row("inbox_request", number)
        return None if row is None else _inbox_request(row)

    async def take_request(self, number: int) -> bool:
        """Mark a request as taken. False if it was withdrawn. Only the owner of this moment can."""
        while True:
            house = await self._settled()
            token = house.token
            held, taken = (await self._rows_of_owner("take_request", house, number))[0]
            if held:
                break
            if house.token == token and not house.is_in_doubt:
                house.was_taken()
                raise self._fence(house)
            # A commit was in doubt meanwhile, so this process has changed the token itself: it asks again with the new one.
        if taken:
            self._opened().wake(self._inbox_channel)
        return bool(taken)

    async def _rows_of_owner(self, query: str, house: OwnedHouse, *values: object) -> list[Any]:
        return await self._rows(query, house.epoch, house.token, *values)

    @staticmethod
    def _fence(house: OwnedHouse) -> StoreError:
        assert house.fenced is not None, "It was taken."
        return house.fenced

    async def withdraw_request(self, number: int) -> bool:
        """Remove a request. False if it was taken."""
        row = await self._row("withdraw_request", number)
        self._opened().wake(self._inbox_channel)
        return row is not None

    async def time(self) -> datetime:
        """The database's time, by which requests are timed."""
        return await self._in_words(self._opened().now())

    # Waiting

    @property
    def _events_channel(self) -> str:
        return f"glasshouse_events_{self._number}"

    @property
    def _inbox_channel(self) -> str:
        return inbox_channel(self._number)

    async def wait_beyond(self, position: int, seconds: float) -> int:
        """The position, as soon as it is after this one; after so many seconds, as it is."""
        return await self._waited(self._events_channel, self.position, lambda now: now > position, seconds)

    async def wait_for_more(self, seen: str, seconds: float) -> str:
        """The mark of the inbox, as soon as it is another than this one; after so many seconds, as it is."""
        return await self._waited(self._inbox_channel, self._inbox_mark, lambda mark: mark != seen, seconds)

    async def _inbox_mark(self) -> str:
        mark: str = (await self._row("inbox_mark"))[0]
        return mark

    async def _waited(
        self, channel: str, look: Callable[[], Awaitable[T]], is_it: Callable[[T], bool], seconds: float
    ) -> T:
        """Look, then wait for a wake, and look again. A wake may be lost, so it is not waited for too long."""
        until = servers.monotonic() + seconds
        look_seconds = await self._opened().listen(channel) if seconds > 0 else 0.0
        while True:
            wakes = self._opened().wakes(channel)
            if not self.is_guest:
                self._owned()  # Who waits as the owner is told that it is the owner no more.
            count = wakes.count
            async with self._opened().looking:
                seen = await look()
            left = until - servers.monotonic()
            if is_it(seen) or left <= 0:
                return seen
            if wakes.count == count:  # Otherwise something came while it looked.
                await wakes.wait(min(left, look_seconds))
                look_seconds = await self._opened().listen(channel)


def _segment_from(row: Any) -> Segment:
    parents = tuple(
        [Parent(name.decode(), upto) for name, upto in zip(row["parents"], row["uptos"], strict=True)]
    )
    name = row["id"].decode()
    if row["origin"] in GOES_ON and not parents:
        raise StoreDamaged(f"The ledger lacks the parents of session {name}. Restore a copy.")
    at = row["at"]
    return Segment(
        name,
        row["graph_id"].decode(),
        row["origin"],
        row["ordinal"],
        row["base"],
        parents,
        None if at is None else at.decode(),
        row["is_imported"],
        row["is_redacted"],
    )


def _inbox_request(row: Any) -> InboxRequest:
    number, body, is_taken, answer = row
    return InboxRequest(number, body.decode(), is_taken, None if answer is None else answer.decode())


def _soundly(decode: Callable[[Any], T], body: Any) -> T:
    try:
        return decode(body)
    except (BadEvent, msgspec.DecodeError, UnicodeError) as broken:
        raise StoreDamaged(f"The store holds a broken row: {broken} Restore a copy.") from broken
