"""`Feed`: reads a store by position and shows what was committed, each event once, at the pace of the reader.

Always holds: it shows what is in the store and nothing else, so whoever plays and whoever only watches see the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

from glasshouse.cli.drawing.run_view import RunView
from glasshouse.cli.live.displays import Display
from glasshouse.cli.live.pace import Pace, seconds_to_read
from glasshouse.events.event import Event
from glasshouse.runtime.ports import Store

page_events_max: Final = 512


class Reader(Protocol):
    """Who reads along."""

    is_leaving: bool
    """Whether they want to stop."""

    async def read(self, seconds: float, /) -> None:
        """Take the time that reading takes."""

    async def wait(self, seconds: float, /) -> None:
        """Wait for something to come."""


class SilentReader:
    """A reader without a keyboard, at the pace of a person or of a machine."""

    is_leaving = False

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    async def read(self, seconds: float, /) -> None:
        """Wait at the pace of a person; at that of a machine, only let others run."""
        await asyncio.sleep(seconds if self._pace is Pace.READING else 0)

    async def wait(self, seconds: float, /) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Feed:
    """Shows one run, or several that are played side by side."""

    def __init__(self, store: Store, views: Sequence[RunView], display: Display, position: int) -> None:
        self.view = views[0]
        """The run whose line was shown last."""
        self._store = store
        self._views = views
        self._display = display
        self._position = position
        self._opened: set[str] = set()

    async def show(self, reader: Reader) -> int:
        """Show everything that is there and was not shown yet; how many events were read."""
        count = 0
        while page := await self._store.read_after(self._position, page_events_max):
            for view in self._views:
                if view.run_id not in self._opened:
                    view.expect(page)
            for event in page:
                self._position = event.position or self._position
                count += 1
                await self._show(event, reader)
        return count

    async def _show(self, event: Event, reader: Reader) -> None:
        concerned = [view for view in self._views if view.concerns(event)]
        if concerned:
            self._display.show_event(event)
        lines = [(view, line) for view in concerned for line in view.take(event)]
        for view, line in lines[:1]:  # Runs that share a graph tell the same line.
            self.view = view
            if view.run_id not in self._opened:
                self._opened.add(view.run_id)
                self._display.open(view)
            self._display.show(line)
            if not reader.is_leaving:
                await reader.read(seconds_to_read(f"{line.who} {line.text} {line.thought}"))
