"""The event loop where the product itself starts one: in the command line and in `play()`.

Always holds: nothing depends on which loop runs. A program that awaits a terrarium runs it on the loop of its own choice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine like `asyncio.run`, on the loop of libuv if it is installed (ADR 0097)."""
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(work)


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # There is none for Windows.
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
