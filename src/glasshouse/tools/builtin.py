"""The built-in tools that worlds can grant: a calculator, a calendar, an almanac.

Always holds: they use no network and no clock, and give the same answer on every machine.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final

from glasshouse.tools.arithmetic import worked_out
from glasshouse.tools.function import Tool, tool
from glasshouse.tools.sky import day_minutes, moon_lit_percent, moon_phase

_DAY: Final = "a date such as 2026-03-01"


@tool
def calculator(expression: Annotated[str, "such as (3 + 4) * 2 / 5"]) -> str:
    """Work out an arithmetic expression, exactly."""
    return worked_out(expression)


@tool
def calendar(day: Annotated[str, _DAY], until: Annotated[str, "another date to count to"] = "") -> str:
    """Tell the weekday of a date, and how many days it is from there to another date."""
    first = _date(day)
    weekday = f"{first.isoformat()} is a {_WEEKDAYS[first.weekday()]}."
    if not until:
        return weekday
    last = _date(until)
    days = (last - first).days
    distance = f"{abs(days):,} day{'s'[: abs(days) != 1]} {'after' if days >= 0 else 'before'}"
    return f"{weekday} {last.isoformat()} is a {_WEEKDAYS[last.weekday()]}, {distance} that."


@tool
def almanac(
    day: Annotated[str, _DAY], latitude: Annotated[float, "degrees north; south is negative"] = 50.0
) -> dict[str, Any]:
    """Tell the phase of the moon on a date, and how long the day is at a latitude."""
    when = _date(day)
    if not -90 <= latitude <= 90:
        raise ValueError("A latitude is from -90 to 90 degrees.")
    hours, minutes = divmod(day_minutes(when, latitude), 60)
    return {
        "day": when.isoformat(),
        "moon": moon_phase(when),
        "moon_lit_percent": moon_lit_percent(when),
        "day_length": f"{hours} h {minutes:02d} min",
    }


BUILT_IN: Final[tuple[Tool[..., Any], ...]] = (calculator, calendar, almanac)

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError as wrong:
        raise ValueError(f"{text!r} is no date. Write it as 2026-03-01.") from wrong
