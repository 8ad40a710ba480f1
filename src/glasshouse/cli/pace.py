"""How fast lines appear on the screen, and how long it takes to read one."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from glasshouse.cli.standard_output import standard_output

if TYPE_CHECKING:  # Every command knows the paces; listing worlds must not load the views for that.
    from glasshouse.views.transcript import TranscriptLine

typical_line_words: Final = 28
"""How long a line is, about: 20 to 51 words in the bundled worlds."""
minutes_told_from_seconds: Final = 100
"""A shorter duration is told in seconds: in whole minutes it would be wrong by more than a third."""


class Pace(StrEnum):
    """How fast lines appear: at the pace of a reader, or all at once."""

    READING = "reading"
    FAST = "fast"


def pace_here(wanted: Pace | None) -> Pace:
    """The requested pace; by default a reader's pace on a terminal, and fast in a pipe."""
    return wanted or (Pace.READING if standard_output().isatty() else Pace.FAST)


def seconds_for(line: TranscriptLine) -> float:
    """How long an average reader needs for a line. The use of a tool, or a change of the graph, is read at a glance."""
    from glasshouse.views.reading_time import glance_milliseconds, seconds_to_read

    if line.voice in ("tool", "change"):
        return glance_milliseconds / 1_000
    return seconds_to_read(f"{line.who} {line.text} {line.thought}")


def seconds_of_lines(lines: float) -> float:
    """About how long reading this many typical lines takes."""
    from glasshouse.views.reading_time import seconds_to_read

    return lines * seconds_to_read("word " * typical_line_words)


def duration_of(seconds: float) -> str:
    """A duration in words, right within a third of it."""
    if seconds < minutes_told_from_seconds:
        return f"about {max(10, round(seconds / 10) * 10)} seconds"
    return f"about {round(seconds / 60)} minutes"
