"""A measured figure and its bound."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from statistics import median
from typing import Literal

import msgspec

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "≤": operator.le,
    "≥": operator.ge,
    "<": operator.lt,
}


class Result(msgspec.Struct, frozen=True):
    """One line of the table."""

    name: str
    value: float
    unit: str
    bound: str
    ok: bool


def judged(
    name: str, value: float, unit: str, comparison: Literal["≤", "≥", "<"], limit: float, note: str = ""
) -> Result:
    """A figure against its limit."""
    bound = f"{comparison} {limit:g}{f' ({note})' if note else ''}"
    return Result(name, round(value, 4), unit, bound, _COMPARISONS[comparison](value, limit))


def middle(values: Iterable[float]) -> float:
    """The median."""
    return median(values)


def percentile(values: Iterable[float], part: float) -> float:
    """The value that this part of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
