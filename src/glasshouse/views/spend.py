"""Spend: how often models were asked, and what it cost.

Always holds: an attempt that reached no model is counted and free; a call whose price nobody knows makes the sum
unknown, never lower. Only a director's events tell anything here: all others come without their model's side.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from glasshouse.events.event import Event
from glasshouse.events.model_use import Call


class Spend(msgspec.Struct):
    """A sum over calls."""

    attempts: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    milliseconds: float = 0.0
    usd_known: float = 0.0
    """What the priced calls cost."""
    unpriced_calls: int = 0

    @property
    def tokens(self) -> int:
        """Both ways."""
        return self.input_tokens + self.output_tokens

    @property
    def usd(self) -> float | None:
        """The whole price; none as soon as one call's price is unknown."""
        return None if self.unpriced_calls else self.usd_known

    def add(self, call: Call) -> None:
        """Count one call."""
        self.attempts += 1
        self.milliseconds += call.milliseconds
        if not call.reached:
            return
        self.calls += 1
        self.input_tokens += call.usage.input
        self.output_tokens += call.usage.output
        if call.usd is None:
            self.unpriced_calls += 1
        else:
            self.usd_known += call.usd


def spend_of(events: Iterable[Event]) -> Spend:
    """What these events cost."""
    spend = Spend()
    for event in events:
        for call in event.calls:
            spend.add(call)
    return spend
