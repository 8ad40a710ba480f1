"""`Problem`: one thing wrong with a world, and where; `Complaint`: the same before its line is known.

Always holds: a problem is one line of words. Problems are told by file, then by line and column.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple, TypeAlias

names_listed_max = 8

At: TypeAlias = tuple[str | int, ...]
"""The way to a field from the top of its file: keys and list places."""


class Place(NamedTuple):
    """A line and a column, both counted from one; zero stands for nowhere."""

    line: int
    column: int


NOWHERE = Place(0, 0)


@dataclass(frozen=True)
class Problem:
    """One thing wrong: file, line, column, field, and what to do about it."""

    path: str
    line: int
    column: int
    field: str
    text: str

    def __str__(self) -> str:
        place = f":{self.line}:{self.column}" if self.line else ""
        field = f"{self.field}: " if self.field else ""
        return _in_one_line(f"{self.path}{place}: {field}{self.text}")


@dataclass(frozen=True)
class Complaint:
    """What is wrong with a field of the scenario, or of the creature that is named."""

    at: At
    text: str
    creature: str | None = None
    at_key: bool = False
    """Whether the field's name is at fault rather than its value."""


def field_named(at: At) -> str:
    """A field as people say it: its keys joined by dots. Which item of a list is meant, the line says."""
    return ".".join(part for part in at if isinstance(part, str))


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Problems by file, line and column; what was found twice is told once."""
    return sorted(dict.fromkeys(problems), key=lambda p: (p.path, p.line, p.column, p.field, p.text))


def likely(name: str, known: Iterable[str]) -> str:
    """What to do about an unknown name: the likely meant one, or what there is."""
    names = list(dict.fromkeys(known))
    close = get_close_matches(name.lower(), names, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    if not names:
        return "There is none yet."
    more = f" and {len(names) - names_listed_max} more" if len(names) > names_listed_max else ""
    return f"There is {', '.join(names[:names_listed_max])}{more}."


def nobody_called(noun: str, name: str, known: Iterable[str]) -> str:
    """That nothing has this name, and what has a name like it."""
    return f"no {noun} is called {shown(name)}. {likely(name, known)}"


def shown(value: object, chars: int = 60) -> str:
    """A value as it may stand in a message: short, and on one line."""
    text = repr(value)
    return text if len(text) <= chars else f"{text[: chars - 3]}..."


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
