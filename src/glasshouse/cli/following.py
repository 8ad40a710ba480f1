"""Following a run in a store, by position: what was committed is shown, each event once, at the pace of who reads.

Always holds: it reads what is in the store and nothing else, so one who plays and one who only watches see the same.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from glasshouse.cli.displays import Display
from glasshouse.cli.programme import Programme
from glasshouse.cli.reading_speed import seconds_to_read
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
    """Shows what comes to be in a store of one run."""

    def __init__(self, store: Store, programme: Programme, display: Display, position: int) -> None:
        self._store = store
        self._programme = programme
        self._display = display
        self._position = position
        self._is_open = False

    async def show(self, reader: Reader) -> int:
        """Show everything that is there and was not shown yet; how many events were read."""
        count = 0
        while page := await self._store.read_after(self._position, page_events_max):
            if not self._is_open:
                self._programme.expect(page)
            for event in page:
                self._position = event.position or self._position
                count += 1
                if self._programme.concerns(event):
                    await self._tell(event, reader)
        return count

    async def _tell(self, event: Event, reader: Reader) -> None:
        line = self._programme.apply(event)
        if line is not None and not self._is_open:
            self._is_open = True
            self._display.open(self._programme)
        self._display.show(event, line)
        if line is not None and not reader.is_leaving:
            await reader.read(seconds_to_read(_read_of(line)))


def _read_of(line: TranscriptLine) -> str:
    """What there is to read of a line."""
    return f"{line.who} {line.text} {line.thought}"
