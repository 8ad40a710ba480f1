"""Two stories side by side: where they part, what is otherwise, and what each of them cost.

Always holds: they part at the first event that would make their digests differ; so two stories are the same exactly if
their digests are. Events that only restate a past are no part of it, and ids, wall times and latencies say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

import msgspec

from glasshouse.events import kinds
from glasshouse.events.digest import Digest
from glasshouse.events.event import Event
from glasshouse.events.payloads import payload_of
from glasshouse.events.run_payloads import RunFinished
from glasshouse.views.spend import Spend, spend_of
from glasshouse.views.transcript import TranscriptLine, transcript_of

lines_compared_max: Final = 400
"""After the first line that is otherwise, so many lines of each story are laid side by side."""


class Told(msgspec.Struct, frozen=True):
    """One of two stories."""

    name: str
    events: int
    lines: int
    turns: int
    reason: str | None
    """Why it is over; none if it is not."""
    winner: str | None
    cost: Spend
    cost_apart: Spend
    """What it cost from where they part."""
    parts_with: Event | None = None
    """The first event that the other does not have; none if it ends before."""
    only_here: tuple[TranscriptLine, ...] = ()
    """Lines that the other does not have, from the first one on."""


class Comparison(msgspec.Struct, frozen=True):
    """Two stories compared."""

    first: Told
    second: Told
    shared_events: int
    """How many events they have in common before they part; those that restate a past are not counted."""
    shared_lines: int
    """How many lines are the same before the first that is not: who said it, and what."""

    @property
    def is_same(self) -> bool:
        """Whether they are one story, byte for byte."""
        return self.first.parts_with is None and self.second.parts_with is None


def compared(
    first: tuple[str, Sequence[Event]],
    second: tuple[str, Sequence[Event]],
    skews: Mapping[str, int] | None = None,
) -> Comparison:
    """Two stories, each with its name and its events as `run_events` gives them. `skews` are those of a digest."""
    entries = [list(_entries(events, skews)) for _, events in (first, second)]
    shared = _alike([entry for _, entry in entries[0]], [entry for _, entry in entries[1]])
    lines = [list(transcript_of(events)) for _, events in (first, second)]
    said = [[(line.who, line.kind, line.text) for line in of_each] for of_each in lines]
    lines_shared = _alike(*said)
    only = _only(*[words[lines_shared : lines_shared + lines_compared_max] for words in said])
    told = [
        _told(name, events, [event for event, _ in entries[n]], shared, lines[n], lines_shared, only[n])
        for n, (name, events) in enumerate((first, second))
    ]
    return Comparison(told[0], told[1], shared, lines_shared)


def _entries(events: Sequence[Event], skews: Mapping[str, int] | None) -> Iterator[tuple[Event, bytes]]:
    digest = Digest(skews)
    for event in events:
        entry = digest.take_in(event)
        if entry is not None:
            yield event, entry


def _alike(first: Sequence[object], second: Sequence[object]) -> int:
    """How many are the same before the first that is not."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(first), len(second)))


def _only(first: Sequence[object], second: Sequence[object]) -> tuple[list[int], list[int]]:
    """The places of what only one of the two has."""
    places: tuple[list[int], list[int]] = ([], [])
    for how, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if how != "equal":
            places[0].extend(range(a, b))
            places[1].extend(range(c, d))
    return places


def _told(
    name: str,
    events: Sequence[Event],
    story: Sequence[Event],
    shared: int,
    lines: Sequence[TranscriptLine],
    lines_shared: int,
    only: Sequence[int],
) -> Told:
    ends = [event for event in story if event.kind == kinds.RUN_FINISHED]
    end = payload_of(ends[-1], RunFinished) if ends else None
    return Told(
        name=name,
        events=len(story),
        lines=len(lines),
        turns=max([event.turn for event in events], default=0),
        reason=None if end is None else end.reason,
        winner=None if end is None else end.winner,
        cost=spend_of(story),
        cost_apart=spend_of(story[shared:]),
        parts_with=story[shared] if shared < len(story) else None,
        only_here=tuple([lines[lines_shared + place] for place in only]),
    )
