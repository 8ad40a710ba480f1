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
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import IO, Any, Literal

import msgspec
from msgspec.structs import replace

from glasshouse.errors import BadEvent, ImportConflict, Refused, StoreFailed
from glasshouse.events.codec import content_of, decoded, encoded
from glasshouse.events.digest import digest_of
from glasshouse.events.event import Event
from glasshouse.events.redaction import ROLES, Role, redacted
from glasshouse.runtime.ledger import Ledger
from glasshouse.runtime.ports import SegmentWrite, Store
from glasshouse.runtime.reading import HistoryReader
from glasshouse.world.lineage import ancestors_of, span_of, visible_prefixes
from glasshouse.world.state import Segment, World

format_version = 1
line_bytes_max = 8 * 1024 * 1024


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


async def export(store: Store, world: World, session_id: str, path: Path, role: Role) -> Path:
    """Write a session and all its visible ancestors as one file."""
    if role not in ROLES:
        raise Refused(f"There is no role {role!r}.", f"Use one of {', '.join(ROLES)}.")
    segments = await _segments_to_carry(store, world, session_id)
    events = [
        redacted(event, role)
        async for page in HistoryReader(store).pages(world, session_id)
        for event in page
    ]
    head = FileHead(format_version, session_id, role, role != "director", len(segments))
    await asyncio.to_thread(_write_file, path, head, segments, events)
    return path


async def _segments_to_carry(store: Store, world: World, session_id: str) -> list[FileSegment]:
    prefixes = visible_prefixes(world.sessions, session_id)
    found: list[FileSegment] = []
    for name in [*ancestors_of(world.sessions, session_id), session_id]:
        segment = replace(world.sessions[name].segment, is_imported=False)
        found.append(FileSegment(segment, prefixes[name], await store.inner_seqs(name, prefixes[name])))
    return found


def _write_file(path: Path, head: FileHead, segments: list[FileSegment], events: list[Event]) -> None:
    beside = path.with_name(path.name + ".part")
    try:
        with _opened(beside, "wb", is_plain=path.suffix == ".jsonl") as file:
            for line in _lines(head, segments, events):
                file.write(line + b"\n")
        _sync(beside)
        beside.replace(path)
    except OSError as wrong:
        beside.unlink(missing_ok=True)
        raise StoreFailed(f"{path} cannot be written ({wrong.strerror}). Choose another place.") from wrong


def _lines(head: FileHead, segments: list[FileSegment], events: list[Event]) -> Iterator[bytes]:
    yield msgspec.json.encode(head)
    for segment in segments:
        yield msgspec.json.encode(segment)
    for event in events:
        yield encoded(event)
    yield msgspec.json.encode(_EndLine(FileEnd(len(events), digest_of(events))))


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
    writes = [write async for write in _writes(store, ledger.world, carried)]
    if writes:
        await ledger.take_in(tuple(writes))
    return carried.head.session


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
        carried = Carried(head, segments, {s.segment.id: [] for s in segments})
        story: list[Event] = []
        for line in lines:
            number += 1
            if line.startswith(b'{"end"'):
                _check_end(path, msgspec.json.decode(line, type=_EndLine).end, carried, story)
                return carried
            event = decoded(line)
            story.append(event)
            carried.events[event.session_id].append(event)
    except (msgspec.DecodeError, BadEvent, KeyError) as wrong:
        raise Refused(
            f"{path}:{number}: {wrong}", "The line is no part of a Glasshouse file; export it again."
        ) from wrong
    raise Refused(
        f"{path} ends after line {number} without its last line.", "It was cut short; export it again."
    )


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
            opens = replace(part.segment, is_imported=True)
            yield _write(part, events, 0, opens)
            continue
        if replace(there.segment, is_imported=False) != part.segment:
            raise _conflict(carried, f"session {part.segment.id} began otherwise")
        await _check_same_prefix(store, carried, part.segment, events[: there.head])
        if len(events) > there.head:
            if not there.segment.is_imported:
                raise _conflict(carried, f"session {part.segment.id} went on in two places")
            yield _write(part, events[there.head :], there.head, None)


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
