"""Which run, session or event a name means: an id, the beginning of one, `last`, or an event's number.

Always holds: a name means exactly one id, or is refused. If a name is one id and also the beginning of another, it means
the first. Numbers count the events of a run or session from 1, in the order of histories, whoever asks: the command line
and an assistant name events alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import RESERVED_ACTORS, VISITOR, Event

LAST: Final = "last"
candidates_shown_max: Final = 8
"""An ambiguous prefix of an id lists at most this many; the rest is counted."""
digits_read_max: Final = 18
"""Of a number with more digits, only these are read. No run has so many events."""


def id_meant(noun: str, name: str, known: Sequence[str]) -> str:
    """The id that a name means. The known ids are given oldest first."""
    if name == LAST and known:
        return known[-1]
    # The prefix, such as `r-`, may be left out.
    begun = [i for i in known if name and (i.startswith(name) or i.partition("-")[2].startswith(name))]
    matches = [name] if name in known else begun
    if not matches:
        raise UnknownName(noun=noun, name=name, known=known)
    if len(matches) == 1:
        return matches[0]
    hidden = len(matches) - candidates_shown_max
    shown = ", ".join(matches[:candidates_shown_max]) + (f" and {hidden} more" if hidden > 0 else "")
    raise Refused(f"{name!r} could be any of {shown}.", "Write more of it.")


def session_and_seq_meant(name: str) -> tuple[str, int] | None:
    """The name of the session and the seq in an event's id; none if the name is no such id, or the beginning of one."""
    if "." in name and not name.isascii():
        raise UnknownName(noun="event", name=name)
    session, dot, seq = name.rpartition(".")
    return (session, int(seq[:digits_read_max])) if dot and seq.isdigit() else None


def event_count_meant(story: str, events: Sequence[Event], at: str, least: int = 0) -> int:
    """How many events of a story a name means: all up to this number, id, beginning of an id, or `last`."""
    count = len(events)
    if at == LAST:
        return count
    if at.isascii() and at.isdigit():
        if not least <= int(at[:digits_read_max]) <= count:
            raise Refused(f"{story} has {count:,} events.", f"Give a number from {least} to {count}.")
        return int(at)
    ids = [event.id for event in events]
    return ids.index(id_meant("event", at, ids)) + 1


def event_meant(story: str, events: Sequence[Event], name: str) -> Event:
    """The event of a story that a name means: `last` is the last line."""
    if name != LAST:
        return events[event_count_meant(story, events, name, least=1) - 1]
    lines = [event for event in events if is_line(event)]
    if not lines:
        raise Refused(f"Nothing was said in {story} yet.", "Name an event by its number or its id.")
    return lines[-1]


def is_line(event: Event) -> bool:
    """Whether an event is a line: `last` means the last of these."""
    return event.kind not in kinds.WITHOUT_WORDS and not event.is_engine


def last_said(story: str, events: Sequence[Event], otherwise: str) -> Event:
    """The last line that a creature or the visitor said: only such a line can be left out or replaced. `otherwise` is what to
    do if there is none."""
    said = [event for event in events if event.actor not in RESERVED_ACTORS - {VISITOR} and is_line(event)]
    if not said:
        raise Refused(f"Nothing was said in {story} yet.", otherwise)
    return said[-1]


def session_at_end(run_id: str, events: Sequence[Event]) -> str:
    """The session in which a run ended, or has come the furthest."""
    own = [event for event in events if event.run_id == run_id]
    return next((event for event in own if event.kind == kinds.RUN_FINISHED), own[-1]).session_id
