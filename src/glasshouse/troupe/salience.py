"""Salience: which line matters most to a player now, and which thing in it.

Always holds: an answer must name the things that disturbances have brought since the player's last line, then rare words
that others have said since, `nouns_owed_max` in all. A word that is not in the prompt is a topic only if the prompt names
no thing at all.
"""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.grammar import is_part_of_talk
from glasshouse.troupe.kinds import WORLD_OBSERVED
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.vocabulary import stems_of
from glasshouse.troupe.voice import breaks_a_vow, voice_of

lines_weighed_max: Final = 8
"""This many of the latest lines are looked at for what to speak of."""
nouns_owed_max: Final = 3
"""This many things just said are taken up at most."""
passes_max: Final = 2
"""How many lines may speak of a thing before the talk goes back to what the world is about."""
name_part_chars_min: Final = 5
"""A shorter part of a handle does not count as a call by name."""
somebodies_cache_texts_max: Final = 8_192
"""Names found in more texts are looked for again."""
handles_cache_handles_max: Final = 512
"""Kept so as not to be computed again: what one of a handle may be called."""

_STAND_IN: Final = Noun("evening", "evening", 0.0)
"""For a talk in which nothing was named at all."""
_QUESTION: Final = re.compile(r"[^.!?]+\?")
_OWNER: Final = re.compile(r"([a-z]+)['\u2019]s\b")
_ANNOUNCED: Final = re.compile(r"Something is dealt to \S+, face down\.")
"""What the engine announces is nothing to speak of."""
_NEWEST: Final = 6.0
_ADDRESSED: Final = 2.5
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
    is_named: bool = True
    """Whether the line, or the world where there is no line, names the noun."""
    is_of_world: bool = False
    """Whether the noun is of the world's own texts, since the line names none."""


def topic_of(reading: Reading, dice: Random) -> Topic:
    """The line that calls most for an answer, and what it is about."""
    owed = owed_by(reading)
    asked = question_waiting(reading)
    if asked is not None and (
        not owed or asked == reading.cause or is_addressed(reading, asked.text.lower())
    ):
        mine = next((noun for line, noun in owed if line.ref == asked.ref), None)
        line: Heard | None = asked
        # What is asked about stands in the question, not in what was said before it.
        question = _QUESTION.search(asked.text)
        only = asked if question is None else asked._replace(text=question[0])
        noun = mine or _best(reading, _current(reading, only), dice)
    elif owed:
        line, noun = owed[0]
    else:
        line, noun = _chosen(reading, dice)
    is_named = noun is not None
    is_of_world = False
    if noun is None:
        noun = thing_of_the_world(reading, dice)
        is_of_world = noun is not None
        is_named = is_of_world and (line is None or line.origin == "world")
    noun = noun or _STAND_IN
    second = next((other.definite for _, other in owed if other.key != noun.key), "") or _second(
        reading, noun, dice
    )
    return Topic(line, noun, tuple(noun for _, noun in owed), second, is_named, is_of_world)


def question_waiting(reading: Reading) -> Heard | None:
    """A question that nobody but its asker has spoken after; what I answer now goes first."""
    if reading.cause is not None and "?" in reading.cause.text:
        return reading.cause
    # A narration is no answer.
    spoken = [
        line for line in reading.fresh if line.origin in {"cast", "visitor"} and line.kind != WORLD_OBSERVED
    ]
    outside = [line for line in reading.fresh_disturbances[-1:] if line not in spoken]
    return next((line for line in (*spoken[-1:], *outside) if "?" in line.text), None)


def owed_by(reading: Reading) -> list[tuple[Heard, Noun]]:
    """The things that must be taken up: what disturbs, then rare words in what is answered and in what is new."""
    owed: dict[str, tuple[Heard, Noun]] = {}
    for line in reversed(reading.fresh_disturbances):
        usable = _usable(reading, line)
        for noun in [noun for noun in usable if noun.is_rare] or usable[:1]:
            owed.setdefault(noun.key, (line, noun))
    newest = [line for line in reversed(reading.fresh[-lines_weighed_max:]) if line.origin != "world"]
    if reading.cause is not None and reading.cause in newest:
        newest = [reading.cause, *(line for line in newest if line is not reading.cause)]
    for line in newest:
        for noun in _usable(reading, line):
            if noun.is_rare and noun.key not in reading.own_text and _is_news(reading, noun.key):
                owed.setdefault(noun.key, (line, noun))
    return list(owed.values())[:nouns_owed_max]


def _is_news(reading: Reading, key: str) -> bool:
    """Whether a rare word is nothing that the world or my own manifest told, and nobody has taken it up yet."""
    if key in reading.told_text:
        return False
    said = {line.handle for line in reading.discussion if line.origin == "cast" and key in line.text.lower()}
    return len(said) < 2


def salience_of(reading: Reading, line: Heard, age: int) -> float:
    """How much a line matters; `age` counts from the newest."""
    lower = line.text.lower()
    weight = _NEWEST / (1 + age)
    if reading.cause is not None and line.ref == reading.cause.ref:
        weight += _CAUSING
    if "?" in lower:
        weight += _ASKED + (_ADDRESSED if is_addressed(reading, lower) else 0.0)
    if line.origin in {"visitor", "tool"}:
        weight += _DISTURBING / (1 + age)
    weight += _KIN * min(2, len(reading.kin & stems_of(line.text)))
    if any(noun.is_rare and noun.key not in reading.own_text for noun in nouns_in(line.text)[:2]):
        weight += _RARE
    return weight


def is_addressed(reading: Reading, lower: str) -> bool:
    """Whether a text, in small letters, calls me by my handle or a part of it."""
    title = reading.me.title.lower().removeprefix("the ")
    return bool(title and title in lower) or any(name in lower for name in _calls_of(reading.me.handle))


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
    somebodies: dict[str, Noun | None] = {noun.head: noun for noun in nouns_in(text) if _is_living(noun)}
    for owner in owners_in(text):
        if owner in shelf.words_listed("animates.txt"):
            somebodies.setdefault(owner, None)
    return tuple(somebodies.items())


@lru_cache(maxsize=somebodies_cache_texts_max)
def owners_in(text: str) -> tuple[str, ...]:
    """The words in a text, in small letters, that something is said to belong to."""
    return tuple(_OWNER.findall(text.lower()))


def _is_living(noun: Noun) -> bool:
    head = noun.head.lower()
    living = shelf.words_listed("animates.txt")
    return noun.is_name or head in living or head.removesuffix("s") in living


def _chosen(reading: Reading, dice: Random) -> tuple[Heard | None, Noun | None]:
    """The line that matters most, and the thing in it that I speak of; none if it names none that is not worn out."""
    lines = (reading.fresh or [line for line in reading.heard if line.text])[-lines_weighed_max:]
    if reading.cause is not None and reading.cause.text and reading.cause not in lines:
        lines = [*lines, reading.cause]
    if not lines:
        return None, None
    newest = len(lines) - 1
    at = max(range(len(lines)), key=lambda at: salience_of(reading, lines[at], newest - at))
    return lines[at], _best(reading, _current(reading, lines[at]), dice)


def _current(reading: Reading, line: Heard) -> list[Noun]:
    """The things of a line that were not yet passed on by two others."""
    return [
        noun
        for noun in _usable(reading, line)
        if not noun.is_word and times_said(reading, noun) <= passes_max
    ]


def times_said(reading: Reading, noun: Noun) -> int:
    """How many lines of the cast in sight have a noun."""
    head = noun.head.lower()
    if head not in reading.visible_text:
        return 0
    return sum(line.origin == "cast" and head in line.text.lower() for line in reading.discussion)


def thing_of_the_world(reading: Reading, dice: Random, but: str = "") -> Noun | None:
    """A thing of the world's own texts, and not that whose head is given."""
    for text in (reading.scene, reading.me.goal, *reading.me.cares):
        fresh = [noun for noun in sayable_in(reading, text) if times_said(reading, noun) < passes_max]
        noun = _best(reading, [noun for noun in fresh if not noun.is_word and noun.head.lower() != but], dice)
        if noun is not None:
            return noun
    return None


def _best(reading: Reading, nouns: list[Noun], dice: Random) -> Noun | None:
    """The most telling thing; one that I have not spoken of, and that was not on everybody's lips, goes first."""
    if not nouns:
        return None
    own = reading.own_text
    visible = reading.visible_text
    kin = reading.kin

    def weight(noun: Noun) -> float:
        head = noun.head.lower()
        lifted = min(noun.weight, _KNOWN_WEIGHT) if noun.key in reading.told_text else noun.weight
        said = 3.0 if head in own else 0.0
        return lifted - said - 0.6 * min(4, visible.count(head)) + (1.5 if noun.stem in kin else 0.0)

    weighed = [(weight(noun), noun) for noun in nouns]
    best = max(worth for worth, _ in weighed)
    return dice.choice([noun for worth, noun in weighed if worth > best - 0.5])


def _second(reading: Reading, noun: Noun, dice: Random) -> str:
    lines = reading.fresh[-3:] or reading.heard[-3:]
    head = noun.head.lower()
    others = [
        other.definite
        for line in lines
        for other in _usable(reading, line)[:2]
        if other.head.lower() != head and not other.is_word
    ]
    others += [other.definite for other in nouns_in(reading.scene)[:2] if other.head.lower() != head]
    return dice.choice(others) if others else ""


def main_thing(reading: Reading, line: Heard) -> Noun | None:
    """What a line is mainly about, that I may speak of; none if it names nothing."""
    return next((noun for noun in _usable(reading, line) if not noun.is_word), None)


def _usable(reading: Reading, line: Heard) -> list[Noun]:
    nouns = reading.usable_cache.get(line.text)
    if nouns is None:
        nouns = (
            [] if _ANNOUNCED.match(line.text) and line.origin == "world" else sayable_in(reading, line.text)
        )
        if line.origin == "cast":
            lower = line.text.lower()
            nouns = [noun for noun in nouns if noun.is_rare or not is_part_of_talk(noun.head.lower(), lower)]
        reading.usable_cache[line.text] = nouns
    return nouns


def sayable_in(reading: Reading, text: str) -> list[Noun]:
    """The things in a text that are no names of the cast, no secrets of mine and nothing that I never say."""
    names = reading.names
    secrets = reading.secrets
    forbidden = voice_of(reading.me).forbidden
    nouns = []
    for noun in nouns_in(text):
        head = noun.head.lower()
        phrase = noun.phrase.lower()
        if head in names or head.removesuffix("s") in names:
            continue
        if secrets and any(secret in phrase or secret == head for secret in secrets):
            continue
        if not breaks_a_vow(phrase, forbidden):
            nouns.append(noun)
    return nouns
