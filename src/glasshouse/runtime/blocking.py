"""Waiting for asynchronous work from ordinary code, also if an event loop is already running, as in a notebook.

Always holds: when the caller is interrupted, the work is cancelled and has cleaned up before the caller continues. No
interruption is lost.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeVar

from glasshouse.runtime import event_loop

interrupt_seconds_max: Final = 0.1
"""How long an interruption may go unnoticed: one that comes just as the wait begins does not end that wait."""

T = TypeVar("T")

Work = Callable[[], Coroutine[Any, Any, T]]


def outcome_of(work: Work[T]) -> T:
    """Run the work and return its result."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return event_loop.run(work())
    return _outcome_in_a_thread(work)


def _outcome_in_a_thread(work: Work[T]) -> T:
    """Run the work in its own loop in a thread, because the loop that runs here cannot wait for it."""
    interrupted = threading.Event()
    cancel: Callable[[], object] | None = None

    def interrupt() -> None:
        interrupted.set()
        if cancel is not None:
            with suppress(RuntimeError):  # The loop of the work may be closed already.
                cancel()

    async def cancellable() -> T:
        nonlocal cancel
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        assert task is not None, "a coroutine that is run is a task"
        cancel = partial(loop.call_soon_threadsafe, task.cancel)
        if interrupted.is_set():  # The interruption came before there was a task to cancel.
            raise asyncio.CancelledError
        return await work()

    with (
        _calling_on_interrupt(interrupt),
        ThreadPoolExecutor(1, thread_name_prefix="glasshouse play") as thread,
    ):
        done = thread.submit(lambda: event_loop.run(cancellable()))
        try:
            while not wait([done], timeout=interrupt_seconds_max).done:
                pass  # Python runs signal handlers between two waits.
        except KeyboardInterrupt:  # Raised by a signal handler that is not ours.
            interrupt()
            raise
    if interrupted.is_set():
        raise KeyboardInterrupt
    return done.result()


@contextmanager
def _calling_on_interrupt(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call `interrupt` for a Ctrl-C, instead of raising `KeyboardInterrupt` in the main thread.

    Python drops an exception that a signal raises inside a finalizer or a weak reference's callback, so a raised
    interruption can be lost. A handler that only sets a flag and cancels cannot lose it.
    """
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not is_ours:
        yield
        return
    signal.signal(signal.SIGINT, lambda _signal, _frame: interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
