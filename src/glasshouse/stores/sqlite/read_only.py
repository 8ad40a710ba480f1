"""How a guest opens a store that it may not write: on a read-only disk, in a read-only folder, or of another user.

Theory of operation. A reader of a write-ahead log normally writes too: it makes the files `-wal` and `-shm`. SQLite reads
without making them in two cases. If there is no log, nobody writes, and the file can be opened as `immutable`. If there
is a log and its index `-shm`, both can be opened read-only, also while another process writes. A log without an index was
left by a crash or a copy; then file and log are copied, and the copy is read.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from urllib.parse import quote


def can_be_written(path: Path) -> bool:
    """Whether this process may write a store, or at least its inbox."""
    file = os.path.realpath(path)
    has_place = os.access(os.path.dirname(file), os.W_OK) or os.access(f"{file}-shm", os.W_OK)
    return has_place and os.access(file, os.W_OK)


class ReadOnlyStore:
    """A store that may only be read. `address` is what SQLite opens."""

    def __init__(self, path: Path) -> None:
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        file = os.path.realpath(path)
        if not os.path.exists(f"{file}-wal"):
            self.address = f"file:{quote(file)}?mode=ro&immutable=1"
        elif os.path.exists(f"{file}-shm"):
            self.address = f"file:{quote(file)}?mode=ro"
        else:
            self._copy = tempfile.TemporaryDirectory(prefix="glasshouse-")
            self.address = os.path.join(self._copy.name, "copy")
            for end in ("", "-wal"):
                shutil.copyfile(f"{file}{end}", f"{self.address}{end}")

    def close(self) -> None:
        """Remove the copy, if one was made."""
        if self._copy is not None:
            self._copy.cleanup()
