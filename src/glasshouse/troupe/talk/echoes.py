"""Echoes: whether a line hardly says more than a text that everybody knows.

Always holds: a line is an echo of a text if half of its words stand in runs of three words that the text has, too. The
engine drops such lines, so a player finds other words, or passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

run_words: Final = 3
words_compared_min: Final = 5
"""A shorter line is no echo."""
echo_percent_min: Final = 50
texts_read_max: Final = 4_096
"""The runs of more texts are told again."""

_NO_LETTERS: Final = re.compile(r"[\W_]+")
_APOSTROPHES: Final = re.compile("['\u2019]")

Run = tuple[str, ...]


def is_echo(line: str, texts: Iterable[str]) -> bool:
    """Whether a line is an echo of one of the texts."""
    words, _ = _read(line)
    return len(words) >= words_compared_min and any(_is_of(words, _read(text)[1]) for text in texts)


def _is_of(words: Run, runs: frozenset[Run]) -> bool:
    covered = 0
    until = 0
    for at in range(len(words) - run_words + 1):
        if words[at : at + run_words] in runs:
            covered += at + run_words - max(at, until)
            until = at + run_words
    return covered * 100 >= len(words) * echo_percent_min


@lru_cache(maxsize=texts_read_max)
def _read(text: str) -> tuple[Run, frozenset[Run]]:
    words = tuple(_NO_LETTERS.sub(" ", _APOSTROPHES.sub("", text.casefold())).split())
    return words, frozenset(words[at : at + run_words] for at in range(len(words) - run_words + 1))
