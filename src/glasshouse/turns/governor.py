"""Whether one more model call of a run may be made. Pure: limits and spend in, the limit that refuses it or none out.

Always holds: a call is let through only if even its worst case fits. What is spent never goes over a limit of calls or
tokens, and over a limit of money only where nobody knew the price before.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import msgspec

from glasshouse.events.limits import Governor
from glasshouse.events.usage import NOTHING, Usage

hour: Final = timedelta(hours=1)


class Spend(msgspec.Struct, frozen=True):
    """What a run has spent when it is asked."""

    started_at: datetime | None = None
    usage: Usage = NOTHING
    usd_in_last_hour: float = 0.0
    calls_in_turn: int = 0


def tripped_by_turn(limits: Governor, turns: int) -> str | None:
    """The axis that keeps a run from its next turn, if one does."""
    return "max_turns" if limits.max_turns is not None and turns >= limits.max_turns else None


def tripped_by_time(limits: Governor, spend: Spend, now: datetime) -> str | None:
    """The axis of wall time, if it is used up."""
    if limits.max_wall_minutes is None or spend.started_at is None:
        return None
    is_over = now - spend.started_at >= timedelta(minutes=limits.max_wall_minutes)
    return "max_wall_minutes" if is_over else None


def tripped_by_call(limits: Governor, spend: Spend, worst: Usage) -> str | None:
    """The axis that refuses what may cost this much at worst, if one does."""
    if _over(limits.max_calls_per_turn, spend.calls_in_turn + worst.calls):
        return "max_calls_per_turn"
    if _over(limits.max_total_calls, spend.usage.calls + worst.calls):
        return "max_total_calls"
    if _over(limits.max_total_tokens, spend.usage.tokens + worst.tokens):
        return "max_total_tokens"
    if _over(limits.hourly_budget_usd, spend.usd_in_last_hour + worst.usd_known):
        return "hourly_budget_usd"
    return None


def _over(limit: float | None, amount: float) -> bool:
    return limit is not None and amount > limit
