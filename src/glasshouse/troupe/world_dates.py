"""Dates in sight: days that a world's texts name, as the calendar has them.

Always holds: read from the prompt alone; a day that does not exist is none.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from glasshouse.troupe.reading import Reading

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ISO: Final = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_WRITTEN: Final = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)? ({'|'.join(_MONTHS)})(?: (\d{{4}}))?\b", re.IGNORECASE
)
year_assumed: Final = 2000
"""For a day that is written without its year."""


def date_in_sight(reading: Reading) -> date | None:
    """The newest day that can be seen."""
    texts = (*(line.text for line in reversed(reading.discussion)), reading.scene, reading.me.goal)
    return next((day for text in texts if (day := date_in(text)) is not None), None)


def date_in(text: str) -> date | None:
    """The first day that a text names."""
    iso = _ISO.search(text)
    if iso:
        return _date(int(iso[1]), int(iso[2]), int(iso[3]))
    written = _WRITTEN.search(text)
    if written is None:
        return None
    return _date(int(written[3] or year_assumed), _MONTHS.index(written[2].lower()) + 1, int(written[1]))


def date_written(day: date) -> str:
    """A day as one writes it: `14 March 1871`."""
    return f"{day.day} {_MONTHS[day.month - 1].capitalize()} {day.year}"


def with_dates_written(text: str) -> str:
    """A text with its dates as one writes them."""

    def written(match: re.Match[str]) -> str:
        day = date_in(match[0])
        return match[0] if day is None else date_written(day)

    return _ISO.sub(written, text)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
