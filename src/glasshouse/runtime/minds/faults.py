"""What is said about an exception from foreign code: its text, and where it was raised.

Always holds: it never raises, whatever the exception does.
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Final

from glasshouse.events.payloads import Fault
from glasshouse.turns.moment.line_text import cut, one_line

fault_chars_max: Final = 300
"""The message about an error in code beside a world is cut here."""
failure_chars_max: Final = 500
"""The reason in `agent.failed`, and that of a failed model call, is cut here."""


class RecordedFailure(Exception):
    """The failure of an act that a replay takes from the record."""

    def __init__(self, reason: str, fault: Fault | None = None, rule: str | None = None) -> None:
        super().__init__(reason)
        self.fault = fault
        self.rule = rule


def text_of_fault(wrong: BaseException) -> str:
    """The text of an exception; empty if its `__str__` raises."""
    try:
        return str(wrong)
    except Exception:  # Foreign code may raise anything in `__str__`, and the failure must still be recorded.
        return ""


def fault_in_words(wrong: BaseException) -> str:
    """The name and the text of an exception, short and on one line."""
    name = type(wrong).__name__
    text = one_line(text_of_fault(wrong))
    return cut(f"{name}: {text}" if text else name, fault_chars_max)


def failure_of(wrong: BaseException) -> str:
    """Why an act or a model call failed, as the ledger records it."""
    text = text_of_fault(wrong) or type(wrong).__name__
    is_ours = type(wrong).__module__.startswith("glasshouse.")
    failure = (text if is_ours else f"{type(wrong).__name__}: {text}")[:failure_chars_max]
    return failure.encode("utf-8", "replace").decode()


def traceback_of(wrong: BaseException) -> str:
    """The traceback of an exception, for a log: whatever text is in it can be written in UTF-8."""
    return "".join(traceback.format_exception(wrong)).encode("utf-8", "backslashreplace").decode()


_OURS: Final = str(Path(__file__).parents[2])
_PYTHONS: Final = str(Path(os.__file__).parent)


def fault_of(wrong: BaseException) -> Fault | None:
    """Where a program's own code raised an exception, or called what raised it; None if only Glasshouse was running.

    Files of Python and of installed packages are passed over, and folders are left out: both differ between machines,
    while the ledger of a run must not.
    """
    if isinstance(wrong, RecordedFailure) and wrong.fault is not None:
        return wrong.fault  # A replay: the place is on record.
    for frame in reversed(traceback.extract_tb(wrong.__traceback__)):
        if (
            not frame.filename.startswith((_OURS, _PYTHONS, "<frozen"))
            and "site-packages" not in frame.filename
        ):
            return Fault(type(wrong).__name__, Path(frame.filename).name, frame.lineno or 0)
    return None
