"""The stage on the screen, as it was after some events of a story.

Always holds: everything drawn is folded from events as the one who looks may read them; no model is asked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec
from rich.rule import Rule
from rich.text import Text

from glasshouse.cli.drawing.programme import Programme
from glasshouse.cli.drawing.screen import Screen, one_line, print_json, spelled
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.cli.looking import Story
from glasshouse.cli.pointing import numbers_of
from glasshouse.events.event import Event
from glasshouse.events.redaction import Role, redacted
from glasshouse.views.stage import RunStatus, StageProjection
from glasshouse.views.transcript import TranscriptLine, transcript_of


@dataclass(frozen=True)
class Sight:
    """A story up to some event, for somebody's eyes."""

    story: Story
    count: int
    role: Role
    has_numbers: bool = False
    """Whether each line has the number of its event in front."""

    @cached_property
    def events(self) -> list[Event]:
        """The events, as this role may read them."""
        return [redacted(event, self.role) for event in self.story.events[: self.count]]

    @property
    def numbers(self) -> dict[str, int] | None:
        """The number of each event by its id, if they are wanted."""
        return numbers_of(self.story.events) if self.has_numbers else None

    @cached_property
    def stage(self) -> StageProjection:
        """The stage after them."""
        stage = StageProjection(run_id=self.story.run_id, past_run_ids=self.story.past_run_ids)
        for event in self.events:
            stage.apply(event)
        return stage


def tell_stage(sight: Sight) -> None:
    """Print the stage for machines."""
    print_json(
        {
            **sight.story.ids,
            "at": sight.count,
            "events": len(sight.story.events),
            "role": sight.role,
            "last_event": sight.events[-1].id if sight.events else None,
            "stage": msgspec.to_builtins(sight.stage),
        }
    )


def draw_stage(sight: Sight, lines_shown: int) -> None:
    """Draw the stage for people: what is played, the scene, the cast, the last lines, the verdicts."""
    screen, stage = Screen(), sight.stage
    cast = [member.handle for member in stage.cast.values()]
    voices = Voices(cast, has_minds=sight.role != "spectator", numbers=sight.numbers)
    _draw_heading(screen, sight)
    _draw_cast(screen, stage, voices)
    if stage.current_scene:
        title = f" {one_line(stage.scene_title)} " if stage.scene_title else " The scene "
        screen.draw(Text(), Rule(Text(title, style="bold"), align="left", style=QUIET))
        screen.draw(Text(one_line(stage.current_scene), style="italic"))
    _draw_lines(screen, sight, voices, lines_shown)
    _draw_end(screen, stage)


def _draw_heading(screen: Screen, sight: Sight) -> None:
    run, counters = sight.stage.run, sight.stage.counters
    title = one_line(run.title) if run is not None and run.title else sight.story.name
    name = f"  {sight.story.name}" if title != sight.story.name else ""
    screen.draw(Text.assemble((title, "bold"), name))
    if run is not None and run.seed:
        screen.draw(Text(f"from: {one_line(run.seed)}", style=QUIET))
    state = "not begun" if run is None else run.state
    place = f"event {sight.count:,} of {len(sight.story.events):,}, turn {sight.stage.turn}, {state}"
    counts = f"{counters.lines} lines, {counters.passes} passes, {counters.failures} failures"
    screen.draw(Text(f"{place}; {counts}", style=QUIET))


def _draw_cast(screen: Screen, stage: StageProjection, voices: Voices) -> None:
    if not stage.cast:
        return
    shown = Text("cast: ")
    for place, member in enumerate(stage.cast.values()):
        shown.append(", " if place else "")
        shown.append(one_line(member.handle), style=f"bold {voices.colour_of(member.handle)}")
        notes = [member.role if member.role != "worker" else "", "" if member.is_running else "resting"]
        told = ", ".join(note for note in notes if note)
        shown.append(f" ({told})" if told else "", style=QUIET)
    screen.draw(shown)


def _draw_lines(screen: Screen, sight: Sight, voices: Voices, lines_shown: int) -> None:
    every = lines_of(sight.story, sight.events, has_minds=sight.role != "spectator")
    last = deque(every, maxlen=lines_shown)
    if not last:
        return
    before = len(every) - len(last)
    title = f" The last {len(last)} of {len(every)} lines " if before else " Every line "
    screen.draw(Text(), Rule(Text(title, style="bold"), align="left", style=QUIET))
    for line in last:
        voices.show(screen, line)


def _draw_end(screen: Screen, stage: StageProjection) -> None:
    run = stage.run
    if run is not None and run.state == "finished":
        said = [note.text for note in stage.judge_notes]
        screen.draw(Text(), Text(ending_of(run, said), style="bold"))


def lines_of(story: Story, events: Sequence[Event], *, has_minds: bool) -> list[TranscriptLine]:
    """The lines that people are shown: of a run as its programme tells them, else of whatever was said."""
    if story.run_id is None:
        return list(transcript_of(events))
    programme = Programme(story.run_id, has_minds=has_minds, past_run_ids=story.past_run_ids)
    return [line for event in events if (line := programme.apply(event)) is not None]


def _counted(number: int | None, noun: str) -> str:
    return f"{number or 0:,} {noun}{'' if number == 1 else 's'}"


_ENDINGS: Final = {
    "ended": "The end.",
    "stopped": "Stopped.",
    "budget": "The end: the budget is used up",
    "no_contest": "The end: no contest.",
}


def ending_of(run: RunStatus, said: Iterable[str] = ()) -> str:
    """How a finished run ended, in one line. Why it ended so is left out where that was just `said`."""
    ended = _ENDINGS.get(run.reason or "ended", f"The end: {run.reason}")
    if not ended.endswith("."):
        ended = f"{ended} ({run.axis})." if run.axis else f"{ended}."
    spent = ", ".join(
        [_counted(run.turns, "turn"), _counted(run.calls, "call"), _counted(run.tokens, "token")]
    )
    price = "price unknown" if run.usd is None else f"{run.usd:.4f} USD" if run.usd else "free"
    winner = f" Winner: {one_line(run.winner)}." if run.winner else ""
    told = f" {spelled(one_line(run.why))}" if run.why and run.why not in said else ""
    return f"{ended}{winner}{told} It took {spent}, {price}."
