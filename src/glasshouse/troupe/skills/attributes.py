"""Attributes: a table of things and what can be asked about them with a yes or a no.

Always holds: keeper and guesser read the same table, and a question is understood by a known way to ask it, else by
its cue words, so one that was put differently means the same.
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.vocabulary import WORD, stem

questions_cache_texts_max: Final = 4_096
"""Kept so as not to be computed again: what a question asks for."""

Truth = Literal["yes", "no", "unsure"]


class Attribute(NamedTuple):
    """Something that is or is not so of a thing."""

    name: str
    cues: frozenset[str]
    asked: tuple[str, ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]
    plain: tuple[str, str]
    """What one says of the thing in plain words: where it is so, and where it is not."""


class Thing(NamedTuple):
    """A thing of the table: what holds of it, and what nobody can be sure of."""

    name: str
    holds: frozenset[str]
    unsure: frozenset[str]

    def truth(self, attribute: str) -> Truth:
        """Whether an attribute holds of it."""
        return "yes" if attribute in self.holds else "unsure" if attribute in self.unsure else "no"


@lru_cache(maxsize=1)
def attributes() -> MappingProxyType[str, Attribute]:
    """Every attribute by its name, in the order of the table."""
    return MappingProxyType(
        {
            name: Attribute(
                name,
                frozenset(stem(cue) for cue in cues.split()),
                tuple(asked.split("|")),
                tuple(yes.split("|")),
                tuple(no.split("|")),
                (plain.partition("|")[0], plain.partition("|")[2]),
            )
            for name, cues, asked, yes, no, plain in shelf.rows("attributes.tsv")
        }
    )


def in_plain_words(attribute: str, truth: Truth) -> str:
    """What one says of a thing of which an attribute holds or does not: `is alive`; empty for what is unsure."""
    plain = attributes()[attribute].plain
    return "" if truth == "unsure" else plain[0] if truth == "yes" else plain[1]


ALOUD: Final = "aloud"
"""How whoever plays a part asks; everybody else asks plainly."""


@lru_cache(maxsize=64)
def wonderings(handle: str) -> MappingProxyType[str, tuple[str, ...]]:
    """How somebody who thinks aloud asks for each attribute; empty for everybody else."""
    return MappingProxyType(
        {name: tuple(texts.split("|")) for who, name, texts in shelf.rows("wonderings.tsv") if who == handle}
    )


@lru_cache(maxsize=1)
def _questions() -> tuple[tuple[str, str], ...]:
    """Every way to ask for an attribute, with the attribute; the longest first, since it may hold a shorter one."""
    wondered = ((text, name) for _, name, texts in shelf.rows("wonderings.tsv") for text in texts.split("|"))
    plain = ((text, attribute.name) for attribute in attributes().values() for text in attribute.asked)
    questions = ((text.lower(), name) for text, name in (*wondered, *plain))
    return tuple(sorted(questions, key=lambda question: -len(question[0])))


@lru_cache(maxsize=1)
def things() -> MappingProxyType[str, Thing]:
    """Every thing by its name, in the order of the table."""
    return MappingProxyType(
        {
            name: Thing(name, frozenset(holds.split()), frozenset("".join(more).split()))
            for name, holds, *more in shelf.rows("nouns.tsv")
        }
    )


def thing_called(word: str) -> Thing | None:
    """The thing of that name, with or without an article, in the singular or the plural."""
    bare = bare_word(word)
    return things().get(bare) or things().get(bare.removesuffix("s")) or things().get(bare.removesuffix("es"))


def bare_word(word: str) -> str:
    """A word in small letters without article and marks."""
    words = WORD.findall(word.lower())
    if len(words) > 1 and words[0] in {"a", "an", "the", "my", "some"}:
        words = words[1:]
    return " ".join(words)


@lru_cache(maxsize=questions_cache_texts_max)
def attribute_asked(text: str) -> str:
    """The attribute that a question is about; empty if it is about none of the table, or no question."""
    if "?" not in text:
        return ""
    lower = text.lower()
    for text_asked, asked in _questions():
        if text_asked in lower:
            return asked
    question = lower[: lower.rindex("?")]
    start = max(question.rfind(mark) for mark in ".!?")
    words = {stem(word) for word in WORD.findall(question[start + 1 :])}
    best = 0
    name = ""
    for attribute in attributes().values():
        hits = len(attribute.cues & words)
        if hits > best:
            best = hits
            name = attribute.name
    return name


@lru_cache(maxsize=questions_cache_texts_max)
def told_by(text: str) -> tuple[str, Truth] | None:
    """What an answer's own words give away: an attribute and whether it holds."""
    lower = text.lower()
    for attribute in attributes().values():
        if any(clause.lower() in lower for clause in attribute.yes):
            return attribute.name, "yes"
        if any(clause.lower() in lower for clause in attribute.no):
            return attribute.name, "no"
    return None
