"""Following a run in a store, by position: what was committed is shown, each event once, at the pace of who reads.

Always holds: it reads what is in the store and nothing else, so one who plays and one who only watches see the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

from glasshouse.cli.drawing.programme import Programme
from glasshouse.cli.performing.displays import Display
from glasshouse.cli.performing.reading_speed import seconds_to_read
from glasshouse.events.event import Event
from glasshouse.runtime.ports import Store
from glasshouse.views.transcript import TranscriptLine

page_events_max: Final = 512


class Reader(Protocol):
    """Who reads along."""

    is_leaving: bool
    """Whether they have had enough."""

    async def read(self, seconds: float, /) -> None:
        """Take the time that it takes."""

    async def linger(self, seconds: float, /) -> None:
        """Wait for something to come."""


class FastReader:
    """Needs no time."""

    is_leaving = False

    async def read(self, _seconds: float, /) -> None:
        """Let others run."""
        await asyncio.sleep(0)

    async def linger(self, seconds: float, /) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class PacedReader:
    """Reads at the pace of a person, with hands in the pockets."""

    is_leaving = False

    async def read(self, seconds: float, /) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    linger = read


class News:
    """Shows what comes to be in a store of one run, or of several that are played side by side."""

    def __init__(
        self, store: Store, programmes: Sequence[Programme], display: Display, position: int
    ) -> None:
        self.programme = programmes[0]
        """That of the run that was last heard of."""
        self._store = store
        self._programmes = programmes
        self._display = display
        self._position = position
        self._opened: set[str] = set()

    async def show(self, reader: Reader) -> int:
        """Show everything that is there and was not shown yet; how many events were read."""
        count = 0
        while page := await self._store.read_after(self._position, page_events_max):
            for programme in self._programmes:
                if programme.run_id not in self._opened:
                    programme.expect(page)
            for event in page:
                self._position = event.position or self._position
                count += 1
                await self._tell(event, reader)
        return count

    async def _tell(self, event: Event, reader: Reader) -> None:
        concerned = [programme for programme in self._programmes if programme.concerns(event)]
        if not concerned:
            return
        lines = [(programme, line) for programme in concerned if (line := programme.apply(event)) is not None]
        for programme, _ in lines[:1]:
            self._open(programme)
        line = lines[0][1] if lines else None
        self._display.show(event, line)
        if line is not None and not reader.is_leaving:
            await reader.read(seconds_to_read(_read_of(line)))

    def _open(self, programme: Programme) -> None:
        self.programme = programme
        if programme.run_id not in self._opened:
            self._opened.add(programme.run_id)
            self._display.open(programme)


def _read_of(line: TranscriptLine) -> str:
    """What there is to read of a line."""
    return f"{line.who} {line.text} {line.thought}"
