"""Vocabulary: which words the troupe knows by itself, and so which ones it must have heard from somebody.

Always holds: a word is rare when no list and no sentence of the data has it in any form. The troupe makes up no words,
so a rare word in its lines was said by somebody else or written by an author.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from glasshouse.troupe import data_files as shelf

WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_VERB: Final = re.compile(r"([a-z]+)\{e?s\}")
word_cache_words_max: Final = 8_192
"""How many are kept: forms of words; more are computed again."""
_ABSTRACT_ENDINGS: Final = ("ness", "ment", "tion", "sion", "ance", "ence")
NOUN_CLASSES: Final = ("object", "food", "animal", "person", "place", "weather", "sound", "abstract")

_ENDINGS: Final = ("s", "es", "ed", "d", "ing", "er", "r", "est", "st", "ly", "y", "n", "en", "ness")


@lru_cache(maxsize=16)
def of_sort(sort: str) -> frozenset[str]:
    """The everyday words of one sort: stop, det, verb, adjective, adverb, hollow, doer, noun."""
    listed = shelf.words_listed("vocabulary.txt", sort)
    return listed | _nouns_with_a_class() if sort == "noun" else listed


@lru_cache(maxsize=1)
def _nouns_with_a_class() -> frozenset[str]:
    """The nouns with a class that are nothing but nouns: the others are nouns only where the list of nouns says so."""
    return _with_a_class().difference(*(of_sort(sort) for sort in ("stop", "verb", "adjective", "adverb")))


@lru_cache(maxsize=1)
def _with_a_class() -> frozenset[str]:
    return frozenset[str]().union(*(shelf.words_listed("noun_classes.txt", name) for name in NOUN_CLASSES))


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    names = [f"{name}.txt" for name in shelf.names_in("") if name not in {"noun_classes", "idioms"}]
    names += ["attributes.tsv", "nouns.tsv", "heroes.tsv", "likenesses.tsv", "wonderings.tsv"]
    return _words_in((*names, *_grammar_files())) | _with_a_class()


def _grammar_files() -> list[str]:
    return [f"grammar/{move}.txt" for move in shelf.names_in("grammar")]


def _words_in(names: Iterable[str]) -> frozenset[str]:
    """All words of some data files, in small letters; no word goes over the end of a line."""
    texts = ("\n".join(shelf.entries(name)).lower() for name in names)
    return frozenset[str]().union(*map(WORD.findall, texts))


@lru_cache(maxsize=1)
def _verbs() -> frozenset[str]:
    """The verbs of the list, and those that the grammar itself inflects."""
    texts = (line for name in _grammar_files() for line in shelf.entries(name))
    return of_sort("verb").union(verb for text in texts for verb in _VERB.findall(text))


@lru_cache(maxsize=word_cache_words_max)
def is_rare(word: str) -> bool:
    """Whether a word, in small letters, is known in no form."""
    known = _known()
    if word in known or any(form in known for form in _simpler(word)):
        return False
    parts = word.split("-")
    return len(parts) == 1 or any(is_rare(part) for part in parts if part)


@lru_cache(maxsize=word_cache_words_max)
def rare_or_listed(word: str) -> bool:
    """Whether a word may be a thing, though it may be done, too: nobody knows it, or it has a class."""
    return (
        is_rare(word)
        or word.endswith(_ABSTRACT_ENDINGS)
        or any(form in _with_a_class() for form in (word, *singular_forms(word)))
    )


@lru_cache(maxsize=word_cache_words_max)
def is_a(word: str, sort: str) -> bool:
    """Whether a word, in small letters, is of a sort in this or a simpler form."""
    words = _verbs() if sort == "verb" else of_sort(sort)
    if sort == "stop" and "-" in word:
        return all(part in words for part in word.split("-"))
    if word in words or sort in {"stop", "det", "hollow"}:
        return word in words
    if sort == "noun":
        return any(form in words for form in singular_forms(word))
    if sort == "adjective" and word.endswith(("ed", "ing")):
        return False
    return any(form in words for form in _simpler(word))


@lru_cache(maxsize=word_cache_words_max)
def stem(word: str) -> str:
    """The beginning that the forms of a word share, roughly: enough to see that two are akin."""
    word = word.lower()
    for ending in ("ing", "ies", "ed", "es", "s", "ly", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=word_cache_words_max)
def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(stem(word) for word in WORD.findall(text.lower()) if not is_a(word, "stop"))


def singular_forms(word: str) -> list[str]:
    """What a word is the plural of, perhaps."""
    bare = word[:-2] if word.endswith(("'s", "\u2019s")) else word
    forms = [bare[: -len(ending)] for ending in ("s", "es") if bare.endswith(ending) and len(bare) > 3]
    if bare.endswith("ies"):
        forms.append(f"{bare[:-3]}y")
    return forms


@lru_cache(maxsize=word_cache_words_max)
def _simpler(word: str) -> tuple[str, ...]:
    """What a word is another form of, perhaps; asked for several sorts of words in a row."""
    forms: list[str] = []
    if word.endswith(("'s", "\u2019s")):
        word = word[:-2]
        forms.append(word)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            bare = word[: -len(ending)]
            forms += [bare, bare + "e", bare + "y"]
            if bare.endswith("i"):
                forms.append(bare[:-1] + "y")
            if len(bare) > 3 and bare[-1] == bare[-2]:
                forms.append(bare[:-1])
    return tuple(forms)
