"""The store's file: which one a command means, and which process plays it now."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from glasshouse.errors import Refused
from glasshouse.settings import Settings, settings


def store_path(given: Path | None) -> Path:
    """The store that a command reads and writes: what `--store` says, else the settings."""
    return given if given is not None else checked_settings().store


def checked_settings() -> Settings:
    """The settings, or a refusal that names the variable at fault."""
    try:
        return settings()
    except ValidationError as invalid:
        faults = "; ".join(
            f"GLASSHOUSE_{'_'.join(map(str, fault['loc'])).upper()}: {fault['msg']}"
            for fault in invalid.errors()
        )
        raise Refused(f"The settings are invalid: {faults}.", "Correct or unset the variable.") from invalid


def holder_of(store: Path) -> int | None:
    """The process that plays a store now, if one does.

    The lock is tried only when the process that it names is alive: a process that is about to take it must not meet us there.
    """
    lock = Path(f"{os.path.realpath(store)}.lock")
    try:
        process = int(lock.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    try:
        os.kill(process, 0)
    except PermissionError:
        pass  # It is alive, and another user's.
    except (OSError, OverflowError):
        return None
    with suppress(OSError), lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return process
    return None
