"""Days and what is known of them: dates in what was said, what was looked up for each, and which kind of night is wanted.

Always holds: what is known of a day is what somebody said of it in fields beside a text; nothing is reckoned here.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any, Final, Literal, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.reading import Heard, Reading

BOOK: Final = "oracle.txt"
days_looked_at_max: Final = 62
"""A longer time between two dates is looked at no further."""

Wanted = Literal["bright", "dark"]

_ISO: Final = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_DEGREES: Final = re.compile(r"(-?\d{1,2}(?:\.\d+)?) degrees (north|south)")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


class Known(NamedTuple):
    """What was looked up for a day, and the line that says so."""

    day: date
    lit: float
    line: Heard

    @property
    def phase(self) -> str:
        """What the moon is called on it; empty if the line does not say it."""
        lower = self.line.text.lower()
        return next((phase for phase in shelf.sections(BOOK)["phases"] if phase in lower), "")


def day_in(value: Any) -> date | None:
    """The first date in a text."""
    for written in _ISO.findall(value) if isinstance(value, str) else ():
        try:
            return date.fromisoformat(written)
        except ValueError:
            continue
    return None


def day_called(day: date) -> str:
    """A day as one says it."""
    return f"{day.day} {_MONTHS[day.month - 1]}"


def day_of(line: Heard) -> date | None:
    """The day that a line is about: in one of its fields, else in its text."""
    fields = (day_in(value) for value in line.fields.values())
    return next((day for day in fields if day is not None), None) or day_in(line.text)


def known_days(reading: Reading) -> list[Known]:
    """What was looked up, oldest first; of a day that was looked up twice, the newest."""
    known: dict[date, Known] = {}
    for line in (*reading.remembered, *reading.discussion):
        values = (value for value in line.fields.values() if not isinstance(value, bool))
        numbers = [value for value in values if isinstance(value, int | float)]
        day = day_of(line) if numbers and line.origin == "cast" else None
        if day is not None:
            known[day] = Known(day, float(numbers[0]), line)
    return list(known.values())


def days_open(reading: Reading) -> list[date]:
    """The days between the two that the world named; a later date that it names is the last."""
    lines = [*reading.remembered, *reading.discussion]
    texts = [line.text for line in lines if line.origin == "world"] or [reading.scene]
    dates = [day for text in texts for written in _ISO.findall(text) if (day := day_in(written)) is not None]
    if len(dates) < 2:
        return []
    first = dates[0]
    last = min(dates[1], dates[-1])
    return [first + timedelta(days=at) for at in range(min(days_looked_at_max, (last - first).days + 1))]


def wanted_by(*texts: str) -> Wanted | None:
    """Which kind of night the first of some texts wants that wants any."""
    cues = shelf.sections(BOOK)
    for text in texts:
        lower = text.lower()
        last = {
            kind: max((lower.rfind(cue) for cue in cues[kind]), default=-1) for kind in ("bright", "dark")
        }
        if max(last.values()) >= 0:
            return "bright" if last["bright"] > last["dark"] else "dark"
    return None


def latitude_in(reading: Reading) -> float | None:
    """How far north it is here, as far as the world or my own manifest says."""
    for text in (reading.told_text, reading.me.goal):
        match = _DEGREES.search(text.lower())
        if match:
            return float(match[1]) * (-1 if match[2] == "south" else 1)
    return None
