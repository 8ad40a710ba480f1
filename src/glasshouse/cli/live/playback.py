"""A recorded run, performed again on the screen or printed for machines, line by line from its events."""

from __future__ import annotations

import time

import msgspec
from rich.rule import Rule
from rich.text import Text

from glasshouse.cli.drawing.header import header
from glasshouse.cli.drawing.run_view import RunView
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.drawing.stage import ending_of, lines_of
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.cli.live.pace import Pace, seconds_to_read
from glasshouse.cli.store_reader import Story
from glasshouse.views.transcript import transcript_of


def print_lines(story: Story, *, has_minds: bool) -> None:
    """One JSON object for each line."""
    for line in transcript_of(story.seen_by("audience" if has_minds else "spectator"), story.run_id):
        print_json(msgspec.to_builtins(line))


def play_back(story: Story, pace: Pace, *, has_minds: bool, has_numbers: bool) -> None:
    """Each line, and after it as long a pause as reading it takes."""
    events = story.seen_by("audience" if has_minds else "spectator")
    whole = RunView(story.run_id or "", past_run_ids=story.past_run_ids)
    for event in events:  # The header shows the whole cast from the first line on.
        whole.take(event)
    screen, cast = Screen(), [member.handle for member in whole.stage.cast.values()]
    voices = Voices(cast, has_minds=has_minds, numbers=story.numbers if has_numbers else None)
    if story.run_id is None:
        screen.draw(Rule(Text(f" {story.name} ", style="bold"), style=QUIET))
    else:
        screen.draw(*header(whole, voices))
    for line in lines_of(story, events, has_minds=has_minds):
        voices.show(screen, line)
        if pace is Pace.READING:
            time.sleep(seconds_to_read(f"{line.text} {line.thought}"))
    if whole.run.finished is not None:
        judged = [note.text for note in whole.stage.judge_notes]
        screen.draw(Text(), Text(ending_of(whole.run.finished, judged), style="bold"))
    screen.draw(Text(f"digest {story.digest}", style=QUIET))
