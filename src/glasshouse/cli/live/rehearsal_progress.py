"""`RehearsalProgress`: what `rehearse` says on standard error while it plays.

Always holds: it speaks from the first second on, and never rests for longer than its seconds while a round is played. On a
terminal the newest sentence takes the place of the one before; in a pipe each is a line of its own.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, TextIO

terminal_seconds: Final = 1.0
pipe_seconds: Final = 10.0
"""How often it tells how far a round is, at least."""

_CLEAR: Final = "\r\x1b[K"

Wait = Callable[[float], Awaitable[None]]


class RehearsalProgress:
    """Says how far a rehearsal is."""

    def __init__(self, stream: TextIO | None = None, wait: Wait = asyncio.sleep) -> None:
        self._stream = stream or sys.stderr
        self._wait = wait
        self._is_terminal = self._stream.isatty()

    def say(self, text: str) -> None:
        """Say something that stays."""
        before = _CLEAR if self._is_terminal else ""
        print(f"{before}{text}", file=self._stream, flush=True)

    @asynccontextmanager
    async def watching(self, words: Callable[[], str]) -> AsyncIterator[None]:
        """Tell within this block again and again how far it is, the first time at once."""
        telling = asyncio.create_task(self._tell(words))
        try:
            yield
        finally:
            telling.cancel()
            with suppress(asyncio.CancelledError):
                await telling
            if self._is_terminal:
                print(_CLEAR, end="", file=self._stream, flush=True)

    async def _tell(self, words: Callable[[], str]) -> None:
        while True:
            if self._is_terminal:
                print(f"{_CLEAR}{words()} ", end="", file=self._stream, flush=True)
            else:
                print(words(), file=self._stream, flush=True)
            await self._wait(terminal_seconds if self._is_terminal else pipe_seconds)
