"""The transcript: events as lines that people read, each with who said it and what.

Always holds: a line carries the handle its speaker had when it was said; what a role may not read was taken off the
events before. Kinds without words are left out, save those that say why somebody was silent, and changes that somebody
in the play made to its shape: who came, who went, who can hear each other now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, TERRARIUM, Event, Json
from glasshouse.views.stage import Note, StageProjection, past_runs

Voice = Literal["cast", "judge", "visitor", "world", "silence", "change"]

calls_kept_max: Final = 256
names_told_max: Final = 6

_VOICES: Final[dict[str, Voice]] = {
    "agent_notes": "cast",
    "judge_notes": "judge",
    "user_artifacts": "visitor",
}


_SHAPES: Final = {"merge": "within hearing now: {}", "split": "out of hearing now: {}"}


class TranscriptLine(msgspec.Struct, frozen=True, gc=False):
    """One line. `fields` are what a kind carries besides its text; `thought` and `mood` are empty where hidden."""

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

    @property
    def plain(self) -> str:
        """The line as one piece of text."""
        if self.voice == "change":
            return f"({self.text})"
        return f"{self.who}: {self.text}" if self.voice != "silence" else f"({self.who}: {self.text})"


class Transcript:
    """A transcript in the making: apply events, get lines."""

    def __init__(self, run_id: str | None = None, past_run_ids: tuple[str, ...] = ()) -> None:
        self._stage = StageProjection(run_id=run_id, past_run_ids=past_run_ids)
        self._calls: dict[str, None] = {}
        """The tools lately used in this run: what they changed is told, though it belongs to no run."""

    def apply(self, event: Event) -> TranscriptLine | None:
        """Take the next event in; give its line, if it is one."""
        stage = self._stage
        if event.caused_by in self._calls and event.actor == TERRARIUM:
            changed = self._changed(event)
            stage.apply(event)
            return changed
        before = stage.counters.events
        touched = stage.apply(event)
        if stage.counters.events == before:
            return None
        if event.kind == kinds.TOOL_CALLED:
            self._keep(event.id)
        if touched and touched[0][0] in _VOICES:
            name = touched[0][0]
            return _spoken(getattr(stage, name)[-1], _VOICES[name])
        if event.kind == kinds.WORLD_OBSERVED:
            return _said(event, self._handle(event.actor), "world", "text")
        if event.kind in kinds.WITHOUT_A_LINE:
            return _said(event, self._handle(event.actor), "silence", "reason")
        return None

    def _keep(self, call: str) -> None:
        self._calls[call] = None
        if len(self._calls) > calls_kept_max:
            del self._calls[next(iter(self._calls))]

    def _changed(self, event: Event) -> TranscriptLine | None:
        """A change of shape as a line; none for those that nobody on stage would notice."""
        told = event.payload
        text = ""
        if event.kind == kinds.CREATURE_STARTED and told.get("parent"):
            text = f"{told['handle']} comes in"
        elif event.kind == kinds.CREATURE_STOPPED and told["reason"] == "removed":
            text = f"{self._handle(told['creature'])} is gone"
        elif event.kind == kinds.TOPOLOGY_CHANGED and told["kind"] in _SHAPES:
            names = _listed([self._handle(one) for one in told["affected_creatures"]])
            text = _SHAPES[told["kind"]].format(names)
        if not text:
            return None
        return TranscriptLine(event.id, event.turn, "change", "", event.kind, text)

    def _handle(self, actor: str) -> str:
        member = self._stage.cast.get(actor)
        if member is not None:
            return member.handle
        return "world" if actor == CONDUCTOR else actor


def transcript_of(events: Iterable[Event], run_id: str | None = None) -> Iterator[TranscriptLine]:
    """The lines of these events, in their order; of a branch, with those of the past it has."""
    events = events if run_id is None or isinstance(events, Sequence) else list(events)
    transcript = Transcript(run_id, past_runs(events, run_id))
    for event in events:
        line = transcript.apply(event)
        if line is not None:
            yield line


def _spoken(note: Note, voice: Voice) -> TranscriptLine:
    private = note.private or {}
    return TranscriptLine(
        id=note.id,
        turn=note.turn,
        voice=voice,
        who=note.handle,
        kind=note.kind,
        text=note.text,
        fields=note.fields,
        channel=note.channel,
        thought=_words(private.get("thought")),
        mood=_words(private.get("mood")),
    )


def _said(event: Event, who: str, voice: Voice, text_field: str) -> TranscriptLine:
    text = event.payload.get(text_field)
    fields = {name: value for name, value in event.payload.items() if name != text_field}
    return TranscriptLine(
        id=event.id,
        turn=event.turn,
        voice=voice,
        who=who,
        kind=event.kind,
        text=_words(text),
        fields=fields,
        channel=event.channel,
    )


def _listed(names: list[str]) -> str:
    more = len(names) - names_told_max
    return ", ".join(names[:names_told_max] + ([f"{more} more"] if more > 0 else []))


def _words(value: object) -> str:
    return value if isinstance(value, str) else ""
