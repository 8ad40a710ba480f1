"""Verbs: their plain form, their past and their form behind `he`, so that a clause can be said again in another tense.

Always holds: a form is given only for a verb that the data lists or that another form shows to be one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.vocabulary import of_sort, word_cache_words_max

_STATES: Final = frozenset(
    {
        "want", "need", "know", "own", "belong", "smell", "seem", "look", "sound", "sit", "stand", "lie", "hang",
        "live", "wait", "like", "love", "hate", "burn", "sleep", "lead", "mean", "contain", "fear", "hope",
        "think", "believe", "remember",
    }
)  # fmt: skip
"""What goes on after it was told, so that it is told again in the present."""
_VOWELS: Final = frozenset("aeiou")


class _Irregular(NamedTuple):
    past: str
    participle: str


@lru_cache(maxsize=1)
def _irregular() -> Mapping[str, _Irregular]:
    return MappingProxyType({base: _Irregular(*forms) for base, *forms in shelf.rows("irregular_verbs.tsv")})


@lru_cache(maxsize=1)
def _base_of_past() -> Mapping[str, str]:
    pasts = {forms.past: base for base, forms in _irregular().items() if forms.past != base}
    return MappingProxyType(pasts)


def is_past_and_plain(word: str) -> bool:
    """Whether a verb, in small letters, is the same in the past: `cut`, `put`."""
    forms = _irregular().get(word)
    return forms is not None and forms.past == word


@lru_cache(maxsize=1)
def _plain_verbs() -> frozenset[str]:
    of_events = frozenset(row[0] for row in shelf.rows("event_verbs.tsv"))
    return of_sort("verb") | frozenset(_irregular()) | shelf.words_listed("verbs.txt") | of_events


def is_plain_verb(word: str) -> bool:
    """Whether a word, in small letters, is a verb in its plain form."""
    if word in _irregular():
        return True
    return word in _plain_verbs() and not (word in _base_of_past() or word.endswith("ing"))


@lru_cache(maxsize=word_cache_words_max)
def is_participle(word: str) -> bool:
    """Whether a word, in small letters, may stand behind `has`."""
    return word in _participles() or (word.endswith("ed") and bool(base_of_past(word)))


@lru_cache(maxsize=1)
def _participles() -> frozenset[str]:
    return frozenset(forms.participle for forms in _irregular().values())


@lru_cache(maxsize=word_cache_words_max)
def base_behind_he(word: str) -> str:
    """The plain form of a verb as it stands behind `he`: `go` of `goes`; empty if it is no such form."""
    if word in {"has", "does", "is"}:
        return {"has": "have", "does": "do", "is": "be"}[word]
    if not word.endswith("s") or word.endswith("ss"):
        return ""
    forms = [word[:-1]]
    if word.endswith("ies"):
        forms = [f"{word[:-3]}y", word[:-1]]
    elif word.endswith("es"):
        forms = (
            [word[:-2], word[:-1]] if word[:-2].endswith(("s", "x", "z", "ch", "sh", "o")) else [word[:-1]]
        )
    return next((form for form in forms if is_plain_verb(form)), "")


@lru_cache(maxsize=word_cache_words_max)
def behind_he(base: str) -> str:
    """A verb as it stands behind `he`: `goes`."""
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{base}es"
    return f"{base[:-1]}ies" if base.endswith("y") and base[-2:-1] not in _VOWELS else f"{base}s"


@lru_cache(maxsize=word_cache_words_max)
def base_of_past(word: str) -> str:
    """The plain form of a verb in the past: `eat` of `ate`; empty if it is no such form."""
    known = _base_of_past().get(word)
    if known:
        return known
    if not word.endswith("ed") or len(word) < 5:
        return ""
    stem = word[:-2]
    forms = [stem, word[:-1]]
    if stem.endswith("i"):
        forms.insert(0, f"{stem[:-1]}y")
    if len(stem) > 2 and stem[-1] == stem[-2]:
        forms.insert(0, stem[:-1])
    return next((form for form in forms if is_plain_verb(form)), "")


@lru_cache(maxsize=word_cache_words_max)
def past_of(base: str) -> str:
    """The past of a verb."""
    known = _irregular().get(base)
    if known is not None:
        return known.past
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return f"{base[:-1]}ied"
    return f"{base}{base[-1]}ed" if _is_doubled(base) else f"{base}ed"


def _is_doubled(base: str) -> bool:
    """Whether a short verb doubles its last letter: `stop`, `drip`, `knot`."""
    if len(base) < 3 or base[-1] in "wxyaeiou" or base[-2] not in _VOWELS or base[-3] in _VOWELS:
        return False
    return sum(letter in _VOWELS for letter in base) == 1


def is_state(base: str) -> bool:
    """Whether what a verb says goes on, such as standing or wanting."""
    return base in _STATES
