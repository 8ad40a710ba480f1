"""The lock file beside a store, which allows one writer at a time (ADR 0017).

Always holds: the operating system releases the lock when the process that holds it ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from glasshouse.errors import StoreBusy, StoreFailed


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
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise StoreBusy(
                f"{self._store_path} is being written by process {holder}. Stop it first, or choose another --store;"
                " to read only, open the store as a guest."
            ) from taken
        self._descriptor = descriptor
        # The process number is only for the message above. On a full disk, SQLite reports the problem itself.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
