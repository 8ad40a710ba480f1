"""A story on the screen: its stage after a number of events, the events themselves, or the whole story played back.

Always holds: everything drawn is folded from events that the user's role may read. No model is asked.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from rich.rule import Rule
from rich.text import Text

from glasshouse.cli.drawing.run_view import RunView, bios, header
from glasshouse.cli.drawing.screen import Screen, as_json, counted, one_line, price, print_json
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.cli.pace import Pace, seconds_for
from glasshouse.cli.prose import say
from glasshouse.cli.store_reader import Story
from glasshouse.events import kinds
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event
from glasshouse.events.payloads import CreatureRenamed, CreatureStarted, RunFinished, payload_of
from glasshouse.events.redaction import Role, redacted
from glasshouse.views.ending import figures_of, how_it_ended
from glasshouse.views.stage import RunStatus, StageProjection
from glasshouse.views.transcript import TranscriptLine, transcript_of

kind_chars: Final = 14
NAMING: Final[dict[str, type[CreatureStarted] | type[CreatureRenamed]]] = {
    kinds.CREATURE_STARTED: CreatureStarted,
    kinds.CREATURE_RENAMED: CreatureRenamed,
}
"""The events that give a creature its handle."""


class StageThen:
    """A story after `count` of its events, as a role may read it."""

    def __init__(self, story: Story, count: int, role: Role, *, has_numbers: bool = False) -> None:
        """With `has_numbers`, each line has the number of its event in front."""
        self._story = story
        self._count = count
        self._role: Role = role
        self._has_numbers = has_numbers
        self._events = [redacted(event, role) for event in story.events[:count]]

    def print_ledger(self, *, as_json: bool) -> None:
        """Every event on a line; for machines, with every field as it is stored."""
        if as_json:
            print_json(*map(content_of, self._events))
            return
        chars = len(str(self._count))
        for number, line in enumerate(ledger_lines(self._events), start=1):
            say(f"{number:>{chars}} {line}" if self._has_numbers else line)

    def print_json(self) -> None:
        """The stage for machines."""
        last = self._events[-1].id if self._events else None
        at = {"at": self._count, "events": len(self._story.events), "role": self._role, "last_event": last}
        print_json({**self._story.ids, **at, "stage": msgspec.to_builtins(self._stage())})

    def draw(self, lines_shown: int) -> None:
        """The stage for people: what is played, the cast, the scene, the last lines, the end."""
        screen = Screen()
        stage = self._stage()
        has_minds = self._role != "spectator"
        voices = _voices(self._story, stage, has_minds=has_minds, has_numbers=self._has_numbers)
        self._draw_heading(screen, stage)
        if stage.cast:
            screen.draw(_cast(stage, voices), *bios(stage, voices))
        if stage.current_scene:
            _draw_rule(screen, one_line(stage.scene_title) if stage.scene_title else "The scene")
            screen.draw(Text(one_line(stage.current_scene), style="italic"))
        every = lines_of(self._story, self._events, has_minds=has_minds)
        last = every[max(0, len(every) - lines_shown) :]
        if last:
            is_cut = len(last) < len(every)
            _draw_rule(screen, f"The last {len(last)} of {len(every)} lines" if is_cut else "Every line")
        for line in last:
            voices.show(screen, line)
        _draw_ending(screen, stage, stage.run)

    def _stage(self) -> StageProjection:
        stage = StageProjection(run_id=self._story.run_id, past_run_ids=self._story.past_run_ids)
        for event in self._events:
            stage.apply(event)
        return stage

    def _draw_heading(self, screen: Screen, stage: StageProjection) -> None:
        run = stage.run
        counters = stage.counters
        name = self._story.name
        title = one_line(run.title) if run is not None and run.title else name
        screen.draw(Text.assemble((title, "bold"), f"  {name}" if title != name else ""))
        if run is not None and run.seed:
            screen.draw(Text(f"from: {one_line(run.seed)}", style=QUIET))
        if run is not None and run.is_edited:
            screen.draw(Text("edited: its world was changed before the start", style=QUIET))
        state = "not begun" if run is None else run.state
        reached = f"event {self._count:,} of {len(self._story.events):,}, turn {stage.turn}, {state}"
        counts = f"{counters.lines} lines, {counters.passes} passes, {counters.failures} failures"
        spent = (
            f"{counted(counters.calls, 'call')}, {counted(counters.tokens, 'token')}, {price(counters.usd)}"
        )
        screen.draw(Text(f"{reached}; {counts}; {spent}", style=QUIET))


def _voices(story: Story, stage: StageProjection, *, has_minds: bool, has_numbers: bool) -> Voices:
    cast = [member.handle for member in stage.cast.values()]
    return Voices(cast, has_minds=has_minds, numbers=story.numbers if has_numbers else None)


def _draw_ending(screen: Screen, stage: StageProjection, run: RunStatus | None) -> None:
    if run is not None and run.finished is not None:
        screen.draw(Text(), Text(ending_of(run.finished, stage), "bold"))


def _cast(stage: StageProjection, voices: Voices) -> Text:
    cast = []
    for member in stage.cast.values():
        notes = [member.role if member.role != "worker" else "", "" if member.is_running else "resting"]
        note = ", ".join(note for note in notes if note)
        who = (one_line(member.handle), f"bold {voices.colour_of(member.handle)}")
        cast.append(Text.assemble(who, (f" ({note})" if note else "", QUIET)))
    return Text.assemble("cast: ", Text(", ").join(cast))


def _draw_rule(screen: Screen, title: str) -> None:
    screen.draw(Text(), Rule(Text(f" {title} ", style="bold"), align="left", style=QUIET))


def lines_of(story: Story, events: Sequence[Event], *, has_minds: bool) -> list[TranscriptLine]:
    """The lines that people are shown: of a run as a live view shows them, else whatever was said."""
    if story.run_id is None:
        return list(transcript_of(events))
    view = RunView(story.run_id, has_minds=has_minds, past_run_ids=story.past_run_ids)
    return [line for event in events for line in view.take(event)]


def ledger_lines(events: Iterable[Event]) -> Iterator[str]:
    """Each event as one line, `[agent.spoke   ] pocket-actor {"text": "..."}`, with the handle that its actor had then."""
    handles: dict[str, str] = {}
    for event in events:
        if event.kind in NAMING:
            named = payload_of(event, NAMING[event.kind])
            handles[named.creature] = named.handle
        who = one_line(handles.get(event.actor, event.actor))
        content = content_of(event)
        hidden = [name for name in ("private", "sealed", "model") if content.get(name) is not None]
        if not any(
            call.has_texts for call in event.calls
        ):  # Bare counts of calls would only lengthen the line.
            hidden = [name for name in hidden if name != "model"]
        parts = [f" {name} {as_json(content[name])}" for name in hidden]
        yield f"[{event.kind.ljust(kind_chars)}] {who} {as_json(event.payload)}{''.join(parts)}"


def ending_of(run: RunFinished, stage: StageProjection) -> str:
    """How a finished run ended, in a sentence, then the figures. Why it ended so is left out where a judge just said it."""
    judged = [note.text for note in stage.judge_notes]
    why = f" {one_line(run.why)}" if run.why and run.why not in judged else ""
    return f"{one_line(how_it_ended(run))}{why} {figures_of(run)}"


def print_lines(story: Story, *, has_minds: bool) -> None:
    """One JSON object for each line."""
    events = story.seen_by("audience" if has_minds else "spectator")
    print_json(*map(msgspec.to_builtins, transcript_of(events, story.run_id)))


def play_back(story: Story, pace: Pace, *, has_minds: bool, has_numbers: bool) -> None:
    """Draw each line, and wait as long as it takes to read it."""
    events = story.seen_by("audience" if has_minds else "spectator")
    whole = RunView(story.run_id or "", past_run_ids=story.past_run_ids)
    for event in events:  # The header shows the whole cast from the first line on.
        whole.take(event)
    screen = Screen()
    voices = _voices(story, whole.stage, has_minds=has_minds, has_numbers=has_numbers)
    if story.run_id is None:
        screen.draw(Rule(Text(f" {story.name} ", style="bold"), style=QUIET))
    else:
        screen.draw(*header(whole, voices))
    for line in lines_of(story, events, has_minds=has_minds):
        voices.show(screen, line)
        if pace is Pace.READING:
            time.sleep(seconds_for(line))
    _draw_ending(screen, whole.stage, whole.run)
    screen.draw(Text(f"digest {story.digest}", QUIET))
