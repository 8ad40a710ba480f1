"""Where a show appears: on a terminal with header and bar, in a pipe line by line, or as JSON for machines.

Always holds: the bar is on the screen only between two lines, so that nothing is ever drawn over it or left behind it.
"""

from __future__ import annotations

import sys
from typing import Protocol

from glasshouse.cli.drawing.programme import Programme
from glasshouse.cli.drawing.screen import Screen, one_line, print_json
from glasshouse.cli.drawing.stage_header import HINT, header, status
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event
from glasshouse.events.redaction import redacted
from glasshouse.views.transcript import TranscriptLine


class Display(Protocol):
    """Shows one run."""

    def open(self, programme: Programme) -> None:
        """Say what is played."""

    def show(self, event: Event, line: TranscriptLine | None, /) -> None:
        """Show an event, and its line if it has one."""

    def rest(self, programme: Programme, hint: str = HINT) -> None:
        """Show how far it is, while nothing else is drawn."""

    def say(self, *lines: str) -> None:
        """Say something that is no part of the play."""


class JsonDisplay:
    """One event a line, as the audience may read it."""

    def open(self, programme: Programme) -> None:
        """Everything is in the events."""

    def show(self, event: Event, _line: TranscriptLine | None, /) -> None:
        """Print the event."""
        print_json(content_of(redacted(event, "audience")))

    def rest(self, programme: Programme, hint: str = HINT) -> None:
        """Machines need no bar."""

    def say(self, *lines: str) -> None:
        """Say it beside the events."""
        for line in lines:
            print(line, file=sys.stderr)


class PipedVoices(Voices):
    """Voices that go on one line each, `who: what`."""

    def plain(self, line: TranscriptLine) -> str:
        """A line for a pipe."""
        if line.voice == "change":
            return f"({one_line(line.text)})"
        thought = self._thought(line)
        if line.voice == "silence":
            return f"({one_line(line.who)}: {one_line(line.text) or 'says nothing'})"
        return f"{one_line(line.who)}: {self._said(line)}{' ' if thought else ''}{thought}".rstrip()


class PipeDisplay:
    """Plain lines, nothing else."""

    def __init__(self, *, has_minds: bool) -> None:
        self._voices = PipedVoices(has_minds=has_minds)

    def open(self, programme: Programme) -> None:
        """The voices speak for themselves."""

    def show(self, _event: Event, line: TranscriptLine | None, /) -> None:
        """Print the line."""
        if line is not None:
            print(self._voices.plain(line), flush=True)

    def rest(self, programme: Programme, hint: str = HINT) -> None:
        """A pipe has no place for a bar."""

    def say(self, *lines: str) -> None:
        """Print it."""
        for line in lines:
            print(line, flush=True)


class TerminalDisplay:
    """A stage on a terminal."""

    def __init__(self, screen: Screen, *, has_minds: bool, has_bar: bool) -> None:
        self._screen = screen
        self._voices = Voices(has_minds=has_minds)
        self._has_bar = has_bar and not screen.console.is_dumb_terminal
        self._is_bar_shown = False

    def open(self, programme: Programme) -> None:
        """Draw the stage header."""
        self._clear()
        self._screen.draw(*header(programme, self._voices))

    def show(self, _event: Event, line: TranscriptLine | None, /) -> None:
        """Draw the line in its voice."""
        if line is not None:
            self._clear()
            self._voices.show(self._screen, line)

    def rest(self, programme: Programme, hint: str = HINT) -> None:
        """Draw the bar at the bottom, to be taken away before anything else is drawn."""
        if not self._has_bar:
            return
        self._clear()
        console = self._screen.console
        is_plain = not (console.encoding or "").lower().startswith("utf")
        text = status(programme, self._screen.width, hint, is_plain=is_plain)
        console.print(text, style=QUIET, end="", no_wrap=True, overflow="crop", soft_wrap=True)
        console.file.flush()
        self._is_bar_shown = True

    def say(self, *lines: str) -> None:
        """Say it in plain words."""
        self._clear()
        for line in lines:
            self._screen.console.print(line, soft_wrap=True)

    def _clear(self) -> None:
        if self._is_bar_shown:
            self._screen.console.file.write("\r\x1b[2K")
            self._is_bar_shown = False
