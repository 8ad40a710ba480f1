"""A recorded run, performed again on the screen or told to machines, line by line from its events."""

from __future__ import annotations

import time

import msgspec
from rich.text import Text

from glasshouse.cli.looking import Story
from glasshouse.cli.pace import Pace, seconds_to_read
from glasshouse.cli.screen import Screen, one_line, print_json
from glasshouse.cli.stage_drawing import ending_of
from glasshouse.cli.voices import QUIET, Voices
from glasshouse.events.digest import digest_of
from glasshouse.events.redaction import Role
from glasshouse.views.stage import rebuild_stage
from glasshouse.views.transcript import transcript_of


class Recital:
    """A story for one kind of listener."""

    def __init__(self, story: Story, role: Role) -> None:
        self._story = story
        self._role: Role = role
        self._events = story.seen_by(role)

    def tell(self) -> None:
        """One JSON object for each line."""
        for line in transcript_of(self._events, self._story.run_id):
            print_json(msgspec.to_builtins(line))

    def perform(self, pace: Pace) -> None:
        """Each line, and after it as long a pause as it takes to read it."""
        screen, stage = Screen(), rebuild_stage(self._events, self._story.run_id)
        handles = [member.handle for member in stage.cast.values()]
        voices = Voices(handles, has_minds=self._role != "spectator")
        run = stage.run
        title = one_line(run.title) if run is not None and run.title else self._story.name
        screen.draw(Text.assemble((title, "bold"), (f"  {self._story.name}, from the record", QUIET)))
        if run is not None and run.seed:
            screen.draw(Text(f"from: {one_line(run.seed)}", style=QUIET))
        for line in transcript_of(self._events, self._story.run_id):
            voices.show(screen, line)
            if pace is Pace.READING:
                time.sleep(
                    seconds_to_read(f"{line.text} {line.thought if self._role != 'spectator' else ''}")
                )
        if run is not None and run.state == "finished":
            screen.draw(Text(), Text(ending_of(run), style="bold"))
        screen.draw(Text(f"digest {digest_of(self._story.events)}", style=QUIET))
