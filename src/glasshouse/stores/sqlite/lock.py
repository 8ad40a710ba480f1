"""The lock beside a store, which allows one writer at a time (ADR 0017, ADR 0099).

A writer locks two files: the lock file, which names it, and the write-ahead log, which nobody may remove while it writes. So a
second writer is refused also if somebody has removed the lock file.

Always holds: the operating system releases the lock when the process that holds it ends, however it ends. A forked child does
not hold the lock of its parent. Whether a store is held is asked of the lock alone: the process that it names may be in another
container, where it has another number.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Final, NamedTuple
from weakref import WeakSet

from glasshouse.errors import StoreBusy, StoreFailed

lock_bytes_max: Final = 1_024
"""How much of a lock file is read: a number and an address."""
lock_tries_max: Final = 100
"""How often a writer tries to take a lock that others only look at. Each look takes microseconds."""
lock_pause_seconds: Final = 0.001

_held: WeakSet[WriterLock] = WeakSet()
"""The locks that this process holds."""


class WriterLock:
    """The lock that the one writing terrarium holds from opening to closing."""

    def __init__(self, store_path: Path) -> None:
        # A file may have several names by symbolic links. All names must lead to the same lock.
        self._store_path = Path(os.path.realpath(store_path))
        self._descriptors: list[int] = []
        """The lock file, then the write-ahead log."""

    def take(self) -> None:
        """Take the lock file. Raises `StoreBusy` with the process that holds it."""
        path = _lock_file(self._store_path)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as wrong:
            make = "Make the folder writable" if path.parent.is_dir() else "Make the folder first"
            raise StoreFailed(
                f"{path} cannot be written ({wrong.strerror}). {make}, or choose another --store."
            ) from wrong
        if not self._lock(descriptor):
            holder = _named_in(path)
            shown = f", which shows it at {holder.address}" if holder.address else ""
            raise self._busy(f"process {holder.process or 'unknown'}{shown}")
        self.announce("")

    def take_log(self) -> None:
        """Lock the write-ahead log too, once SQLite has opened it. Raises `StoreBusy` if another writer holds it, whose
        lock file must have been removed."""
        try:
            descriptor = os.open(_log_file(self._store_path), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # Without it the lock file alone must do.
            return
        if not self._lock(descriptor):
            raise self._busy("another process, whose lock file was removed")

    def _lock(self, descriptor: int) -> bool:
        """Lock an open file, and keep it open. False if a writer has locked it."""
        try:
            is_locked = _is_locked_now(descriptor)
        except OSError as wrong:
            os.close(descriptor)
            raise StoreFailed(
                f"{self._store_path} cannot be locked ({wrong.strerror}). Choose a --store on a local disk."
            ) from wrong
        if is_locked:
            self._descriptors.append(descriptor)
            _held.add(self)
        else:
            os.close(descriptor)
        return is_locked

    def _busy(self, writer: str) -> StoreBusy:
        return StoreBusy(
            f"{self._store_path} is being written by {writer}. Stop it first, or choose another --store;"
            " to read only, open the store as a guest."
        )

    def announce(self, address: str) -> None:
        """Note in the lock which process holds it, and where it shows the store."""
        # This is only for messages. On a full disk, SQLite reports the problem itself.
        if self._descriptors:
            with suppress(OSError):
                os.ftruncate(self._descriptors[0], 0)
                os.pwrite(self._descriptors[0], f"{os.getpid()}\n{address}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock, if it is held."""
        _held.discard(self)
        while self._descriptors:
            os.close(self._descriptors.pop())


def _release_in_child() -> None:
    # A lock lasts until every copy of its descriptor is closed, and a child has copies.
    for lock in tuple(_held):
        lock.release()


os.register_at_fork(after_in_child=_release_in_child)


class Holder(NamedTuple):
    """The process that has a store open, if its number is known, and the address at which it shows the store, if it does."""

    process: int | None = None
    address: str = ""

    @property
    def words(self) -> str:
        """The process and its address, to begin a sentence with."""
        process = "Another process" if self.process is None else f"Process {self.process}"
        return f"{process} ({self.address})" if self.address else process


def holder_of(store: Path) -> Holder | None:
    """Who has a store open now, if somebody does."""
    path = Path(os.path.realpath(store))
    if _is_locked_by_a_writer(_lock_file(path)):
        return _named_in(_lock_file(path))
    return Holder() if _is_locked_by_a_writer(_log_file(path)) else None


def _lock_file(store: Path) -> Path:
    return store.with_name(f"{store.name}.lock")


def _log_file(store: Path) -> Path:
    return store.with_name(f"{store.name}-wal")


def _named_in(lock_file: Path) -> Holder:
    """The process and the address that a lock file names."""
    try:
        with lock_file.open("rb") as file:
            words = file.read(lock_bytes_max).decode(errors="replace").split()
    except OSError:
        return Holder()
    number, *address = words or [""]
    return Holder(int(number) if number.isdecimal() else None, *address[:1])


def _is_locked_now(descriptor: int) -> bool:
    """Lock an open file as a writer does. False if another writer has locked it."""
    for _ in range(lock_tries_max):
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        # Those who only ask share it. In a moment they have looked.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        sleep(lock_pause_seconds)
    return False


def _is_locked_by_a_writer(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
