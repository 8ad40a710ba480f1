"""`ProgressLines`: what `rehearse` and `doctor` say on standard error while they wait for models.

Always holds: it speaks at once, and never rests for longer than its seconds while something is watched. On a terminal the newest
sentence takes the place of the one before; in a pipe each is a line of its own.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, TextIO

terminal_seconds: Final = 1.0
pipe_seconds: Final = 10.0
"""How often it tells how far something is, at least."""

_CLEAR: Final = "\r\x1b[K"

Wait = Callable[[float], Awaitable[None]]


class ProgressLines:
    """Says how far something is."""

    def __init__(self, stream: TextIO | None = None, wait: Wait = asyncio.sleep) -> None:
        self._stream = stream or sys.stderr
        self._wait = wait
        self._is_terminal = self._stream.isatty()

    def say(self, text: str) -> None:
        """Say something that stays."""
        self.clear()
        print(text, file=self._stream, flush=True)

    def tell(self, text: str) -> None:
        """Say something that the next sentence replaces, where it can."""
        if self._is_terminal:
            print(f"{_CLEAR}{text} ", end="", file=self._stream, flush=True)
        else:
            print(text, file=self._stream, flush=True)

    def clear(self) -> None:
        """Make room on a terminal for what is written there by others."""
        if self._is_terminal:
            print(_CLEAR, end="", file=self._stream, flush=True)

    @asynccontextmanager
    async def watching(self, words: Callable[[], str]) -> AsyncIterator[None]:
        """Tell within this block again and again how far it is, the first time at once."""
        self.tell(words())
        telling = asyncio.create_task(self._tell_again(words))
        try:
            yield
        finally:
            telling.cancel()
            with suppress(asyncio.CancelledError):
                await telling
            self.clear()

    async def _tell_again(self, words: Callable[[], str]) -> None:
        while True:
            await self._wait(terminal_seconds if self._is_terminal else pipe_seconds)
            self.tell(words())
