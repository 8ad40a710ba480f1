"""Salience: which line matters most to a player now, and which thing in it.

Always holds: what came from outside since the player spoke last is always taken up, and so is a rare word that others
said since; a word that nobody in the prompt said is never a topic, unless nobody said anything.
"""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.vocabulary import stems_of
from glasshouse.troupe.voice import breaks_a_vow, voice_of

lines_weighed_max: Final = 8
nouns_owed_max: Final = 3
name_part_chars_min: Final = 5
somebodies_cache_texts_max: Final = 8_192
handles_cache_handles_max: Final = 512

_OWNER: Final = re.compile(r"([a-z]+)['\u2019]s\b")
_ADDRESSED: Final = 2.0
_ASKED: Final = 1.0
_DISTURBING: Final = 3.0
_CAUSING: Final = 2.5
_RARE: Final = 2.0
_KIN: Final = 0.8
_KNOWN_WEIGHT: Final = 3.5


class Topic(NamedTuple):
    """What a player will speak of: the line, the thing in it, what else must be taken up."""

    line: Heard | None
    noun: Noun
    owed: tuple[Noun, ...] = ()
    """Things that must be in the answer, whatever else is."""
    second: str = ""
    """Another thing that was heard, for sentences that need two."""


def topic_of(reading: Reading, dice: Random) -> Topic:
    """The most salient thing heard."""
    owed = owed_by(reading)
    line, noun = owed[0] if owed else _chosen(reading, dice)
    second = owed[1][1].definite if len(owed) > 1 else _second(reading, noun, dice)
    return Topic(line, noun, tuple(one for _, one in owed), second)


def owed_by(reading: Reading) -> list[tuple[Heard, Noun]]:
    """The things that must be taken up: what disturbs, then rare words in what is answered and in what is new."""
    found: dict[str, tuple[Heard, Noun]] = {}
    for line in reversed(reading.fresh_disturbances):
        usable = _usable(reading, line)
        for noun in [one for one in usable if one.is_rare] or usable[:1]:
            found.setdefault(noun.key, (line, noun))
    newest = [line for line in reversed(reading.fresh[-lines_weighed_max:]) if line.origin != "world"]
    if reading.cause is not None and reading.cause in newest:
        newest = [reading.cause, *(line for line in newest if line is not reading.cause)]
    for line in newest:
        for noun in _usable(reading, line):
            if noun.is_rare and noun.key not in reading.own_text and _is_news(reading, noun.key):
                found.setdefault(noun.key, (line, noun))
    return list(found.values())[:nouns_owed_max]


def _is_news(reading: Reading, key: str) -> bool:
    """Whether a rare word is nothing that the world or my own manifest told, and nobody has taken it up yet."""
    if key in reading.told_text:
        return False
    said = {line.handle for line in reading.discussion if line.origin == "cast" and key in line.text.lower()}
    return len(said) < 2


def salience_of(reading: Reading, line: Heard, age: int) -> float:
    """How much a line matters; `age` counts from the newest."""
    lower = line.text.lower()
    weight = 3.0 / (1 + age)
    if reading.cause is not None and line.ref == reading.cause.ref:
        weight += _CAUSING
    if is_addressed(reading, lower):
        weight += _ADDRESSED
    if "?" in lower:
        weight += _ASKED
    if line.origin in {"visitor", "tool"}:
        weight += _DISTURBING / (1 + age)
    weight += _KIN * min(2, len(reading.kin & stems_of(line.text)))
    if any(noun.is_rare and noun.key not in reading.own_text for noun in nouns_in(line.text)[:2]):
        weight += _RARE
    return weight


def is_addressed(reading: Reading, lower: str) -> bool:
    """Whether a text, in small letters, calls me by my handle or a part of it."""
    return any(name in lower for name in _calls_of(reading.me.handle))


@lru_cache(maxsize=handles_cache_handles_max)
def _calls_of(handle: str) -> tuple[str, ...]:
    """What one of this handle is called; nothing, if it has none."""
    parts = [part for part in handle.split("-") if len(part) >= name_part_chars_min]
    return (handle, handle.replace("-", " "), *parts) if handle else ()


def somebodies_in(reading: Reading, text: str) -> dict[str, Noun | None]:
    """The living beings and names in a text, by name, in the order of weight; with their phrase, if they have one."""
    return {name: noun for name, noun in _somebodies(text) if name.lower() not in reading.names}


def is_somebody(reading: Reading, noun: Noun) -> bool:
    """Whether a noun is a living being or a name, and nobody of the cast."""
    return _is_living(noun) and noun.head.lower() not in reading.names


@lru_cache(maxsize=somebodies_cache_texts_max)
def _somebodies(text: str) -> tuple[tuple[str, Noun | None], ...]:
    found: dict[str, Noun | None] = {noun.head: noun for noun in nouns_in(text) if _is_living(noun)}
    for owner in owners_in(text):
        if owner in shelf.words_listed("animates.txt"):
            found.setdefault(owner, None)
    return tuple(found.items())


@lru_cache(maxsize=somebodies_cache_texts_max)
def owners_in(text: str) -> tuple[str, ...]:
    """The words in a text, in small letters, that something is said to belong to."""
    return tuple(_OWNER.findall(text.lower()))


def _is_living(noun: Noun) -> bool:
    head, living = noun.head.lower(), shelf.words_listed("animates.txt")
    return noun.is_name or head in living or head.removesuffix("s") in living


def _chosen(reading: Reading, dice: Random) -> tuple[Heard | None, Noun]:
    lines = (reading.fresh or [one for one in reading.heard if one.text])[-lines_weighed_max:]
    if reading.cause is not None and reading.cause.text and reading.cause not in lines:
        lines = [*lines, reading.cause]
    newest = len(lines) - 1
    ranked = sorted(range(len(lines)), key=lambda at: -salience_of(reading, lines[at], newest - at))
    for is_any in (False, True):
        for at in ranked:
            named = [one for one in _usable(reading, lines[at]) if is_any or not one.is_word]
            noun = _best(reading, named, dice)
            if noun is not None:
                return lines[at], noun
    for text in (reading.scene, *reading.me.cares, reading.me.goal, reading.me.wants):
        noun = _best(reading, _sayable(reading, text), dice)
        if noun is not None:
            return None, noun
    return None, nouns_in(dice.choice(shelf.sections("stock.txt")["stand-in"]))[0]


def _best(reading: Reading, nouns: list[Noun], dice: Random) -> Noun | None:
    """The most telling thing; one that I have not spoken of, and that was not on everybody's lips, goes first."""
    if not nouns:
        return None
    own, visible, kin = reading.own_text, reading.visible_text, reading.kin
    places = shelf.sections("stock.txt")["place"]

    def weight(noun: Noun) -> float:
        head = noun.head.lower()
        said = 3.0 if head in own else 0.8 if noun.definite in places else 0.0
        lifted = min(noun.weight, _KNOWN_WEIGHT) if noun.key in reading.told_text else noun.weight
        return lifted - said - 0.6 * min(4, visible.count(head)) + (1.5 if noun.stem in kin else 0.0)

    weighed = [(weight(noun), noun) for noun in nouns]
    best = max(one for one, _ in weighed)
    return dice.choice([noun for one, noun in weighed if one > best - 0.9])


def _second(reading: Reading, noun: Noun, dice: Random) -> str:
    lines = reading.fresh[-3:] or reading.heard[-3:]
    found = [
        one.definite
        for line in lines
        for one in _usable(reading, line)[:2]
        if one.head.lower() != noun.head.lower() and not one.is_word
    ]
    found += [one.definite for one in nouns_in(reading.scene)[:2] if one.head.lower() != noun.head.lower()]
    return dice.choice(found) if found else ""


def main_thing(reading: Reading, line: Heard) -> Noun | None:
    """What a line is mainly about, that I may speak of; none if it names nothing."""
    return next((noun for noun in _usable(reading, line) if not noun.is_word), None)


def _usable(reading: Reading, line: Heard) -> list[Noun]:
    found = reading.usable_cache.get(line.text)
    if found is None:
        found = reading.usable_cache[line.text] = _sayable(reading, line.text)
    return found


def _sayable(reading: Reading, text: str) -> list[Noun]:
    """The things in a text that are no names of the cast, no secrets of mine and nothing that I never say."""
    names, secrets, forbidden = reading.names, reading.secrets, voice_of(reading.me).forbidden
    found = []
    for noun in nouns_in(text):
        head, phrase = noun.head.lower(), noun.phrase.lower()
        if head in names or head.removesuffix("s") in names:
            continue
        if secrets and any(secret in phrase or secret == head for secret in secrets):
            continue
        if not breaks_a_vow(phrase, forbidden):
            found.append(noun)
    return found
