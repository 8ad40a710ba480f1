"""Lines: each event that a creature heard as one physical line of its prompt, and which of them the prompt shows.

Always holds: the lines are the moment's events that are lines for its creature, in order. Their refs count what this
creature has heard: the first line that it ever heard is `1` (ADR 0066). So a line keeps its ref from act to act, and a
ref says nothing about lines that the creature did not hear. A cause that is not among the lines is `0`. The same moment
gives the same lines and refs, whether the lines were updated or rebuilt. `NumberedLines` are a cache: they are kept
between acts, updated with new lines, and shared by creatures that hear the same. They can be dropped at any time and
rebuilt from the moment alone.

The discussion is the newest lines. When the window is full, its older half is dropped at once, so that the start of the
prompt stays the same for half a window. Remembered lines are in no other section, are at most `memory_lines_max`, and
are chosen with integers only, so that every machine chooses the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Final

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.turns.heard.recent_lines import heard_lines_max
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.line_text import Reading, body_of, content_words, is_line_for, reading_of
from glasshouse.turns.moment.moment import Moment, Recent, shared_moment

numbered_cache_keys_max: Final = 2_048
"""Kept so as not to be computed again: the numbered lines before a creature."""
naming_cache_handles_max: Final = 4_096
"""Kept so as not to be computed again: how lines name a handle."""
names_of_gone_max: Final = 256
"""How many speakers without a line are kept by name, before the lines are rebuilt without them."""
memory_lines_max: Final = 6
"""A prompt recalls at most this many older lines."""
reflections_max: Final = 3
"""At most this many of the lines that a prompt recalls are the creature's own reflections."""
disturbances_max: Final = 3
"""A prompt shows at most this many lines of the visitor."""
cause_words_max: Final = 12
"""This many words of the cause are used to find memories."""
interests_cache_characters_max: Final = 1_024
"""Kept so as not to be computed again: the words that a creature cares about."""

recent_lines_min: Final = heard_lines_max // 2
"""So many of the newest lines have a point more, if they have any."""
lines_gone_max: Final = heard_lines_max
"""How many lines that the creature cannot see any more are kept, before they are dropped together."""

OLDER_CAUSE: Final = "0"
"""The ref of a cause that is not among the lines: it is older than all of them, or a wire delivered it."""


class NumberedLines:
    """The lines that a creature can see, oldest first, and where each word is in them.

    A line's index is how many lines the creature had heard before it, so it stays the same when older lines are dropped.
    Sets of lines are integers: bit `n` stands for the line at the index `base + n` (ADR 0095).
    """

    def __init__(self, lines_before: int) -> None:
        self.handles: Mapping[str, str] = {}
        self.names: dict[str, str | None] = {}
        """The handle of each speaker with which these lines, and older ones, were written."""
        self.recent = Recent([], 0, 0)
        self.base = self.first = self.stop = lines_before
        """The index of the first line that is kept here, of the first that the creature can see, and of the next line. Lines
        that it cannot see any more are dropped many at once."""
        self.ids: list[str] = []
        self.readings: list[Reading] = []
        self.plain: list[str] = []
        """The event id, the reading and the physical line of each line that is kept. The physical line is empty if it cites
        other lines, which may be dropped before it."""
        self.index_by_id: dict[str, int] = {}
        self.newest_with: dict[str, int] = {}
        """Body -> the index of the newest line with it."""
        self.said: list[int] = []
        self.said_by: defaultdict[str, list[int]] = defaultdict(list)
        """The indexes of the lines that have a text: of all, and by speaker."""
        self.kinds: defaultdict[str, list[int]] = defaultdict(list)
        """Kind -> the indexes of its lines, for striking lines."""
        self.words: dict[str, int] = {}
        """Word -> the lines with it."""
        self.striking = self.reflected = self.said_again = self.not_ascii = 0
        """The lines that are striking, that are reflections, whose body is said again later, and that are not ASCII."""
        self.naming_cache: dict[tuple[str, str], tuple[int, int]] = {}
        """(Creature, handle) -> others' lines that name it, and the index where the search stopped."""

    @property
    def indexes(self) -> range:
        """The indexes of all lines that the creature can see, oldest first."""
        return range(self.first, self.stop)

    def reading(self, index: int) -> Reading:
        """The reading at an index."""
        return self.readings[index - self.base]

    def index_of(self, event_id: str) -> int | None:
        """The index of an event's line; none if it is not here."""
        index = self.index_by_id.get(event_id)
        return None if index is None or index < self.first else index

    def ref(self, index: int) -> str:
        """The ref of a line."""
        return str(index + 1)

    def text(self, index: int) -> str:
        """The whole physical line."""
        at = index - self.base
        return self.plain[at] or self.written(self.ref(index), self.readings[at])

    def texts(self, indexes: Sequence[int]) -> list[str]:
        """The physical lines at some indexes."""
        plain = self.plain
        base = self.base
        if isinstance(indexes, range):
            texts = plain[indexes.start - base : indexes.stop - base]
        else:
            texts = [plain[index - base] for index in indexes]
        return texts if all(texts) else [self.text(index) for index in indexes]

    def ids_of(self, indexes: Sequence[int]) -> tuple[str, ...]:
        """The event ids of the lines at some indexes."""
        ids = self.ids
        base = self.base
        if isinstance(indexes, range):
            return tuple(ids[indexes.start - base : indexes.stop - base])
        return tuple([ids[index - base] for index in indexes])

    def written(self, ref: str, reading: Reading) -> str:
        """The physical line that a reading makes under a ref."""
        body = reading.body if not reading.points else self._pointing(reading)
        return f"[{ref}] {reading.head}{body}"

    def move_on(self, moment: Moment) -> bool:
        """Add the new lines; false if a speaker has another name now, or the moment does not continue these lines."""
        recent = moment.heard
        handles = moment.handles
        creature_id = moment.creature_id
        moved = recent.new_since(self.recent)
        if moved is None or len(self.names) > names_of_gone_max + heard_lines_max:
            return False
        # The first two are quicker to ask, and nearly always true.
        is_same = handles is self.handles or self.names.items() <= handles.items()
        if not is_same and any(handles.get(actor) != name for actor, name in self.names.items()):
            return False
        gone, new = moved
        first = self.first
        for event in gone:
            first += event.id in self.index_by_id
        if first != moment.lines_before:
            return False
        self.handles = handles
        self.first = first
        if first - self.base > lines_gone_max:
            self._forget_the_gone()
        for event in new:
            if is_line_for(creature_id, event):
                self._add(event)
        self.recent = recent
        return True

    def _add(self, event: Event) -> None:
        index = self.stop
        event_id = event.id
        self.stop = index + 1
        bit = 1 << index - self.base
        known_as = self.names[event.actor] = self.handles.get(event.actor)
        reading = reading_of(event, known_as)
        body = reading.body
        words = self.words
        newest_with = self.newest_with
        self.ids.append(event_id)
        self.index_by_id[event_id] = index
        self.readings.append(reading)
        self.plain.append("" if reading.points else f"[{index + 1}] {reading.head}{body}")
        for word in reading.words:
            words[word] = words.get(word, 0) | bit
        if body in newest_with:
            self.said_again |= 1 << newest_with[body] - self.base
        newest_with[body] = index
        if reading.has_text:
            self.said.append(index)
            self.said_by[reading.actor].append(index)
        if reading.is_striking:
            self.striking |= bit
            self.kinds[reading.kind].append(index)
            if reading.kind == kinds.AGENT_REFLECTED:
                self.reflected |= bit
        if not body.isascii():
            self.not_ascii |= bit

    def _forget_the_gone(self) -> None:
        """Drop the lines that the creature cannot see any more."""
        gone = self.first - self.base
        self.base = first = self.first
        del self.ids[:gone], self.readings[:gone], self.plain[:gone]
        self.index_by_id = {event_id: index for event_id, index in self.index_by_id.items() if index >= first}
        self.newest_with = {body: index for body, index in self.newest_with.items() if index >= first}
        for indexes in (self.said, *self.said_by.values(), *self.kinds.values()):
            del indexes[: bisect_left(indexes, first)]
        self.words = {word: left for word, at in self.words.items() if (left := at >> gone)}
        self.striking >>= gone
        self.reflected >>= gone
        self.said_again >>= gone
        self.not_ascii >>= gone
        self.naming_cache = {key: (at >> gone, upto) for key, (at, upto) in self.naming_cache.items()}

    def naming(self, creature_id: str, handle: str, newer: int) -> int:
        """The lines before the index `newer`, and perhaps later ones, that name a creature and are not its own."""
        key = (creature_id, handle)
        base = self.base
        readings = self.readings
        naming, looked_at = self.naming_cache.get(key, (0, 0))
        if looked_at < newer:
            for at in self._where_named(handle, max(looked_at, self.first) - base):
                reading = readings[at]
                if reading.actor != creature_id and is_named_in(reading.body, handle):
                    naming |= 1 << at
            if len(self.naming_cache) >= naming_cache_handles_max:
                self.naming_cache.clear()
            self.naming_cache[key] = naming, self.stop
        return naming

    def _where_named(self, handle: str, since: int) -> Iterable[int]:
        """The bits from `since` on of lines that may contain a handle: those with all of its words, if it has words.

        Lines that are not ASCII are always included, because only the pattern knows which of their letters are equal.
        """
        words = _words_of_handle(handle) if handle.isascii() else ()
        if not words:
            return range(since, len(self.readings))
        lines = -1
        for word in words:
            lines &= self.words.get(word, 0)
        lines = (lines | self.not_ascii) >> since
        return [at for at in range(since, since + lines.bit_length()) if lines >> at - since & 1]

    def _pointing(self, reading: Reading) -> str:
        """The body of a line that cites others, with their refs. Lines that the creature cannot see are left out."""
        shown: Json = {}
        for field, value in reading.payload.items():
            if field in reading.rest:
                shown[field] = value
            elif field in reading.points:
                indexes = map(self.index_of, reading.points[field])
                refs = [self.ref(index) for index in indexes if index is not None]
                if refs:
                    shown[field] = refs if isinstance(value, list) else refs[0]
        return body_of(reading.payload.get("text"), shown)


def event_ids_by_ref(moment: Moment) -> dict[str, str]:
    """Ref -> event id of each line that the creature can see or recalls, oldest first; the cause too if it is a line."""
    lines = numbered_lines(moment)
    far = {str(number - len(moment.recalled)): line.event.id for number, line in enumerate(moment.recalled)}
    ids = far if older_cause(moment, lines) is None else {**far, OLDER_CAUSE: moment.cause.id}
    return ids | dict(zip(map(lines.ref, lines.indexes), lines.ids_of(lines.indexes), strict=True))


def older_cause(moment: Moment, lines: NumberedLines) -> str | None:
    """The line of a cause that is not among the recent events: it is older, or a wire delivered it."""
    cause = moment.cause
    if (
        not is_line_for(moment.creature_id, cause)
        or lines.index_of(cause.id) is not None
        or moment.is_kept_back
    ):
        return None
    return lines.written(OLDER_CAUSE, reading_of(cause, moment.handles.get(cause.actor)))


_numbered_cache: dict[tuple[str, str], NumberedLines] = {}
"""The last lines of each creature and of each place with a newest line. They are used only if they fit the moment."""


def numbered_lines(moment: Moment) -> NumberedLines:
    """The lines of a moment. They are valid until the next call, which may change them."""
    moment = shared_moment(moment)
    recent = moment.heard
    creature_id = moment.creature_id
    heard_at = creature_id
    last = _numbered_cache.get((moment.house_id, creature_id))
    if last is not None and last.recent is recent and last.handles is moment.handles:
        return last  # Asked again for the same moment.
    if recent.stop > recent.start:
        newest = recent.shared[recent.stop - 1]
        heard_at = newest.channel_id or newest.graph_id
    keys = (moment.house_id, heard_at), (moment.house_id, creature_id)
    lines = _numbered_cache.get(keys[0])
    if lines is None or not lines.move_on(moment):
        lines = last
        if lines is None or not lines.move_on(moment):
            lines = NumberedLines(moment.lines_before)
            lines.move_on(moment)
    for key in keys:
        if _numbered_cache.get(key) is not lines:
            _numbered_cache.pop(key, None)
            if len(_numbered_cache) >= numbered_cache_keys_max:
                del _numbered_cache[next(iter(_numbered_cache))]
            _numbered_cache[key] = lines
    return lines


def forget_lines(house_id: str, names: Iterable[str]) -> None:
    """Let the numbered lines of these creatures and places go."""
    for name in names:
        _numbered_cache.pop((house_id, name), None)


def is_named_in(body: str, handle: str) -> bool:
    """Whether the body of a line names this handle."""
    if body.isascii() and handle.isascii() and handle.lower() not in body.lower():
        return False
    return _naming(handle).search(body) is not None


_words_of_handle = lru_cache(maxsize=naming_cache_handles_max)(content_words)


@lru_cache(maxsize=naming_cache_handles_max)
def _naming(handle: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w~-]){re.escape(handle)}(?![\w~-])", re.IGNORECASE)


def window_start(window: int, lines_count: int) -> int:
    """How many of the lines heard so far have left the window."""
    if lines_count <= window:
        return 0
    half = (window + 1) // 2 or 1
    return half * -(-(lines_count - window) // half)


def discussed_lines(moment: Moment, lines: NumberedLines) -> range:
    """The indexes of the discussion: all lines for a judge, the window for others."""
    if moment.character.role == "judge":
        return lines.indexes
    first = lines.first
    stop = lines.stop
    start = window_start(moment.window_lines_max, stop)
    return range(first if start < first else stop if start > stop else start, stop)


def disturbance_lines(moment: Moment, lines: NumberedLines) -> list[int]:
    """The newest of a visitor's lines that a full window would still hold, oldest first."""
    said = lines.kinds.get(kinds.USER_INJECTED, [])[-disturbances_max:]
    if not said:
        return said
    newest = lines.indexes[-max(moment.window_lines_max, 1) :]
    return [index for index in said if index in newest]


def scene_line(lines: NumberedLines) -> list[int]:
    """The newest line that says what there is to see, if there is one."""
    observed = lines.kinds.get(kinds.WORLD_OBSERVED)
    return observed[-1:] if observed and observed[-1] >= lines.first else []


def remembered_lines(
    moment: Moment, lines: NumberedLines, discussed: range, others: Set[int], about: Collection[str]
) -> list[int]:
    """The lines to remember, oldest first, of those that are neither discussed nor among `others`.

    A line has one point for each word of what is answered, and one each for being about what the creature cares about, for
    being striking and for naming it. Of the lines with a point, the newer ones have one more. Lines with the most points
    are chosen, the newest first. Own reflections are chosen before all others.
    """
    base = lines.base
    start = discussed.start
    stop = discussed.stop
    oldest = lines.first if stop - lines.first <= heard_lines_max else stop - heard_lines_max
    if start <= oldest:
        return []  # No line is older than the discussion.
    left = (1 << start - base) - (1 << oldest - base) & ~lines.said_again
    for index in others:
        same = lines.newest_with[lines.readings[index - base].body]
        left &= ~(1 << index - base | 1 << same - base)
    by_points = _by_points(moment, lines, discussed, about)
    reflected = left & lines.reflected
    chosen = _newest_with_most(by_points, reflected, reflections_max, base) if reflected else []
    chosen += _newest_with_most(by_points, left ^ reflected, memory_lines_max - len(chosen), base)
    chosen.sort()
    return chosen


def points_of(
    moment: Moment, lines: NumberedLines, discussed: range, about: Collection[str], indexes: Iterable[int]
) -> dict[int, int]:
    """The points of some lines to remember."""
    by_points = _by_points(moment, lines, discussed, about)
    return {
        index: next(
            (len(by_points) - n for n, having in enumerate(by_points) if having >> index - lines.base & 1), 0
        )
        for index in indexes
    }


def _by_points(
    moment: Moment, lines: NumberedLines, discussed: range, about: Collection[str]
) -> tuple[int, ...]:
    """The lines with the most points, with at least one less, and so on down to one point."""
    base = lines.base
    words = lines.words
    start = discussed.start
    stop = discussed.stop
    reasons = [*filter(None, map(words.get, about))]
    if len(reasons) > cause_words_max:
        # A word in many lines says little, so the rarest count. Lines that are kept here but gone must not decide it.
        seen = filter(None, map((-1 << lines.first - base).__and__, reasons))
        reasons = sorted(seen, key=int.bit_count)[:cause_words_max]
    interesting = 0
    for word in interests_of(moment.character):
        interesting |= words.get(word, 0)
    # The lines that have at least this many points. More than four count as four.
    points_1 = points_2 = points_3 = points_4 = 0
    for reason in (
        *reasons,
        interesting,
        lines.striking,
        lines.naming(moment.creature_id, moment.handle, start),
    ):
        points_4 |= points_3 & reason
        points_3 |= points_2 & reason
        points_2 |= points_1 & reason
        points_1 |= reason
    newer = -1 << stop - recent_lines_min - base if stop - base > recent_lines_min else -1
    return (
        points_4 & newer,
        points_4 | points_3 & newer,
        points_3 | points_2 & newer,
        points_2 | points_1 & newer,
        points_1,
    )


def _newest_with_most(by_points: Iterable[int], left: int, lines_max: int, base: int) -> list[int]:
    """The indexes of the lines with the most points, of those that are left; of lines with as many points, the newest."""
    chosen: list[int] = []
    for points in by_points:
        best = points & left
        left ^= best
        while best:
            if len(chosen) == lines_max:
                return chosen
            bit = best.bit_length() - 1
            best ^= 1 << bit
            chosen.append(base + bit)
    return chosen


@lru_cache(maxsize=interests_cache_characters_max)
def interests_of(character: Character) -> tuple[str, ...]:
    """The content words of a character's `wants` and `cares_about`."""
    return content_words(" ".join((character.wants, *character.cares_about)))
