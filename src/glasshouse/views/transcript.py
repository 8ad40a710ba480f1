"""The transcript: events as lines for people to read, each with its speaker and its text.

Always holds: every line is a note of the stage (ADR 0047), so it has the handle that its speaker had at that time. The
caller has already removed from the events what the role may not read. Kinds that are not lines are left out, except
those that say why a creature was silent, uses of tools, and changes that a creature made to its graph. What a group
tool did is one line, and so is a scene or a disturbance that was shown in several graphs at once. The last line of a run
that has finished says how it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import RunFinished, payload_of, private_of
from glasshouse.reprs import repr_of
from glasshouse.views.ending import figures_of, how_it_ended
from glasshouse.views.stage import NOTES, Note, StageProjection, ToolUsed, Voice, past_runs


class TranscriptLine(msgspec.Struct, frozen=True, gc=False):
    """One line. `fields` is the payload without its text; `thought` and `mood` are empty if they are hidden. A line of
    the voice `tool` has `used`."""

    __repr__ = repr_of("who", "text", "turn")

    id: str
    turn: int
    voice: Voice
    who: str
    kind: str
    text: str
    fields: Json = {}
    channel: str | None = None
    thought: str = ""
    mood: str = ""
    used: ToolUsed | None = None

    @property
    def plain(self) -> str:
        """The line as one piece of text."""
        if self.voice == "ending":
            return self.text
        if self.voice == "change":
            return f"({self.text})"
        if self.used is not None and self.used.deed:
            return f"({self.who} {self.used.deed})"
        if self.used is not None:
            return f"({self.who} asked {self.used.tool}, which {self.used.outcome}: {self.text})"
        return f"{self.who}: {self.text}" if self.voice != "silence" else f"({self.who}: {self.text})"


def transcript_of(events: Iterable[Event], run_id: str | None = None) -> Iterator[TranscriptLine]:
    """The lines of these events, in order. For the run of a branch, the lines of its past are included."""
    events = events if run_id is None or isinstance(events, Sequence) else list(events)
    stage = StageProjection(run_id=run_id, past_run_ids=past_runs(events, run_id))
    for event in events:
        touched = stage.apply(event)
        for path in touched:
            if path[0] in NOTES:
                yield line_of(getattr(stage, path[0])[-1])
        if touched and event.kind == kinds.RUN_FINISHED:
            yield _ending(event)


def _ending(event: Event) -> TranscriptLine:
    """How a run ended, in a sentence, then the figures."""
    ended = payload_of(event, RunFinished)
    text = f"{how_it_ended(ended)} {figures_of(ended)}"
    return TranscriptLine(event.id, event.turn, "ending", "", event.kind, text)


def line_of(note: Note) -> TranscriptLine:
    """A note of the stage as a line of the transcript."""
    private = private_of(note.private if note.voice in ("cast", "judge", "visitor") else None)
    said = (note.id, note.turn, note.voice, note.handle, note.kind, note.text, note.fields, note.channel)
    return TranscriptLine(*said, private.thought, private.mood, note.used)
