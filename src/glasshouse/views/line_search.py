"""Searching lines by words, as people remember them. Pure.

Always holds: what is searched was redacted for its reader before, so no search tells what its reader may not read. Of a scene or a
disturbance that several graphs heard, each copy is a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from glasshouse.events import kinds
from glasshouse.events.event import Event

words_max: Final = 32
"""More words of a search are refused: nobody remembers a line by so many."""


def line_in(event: Event) -> str:
    """The words of an event that somebody said, or told itself; empty if it is no line, or its reader reads no thoughts."""
    if event.kind in kinds.NO_LINES:
        return ""
    text = event.payload.get("text")
    return text if isinstance(text, str) else ""


def words_in(given: Iterable[str]) -> tuple[str, ...]:
    """The words of a search, each once, whatever their case."""
    return tuple(dict.fromkeys(word for part in given for word in part.casefold().split()))


def holds(text: str, words: Iterable[str]) -> bool:
    """Whether a text holds all words, anywhere and in any case. `words` are in lower case."""
    if not text:
        return False
    folded = text.casefold()
    return all(word in folded for word in words)
