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

from glasshouse.events.event import Draft, Event
from glasshouse.turns.moment.line_text import content_words
from glasshouse.turns.moment.moment import Moment
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

_NO_LETTERS: Final = re.compile(r"[\W_]+")
"""Whatever is neither a letter nor a digit."""


def line_repeated(draft: Draft, moment: Moment) -> Event | None:
    """The earlier line that a draft repeats; none if it says something new, or may repeat itself."""
    text = draft.payload.get("text")
    # A line with other fields, such as a vote, says more than its text.
    if len(draft.payload) != 1 or not isinstance(text, str) or moment.character.voice.may_repeat:
        return None
    if text.count(" ") + 1 < words_compared_min:
        return None
    said, heard, me, percent = _trigrams(text), moment.heard, moment.creature_id, same_trigrams_percent_min
    size = len(said)
    # A line with fewer groups of letters, or with more, cannot have enough of them in common.
    size_min, size_max = -(-size * percent // 100), size * 100 // percent
    own = table = 0
    for event in reversed(heard.shared[max(heard.start, heard.stop - events_searched_max) : heard.stop]):
        other_text = event.payload.get("text")
        if not isinstance(other_text, str):
            continue
        table += 1
        if table > table_lines_compared_max:
            if own >= own_lines_compared_max:
                break
            if event.actor != me:
                continue
        own += event.actor == me
        other = _trigrams(other_text)
        other_size = len(other)
        # As many percent of all groups are in both: common * 100 >= (size + other_size - common) * percent.
        if (
            size_min <= other_size <= size_max
            and len(said & other) * (100 + percent) >= (size + other_size) * percent
        ):
            return event
    return None


def brings_nothing_new(draft: Draft, moment: Moment) -> bool:
    """Whether every word of a line that says what it is about was heard lately."""
    text, lines = draft.payload.get("text"), numbered_lines(moment)
    since, heard = lines.first + len(lines.ids) - lines_remembered_max, lines.words
    words = content_words(text) if isinstance(text, str) else ()
    return all(word in heard and heard[word][-1] >= since for word in words)


@lru_cache(maxsize=trigram_cache_texts_max)
def _trigrams(text: str) -> frozenset[str]:
    """The groups of three letters in a text. Capitals, punctuation and blanks do not count."""
    plain = _NO_LETTERS.sub(" ", text.casefold()).strip()
    return frozenset(map("".join, zip(plain, plain[1:], plain[2:], strict=False))) or frozenset((plain,))
