"""A thread that runs blocking calls one after another, with little overhead.

Always holds: an exception of a call is raised where its result is awaited, and the thread continues.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Any


class Answer(asyncio.Future[Any]):
    """A future whose first callback, nearly always that of the one who awaits it, is called as soon as the result comes.
    Other futures call theirs in the next iteration of the event loop, so each commit would take one more."""

    _first: tuple[Callable[[Answer], object], Context] | None = None

    def add_done_callback(
        self, function: Callable[[Answer], object], /, *, context: Context | None = None
    ) -> None:
        """Call a function with this future when its result comes."""
        if self._first is None and not self.done():
            # Not `context or ...`: an empty context is false, but a task that has one needs it.
            self._first = function, copy_context() if context is None else context
        else:
            super().add_done_callback(function, context=context)

    def remove_done_callback(self, function: Callable[[Answer], object], /) -> int:
        """Do not call a function that was added; how often it was added."""
        is_first = self._first is not None and self._first[0] == function
        if is_first:
            self._first = None
        return is_first + super().remove_done_callback(function)

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel it, like any other future."""
        if self._first is not None and not self.done():
            super().add_done_callback(self._first[0], context=self._first[1])
            self._first = None
        return super().cancel(msg)

    def settle(self, outcome: Any, wrong: BaseException | None) -> None:
        """Set the result, or the exception. Must run on the event loop, but in no task."""
        if self.done():  # The awaiting task may have been cancelled.
            return
        if wrong is None:
            self.set_result(outcome)
        else:
            self.set_exception(wrong)
        first = self._first
        self._first = None
        if first is not None:
            first[1].run(first[0], self)


class WorkThread:
    """Runs blocking calls in order. Their results are awaited on the event loop."""

    def __init__(self, name: str) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def call(self, function: Callable[..., Any], *arguments: object) -> asyncio.Future[Any]:
        """Queue a call, and return a future of its result."""
        loop = asyncio.get_running_loop()
        answer = Answer(loop=loop)

        def work() -> None:
            outcome = wrong = None
            try:
                outcome = function(*arguments)
            except BaseException as raised:
                wrong = raised
            try:
                loop.call_soon_threadsafe(answer.settle, outcome, wrong)
            except RuntimeError:
                # The loop was closed meanwhile, so nobody awaits the result. The work itself is done.
                if not loop.is_closed():
                    raise

        self._work.put(work)
        return answer

    def do(self, work: Callable[[], None]) -> None:
        """Queue a call that must not raise, and whose end nobody awaits."""
        self._work.put(work)

    def stop(self) -> None:
        """Run all queued calls, then end the thread. Blocks until it has ended."""
        self._work.put(None)
        self._thread.join()
