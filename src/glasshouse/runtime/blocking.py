"""Waiting for asynchronous work from ordinary code, also where an event loop is already running, as in a notebook.

Always holds: when the caller is interrupted, the work is cancelled and has cleaned up before the caller goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Event
from typing import Any, Final, TypeVar

cancel_seconds_max: Final = 5
"""How long work that has just been begun may take to show itself before it is no longer waited for."""

interrupt_seconds_max: Final = 0.1
"""How long an interruption may go unheard: one that comes just as the wait begins does not end it by itself."""

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
    """Do the work in a loop of its own, for the loop that is running here can wait for nothing meanwhile.

    The work begins only when whoever waits for it can be interrupted and will cancel it.
    """
    may_begin, is_called_off = Event(), Event()
    begun: Future[Callable[[], object]] = Future()

    async def cancellable() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None, "a coroutine that is run is a task"
        begun.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        return await work()

    def outcome() -> T:
        may_begin.wait()
        if is_called_off.is_set():
            raise CancelledError
        return asyncio.run(cancellable())

    with ThreadPoolExecutor(1, thread_name_prefix="glasshouse play") as thread:
        try:
            done = thread.submit(outcome)
            may_begin.set()
            while not wait([done], timeout=interrupt_seconds_max).done:
                pass  # Between two waits whoever was interrupted is told.
            return done.result()
        except KeyboardInterrupt:
            if not may_begin.is_set():
                is_called_off.set()
                may_begin.set()
                raise
            with suppress(RuntimeError, TimeoutError):  # Its loop may be over already.
                begun.result(cancel_seconds_max)()
            raise
