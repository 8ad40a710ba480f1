"""A measured figure and its bound, and the profile that shows why a bound is missed."""

from __future__ import annotations

import cProfile
import io
import operator
import pstats
from collections.abc import Callable, Coroutine, Iterable
from statistics import median
from typing import Any, Literal

import msgspec

from glasshouse.runtime import event_loop

functions_shown = 25

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "≤": operator.le,
    "≥": operator.ge,
    "<": operator.lt,
}


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the table."""

    name: str
    value: float
    unit: str
    bound: str
    """Empty for a figure that has none."""
    ok: bool
    profile: str = ""
    """Where the time went, for a bound that is missed."""


def judged(
    name: str,
    value: float,
    unit: str,
    comparison: Literal["≤", "≥", "<"],
    limit: float,
    note: str = "",
    profile: Callable[[], str] | None = None,
) -> Result:
    """A figure against its limit. With `profile`, a missed bound is measured once more to see why."""
    bound = f"{comparison} {limit:g}{f' ({note})' if note else ''}"
    is_held = _COMPARISONS[comparison](value, limit)
    why = "" if is_held or profile is None else profile()
    return Result(name, round(value, 4), unit, bound, is_held, why)


def figure(name: str, value: float, unit: str) -> Result:
    """A figure that nothing is demanded of: it is printed, so that two versions can be compared."""
    return Result(name, round(value, 4), unit, bound="", ok=True)


def profiled(measured: Coroutine[Any, Any, object]) -> str:
    """The functions of one measurement that took most time themselves. On the event loop's thread only."""
    profile = cProfile.Profile()
    with profile:
        event_loop.run(measured)
    table = io.StringIO()
    pstats.Stats(profile, stream=table).strip_dirs().sort_stats("tottime").print_stats(functions_shown)
    return table.getvalue()


def middle(values: Iterable[float]) -> float:
    """The median."""
    return median(values)


def percentile(values: Iterable[float], part: float) -> float:
    """The value that this part of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
