"""Ctrl-C, SIGTERM and SIGHUP: the first signal cancels the work, and the command ends after the clean-up.

Always holds: a second signal during the clean-up changes nothing.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_until_interrupted(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return the result of the work, or raise `KeyboardInterrupt` after the clean-up if a signal stopped it."""
    results: list[T] = []

    async def watched() -> None:
        task = asyncio.create_task(work())
        interrupts: list[int] = []

        def interrupt(number: int) -> None:
            interrupts.append(number)
            if len(interrupts) == 1:
                task.cancel()

        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, interrupt, number)
        try:
            results.append(await task)
        except asyncio.CancelledError:
            if not interrupts:
                raise

    asyncio.run(watched())
    if not results:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt
    return results[0]
