"""`Governor`: the limits of a run, as `run.started` records them and the rules of turns use them."""

from __future__ import annotations

import msgspec


class Governor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of a run. None means no limit."""

    max_turns: int | None = 100
    max_calls_per_turn: int | None = 8
    max_total_calls: int | None = 500
    max_total_tokens: int | None = None
    hourly_budget_usd: float | None = None
    max_wall_minutes: float | None = None
