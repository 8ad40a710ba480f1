"""A disk that loses data: it records every write and builds what a power cut would leave at any moment.

Theory of operation. `RecordingVFS` passes every call to the real file system and records each write, truncation, sync
and deletion as a `Moment`. The driver of the store adds a moment for each acknowledgement. `image_at` replays the
moments up to a cut. A sync makes everything written to that file before it safe. Later writes are in caches, in sectors
of 512 bytes. Each sector may have reached the disk with any number of its writes done, so pages are torn and writes are
reordered. Truncations may be lost. Until the folder is synced, new files may be missing and deleted files may be back.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import apsw

sector_bytes = 512

Care = Literal["nothing", "everything", "prefix", "half", "most", "few", "garbage"]
CARES: tuple[Care, ...] = ("nothing", "everything", "prefix", "half", "most", "few", "garbage")
"""How much of what was not synced a cut leaves."""

SECTOR_SURVIVES: dict[Care, float] = {
    "nothing": 0.0,
    "everything": 1.0,
    "prefix": 1.0,
    "half": 0.5,
    "most": 0.9,
    "few": 0.1,
    "garbage": 0.5,
}


@dataclass(frozen=True)
class Write:
    file: str
    offset: int
    data: bytes


@dataclass(frozen=True)
class Truncate:
    file: str
    size: int


@dataclass(frozen=True)
class Sync:
    file: str


@dataclass(frozen=True)
class Create:
    file: str


@dataclass(frozen=True)
class Delete:
    file: str
    is_synced: bool


@dataclass(frozen=True)
class Acknowledged:
    """The driver was told that everything up to this position is durable."""

    position: int


Moment = Write | Truncate | Sync | Create | Delete | Acknowledged


class RecordingFile(apsw.VFSFile):
    """A real file whose changes are noted."""

    def __init__(self, name: str | apsw.URIFilename, flags: list[int], moments: list[Moment]) -> None:
        path = Path(name if isinstance(name, str) else name.filename())
        self._file, self._moments = path.name, moments
        if not path.exists():
            moments.append(Create(self._file))
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._moments.append(Write(self._file, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._moments.append(Truncate(self._file, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._moments.append(Sync(self._file))
        super().xSync(flags)


class RecordingVFS(apsw.VFS):
    """The system's own files, with everything that is done to them noted in order."""

    def __init__(self, name: str) -> None:
        self.moments: list[Moment] = []
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        if name is None:
            return super().xOpen(name, flags)
        return RecordingFile(name, flags, self.moments)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self.moments.append(Delete(Path(filename).name, syncdir))


@dataclass
class Kept:
    """A file: what is safe, and what was asked for since."""

    safe: bytes = b""
    pending: list[Write | Truncate] = field(default_factory=list)
    is_entered: bool = False
    """Whether its folder surely lists it."""

    def sync(self) -> None:
        self.safe = self.left(random.Random(0), "everything")
        self.pending = []

    def left(self, chance: random.Random, care: Care) -> bytes:
        """What a cut leaves of the file."""
        content, stopped = bytearray(self.safe), set[int]()
        last = chance.randint(0, len(self.pending)) if care == "prefix" else len(self.pending)
        for moment in self.pending[:last]:
            if isinstance(moment, Write):
                write_some_sectors(content, moment, stopped, chance, care)
            elif chance.random() < SECTOR_SURVIVES[care]:
                del content[moment.size :]
        return bytes(content)


def write_some_sectors(
    content: bytearray, write: Write, stopped: set[int], chance: random.Random, care: Care
) -> None:
    """Each sector takes its writes in order and stops at some point: what comes later never reached the disk."""
    start, end = write.offset, write.offset + len(write.data)
    while start < end:
        sector = start // sector_bytes
        stop = min(end, (sector + 1) * sector_bytes)
        if sector not in stopped and chance.random() < SECTOR_SURVIVES[care]:
            part = write.data[start - write.offset : stop - write.offset]
            content.extend(bytes(max(0, stop - len(content))))
            content[start:stop] = part
        else:
            if care == "garbage" and sector not in stopped and chance.random() < 0.3:
                content.extend(bytes(max(0, stop - len(content))))
                content[start:stop] = chance.randbytes(stop - start)
            stopped.add(sector)
        start = stop


@dataclass
class Disk:
    """All files by name, and the deleted ones that may come back."""

    files: dict[str, Kept] = field(default_factory=dict)
    ghosts: dict[str, Kept] = field(default_factory=dict)

    def take(self, moment: Moment) -> None:
        match moment:
            case Create(name):
                self.files[name] = Kept()
            case Write(name) | Truncate(name):
                self.files[name].pending.append(moment)
            case Sync(name):
                self.files[name].sync()
                if not self.files[name].is_entered:
                    self.sync_folder()
            case Delete(name, is_synced):
                self.ghosts[name] = self.files.pop(name)
                if is_synced:
                    self.sync_folder()
            case Acknowledged():
                pass

    def sync_folder(self) -> None:
        """SQLite syncs the folder with the first sync of a new journal or log."""
        self.ghosts.clear()
        for kept in self.files.values():
            kept.is_entered = True

    def left(self, chance: random.Random, care: Care) -> dict[str, bytes]:
        """The files that a cut leaves."""
        files: dict[str, bytes] = {}
        for name, ghost in self.ghosts.items():
            if chance.random() < 1 - SECTOR_SURVIVES[care]:
                files[name] = ghost.left(chance, care)
        for name, kept in self.files.items():
            if kept.is_entered or chance.random() < SECTOR_SURVIVES[care]:
                files[name] = kept.left(chance, care)
        return files


def image_at(
    begins: dict[str, bytes], moments: list[Moment], cut: int, chance: random.Random, care: Care
) -> dict[str, bytes]:
    """The files as a power cut right before moment `cut` may leave them."""
    disk = Disk({name: Kept(content, is_entered=True) for name, content in begins.items()})
    for moment in moments[:cut]:
        disk.take(moment)
    return disk.left(chance, care)
