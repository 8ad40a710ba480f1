"""The newest lines of one place: where they stand in the ledger, and how many were said there before them.

Always holds: a table is bounded; it is cut to its newest lines whenever it has grown to twice the bound. Where its lines
stand is folded; the lines themselves are a cache, which can be dropped and brought back from the store.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

import msgspec
from msgspec.structs import replace

from glasshouse.events.event import Event

heard_lines_max: Final = 256
"""How many lines a creature can recall; a table is cut to this when it holds twice as many."""


class Stretch(msgspec.Struct, array_like=True, gc=False):
    """Lines that stand one behind the other in one session."""

    session_id: str
    first: int
    last: int
    via: str = ""
    """The session that took these lines over from a past it grows from, and says what everything is called now."""


class Table(msgspec.Struct, dict=True):
    """Where the newest lines of one place stand, and how many were dropped before them."""

    spans: list[Stretch] = msgspec.field(default_factory=list)
    count: int = 0
    dropped: int = 0
    speakers: dict[str, None] = msgspec.field(default_factory=dict)
    """Whoever spoke here, in the order of their first words."""

    def __post_init__(self) -> None:
        self.lines_cache: list[Event] | None = None if self.count else []
        """The lines themselves; none if they are not at hand."""

    @property
    def lines(self) -> list[Event]:
        """The newest lines, oldest first; of a cold table none."""
        return self.lines_cache or []

    @property
    def total(self) -> int:
        """How many lines were ever said here."""
        return self.dropped + self.count

    def total_at(self, upto: int | None) -> int:
        """How many lines had been said here at a time."""
        lines = self.lines
        if upto is None or not lines or lines[-1].lamport <= upto:
            return self.total
        return self.dropped + bisect_right(lines, upto, key=lambda line: line.lamport)

    def note(self, event: Event) -> None:
        """One more line stands here."""
        seq, spans, lines = event.seq, self.spans, self.lines_cache
        if spans and (last := spans[-1]).last + 1 == seq and last.session_id == event.session_id:
            last.last = seq
        else:
            spans.append(Stretch(event.session_id, seq, seq))
        self.count += 1
        self.speakers[event.actor] = None
        if lines is not None:
            lines.append(event)
        if self.count >= 2 * heard_lines_max:
            self._drop(heard_lines_max)

    def _drop(self, lines: int) -> None:
        self.dropped += lines
        self.count -= lines
        if self.lines_cache is not None:
            del self.lines_cache[:lines]
        while lines:
            oldest = self.spans[0]
            size = oldest.last - oldest.first + 1
            if size > lines:
                oldest.first += lines
                return
            lines -= size
            del self.spans[0]


def public_part(event: Event) -> Event:
    """What of an event everybody who hears it may read."""
    if event.private is None and event.sealed is None and event.model is None:
        return event
    return replace(event, private=None, sealed=None, model=None)
