"""A thread that runs blocking calls one after another, with little overhead.

Always holds: an exception of a call is raised where its result is awaited, and the thread continues.

Theory of operation. The thread hands each result to the event loop as a callback. With a future of asyncio, that callback
would resolve the future, and the future would wake the task that waits in the next iteration of the loop. Here the callback
itself wakes the task: one iteration less for each commit and each read. For this, a task waits for a `_Waiter`, which has
the part of a future's interface that `asyncio.Task` uses.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextvars import Context
from functools import partial
from queue import SimpleQueue
from typing import Any


class WorkThread:
    """Runs blocking calls in order. Their results are awaited on the event loop."""

    def __init__(self, name: str) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def call(self, function: Callable[..., Any], *arguments: object) -> Answer:
        """Queue a call, and return its answer, to be awaited."""
        answer = Answer(asyncio.get_running_loop())
        self._work.put(partial(answer.find, function, arguments))
        return answer

    def stop(self) -> None:
        """Run all queued calls, then end the thread. Blocks until it has ended."""
        self._work.put(None)
        self._thread.join()


class Answer:
    """The result of a call. Await it, at once or later."""

    __slots__ = ("_error", "_is_there", "_loop", "_result", "_waiters")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._is_there = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._waiters: list[_Waiter] = []

    def find(self, function: Callable[..., Any], arguments: tuple[object, ...]) -> None:
        """Call the function in this thread, and wake those who await the answer in theirs."""
        try:
            self._result = function(*arguments)
        except BaseException as wrong:
            self._error = wrong
        try:
            self._loop.call_soon_threadsafe(self._wake_waiters)
        except RuntimeError:
            # The loop was closed meanwhile, so nobody awaits the result. The work itself is done.
            if not self._loop.is_closed():
                raise

    def _wake_waiters(self) -> None:
        self._is_there = True
        for waiter in self._waiters:
            waiter.wake()

    def __await__(self) -> Generator[_Waiter, None, Any]:
        if not self._is_there:
            waiter = _Waiter(self._loop)
            self._waiters.append(waiter)
            yield waiter
        if self._error is not None:
            raise self._error
        return self._result


class _Waiter:
    """A task that waits for an answer."""

    __slots__ = ("_asyncio_future_blocking", "_is_cancelled", "_loop", "_wake_task")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._asyncio_future_blocking = True
        self._is_cancelled = False
        self._loop = loop
        self._wake_task: Callable[[], object] | None = None

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The loop of the task."""
        return self._loop

    def add_done_callback(self, wake: Callable[[_Waiter], object], *, context: Context) -> None:
        """Note how the task is woken."""
        self._wake_task = partial(context.run, wake, self)

    def wake(self) -> None:
        """Wake the task now, unless it was cancelled. No other task may be running."""
        if not self._is_cancelled and self._wake_task is not None:
            self._wake_task()

    def cancel(self, msg: object = None) -> bool:  # noqa: ARG002
        """Wake the task soon, to be cancelled. The call itself goes on."""
        if self._is_cancelled or self._wake_task is None:
            return False
        self._is_cancelled = True
        self._loop.call_soon(self._wake_task)
        return True

    def result(self) -> None:
        """Raise if the task was cancelled: the task asks before it goes on."""
        if self._is_cancelled:
            raise asyncio.CancelledError
