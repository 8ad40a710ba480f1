"""Repetition: whether a line says again what was said lately, or nothing new. Small models fall into loops, and a loop
feeds itself.

Always holds: a line is compared with the creature's own last lines and with the last lines at its table, all of which
are in its moment. Lines of a few words are never a repetition: "Yes." may be said as often as it is true. Only whole
numbers of letters are compared, so every machine decides the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from operator import rshift
from typing import Final

from glasshouse.events.event import Draft, Json
from glasshouse.turns.moment.line_text import content_words
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.reply_schema import fields_of
from glasshouse.turns.prompts.lines import NumberedLines, numbered_lines

own_lines_compared_max: Final = 6
"""A line is compared with as many of its creature's own last lines."""
table_lines_compared_max: Final = 12
"""A line is compared with as many of the last lines at its table."""
events_searched_max: Final = 96
"""How far back a creature's own lines are looked for."""
words_compared_min: Final = 5
"""A shorter line is never a repetition."""
words_beside_fields_min: Final = 12
"""A shorter line may be said again if it has a field that says more than words, such as a vote. A longer one is a speech:
it may be said again only with another value in that field."""
lines_remembered_max: Final = 64
"""A word that was heard within this many lines is not new."""
same_trigrams_percent_min: Final = 80
"""From here on two lines are the same: as many of the groups of three letters in either are in both."""
words_enough: Final = 3
"""Only lines that have half of the words of a new one, or this many, are compared with it. One changed letter changes three
groups of letters: so lines that differ in half of their words are not the same, and this is quicker to see."""
trigram_cache_texts_max: Final = 4_096
"""The groups of three letters of more texts are computed again."""

_MORE_WORDS: Final = ("string", "strings", "event", "events", "some_events")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
"""Whatever is neither a letter nor a digit."""


def line_repeated(draft: Draft, moment: Moment) -> str | None:
    """The id of the earlier line that a draft repeats; none if it says something new, or may repeat itself."""
    text = draft.payload.get("text")
    if not isinstance(text, str) or moment.character.voice.may_repeat:
        return None
    if text.count(" ") + 1 < words_compared_min:
        return None
    lines = numbered_lines(moment)
    words = content_words(text)
    more = freeing_fields(draft, moment)
    for index in lines_compared(words, words_enough, lines, moment.creature_id):
        earlier = lines.readings[index - lines.base].payload
        other: str = earlier["text"]
        # Also quicker to see than letters. Two texts that are the same differ in few words. Only the texts are
        # compared: the words of a reading are also those of its other fields, and not those that it cuts off.
        other_words = content_words(other)
        words_min = 2 * max(len(words), len(other_words)) // 3
        is_near = len({*words}.intersection(other_words)) >= words_min
        is_same = is_near and _is_same(_trigrams(text), _trigrams(other))
        if is_same and not is_free(draft, more, earlier):
            return lines.ids[index - lines.base]
    return None


def lines_compared(
    words: Sequence[str], enough: int, lines: NumberedLines, creature_id: str, also: Sequence[int] = ()
) -> Iterator[int]:
    """The indexes of the lines with which a creature's new line is compared, the newest first: of its own last lines, of
    the last lines at its table and of `also`, those that have half of the words of the new line, or enough of them."""
    oldest = min(max(lines.first, lines.stop - events_searched_max), *also, lines.stop)
    lately = map(rshift, map(lines.words.get, words, repeat(0)), repeat(oldest - lines.base))
    suspects = texts_with_half_of(words, enough, lately, lines.stop - oldest)
    if not suspects:
        return
    own = lines.said_by.get(creature_id, [])[-own_lines_compared_max:]
    table = lines.said[-table_lines_compared_max:]
    while suspects:
        bit = suspects.bit_length() - 1
        suspects ^= 1 << bit
        index = oldest + bit
        if index in table or index in own or index in also:
            yield index


def texts_with_half_of(words: Sequence[str], enough: int, where_each: Iterable[int], texts_count: int) -> int:
    """The texts that have half of these words, or enough of them, at most three, as bits. `where_each` has the texts with
    each word. If there are not two words, it is all texts."""
    if len(words) < 2:
        return (1 << texts_count) - 1
    words_1 = words_2 = words_3 = 0
    for where in filter(None, where_each):
        words_3 |= words_2 & where
        words_2 |= words_1 & where
        words_1 |= where
    return (words_1, words_2, words_3)[min((len(words) + 1) // 2, enough) - 1]


def freeing_fields(draft: Draft, moment: Moment) -> tuple[str, ...]:
    """The fields of a draft that say more than its text, such as a vote. Cited lines and further texts do not."""
    if len(draft.payload) < 2:
        return ()
    sorts = fields_of(draft.kind, moment.playbill)
    return tuple([name for name in draft.payload if sorts.get(name) not in _MORE_WORDS])


def is_free(draft: Draft, more: Sequence[str], earlier: Json) -> bool:
    """Whether a draft may say an earlier line again, because its fields `more` say more than the text: in a few words, or
    with another value than that line has there."""
    if not more:
        return False
    words = draft.payload["text"].count(" ") + 1
    differs = any(name in earlier and draft.payload[name] != earlier[name] for name in more)
    return differs or words < words_beside_fields_min


def says_the_same(text: str, other: str) -> bool:
    """Whether a text of more than a few words is nearly the same as another."""
    return text.count(" ") + 1 >= words_compared_min and _is_same(_trigrams(text), _trigrams(other))


def _is_same(mine: frozenset[str], other: frozenset[str]) -> bool:
    common = len(mine & other)
    return common * 100 >= (len(mine) + len(other) - common) * same_trigrams_percent_min


def brings_nothing_new(draft: Draft, moment: Moment) -> bool:
    """Whether every word of a line that says what it is about was heard lately."""
    text = draft.payload.get("text")
    lines = numbered_lines(moment)
    since = lines.stop - lines_remembered_max
    lately = -1 << (since if since > lines.first else lines.first) - lines.base
    words = content_words(text) if isinstance(text, str) else ()
    return all(map(lately.__and__, map(lines.words.get, words, repeat(0))))


@lru_cache(maxsize=trigram_cache_texts_max)
def _trigrams(text: str) -> frozenset[str]:
    """The groups of three letters in a text. Capitals, punctuation and blanks do not count."""
    plain = _NO_LETTERS.sub(" ", text.casefold()).strip()
    return frozenset(map("".join, zip(plain, plain[1:], plain[2:], strict=False))) or frozenset((plain,))
