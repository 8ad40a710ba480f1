"""Where a run appears: on a terminal with header and bar, in a pipe line by line, or as JSON for machines.

Always holds: the bar is on the screen only between two lines, so that nothing is ever drawn over it or left behind it.
"""

from __future__ import annotations

import sys

from glasshouse.cli.drawing.header import HINT, header, status
from glasshouse.cli.drawing.run_view import RunView
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event
from glasshouse.events.redaction import redacted
from glasshouse.views.transcript import TranscriptLine


class Display:
    """What a display may show; each display shows what it has room for."""

    def open(self, view: RunView) -> None:
        """Say what is played."""

    def show_event(self, event: Event) -> None:
        """Show an event as it is stored."""

    def show(self, line: TranscriptLine) -> None:
        """Show a line."""

    def rest(self, view: RunView, hint: str = HINT) -> None:
        """Show how far it is, while nothing else is drawn."""

    def say(self, *lines: str) -> None:
        """Say something that is no part of the play."""
        for line in lines:
            print(line, flush=True)


class JsonDisplay(Display):
    """One event a line, as the audience may read it."""

    def show_event(self, event: Event) -> None:
        """Print the event."""
        print_json(content_of(redacted(event, "audience")))

    def say(self, *lines: str) -> None:
        """Say it beside the events."""
        for line in lines:
            print(line, file=sys.stderr)


class PipeDisplay(Display):
    """Plain lines, `who: what`."""

    def __init__(self, *, has_minds: bool) -> None:
        self._voices = Voices(has_minds=has_minds)

    def show(self, line: TranscriptLine) -> None:
        """Print the line."""
        print(self._voices.plain(line), flush=True)


class TerminalDisplay(Display):
    """A stage on a terminal."""

    def __init__(self, screen: Screen, *, has_minds: bool, has_bar: bool) -> None:
        self._screen = screen
        self._voices = Voices(has_minds=has_minds)
        self._has_bar = has_bar and not screen.console.is_dumb_terminal
        self._is_bar_shown = False

    def open(self, view: RunView) -> None:
        """Draw the header."""
        self._clear_bar()
        self._screen.draw(*header(view, self._voices))

    def show(self, line: TranscriptLine) -> None:
        """Draw the line in its voice."""
        self._clear_bar()
        self._voices.show(self._screen, line)

    def rest(self, view: RunView, hint: str = HINT) -> None:
        """Draw the bar at the bottom, to be taken away before anything else is drawn."""
        if not self._has_bar:
            return
        self._clear_bar()
        console = self._screen.console
        is_plain = not (console.encoding or "").lower().startswith("utf")
        text = status(view, self._screen.width, hint, is_plain=is_plain)
        console.print(text, style=QUIET, end="", no_wrap=True, overflow="crop", soft_wrap=True)
        console.file.flush()
        self._is_bar_shown = True

    def say(self, *lines: str) -> None:
        """Say it in plain words."""
        self._clear_bar()
        for line in lines:
            self._screen.console.print(line, soft_wrap=True)

    def _clear_bar(self) -> None:
        if self._is_bar_shown:
            self._screen.console.file.write("\r\x1b[2K")
            self._is_bar_shown = False
