"""Waiting for what others do: `Waiters` are those who wait until a store in memory changes, `whichever_first` waits for two
things at once.

Always holds: who waits is woken at the next change, or when its time is over. What is no longer awaited is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

First = TypeVar("First")
Second = TypeVar("Second")


class Waiters:
    """A future for each who waits for the next change."""

    def __init__(self) -> None:
        self.waiting: set[asyncio.Future[None]] = set()
        """Whoever changes something often looks here first, and calls `wake` only if somebody waits."""

    def wake(self) -> None:
        """Wake everybody who waits."""
        for waiting in self.waiting:
            if not waiting.done():  # It may have been cancelled.
                waiting.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Wait for the next change, at most so many seconds."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.add(waiting)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await waiting
        finally:
            self.waiting.discard(waiting)


async def whichever_first(
    first: Coroutine[Any, Any, First], second: Coroutine[Any, Any, Second]
) -> tuple[First | None, Second | None]:
    """Wait until one of two is done, and cancel the other. Returns what each returned, or None; raises what one raised."""
    ours = asyncio.ensure_future(first)
    theirs = asyncio.ensure_future(second)
    try:
        await asyncio.wait({ours, theirs}, return_when=asyncio.FIRST_COMPLETED)
        return ours.result() if ours.done() else None, theirs.result() if theirs.done() else None
    finally:
        ours.cancel()
        theirs.cancel()
        await asyncio.gather(ours, theirs, return_exceptions=True)
