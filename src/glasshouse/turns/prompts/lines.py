"""Lines: each event that a creature heard as one physical line of its prompt, and which of them the prompt shows.

Always holds: the lines are the moment's events that are lines for its creature, in order. Their refs count what this
creature has heard: the first line that it ever heard is `1` (ADR 0066). So a line keeps its ref from act to act, and a
ref says nothing about lines that the creature did not hear. A cause that is not among the lines is `0`. The same moment
gives the same lines and refs, whether the lines were updated or rebuilt. `NumberedLines` are a cache: they are kept
between acts, updated with new lines, and shared by creatures that hear the same. They can be dropped at any time and
rebuilt from the moment alone.

The discussion is the newest lines. When the window is full, its older half is dropped at once, so that the start of the
prompt stays the same for half a window. Remembered lines are in no other section, are at most `memory_lines_max`, and
are chosen with integer arithmetic only, so that every machine chooses the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Final, TypeVar

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.turns.heard.recent_lines import heard_lines_max
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.line_text import Reading, body_of, content_words, is_line_for, reading_of
from glasshouse.turns.moment.moment import Moment, Recent

numbered_cache_keys_max: Final = 2_048
naming_cache_handles_max: Final = 4_096
names_of_gone_max: Final = 256
"""How many speakers without a line are kept by name, before the lines are rebuilt without them."""
memory_lines_max: Final = 6
reflections_max: Final = 3
disturbances_max: Final = 3
striking_lines_max: Final = 16
cause_words_max: Final = 12
interests_words_max: Final = 16
lines_a_word_max: Final = 8
interests_cache_characters_max: Final = 1_024

_CAUSE_WEIGHT: Final = 3
_INTEREST_WEIGHT: Final = 1
_NAMED_WEIGHT: Final = 4

STRIKING: Final = 2
"""A line of this importance or more may be remembered, whatever it is about."""


OLDER_CAUSE: Final = "0"
"""The ref of a cause that is not among the lines: it is older than all of them, or a wire delivered it."""


class NumberedLines:
    """The lines that a creature can see, oldest first, with indexes by word and kind.

    A line's index is how many lines the creature had heard before it, so it stays the same when older lines are dropped.
    """

    def __init__(self, lines_before: int) -> None:
        self.handles: Mapping[str, str] = {}
        self.names: dict[str, str | None] = {}
        """The handle of each speaker with which these lines, and older ones, were written."""
        self.recent = Recent([], 0, 0)
        self.first = lines_before
        self.ids: list[str] = []
        """The event id at each index."""
        self.readings: list[Reading] = []
        self.word_bits: list[int] = []
        self.importances: list[int] = []
        """The fields of `readings` that an act looks up for many lines. A reading itself may not be in the processor's
        cache any more."""
        self.said: list[int] = []
        self.said_by: defaultdict[str, list[int]] = defaultdict(list)
        """The indexes of the lines that have a text: of all, and by speaker."""
        self.plain: list[str] = []
        """The physical line at each index; empty if it cites other lines, which may be dropped before it."""
        self.index_by_id: dict[str, int] = {}
        self.words: defaultdict[str, list[int]] = defaultdict(list)
        self.kinds: defaultdict[str, list[int]] = defaultdict(list)
        self.striking: list[int] = []
        self.striking_words: defaultdict[str, list[int]] = defaultdict(list)
        """As `words`, of striking lines only."""
        self.not_ascii: list[int] = []
        self.naming_cache: dict[tuple[str, str], tuple[list[int], int]] = {}
        """(Creature, handle) -> the indexes of others' lines that name it, and the index where the search stopped."""

    @property
    def indexes(self) -> range:
        """The indexes of all lines, oldest first."""
        return range(self.first, self.first + len(self.ids))

    def reading(self, index: int) -> Reading:
        """The reading at an index."""
        return self.readings[index - self.first]

    def index_of(self, event_id: str) -> int | None:
        """The index of an event's line; none if it is not here."""
        return self.index_by_id.get(event_id)

    def ref(self, index: int) -> str:
        """The ref of a line."""
        return str(index + 1)

    def text(self, index: int) -> str:
        """The whole physical line."""
        at = index - self.first
        return self.plain[at] or self.written(self.ref(index), self.readings[at])

    def texts(self, indexes: range) -> list[str]:
        """The physical lines of some indexes in a row."""
        texts = self.plain[indexes.start - self.first : indexes.stop - self.first]
        return texts if all(texts) else [self.text(index) for index in indexes]

    def ids_of(self, indexes: Sequence[int]) -> tuple[str, ...]:
        """The event ids of the lines at some indexes."""
        if not indexes:
            return ()
        ids, first = self.ids, self.first
        if isinstance(indexes, range):
            return tuple(ids[indexes.start - first : indexes.stop - first])
        return tuple([ids[index - first] for index in indexes])

    def written(self, ref: str, reading: Reading) -> str:
        """The physical line that a reading makes under a ref."""
        body = reading.body if not reading.points else self._pointing(reading)
        return f"[{ref}] {reading.head}{body}"

    def move_on(self, moment: Moment) -> bool:
        """Add the new lines; false if a speaker has another name now, or the moment does not continue these lines."""
        recent, handles, creature_id = moment.heard, moment.handles, moment.creature_id
        moved = recent.new_since(self.recent)
        if moved is None or len(self.names) > names_of_gone_max + heard_lines_max:
            return False
        is_same = handles is self.handles or handles == self.handles
        if not is_same and any(handles.get(actor) != name for actor, name in self.names.items()):
            return False
        gone, new = moved
        dropped = sum([event.id in self.index_by_id for event in gone])
        if self.first + dropped != moment.lines_before:
            return False
        self.handles = handles
        for _ in range(dropped):
            self._drop_oldest()
        for event in new:
            if is_line_for(creature_id, event):
                self._add(event)
        self.recent = recent
        return True

    def _add(self, event: Event) -> None:
        index = self.first + len(self.ids)
        known_as = self.names[event.actor] = self.handles.get(event.actor)
        reading = reading_of(event, known_as)
        self.ids.append(event.id)
        self.index_by_id[event.id] = index
        self.readings.append(reading)
        self.word_bits.append(reading.word_bits)
        self.importances.append(reading.importance)
        self.plain.append("" if reading.points else f"[{index + 1}] {reading.head}{reading.body}")
        self.kinds[reading.kind].append(index)
        if reading.has_text:
            self.said.append(index)
            self.said_by[reading.actor].append(index)
        for word in reading.words:
            self.words[word].append(index)
        if reading.importance >= STRIKING:
            self.striking.append(index)
            for word in reading.words:
                self.striking_words[word].append(index)
        if not reading.body.isascii():
            self.not_ascii.append(index)

    def naming(self, creature_id: str, handle: str, newer: int) -> list[int]:
        """The indexes before `newer` of lines that name a creature and are not its own, oldest first: those among the
        newest `striking_lines_max` that name it."""
        key, first, readings = (creature_id, handle), self.first, self.readings
        indexes, looked_at = self.naming_cache.get(key, ([], 0))
        # Newer lines count only if they could fill the bound.
        if looked_at < newer or len(indexes) + first + len(readings) - looked_at > striking_lines_max:
            for index in self._where_named(handle, max(looked_at, first)):
                reading = readings[index - first]
                if reading.actor != creature_id and _is_named_in(reading.body, handle):
                    indexes.append(index)
            if len(self.naming_cache) >= naming_cache_handles_max:
                self.naming_cache.clear()
            self.naming_cache[key] = indexes, first + len(readings)
        if not indexes:
            return indexes
        del indexes[: bisect_left(indexes, first)]
        return indexes[-striking_lines_max : bisect_left(indexes, newer)]

    def _where_named(self, handle: str, since: int) -> Iterable[int]:
        """The indexes from `since` on of lines that may contain a handle: those with its rarest word, if it has words.

        Lines that are not ASCII are always included, because only the pattern knows which of their letters are equal.
        """
        words = _words_of_handle(handle) if handle.isascii() else ()
        if not words:
            return range(since, self.first + len(self.ids))
        rarest = min([self.words.get(word, []) for word in words], key=len)
        indexes = rarest[bisect_left(rarest, since) :]
        others = self.not_ascii[bisect_left(self.not_ascii, since) :]
        return sorted({*indexes, *others}) if others else indexes

    def _drop_oldest(self) -> None:
        reading, index = self.readings.pop(0), self.first
        del self.index_by_id[self.ids.pop(0)], self.plain[0]
        del self.word_bits[0], self.importances[0]
        self.first += 1
        _drop_first(self.kinds, (reading.kind,))
        if reading.has_text:
            del self.said[0]
            _drop_first(self.said_by, (reading.actor,))
        _drop_first(self.words, reading.words)
        if reading.importance >= STRIKING:
            del self.striking[0]
            _drop_first(self.striking_words, reading.words)
        if self.not_ascii and self.not_ascii[0] == index:
            del self.not_ascii[0]

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
    """Ref -> event id of each line that the creature can see, oldest first; the cause too if it is a line."""
    lines = numbered_lines(moment)
    ids = {} if older_cause(moment, lines) is None else {OLDER_CAUSE: moment.cause.id}
    return ids | {lines.ref(index): event_id for index, event_id in enumerate(lines.ids, lines.first)}


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
    recent, creature_id, heard_at = moment.heard, moment.creature_id, moment.creature_id
    last = _numbered_cache.get((moment.house_id, creature_id))
    if last is not None and last.recent is recent and last.handles is moment.handles:
        return last  # Asked again for the same moment.
    if recent.stop > recent.start:
        newest = recent.shared[recent.stop - 1]
        heard_at = newest.channel_id or newest.graph_id
    keys = (moment.house_id, heard_at), (moment.house_id, creature_id)
    for lines in (_numbered_cache.pop(keys[0], None), _numbered_cache.pop(keys[1], None)):
        if lines is not None and lines.move_on(moment):
            break
    else:
        lines = NumberedLines(moment.lines_before)
        lines.move_on(moment)
    while len(_numbered_cache) + len(keys) > numbered_cache_keys_max:
        del _numbered_cache[next(iter(_numbered_cache))]
    _numbered_cache[keys[0]] = _numbered_cache[keys[1]] = lines
    return lines


K = TypeVar("K")


def _drop_first(indexes_by: dict[K, list[int]], keys: Iterable[K]) -> None:
    for key in keys:
        indexes = indexes_by[key]
        del indexes[0]
        if not indexes:
            del indexes_by[key]


def _is_named_in(body: str, handle: str) -> bool:
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
    half = max(1, (window + 1) // 2)
    return half * -(-(lines_count - window) // half)


def discussed_lines(moment: Moment, lines: NumberedLines) -> range:
    """The indexes of the discussion: all lines for a judge, the window for others."""
    stop = lines.first + len(lines.ids)
    if moment.character.role == "judge":
        return lines.indexes
    return range(max(lines.first, min(stop, window_start(moment.character.memory.window, stop))), stop)


def disturbance_lines(moment: Moment, lines: NumberedLines) -> list[int]:
    """The newest of a visitor's lines that a full window would still hold, oldest first."""
    said = lines.kinds.get(kinds.USER_INJECTED, [])[-disturbances_max:]
    if not said:
        return said
    newest = lines.indexes[-max(moment.character.memory.window, 1) :]
    return [index for index in said if index in newest]


def remembered_lines(
    moment: Moment, lines: NumberedLines, discussed: range, others: Set[int], about: Collection[str]
) -> list[int]:
    """The most relevant lines that are neither discussed nor among `others`, oldest first. Own reflections are chosen
    first."""
    first, readings = lines.first, lines.readings
    if discussed.start == first:
        return []  # No line is older than the discussion.
    count = len(readings)
    oldest = max(0, count - heard_lines_max)
    weights = _weights(moment, lines, discussed.start, about)
    for index in (*others, *range(first, first + oldest)):
        weights.pop(index, None)
    if not weights:
        return []
    since, importances = oldest - heard_lines_max // 4, lines.importances
    # One number, as small as can be, holds the score and the place of a line, so that of two equal scores the newer line
    # comes first.
    scored = [
        weight * importances[at := index - first] * (at - since) * count + at
        for index, weight in weights.items()
    ]
    scored.sort(reverse=True)
    shown = [*readings[discussed.start - first :], *[readings[index - first] for index in others]]
    return _chosen(lines, scored, {reading.body for reading in shown})


def _weights(moment: Moment, lines: NumberedLines, newer: int, about: Collection[str]) -> dict[int, int]:
    """Index -> one, and how much a line has to do with what is answered and with the creature's interests, for candidate
    lines. These are older than the index `newer`."""
    by_word, by_striking_word, weights = lines.words, lines.striking_words, dict[int, int]()
    striking = _striking_before(lines, newer)
    for weight, words, words_max in (
        (_CAUSE_WEIGHT, about, cause_words_max),
        (_INTEREST_WEIGHT, interests_of(moment.character), interests_words_max),
    ):
        # A word in many lines says little, so the rarest words count. In a striking line every word counts.
        for word in words if len(words) <= words_max else _rarest(by_word, words)[:words_max]:
            if word in by_word:
                for index in by_word[word][-lines_a_word_max:]:
                    if index >= newer:
                        break
                    weights[index] = weights.get(index, 1) + weight
        for word in words if striking else ():
            if word in by_striking_word:
                for index in by_striking_word[word]:
                    if index in striking:
                        striking[index] += weight
    weights.update(striking)
    for index in lines.naming(moment.creature_id, moment.handle, newer):
        weights[index] = weights.get(index, 1) + _NAMED_WEIGHT
    return weights


def _striking_before(lines: NumberedLines, newer: int) -> dict[int, int]:
    """The indexes of the newest striking lines and reflections, without those from `newer` on, each with a weight of one:
    it is a candidate, whatever it is about."""
    indexes = lines.striking[-striking_lines_max:]
    if kinds.AGENT_REFLECTED in lines.kinds:
        indexes = sorted({*indexes, *lines.kinds[kinds.AGENT_REFLECTED][-striking_lines_max:]})
    return dict.fromkeys(indexes[: bisect_left(indexes, newer)], 1)


def _rarest(by_word: Mapping[str, list[int]], words: Collection[str]) -> list[str]:
    """The words that are in some line, those in the fewest lines first."""
    return sorted([word for word in words if word in by_word], key=lambda word: len(by_word[word]))


def _chosen(lines: NumberedLines, scored: list[int], taken: set[str]) -> list[int]:
    """The indexes of the lines to remember, of those with these scores, best first. A line with a body in `taken` is left
    out."""
    first, readings, count = lines.first, lines.readings, len(lines.readings)
    has_reflections = kinds.AGENT_REFLECTED in lines.kinds
    reflections: list[int] = []
    others: list[int] = []
    for score in scored:
        at = score % count
        reading = readings[at]
        if reading.body in taken:
            continue
        if has_reflections and reading.kind == kinds.AGENT_REFLECTED:
            if len(reflections) == reflections_max:
                continue
            reflections.append(first + at)
        elif len(others) < memory_lines_max:
            others.append(first + at)
        elif has_reflections:
            continue
        else:
            break
        taken.add(reading.body)
    return sorted(reflections + others[: memory_lines_max - len(reflections)])


@lru_cache(maxsize=interests_cache_characters_max)
def interests_of(character: Character) -> tuple[str, ...]:
    """The content words of a character's `wants` and `cares_about`."""
    return content_words(" ".join((character.wants, *character.cares_about)))
