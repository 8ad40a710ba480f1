"""Ctrl-C, SIGTERM and SIGHUP: the first signal cancels the work, and the command ends after the clean-up.

Always holds: a second signal during the clean-up changes nothing.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from glasshouse.runtime import event_loop

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

    try:
        event_loop.run(watched())
    finally:
        # asyncio's loop does this when it is closed. libuv's keeps its handlers, which then do nothing.
        for number in SIGNALS:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    if not results:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt
    return results[0]
