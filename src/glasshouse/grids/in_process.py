"""`InProcess`: plays bundles on this event loop, many runs in flight. All terrariums share the queues of the model servers.

Always holds: at most `at_once` runs are in flight. A bundle's store is open only while a run of it is in flight, so what a process
holds in memory does not grow with the cells that it has played.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from dataclasses import dataclass

from glasshouse.contests.plays import played
from glasshouse.errors import GlasshouseError, GridStopped, StoreError
from glasshouse.events.digest import digest_of
from glasshouse.grids.cells import Cell
from glasshouse.grids.executors import Bundle, StopReason, Terms
from glasshouse.grids.grid_models import GridModels, GridRouter, Sleep
from glasshouse.grids.rows import Row, failed_row, row_of
from glasshouse.runtime.acts.shared_purse import SharedPurse
from glasshouse.terrarium import Terrarium, leave_acts_due, share_purse, skews_of

OnExhausted = Callable[[SharedPurse], Awaitable[bool]]
"""Is asked when the money is spent. True: there is more, and the grid goes on."""


@dataclass
class _OpenBundle:
    """A bundle whose store is open."""

    bundle: Bundle
    terrarium: Terrarium
    left: int
    """How many of its cells are not over."""
    closing: asyncio.Task[None] | None = None


async def no_more(_purse: SharedPurse) -> bool:
    """What is answered if nobody has more money."""
    return False


class InProcess:
    """An executor in this process. `models` are open, and `purse` has the limit in dollars, if there is one."""

    def __init__(
        self,
        terms: Terms,
        models: GridModels,
        *,
        purse: SharedPurse | None = None,
        share: tuple[int, int] = (0, 1),
        on_exhausted: OnExhausted = no_more,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._terms = terms
        self._models = models
        self._purse = purse
        self._share = share
        self._on_exhausted = on_exhausted
        self._sleep = sleep
        self._routers: dict[str, GridRouter] = {}
        self._room = asyncio.Semaphore(terms.at_once)
        self._rows: asyncio.Queue[Row | None] = asyncio.Queue()
        self._stopped: GridStopped | None = None
        self._feeding: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        """Ends what is in flight and closes the stores. Nothing interrupts it."""
        self._crash: BaseException | None = None
        """What a cell raised that nobody expected."""

    async def play(self, bundles: AsyncIterable[Bundle]) -> AsyncGenerator[Row, None]:
        """The row of each cell, as soon as its run is over."""
        self._feeding = feeding = asyncio.create_task(self._feed(bundles), name="glasshouse grid")
        watching = None if self._purse is None else asyncio.create_task(self._watch_purse(self._purse))
        try:
            while (row := await self._rows.get()) is not None:
                yield row
        finally:
            feeding.cancel()
            if watching is not None:
                watching.cancel()
            await asyncio.wait([task for task in (feeding, watching) if task is not None])
            if self._ending is not None:
                await asyncio.wait([self._ending])
        if self._crash is not None:
            raise self._crash
        if self._stopped is not None:
            raise self._stopped

    def stop(self, why: StopReason, reason: str) -> None:
        """Play nothing more, because of this. The first reason counts."""
        if self._stopped is None:
            self._stopped = GridStopped(why, reason)
            self._end_feeding()

    def _end_feeding(self) -> None:
        if self._feeding is not None:
            self._feeding.cancel()

    def _note_end(self, task: asyncio.Task[None]) -> None:
        wrong = None if task.cancelled() else task.exception()
        if wrong is not None:
            self._crash = self._crash or wrong
            self._end_feeding()

    async def _feed(self, bundles: AsyncIterable[Bundle]) -> None:
        """Open bundles as there is room, and play their cells."""
        playing: set[asyncio.Task[None]] = set()
        opened: list[_OpenBundle] = []
        try:
            await self._room.acquire()
            async for bundle in bundles:
                mine = await self._opened(bundle)
                if mine is None:
                    return
                opened.append(mine)
                for cell in bundle.cells:
                    task = asyncio.create_task(
                        self._play_cell(mine, cell), name=f"glasshouse cell {cell.name}"
                    )
                    playing.add(task)
                    task.add_done_callback(playing.discard)
                    task.add_done_callback(self._note_end)
                    await self._room.acquire()
                opened = [each for each in opened if each.closing is None or not each.closing.done()]
            while playing:
                await asyncio.wait(playing)
        finally:
            self._ending = asyncio.create_task(self._end(playing, opened), name="glasshouse grid ending")

    async def _end(self, playing: set[asyncio.Task[None]], opened: list[_OpenBundle]) -> None:
        for task in [*playing]:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
        for each in opened:
            await self._close(each)
        self._rows.put_nowait(None)

    async def _opened(self, bundle: Bundle) -> _OpenBundle | None:
        """The bundle with its store; None if the store cannot be opened, which stops the grid."""
        terms = self._terms
        router = self._routers.get(bundle.models)
        if router is None:
            router = GridRouter(
                self._models.router(bundle.models), self._share, self._note_outage, self._sleep
            )
            self._routers[bundle.models] = router
        store = None if terms.folder is None else terms.folder / bundle.store
        terrarium = Terrarium(
            store, models=router, tool_servers=terms.tool_servers, act_seconds_max=terms.act_seconds_max
        )
        leave_acts_due(terrarium, self._note_outage)
        if self._purse is not None:
            share_purse(terrarium, self._purse)
        opening = asyncio.create_task(terrarium.open(), name="glasshouse opening a bundle")
        try:
            await asyncio.shield(opening)
        except (StoreError, OSError) as wrong:
            self.stop("store", str(wrong))
            return None
        except asyncio.CancelledError:
            await asyncio.wait([opening])
            if opening.exception() is None:
                await terrarium.close()
            raise
        return _OpenBundle(bundle, terrarium, len(bundle.cells))

    async def _play_cell(self, mine: _OpenBundle, cell: Cell) -> None:
        try:
            self._rows.put_nowait(await self._played(mine, cell))
        except (StoreError, OSError) as wrong:
            self.stop("store", str(wrong))
        except GlasshouseError as wrong:
            self._rows.put_nowait(failed_row(cell, str(wrong), self._store(mine)))
        finally:
            self._room.release()
            mine.left -= 1
        if not mine.left:
            await self._close(mine)

    async def _played(self, mine: _OpenBundle, cell: Cell) -> Row:
        """The row of a cell."""
        terrarium = mine.terrarium
        variant = self._terms.variants[cell.world, cell.what_if]
        run = await played(terrarium, cell.play(variant))
        if run.is_finished:
            digest = digest_of(await terrarium.run_events(run.id), skews=skews_of(terrarium))
            return row_of(cell, run, digest, self._store(mine))
        why = "nobody plays a creature that is next" if run.paused is None else run.paused.reason
        return failed_row(cell, f"The run did not end: {why}", self._store(mine))

    async def _close(self, mine: _OpenBundle) -> None:
        """Close a bundle's store, once. Whoever is cancelled while it waits interrupts nothing."""
        if mine.closing is None:
            mine.closing = asyncio.create_task(
                self._close_store(mine.terrarium), name="glasshouse closing a bundle"
            )
        await asyncio.shield(mine.closing)

    async def _close_store(self, terrarium: Terrarium) -> None:
        try:
            await terrarium.close()
        except (StoreError, OSError) as wrong:
            self.stop("store", str(wrong))

    def _store(self, mine: _OpenBundle) -> str:
        return "" if self._terms.folder is None else mine.bundle.store

    def _note_outage(self, reason: str) -> None:
        self.stop("outage", reason)

    async def _watch_purse(self, purse: SharedPurse) -> None:
        """Stop when all money is spent or set aside, and no call under way can give any back."""
        while True:
            await purse.exhausted.wait()
            purse.exhausted.clear()
            if not await self._on_exhausted(purse):
                self.stop("budget", f"The limit of ${purse.usd_max:g} leaves no room for another call.")
                return
