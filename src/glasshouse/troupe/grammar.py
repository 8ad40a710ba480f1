"""Grammar: sentence patterns as data, and how they are filled.

Always holds: a pattern says everything but what was heard and what is drawn from the stock; verbs and pronouns agree
with the thing it speaks of; no stock phrase stands twice in one line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_phrases import Noun

_SLOT: Final = re.compile(r"\{(\w+)\}")
_IT: Final = re.compile(r"\bit(?:s|self)?\b", re.IGNORECASE)
_SENTENCE_START: Final = re.compile(r"(^|[.?!]\s+)([^\W\d_])")
_SINGULAR: Final = {
    "is": "is", "was": "was", "has": "has", "does": "does", "s": "s", "es": "es", "it": "it", "its": "its",
    "them": "it", "itself": "itself",
}  # fmt: skip
_PLURAL: Final = {
    "is": "are", "was": "were", "has": "have", "does": "do", "s": "", "es": "", "it": "they", "its": "their",
    "them": "them", "itself": "themselves",
}  # fmt: skip


class Pattern(NamedTuple):
    """A sentence with gaps: texts and slots by turns, beginning and ending with a text."""

    texts: tuple[str, ...]
    slots: tuple[str, ...]
    needs: frozenset[str]
    """The slots that the stock cannot fill."""
    longest: str
    """Its longest fixed part in small letters: where that was said already, so was the sentence."""
    mark: str = "."
    mode: str = "statement"


def pattern_of(text: str) -> Pattern:
    """A pattern from the way it is written in the data."""
    mark = "?" if text.endswith("?") else "."
    bare = text[:-1] if text.endswith(("?", ".", "!")) else text
    first = bare.split(" ", 1)[0].strip(",:")
    mode = (
        "question"
        if mark == "?"
        else "request"
        if first in shelf.words_listed("imperatives.txt")
        else "statement"
    )
    return _pattern(bare, mark, mode)


@lru_cache(maxsize=64)
def cores(act: str) -> tuple[Pattern, ...]:
    """The sentences of an act."""
    return tuple(_of_one_thing(pattern_of(line)) for line in shelf.entries(f"grammar/{act}.txt"))


@lru_cache(maxsize=64)
def listed(name: str, heading: str = "") -> tuple[Pattern, ...]:
    """The patterns of a list: openers, closers, asides. Their own mark, if any, is part of the text."""
    return tuple(_pattern(line) for line in shelf.sections(name).get(heading, ()))


def slots_for(topic: Noun, *, second: str = "", cares: tuple[str, ...] = ()) -> dict[str, str]:
    """What the gaps of a sentence on this topic can be filled with, beside the stock."""
    slots = dict(_PLURAL if topic.is_plural else _SINGULAR)
    slots["X"] = topic.definite
    is_person = topic.is_name or topic.head in shelf.words_listed("persons.txt")
    if is_person:
        for pronoun in ("it", "its", "them", "itself"):
            del slots[pronoun]
    if not (topic.is_plural or topic.is_name or topic.is_word):
        slots["aX"] = topic.indefinite
        if not is_person:
            slots["x"] = topic.phrase
    if second:
        slots["Y"] = second
    if cares:
        slots["care"] = cares[0]
    return slots


def _of_one_thing(pattern: Pattern) -> Pattern:
    """A pattern that says `it` in so many words is for one thing, not for several and not for somebody by name."""
    if "X" in pattern.slots and any(_IT.search(text) for text in pattern.texts):
        return pattern._replace(needs=pattern.needs | {"x"})
    return pattern


def fits(pattern: Pattern, slots: Mapping[str, str]) -> bool:
    """Whether every gap can be filled."""
    return pattern.needs <= slots.keys()


def filled(
    pattern: Pattern,
    slots: Mapping[str, str],
    dice: Random,
    used: set[str],
    stock: Mapping[str, tuple[str, ...]] | None = None,
) -> str:
    """The sentence, without its mark. What was drawn from the stock is added to `used`."""
    stock = shelf.sections("stock.txt") if stock is None else stock
    said = [pattern.texts[0]]
    for slot, text in zip(pattern.slots, pattern.texts[1:], strict=True):
        said.append(slots[slot] if slot in slots else _drawn(stock[slot], dice, used))
        said.append(text)
    return "".join(said)


def with_capitals(text: str) -> str:
    """The text with a capital at the start of each sentence."""
    return _SENTENCE_START.sub(lambda found: found[1] + found[2].upper(), text)


def _pattern(text: str, mark: str = ".", mode: str = "statement") -> Pattern:
    parts = _SLOT.split(text)
    texts, slots = tuple(parts[::2]), tuple(parts[1::2])
    needs = frozenset(slots).difference(shelf.sections("stock.txt"))
    return Pattern(texts, slots, needs, max(texts, key=len).lower(), mark, mode)


def _drawn(stock: tuple[str, ...], dice: Random, used: set[str]) -> str:
    at = int(dice.random() * len(stock))
    while stock[at] in used and len(used) < len(stock):
        at = (at + 1) % len(stock)
    used.add(stock[at])
    return stock[at]
