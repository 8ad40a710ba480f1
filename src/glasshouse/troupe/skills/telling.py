"""Telling: a tale told on, piece by piece, with whatever was just called for in it.

Chosen by a kind that asks for a tale and a branch that asks for a text alone. Always holds: who tells goes on with the
hero and the wish that can be read in the lines so far; what was called for happens; a tale ends when the world says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_classes import class_of
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reactions import calling_of
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.skills.acting import remarked, without_remark
from glasshouse.troupe.skills.branches import Branch, Reply, passing, sentences, untold, with_line
from glasshouse.troupe.speaking import Speaker
from glasshouse.troupe.vocabulary import WORD, is_a
from glasshouse.troupe.world_topic import matter_of

BOOK: Final = "tales.txt"

pieces_called_on_max: Final = 2
"""Who calls for a turn looks for a thing in this many of the latest pieces of a tale."""
things_called_on_max: Final = 4
"""This many things of a tale are thought of for the next call."""
turns_apart_min: Final = 6
"""The same turn is not called for again before this many others."""
words_for_whole_tales_min: Final = 72
"""Who may say less tells the short pieces that fit any hero: of a longer one only its end would be left."""

_SENTENCES: Final = re.compile(r"(?<=[.?!])\s+(?=\S+\s+\S)")
_SIMILE: Final = re.compile(r"\b(?:like|as)(?: an?| the| one)?\s*$")
"""Before a thing that is not there, and is only compared with."""
_POINTED_AT: Final = frozenset({"a", "an", "the", "one", "his", "her", "its", "that", "this"})
_WITH_OWN_LINE: Final = 0.2
_STAGES: Final = frozenset({"begin", "takes", "end"})
_CALLED_ON: Final = frozenset({"object", "food"})
"""What something can happen to in a tale."""
_TALL: Final = frozenset({"grand", "sly", "eager"})
_PRONOUNS: Final = {"he": ("him", "his"), "she": ("her", "her"), "it": ("it", "its")}


class Hero(NamedTuple):
    """Whom a tale is about, and what they are after."""

    name: str
    pronoun: str
    intro: str
    wish: str = ""


def told_on(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """The next piece of the tale that is mine to tell."""
    branch = _plain_branch_for("tell", branches)
    if branch is None:
        return None
    manner = "tall" if speaker.voice.register in _TALL else "quiet"
    heading, hero = _next_piece(speaker.reading, branch.kind)
    hero = hero or _new_hero(speaker, manner)
    _turn_to_what_is_called_for(speaker, heading)
    pieces = _pieces(speaker.reading, manner, heading, hero)
    own = 0.0 if heading in {"takes", "end"} else _WITH_OWN_LINE
    aim = f"{hero.name} has to get somewhere before the fire is out"
    spoken = speaker.dress(pieces, "tell", aim, own=own)
    return with_line(branch, remarked(speaker, spoken, heading if heading in _STAGES else "called"))


def called_for(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A turn that a tale has to take: something happens to a thing that was just told of."""
    branch = _plain_branch_for("call", branches)
    if branch is None:
        return None
    reading = speaker.reading
    is_ending = _place_of([*reading.remembered, *reading.discussion], "ending") >= 0
    if is_ending and not reading.fresh_disturbances:
        # A tale that is being brought home takes no more turns.
        return passing(branches, speaker, "pass")
    if not speaker.topic.owed:
        things = _things_told_of(reading)
        if things:
            speaker.turn_to(speaker.dice.choice(things))
    mine = (without_remark(reading, line) for line in reading.discussion if reading.is_mine(line))
    before = [turn_called(text) for text in mine][-turns_apart_min:]
    turns = [turn for turn in shelf.entries("grammar/call.txt") if turn_called(turn) not in before]
    spoken = speaker.dress(turns, "call", own=_WITH_OWN_LINE)
    return with_line(branch, remarked(speaker, spoken, "called" if before else "first"))


def _plain_branch_for(act: str, branches: Sequence[Branch]) -> Branch | None:
    plain = (branch for branch in branches if branch.is_plain)
    return next((branch for branch in plain if calling_of(branch.kind) == act), None)


def _things_told_of(reading: Reading) -> list[Noun]:
    """What the newest pieces name and every tale has in it; the matter of the evening, where it was not spoken of.

    Each teller has to go on with what is called for: a thing of one tale alone would come from nowhere in the other.
    """
    heroes = {row[1].split()[-1] for row in shelf.rows("heroes.tsv")}
    never_called = {*heroes, *shelf.sections(BOOK)["props"]}
    lines = [line for line in reading.heard if line.origin == "cast"]
    pieces = lines[-pieces_called_on_max:]
    tales = [
        " ".join(line.text.lower() for line in lines if line.handle == teller)
        for teller in {line.handle for line in pieces}
    ]
    texts = [without_remark(reading, line) for line in pieces]
    things = {
        noun.head: noun
        for text in texts
        for noun in nouns_in(text)
        if noun.det in _POINTED_AT
        and not _SIMILE.search(text[: noun.start])
        and not noun.is_word
        and not noun.is_plural
        and not is_a(noun.head, "hollow")
        and class_of(noun) in _CALLED_ON
        and noun.head not in never_called
        and all(noun.head in tale for tale in tales)
        and noun.head not in reading.own_text
        and noun.head not in _calling_words()
    }
    matter = matter_of(reading)
    if matter is not None and (not things or not any(matter.noun.head in line.text for line in pieces)):
        return [matter.noun, *list(things.values())[:1]]
    return list(things.values())[:things_called_on_max]


def _turn_to_what_is_called_for(speaker: Speaker, heading: str) -> None:
    """The thing that a call names; where nobody called, what the evening began with."""
    reading = speaker.reading
    matter = matter_of(reading)
    cause = reading.cause
    if speaker.topic.owed:
        return
    if cause is not None and cause.origin != "world":
        last = _SENTENCES.split(cause.text)[-1]
        named = [noun for noun in nouns_in(last) if noun.head not in _calling_words() and not noun.is_word]
        if named:
            speaker.turn_to(named[0])
    elif matter is not None:
        speaker.turn_to(matter.noun, matter.text if heading in {"begin", "again"} else "")


@lru_cache(maxsize=1)
def _calling_words() -> frozenset[str]:
    """The words that calls are made of, and no tale is about."""
    return frozenset(
        word for line in shelf.entries("grammar/call.txt") for word in WORD.findall(line.lower())
    )


def turn_called(text: str) -> str:
    """What a text calls for in a tale; empty if it calls for nothing that one can tell."""
    words = set(WORD.findall(text.lower()))
    for turn, cues in shelf.rows("calls.tsv"):
        if any(cue in words or (" " in cue and cue in text.lower()) for cue in cues.split("|")):
            return turn
    return ""


def hero_in(lines: Sequence[Heard]) -> Hero | None:
    """The hero that was brought in last."""
    for line in reversed(lines):
        lower = line.text.lower()
        for _, name, pronoun, intro in shelf.rows("heroes.tsv"):
            if intro.lower() in lower:
                wishes = shelf.sections(BOOK)["wishes"]
                return Hero(name, pronoun, intro, next((wish for wish in wishes if wish in lower), wishes[0]))
    return None


def brought_home(reading: Reading, teller: str) -> dict[str, str]:
    """What a teller made of what was handed over: whose hero it took, and which of the things called for came back."""
    lines = [*reading.remembered, *reading.discussion]
    traded = _place_of(lines, "trading")
    tellings = [(at, line) for at, line in enumerate(lines) if calling_of(line.kind) == "tell"]
    hero = hero_in([line for at, line in tellings if at < traded and line.handle != teller])
    pieces = [line.text.lower() for _, line in tellings if line.handle == teller]
    called = [
        noun
        for line in lines
        if calling_of(line.kind) == "call"
        for noun in nouns_in(_SENTENCES.split(line.text)[-1])[:1]
        if not noun.is_word and noun.head.lower() not in _calling_words()
    ]
    matter = matter_of(reading)
    counts = {
        noun.definite: sum(noun.head.lower() in piece for piece in pieces)
        for noun in called
        if matter is None or noun.head != matter.noun.head
    }
    kept = max(counts, key=lambda name: counts[name], default="")
    gaps = {"thing": kept if kept and counts[kept] > 1 else ""}
    if hero is not None:
        him, his = _PRONOUNS[hero.pronoun]
        gaps |= {"hero": hero.name, "want": hero.wish, "he": hero.pronoun, "him": him, "his": his}
    return gaps


def _next_piece(reading: Reading, kind: str) -> tuple[str, Hero | None]:
    """Which piece comes next and whose tale it is; no hero where a tale begins."""
    lines = [*reading.remembered, *reading.discussion]
    traded = _place_of(lines, "trading")
    ending = _place_of(lines, "ending")
    tellings = [(at, line) for at, line in enumerate(lines) if line.kind == kind]
    mine = [(at, line) for at, line in tellings if reading.is_mine(line)]
    since = [line for at, line in mine if at > ending] if ending >= 0 else []
    hero = hero_in([line for _, line in mine])
    if traded >= 0:
        hero = hero_in([line for at, line in tellings if at < traded and not reading.is_mine(line)]) or hero
    if ending >= 0 and since:
        new = hero_in(since)
        if new is not None:
            return _called(reading), new
        return ("after", hero) if len(since) == 1 and hero is not None else ("again", None)
    if hero is None:
        return "begin", None
    if ending >= 0:
        return "end", hero
    if traded >= 0 and not any(at > traded for at, _ in mine):
        return "takes", hero
    return _called(reading), hero


def _called(reading: Reading) -> str:
    cause = reading.cause
    if cause is None or cause.origin == "world":
        return "onward"
    return turn_called(without_remark(reading, cause)) or "onward"


def _place_of(lines: Sequence[Heard], cues: str) -> int:
    """Where the world last said something of that sort; before the beginning if it has not."""
    some = shelf.sections(BOOK)[cues]
    for at in range(len(lines) - 1, -1, -1):
        if lines[at].origin == "world" and any(cue in lines[at].text.lower() for cue in some):
            return at
    return -1


def _new_hero(speaker: Speaker, manner: str) -> Hero:
    visible = speaker.reading.visible_text
    known = [Hero(name, he, intro) for how, name, he, intro in shelf.rows("heroes.tsv") if how == manner]
    fresh = [hero for hero in known if hero.intro.lower() not in visible] or known
    sections = shelf.sections(BOOK)
    wishes = shelf.sections(BOOK)["wishes"]
    has_room = speaker.reading.words_max >= words_for_whole_tales_min
    with_tales = [hero for hero in fresh if has_room and f"{hero.name} {manner} begin" in sections]
    hero = speaker.dice.choice(with_tales or fresh)
    beginning = " ".join(sections.get(f"{hero.name} {manner} begin", ()))
    own = [wish for wish in wishes if wish in beginning]
    wish = speaker.dice.choice(own or [wish for wish in wishes if wish not in visible] or wishes)
    return hero._replace(wish=wish)


def _pieces(reading: Reading, manner: str, heading: str, hero: Hero) -> list[str]:
    """The pieces that fit here and were not told yet, of the hero's own tale first; where all were, those that fit
    anywhere."""
    him, his = _PRONOUNS[hero.pronoun]
    gaps = {
        "hero": hero.name,
        "intro": hero.intro,
        "want": hero.wish,
        "he": hero.pronoun,
        "him": him,
        "his": his,
    }
    own = f"{hero.name} {manner} {heading}"
    has_own = own in shelf.sections(BOOK) and reading.words_max >= words_for_whole_tales_min
    headings = [f"{manner} {heading}", f"{manner} onward"]
    for known in [own, *headings] if has_own else headings:
        if pieces := untold(reading, known, BOOK, **gaps):
            return pieces
    return sentences(headings[0], BOOK, **gaps)
