"""Repetition: whether a line says again what was said lately, or nothing new. Small models fall into loops, and a loop
feeds itself.

Always holds: a line is compared with the creature's own last lines and with the last lines at its table, all of which
are in its moment. Lines of a few words are never a repetition: "Yes." may be said as often as it is true. Only whole
numbers of letters are compared, so every machine decides the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from glasshouse.events.event import Draft
from glasshouse.turns.moment.line_text import all_words, content_words, word_bits
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.reply_schema import fields_of
from glasshouse.turns.prompts.lines import numbered_lines

own_lines_compared_max: Final = 6
table_lines_compared_max: Final = 12
events_searched_max: Final = 96
"""How far back a creature's own lines are looked for."""
words_compared_min: Final = 5
lines_remembered_max: Final = 64
"""A word that was heard within so many lines is not new."""
same_trigrams_percent_min: Final = 80
"""From here on two lines are the same: as many of the groups of three letters in either are in both."""
trigram_cache_texts_max: Final = 4_096

_MORE_WORDS: Final = ("string", "strings", "event", "events")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
"""Whatever is neither a letter nor a digit."""


def line_repeated(draft: Draft, moment: Moment) -> str | None:
    """The id of the earlier line that a draft repeats; none if it says something new, or may repeat itself."""
    text = draft.payload.get("text")
    if not isinstance(text, str) or moment.character.voice.may_repeat:
        return None
    if len(draft.payload) > 1 and _says_more(draft, moment):
        return None
    if text.count(" ") + 1 < words_compared_min:
        return None
    words, bits, lines, me = all_words(text), word_bits(text), numbered_lines(moment), moment.creature_id
    # One changed letter changes three groups of letters. So lines that differ in half of their words are not the same,
    # and this is quicker to see; quickest in their bits.
    words_min = (len(words) + 1) // 2
    bits_min = words_min - (len(words) - bits.bit_count())
    first, bits_of_lines = lines.first, lines.word_bits
    oldest = first + len(lines.ids) - events_searched_max
    own, table = lines.said_by.get(me, [])[-own_lines_compared_max:], lines.said[-table_lines_compared_max:]
    for index in sorted({*own, *table}, reverse=True):
        if (bits & bits_of_lines[index - first]).bit_count() >= bits_min and index >= oldest:
            other = lines.reading(index).payload["text"]
            if len(words & all_words(other)) >= words_min and _is_same(_trigrams(text), _trigrams(other)):
                return lines.ids[index - first]
    return None


def _says_more(draft: Draft, moment: Moment) -> bool:
    """Whether a line has a field that says more than its text, such as a vote. Cited lines and further texts do not."""
    sorts = fields_of(draft.kind, moment.playbill)
    return any(sorts.get(name) not in _MORE_WORDS for name in draft.payload)


def says_the_same(text: str, other: str) -> bool:
    """Whether a text of more than a few words is nearly the same as another."""
    return text.count(" ") + 1 >= words_compared_min and _is_same(_trigrams(text), _trigrams(other))


def _is_same(mine: frozenset[str], other: frozenset[str]) -> bool:
    common = len(mine & other)
    return common * 100 >= (len(mine) + len(other) - common) * same_trigrams_percent_min


def brings_nothing_new(draft: Draft, moment: Moment) -> bool:
    """Whether every word of a line that says what it is about was heard lately."""
    text, lines = draft.payload.get("text"), numbered_lines(moment)
    since, heard = lines.first + len(lines.ids) - lines_remembered_max, lines.words
    for word in content_words(text) if isinstance(text, str) else ():
        if word not in heard or heard[word][-1] < since:
            return False
    return True


@lru_cache(maxsize=trigram_cache_texts_max)
def _trigrams(text: str) -> frozenset[str]:
    """The groups of three letters in a text. Capitals, punctuation and blanks do not count."""
    plain = _NO_LETTERS.sub(" ", text.casefold()).strip()
    return frozenset(map("".join, zip(plain, plain[1:], plain[2:], strict=False))) or frozenset((plain,))
