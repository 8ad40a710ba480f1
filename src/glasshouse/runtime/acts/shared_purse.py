"""`SharedPurse`: one limit in dollars over the runs of many terrariums, such as those of a grid.

Always holds: a call reserves its worst case here before it is made, so what all runs record together never exceeds the limit.
A call that finds no room waits: no run ends and none pauses because of this purse. If nobody who holds money is left to
wait for, the purse is exhausted, and whoever plays the runs stops them (ADR 0142).
"""

from __future__ import annotations

import asyncio
from typing import Final

usd_margin: Final = 1e-9
"""How far the sums may be off because of rounding: less than any call costs. The limit is held by this much less."""


class SharedPurse:
    """What may be spent in all, what was spent, and what is set aside for calls under way."""

    def __init__(self, usd_max: float, spent_usd: float = 0.0) -> None:
        self.usd_max = usd_max
        self.spent_usd = spent_usd
        self.open_usd = 0.0
        self.open_calls = 0
        self.exhausted = asyncio.Event()
        """Set when a call waits for money that no open call can give back."""
        self._moved = asyncio.Event()

    def allow(self, usd: float) -> None:
        """Raise the limit by so much."""
        self.usd_max += usd
        self.exhausted.clear()
        self._wake()

    async def reserve(self, usd: float) -> None:
        """Set the worst case of a call aside; wait as long as there is no room for it. A call without a price needs none."""
        if not usd:
            return  # It costs nothing, whatever happens.
        while self.spent_usd + self.open_usd + usd > self.usd_max - usd_margin:
            if not self.open_calls:
                self.exhausted.set()
            await self._moved.wait()
        self.open_usd += usd
        self.open_calls += 1

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """Replace what was set aside for a call by its cost."""
        self.spent_usd += cost_usd
        if reserved_usd:
            self.open_calls -= 1
            # With no call open, what rounding has left over is dropped.
            self.open_usd = self.open_usd - reserved_usd if self.open_calls else 0.0
            self._wake()

    def _wake(self) -> None:
        """Let everybody who waits look again."""
        self._moved.set()
        self._moved = asyncio.Event()
