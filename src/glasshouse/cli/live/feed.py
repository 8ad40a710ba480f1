"""`Feed`: reads committed events from a store and shows each once, at the pace of the reader. A `Display` shows them:
on a terminal with header and bar, in a pipe line by line, or as JSON for machines.

Always holds: it shows only what is in the store, so a player and a watcher see the same. The bar is on the screen only
between two lines, so that no line is drawn over it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Sequence
from typing import Any, Final

from rich.text import Text

from glasshouse.cli.drawing.run_view import HINT, RunView, header, status
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.cli.pace import Pace, seconds_for
from glasshouse.cli.prose import say
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event
from glasshouse.events.redaction import Role, redacted
from glasshouse.runtime.store_port import Store
from glasshouse.views.transcript import TranscriptLine


class Display:
    """What a display may show; each display shows what it has room for."""

    def open(self, view: RunView, notice: str = "") -> None:
        """Say what is played, and what its reader should know before."""

    def show_event(self, event: Event) -> None:
        """Show an event as it is stored."""

    def show(self, line: TranscriptLine) -> None:
        """Show a line."""

    def rest(self, view: RunView, hint: str = HINT) -> None:
        """Show how far it is, while nothing else is drawn."""

    def say(self, *lines: str) -> None:
        """Say something that is no part of the play."""


class JsonDisplay(Display):
    """One event a line, as a role may read it."""

    def __init__(self, role: Role) -> None:
        self._role: Role = role

    def show_event(self, event: Event) -> None:
        """Print the event."""
        print_json(content_of(redacted(event, self._role)))

    def say(self, *lines: str) -> None:
        """Say it beside the events."""
        say(*lines, file=sys.stderr)


class ScreenDisplay(Display):
    """A stage on a terminal; in a pipe plain lines, `who: what`."""

    def __init__(self, *, has_minds: bool, has_bar: bool) -> None:
        self._screen = Screen()
        self._voices = Voices(has_minds=has_minds)
        self._has_bar = has_bar and not self._screen.is_dumb_terminal
        self._is_bar_shown = False

    def open(self, view: RunView, notice: str = "") -> None:
        """Draw the header."""
        self._clear_bar()
        if self._screen.is_terminal:
            self._screen.draw(*header(view, self._voices), *([Text(notice, QUIET)] if notice else []))

    def show(self, line: TranscriptLine) -> None:
        """Draw the line in its voice."""
        self._clear_bar()
        self._voices.show(self._screen, line)

    def rest(self, view: RunView, hint: str = HINT) -> None:
        """Draw the bar at the bottom, to be taken away before anything else is drawn."""
        if not self._has_bar:
            return
        self._clear_bar()
        screen = self._screen
        is_plain = not (screen.encoding or "").lower().startswith("utf")
        text = status(view, screen.width, hint, is_plain=is_plain)
        screen.print(text, style=QUIET, end="", no_wrap=True, overflow="crop", soft_wrap=True)
        screen.file.flush()
        self._is_bar_shown = True

    def say(self, *lines: str) -> None:
        """Say it in plain words. Commands, which begin with spaces, and digests are to be pasted: one line each."""
        self._clear_bar()
        for line in lines:
            if line.startswith((" ", "digest ")):
                self._screen.print(line, soft_wrap=True)
            else:
                self._screen.draw(line)

    def _clear_bar(self) -> None:
        if self._is_bar_shown:
            self._screen.file.write("\r\x1b[2K")
            self._is_bar_shown = False


page_events_max: Final = 512
"""`play --watch` reads in pages of this size."""


class Reader:
    """Who reads along, at the pace of a person or of a machine; without a keyboard, unless it is a `Controls`."""

    def __init__(self, pace: Pace) -> None:
        self.is_leaving = False
        """Whether they want to stop."""
        self._pace = pace

    def notice(self, _view: RunView) -> str:
        """What they should know before a run is shown to them."""
        return ""

    async def read(self, seconds: float) -> None:
        """Take the time that reading takes; at the pace of a machine, only let others run."""
        await asyncio.sleep(seconds if self._pace is Pace.READING else 0)

    async def wait_for(self, more: Coroutine[Any, Any, object], _seconds: float) -> None:
        """Wait for something to come, which takes at most so many seconds."""
        await more


class Feed:
    """Shows one run, or several that are played side by side."""

    def __init__(self, store: Store, views: Sequence[RunView], display: Display, position: int) -> None:
        self.view = views[0]
        """The run whose line was shown last."""
        self._store = store
        self._views = views
        self._display = display
        self.position = position
        """The position of the last event that was shown."""
        self._opened: set[str] = set()

    async def show(self, reader: Reader) -> int:
        """Show everything that is there and was not shown yet; how many events were read."""
        count = 0
        while page := await self._store.read_after(self.position, page_events_max):
            for view in self._views:
                if view.run_id not in self._opened:
                    view.expect(page)
            for event in page:
                self.position = event.position or self.position
                count += 1
                await self._show(event, reader)
        return count

    async def _show(self, event: Event, reader: Reader) -> None:
        concerned = [view for view in self._views if view.concerns(event)]
        if concerned:
            self._display.show_event(event)
        lines = [(view, line) for view in concerned for line in view.take(event)]
        for view, line in lines[:1]:  # Runs that share a graph have the same line, which is shown once.
            self.view = view
            if view.run_id not in self._opened:
                self._opened.add(view.run_id)
                self._display.open(view, reader.notice(view))
            self._display.show(line)
            if not reader.is_leaving:
                await reader.read(seconds_for(line))
