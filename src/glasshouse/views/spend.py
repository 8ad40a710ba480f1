"""Spend: what models were asked and what it cost, by creature, by model and by run.

Always holds: an attempt that reached no model is counted and free; a call whose price nobody knows makes the sum
unknown, never lower. Only a director's events tell anything here: all others come without their model's side.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from glasshouse.events.event import Event
from glasshouse.events.model_use import Call


class Spend(msgspec.Struct):
    """One sum."""

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


class SpendProjection(msgspec.Struct):
    """All sums after some events, by id of creature and run and by name of model. What is of no run is in `total` alone."""

    version: ClassVar[int] = 1

    total: Spend = msgspec.field(default_factory=Spend)
    by_creature: dict[str, Spend] = {}
    by_model: dict[str, Spend] = {}
    by_run: dict[str, Spend] = {}

    def apply(self, event: Event) -> None:
        """Take the next event in."""
        for call in event.calls:
            self.total.add(call)
            _of(self.by_creature, event.actor).add(call)
            _of(self.by_model, call.model).add(call)
            if event.run_id is not None:
                _of(self.by_run, event.run_id).add(call)


def spend_of(events: Iterable[Event]) -> SpendProjection:
    """What these events cost."""
    spend = SpendProjection()
    for event in events:
        spend.apply(event)
    return spend


def _of(sums: dict[str, Spend], name: str) -> Spend:
    found = sums.get(name)
    if found is None:
        found = sums[name] = Spend()
    return found
