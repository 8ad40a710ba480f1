"""One writer at a time: a lock file beside the store, which the operating system releases when its holder ends."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from glasshouse.errors import StoreBusy, StoreFailed


class WriterLock:
    """Held from opening to closing by the one terrarium that may write."""

    def __init__(self, store_path: Path) -> None:
        # Of a file with several names, by symbolic links, all must meet at one lock.
        self._store_path = Path(os.path.realpath(store_path))
        self._lock_path = self._store_path.parent / f"{self._store_path.name}.lock"
        self._descriptor: int | None = None

    def take(self) -> None:
        """Take the lock, or say who has it."""
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
        # Naming the holder is a courtesy; on a full disk SQLite itself says what is wrong.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let the next one in."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
