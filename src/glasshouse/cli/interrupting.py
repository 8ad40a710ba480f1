"""Ctrl-C, and being told to end: the work is cancelled once, cleans up undisturbed, and only then the command ends.

Always holds: pressing Ctrl-C again while the store is closed changes nothing.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_to_its_end(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What the work gives; `KeyboardInterrupt` if somebody stopped it, once everything is closed."""
    outcome: list[T] = []
    asyncio.run(_watched(work, outcome))
    if not outcome:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt
    return outcome[0]


async def _watched(work: Callable[[], Coroutine[Any, Any, T]], outcome: list[T]) -> None:
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
        outcome.append(await task)
    except asyncio.CancelledError:
        if not interrupts:
            raise
