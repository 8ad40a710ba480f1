"""The file of the write-ahead log, which is made longer before SQLite needs it (ADR 0067).

Theory of operation. A commit that makes the log longer also changes the length in the file system, and the sync must
write both. If the log is long enough already, the sync writes the new pages alone, which takes about half the time. So
whenever SQLite has made the log longer, zeros are added behind it. SQLite stops reading a log at the first frame whose
checksum is wrong, and zeros are no valid frame.

Always holds: the file is changed only while the caller holds SQLite's write lock, so no other process writes frames
where the zeros go. That the log is long enough is never necessary: if it cannot be made longer, nothing fails.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

first_growth_bytes: Final = 256 * 1024
growth_bytes_max: Final = 4 * 1024 * 1024
free_bytes_min: Final = 64 * 1024 * 1024
"""On a disk with less room than this, the log grows only as far as it must."""


class LogFile:
    """The write-ahead log of one store."""

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
                more = min(max(size, first_growth_bytes), growth_bytes_max)
                with open(self._path, "r+b") as file:
                    file.seek(size)
                    file.write(bytes(more))
                self._bytes = size + more
