"""Voice: what a player's authored lines give to everything it says.

Always holds: openings, last words and whole sentences are borrowed from the manifest's own examples, with what was just
heard set in; a player without examples speaks the troupe's plain tongue.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.grammar import Pattern, pattern_of
from glasshouse.troupe.noun_classes import class_of
from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.reading import Identity
from glasshouse.troupe.vocabulary import WORD, is_a

voices_cache_identities_max: Final = 512
"""Kept so as not to be computed again: habits of a voice."""
opening_words_max: Final = 3
"""A longer beginning of an example is no habit of its voice."""
last_words_max: Final = 5
"""A longer ending of an example is no habit of its voice."""
borrowed_words_max: Final = 18
"""A longer sentence of an example is not borrowed."""

_SENTENCES: Final = re.compile(r"(?<=[.?!])\s+")
_NAMING: Final = frozenset({"say", "says", "use", "uses", "mention", "mentions", "name", "names"})
_PRONOUNS: Final = frozenset({"it", "its", "they", "them", "their", "he", "she", "his", "her"})


class Voice(NamedTuple):
    """How one player speaks."""

    openings: tuple[str, ...] = ()
    last_words: tuple[str, ...] = ()
    sentences: tuple[Pattern, ...] = ()
    whole: tuple[str, ...] = ()
    exclaims: bool = False
    forbidden: tuple[str, ...] = ()
    register: str = "any"
    """Which openings and second sentences of the troupe it uses."""


@lru_cache(maxsize=voices_cache_identities_max)
def voice_of(me: Identity) -> Voice:
    """The voice that an identity's examples and vows make."""
    split = (part for example in me.examples for part in _SENTENCES.split(example.strip()))
    sentences = [sentence for sentence in split if sentence]
    return Voice(
        openings=tuple(dict.fromkeys(filter(None, map(_opening, me.examples)))),
        last_words=tuple(dict.fromkeys(filter(None, map(_last_words, me.examples)))),
        sentences=tuple(filter(None, map(_with_gap, sentences))),
        whole=me.examples,
        exclaims=2 * sum(sentence.endswith("!") for sentence in sentences) > len(sentences),
        forbidden=_forbidden(me.never),
        register=_register(me.temper),
    )


def breaks_a_vow(text: str, forbidden: tuple[str, ...]) -> bool:
    """Whether a text has something in it that its speaker never says."""
    if not forbidden:
        return False
    padded = f" {text.lower()} "
    return any(phrase in padded for phrase in forbidden)


def _register(temper: str) -> str:
    """The register that a temper speaks in, by the first word of it that has one."""
    for word in WORD.findall(temper.lower()):
        for cue, register in shelf.rows("registers.tsv"):
            if word.startswith(cue):
                return register
    return "any"


def _opening(example: str) -> str:
    start, comma, rest = example.partition(",")
    words = start.split()
    is_order = len(words) == opening_words_max and is_a(words[0].lower(), "verb")
    if (
        is_order
        or not comma
        or not rest
        or len(words) > opening_words_max
        or any(m in start for m in ".?!:;")
    ):
        return ""
    return f"{_small(start)},"


def _last_words(example: str) -> str:
    sentences = _SENTENCES.split(example.strip())
    last = sentences[-1]
    return last if len(sentences) > 1 and len(last.split()) <= last_words_max and "?" not in last else ""


def _with_gap(sentence: str) -> Pattern | None:
    """A sentence of one's own with a gap where it named a thing; none if it names none in a plain way."""
    words = WORD.findall(sentence.lower())
    if not 4 <= len(words) <= borrowed_words_max or "{" in sentence or _PRONOUNS & set(words):
        return None
    for noun in nouns_in(sentence):
        if noun.det in {"the", "a", "an"} and not noun.is_plural:
            start = sentence.lower().rfind(noun.det, 0, noun.start)
            if start >= 0 and not sentence[noun.end :].startswith(" of "):
                pattern = pattern_of(_small(f"{sentence[:start]}{{X}}{sentence[noun.end :]}"))
                # What stood there decides what may stand there.
                return pattern._replace(needs=pattern.needs | {"x"}, accepts=frozenset({class_of(noun)}))
    return None


def _small(text: str) -> str:
    first = text.split(" ", 1)[0].strip(",")
    return text if first in {"I", "I'm", "I've"} else text[:1].lower() + text[1:]


def _forbidden(never: tuple[str, ...]) -> tuple[str, ...]:
    """What vows forbid in words: marks and phrases by their cues, and the things that a vow says not to name."""
    forbidden: list[str] = []
    cues = shelf.rows("never.tsv")
    for vow in never:
        lower = f" {vow.lower()}"
        forbidden += [phrase for cue, ones in cues if f" {cue}" in lower for phrase in ones.split("|")]
        quoted = re.findall(r"[\"\u2018\u201c]([^\"\u2019\u201d]+)[\"\u2019\u201d]", lower)
        forbidden += quoted
        if not quoted and _NAMING.intersection(lower.split()):
            nouns = (noun for noun in nouns_in(vow) if len(noun.head) > 3)
            forbidden += [f" {noun.stem}" for noun in nouns if not is_a(noun.head, "hollow")]
    return tuple(dict.fromkeys(forbidden))
