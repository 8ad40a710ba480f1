"""Fields of a payload in words: `answer: yes; cites: 12, 14`. Strings stand as they are, lists are joined.

Always holds: nothing is left out. What is too long for its line is told with its length, or on a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from glasshouse.cli.drawing.screen import as_json, one_line

inline_chars_max: Final = 200
"""A longer value does not stand among others on one line."""

TOLD_FIRST: Final = ("text", "reason")
"""The fields whose words need no name before them: the first that is there comes first."""

NameOf = Callable[[str], str]


def in_words(value: Any, name_of: NameOf | None = None) -> str:
    """One value: a string plain, a list joined, a mapping as pairs in brackets, nothing as `none`."""
    if isinstance(value, str):
        return one_line(value if name_of is None else name_of(value)) or "(empty)"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(in_words(one, name_of) for one in value) or "(empty)"
    if isinstance(value, Mapping):
        pairs = "; ".join(f"{one_line(str(key))}: {in_words(one, name_of)}" for key, one in value.items())
        return f"({pairs})" if pairs else "(empty)"
    return as_json(value)


def said_in(payload: Mapping[str, Any]) -> tuple[str, str]:
    """The field that holds what was said, and its words; both empty if there is none."""
    for field in TOLD_FIRST:
        text = payload.get(field)
        if isinstance(text, str) and text.strip():
            return field, one_line(text)
    return "", ""


def fields_in(payload: Mapping[str, Any], name_of: NameOf | None = None) -> Iterator[tuple[str, str]]:
    """All fields but the one that holds what was said, each with its words."""
    said, _ = said_in(payload)
    for field, value in payload.items():
        if field != said:
            yield one_line(field), in_words(value, name_of)


def gist(payload: Mapping[str, Any], name_of: NameOf | None = None) -> str:
    """A whole payload on one line: what was said, then the other fields. Of long ones, how long they are."""
    _, said = said_in(payload)
    told = [
        f"{field}: {words}" if len(words) <= inline_chars_max else f"{field}: {len(words):,} characters"
        for field, words in fields_in(payload, name_of)
    ]
    return " — ".join(part for part in (said, "; ".join(told)) if part)
