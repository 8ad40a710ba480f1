"""`Problem`: one mistake in a world and its place; `Complaint`: the same before its line is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple, TypeAlias

names_listed_max = 8

At: TypeAlias = tuple[str | int, ...]
"""The path to a field from the top of its file: keys and list indexes."""


class Place(NamedTuple):
    """A line and a column, both counted from one; zero means nowhere."""

    line: int
    column: int


NOWHERE = Place(0, 0)


@dataclass(frozen=True)
class Problem:
    """One mistake: file, line, column, field, and what to do about it. As text it is one line."""

    path: str
    line: int
    column: int
    field: str
    text: str

    def __str__(self) -> str:
        place = f":{self.line}:{self.column}" if self.line else ""
        field = f"{self.field}: " if self.field else ""
        return " ".join(f"{self.path}{place}: {field}{self.text}".split())


@dataclass(frozen=True)
class Complaint:
    """What is wrong with a field of the scenario, or of the named creature."""

    at: At
    text: str
    creature: str | None = None
    at_key: bool = False
    """Whether the field's name is wrong, not its value."""

    @property
    def field(self) -> str:
        """The field as messages name it."""
        return field_named(self.at)


def field_named(at: At) -> str:
    """A field as messages name it: its keys joined by dots. The line tells which item of a list is meant."""
    return ".".join(part for part in at if isinstance(part, str))


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Problems by file, line and column, each once."""
    return sorted(dict.fromkeys(problems), key=lambda p: (p.path, p.line, p.column, p.field, p.text))


def meant(name: str, known: Iterable[str]) -> str:
    """The question whether a similar name was meant; empty if no name is similar."""
    close = get_close_matches(name.lower(), list(known), n=1)
    return f"Did you mean {close[0]!r}?" if close else ""


def likely(name: str, known: Iterable[str]) -> str:
    """What to do about an unknown name: the name that was probably meant, or the names there are."""
    names = list(dict.fromkeys(known))
    if not names:
        return "There is none yet."
    if question := meant(name, names):
        return question
    more = f" and {len(names) - names_listed_max} more" if len(names) > names_listed_max else ""
    return f"There {'is' if len(names) == 1 else 'are'} {', '.join(names[:names_listed_max])}{more}."


def unknown(noun: str, name: str, known: Iterable[str]) -> str:
    """That nothing has this name, and what to do."""
    return f"no {noun} is called {shown(name)}. {likely(name, known)}"


def shown(value: object, chars: int = 60) -> str:
    """A value as messages show it: short, and on one line."""
    text = repr(value)
    return text if len(text) <= chars else f"{text[: chars - 3]}..."
