"""The lock file beside a store, which allows one writer at a time (ADR 0017).

Always holds: the operating system releases the lock when the process that holds it ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from glasshouse.errors import StoreBusy, StoreFailed

lock_bytes_max: Final = 1_024
"""How much of a lock file is read: a number and an address."""


class WriterLock:
    """The lock that the one writing terrarium holds from opening to closing."""

    def __init__(self, store_path: Path) -> None:
        # A file may have several names by symbolic links. All names must lead to the same lock.
        self._store_path = Path(os.path.realpath(store_path))
        self._lock_path = self._store_path.parent / f"{self._store_path.name}.lock"
        self._descriptor: int | None = None

    def take(self) -> None:
        """Take the lock. Raises `StoreBusy` with the process that holds it."""
        try:
            descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as wrong:
            make = "Make the folder writable" if self._lock_path.parent.is_dir() else "Make the folder first"
            raise StoreFailed(
                f"{self._lock_path} cannot be written ({wrong.strerror}). {make}, or choose another --store."
            ) from wrong
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            process, *address = os.read(descriptor, lock_bytes_max).decode(errors="replace").split() or [
                "unknown"
            ]
            os.close(descriptor)
            shown = f", which shows it at {address[0]}" if address else ""
            raise StoreBusy(
                f"{self._store_path} is being written by process {process}{shown}. Stop it first, or choose another --store;"
                " to read only, open the store as a guest."
            ) from taken
        self._descriptor = descriptor
        self.announce("")

    def announce(self, address: str) -> None:
        """Note in the lock which process holds it, and where it shows the store."""
        # This is only for messages. On a full disk, SQLite reports the problem itself.
        if self._descriptor is not None:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
                os.pwrite(self._descriptor, f"{os.getpid()}\n{address}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Holder(NamedTuple):
    """The process that has a store open, and the address at which it shows it, if it does."""

    process: int
    address: str = ""


def holder_of(store: Path) -> Holder | None:
    """Who has a store open now, if somebody does.

    The lock is tried only if the process that it names is alive. Otherwise this brief lock could make a process that is
    just opening the store fail.
    """
    lock = Path(f"{os.path.realpath(store)}.lock")
    try:
        process, *address = lock.read_text(encoding="utf-8").split()
        with suppress(PermissionError):  # It is alive and belongs to another user.
            os.kill(int(process), 0)
    except (OSError, ValueError, OverflowError):
        return None
    with suppress(OSError), lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return Holder(int(process), *address[:1])
    return None
