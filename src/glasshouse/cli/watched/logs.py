"""Logs on standard error, as text or JSON.

Always holds: a line says which exception was raised and where. It never has the text of the exception, which may quote a
key, a thought or a sealed value. `--log-level` is for our own lines; libraries are logged from `warning` on.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class LogFormatter(logging.Formatter):
    """Makes one line of each record."""

    def __init__(self, style: str) -> None:
        super().__init__()
        self._is_json = style == "json"

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        # The first line alone: what fails puts a traceback behind it.
        message = record.getMessage().partition("\n")[0]
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        facts: dict[str, Any] = {
            "time": moment,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
            **getattr(record, "fields", {}),
        }
        wrong = record.exc_info[1] if record.exc_info else getattr(record, "fault", None)
        if wrong is not None:
            facts |= {"error": type(wrong).__name__, "frames": _frames_of(wrong)}
        if self._is_json:
            return json.dumps(facts, ensure_ascii=True, default=str)
        first = [facts.pop(name) for name in ("time", "level", "logger", "message")]
        return " ".join([*first, *[f"{name}={value}" for name, value in facts.items()]])


def _frames_of(wrong: BaseException) -> list[str]:
    """Where an exception was raised: file, line and function, the innermost last."""
    frames = traceback.extract_tb(wrong.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]


def log_to_stderr(style: str, level: str) -> None:
    """Write logs to standard error in this style, ours from this level on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogFormatter(style))
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger("glasshouse").setLevel(level.upper())
