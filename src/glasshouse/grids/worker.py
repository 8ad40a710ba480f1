"""A process of a grid: `python -m glasshouse.grids.worker`. It plays the bundles that it is given, as `InProcess` does.

Always holds: it ends with the process that started it, also after kill -9: its pipe breaks. What it prints goes to standard error,
because its standard output is the pipe.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from glasshouse.errors import GlasshouseError, GridStopped
from glasshouse.grids.executors import Bundle
from glasshouse.grids.grid_models import GridModels
from glasshouse.grids.in_process import InProcess
from glasshouse.grids.messages import (
    Allowed,
    Begin,
    Ended,
    Exhausted,
    Given,
    Over,
    Wanted,
    next_message,
    packed,
)
from glasshouse.runtime import event_loop
from glasshouse.runtime.acts.shared_purse import SharedPurse


class Worker:
    """Plays bundles for the process at the other end of its pipes."""

    def __init__(self, begin: Begin, pipe: int) -> None:
        self._begin = begin
        self._pipe = pipe
        self._given: asyncio.Queue[Bundle | None] = asyncio.Queue()
        self._allowed: asyncio.Queue[float] = asyncio.Queue()
        self._purse = None if begin.usd_max is None else SharedPurse(begin.usd_max)

    async def play(self) -> None:
        """Play until there are no more bundles, or it cannot go on, and say so."""
        over = Over(self._usd_left)
        terms = self._begin.terms
        models = GridModels(terms.models, folder=terms.models_folder, env_file=terms.env_file)
        try:
            await models.open_for(terms.variants.values())
            playing = InProcess(
                terms, models, purse=self._purse, share=self._begin.share, on_exhausted=self._is_allowed_more
            )
            async with aclosing(playing.play(self._bundles())) as rows:
                async for row in rows:
                    self._say(Ended(row))
            over = Over(self._usd_left)
        except GridStopped as stopped:
            over = Over(self._usd_left, stopped.why, str(stopped))
        except GlasshouseError as wrong:
            over = Over(self._usd_left, "outage", str(wrong))
        finally:
            await models.close()
        self._say(over)

    def take(self, message: Any) -> None:
        """Note what the other side says."""
        match message:
            case Given(bundle):
                self._given.put_nowait(bundle)
            case Allowed(usd):
                self._allowed.put_nowait(usd)
            case _:
                raise AssertionError(f"Nobody says {message!r} to a process of a grid.")

    @property
    def _usd_left(self) -> float:
        return 0.0 if self._purse is None else self._purse.usd_max - self._purse.spent_usd

    async def _bundles(self) -> AsyncIterator[Bundle]:
        while True:
            self._say(Wanted())
            bundle = await self._given.get()
            if bundle is None:
                return
            yield bundle

    async def _is_allowed_more(self, purse: SharedPurse) -> bool:
        self._say(Exhausted(self._usd_left))
        usd = await self._allowed.get()
        purse.allow(usd)
        return usd > 0

    def _say(self, message: object) -> None:
        """Write a message. The pipe is a blocking one: whoever reads it does nothing but read."""
        content = packed(message)
        while content:
            content = content[os.write(self._pipe, content) :]


async def serve(pipe: int) -> None:
    """Read what to play, and play it until the pipe ends."""
    loop = asyncio.get_running_loop()
    stream = asyncio.StreamReader(limit=2**26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), sys.stdin)
    worker = Worker(await next_message(stream), pipe)

    async def listen() -> None:
        try:
            while True:
                worker.take(await next_message(stream))
        except EOFError:
            # Whoever started this process is gone or wants no more of it. Its runs go on from their last acts.
            os._exit(0)

    listening = asyncio.create_task(listen())
    await worker.play()
    await listening


def main() -> None:
    """Be a process of a grid."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches all processes of a terminal; the first of them ends this one.
    pipe = os.dup(1)
    os.dup2(2, 1)
    event_loop.run(serve(pipe))


if __name__ == "__main__":
    main()
