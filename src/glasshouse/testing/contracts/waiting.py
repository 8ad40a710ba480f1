"""Waiting in the checks of a contract: for what must come, and for what must not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar

T = TypeVar("T")

forever: Final = 600.0
"""Longer than a check waits: what waits so long must be woken."""
patience_seconds_max: Final = 120.0
"""What has not come after so many seconds never comes, also on a busy machine."""
turns_of_the_loop: Final = 50
"""After so many turns of the event loop, everything has run that can run by itself."""


async def soon(waiting: Awaitable[T]) -> T:
    """What is waited for, or a failed check if it never comes."""
    return await asyncio.wait_for(waiting, patience_seconds_max)


async def loop_turns() -> None:
    """Let everything run that can run by itself."""
    for _ in range(turns_of_the_loop):
        await asyncio.sleep(0)
