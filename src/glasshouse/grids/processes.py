"""`Processes`: an executor that plays bundles here and in other processes of this machine, for plays that one core cannot keep up
with.

Always holds: a bundle is in one process only. The processes divide the slots of a server: a server with fewer slots than there are
processes is asked by as many of them as it has slots. What needs a model in a file is played here, so that its child is one for
all. Each process has a part of the money; what one leaves over goes to those whose part is spent.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing
from typing import Final

from glasshouse.errors import GridStopped
from glasshouse.grids.executors import Bundle, Terms
from glasshouse.grids.grid_models import GridModels, Sleep
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
from glasshouse.grids.rows import Row
from glasshouse.grids.shared_bundles import SharedBundles
from glasshouse.runtime.acts.shared_purse import SharedPurse

end_seconds_max: Final = 5.0
"""How long a process may take to end when its pipe has. Then it is killed: all that it wrote is safe."""

_HERE: Final = 0
"""The number of this process among the others."""


class Processes:
    """An executor over several processes. `lock` is the folder's, which they hold too."""

    def __init__(
        self,
        terms: Terms,
        models: GridModels,
        count: int,
        lock: int,
        usd_max: float | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._terms = terms
        self._models = models
        self._count = count
        self._lock = lock
        self._usd_max = usd_max
        self._sleep = sleep
        self._bundles = SharedBundles(models)
        self._own: deque[Bundle] = deque()
        """Bundles that are played here, because of a model in a file."""
        self._usd_spare = 0.0
        """What processes that are over have left."""
        self._broke: set[int] = set()
        """The processes whose money is spent, and that wait for more."""
        self._playing: set[int] = set()
        """The processes that are not over."""
        self._allowed_here: asyncio.Queue[float] = asyncio.Queue()
        self._pipes: dict[int, asyncio.StreamWriter] = {}

    async def play(self, bundles: AsyncIterable[Bundle]) -> AsyncGenerator[Row, None]:
        """The row of each cell, as soon as its run is over."""
        async for bundle in bundles:
            (self._own if self._models.is_in_file(bundle.models) else self._bundles.waiting).append(bundle)
        count = max(1, min(self._count, len(self._bundles.waiting) + bool(self._own)))
        usd = None if self._usd_max is None else self._usd_max / count
        self._playing = {*range(count)}
        others = [self._serve(number, count, usd) for number in range(count) if number != _HERE]
        async with aclosing(self._bundles.rows((*others, self._play_here(count, usd)))) as rows:
            async for row in rows:
                yield row

    async def _serve(self, number: int, count: int, usd: float | None) -> None:
        """Start a process and give it bundles until it is over."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "glasshouse.grids.worker",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, pass_fds=(self._lock,),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        self._pipes[number] = process.stdin
        try:
            elsewhere = tuple([name for name in self._terms.models if not self._models.is_in_file(name)])
            at_once = math.ceil(self._terms.at_once / count)
            self._say(
                number, Begin(self._terms._replace(at_once=at_once, models=elsewhere), (number, count), usd)
            )
            await self._listen(number, process.stdout)
        finally:
            del self._pipes[number]
            process.stdin.close()  # It ends when its pipe does.
            await asyncio.shield(_wait_for_end(process))

    async def _listen(self, number: int, stream: asyncio.StreamReader) -> None:
        while True:
            try:
                message = await next_message(stream)
            except EOFError:
                self._stop(
                    GridStopped(
                        "outage", "A process of the grid has ended unexpectedly. See what it wrote above."
                    )
                )
                return
            match message:
                case Wanted():
                    self._say(number, Given(self._bundles.next_for(number)))
                case Ended(row):
                    self._bundles.give(row)
                case Exhausted():
                    self._ask_for_money(number)
                case Over(usd_left, why, reason):
                    self._leave(number, usd_left)
                    if why is not None:
                        self._stop(GridStopped(why, reason))
                    return
                case _:
                    raise AssertionError(f"No process of a grid says {message!r}.")

    def _stop(self, stopped: GridStopped) -> None:
        """Play nothing more, because of this. Who has money left goes on if only that of others is spent."""
        self._bundles.stop(stopped, at_once=stopped.why != "budget")

    async def _play_here(self, count: int, usd: float | None) -> None:
        """Play what needs a model in a file, then whatever else is left."""
        purse = None if usd is None else SharedPurse(usd)

        async def is_allowed_more(mine: SharedPurse) -> bool:
            self._ask_for_money(_HERE)
            more = await self._allowed_here.get()
            mine.allow(more)
            return more > 0

        playing = InProcess(
            self._terms_of(count),
            self._models,
            purse=purse,
            share=(_HERE, count),
            on_exhausted=is_allowed_more,
            sleep=self._sleep,
        )
        try:
            async with aclosing(playing.play(self._bundles_here())) as rows:
                async for row in rows:
                    self._bundles.give(row)
        except GridStopped as stopped:
            self._stop(stopped)
        self._leave(_HERE, 0.0 if purse is None else purse.usd_max - purse.spent_usd)

    async def _bundles_here(self) -> AsyncIterator[Bundle]:
        while self._own:
            yield self._own.popleft()
        while (bundle := self._bundles.next_for(_HERE)) is not None:
            yield bundle

    def _terms_of(self, count: int) -> Terms:
        """The terms of one of so many processes, which divide the runs in flight."""
        return self._terms._replace(at_once=math.ceil(self._terms.at_once / count))

    # Money

    def _ask_for_money(self, number: int) -> None:
        self._broke.add(number)
        self._share_money()

    def _leave(self, number: int, usd_left: float) -> None:
        """A process is over, and leaves so much to the others."""
        self._playing.discard(number)
        self._broke.discard(number)
        self._usd_spare += usd_left
        self._share_money()

    def _share_money(self) -> None:
        """Give what is left over to those who need it. If everybody needs more and there is none, all stop."""
        if not self._broke or not (self._usd_spare > 0 or self._broke == self._playing):
            return
        each = self._usd_spare / len(self._broke)
        self._usd_spare = 0.0
        for number in [*self._broke]:
            self._say(number, Allowed(each))
        self._broke.clear()

    def _say(self, number: int, message: object) -> None:
        if number != _HERE:
            self._pipes[number].write(packed(message))
        elif isinstance(message, Allowed):
            self._allowed_here.put_nowait(message.usd)


async def _wait_for_end(process: asyncio.subprocess.Process) -> None:
    try:
        await asyncio.wait_for(process.wait(), end_seconds_max)
    except TimeoutError:
        process.kill()
        await process.wait()
