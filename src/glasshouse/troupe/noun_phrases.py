"""Noun phrases: the things a text is about, as phrases that can be set into another sentence.

Always holds: a phrase consists of words of the text. Rare words come first, and words that stand where a noun stands, so
that a thing with an unknown name is found under that name. A known word does not count if it stands only in an idiom, in
a comparison or behind a negation.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.vocabulary import (
    WORD,
    is_a,
    is_rare,
    of_sort,
    rare_or_listed,
    stem,
    word_cache_words_max,
)

nouns_cache_texts_max: Final = 8_192
"""Kept so as not to be computed again: what a line speaks of."""
modifiers_max: Final = 2
"""A thing is taken up with this many words before it at most."""

_OPENING: Final = frozenset('.!?:\u201c"')
_PLURAL_DETS: Final = frozenset(
    {"these", "those", "two", "three", "four", "five", "six", "many", "few", "both", "several"}
)
_ANNOUNCED: Final = 1.2
_ASIDE: Final = 0.6
"""How much less a line is about what only stands behind a preposition."""
_BESIDE: Final = frozenset(
    {
        "of",
        "in",
        "on",
        "at",
        "by",
        "with",
        "from",
        "for",
        "to",
        "into",
        "under",
        "over",
        "behind",
        "near",
        "through",
    }
)
_FOLLOWING: Final = frozenset(
    {
        "that",
        "only",
        "the",
        "a",
        "an",
        "my",
        "your",
        "his",
        "her",
        "our",
        "their",
        "it",
        "him",
        "them",
        "us",
        "me",
    }
)
_POINTING: Final = frozenset({"this", "that", "these", "those", "one"})
"""What may stand for a thing by itself, so that a verb behind it is done by it: `these grew`, `that leaves us`."""
_ARTICLES: Final = frozenset({"a", "an", "the", "one", "my", "your", "his", "her", "our", "their"})
"""What no thing stands before without a comma."""
_SINGULAR_DETS: Final = frozenset({"a", "an", "this", "that", "every", "each", "one", "another"})


class Noun(NamedTuple):
    """A thing that was named: its head word, the whole phrase, and how it may stand in a sentence."""

    head: str
    phrase: str
    weight: float
    is_rare: bool = False
    is_plural: bool = False
    is_name: bool = False
    is_word: bool = False
    start: int = 0
    end: int = 0
    det: str = ""

    @property
    def key(self) -> str:
        """The word, in small letters, by which one can tell that it was taken up: a rare one, else the head."""
        words = self.phrase.lower().split()
        return (
            next((word for word in words if is_rare(word)), self.head.lower())
            if self.is_rare
            else self.head.lower()
        )

    @property
    def stem(self) -> str:
        """What other forms of its head share with it."""
        return stem(self.head)

    @property
    def definite(self) -> str:
        """The thing as one that is known: `the brass bell`."""
        if self.is_word:
            return f'the word "{self.phrase}"'
        return self.phrase if self.is_name else f"the {self.phrase}"

    @property
    def indefinite(self) -> str:
        """The thing as one of its kind: `a brass bell`."""
        if self.is_word or self.is_name or self.is_plural:
            return self.definite
        return f"{'an' if self.phrase[0].lower() in 'aeiou' else 'a'} {self.phrase}"


class _Token(NamedTuple):
    word: str
    lower: str
    start: int
    end: int
    opens: bool
    joined: bool
    """Whether nothing but a blank stands between it and the word before."""
    after_colon: bool = False


@lru_cache(maxsize=nouns_cache_texts_max)
def nouns_in(text: str) -> tuple[Noun, ...]:
    """The things a text names, the most telling first; at equal weight in the order they come."""
    tokens = _tokens(text)
    nouns = [noun for at in range(len(tokens)) if (noun := _noun_at(tokens, at)) is not None]
    idioms = [match.span() for match in _idioms().finditer(text.lower())]
    nouns = [
        noun for noun in nouns if noun.is_rare or not any(start <= noun.start < end for start, end in idioms)
    ]
    if not any(noun.weight > 0 for noun in nouns):
        nouns += _bare_words(tokens)
    heads: dict[str, Noun] = {}
    for noun in sorted(nouns, key=lambda noun: (-noun.weight, noun.start)):
        heads.setdefault(noun.head.lower(), noun)
    return tuple(noun for noun in heads.values() if noun.weight > 0)


@lru_cache(maxsize=1)
def _idioms() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, shelf.entries('idioms.txt')))})\b")


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    before = 0
    for match in WORD.finditer(text):
        start, end = match.span()
        gap = text[before:start]
        joined = gap == " "
        opens = not tokens or (not joined and not _OPENING.isdisjoint(gap))
        word = match[0]
        tokens.append(_Token(word, word.lower(), start, end, opens, joined, ":" in gap))
        before = end
    return tokens


def _noun_at(tokens: list[_Token], at: int) -> Noun | None:
    token = tokens[at]
    lower = token.lower
    if token.word[0].isupper() and _is_titled(tokens, at):
        return _title_ending_at(tokens, at)
    if is_a(lower, "stop") or len(lower) < 3 or _is_contracted(lower) or _is_quality(lower):
        return None
    if _is_said_to_do(tokens, at):
        return None
    if (
        at + 1 < len(tokens)
        and tokens[at + 1].joined
        and (_goes_on(tokens, at) or _only_modifies(tokens, at))
    ):
        return None
    first = at
    while first > 0 and at - first < modifiers_max and tokens[first].joined:
        if not _modifies(tokens[first - 1]) or not _goes_on(tokens, first - 1):
            break
        first -= 1
    if first < at and lower.endswith(("ed", "ing")) and not is_a(lower, "noun"):
        return None
    det = _det_before(tokens, first)
    is_doing = is_a(lower, "verb") and not is_a(lower, "noun")
    if det in _POINTING and first == at and (is_doing or (is_a(lower, "verb") and lower.endswith("s"))):
        return None
    if is_doing and not rare_or_listed(lower):
        return None
    if is_doing and first < at and not (det and _is_quality(tokens[at - 1].lower)):
        return None
    if not det and ((is_doing and not is_rare(lower)) or _is_done(tokens, at)):
        return None
    if (
        not det
        and first < at
        and not all(is_rare(token.lower) or is_a(token.lower, "adjective") for token in tokens[first:at])
    ):
        first = at
    is_acting = first > 0 and tokens[first].joined and tokens[first - 1].lower in of_sort("doer")
    noun = _noun(tokens[first : at + 1], det, is_acting=is_acting)
    return _in_context(noun, tokens, first, at)


def _in_context(noun: Noun, tokens: list[_Token], first: int, at: int) -> Noun | None:
    """A noun as what stands before it lets it count; none if the text only compares with it or denies it."""
    start = first - 1 if noun.det else first
    if not noun.is_rare and (noun.det == "no" or _is_compared_or_denied(tokens, start)):
        return None
    if start > 0 and tokens[start].joined and tokens[start - 1].lower in _BESIDE:
        noun = noun._replace(weight=noun.weight - _ASIDE)
    if noun.det and tokens[first - 1].after_colon:
        noun = noun._replace(weight=noun.weight + _ANNOUNCED)
    return _with_contents(noun, tokens, at)


def _is_compared_or_denied(tokens: list[_Token], start: int) -> bool:
    """Whether a phrase only says what something is like, or what is not there: `like a bell`, `without the bell`."""
    if start == 0 or not tokens[start].joined:
        return False
    before = tokens[start - 1].lower
    if before in {"like", "as"}:
        return start < 2 or tokens[start - 2].lower not in of_sort("doer")
    return before in {"not", "without", "nor", "never"}


def _is_titled(tokens: list[_Token], at: int) -> bool:
    """Whether a word is one of several in a row that are written like a title."""
    if not _is_capital(tokens[at]):
        return False
    if _joined_by_of(tokens, at - 2) or _joined_by_of(tokens, at):
        return True
    before = at > 0 and tokens[at].joined and _is_named_with(tokens[at - 1])
    return before or (at + 1 < len(tokens) and tokens[at + 1].joined and _is_capital(tokens[at + 1]))


def _joined_by_of(tokens: list[_Token], at: int) -> bool:
    """Whether a capital word is the first of a name such as `Star of Lahore`."""
    if at < 0 or at + 2 >= len(tokens) or tokens[at + 1].lower != "of":
        return False
    is_joined = tokens[at + 1].joined and tokens[at + 2].joined
    return is_joined and _is_capital(tokens[at]) and _is_capital(tokens[at + 2])


def _is_capital(token: _Token) -> bool:
    """Whether a word has a capital that the start of a sentence does not explain."""
    return token.word[0].isupper() and len(token.word) > 1 and (not token.opens or is_rare(token.lower))


def _is_named_with(token: _Token) -> bool:
    """Whether a word right before a capital belongs to the same name; a thing that opens a sentence does, too."""
    if _is_capital(token):
        return True
    return token.word[0].isupper() and is_a(token.lower, "noun") and not is_a(token.lower, "verb")


def _title_ending_at(tokens: list[_Token], at: int) -> Noun | None:
    """A title as one name; nothing before its last word."""
    if (at + 1 < len(tokens) and tokens[at + 1].joined and _is_capital(tokens[at + 1])) or _joined_by_of(
        tokens, at
    ):
        return None
    first = at - 2 if _joined_by_of(tokens, at - 2) else at
    while first > 0 and tokens[first].joined and _is_named_with(tokens[first - 1]):
        first -= 1
    if first < at - 1 and first > 0 and tokens[first].joined and tokens[first - 1].lower == "the":
        first -= 1
    words = tokens[first : at + 1]
    rare = any(is_rare(token.lower) for token in words)
    phrase = " ".join(token.lower if token.lower == "the" else token.word for token in words)
    return Noun(
        tokens[at].word,
        phrase,
        5.5 if rare else 0.1,
        is_rare=rare,
        is_name=True,
        start=words[0].start,
        end=tokens[at].end,
    )


def _with_contents(noun: Noun, tokens: list[_Token], at: int) -> Noun:
    """A bowl as a bowl of plums, where the plums are nothing new."""
    if at + 2 >= len(tokens) or tokens[at + 1].lower != "of" or noun.is_rare:
        return noun
    of = tokens[at + 1]
    what = tokens[at + 2]
    is_thing = of.joined and what.joined and is_a(what.lower, "noun") and what.word[0].islower()
    if not is_thing or is_rare(what.lower):
        return noun
    more = tokens[at + 3] if at + 3 < len(tokens) else None
    if more is not None and more.joined and is_a(more.lower, "noun") and not is_a(more.lower, "verb"):
        return noun._replace(phrase=f"{noun.phrase} of {what.lower} {more.lower}", end=more.end)
    return noun._replace(phrase=f"{noun.phrase} of {what.lower}", end=what.end)


def _noun(tokens: list[_Token], det: str, *, is_acting: bool) -> Noun:
    head = tokens[-1]
    rare = any(is_rare(token.lower) for token in tokens)
    plural = _is_plural(head.lower, det)
    capital = head.word[0].isupper() and not det
    is_name = capital and (is_rare(head.lower) or not tokens[0].opens) and not (tokens[0].opens and plural)
    phrase = " ".join(
        token.word if is_name or (is_rare(token.lower) and not token.opens) else token.lower
        for token in tokens
    )
    return Noun(
        head=head.word if is_name or (is_rare(head.lower) and not head.opens) else head.lower,
        phrase=phrase,
        weight=_weight(head, det, rare=rare, is_acting=is_acting) + (1.5 if is_name else 0.0),
        is_rare=rare,
        is_plural=plural and not is_name,
        is_name=is_name,
        start=tokens[0].start,
        end=head.end,
        det=det,
    )


def _weight(head: _Token, det: str, *, rare: bool, is_acting: bool) -> float:
    lower = head.lower
    weight = 4.0 if rare else 0.5
    if is_a(lower, "noun"):
        weight += 1.0
    elif not rare and not det:
        weight -= 4.0
    if is_a(lower, "hollow"):
        weight -= 3.6
    if is_a(lower, "adverb") or lower.endswith("ly"):
        weight -= 3.5
    if not det and (lower.endswith(("ing", "ed")) or is_acting):
        weight -= 5.0
    return weight + (2.0 if det else 0.0)


def _det_before(tokens: list[_Token], first: int) -> str:
    """The article, or what stands for one, before a phrase; a `that` behind a noun is none."""
    if first == 0 or not tokens[first].joined or not _is_det(tokens[first - 1].lower):
        return ""
    det = tokens[first - 1]
    if det.lower == "that" and tokens[first].word[0].isupper():
        return ""
    before = tokens[first - 2].lower if first > 1 and det.joined else ""
    if det.lower == "that" and before and not is_a(before, "stop"):
        return ""
    if det.lower == "one" and before and is_a(before, "stop"):
        return ""
    return det.lower


def _is_done(tokens: list[_Token], at: int) -> bool:
    """Whether a word that may be a verb is one here: somebody does it (`the lodger sleeps`), or it is done to something
    (`between them lies one worn step`)."""
    is_before_a_thing = at + 1 < len(tokens) and tokens[at + 1].joined and tokens[at + 1].lower in _ARTICLES
    if is_before_a_thing and is_a(tokens[at].lower, "verb") and not is_rare(tokens[at].lower):
        return True
    return _is_done_by_the_word_before(tokens, at)


def _is_done_by_the_word_before(tokens: list[_Token], at: int) -> bool:
    """Whether a word that may be a verb stands right behind somebody or something: `the lodger sleeps`."""
    lower = tokens[at].lower
    if at == 0 or not tokens[at].joined or not lower.endswith("s") or not _is_thing(tokens[at - 1].lower):
        return False
    return is_a(lower, "verb")


def _is_said_to_do(tokens: list[_Token], at: int) -> bool:
    """Whether a noun is a verb here, since what is done or said follows: `the server reports that`."""
    if at == 0 or at + 1 >= len(tokens) or not (tokens[at].joined and tokens[at + 1].joined):
        return False
    is_followed = tokens[at + 1].lower in _FOLLOWING
    return is_followed and tokens[at].lower.endswith("s") and _is_thing(tokens[at - 1].lower)


@lru_cache(maxsize=word_cache_words_max)
def _is_thing(word: str) -> bool:
    return is_rare(word) or is_a(word, "noun") or word in shelf.words_listed("animates.txt")


def _is_contracted(word: str) -> bool:
    """Whether a word is an owner, or two words in one, such as `you'd`."""
    return "'" in word or "\u2019" in word


@lru_cache(maxsize=word_cache_words_max)
def _is_quality(word: str) -> bool:
    """Whether a word says how something is, and never what."""
    return is_a(word, "adjective") and not is_a(word, "noun") and not is_rare(word)


def _goes_on(tokens: list[_Token], at: int) -> bool:
    """Whether the phrase goes on behind this word, so that this word is no head."""
    this = tokens[at].lower
    after = tokens[at + 1].lower
    is_thing = _is_thing(this)
    if _is_said_to_do(tokens, at + 1):
        return False
    if is_a(after, "stop") or is_a(after, "adverb") or after.endswith("ly"):
        return False
    if is_a(after, "verb") and not is_a(after, "noun"):
        return _is_quality(this) and not after.endswith(("s", "ed", "ing"))
    if is_a(after, "noun") and after in of_sort("verb"):
        return not is_thing
    if is_thing and (_is_plural(this, "") or (is_a(after, "adjective") and not is_a(after, "noun"))):
        return False
    if after.endswith(("s", "ed")) and this in shelf.words_listed("animates.txt"):
        return False
    if is_rare(after):
        return not is_thing or not after.endswith(("s", "ed", "ing"))
    return not (after.endswith(("s", "ed")) and is_a(after, "verb"))


def _only_modifies(tokens: list[_Token], at: int) -> bool:
    """Whether a word says which or how the next one is, or tells somebody to do something with what follows."""
    lower = tokens[at].lower
    after = tokens[at + 1].lower
    if tokens[at].opens and after in _ARTICLES:
        return True
    is_quality = lower.endswith(("ing", "ed")) and not is_a(lower, "noun")
    return is_quality and not (is_a(after, "stop") or is_a(after, "adverb") or is_a(after, "verb"))


def _modifies(token: _Token) -> bool:
    lower = token.lower
    if is_a(lower, "stop") or is_a(lower, "adverb") or lower.endswith(("'s", "\u2019s")):
        return False
    return is_a(lower, "adjective") or is_a(lower, "noun") or not is_a(lower, "verb")


def _is_det(word: str) -> bool:
    return word in of_sort("det") or word.endswith(("'s", "\u2019s"))


def _is_plural(head: str, det: str) -> bool:
    if det in _PLURAL_DETS or head in {"people", "children", "mice", "geese", "feet", "teeth"}:
        return True
    return det not in _SINGULAR_DETS and head.endswith("s") and not head.endswith(("ss", "us", "is"))


def _bare_words(tokens: list[_Token]) -> list[Noun]:
    """The rare words of a text that names no thing."""
    return [
        Noun(token.lower, token.lower, 0.25, is_rare=True, is_word=True, start=token.start, end=token.end)
        for token in tokens
        if len(token.lower) > 2 and is_rare(token.lower) and not _is_contracted(token.lower)
    ]
