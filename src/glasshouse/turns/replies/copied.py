"""Copied text: whether a line consists of what its prompt, the scene or an earlier line says. Small models recite the lines
of their voice and repeat, cut or joined, what they have just heard.

Always holds: a line is compared with one text at a time. It is a copy if half of its words stand in runs of three or more
words that the text has too, and if the text has half of the line's words that say what it is about, or two of them
(ADR 0121). Only words are compared, in small letters and without punctuation. A line of a few words is never a copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Final, NamedTuple, TypeAlias

from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.events.payloads import CopyOf
from glasshouse.turns.moment.line_text import content_words
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.reply_schema import fields_of
from glasshouse.turns.moment.tools import ToolTalk
from glasshouse.turns.prompts.instructions import prompt_texts
from glasshouse.turns.prompts.lines import numbered_lines
from glasshouse.turns.replies.repetition import (
    freeing_fields,
    is_free,
    lines_compared,
    texts_with_half_of,
    words_compared_min,
)

run_words: Final = 3
"""As many words in a row are a run; longer ones consist of such."""
copied_percent_min: Final = 50
"""From here on a line is a copy: as much of it stands in runs that one text has too. Half finds
28 of 30 copies of a real model, and 2 of 18,358 lines of the offline troupe, which are none (ADR 0121)."""
words_in_common_min: Final = 2
"""A text that has fewer of the words that say what a line is about, and not half of them, is not compared with it. This is
quicker to see than runs, and runs of other words, such as "I do not", say little."""
scenes_compared_max: Final = 4
"""A line is compared with so many of the last scenes: the opening is quoted long after a beat has set another one."""
run_cache_texts_max: Final = 4_096
"""The runs of more texts are computed again."""
known_cache_characters_max: Final = 1_024
"""Kept so as not to be computed again: where each word is in the texts that a creature's prompts always hold."""

Run: TypeAlias = tuple[str, str, str]

_NO_LETTERS: Final = re.compile(r"[\W_]+")
"""Whatever is neither a letter nor a digit."""
_APOSTROPHES: Final = re.compile("['\u2019]")
_BLANKS: Final = {
    code: None if sign == "'" else " " for code in range(128) if not (sign := chr(code)).isalnum()
}
"""The same for text that is all ASCII."""
_QUOTED: Final = re.compile(
    r'"[^"]*"|\u201c[^\u201d]*\u201d|\u201e[^\u201c\u201d]*[\u201c\u201d]|\u00ab[^\u00bb]*\u00bb'
)
_CITING: Final = ("event", "events", "some_events")
_QUOTES: Final = re.compile('["\u201c\u201e\u00ab]')


class Copied(NamedTuple):
    """What a line is a copy of."""

    of: CopyOf
    event_id: str = ""
    """The earlier line, or the scene; empty for a voice and a prompt."""


class _Read(NamedTuple):
    """A text as it is compared."""

    words: tuple[str, ...]
    runs: frozenset[Run]


class _KnownTexts(NamedTuple):
    """The texts that the prompts of a creature always hold, and where each word is in them, as bits."""

    texts: tuple[tuple[CopyOf, str], ...]
    words: dict[str, int]


def copied_from(draft: Draft, moment: Moment) -> Copied | None:
    """What a draft is a copy of; none if it is said in other words, or may be repeated."""
    text = draft.payload.get("text")
    voice = moment.character.voice
    if not isinstance(text, str) or voice.may_repeat:
        return None
    if len(draft.payload) > 1 and _QUOTES.search(text) and _cites(draft, moment):
        text = own_words(text)
    if text.count(" ") + 1 < words_compared_min:
        return None
    content = content_words(text)
    known = _known_texts(voice.examples, prompt_texts(moment))
    where_each = map(known.words.get, content, repeat(0))
    suspects = texts_with_half_of(content, words_in_common_min, where_each, len(known.texts))
    while suspects:
        bit = suspects & -suspects  # Voices first.
        suspects ^= bit
        of, other = known.texts[bit.bit_length() - 1]
        if _is_in(other, _read(text), moment.talk):
            return Copied(of)
    return _earlier_line(draft, text, moment)


def _earlier_line(draft: Draft, text: str, moment: Moment) -> Copied | None:
    """The scene or the line that a text is a copy of, the newest first."""
    lines = numbered_lines(moment)
    me = moment.creature_id
    scenes = [index for index in lines.kinds.get(kinds.WORLD_OBSERVED, ()) if index >= lines.first]
    also = scenes[-scenes_compared_max:]
    for index in lines_compared(content_words(text), words_in_common_min, lines, me, also=also):
        earlier = lines.readings[index - lines.base]
        if earlier.has_text and _is_in(earlier.payload["text"], _read(text), moment.talk):
            is_scene = earlier.kind == kinds.WORLD_OBSERVED and earlier.actor != me
            if is_scene or not is_free(draft, freeing_fields(draft, moment), earlier.payload):
                return Copied("scene" if is_scene else "heard", lines.ids[index - lines.base])
    return None


def is_copy(line: str, texts: Iterable[str]) -> bool:
    """Whether a line is a copy of one of the texts."""
    content = content_words(line)
    return any(_has_half_of(content, text) and _is_in(text, _read(line), ()) for text in texts)


def _has_half_of(content: Sequence[str], text: str) -> bool:
    """The rule of `texts_with_half_of`, for one text."""
    theirs = {*content_words(text)}
    where_each = [int(word in theirs) for word in content]
    return bool(texts_with_half_of(content, words_in_common_min, where_each, 1))


def _is_in(text: str, line: _Read, talk: Iterable[ToolTalk]) -> bool:
    """Whether half of a line's words stand in runs that the text has too. Runs that a tool answered are not counted."""
    runs = line.runs & _read(text).runs
    words = line.words
    # Each run covers at most three words that no other covers, which is quicker to see than which ones.
    if len(runs) * run_words * 100 < len(words) * copied_percent_min or len(words) < words_compared_min:
        return False
    for said in talk:
        runs -= _read(said.answer.text).runs
    return words_in_runs(words, runs) * 100 >= len(words) * copied_percent_min


def words_in_runs(words: Sequence[str], runs: frozenset[Run]) -> int:
    """How many of the words stand in one of the runs."""
    count = 0
    counted = 0
    for start, run in enumerate(_runs_in_order(words)):
        if run in runs:
            stop = start + run_words
            count += stop - max(start, counted)
            counted = stop
    return count


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in small letters. An apostrophe is part of its word, however it is written."""
    if text.isascii():  # So a table is enough, which is quicker.
        return tuple(text.lower().translate(_BLANKS).split())
    return tuple(_NO_LETTERS.sub(" ", _APOSTROPHES.sub("", text.casefold())).split())


def own_words(line: str) -> str:
    """A line that cites others, without what it quotes; the whole line if hardly anything else is left."""
    rest = _QUOTED.sub(" ", line)
    return rest if len(words_of(rest)) >= words_compared_min else line


def _cites(draft: Draft, moment: Moment) -> bool:
    """Whether a draft names lines in a field that cites."""
    sorts = fields_of(draft.kind, moment.playbill)
    return any(value and sorts.get(name) in _CITING for name, value in draft.payload.items())


def _runs_in_order(words: Sequence[str]) -> Iterable[Run]:
    return zip(words, words[1:], words[2:], strict=False)


@lru_cache(maxsize=run_cache_texts_max)
def _read(text: str) -> _Read:
    words = words_of(text)
    return _Read(words, frozenset(_runs_in_order(words)))


@lru_cache(maxsize=known_cache_characters_max)
def _known_texts(voice: tuple[str, ...], prompt: tuple[str, ...]) -> _KnownTexts:
    of_voice: list[tuple[CopyOf, str]] = [("voice", text) for text in voice]
    texts: list[tuple[CopyOf, str]] = [*of_voice, *[("prompt", text) for text in prompt]]
    words: dict[str, int] = {}
    for number, (_, text) in enumerate(texts):
        for word in content_words(text):
            words[word] = words.get(word, 0) | 1 << number
    return _KnownTexts(tuple(texts), words)
