"""Repeats: whether a line mostly says what somebody, the scene or my own instructions say already.

Always holds: a line is compared with one text at a time. It repeats that if half of its words stand in runs of three that the text has, too.
The engine drops such lines of any player as copies (ADR 0121), so a player says more of its own beside them, or something else.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import chain
from typing import Final, TypeAlias

from glasshouse.troupe.reading import Reading

run_words: Final = 3
words_compared_min: Final = 5
"""A shorter line repeats nothing."""
echo_percent_min: Final = 50
"""From here on a line repeats a text: as much of it stands in runs that the text has, too."""
looped_words: Final = 5
looped_times_min: Final = 3
"""A speech that has a group of so many words this often goes round in circles."""
texts_read_cache_max: Final = 4_096
"""The words of more texts are looked for again."""

Run: TypeAlias = tuple[str, str, str]

_APOSTROPHES: Final = re.compile("['\u2019]")
_LOOPED_WORD: Final = re.compile(r"\w+")
_NO_LETTERS: Final = re.compile(r"[\W_]+")


def is_echo(text: str, reading: Reading) -> bool:
    """Whether a line mostly repeats one that can be seen, the scene, or what my manifest says."""
    words = _words(text)
    if len(words) < words_compared_min:
        return False
    runs = _runs(text)
    me = reading.me
    lines = [line.text for line in chain(reading.discussion, reading.remembered, reading.disturbances)]
    texts = (*lines, *reading.refused, reading.scene, me.goal, me.persona)
    # Each run covers at most three words, which is quicker to see than which ones.
    runs_min = len(words) * echo_percent_min / (run_words * 100)
    in_common = [common for common in map(runs.intersection, map(_runs, texts)) if len(common) >= runs_min]
    return any(_covers_half(words, common) for common in in_common)


def goes_in_circles(text: str) -> bool:
    """Whether a text says a group of words over and over. The engine refuses such lines of any player."""
    words = _LOOPED_WORD.findall(text.casefold())
    groups = Counter(zip(*[words[start:] for start in range(looped_words)], strict=False))
    return any(times >= looped_times_min for times in groups.values())


def _covers_half(words: tuple[str, ...], runs: frozenset[Run]) -> bool:
    """Whether half of the words stand in one of these runs."""
    counted = 0
    count = 0
    for start in range(len(words) - run_words + 1):
        if words[start : start + run_words] in runs:
            stop = start + run_words
            count += stop - max(start, counted)
            counted = stop
    return count * 100 >= len(words) * echo_percent_min


@lru_cache(maxsize=texts_read_cache_max)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_NO_LETTERS.sub(" ", _APOSTROPHES.sub("", text.casefold())).split())


@lru_cache(maxsize=texts_read_cache_max)
def _runs(text: str) -> frozenset[Run]:
    words = _words(text)
    return frozenset(zip(words, words[1:], words[2:], strict=False))
