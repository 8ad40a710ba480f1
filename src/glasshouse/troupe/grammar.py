"""Grammar: sentence patterns as data, what they accept, whose they are, and how they are filled.

Always holds: a pattern says everything but what was heard and what is drawn from the stock; a slot that names classes
takes a noun of one of these and no other; verbs and pronouns agree with the thing it speaks of; no stock phrase stands
twice in one line; of the sentences of the general talk each belongs to one player of a cast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from random import Random
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_classes import DEEDS, UNKNOWN, can, class_of
from glasshouse.troupe.noun_phrases import Noun
from glasshouse.troupe.vocabulary import WORD

patterns_cache_casts_max: Final = 1_024
"""To more casts the sentences of the general talk are dealt again."""

sentences_a_round: Final = 2
"""How many sentences of a move a player chooses from in one round of the talk."""

CLASSES: Final = "classes"
"""The slot that says what the topic is: its class and what it can do, as words."""

_SLOT: Final = re.compile(r"\{(\w+)(?::([\w|]+))?\}")
_IT: Final = re.compile(r"\bit(?:s|self)?\b", re.IGNORECASE)
_SENTENCE_START: Final = re.compile(r"(^|(?<!\.\.)[.?!]\s+)([^\W\d_])")
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
    accepts: frozenset[str] = frozenset()
    """What the topic may be: a class or something that it can do; anything if this is empty."""

    @property
    def is_about_something(self) -> bool:
        """Whether the topic stands in it."""
        return not self.needs.isdisjoint(("X", "aX", "x"))


def pattern_of(text: str) -> Pattern:
    """A pattern from the way it is written in the data."""
    mark = "?" if text.endswith("?") else "."
    return _pattern(text[:-1] if text.endswith(("?", ".", "!")) else text, mark)


@lru_cache(maxsize=512)
def cores(move: str, heading: str = "") -> tuple[Pattern, ...]:
    """The sentences of a move, or those under one of its headings."""
    lines = shelf.sections(f"grammar/{move}.txt").get(heading, ())
    return tuple(_of_one_thing(pattern_of(line)) for line in lines)


def cores_owned(
    move: str, heading: str, cast: tuple[str, ...], handle: str, round_number: int
) -> list[Pattern]:
    """Those sentences of a move that are a player's own, beginning with those of this round.

    They are dealt to the cast, so that no two share one. Whoever has gone through its own takes over its neighbour's,
    who has gone through them, too.
    """
    hands = _dealt(move, heading, cast)
    hand = hands[cast.index(handle)] if handle in cast else cores(move, heading)
    if not hand:
        return []
    # Each move goes round at its own pace, so that no two come together again for a long time.
    pace = round_number + round_number // (5 + len(move))
    times, start = divmod(sentences_a_round * pace, len(hand))
    if times and handle in cast:
        hand = hands[(cast.index(handle) + times) % len(hands)]
    return [*hand[start:], *hand[:start]]


@lru_cache(maxsize=patterns_cache_casts_max)
def _dealt(move: str, heading: str, cast: tuple[str, ...]) -> list[tuple[Pattern, ...]]:
    company = "\x1f".join(cast)

    def drawn(pattern: Pattern) -> bytes:
        return blake2b(
            f"{company}\x1e{pattern.texts}".encode("utf-8", "surrogatepass"), digest_size=8
        ).digest()

    deck = sorted(cores(move, heading), key=drawn)
    return [tuple(deck[at :: len(cast)]) for at in range(len(cast))]


@lru_cache(maxsize=1)
def _words_of_talk() -> Mapping[str, tuple[str, ...]]:
    """Word -> the longest fixed parts of the sentences of the general talk that have it in a fixed part."""
    parts_with: dict[str, set[str]] = {}
    for move in shelf.names_in("grammar"):
        for heading in shelf.sections(f"grammar/{move}.txt"):
            for pattern in cores(move, heading):
                for word in WORD.findall(" ".join(pattern.texts).lower()):
                    parts_with.setdefault(word, set()).add(pattern.longest)
    return MappingProxyType({word: tuple(sorted(parts)) for word, parts in parts_with.items()})


def is_part_of_talk(word: str, line: str) -> bool:
    """Whether a word of a line, both in small letters, belongs to a sentence of the general talk and not to its topic."""
    return any(part in line for part in _words_of_talk().get(word, ()))


@lru_cache(maxsize=64)
def listed(name: str, heading: str = "") -> tuple[Pattern, ...]:
    """The patterns of a list: asides, thoughts. Their own mark, if any, is part of the text."""
    return tuple(_of_one_thing(_pattern(line)) for line in shelf.sections(name).get(heading, ()))


def slots_for(topic: Noun) -> dict[str, str]:
    """What the gaps of a sentence on this topic can be filled with, beside the stock."""
    return dict(_slots_for(topic))


@lru_cache(maxsize=1_024)
def _slots_for(topic: Noun) -> dict[str, str]:
    slots = dict(_PLURAL if topic.is_plural else _SINGULAR)
    slots["X"] = topic.definite
    noun_class = class_of(topic)
    # A name that no list knows may be anybody's or any place's: only sentences that take anything take it.
    named = "name" if topic.is_name and noun_class == UNKNOWN else noun_class
    slots[CLASSES] = " ".join((named, *(deed for deed in DEEDS if can(topic, deed))))
    is_called = topic.is_name and not topic.phrase.lower().startswith("the ")
    is_person = noun_class == "person" or (is_called and noun_class == UNKNOWN)
    if is_person:
        for pronoun in ("it", "its", "them", "itself"):
            del slots[pronoun]
    if not (topic.is_plural or topic.is_name or topic.is_word):
        slots["aX"] = topic.indefinite
        if not is_person:
            slots["x"] = topic.phrase
    return slots


def _of_one_thing(pattern: Pattern) -> Pattern:
    """A pattern that says `it` in so many words of its topic is for one thing, not for several and not for somebody by
    name; an `it` in another sentence, or before the topic, may be anything."""
    if "X" not in pattern.slots:
        return pattern
    behind = pattern.texts[pattern.slots.index("X") + 1].partition(".")[0]
    return pattern._replace(needs=pattern.needs | {"x"}) if _IT.search(behind) else pattern


def fits(pattern: Pattern, slots: Mapping[str, str]) -> bool:
    """Whether every gap can be filled, and the topic is what the pattern accepts."""
    if not pattern.needs <= slots.keys():
        return False
    return not pattern.accepts or not pattern.accepts.isdisjoint(slots[CLASSES].split())


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
    """The text with a capital at the start of each sentence. Three dots are a pause, and end none."""
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)


def _pattern(text: str, mark: str = ".") -> Pattern:
    parts = _SLOT.split(text)
    texts = tuple(parts[::3])
    slots = tuple(parts[1::3])
    needs = frozenset(slots).difference(shelf.sections("stock.txt"))
    accepts = frozenset(noun_class for classes in parts[2::3] if classes for noun_class in classes.split("|"))
    return Pattern(texts, slots, needs, max(texts, key=len).lower(), mark, accepts)


def _drawn(stock: tuple[str, ...], dice: Random, used: set[str]) -> str:
    at = int(dice.random() * len(stock))
    while stock[at] in used and len(used) < len(stock):
        at = (at + 1) % len(stock)
    used.add(stock[at])
    return stock[at]
