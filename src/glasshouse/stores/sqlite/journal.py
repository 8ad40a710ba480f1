"""The blocking half of the SQLite store: statements on one connection, in one thread.

Always holds: a commit is one transaction with `synchronous=FULL`, so it survives a power cut once it has returned
(ADR 0003). A failed commit leaves nothing behind: it is rolled back, at the latest before the next write. The module
does not depend on the library of the connection, so the power-loss tests can pass one that forgets unsynced writes.
A body start is what the bodies of one segment begin with. It is kept once for all of them (ADR 0052). `rows.py` says how the
rest of an event is spread over columns (ADR 0111). A file from before that has whole bodies, and a guest reads them as they are.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC
from functools import lru_cache
from importlib.resources import files
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from glasshouse.errors import BadEvent, StoreDamaged, StoreFailed
from glasshouse.events.codec import BodyStart, decoded, encoded
from glasshouse.events.event import Event, event_id
from glasshouse.events.shown import Shown, decoded_shown, encoded_shown
from glasshouse.runtime.store_port import (
    NO_INBOX_WRITES,
    NO_SIDE_WRITES,
    Batch,
    EventNames,
    InboxLine,
    InboxRequest,
    Lines,
    SegmentWrite,
    Snapshot,
)
from glasshouse.stores.named_statements import statements
from glasshouse.stores.placing import answers_kept_max, broken_event, check_room, in_order_of_histories
from glasshouse.stores.sqlite.connection import Connection
from glasshouse.stores.sqlite.rows import (
    Columns,
    Shape,
    columns_of,
    cut_quickly,
    event_in,
    microseconds,
    names_of,
)
from glasshouse.stores.sqlite.word_index import WordIndexTables
from glasshouse.world.decisions.requests import Request, decoded_request, encoded_request
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import Parent, Segment
from glasshouse.world.state.values import GOES_ON, SessionOrigin

growth_bytes_max: Final = 512 * 1024
"""How much longer the log is made. The zeros are written while the next events are decided; more would delay their commit."""
free_bytes_min: Final = 64 * 1024 * 1024
"""On a disk with less room than this, the log grows only as far as it must."""
wal_pages_max = 4_000
"""SQLite moves its write-ahead log into the file at this size."""
prompts_remembered_max = 4_096
"""Kept so as not to be computed again: texts known to be in the file."""
compressed_chars_min: Final = 2_048
"""A shorter prompt is stored as it is: to compress it would take longer than to write the kilobyte that it saves."""
compression_memory: Final = 5
"""How large zlib's tables are while it compresses a prompt, from 1 to 9."""
starts_remembered_max = 4_096
"""Kept so as not to be computed again: fields that all events of a segment share."""
shapes_remembered_max = 8_192
"""Kept so as not to be written again: shapes that are known to be in the file."""
shapes_since: Final = 3
"""The version of a file since which events have shapes."""

event_columns: Final = 8
"""The columns of an event that are given. Its position follows from those before it."""
insert_events_max: Final = 50
"""How many events one INSERT holds. Few statements are faster: each one releases the GIL and waits for it again."""
_insert_values: Final = event_columns * insert_events_max


ZEROS: Final = bytes(growth_bytes_max)

_COLUMNS: Final = "shape, turn, at, payload, rest"
_COLUMNS_OF_WHOLE_EVENTS: Final = "NULL, NULL, NULL, NULL, body"

_change_of: Final = itemgetter(1)

_LABELS: Final = "labels "
"""The rows of the table `house` that hold labels begin with this, followed by the id of the run."""
_RECORDS: Final = "record "
"""Those that hold records of other houses begin with this, followed by the name of the record."""
_decode_labels: Final = msgspec.json.Decoder(tuple[str, ...]).decode

_HouseRow = tuple[str]
_NumberRow = tuple[int]
_PlaceRow = tuple[int, str, int]
_SegmentRow = tuple[int, str, str, SessionOrigin, int, int, str | None, int, int]
_ParentRows = list[tuple[str, int]]
_InboxRows = list[tuple[int, str | None, str]]
_SnapshotRow = tuple[str, str, str, int, bytes]
_RequestRow = tuple[int, str, int, str | None]
_EventRow = Sequence[Any]
"""Position, change, seq, then the `Columns` of an event, then what the query adds."""

SQL: Final = statements(files("glasshouse.stores.sqlite").joinpath("queries.sql").read_text())
"""The statements of `queries.sql`, by name."""


_SQL_BEFORE_SHAPES: Final = {
    name: SQL[name].replace(_COLUMNS, _COLUMNS_OF_WHOLE_EVENTS)
    for name in ("events_of_segment", "events_after")
}


@lru_cache(maxsize=insert_events_max)
def _adding(events: int) -> str:
    """The statement that inserts this many events. SQLite numbers those after the first: fewer values to bind."""
    return SQL["add_event"] + ", (NULL, ?, ?, ?, ?, ?, ?, ?, ?)" * (events - 1)


class _Kept(msgspec.Struct):
    """A segment in the file: its number, its last seq, and the fields that its events share."""

    number: int
    head: int
    start: BodyStart


def prepare(connection: Connection) -> None:
    """Set up the connection of the writer: a write-ahead log, and a sync for every commit (ADR 0003)."""
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchall()[0][0]
    if mode != "wal":
        raise StoreFailed(
            f"The file system of this store cannot do a write-ahead log (SQLite stays in mode '{mode}'). Choose a"
            " --store on a local disk."
        )
    connection.execute("PRAGMA synchronous = FULL")
    sync_fully(connection)
    connection.execute(f"PRAGMA wal_autocheckpoint = {wal_pages_max}").fetchall()
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # Now the log is there.


def sync_fully(connection: Connection) -> None:
    """Let every sync of a connection reach the disk itself. On macOS a usual sync ends in the disk's cache; elsewhere nothing
    changes."""
    connection.execute("PRAGMA fullfsync = ON")


class LogFile:
    """The file of the write-ahead log, which is made longer before SQLite needs it (ADR 0067).

    A commit that makes the log longer also changes the length in the file system, and the sync must write both. If the
    log is long enough already, the sync writes the new pages alone, which takes about half the time. So whenever SQLite
    has made the log longer, zeros are added behind it. SQLite stops reading a log at the first frame whose checksum is
    wrong, and zeros are no valid frame.

    The file is changed only while the caller holds SQLite's write lock, so no other process writes frames where the zeros
    go. That the log is long enough is never necessary: if it cannot be made longer, nothing fails.
    """

    def __init__(self, store: Path) -> None:
        self._path = f"{os.path.realpath(store)}-wal"  # SQLite puts it beside the file that a link leads to.
        self._bytes = 0

    def is_full(self) -> bool:
        """Whether SQLite has made the file longer than it was left here."""
        try:
            return os.stat(self._path).st_size > self._bytes
        except OSError:
            return False

    def lengthen(self) -> None:
        """Add zeros. Call it inside a transaction that may write."""
        with suppress(OSError):
            size = self._bytes = os.stat(self._path).st_size
            disk = os.statvfs(self._path)
            if disk.f_bavail * disk.f_frsize >= free_bytes_min:
                # One call writes and syncs: the event loop runs meanwhile, and the next commit has no zeros to sync.
                file = os.open(self._path, os.O_WRONLY | os.O_DSYNC | os.O_CLOEXEC)
                try:
                    self._bytes += os.pwrite(file, ZEROS, size)
                finally:
                    os.close(file)


class Journal:
    """Writes batches and reads them back on one connection."""

    def __init__(self, connection: Connection, log: LogFile | None = None) -> None:
        self.position = 0
        self._connection = connection
        self._log = log
        self.is_log_full = False
        """Whether `lengthen_log` would help the next commits."""
        self._numbers = 0
        self._segments_cache: dict[str, _Kept] = {}
        self._starts_cache: dict[int, BodyStart] = {}
        self._must_look = True
        self._has_shapes = False
        """Whether events are known to have shapes. An older file gets them when a terrarium opens it."""
        self._shape_numbers = 0
        self._shapes_cache: dict[EventNames, Shape] = {}
        self._shapes_read_cache: dict[int, Shape] = {}
        self._prompts_kept_cache: set[str] = set()
        self._snapshot_kept_cache: tuple[str, str, str] | None = None
        """The scope, name and key of the last snapshot: none of another key is left beside it."""
        self.words = WordIndexTables(connection, SQL)
        """The index of words."""

    def house_id(self, new_house_id: str) -> str:
        """The id of the store. A new store takes `new_house_id`."""
        row = self._row("house_id")
        if row is None:
            self._connection.execute(SQL["give_house_id"], (new_house_id,))
        self._forget()
        if row is None:
            return new_house_id
        (house_id,) = _sound(row, _HouseRow)
        return str(house_id)

    def _row(self, query: str, *values: object) -> Any:
        return self._connection.execute(SQL[query], values).fetchone()

    def _rows(self, query: str, *values: object) -> list[Any]:
        rows: list[Any] = self._connection.execute(SQL[query], values).fetchall()
        return rows

    def commit(self, batches: Sequence[Batch]) -> int:
        """Write all batches in one transaction, and return the position of the first new event."""
        self._look_if_needed()
        before = self.position
        try:
            self._write(batches)
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
        except BaseException:
            # Reset this object first, which cannot fail. The rollback can; then the next commit tries it again.
            self.position = before
            self._must_look = True
            self._look_if_needed()
            raise
        if self._log is not None:
            self.is_log_full = self._log.is_full()
        return before + 1

    def committed(self, first_position: int) -> bool:
        """Whether a commit that failed in doubt is in the file. If it is not, it never will be.

        If the sync of a commit fails, SQLite takes the commit back, but its pages stay in the log behind the last commit that
        counts. After a crash SQLite would find them there, and count them. The next commit overwrites them, so one is made
        here: writing the version of the schema again changes nothing else.
        """
        self._must_look = True
        self._look_if_needed()
        self._must_look = True  # If this commit fails too, the next one must roll it back.
        (version,) = self._connection.execute("PRAGMA user_version").fetchall()[0]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(f"PRAGMA user_version = {int(version)}")
        self._connection.execute("COMMIT")
        return self.position_now() >= first_position

    def _look_if_needed(self) -> None:
        """After a failure: roll back an open transaction, and read again what the file holds."""
        if self._must_look:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._forget()

    def _begin(self) -> None:
        """Begin a transaction, unless one is open. A commit that is one statement needs none."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def _write(self, batches: Sequence[Batch]) -> None:
        values: list[int | str | None] = []
        notes: list[tuple[Batch, int]] = []
        shown: list[tuple[int, str]] = []
        requests: list[tuple[int, str]] = []
        prompts: list[tuple[str, str]] = []
        kept_of = self._segments_cache.get
        for batch in batches:
            if batch.lines is not None:
                self._place_lines(batch.lines, values)
                continue
            change = self.position + 1
            numbers: dict[str, int] = {}
            for write in batch.writes:
                kept = kept_of(write.session_id)
                if kept is None or write.opens is not None or kept.head != write.expected_head:
                    kept = self._checked(write, values)
                if kept is not None:
                    self._add_events(write, kept, change, numbers, values)
            side = batch.side
            has_notes = batch.inbox is not NO_INBOX_WRITES or side.labels or side.records
            if batch.snapshot is not None or has_notes:
                notes.append((batch, self.position))
            if side is NO_SIDE_WRITES:
                continue
            prompts += side.prompts
            if side.request is not None and self.position >= change:
                requests.append((change, encoded_request(side.request)))
            if side.shown and self.position >= change:  # Otherwise the batch was already stored.
                shown.append((self.position, encoded_shown(side.shown)))
        if notes or prompts or requests or shown or len(values) > _insert_values:
            self._begin()
        self._add(values)
        self._keep("keep_request", requests)
        self._keep("keep_shown", shown)
        self._keep("keep_prompt", [*self._new_prompts(prompts)])
        for batch, position in notes:
            self._write_notes(batch, position)

    def _checked(self, write: SegmentWrite, values: list[int | str | None]) -> _Kept | None:
        """The segment of a write, which may begin here; None if these events are stored already."""
        self._begin()
        if write.session_id in self._segments_cache:
            # It may repeat events of this commit: insert those first, to compare.
            self._add(values)
        if not self._is_new(write):
            return None
        kept = self._segment(write.session_id)
        if kept is None:
            assert write.opens is not None, "checked before"
            kept = self._open(write.opens)
        return kept

    def _place_lines(self, lines: Lines, values: list[int | str | None]) -> None:
        kept_of = self._segments_cache.get
        shape_of = self._shapes_cache.get
        position = self.position
        each = iter(lines.rows)
        for session_id, seq, names, turn, at, payload in zip(each, each, each, each, each, each, strict=True):
            kept = kept_of(session_id)
            if kept is None or kept.head != seq - 1 or at.tzinfo is not UTC:
                self.position = position
                self._place_line(lines, session_id, seq, values)
                position = self.position
                continue
            kept.head = seq
            position += 1
            shape = shape_of(names) or self._shape(names)
            values += (kept.number, seq, 0, shape.number, turn, microseconds(at), payload, "")
        self.position = position

    def _place_line(self, lines: Lines, session_id: str, seq: int, values: list[int | str | None]) -> None:
        """Place one of these lines like any other event: the store may have it already, or it has another time zone."""
        body = next(encoded(line) for line in lines.events if line.id == event_id(session_id, seq))
        write = SegmentWrite(session_id, seq - 1, (body,))
        kept = self._checked(write, values)
        if kept is not None:
            self._add_events(write, kept, self.position + 1, {}, values)

    def _keep(self, query: str, rows: Sequence[tuple[int | str, str | bytes]]) -> None:
        if rows:
            self._connection.executemany(SQL[query], rows)

    def lengthen_log(self) -> None:
        """Make the write-ahead log longer if it is full. The store calls it when a commit was answered: nobody waits."""
        self.is_log_full = False
        if self._log is not None and self._log.is_full() and not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._log.lengthen()
            finally:
                self._connection.execute("COMMIT")

    def _add(self, values: list[int | str | None]) -> None:
        """Insert the events whose columns are in `values`, up to the position now, and empty the list."""
        position = self.position - len(values) // event_columns + 1
        for first in range(0, len(values), _insert_values):
            some = [position + first // event_columns, *values[first : first + _insert_values]]
            self._connection.execute(_adding(len(some) // event_columns), some)
        values.clear()

    def _write_notes(self, batch: Batch, position: int) -> None:
        """Write what few batches hold beside their events: a snapshot at this position, labels, records of other houses, answered
        inbox lines."""
        if batch.snapshot is not None:
            scope, name, key, at, body = batch.snapshot
            if self._snapshot_kept_cache != (scope, name, key):
                self._connection.execute(SQL["drop_snapshots_of_other_folds"], (scope, name, key))
                self._snapshot_kept_cache = (scope, name, key)
            row = (scope, name, key, at or position, zlib.compress(body, 1))
            self._connection.execute(SQL["keep_snapshot"], row)
        for number in batch.inbox.done:
            self._connection.execute(SQL["drop_from_inbox"], (number,))
        for number, answer in batch.inbox.answers:
            self._connection.execute(SQL["answer_request"], (answer, number))
            self._connection.execute(SQL["drop_old_answers"], (number - answers_kept_max,))
        for run_id, labels in batch.side.labels:
            kept = msgspec.json.encode(labels).decode()
            self._connection.execute(SQL["keep_in_house"], (f"{_LABELS}{run_id}", kept))
        for name, record in batch.side.records:
            self._connection.execute(SQL["keep_in_house"], (f"{_RECORDS}{name}", record))

    def _new_prompts(self, prompts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str | bytes]]:
        """The rows of those prompts that were not kept lately."""
        kept = self._prompts_kept_cache
        for digest, text in prompts:
            if digest not in kept:
                if len(kept) >= prompts_remembered_max:
                    kept.clear()
                kept.add(digest)
                yield digest, text if len(text) < compressed_chars_min else _compressed(text)

    def prompt(self, digest: str) -> str | None:
        """The text of a prompt by its digest, if it is still kept."""
        row = self._row("prompt", digest)
        if row is None:
            return None
        (body,) = row
        try:
            return body if isinstance(body, str) else zlib.decompress(body).decode()
        except (zlib.error, TypeError, UnicodeDecodeError) as broken:
            raise _broken_row(broken) from broken

    def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels of every run that has some."""
        try:
            read = {run_id: _decode_labels(value) for run_id, value in self._kept_in_house(_LABELS)}
        except (msgspec.DecodeError, TypeError, UnicodeError) as broken:
            raise _broken_row(broken) from broken
        return {run_id: labels for run_id, labels in read.items() if labels}

    def records(self) -> dict[str, str]:
        """The records of the houses in which imported sessions were played, by name."""
        records = dict(self._kept_in_house(_RECORDS))
        if not all(isinstance(record, str) for record in records.values()):
            raise _broken_row(TypeError("a record is not text"))
        return records

    def _kept_in_house(self, prefix: str) -> list[tuple[str, str]]:
        """The rows of the table `house` whose key begins with this, without it."""
        rows = self._rows("kept_in_house", prefix, f"{prefix}\U0010ffff")
        try:
            return [(key.removeprefix(prefix), value) for key, value in rows]
        except (TypeError, AttributeError) as broken:
            raise _broken_row(broken) from broken

    def requests(self, first: int, last: int) -> dict[int, Request]:
        """The requests of the changes from `first` to `last`, by change number."""
        try:
            return {change: decoded_request(body) for change, body in self._rows("requests", first, last)}
        except BadEvent as broken:
            raise StoreDamaged(f"The ledger holds a broken request: {broken} Restore a copy.") from broken

    def shown(self, position: int) -> tuple[Shown, ...] | None:
        """The lines that the model calls of an event were shown, if they are still kept."""
        row = self._row("shown", position)
        try:
            return None if row is None else decoded_shown(row[0])
        except BadEvent as broken:
            raise _broken_row(broken) from broken

    def _is_new(self, write: SegmentWrite) -> bool:
        kept = self._segment(write.session_id)
        if kept is None:
            return check_room(write, None, None, self._bodies_of)
        row = None if write.opens is None else self._row("segment_of_number", kept.number)
        return check_room(write, kept.head, row and self._segment_from(row), self._bodies_of)

    def _add_events(
        self,
        write: SegmentWrite,
        kept: _Kept,
        change: int,
        numbers: dict[str, int],
        values: list[int | str | None],
    ) -> None:
        seq = kept.head
        position = self.position
        start = kept.start
        changes = write.changes
        events = write.events
        for body in write.bodies:
            seq += 1
            position += 1
            if changes is not None:
                change = numbers.setdefault(changes[seq - write.expected_head - 1], position)
            event = None if events is None else events[seq - write.expected_head - 1]
            # Plain integers and text only: for other types sqlite3 searches for an adapter, which is slow.
            values += (kept.number, seq, position - change, *self._columns(event, body.decode(), start, seq))
        self.position = position
        kept.head = seq

    def _columns(self, event: Event | None, body: str, start: BodyStart, seq: int) -> Columns:
        """The columns of a whole body, and of its event if it is at hand."""
        if event is not None:
            names = names_of(event)
            columns = cut_quickly(event, body, start, self._shapes_cache.get(names) or self._shape(names))
            if columns is not None:
                return columns
        return columns_of(start.without_start(body, seq), self._shape)

    def _shape(self, names: EventNames) -> Shape:
        """The shape with these names. It gets a row in the file if it was not used lately, so it may have several."""
        shapes = self._shapes_cache
        shape = shapes.get(names)
        if shape is None:
            if len(shapes) >= shapes_remembered_max:
                shapes.clear()
            self._begin()
            self._shape_numbers += 1
            shape = shapes[names] = Shape.of(self._shape_numbers, names)
            self._connection.execute(SQL["add_shape"], (shape.number, *names))
        return shape

    def _shape_of_number(self, number: int) -> Shape:
        """A shape in the file."""
        shapes = self._shapes_read_cache
        shape = shapes.get(number)
        if shape is None:
            row = self._row("shape", number)
            if row is None:
                raise StoreDamaged(f"The ledger lacks the shape {number}. Restore a copy.")
            if len(shapes) >= shapes_remembered_max:
                shapes.clear()
            shape = shapes[number] = Shape.of(number, _sound(row, EventNames))
        return shape

    def _open(self, segment: Segment) -> _Kept:
        self._numbers += 1
        number = self._numbers
        opened_at = self.position + 1
        *names_and_numbers, parents, at, is_imported, is_redacted = astuple(segment)
        row = (number, *names_and_numbers, at, int(is_imported), int(is_redacted), opened_at)
        self._connection.execute(SQL["add_segment"], row)
        for ordinal, parent in enumerate(parents):
            self._connection.execute(SQL["add_parent"], (number, ordinal, parent.session_id, parent.upto))
        start = BodyStart(segment.id, segment.graph_id, segment.base)
        kept = self._segments_cache[segment.id] = _Kept(number, 0, start)
        return kept

    def _segment(self, session_id: str) -> _Kept | None:
        kept = self._segments_cache.get(session_id)
        if kept is None and (row := self._row("segment_number", session_id)) is not None:
            number, graph_id, base = _sound(row, _PlaceRow)
            (head,) = _sound(self._row("segment_head", number), _NumberRow)
            start = BodyStart(session_id, graph_id, base)
            kept = self._segments_cache[session_id] = _Kept(number, head, start)
        return kept

    def _bodies_of(self, session_id: str, first: int, last: int) -> list[bytes]:
        return [encoded(event) for event in self._events_of(Span(session_id, 0, 0, first, last))]

    def _forget(self) -> None:
        """Clear the caches, and read the last position and segment number again."""
        self._segments_cache.clear()
        self._starts_cache.clear()
        self._shapes_cache.clear()
        self._shapes_read_cache.clear()
        self._prompts_kept_cache.clear()
        self._snapshot_kept_cache = None
        position = self.position_now()
        numbers = self._row("last_segment_number")[0]
        shape_numbers = self._row("last_shape_number")[0] if self._knows_shapes() else 0
        self.position = position
        self._numbers = numbers
        self._must_look = False
        self._shape_numbers = shape_numbers

    def position_now(self) -> int:
        """The last position, read from the file: another process may have written."""
        position: int = self._row("last_position")[0]
        return position

    def read(self, spans: Sequence[Span]) -> list[Event]:
        """The events of these spans in the order of histories."""
        return in_order_of_histories(spans, self._events_of)

    def _events_of(self, span: Span) -> list[Event]:
        rows = self._event_rows("events_of_segment", span.session_id, span.first, span.last)
        if not rows:
            return []
        start = BodyStart(span.session_id, *rows[0][8:])
        return self._events(rows, lambda _: start)

    def _event_rows(self, query: str, *values: object) -> list[_EventRow]:
        """The rows of events. Those of an older file, which a guest may read, have whole bodies."""
        if self._knows_shapes():
            return self._rows(query, *values)
        rows: list[_EventRow] = self._connection.execute(_SQL_BEFORE_SHAPES[query], values).fetchall()
        return rows

    def _knows_shapes(self) -> bool:
        if not self._has_shapes:
            self._has_shapes = self._row("file_version")[0] >= shapes_since
        return self._has_shapes

    def _events(self, rows: Sequence[_EventRow], start_of: Callable[[_EventRow], BodyStart]) -> list[Event]:
        """The events of these rows. `start_of` gives the start of the segment of a row."""
        shapes = self._shapes_read_cache
        events: list[Event] = []
        try:
            _check_changes(rows)
            for row in rows:
                number = row[3]
                if number is None:
                    position, change, seq, *_, rest = row[:8]
                    event = decoded(start_of(row).whole(rest, seq), position, change=change)
                else:
                    event = event_in(row, start_of(row), shapes.get(number) or self._shape_of_number(number))
                events.append(event)
        except (BadEvent, msgspec.DecodeError, UnicodeError, RecursionError) as broken:
            raise broken_event(broken) from broken
        except (TypeError, OverflowError) as broken:
            raise _broken_row(broken) from broken
        return events

    def read_after(self, position: int, events_max: int) -> list[Event]:
        """The next events in the order of commits."""
        rows = self._event_rows("events_after", position, events_max)
        # Whoever reads page by page ends only if positions grow. They have no gaps.
        before = max(position, 0)
        if rows and (rows[0][0], rows[-1][0]) != (before + 1, before + len(rows)):
            raise StoreDamaged(f"The ledger lacks events after position {position}. Restore a copy.")
        return self._events_placed(rows)

    def read_at(self, positions: Sequence[int]) -> list[Event]:
        """The events at these positions, in the order of commits."""
        rows = [row for n in sorted({*positions}) for row in self._event_rows("events_after", n - 1, 1)]
        return self._events_placed([row for row in rows if row[0] in positions])

    def _events_placed(self, rows: Sequence[_EventRow]) -> list[Event]:
        """The events of rows that end with the number of their segment."""
        starts = self._starts_cache
        if len(starts) > starts_remembered_max:
            starts.clear()
        for number in {row[-1] for row in rows} - starts.keys():
            segment = self._row("segment_place", number)
            if segment is None:
                raise StoreDamaged(f"The ledger lacks the segment {number}. Restore a copy.")
            starts[number] = BodyStart(*segment)
        return self._events(rows, lambda row: starts[row[-1]])

    def segments_after(self, position: int) -> list[Segment]:
        """The segments that began after this position."""
        return [self._segment_from(row) for row in self._rows("segments_after", position)]

    def _segment_from(self, row: Sequence[Any]) -> Segment:
        number, name, graph_id, origin, ordinal, base, at, *marks = _sound(row, _SegmentRow)
        of_parents = _sound(self._rows("parents_of", number), _ParentRows)
        parents = tuple([Parent(*parent) for parent in of_parents])
        if origin in GOES_ON and not parents:
            raise StoreDamaged(f"The ledger lacks the parents of session {name}. Restore a copy.")
        return Segment(name, graph_id, origin, ordinal, base, parents, at, *map(bool, marks))

    def snapshot(self, scope: str, name: str, key: str, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot with this key, up to a position. A broken one is ignored, because it is only a cache."""
        row = self._row("snapshot", scope, name, key, at_most)
        try:
            return None if row is None else Snapshot(*msgspec.convert(_unpacked(row), _SnapshotRow))
        except (zlib.error, TypeError, msgspec.ValidationError):
            return None

    def put_line(self, text: str, run_id: str | None) -> int:
        """Add a line to the inbox in its own transaction, and return its number."""
        number: int = self._rows_alone("put_line", run_id, text)[0][0]
        return number

    def _rows_alone(self, query: str, *values: object) -> list[Any]:
        # A failed commit may have left a transaction open. What is written in it would be lost by the rollback.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        return self._rows(query, *values)

    def lines(self, lines_max: int, after: int = 0) -> list[InboxLine]:
        """The oldest inbox lines after a number."""
        rows = _sound(self._rows("inbox_lines", after, lines_max), _InboxRows)
        return [InboxLine(*row) for row in rows]

    def put_request(self, body: str) -> int:
        """Add a request to the inbox in its own transaction, and return its number."""
        number: int = self._rows_alone("put_request", body)[0][0]
        return number

    def open_requests(self, requests_max: int) -> list[InboxRequest]:
        """The oldest requests of the inbox without an answer."""
        return [_inbox_request(row) for row in self._rows("open_requests", requests_max)]

    def request(self, number: int) -> InboxRequest | None:
        """One request of the inbox, if it is still there."""
        row = self._row("inbox_request", number)
        return None if row is None else _inbox_request(row)

    def inbox_mark(self) -> str:
        """A text that changes with every change of the inbox. Numbers only grow, and rows with a number only come to be
        taken, answered and removed: so no state of the two tables comes twice."""
        return " ".join(map(str, self._row("inbox_mark")))

    def take_request(self, number: int) -> bool:
        """Mark a request as taken in its own transaction. False if it was withdrawn."""
        return bool(self._rows_alone("take_request", number))

    def withdraw_request(self, number: int) -> bool:
        """Remove a request in its own transaction. False if it was taken."""
        return bool(self._rows_alone("withdraw_request", number))


def _compressed(text: str) -> bytes:
    """A prompt, compressed. With tables of zlib's usual size, a quarter of the work would be to clear them."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, compression_memory)
    return compressor.compress(text.encode()) + compressor.flush()


def _check_changes(rows: Sequence[Sequence[Any]]) -> None:
    """Raise if a row of (position, change, …) names no change: another sort of value, or one before the first event."""
    changes = [*map(_change_of, rows)]
    if rows and ({*map(type, changes)} != {int} or min(changes) < 1):
        raise StoreDamaged("The ledger holds an event of no change. Restore a copy.")


def _unpacked(row: Sequence[Any]) -> tuple[Any, ...]:
    *names_and_place, body = row
    return (*names_and_place, zlib.decompress(body))


def _sound(row: Any, row_type: Any) -> Any:
    """A row, or several, whose values have the types that they were written with. In a damaged file they may have others."""
    try:
        return msgspec.convert(row, row_type)
    except msgspec.ValidationError as broken:
        raise _broken_row(broken) from broken


def _broken_row(broken: Exception) -> StoreDamaged:
    return StoreDamaged(f"The store holds a broken row: {broken} Restore a copy.")


def _inbox_request(row: Sequence[Any]) -> InboxRequest:
    number, body, is_taken, answer = _sound(row, _RequestRow)
    return InboxRequest(number, body, bool(is_taken), answer)
