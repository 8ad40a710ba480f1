"""Copied text: whether a reply says what its prompt or an earlier line said, or leaves a placeholder of its form in place.

Always holds: only words are compared, in small letters and without punctuation. A line of a few words is never a copy:
"Yes, my lord." may be said as often as it is true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from json import JSONDecodeError, loads
from typing import Any, Final

from glasshouse.events.event import Json
from glasshouse.turns.moment.prompt import ANSWERED, HOW_TO_ANSWER, LAST_ANSWER

run_words_min: Final = 3
"""As many words in a row are a run."""
copy_words_min: Final = 5
"""A line with fewer words is never a copy."""
copy_percent_min: Final = 50
"""From here on a line is a copy: as much of it stands in runs that one text has too."""

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_QUOTED: Final = re.compile(r'"[^"]*"|\u201c[^\u201d]*\u201d')
_BRACKETED: Final = re.compile(r"<([^<>\n]+)>")
_LABEL: Final = re.compile(r"^[A-Z_ ]+: ")


def words_of(text: str) -> list[str]:
    """The words of a text in small letters."""
    return [word.replace("\u2019", "'") for word in _WORD.findall(text.casefold())]


def share_in_runs(line_words: Sequence[str], text_words: Sequence[str]) -> tuple[int, int]:
    """How many words of a line stand in runs of three or more that a text has too, and how many words it has."""
    runs = set(zip(*[text_words[start:] for start in range(run_words_min)], strict=False))
    copied: set[int] = set()
    for start in range(len(line_words) - run_words_min + 1):
        if tuple(line_words[start : start + run_words_min]) in runs:
            copied.update(range(start, start + run_words_min))
    return len(copied), len(line_words)


def is_copy(line: str, texts: Iterable[str]) -> bool:
    """Whether half of a line's words stand in runs that one of the texts has too."""
    words = words_of(line)
    if len(words) < copy_words_min:
        return False
    shares = (share_in_runs(words, words_of(text)) for text in texts)
    return any(copied * 100 >= count * copy_percent_min for copied, count in shares)


def own_words(line: str) -> str:
    """A line that cites others, without what it quotes; the whole line if hardly anything else is left."""
    rest = _QUOTED.sub(" ", line)
    return rest if len(words_of(rest)) >= copy_words_min else line


def form_texts(system: str) -> list[str]:
    """The texts in the forms of a system message, and its other lines about answering."""
    texts: list[str] = []
    for line in system.partition(f"{HOW_TO_ANSWER}\n")[2].splitlines():
        try:
            texts += [text for _, text in strings_in(loads(line))]
        except JSONDecodeError:
            texts.append(_LABEL.sub("", line))
    return texts


def closing_texts(user: str) -> list[str]:
    """The last lines of a user message that quote nobody."""
    begins = max(user.rfind(f"{heading}\n") for heading in (ANSWERED, LAST_ANSWER))
    return [line for line in user[max(begins, 0) :].splitlines()[1:] if '"' not in line]


def has_placeholder(reply: Json, system: str) -> bool:
    """Whether a value of a reply is a placeholder of the forms in the system message: the words that stood in brackets
    there, or `some` and the name of its field."""
    bracketed = {_plain(text) for text in _BRACKETED.findall(system)}
    forms = {_plain(text) for text in form_texts(system)}
    for name, value in strings_in(reply):
        plain = _plain(value)
        is_some = plain == f"some {_plain(name.replace('_', ' '))}" and plain in forms
        if is_some or plain in bracketed:
            return True
    return False


def strings_in(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a JSON value, each with the name of its field."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from strings_in(part, str(key))
    elif isinstance(value, list):
        for part in value:
            yield from strings_in(part, name)


def _plain(text: str) -> str:
    return " ".join(words_of(text))
