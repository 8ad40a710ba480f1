"""A tagger for tests: finds sentences of the general talk whose gap holds a word of the wrong class.

It knows nothing of the troupe's own classes: the words below were sorted by hand, and what a sentence accepts is read
from the data as it is written. A word that stands in no list is passed over and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from glasshouse.troupe import data_files as shelf

OBJECT = """
barometer bell book chair clock crown diamond door evidence feather flower folder hammer headline inscription key
knife letter lock mast oven page pedestal pot present printer print ring server ship signature skylight sword table
telephone tent test torch tube van veil hat boot kettle umbrella glove parcel lamp lantern candle mirror map trunk box
chest coin rope button thread needle window ladder basket bucket bottle cup plate spoon fork jar acorn seed leaf oak
tree stone gravel gate fence wheel cart boat sail anchor flag drum fiddle cello page code file comment request ticket
"""
FOOD = """
butter cake pie tea ingredient bread jam plum apple soup cheese honey water wine coffee salt sugar egg milk supper
breakfast dinner lunch lemon
"""
ANIMAL = """
dog swan cat mouse moth owl crow heron fox badger mule hen goose bird bee snail spider beetle weevil worm fish toad
"""
PERSON = """
aunt band council crew girlfriend grandmother mastermind troll winner butcher customer guard bride groom mayor
candidate knight wizard thief king queen judge postman visitor child children mother father friend neighbour stranger
stowaway headmaster manager swimmer voter
"""
PLACE = """
bergen bridge gallery hole marquee pool town hall museum vault roof library office room kitchen attic garden
orchard wood lake sea river shore tomb stair house mill pond canopy queue path lane market village harbour
"""
WEATHER = """
fog rain storm wind snow fire light lightning moon sun star sky cloud frost dark shadow smoke thunder ice
"""
SOUND = """
song applause laughter whisper echo footstep noise voice silence music tune hum bark knock
"""
ABSTRACT = """
budget complaint fortune hand job minute month problem punctuality warning wedding work hour day night story
promise secret question answer plan birthday experiment lesson speech goal argument decision election share
honour gravity curiosity verdict price luck love fear dream joke evening morning week year
"""
OPENS = """
bell book door folder letter lock oven parcel box chest trunk jar window gate tent vault page present bottle umbrella
file drawer basket
"""
CARRIES = """
ship van cart boat basket bucket box chest trunk pot jar cup boot
"""
NO_NOUNS = """
sleeps tells dealt failing going never slowly quickly very quite always says said asked asks told goes went comes came gave
gives took takes made makes seems became lies sits stood remembers knows knew forgets forgot thinks ajar asleep awake
alike afraid aloud again
"""
"""Words that never stand right behind an article, except before another word that is a thing."""
QUALITIES = "longer shorter better worse older younger nearer farther higher lower sooner later"
DOINGS = (
    "tell say ask go come take give make know think forget remember sleep bring become seem lie sit stand"
)
STATES = "ajar asleep awake alike afraid aloud alone"

_SLOT = re.compile(r"\{(\w+)(?::([\w|]+))?\}")
_AGREEING = {
    "is": "(?:is|are)", "was": "(?:was|were)", "has": "(?:has|have)", "does": "(?:does|do)", "s": "s?", "es": "(?:es)?",
    "it": "(?:it|they)", "its": "(?:its|their)", "them": "(?:it|them)", "itself": "(?:itself|themselves)",
}  # fmt: skip
_DONE = re.compile(
    rf"\b(?:the|an?) ({'|'.join(NO_NOUNS.split())})\b(?! [a-z]+s?\b(?<!one)(?<!and))", re.IGNORECASE
)
_DOING = re.compile(
    rf"\b(?:the|an?) (?:{'|'.join(QUALITIES.split())}) ({'|'.join(DOINGS.split())})\b", re.IGNORECASE
)
_STATE = re.compile(rf"\b(?:the|an?) [a-z]+ ({'|'.join(STATES.split())}) (?:the|an?)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|an?|[\w ]+'s) ", re.IGNORECASE)


class Filler(NamedTuple):
    """A word in the gap of a sentence, and what the sentence accepts there."""

    head: str
    accepts: frozenset[str]
    line: str


@cache
def classes() -> dict[str, set[str]]:
    """Word -> what it is, and what it can do."""
    by_word: dict[str, set[str]] = {}
    for name, words in (
        ("object", OBJECT), ("food", FOOD), ("animal", ANIMAL), ("person", PERSON), ("place", PLACE),
        ("weather", WEATHER), ("sound", SOUND), ("abstract", ABSTRACT), ("opens", OPENS), ("carries", CARRIES),
    ):  # fmt: skip
        for word in words.split():
            by_word.setdefault(word, set()).add(name)
    for word in PERSON.split():
        by_word[word].add("speaks")
    return by_word


@cache
def _sentences() -> tuple[tuple[re.Pattern[str], frozenset[str]], ...]:
    """Every sentence of the talk with a typed gap, as what it looks like when it is said."""
    sentences = []
    for move in shelf.names_in("grammar"):
        for line in shelf.entries(f"grammar/{move}.txt"):
            typed = [match for match in _SLOT.finditer(line) if match[2]]
            if typed:
                sentences.append((_as_said(line), frozenset(typed[0][2].split("|"))))
    return tuple(sentences)


def _as_said(line: str) -> re.Pattern[str]:
    parts, end = [], 0
    for match in _SLOT.finditer(line):
        parts.append(re.escape(line[end : match.start()]))
        end = match.end()
        gap = "(?P<thing>[^,.?!:]+?)" if match[2] and "(?P<thing>" not in "".join(parts) else "[^.?!]+?"
        parts.append(_AGREEING.get(match[1], gap))
    parts.append(re.escape(line[end:].rstrip("?.")))
    return re.compile(rf"(?:^|(?<=[.?!:] )){''.join(parts)}(?=[.?!]|$)", re.IGNORECASE)


def fillers_in(line: str) -> Iterator[Filler]:
    """What stands in the typed gaps of a line."""
    for pattern, accepts in _sentences():
        match = pattern.search(line)
        if match is not None:
            thing = _ARTICLE.sub("", match["thing"]).partition(" of ")[0]
            yield Filler(_bare(thing.split()[-1]), accepts, line)


def _bare(word: str) -> str:
    lower = word.lower()
    if lower in classes() or not lower.endswith("s"):
        return lower
    return next((form for form in (lower[:-1], lower[:-2], f"{lower[:-3]}y") if form in classes()), lower)


def wrong_in(line: str) -> list[str]:
    """The words of a line that stand where nothing of their kind can stand."""
    wrong = [
        filler.head
        for filler in fillers_in(line)
        if filler.head in classes() and not classes()[filler.head] & filler.accepts
    ]
    return wrong + [match[1] for rule in (_DONE, _DOING, _STATE) for match in rule.finditer(line)]
