"""Session files: `.glass` to move a session or a run to another store, `.jsonl` for other tools. Both hold the same lines.

    {"glass": 2, "session": …, "role": …, "is_redacted": …, "segments": …}     the head
    {"segment": {…}, "upto": …}                                                each segment, parents first
    {"id": "s-….1", "kind": …, …, "change": "s-….1"}                           each event, in the order of histories
    {"record": {"house": …, …}}                                                what a replay needs besides; a director's file only
    {"end": {"events": …, "digest": …, "record": …}}                           the end; without it the file is cut short

A `.glass` file is these lines compressed with gzip (ADR 0016). `change` is the id of the first event of the same change
in the file. The first event of a change has no such field. Files of format 1, which have no records, are read too.

Always holds: a file is written under a temporary name and renamed when it is complete. An import is one batch, all or
nothing. It keeps the events as they are in the file; upcasters change only what a reader sees. Segments are matched by
id. If the file has more events of an imported segment than the store, the import adds them. If events differ, the
import is refused with a conflict.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import secrets
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from glasshouse.errors import BadEvent, ImportConflict, Refused, StoreDamaged, StoreFailed
from glasshouse.events.codec import VERSIONS, content_of, decoded, encoded, raw_decoded
from glasshouse.events.digest import Digest, digest_with_costs
from glasshouse.events.event import Event, event_id
from glasshouse.events.payloads import PAYLOAD_TYPES, payload_of
from glasshouse.events.redaction import Role, check_role, redacted
from glasshouse.runtime.ledger.history import HistoryReader
from glasshouse.runtime.ledger.house_record import (
    HouseRecord,
    RecordInTheMaking,
    RecordLine,
    check_record,
    decoded_record,
    encoded_record,
    joined,
    lines_of,
)
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.store_port import Batch, SegmentWrite, SideWrites, Store
from glasshouse.world.state.lineage import by_age, joined_prefixes, pages, span_of, spans_between
from glasshouse.world.state.state import Segment

format_version = 2
line_bytes_max = 8 * 1024 * 1024
"""A longer line in a file is refused."""
import_events_max = 1_000_000
"""A file with more events is refused."""
import_bytes_max = 1024 * 1024 * 1024
"""Counted as the file is unpacked, so that a small file that unpacks to more is not unpacked whole."""
segment_number_max = 2**62 - 1  # Two of them added up still fit the integers of every store.
short_reads_max = 8
"""An import compares again this often if commits fail meanwhile; then `StoreFailed`."""


class FileHead(msgspec.Struct, forbid_unknown_fields=True):
    """The first line of a file."""

    glass: int
    session: str
    role: Role
    is_redacted: bool
    segments: int


class FileSegment(msgspec.Struct, forbid_unknown_fields=True):
    """A segment line."""

    segment: Segment
    upto: int


class FileEnd(msgspec.Struct, forbid_unknown_fields=True):
    """The content of the last line: how many events the file has, and the digest over them, with what their calls cost."""

    events: int
    digest: str
    record: str = ""
    """The digest over the lines with records; empty if there are none."""


class _EndLine(msgspec.Struct, forbid_unknown_fields=True):
    end: FileEnd


class Carried(msgspec.Struct):
    """A file that was read and checked: its segments, its events as they were written, and the change of each."""

    head: FileHead
    segments: list[FileSegment]
    events: dict[str, list[Event]]
    changes: dict[str, str]
    """Event id to the id of the first event of its change."""
    records: list[HouseRecord] = []
    """What replays of its runs need besides."""


class _ReadShort(Exception):
    """The store has fewer events of a segment than the pending world had: a commit failed in between."""


async def export(
    history: HistoryReader, session_id: str, ends: Mapping[str, int], path: Path, role: Role
) -> Path:
    """Write sessions, each up to its end, and all their visible ancestors as one file. `session_id` is the session that
    an import returns."""
    check_role(role)
    await asyncio.to_thread(_check_place, path)
    store = history.store
    ledger = history.ledger
    sessions = ledger.world.sessions
    prefixes = joined_prefixes(sessions, ends)
    spans = spans_between(sessions, prefixes)
    known = [replace(sessions[name].segment, is_imported=False) for name in by_age(sessions, prefixes)]
    await ledger.writer.wait_for_durability()
    carried = [FileSegment(segment, prefixes[segment.id]) for segment in known]
    is_redacted = role != "director" or any(segment.is_redacted for segment in known)
    head = FileHead(format_version, session_id, role, is_redacted, len(carried))
    recording = None if is_redacted else RecordInTheMaking(history, prefixes)
    file = await asyncio.to_thread(_FileInTheMaking, path, head, carried)
    try:
        for page in pages(spans):
            events = await store.read(page)
            if recording is not None:
                recording.take(events)
            await asyncio.to_thread(file.add, [redacted(event, role) for event in events])
        if recording is not None:
            for record in await _records(recording, store, prefixes):
                await asyncio.to_thread(file.add_record, record)
        await asyncio.to_thread(file.finish, sum(prefixes.values()))
    finally:
        await asyncio.to_thread(file.drop)
    return path


async def _records(
    recording: RecordInTheMaking, store: Store, prefixes: Mapping[str, int]
) -> list[HouseRecord]:
    """The record of this house, and those of other houses whose sessions the file holds whole."""
    own = await recording.record()
    kept = map(decoded_record, (await store.records()).values())
    whole = [record for record in kept if all(prefixes.get(name) == n for name, n in record.sessions.items())]
    return [*([] if own is None else [own]), *whole]


def _check_place(path: Path) -> None:
    """Refuse a path that cannot be a file, before anything is read."""
    try:
        is_file_name = path.name not in {"", ".."} and b"\0" not in os.fsencode(path) and not path.is_dir()
    except UnicodeEncodeError:
        is_file_name = False
    except OSError:  # The path cannot be checked. Opening the file will report the reason.
        return
    if not is_file_name:
        raise Refused(f"{str(path)!r} is not a path for a file.", "Name a file, such as 'play.glass'.")


class _FileInTheMaking:
    """A file that is written under a temporary name and renamed when it is complete."""

    def __init__(self, path: Path, head: FileHead, segments: list[FileSegment]) -> None:
        self._path = path
        self._beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        self._digest = Digest(with_costs=True)
        self._record_digest: Any = None
        self._changes: dict[int | None, str] = {}
        self._events = 0
        with self._in_words():
            self._raw = self._beside.open("wb")
        is_plain = path.suffix.lower() == ".jsonl"
        # Without a name and a time in the gzip header, the same session always gives the same bytes.
        self._file = self._raw if is_plain else gzip.GzipFile("", "wb", fileobj=self._raw, mtime=0)
        self._write([msgspec.json.encode(head), *map(msgspec.json.encode, segments)])

    def add(self, events: list[Event]) -> None:
        for event in events:
            self._digest.add(event)
        self._events += len(events)
        self._write([self._line(event) for event in events])

    def add_record(self, record: HouseRecord) -> None:
        lines = [msgspec.json.encode(line) for line in lines_of(record)]
        self._record_digest = self._record_digest or record_digest()
        for line in lines:
            self._record_digest.update(line)
        self._write(lines)

    def _line(self, event: Event) -> bytes:
        body = encoded(event)
        first = self._changes.setdefault(event.change, event.id)
        return body if first == event.id else b'%s,"change":"%s"}' % (body[:-1], first.encode())

    def finish(self, events_expected: int) -> None:
        if self._events != events_expected:
            raise StoreDamaged(
                f"{self._path} was not written: {events_expected:,} events were asked for and {self._events:,} could be"
                " read. Restore a copy of the store, then export again."
            )
        of_records = "" if self._record_digest is None else self._record_digest.hexdigest()
        end = FileEnd(self._events, self._digest.text(), of_records)
        self._write([msgspec.json.encode(_EndLine(end))])
        with self._in_words():
            self._file.close()
            self._raw.close()
            sync(self._beside)
            self._beside.replace(self._path)
            # The folder holds the name; without this sync a power cut could lose it.
            sync(self._path.parent)

    def drop(self) -> None:
        """Close and delete the temporary file. After `finish` there is nothing to delete."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._raw.close()
        with suppress(OSError):
            self._beside.unlink()

    def _write(self, lines: list[bytes]) -> None:
        with self._in_words():
            self._file.write(b"".join([line + b"\n" for line in lines]))

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except OSError as wrong:
            with suppress(OSError):
                self._beside.unlink()
            raise StoreFailed(
                f"{self._path} cannot be written ({wrong.strerror}). Choose another place."
            ) from wrong


def record_digest() -> Any:
    """The hash over the lines with records."""
    return blake2b(digest_size=16)


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk, so that it survives a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def import_file(store: Store, ledger: Ledger, path: Path) -> str:
    """Import a file and return the id of its session."""
    carried = await asyncio.to_thread(read_file, path)
    short_reads = 0
    while short_reads < short_reads_max:
        try:
            writes = await _writes(store, ledger, carried)
            records = await _records_to_keep(store, ledger, carried)
            if not writes:
                if records:
                    await ledger.settle(Batch(side=SideWrites(records=records)))
                return carried.head.session
            if await ledger.append_imported(writes, records):
                return carried.head.session
        except _ReadShort:
            short_reads += 1
    raise StoreFailed(f"{path} cannot be compared with this store. Look after it, then import again.")


async def _records_to_keep(store: Store, ledger: Ledger, carried: Carried) -> tuple[tuple[str, str], ...]:
    """The records of a file, each with its name. Those of sessions that were played here are not needed; of two that
    come with the same session of the same house, the longer one is kept."""
    if not carried.records:
        return ()
    kept = await store.records()
    sessions = ledger.world.sessions
    new: list[tuple[str, str]] = []
    for number, record in enumerate(carried.records):
        # A copied store has the same id as the other, so the house and the session may not be enough.
        name = f"{record.house} {carried.head.session}{f' {number}' if number else ''}"
        here = [sessions[session_id] for session_id in record.sessions if session_id in sessions]
        is_played_here = any(not session.segment.is_imported for session in here)
        if is_played_here or (name in kept and decoded_record(kept[name]).events > record.events):
            continue
        new.append((name, encoded_record(record)))
    return tuple(new)


def read_file(path: Path) -> Carried:
    """Read and check a whole file. A refusal names the first bad line."""
    try:
        with path.open("rb") as raw:
            is_packed = raw.peek(2).startswith(b"\x1f\x8b")
            file = gzip.GzipFile(fileobj=raw) if is_packed else raw
            return _parsed(path, _lines(path, file))
    except FileNotFoundError as wrong:
        raise Refused(f"There is no file {path}.", "Check the path.") from wrong
    except (OSError, EOFError, zlib.error) as wrong:
        raise Refused(f"{path} cannot be read: {wrong}.", "Export it again.") from wrong
    except ValueError as wrong:
        raise Refused(f"{str(path)!r} cannot name a file: {wrong}.", "Check the path.") from wrong


def _lines(path: Path, file: gzip.GzipFile | BufferedReader) -> Iterator[bytes]:
    """The lines of an open file, as long as they are within the bounds."""
    left = import_bytes_max
    while line := file.readline(line_bytes_max):
        left -= len(line)
        if left < 0:
            raise Refused(
                f"{path} holds more than {import_bytes_max:,} bytes unpacked.", "Import a shorter session."
            )
        yield line


def _parsed(path: Path, lines: Iterator[bytes]) -> Carried:
    number = 1
    try:
        head = msgspec.json.decode(next(lines, b""), type=FileHead)
        if not 1 <= head.glass <= format_version:
            raise Refused(
                f"{path} is of format {head.glass}; this Glasshouse reads up to {format_version}.",
                "Upgrade Glasshouse.",
            )
        placed: dict[str, FileSegment] = {}
        for _ in range(head.segments):
            number += 1
            part = msgspec.json.decode(next(lines, b""), type=FileSegment)
            _check_segment(part, placed)
            placed[part.segment.id] = part
        if head.session not in placed:
            raise BadEvent(f"there is no segment of its session {head.session}")
        carried = Carried(head, list(placed.values()), {name: [] for name in placed}, {})
        story: list[Event] = []
        recorded = _RecordsRead()
        for line in lines:
            number += 1
            if line.startswith(b'{"record"'):
                recorded.take(line)
                continue
            if line.startswith(b'{"end"'):
                end = msgspec.json.decode(line, type=_EndLine).end
                _check_end(path, end, carried, story)
                carried.records = recorded.checked(path, end, placed)
                if next(lines, None) is not None:  # Reading to the end also makes gzip check its checksum.
                    raise BadEvent("something follows the last line")
                return carried
            event, change = _event_and_change(line)
            _check_event(event, placed)
            if change != event.id and carried.changes.get(change) != change:
                raise BadEvent(f"event {event.id} belongs to a change that does not begin before it")
            carried.changes[event.id] = change
            if len(story) >= import_events_max:
                raise Refused(
                    f"{path} holds more than {import_events_max:,} events.", "Import a shorter session."
                )
            story.append(event)
            carried.events[event.session_id].append(event)
    except (msgspec.DecodeError, BadEvent, RecursionError, UnicodeDecodeError) as wrong:
        raise Refused(
            f"{path}:{number}: {str(wrong).rstrip('.')}.",
            "The line does not belong to a Glasshouse file; export it again.",
        ) from wrong
    raise Refused(
        f"{path} ends after line {number} without its last line.", "It was cut short; export it again."
    )


class _RecordsRead:
    """The parts of records in a file, as they are read."""

    def __init__(self) -> None:
        self._parts: list[HouseRecord] = []
        self._digest = record_digest()

    def take(self, line: bytes) -> None:
        self._parts.append(msgspec.json.decode(line, type=RecordLine).record)
        self._digest.update(line.rstrip(b"\n"))

    def checked(self, path: Path, end: FileEnd, placed: Mapping[str, FileSegment]) -> list[HouseRecord]:
        """The records, if they are those that the last line tells of and fit the file."""
        if end.record != (self._digest.hexdigest() if self._parts else ""):
            raise Refused(
                f"{path} does not hold what its last line says.", "It was changed; export it again."
            )
        records = joined(self._parts)
        heads = {name: part.upto for name, part in placed.items()}
        for record in records:
            check_record(record, heads)
        return records


def _event_and_change(line: bytes) -> tuple[Event, str]:
    """The event of a line, and the id of the first event of its change."""
    if b'"change"' not in line:
        event = raw_decoded(line)
        return event, event.id
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    change = fields.pop("change", None)
    event = raw_decoded(msgspec.json.encode(fields))
    return event, event.id if change is None else msgspec.json.decode(change, type=str)


def _check_segment(part: FileSegment, before: dict[str, FileSegment]) -> None:
    """Check that a segment is new and not empty, has valid numbers, and begins after the parents listed before it."""
    segment = part.segment
    if segment.id in before or part.upto < 1:
        raise BadEvent(f"segment {segment.id} occurs twice or is empty")
    if not all(0 <= number <= segment_number_max for number in (segment.ordinal, segment.base, part.upto)):
        raise BadEvent(f"segment {segment.id} has a number below 0 or above {segment_number_max}")
    if len({parent.session_id for parent in segment.parents}) < len(segment.parents):
        raise BadEvent(f"segment {segment.id} names a parent twice")
    for parent in segment.parents:
        grown_from = before.get(parent.session_id)
        if grown_from is None or not 1 <= parent.upto <= grown_from.upto:
            raise BadEvent(f"segment {segment.id} grows from events that are not here")
        if segment.base < grown_from.segment.base + parent.upto:
            raise BadEvent(f"segment {segment.id} begins before its parent {parent.session_id} ends")


def _check_event(event: Event, placed: dict[str, FileSegment]) -> None:
    """Check that an event's id and time fit its segment, and that an engine event has the payload of its kind."""
    part = placed.get(event.session_id)
    if part is None:
        raise BadEvent(f"the file has no segment {event.session_id}")
    segment = part.segment
    if event.id != event_id(segment.id, event.seq) or event.lamport != segment.base + event.seq:
        raise BadEvent(f"event {event.id} is not where its id and time say")
    today = _upcast(event)
    if today.kind in PAYLOAD_TYPES:
        payload_of(today, PAYLOAD_TYPES[today.kind])


def _upcast(event: Event) -> Event:
    """The event in the current schema version."""
    is_current = event.schema_version == VERSIONS.get(event.kind, 1)
    return event if is_current else decoded(encoded(event))


def _check_end(path: Path, end: FileEnd, carried: Carried, story: list[Event]) -> None:
    if end.events != len(story) or end.digest != digest_with_costs(story):
        raise Refused(f"{path} does not hold what its last line says.", "It was changed; export it again.")
    for part in carried.segments:
        events = carried.events[part.segment.id]
        if len(events) != part.upto or any(event.seq != seq for seq, event in enumerate(events, 1)):
            raise Refused(f"{path} lacks events of {part.segment.id}.", "Export it again.")


async def _writes(store: Store, ledger: Ledger, carried: Carried) -> tuple[SegmentWrite, ...]:
    """The writes for what the store lacks of the file; empty if it has everything."""
    sessions = [ledger.world.sessions.get(part.segment.id) for part in carried.segments]
    known = [None if session is None else (session.segment, session.head) for session in sessions]
    # Another import may be in flight. The pending world knows its events, but only durable ones can be read.
    await ledger.writer.wait_for_durability()
    writes = []
    for part, here in zip(carried.segments, known, strict=True):
        events = carried.events[part.segment.id]
        opens = None
        head = 0
        if here is None:
            is_redacted = part.segment.is_redacted or carried.head.is_redacted
            opens = replace(part.segment, is_imported=True, is_redacted=is_redacted)
        else:
            segment, head = here
            await _check_agrees(store, carried, part, segment, head)
        if len(events) > head:
            bodies = tuple(map(encoded, events[head:]))
            changes = tuple([carried.changes[event.id] for event in events[head:]])
            writes.append(SegmentWrite(part.segment.id, head, bodies, opens, changes))
    return tuple(writes)


async def _check_agrees(
    store: Store, carried: Carried, part: FileSegment, segment: Segment, head: int
) -> None:
    """Check that file and store have equal events of a segment as far as both go. Only an import can be extended."""
    events = carried.events[segment.id]
    if _origin(segment) != _origin(part.segment):
        raise _conflict(carried, f"session {segment.id} began otherwise")
    in_both = events[:head]
    kept = await store.read([span_of(segment, 1, len(in_both))])
    if len(kept) < len(in_both):
        raise _ReadShort
    for ours, theirs in zip(kept, in_both, strict=True):
        if _comparable(ours, carried.head.role) != _comparable(theirs, carried.head.role):
            raise _conflict(carried, f"event {ours.id} differs")
    if len(events) > head and not segment.is_imported:
        raise _conflict(carried, f"session {segment.id} went on in two places")


def _origin(segment: Segment) -> Segment:
    """A segment without the marks of an import, to compare how it began."""
    return replace(segment, is_imported=False, is_redacted=False)


def _comparable(event: Event, role: Role) -> dict[str, Any]:
    return content_of(redacted(_upcast(event), role))


def _conflict(carried: Carried, what: str) -> ImportConflict:
    return ImportConflict(
        f"The file of session {carried.head.session} disagrees with this store: {what}. Nothing was taken in; import it"
        " into another store."
    )
