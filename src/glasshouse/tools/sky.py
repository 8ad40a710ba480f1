"""Sun and moon: the length of a day and the phase of the moon, computed from their mean motions.

Always holds: the same date gives the same answer on every machine. Day lengths are correct to a few minutes, phases
to the day in universal time.
"""

from __future__ import annotations

from datetime import date
from math import acos, asin, cos, degrees, radians, sin
from typing import Final

_EPOCH: Final = date(2000, 1, 1)
_HORIZON_DEGREES: Final = -0.833
"""The altitude of the sun's centre when its upper edge touches the horizon, including refraction."""
_QUARTERS: Final = ("new moon", "first quarter", "full moon", "last quarter")
_BETWEEN: Final = ("waxing crescent", "waxing gibbous", "waning gibbous", "waning crescent")


def days_since_epoch(day: date, hours: float) -> float:
    """Days since noon on 1 January 2000, in universal time."""
    return (day - _EPOCH).days + hours / 24 - 0.5


def moon_elongation(days: float) -> float:
    """How far the moon is ahead of the sun, in degrees from 0 to 360."""
    ahead = 297.8501921 + 12.19074911440 * days
    sun = radians((357.5291092 + 0.98560028169 * days) % 360)
    moon = radians((134.9633964 + 13.06499295363 * days) % 360)
    double = radians(ahead % 360)
    uneven = (
        6.289 * sin(moon)
        - 2.100 * sin(sun)
        + 1.274 * sin(2 * double - moon)
        + 0.658 * sin(2 * double)
        + 0.214 * sin(2 * moon)
        + 0.110 * sin(double)
    )
    return (ahead + uneven) % 360


def moon_phase(day: date) -> str:
    """The name of the moon's phase: a quarter if it falls on that day in universal time, else the phase between two."""
    first, last = (moon_elongation(days_since_epoch(day, hours)) for hours in (0, 24))
    if last < first:
        return _QUARTERS[0]
    before = int(first // 90)
    after = int(last // 90)
    return _QUARTERS[after] if after != before else _BETWEEN[before]


def moon_lit_percent(day: date) -> int:
    """How much of the moon is lit at noon."""
    return round(50 * (1 - cos(radians(moon_elongation(days_since_epoch(day, 12))))))


def day_minutes(day: date, latitude: float) -> int:
    """How long the sun is up on a day, in minutes: 0 in polar night, 1440 in polar day."""
    days = days_since_epoch(day, 12)
    mean = radians((357.529 + 0.98560028 * days) % 360)
    along = radians((280.459 + 0.98564736 * days + 1.915 * sin(mean) + 0.020 * sin(2 * mean)) % 360)
    declination = asin(sin(radians(23.439 - 0.00000036 * days)) * sin(along))
    parallel = radians(max(-89.9, min(89.9, latitude)))
    height = sin(radians(_HORIZON_DEGREES)) - sin(parallel) * sin(declination)
    share = height / (cos(parallel) * cos(declination))
    if share >= 1:
        return 0
    return 1_440 if share <= -1 else round(degrees(acos(share)) * 8)
