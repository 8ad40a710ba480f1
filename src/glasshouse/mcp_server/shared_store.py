"""`SharedStore`: one store for many calls. Each call reads it, and some play in it.

Always holds: the store is held only while something is changed or played here, so that other processes can play it in
between. Whoever reads waits for nobody: beside another process that plays, the store is opened as a guest. No act that
has begun is cut off, unless the server ends and it takes too long; then it is owed still (ADR 0087).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Final

from glasshouse.assembly import ModelRouter, StoreAddress, ToolServer
from glasshouse.errors import GlasshouseError, Refused
from glasshouse.runtime.ledger.ledger import sent_by
from glasshouse.runtime.ledger.subscriptions import Subscription
from glasshouse.runtime.ports import Router
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, guest_of
from glasshouse.web.driving import shutdown_seconds_max

plays_max: Final = 4
"""How many runs are played at once."""

_log = logging.getLogger(__name__)


class SharedStore:
    """A store, and the runs that are being played in it here."""

    def __init__(
        self,
        address: StoreAddress,
        models: Callable[[], Router],
        act_seconds_max: float,
        tool_servers: Collection[ToolServer] = (),
    ) -> None:
        self.address = address
        self.starting = asyncio.Lock()
        """Held from the check that one more run may be played until it is played."""
        self._models = models
        self._act_seconds_max = act_seconds_max
        self._tool_servers = tool_servers
        self._opening = asyncio.Lock()
        self._terrarium: Terrarium | None = None
        self._users = 0
        """The calls and plays that need the store to be held."""
        self._plays: dict[str, asyncio.Task[None]] = {}
        self._is_wanted: set[str] = set()
        """The runs for which somebody has asked since they last began to play."""
        self._is_finishing: set[str] = set()
        """The runs that are played here and were told to end."""
        self._is_closing = False

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Terrarium]:
        """The store to read from: as it is held here, else as a guest."""
        if self._terrarium is not None:
            async with self.hold() as terrarium:
                yield terrarium
            return
        async with Terrarium(self.address.guest(), models=ModelRouter()) as terrarium:
            guest = guest_of(terrarium)
            assert guest is not None
            following = asyncio.create_task(guest.follow_until_cancelled(), name="follow the store")
            try:
                yield terrarium
            finally:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[Terrarium]:
        """The store to write to. Raises `StoreBusy` with the process that holds it, if another one does."""
        self._users += 1
        try:
            async with self._opening:
                if self._terrarium is None:
                    self._terrarium = await self._opened()
            yield self._terrarium
        finally:
            await self._leave()

    async def _opened(self) -> Terrarium:
        terrarium = Terrarium(
            self.address.to_write(),
            models=self._models(),
            tool_servers=self._tool_servers,
            act_seconds_max=self._act_seconds_max,
        )
        await terrarium.open()
        return terrarium

    async def _leave(self) -> None:
        self._users -= 1
        if not self._users:
            # A call may be cancelled here; the store is closed all the same.
            await asyncio.shield(asyncio.create_task(self._close_unused(), name="close the store"))

    async def _close_unused(self) -> None:
        async with self._opening:
            if not self._users and self._terrarium is not None:
                terrarium = self._terrarium
                self._terrarium = None
                await terrarium.close()

    def check_has_room(self) -> None:
        """Refuse one more run if too many are being played."""
        if len(self._plays) >= plays_max:
            playing = ", ".join(self._plays)
            raise Refused(f"{plays_max} runs are being played already: {playing}.", "Wait until one ends.")

    def play(self, run_id: str) -> None:
        """Play a run in the background until it ends or pauses. The store must be held by the caller."""
        self._is_wanted.add(run_id)
        if run_id not in self._plays:
            assert self._terrarium is not None
            self._users += 1
            playing = self._play(self._terrarium, run_id)
            self._plays[run_id] = asyncio.create_task(playing, name=f"play {run_id}")

    def finish(self, run_id: str) -> None:
        """Let no further act begin in a run that is played here, and finish it."""
        if run_id not in self._plays:
            raise Refused(
                f"Run {run_id} is not being played here.", "Only what is played here can be finished."
            )
        self._is_finishing.add(run_id)

    async def _play(self, terrarium: Terrarium, run_id: str) -> None:
        async def may_begin(_graph_id: str) -> bool:
            return not self._is_closing and run_id not in self._is_finishing

        try:
            terrarium.send_visitors_away(run_id)
            while run_id in self._is_wanted and await may_begin(""):
                self._is_wanted.discard(run_id)
                await terrarium.run(run_id, before_act=may_begin)
            if run_id in self._is_finishing:
                with sent_by("assistant"):
                    await terrarium.finish(run_id)
        except GlasshouseError as wrong:
            _log.warning("Run %s is not played on: %s", run_id, wrong)
        finally:
            del self._plays[run_id]
            self._is_finishing.discard(run_id)
            await self._leave()

    def is_played(self, run_id: str) -> bool:
        """Whether a run is being played here."""
        return run_id in self._plays

    async def may_change(self, terrarium: Terrarium, run: Run) -> bool:
        """Whether more may happen in a run: it is played here, or another process has the store open."""
        guest = guest_of(terrarium)
        is_open_elsewhere = guest is not None and bool(await guest.owner())
        return run.id in self._plays or (is_open_elsewhere and run.status == "playing")

    async def wait_for_change(self, run_id: str, happened: Subscription, seconds: float) -> None:
        """Wait until something happens in the store, a run is not played here any more, or the time is over."""
        event = asyncio.ensure_future(anext(happened))
        waited_for = {event, *filter(None, [self._plays.get(run_id)])}
        try:
            await asyncio.wait(waited_for, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            event.cancel()
            await asyncio.gather(event, return_exceptions=True)

    def begin_to_close(self) -> None:
        """Let no act begin any more."""
        self._is_closing = True

    async def close(self) -> None:
        """End every play; acts in flight may end for a while."""
        self.begin_to_close()
        plays = [*self._plays.values()]
        if plays:
            await asyncio.wait(plays, timeout=shutdown_seconds_max)
        for play in plays:
            play.cancel()
        await asyncio.gather(*plays, return_exceptions=True)
