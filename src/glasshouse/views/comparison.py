"""Comparison of two stories: where they diverge, which lines differ, and what each cost.

Always holds: two stories diverge at the first event that makes their digests differ, so they are the same exactly if
their digests are. Events that only restate a past are not compared, nor are ids, wall times,
latencies and costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

import msgspec

from glasshouse.events import kinds
from glasshouse.events.digest import Digest
from glasshouse.events.event import Event, usage_in
from glasshouse.events.model_use import Usage
from glasshouse.events.payloads import RunFinished, payload_of
from glasshouse.events.redaction import Role, redacted
from glasshouse.reprs import repr_of
from glasshouse.views.transcript import TranscriptLine, transcript_of

lines_compared_max: Final = 400
"""How many lines of each story are compared, from the first line that differs."""


class ComparedStory(msgspec.Struct, frozen=True):
    """One of two stories."""

    __repr__ = repr_of("name", "lines", "turns", "reason", "winner", "parts_with")

    name: str
    events: int
    lines: int
    turns: int
    reason: str | None
    """Why it ended; none if it has not ended."""
    winner: str | None
    cost: Usage
    cost_apart: Usage
    """What it cost after the point where the stories diverge."""
    parts_with: Event | None = None
    """Its first event that differs from the other story; none if it ends before that."""
    only_here: tuple[TranscriptLine, ...] = ()
    """Its lines that the other story does not have, in order."""
    numbers: dict[str, int] = {}
    """The numbers of the events behind `parts_with` and `only_here`, by id. They count the events of the story from 1."""


class Comparison(msgspec.Struct, frozen=True):
    """The result of comparing two stories."""

    __repr__ = repr_of("is_same", "shared_events", "shared_lines")

    first: ComparedStory
    second: ComparedStory
    shared_events: int
    """How many events are the same before the stories diverge; events that restate a past are not counted."""
    shared_lines: int
    """How many lines have the same speaker, kind and text before the first that differs."""

    @property
    def is_same(self) -> bool:
        """Whether both are the same story: their digests are equal."""
        return self.first.parts_with is None and self.second.parts_with is None


class _Read:
    """One story with the parts that are compared: its digest entries and its lines."""

    def __init__(
        self, name: str, events: Sequence[Event], skews: Mapping[str, int] | None, role: Role
    ) -> None:
        digest = Digest(skews)
        entries = [(event, entry) for event in events if (entry := digest.add(event)) is not None]
        self.name = name
        self.numbers = {event.id: number for number, event in enumerate(events, start=1)}
        self.turns = max([event.turn for event in events], default=0)
        self.events = [event for event, _ in entries]
        self.entries = [entry for _, entry in entries]
        self.role: Role = role
        lines = transcript_of(redacted(event, role) for event in events)
        self.lines = [line for line in lines if line.voice != "ending"]
        self.said = [(line.who, line.kind, line.text) for line in self.lines]

    def compared(self, shared_events: int, only_here: Sequence[TranscriptLine]) -> ComparedStory:
        """The result for this story, given how many events are shared and the lines that only it has."""
        ends = [payload_of(event, RunFinished) for event in self.events if event.kind == kinds.RUN_FINISHED]
        after = self.events[shared_events:]
        cited = [event.id for event in after[:1]] + [line.id for line in only_here]
        return ComparedStory(
            name=self.name,
            events=len(self.events),
            lines=len(self.lines),
            turns=self.turns,
            reason=ends[-1].reason if ends else None,
            winner=ends[-1].winner if ends else None,
            cost=usage_in(self.events),
            cost_apart=usage_in(after),
            parts_with=redacted(after[0], self.role) if after else None,
            only_here=tuple(only_here),
            numbers={event_id: self.numbers[event_id] for event_id in cited},
        )


def compared(
    first: tuple[str, Sequence[Event]],
    second: tuple[str, Sequence[Event]],
    skews: Mapping[str, int] | None = None,
    *,
    role: Role = "audience",
) -> Comparison:
    """Compare two stories, each given as a name and its events from `run_events`. `skews` are as in `digest_of`.

    The whole events are compared. The result holds only what the role may read.
    """
    a = _Read(*first, skews, role)
    b = _Read(*second, skews, role)
    events = _shared(a.entries, b.entries)
    lines = _shared(a.said, b.said)
    upto = lines + lines_compared_max
    matcher = SequenceMatcher(None, a.said[lines:upto], b.said[lines:upto], autojunk=False)
    apart = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    only_a = [line for _, start, end, _, _ in apart for line in a.lines[lines + start : lines + end]]
    only_b = [line for _, _, _, start, end in apart for line in b.lines[lines + start : lines + end]]
    return Comparison(a.compared(events, only_a), b.compared(events, only_b), events, lines)


def _shared(first: Sequence[object], second: Sequence[object]) -> int:
    """How many items are the same before the first that differs."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(first), len(second)))
