"""Sessions as files: `.glass` to carry, `.jsonl` to read in other tools. Both hold the same lines.

    {"glass": 1, "session": …, "role": …, "is_redacted": …, "segments": …}     the head
    {"segment": {…}, "upto": …, "inner": […]}                                  each segment, parents first
    {"id": "s-….1", "kind": …, …}                                              each event, in the order of histories
    {"end": {"events": …, "digest": …}}                                        the end; without it the file is cut short

A `.glass` file is these lines compressed with gzip. `inner` are the seqs that are not the last of their batch.
Always holds: a file is written beside its place and moved there whole. An import is one batch, all or nothing.
Segments are matched by id: a longer prefix of an imported segment extends it, a different one is a conflict.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import secrets
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

import msgspec
from msgspec.structs import replace

from glasshouse.errors import BadEvent, ImportConflict, Refused, StoreFailed
from glasshouse.events.codec import content_of, decoded, encoded
from glasshouse.events.digest import Digest, digest_of
from glasshouse.events.event import Event, event_id
from glasshouse.events.payloads import PAYLOAD_TYPES, payload_of
from glasshouse.events.redaction import ROLES, Role, redacted
from glasshouse.runtime.ledger import Ledger
from glasshouse.runtime.ports import SegmentWrite, Store
from glasshouse.world.lineage import ancestors_of, pages, span_of, spans_between, visible_prefixes
from glasshouse.world.state import Segment, World

format_version = 1
line_bytes_max = 8 * 1024 * 1024
import_events_max = 1_000_000


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
    inner: list[int]


class FileEnd(msgspec.Struct, forbid_unknown_fields=True):
    """What the last line counts and sums up."""

    events: int
    digest: str


class _EndLine(msgspec.Struct, forbid_unknown_fields=True):
    end: FileEnd


class Carried(msgspec.Struct):
    """A whole file, read and checked."""

    head: FileHead
    segments: list[FileSegment]
    events: dict[str, list[Event]]


async def export(store: Store, ledger: Ledger, session_id: str, path: Path, role: Role) -> Path:
    """Write a session and all its visible ancestors as one file."""
    if role not in ROLES:
        raise Refused(f"There is no role {role!r}.", f"Use one of {', '.join(ROLES)}.")
    prefixes = visible_prefixes(ledger.world.sessions, session_id)
    spans = spans_between(ledger.world.sessions, prefixes)
    order = [*ancestors_of(ledger.world.sessions, session_id), session_id]
    known = [replace(ledger.world.sessions[name].segment, is_imported=False) for name in order]
    await ledger.wait_for_durability()
    carried = [FileSegment(s, prefixes[s.id], await store.inner_seqs(s.id, prefixes[s.id])) for s in known]
    is_redacted = role != "director" or any(segment.is_redacted for segment in known)
    head = FileHead(format_version, session_id, role, is_redacted, len(carried))
    file = await asyncio.to_thread(_FileInTheMaking, path, head, carried)
    try:
        for page in pages(spans):
            events = [redacted(event, role) for event in await store.read(page)]
            await asyncio.to_thread(file.add, events)
        await asyncio.to_thread(file.finish, sum(prefixes.values()))
    finally:
        await asyncio.to_thread(file.drop)
    return path


class _FileInTheMaking:
    """Written beside its place, moved there when it is whole."""

    def __init__(self, path: Path, head: FileHead, segments: list[FileSegment]) -> None:
        self._path = path
        self._beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        self._digest = Digest()
        self._events = 0
        with self._in_words():
            self._raw = self._beside.open("wb")
        is_plain = path.suffix == ".jsonl"  # Packed without its name and time: one session makes one file.
        self._file = self._raw if is_plain else gzip.GzipFile("", "wb", fileobj=self._raw, mtime=0)
        self._write([msgspec.json.encode(head), *map(msgspec.json.encode, segments)])

    def add(self, events: list[Event]) -> None:
        for event in events:
            self._digest.take_in(event)
        self._events += len(events)
        self._write([encoded(event) for event in events])

    def finish(self, events_expected: int) -> None:
        if self._events != events_expected:
            raise StoreFailed(
                f"{self._path} was not written: {events_expected:,} events were asked for and {self._events:,} could be"
                " read. Export again."
            )
        self._write([msgspec.json.encode(_EndLine(FileEnd(self._events, self._digest.text())))])
        with self._in_words():
            self._file.close()
            self._raw.close()
            _sync(self._beside)
            self._beside.replace(self._path)

    def drop(self) -> None:
        """Leave nothing half written behind."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._raw.close()
        self._beside.unlink(missing_ok=True)

    def _write(self, lines: list[bytes]) -> None:
        with self._in_words():
            self._file.write(b"".join([line + b"\n" for line in lines]))

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except OSError as wrong:
            self._beside.unlink(missing_ok=True)
            raise StoreFailed(
                f"{self._path} cannot be written ({wrong.strerror}). Choose another place."
            ) from wrong


def _opened(path: Path, mode: Literal["rb", "wb"], *, is_plain: bool) -> IO[bytes] | gzip.GzipFile:
    return path.open(mode) if is_plain else gzip.GzipFile(path, mode, mtime=0)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def import_file(store: Store, ledger: Ledger, path: Path) -> str:
    """Take a file in and give the id of its session."""
    carried = await asyncio.to_thread(read_file, path)
    while True:
        await ledger.wait_for_durability()
        writes = [write async for write in _writes(store, ledger.world, carried)]
        if _still_fit(ledger.world, writes):
            break
    if writes:
        await ledger.take_in(tuple(writes))
    return carried.head.session


def _still_fit(world: World, writes: list[SegmentWrite]) -> bool:
    """Whether nobody has taken in the same segments while these were compared."""
    return all(
        write.session_id not in world.sessions
        if write.opens is not None
        else world.sessions[write.session_id].head == write.expected_head
        for write in writes
    )


def read_file(path: Path) -> Carried:
    """Read and check a whole file; say at which line it breaks."""
    try:
        is_plain = _is_plain(path)
        with _opened(path, "rb", is_plain=is_plain) as file:
            return _parsed(path, iter(lambda: file.readline(line_bytes_max), b""))
    except FileNotFoundError as wrong:
        raise Refused(f"There is no file {path}.", "Check the path.") from wrong
    except (OSError, EOFError, zlib.error) as wrong:
        raise Refused(f"{path} cannot be read: {wrong}.", "Export it again.") from wrong


def _is_plain(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) != b"\x1f\x8b"


def _parsed(path: Path, lines: Iterator[bytes]) -> Carried:
    number = 1
    try:
        head = msgspec.json.decode(next(lines, b""), type=FileHead)
        if head.glass != format_version:
            raise Refused(
                f"{path} is of format {head.glass}; this Glasshouse reads {format_version}.",
                "Upgrade Glasshouse.",
            )
        segments: list[FileSegment] = []
        for _ in range(head.segments):
            number += 1
            segments.append(msgspec.json.decode(next(lines, b""), type=FileSegment))
            _check_segment(segments)
        placed = {part.segment.id: part.segment for part in segments}
        if head.session not in placed:
            raise BadEvent(f"there is no segment of its session {head.session}")
        carried = Carried(head, segments, {name: [] for name in placed})
        story: list[Event] = []
        for line in lines:
            number += 1
            if line.startswith(b'{"end"'):
                _check_end(path, msgspec.json.decode(line, type=_EndLine).end, carried, story)
                if next(lines, None) is not None:  # Reading to the end also checks the sum of a packed file.
                    raise BadEvent("something follows the last line")
                return carried
            event = decoded(line)
            _check_event(event, placed)
            if len(story) >= import_events_max:
                raise Refused(
                    f"{path} holds more than {import_events_max:,} events.", "Import a shorter session."
                )
            story.append(event)
            carried.events[event.session_id].append(event)
    except (msgspec.DecodeError, BadEvent, RecursionError, UnicodeDecodeError) as wrong:
        raise Refused(
            f"{path}:{number}: {wrong}", "The line is no part of a Glasshouse file; export it again."
        ) from wrong
    raise Refused(
        f"{path} ends after line {number} without its last line.", "It was cut short; export it again."
    )


def _check_segment(segments: list[FileSegment]) -> None:
    """The newest one has an id of its own, at least one event, and parents that came before it and reach so far."""
    *before, last = segments
    reach = {part.segment.id: part.upto for part in before}
    if last.segment.id in reach or last.upto < 1:
        raise BadEvent(f"segment {last.segment.id} is told twice or is empty")
    for parent in last.segment.parents:
        if parent.upto > reach.get(parent.session_id, 0):
            raise BadEvent(f"segment {last.segment.id} grows from events that are not here")


def _check_event(event: Event, placed: dict[str, Segment]) -> None:
    """Its id, place and time are those of its segment, and an engine event has the payload of its kind."""
    segment = placed.get(event.session_id)
    if segment is None:
        raise BadEvent(f"no segment {event.session_id} was told of")
    if event.id != event_id(segment.id, event.seq) or event.lamport != segment.base + event.seq:
        raise BadEvent(f"event {event.id} is not where its id and time say")
    if event.kind in PAYLOAD_TYPES:
        payload_of(event, PAYLOAD_TYPES[event.kind])


def _check_end(path: Path, end: FileEnd, carried: Carried, story: list[Event]) -> None:
    if end.events != len(story) or end.digest != digest_of(story):
        raise Refused(f"{path} does not hold what its last line says.", "It was changed; export it again.")
    for part in carried.segments:
        seqs = [event.seq for event in carried.events[part.segment.id]]
        if seqs != list(range(1, part.upto + 1)):
            raise Refused(f"{path} lacks events of {part.segment.id}.", "Export it again.")


async def _writes(store: Store, world: World, carried: Carried) -> AsyncIterator[SegmentWrite]:
    for part in carried.segments:
        events = carried.events[part.segment.id]
        there = world.sessions.get(part.segment.id)
        if there is None:
            is_redacted = part.segment.is_redacted or carried.head.is_redacted
            opens = replace(part.segment, is_imported=True, is_redacted=is_redacted)
            yield _write(part, events, 0, opens)
            continue
        if _origin(there.segment) != _origin(part.segment):
            raise _conflict(carried, f"session {part.segment.id} began otherwise")
        await _check_same_prefix(store, carried, part.segment, events[: there.head])
        if len(events) > there.head:
            if not there.segment.is_imported:
                raise _conflict(carried, f"session {part.segment.id} went on in two places")
            yield _write(part, events[there.head :], there.head, None)


def _origin(segment: Segment) -> Segment:
    """How a segment began, whoever carried it since."""
    return replace(segment, is_imported=False, is_redacted=False)


def _write(part: FileSegment, events: list[Event], head: int, opens: Segment | None) -> SegmentWrite:
    bodies = tuple([encoded(event) for event in events])
    return SegmentWrite(part.segment.id, head, bodies, opens, frozenset(part.inner))


async def _check_same_prefix(store: Store, carried: Carried, segment: Segment, events: list[Event]) -> None:
    if not events:
        return
    kept = await store.read([span_of(segment, 1, len(events))])
    for ours, theirs in zip(kept, events, strict=True):
        if _comparable(ours, carried.head.role) != _comparable(theirs, carried.head.role):
            raise _conflict(carried, f"event {ours.id} differs")


def _comparable(event: Event, role: Role) -> dict[str, Any]:
    return content_of(redacted(event, role))


def _conflict(carried: Carried, what: str) -> ImportConflict:
    return ImportConflict(
        f"The file of session {carried.head.session} disagrees with this store: {what}. Nothing was taken in; import it"
        " into another store."
    )
