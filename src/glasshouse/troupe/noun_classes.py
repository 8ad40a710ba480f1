"""Noun classes: whether a noun is an object, food, an animal, a person, a place, weather, a sound or something abstract.

Always holds: the last word of a compound decides (`honey jar`, `raincoat`), save that a measure is of the class of what
it measures (`a slice of bread`); a noun that no list and no ending knows is `unknown`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_phrases import Noun
from glasshouse.troupe.vocabulary import NOUN_CLASSES, singular_forms, word_cache_words_max

UNKNOWN: Final = "unknown"
DEEDS: Final = ("opens", "carries", "speaks")
"""What nouns can do."""
compound_part_chars_min: Final = 3
"""A shorter word is not looked for at the end of another."""
ending_word_chars_min: Final = 7
"""A shorter word with such an ending is no more than a word that looks like it: `lance`, `cement`."""

_FILE: Final = "noun_classes.txt"
_IRREGULAR: Final[Mapping[str, str]] = MappingProxyType(
    {"men": "man", "women": "woman", "children": "child", "mice": "mouse", "geese": "goose", "feet": "foot",
     "teeth": "tooth", "leaves": "leaf", "knives": "knife", "shelves": "shelf", "loaves": "loaf", "wolves": "wolf",
     "lives": "life", "wives": "wife", "thieves": "thief", "halves": "half", "scarves": "scarf", "calves": "calf",
     "dwarves": "dwarf", "elves": "elf"}
)  # fmt: skip


def class_of(noun: Noun) -> str:
    """What a noun is: one of `NOUN_CLASSES`, or `unknown`."""
    return _class_of_name(noun.phrase.lower()) if noun.is_name else _class_of_phrase(noun.phrase.lower())


def can(noun: Noun, deed: str) -> bool:
    """Whether a noun does one of `DEEDS`; every person speaks."""
    if deed == "speaks" and class_of(noun) == "person":
        return True
    return _form_listed(noun.head.lower(), shelf.words_listed(_FILE, deed)) is not None


@lru_cache(maxsize=word_cache_words_max)
def class_of_word(word: str) -> str:
    """What a single noun, in small letters, is."""
    known = _classes()
    listed = _form_listed(word, known)
    if listed is not None:
        return known[listed]
    if "-" in word:
        return class_of_word(word.rpartition("-")[2])
    for form in (word, *_singular(word)):
        for start in range(compound_part_chars_min, len(form) - compound_part_chars_min):
            if form[start:] in known and form[:start] in known:
                return known[form[start:]]
        if len(form) >= ending_word_chars_min:
            for ending, noun_class in _endings():
                if form.endswith(ending):
                    return noun_class
    return UNKNOWN


@lru_cache(maxsize=word_cache_words_max)
def _class_of_name(name: str) -> str:
    first = name.split(maxsplit=1)[0]
    is_person = any(first in shelf.words_listed(_FILE, heading) for heading in ("names", "honorifics"))
    noun_class = "person" if is_person else _class_of_phrase(name)
    # A name says who or where; what a Star or a Marigold is called after, it need not be.
    return noun_class if noun_class in {"person", "place"} else UNKNOWN


@lru_cache(maxsize=word_cache_words_max)
def _class_of_phrase(phrase: str) -> str:
    named, of, contents = phrase.partition(" of ")
    head = named.split()[-1]
    is_measure = _form_listed(head, shelf.words_listed(_FILE, "measures")) is not None
    return class_of_word(contents.split()[-1] if of and is_measure else head)


def _form_listed(word: str, words: Mapping[str, str] | frozenset[str]) -> str | None:
    """The form of a word that a list has."""
    return next((form for form in (word, *_singular(word)) if form in words), None)


def _singular(word: str) -> list[str]:
    irregular = _IRREGULAR.get(word)
    return [irregular] if irregular else singular_forms(word)


@lru_cache(maxsize=1)
def _classes() -> Mapping[str, str]:
    return MappingProxyType(
        {word: noun_class for noun_class in NOUN_CLASSES for word in shelf.words_listed(_FILE, noun_class)}
    )


@lru_cache(maxsize=1)
def _endings() -> tuple[tuple[str, str], ...]:
    pairs = (line.split() for line in shelf.sections(_FILE)["endings"])
    return tuple((ending, noun_class) for ending, noun_class in pairs)
