"""`Problem`: one mistake in a world and its place; `Complaint`: the same before its line is known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

from glasshouse.errors import advice, in_brief, names_shown_max

T = TypeVar("T")

At: TypeAlias = tuple[str | int, ...]
"""The path to a field from the top of its file: keys and list indexes."""


class Position(NamedTuple):
    """A line and a column, both counted from one."""

    line: int
    column: int


class Problem(NamedTuple):
    """One mistake: file, line, column, field, and what to do about it. As text it is one line.

    Line and column are zero if no line is meant.
    """

    path: str
    line: int
    column: int
    field: str
    text: str

    def __str__(self) -> str:
        position = f":{self.line}:{self.column}" if self.line else ""
        field = f"{self.field}: " if self.field else ""
        return " ".join(f"{self.path}{position}: {field}{self.text}".split())


class Complaint(NamedTuple):
    """What is wrong with a field of the scenario, or of the named creature."""

    at: At
    text: str
    creature: str | None = None
    at_key: bool = False
    """Whether the field's name is wrong, not its value."""


def field_named(at: At) -> str:
    """A field as messages name it: its keys joined by dots. The line tells which item of a list is meant."""
    return ".".join(part for part in at if isinstance(part, str))


def items_at(at: At, items: Iterable[T]) -> list[tuple[At, T]]:
    """The items of the list at this place, each with its own place."""
    return [((*at, n), item) for n, item in enumerate(items)]


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Problems by file, line and column, each once."""
    return sorted({*problems})


def likely(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """What to do about an unknown name: the name that was probably meant, or `otherwise`, or the names there are."""
    names = list(dict.fromkeys(known))
    close = get_close_matches(name.lower(), names, n=1)
    if otherwise is not None and not close:
        return otherwise
    return advice("none", close, names[:names_shown_max], len(names))


def unknown(noun: str, name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """That nothing has this name, and what to do."""
    return f"no {noun} is called {shown(name)}. {likely(name, known, otherwise)}"


def likely_name_in(text: str) -> tuple[str, str] | None:
    """The name that nothing has and the one that was probably meant, if the text of a problem tells both."""
    wrong = _CALLED.search(text)
    meant = _MEANT.search(text)
    return None if wrong is None or meant is None else (wrong[1], meant[1])


_CALLED = re.compile(r"is called '([^']+)'\.")
_MEANT = re.compile(r"Did you mean '([^']+)'\?")

shown = partial(in_brief, chars_max=60)
"""A value as messages show it: short, and on one line."""
