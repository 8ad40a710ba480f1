"""Waiting for asynchronous work from ordinary code, also where an event loop is already running, as in a notebook.

Always holds: when the caller is interrupted, the work is cancelled and has cleaned up before the caller goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

Work = Callable[[], Coroutine[Any, Any, T]]


def outcome_of(work: Work[T]) -> T:
    """Do the work and give what it gives."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    return _outcome_in_a_thread(work)


def _outcome_in_a_thread(work: Work[T]) -> T:
    """Do the work in a loop of its own, for the loop that is running here can wait for nothing meanwhile."""
    begun: Future[Callable[[], object]] = Future()

    async def cancellable() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None, "a coroutine that is run is a task"
        begun.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        return await work()

    with ThreadPoolExecutor(1, thread_name_prefix="glasshouse play") as thread:
        done = thread.submit(lambda: asyncio.run(cancellable()))
        try:
            return done.result()
        except KeyboardInterrupt:
            with suppress(RuntimeError):  # Its loop may be over already.
                begun.result()()
            raise
