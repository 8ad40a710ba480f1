"""A thread that runs blocking calls one after another, with little overhead.

Always holds: an exception of a call is raised where its result is awaited, and the thread continues.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
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

    def call(self, function: Callable[..., Any], *arguments: object) -> asyncio.Future[Any]:
        """Queue a call, and return a future of its result."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()

        def work() -> None:
            settle: Callable[[Any], None] = answer.set_result
            try:
                outcome = function(*arguments)
            except BaseException as wrong:
                settle, outcome = answer.set_exception, wrong
            try:
                loop.call_soon_threadsafe(_settle, answer, settle, outcome)
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


def _settle(answer: asyncio.Future[Any], settle: Callable[[Any], None], outcome: object) -> None:
    if not answer.done():  # The awaiting task may have been cancelled.
        settle(outcome)
