"""Clocks and sources of ids: the machine's, and controlled ones for reproducible plays."""

from __future__ import annotations

import asyncio
import random
import secrets
from datetime import UTC, datetime, timedelta
from functools import partial

_FIRST_DAY = datetime(2000, 1, 1, tzinfo=UTC)


class SystemClock:
    """The machine's clock. `now` has no wrapper function around it, because every event calls it."""

    now = staticmethod(partial(datetime.now, UTC))
    sleep = staticmethod(asyncio.sleep)


class HandMovedClock:
    """A clock that is moved by hand."""

    def __init__(self, start: datetime = _FIRST_DAY) -> None:
        self._now = start
        self._sleepers: dict[asyncio.Event, datetime] = {}

    def now(self) -> datetime:
        """The time that the clock was moved to."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was moved this far."""
        awake = asyncio.Event()
        self._sleepers[awake] = self._now + timedelta(seconds=seconds)
        try:
            await awake.wait()
        finally:
            del self._sleepers[awake]

    def move(self, seconds: float) -> None:
        """Move the time, and wake those whose sleep has ended."""
        self._now += timedelta(seconds=seconds)
        for awake, until in self._sleepers.items():
            if until <= self._now:
                awake.set()


class RandomIds:
    """Ids that cannot be guessed."""

    def new(self) -> str:
        """A fresh id."""
        return secrets.token_hex(8)


class SeededIds:
    """The same ids in the same order for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def new(self) -> str:
        """The next id."""
        return f"{self._random.getrandbits(64):016x}"
