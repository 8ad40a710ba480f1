"""Reservations: how calls that run side by side keep within one purse.

Always holds: a call reserves its worst case before it runs and holds its true cost until the event that tells of it
is in the ledger; so calls side by side never go over a limit together. A call that would fit but for calls still open
waits for them. It waits for nothing else, and those wait for nobody, so there is no way for two to wait for each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from glasshouse.errors import BudgetExceeded
from glasshouse.runtime.folding import Folded
from glasshouse.runtime.ports import Clock
from glasshouse.turns.governor import Cost, Governor, Spend, tripped_by_call, tripped_by_time
from glasshouse.turns.runs import Purse


class Reservation:
    """What one act holds of its run's purse."""

    def __init__(self, run_id: str, graph_id: str) -> None:
        self.run_id = run_id
        self.graph_id = graph_id
        self.done = Cost()
        """Spent, and not yet told in the ledger."""
        self.open: Cost | None = None
        """The worst case of the call that is running."""


class Treasury:
    """Keeps the reservations of every act that is under way."""

    def __init__(self, folded: Callable[[], Folded], clock: Clock) -> None:
        self._folded = folded
        self._clock = clock
        self._held: list[Reservation] = []
        self._moved = asyncio.Event()

    def begin(self, run_id: str, graph_id: str) -> Reservation:
        """An act begins to draw on a purse."""
        reservation = Reservation(run_id, graph_id)
        self._held.append(reservation)
        return reservation

    async def reserve(self, mine: Reservation, worst: Cost) -> None:
        """Set aside what a call may cost at worst; `BudgetExceeded` if that does not fit whatever the others cost."""
        while True:
            axis = self._axis(mine, worst, with_open=False)
            if axis is not None:
                raise BudgetExceeded(axis)
            if len(self._held) == 1 or self._axis(mine, worst, with_open=True) is None:
                mine.open = worst
                return
            self._moved.clear()
            await self._moved.wait()

    def settle(self, mine: Reservation, cost: Cost) -> None:
        """A call has ended and cost this much."""
        mine.open = None
        mine.done = mine.done.plus(cost)
        self._moved.set()

    def release(self, mine: Reservation) -> None:
        """What the act cost is in the ledger now, or it cost nothing."""
        if mine in self._held:
            self._held.remove(mine)
        self._moved.set()

    def _axis(self, mine: Reservation, worst: Cost, *, with_open: bool) -> str | None:
        purse: Purse | None = self._folded().runs.purses.get(mine.run_id)
        limits = Governor() if purse is None else purse.limits
        now = self._clock.now()
        spend = Spend() if purse is None else self._folded().runs.spend(mine.run_id, mine.graph_id, now)
        held, calls_in_turn = Cost(), spend.calls_in_turn
        for other in self._held:
            if other.run_id == mine.run_id:
                is_open = with_open and other is not mine and other.open is not None
                cost = other.done.plus(other.open) if is_open and other.open is not None else other.done
                held = held.plus(cost)
                calls_in_turn += cost.calls if other.graph_id == mine.graph_id else 0
        spent = Spend(
            started_at=spend.started_at,
            calls=spend.calls + held.calls,
            tokens=spend.tokens + held.tokens,
            usd_in_last_hour=spend.usd_in_last_hour + held.usd,
            calls_in_turn=calls_in_turn,
        )
        return tripped_by_time(limits, spent, now) or tripped_by_call(limits, spent, worst)
