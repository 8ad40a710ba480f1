"""Where the store is: what `--store` says, else the settings. Settings that do not hold are told in words."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from glasshouse.errors import Refused
from glasshouse.settings import Settings, settings


def store_path(given: Path | None) -> Path:
    """The store that a command reads and writes."""
    return given if given is not None else sound_settings().store


def sound_settings() -> Settings:
    """The settings, or a refusal that names the variable at fault."""
    try:
        return settings()
    except ValidationError as wrong:
        faults = "; ".join(f"{_variable(fault['loc'])}: {fault['msg']}" for fault in wrong.errors())
        raise Refused(f"The settings do not hold: {faults}.", "Mend or unset the variable.") from wrong


def _variable(at: tuple[int | str, ...]) -> str:
    return "GLASSHOUSE_" + "_".join(map(str, at)).upper()


def holder_of(store: Path) -> int | None:
    """The process that runs a store now, if one does.

    The lock is only tried when the process that it names is alive, so that nobody who is about to take it meets us there.
    """
    lock = Path(f"{os.path.realpath(store)}.lock")
    try:
        number = int(lock.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return number if _is_alive(number) and _is_held(lock) else None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True  # It is another user's.
    except (OSError, OverflowError):
        return False
    return True


def _is_held(lock: Path) -> bool:
    with suppress(OSError), lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
