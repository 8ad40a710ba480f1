"""A recorded run, performed again on the screen or told to machines, line by line from its events."""

from __future__ import annotations

import time

import msgspec
from rich.rule import Rule
from rich.text import Text

from glasshouse.cli.drawing.programme import Programme
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.drawing.stage import ending_of, lines_of
from glasshouse.cli.drawing.stage_header import header
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.cli.looking import Story
from glasshouse.cli.performing.pace import Pace
from glasshouse.cli.performing.reading_speed import seconds_to_read
from glasshouse.cli.pointing import numbers_of
from glasshouse.views.transcript import transcript_of


class Recital:
    """A story, with or without what everybody thought."""

    def __init__(self, story: Story, *, has_minds: bool, has_numbers: bool = False) -> None:
        self._story = story
        self._has_minds = has_minds
        self._numbers = numbers_of(story.events) if has_numbers else None
        self._events = story.seen_by("audience" if has_minds else "spectator")

    def tell(self) -> None:
        """One JSON object for each line."""
        for line in transcript_of(self._events, self._story.run_id):
            print_json(msgspec.to_builtins(line))

    def perform(self, pace: Pace) -> None:
        """Each line, and after it as long a pause as it takes to read it."""
        screen, programme = Screen(), self._folded()
        cast = [member.handle for member in programme.stage.cast.values()]
        voices = Voices(cast, has_minds=self._has_minds, numbers=self._numbers)
        if self._story.run_id is None:
            screen.draw(Rule(Text(f" {self._story.name} ", style="bold"), style=QUIET))
        else:
            screen.draw(*header(programme, voices))
        for line in lines_of(self._story, self._events, has_minds=self._has_minds):
            voices.show(screen, line)
            if pace is Pace.READING:
                time.sleep(seconds_to_read(f"{line.text} {line.thought}"))
        if programme.is_finished:
            screen.draw(Text(), Text(ending_of(programme.run, programme.judged), style="bold"))
        screen.draw(Text(f"digest {self._story.digest}", style=QUIET))

    def _folded(self) -> Programme:
        """The whole run: what is known of it from the first line on."""
        programme = Programme(self._story.run_id or "", past_run_ids=self._story.past_run_ids)
        for event in self._events:
            programme.apply(event)
        return programme
