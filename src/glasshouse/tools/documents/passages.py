"""Passages: documents in pieces that fit into a prompt, and which of them are about some words. Pure.

Always holds: a passage is whole lines of one file, except where one line alone is too long; passages of a file follow one another and
leave out blank lines only. The same words and documents find the same passages on every machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from glasshouse.turns.moment.line_text import content_words

passage_chars_max: Final = 800
"""A passage is no longer: five of them must fit into the prompt of a small model."""
passages_found_max: Final = 5
"""No more passages are given for one question."""
words_asked_max: Final = 32
"""More words of a question are left out."""
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
"""What editors count lines by. `splitlines` would end one at a form feed, too."""
_RARE_SHARE: Final = 10
"""A word is rare if it stands in at most one of so many passages, or in one alone."""


class Passage(NamedTuple):
    """Some lines of a document."""

    path: str
    first: int
    """The number of its first line, counted from 1."""
    last: int
    text: str
    words: frozenset[str]


class _Block(NamedTuple):
    """Lines that belong together: a paragraph, with the headings before it."""

    first: int
    last: int
    text: str


def passages_in(path: str, text: str) -> list[Passage]:
    """The passages of a document: as many paragraphs together as fit."""
    passages: list[Passage] = []
    waiting: list[_Block] = []
    for block in _pieces(_blocks(text)):
        together = sum(len(each.text) + 2 for each in waiting) + len(block.text)
        if waiting and (together > passage_chars_max or _is_heading(block.text)):
            passages.append(_passage(path, waiting))
            waiting = []
        waiting.append(block)
    return [*passages, _passage(path, waiting)] if waiting else passages


def _is_heading(text: str) -> bool:
    return text.startswith("#")


def _blocks(text: str) -> Iterator[_Block]:
    """The paragraphs of a text. A heading belongs to the paragraph after it."""
    lines: list[str] = []
    first = 0
    is_open = False
    for number, raw in enumerate(_LINE_END.split(text), 1):
        line = raw.rstrip()
        if not line.strip():
            if is_open:
                yield _Block(first, first + len(lines) - 1, "\n".join(lines))
                lines = []
                is_open = False
            elif lines:
                lines.append("")  # Between a heading and its paragraph.
            continue
        if _is_heading(line) and is_open:
            yield _Block(first, first + len(lines) - 1, "\n".join(lines))
            lines = []
        if not lines:
            first = number
        lines.append(line)
        is_open = not _is_heading(line)
    while lines and not lines[-1]:
        del lines[-1]
    if lines:
        yield _Block(first, first + len(lines) - 1, "\n".join(lines))


def _pieces(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """The same blocks, those that are too long in pieces: at the end of a line, else at a blank."""
    for block in blocks:
        if len(block.text) <= passage_chars_max:
            yield block
            continue
        lines: list[str] = []
        first = block.first
        for number, line in enumerate(block.text.split("\n"), block.first):
            if lines and sum(map(len, lines)) + len(lines) + len(line) > passage_chars_max:
                yield _Block(first, number - 1, "\n".join(lines))
                lines = []
            if not lines:
                first = number
            if len(line) > passage_chars_max:
                yield from (_Block(number, number, part) for part in _parts_of_line(line))
            else:
                lines.append(line)
        if lines:
            yield _Block(first, block.last, "\n".join(lines))


def _parts_of_line(line: str) -> Iterator[str]:
    while len(line) > passage_chars_max:
        cut = line.rfind(" ", 1, passage_chars_max + 1)
        cut = cut if cut > 0 else passage_chars_max
        yield line[:cut].rstrip()
        line = line[cut:].lstrip()
    if line:
        yield line


def _passage(path: str, blocks: Sequence[_Block]) -> Passage:
    text = "\n\n".join(block.text for block in blocks)
    return Passage(path, blocks[0].first, blocks[-1].last, text, frozenset(content_words(text)))


def passages_about(words: str, passages: Sequence[Passage]) -> list[Passage]:
    """The passages that are about some words, best first.

    A passage has a point for each of the words that it holds, and one more for each that is rare. Of passages with as many points, the
    one that comes first in the documents is better.
    """
    asked = content_words(words)[:words_asked_max]
    spread = Counter(word for passage in passages for word in asked if word in passage.words)
    rare = {word for word in asked if spread[word] <= max(1, len(passages) // _RARE_SHARE)}
    points = [sum(1 + (word in rare) for word in asked if word in passage.words) for passage in passages]
    best = sorted(range(len(passages)), key=lambda index: (-points[index], index))
    return [passages[index] for index in best[:passages_found_max] if points[index]]
