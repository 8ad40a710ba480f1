"""The lineage: which segments a session sees, how far, and in which order they are read.

Theory of operation. Segments form a DAG, as commits do in git. A session sees all of its own segment and, of every
ancestor, the longest prefix that any path to it allows. The order of a history is (lamport, segment, seq), segments
by their ordinal and then their id. Because lamport times are dense within a segment (`base + seq`), a span of a
segment is also a span of time, and a read can be planned by arithmetic alone: `pages` cuts the visible spans into
slices of time small enough to be fetched and sorted at once, whatever the number of segments. Planning a read reads
no event. ADR 0004 and ADR 0005.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from glasshouse.errors import Refused
from glasshouse.events.event import Event, session_and_seq
from glasshouse.world.state.ids import known
from glasshouse.world.state.state import Segment, SessionState
from glasshouse.world.state.values import GOES_ON

page_events_max = 1_024
"""Histories and mail are fetched in pages of about this size."""


class Span(msgspec.Struct, frozen=True, gc=False):
    """The events `first` to `last`, inclusive, of one segment. The event at `seq` has the time `base + seq`."""

    session_id: str
    ordinal: int
    base: int
    first: int
    last: int

    @property
    def starts_at(self) -> int:
        """The time of the first event."""
        return self.base + self.first

    @property
    def ends_at(self) -> int:
        """The time of the last event."""
        return self.base + self.last

    def cut(self, first: int, last: int) -> Span:
        """A part of this span."""
        return Span(self.session_id, self.ordinal, self.base, first, last)


def span_of(segment: Segment, first: int, last: int) -> Span:
    """A span of a segment."""
    return Span(segment.id, segment.ordinal, segment.base, first, last)


Moment = tuple[int, int, str]
"""A place in the order of histories: lamport, then the segment by its ordinal and id. The seq is not part of it,
because no two events of one segment have the same time."""


def place_in_story(sessions: Mapping[str, SessionState], event: Event) -> tuple[int, int, int, int]:
    """The place of an event in the story of a branch. Events that only restate a past come at the end of that past;
    those of a branch of a branch come after both pasts."""
    session = sessions[event.session_id]
    segment = session.segment
    moment = event.lamport - session.skew
    if segment.origin in GOES_ON:
        ends = [sessions[parent.session_id].story_time(parent.upto) for parent in segment.parents]
        moment = max(moment, *ends)
    return (moment, session.rank, segment.ordinal, event.seq)


def visible_prefixes(sessions: Mapping[str, SessionState], session_id: str) -> dict[str, int]:
    """Every segment that a session sees, its own first, each with the last visible seq."""
    return joined_prefixes(sessions, {session_id: known("session", session_id, sessions).head})


def joined_prefixes(sessions: Mapping[str, SessionState], ends: Mapping[str, int]) -> dict[str, int]:
    """Every segment that any of some sessions sees, those first, each with the last visible seq. `ends` gives the last
    seq that is wanted of each session itself."""
    prefixes = dict(ends)
    waiting = [sessions[session_id].segment for session_id in ends]
    while waiting:
        for parent in waiting.pop().parents:
            seen = prefixes.get(parent.session_id)
            if seen is None:
                waiting.append(sessions[parent.session_id].segment)
            if seen is None or parent.upto > seen:
                prefixes[parent.session_id] = parent.upto
    return prefixes


def moment_of(sessions: Mapping[str, SessionState], prefixes: Mapping[str, int], event_id: str) -> Moment:
    """The place of an event in a history, or a refusal if the event is not in that history."""
    session_id, seq = session_and_seq(event_id)
    if not 1 <= seq <= prefixes.get(session_id, 0):
        raise Refused(
            f"This history has no event {event_id!r}.",
            "Name an event of this session or of one of its ancestors.",
        )
    segment = sessions[session_id].segment
    return (segment.base + seq, segment.ordinal, session_id)


def spans_between(
    sessions: Mapping[str, SessionState],
    prefixes: Mapping[str, int],
    after: Moment | None = None,
    upto: Moment | None = None,
) -> list[Span]:
    """The spans to fetch: the part of the visible prefixes that is after one moment and up to another."""
    spans: list[Span] = []
    for session_id, last_visible in prefixes.items():
        segment = sessions[session_id].segment
        first = 1 if after is None else max(1, _last_at(after, segment) + 1)
        last = last_visible if upto is None else min(last_visible, _last_at(upto, segment))
        if first <= last:
            spans.append(span_of(segment, first, last))
    spans.sort(key=lambda span: span.starts_at)
    return spans


def _last_at(moment: Moment, segment: Segment) -> int:
    """The last seq of a segment that is not after the moment."""
    lamport, ordinal, session_id = moment
    is_included = (segment.ordinal, segment.id) <= (ordinal, session_id)
    return lamport - segment.base - (not is_included)


def pages(spans: list[Span], page_events: int = page_events_max) -> Iterator[list[Span]]:
    """The spans (sorted by time) as slices of time, each of about `page_events` events.

    All events of a page come before all events of the next, so pages can be read and sorted one by one.
    """
    page: list[Span] = []
    events = 0
    for pieces in _slices(spans, page_events):
        page.extend(pieces)
        events += sum(piece.last - piece.first + 1 for piece in pieces)
        if events >= page_events:
            yield _joined(page)
            page = []
            events = 0
    if page:
        yield _joined(page)


def _slices(spans: list[Span], events_max: int) -> Iterator[list[Span]]:
    """Cut at every time where a span begins or ends, and where a slice would grow too large."""
    upcoming = deque(spans)
    running: list[Span] = []
    while running or upcoming:
        start = (running or upcoming)[0].starts_at
        while upcoming and upcoming[0].starts_at <= start:
            running.append(upcoming.popleft())
        end = min(span.ends_at for span in running)
        if upcoming:
            end = min(end, upcoming[0].starts_at - 1)
        end = min(end, start + max(1, events_max // len(running)) - 1)
        taken, running = _slice(running, end)
        yield taken


def _slice(spans: list[Span], end: int) -> tuple[list[Span], list[Span]]:
    taken: list[Span] = []
    left: list[Span] = []
    for span in spans:
        cut = end - span.base
        if cut >= span.first:
            taken.append(span.cut(span.first, min(cut, span.last)))
        if cut < span.last:
            left.append(span if cut < span.first else span.cut(cut + 1, span.last))
    return taken, left


def _joined(page: list[Span]) -> list[Span]:
    """Neighbouring pieces of one segment as one piece, so that each is fetched once."""
    whole: dict[str, Span] = {}
    for piece in page:
        before = whole.get(piece.session_id)
        first = piece.first if before is None else before.first
        whole[piece.session_id] = piece if before is None else piece.cut(first, piece.last)
    return list(whole.values())


def ancestors_of(sessions: Mapping[str, SessionState], session_id: str) -> list[str]:
    """All ancestors of a session, oldest first."""
    prefixes = visible_prefixes(sessions, session_id)
    return by_age(sessions, [name for name in prefixes if name != session_id])


def descendants_of(sessions: Mapping[str, SessionState], session_id: str) -> list[str]:
    """All descendants of a session, oldest first."""
    descendants: dict[str, None] = {}
    waiting = [session_id]
    while waiting:
        for child in known("session", waiting.pop(), sessions).children or ():
            if child not in descendants:
                descendants[child] = None
                waiting.append(child)
    return by_age(sessions, list(descendants))


def by_age(sessions: Mapping[str, SessionState], names: Iterable[str]) -> list[str]:
    """These sessions, oldest first: parents come before their children."""

    def age(name: str) -> tuple[int, int, str]:
        segment = sessions[name].segment
        return (segment.base, segment.ordinal, name)

    return sorted(names, key=age)


MembersNow = Callable[[str], Mapping[str, None] | None]
"""The members of a session's graph if the session is open, none otherwise."""


def agents_of(
    sessions: Mapping[str, SessionState], names: Collection[str], members_now: MembersNow
) -> dict[str, list[str]]:
    """For each of these sessions, all creatures that were ever in its graph.

    Sessions keep only who joined and left, so a merge or split of many is cheap. The full lists are computed here, once
    for all given sessions, from the nearest ancestors that are still open.
    """
    at_birth: dict[str, dict[str, None]] = {}
    for name in by_age(sessions, _ended_line(sessions, names, members_now)):
        at_birth[name] = _present_at_birth(sessions, sessions[name].segment, at_birth, members_now)
    agents: dict[str, list[str]] = {}
    for name in names:
        state = sessions[name]
        present = at_birth[name] if name in at_birth else members_now(name) or {}
        agents[name] = list(dict.fromkeys([*present, *(state.joined or ()), *(state.left or ())]))
    return agents


def _ended_line(
    sessions: Mapping[str, SessionState], names: Collection[str], members_now: MembersNow
) -> list[str]:
    """These sessions and their ancestors, up to those that are still open."""
    ended: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in ended and members_now(name) is None:
            ended[name] = None
            waiting += [parent.session_id for parent in sessions[name].segment.parents]
    return list(ended)


def _present_at_birth(
    sessions: Mapping[str, SessionState],
    segment: Segment,
    at_birth: Mapping[str, dict[str, None]],
    members_now: MembersNow,
) -> dict[str, None]:
    """Who was in a session at its start. The smaller parts of a split start empty: their events name their members."""
    parents = [sessions[parent.session_id].segment for parent in segment.parents]
    if segment.origin == "split" and all(parent.graph_id != segment.graph_id for parent in parents):
        return {}
    present: dict[str, None] = {}
    for parent in segment.parents:
        state = sessions[parent.session_id]
        joined = state.joined or {}
        left = state.left or {}
        now = members_now(parent.session_id)
        if now is None:
            then = {
                **at_birth[parent.session_id],
                **{name: None for name in joined if joined[name] <= parent.upto},
            }
        else:
            then = {name: None for name in (*now, *left) if joined.get(name, 0) <= parent.upto}
        present |= {name: None for name in then if left.get(name, parent.upto + 1) > parent.upto}
    for moved in _moved_to_siblings(sessions, segment):
        present.pop(moved, None)
    return present


def _moved_to_siblings(sessions: Mapping[str, SessionState], segment: Segment) -> Iterator[str]:
    if segment.origin == "split":
        for sibling in sessions[segment.parents[0].session_id].children or ():
            if sibling != segment.id and sessions[sibling].segment.origin == "split":
                yield from sessions[sibling].joined or ()
