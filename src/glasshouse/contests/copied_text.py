"""Copied text in rehearsals: the texts of a recorded prompt that a reply may recite, and placeholders that it left in place.

Always holds: what is a copy is decided by the rule of the engine (`turns.replies.copied`), so a rehearsal counts what a
play would object to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import JSONDecodeError, loads
from typing import Any, Final

from glasshouse.events.event import Json
from glasshouse.turns.moment.prompt import ANSWERED, HOW_TO_ANSWER, LAST_ANSWER
from glasshouse.turns.replies.copied import words_of

_BRACKETED: Final = re.compile(r"<([^<>\n]+)>")
_LABEL: Final = re.compile(r"^[A-Z_ ]+: ")


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
