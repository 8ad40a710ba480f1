"""Values in a reply: read leniently where it is clear what was meant, else refused in a sentence that can be acted on.

Always holds: what is wrong is raised as `Wrong`, and its words name the field.
"""

from __future__ import annotations

import re
from typing import Any, Final

from glasshouse.turns.quoting import cut, one_line

items_max: Final = 16
number_size_max: Final = 10**15
named_chars_max: Final = 40

_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_TRUTHS: Final = {"true": True, "yes": True, "false": False, "no": False}


class Wrong(ValueError):
    """A problem on its way to the one place that hands it back."""


def word_in(name: str, given: object, words: tuple[str, ...]) -> str:
    """One of the words that a field may be."""
    if isinstance(given, bool):
        given = "yes" if given else "no"
    folded = one_line(given).strip("\"'`.@ ").casefold() if isinstance(given, str) else None
    for word in words:
        if word.casefold() == folded:
            return word
    choice = ", ".join(f'"{word}"' for word in words)
    raise Wrong(f'"{name}" may not be {named(given)}: give one of {choice}.')


def number_in(name: str, given: object) -> int | float:
    """A number, also where it was written as text."""
    if isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
        given = float(given) if "." in given else int(given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Wrong(f'"{name}" must be a number.')
    if not -number_size_max <= given <= number_size_max:
        raise Wrong(f'"{name}" is too large a number: stay under {number_size_max:,}.')
    return given


def truth_in(name: str, given: object) -> bool:
    """True or false, also where it was written as text."""
    truth = _TRUTHS.get(given.strip().casefold()) if isinstance(given, str) else given
    if not isinstance(truth, bool):
        raise Wrong(f'"{name}" must be true or false.')
    return truth


def items_in(name: str, given: object) -> list[Any]:
    """The items of a list; one alone is a list of one."""
    items = [given] if isinstance(given, str | int) else given
    if not isinstance(items, list):
        raise Wrong(f'"{name}" must be a list.')
    if len(items) > items_max:
        raise Wrong(f'"{name}" is too long a list: give at most {items_max}.')
    return items


def named(given: object) -> str:
    """A wrong value as a problem shows it: short, and on one line."""
    return (
        f'"{cut(one_line(str(given)), named_chars_max)}"' if isinstance(given, str | int | float) else "that"
    )
