"""Pairing: holding a word that most of the others hold, or its near-twin, and not knowing which.

Chosen by a word that was dealt, a branch for a text alone and one for a castmate's handle. Always holds: the word itself
is never said; what is said of it is true of it; who finds that the others speak of something else says only what is
true of both. Nobody votes before the world calls for it, or twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.skills.attributes import attributes, bare_word, things
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    passing,
    plain_branch,
    sentences,
    untold,
    with_line,
)
from glasshouse.troupe.skills.keeping import word_known
from glasshouse.troupe.speaking import Speaker, Spoken, name_of
from glasshouse.troupe.vocabulary import WORD

BOOK: Final = "pairs.txt"
told_cache_texts_max: Final = 2_048
strangers_min: Final = 2

_DOUBTED: Final = 0.4
_AGREED: Final = 0.25
_FITS: Final = 0.2
_STRANGE: Final = 2.0
_LOOSE: Final = 0.25
_REGISTERS: Final = {
    "grand": "grand", "sly": "sly", "plain": "plain", "shy": "shy", "tender": "shy", "grim": "plain", "eager": "sly"
}  # fmt: skip


class Told(NamedTuple):
    """Something that can be said of a thing: the clause, what it is true of, and what it may be true of."""

    clause: str
    holds: frozenset[str]
    unsure: frozenset[str] = frozenset()
    weight: float = 1.0


def bluffed(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """Something true of my word; or my vote, when votes are called for."""
    word = bare_word(word_known(speaker.reading))
    describing = plain_branch(branches)
    voting = next(
        ((one, field) for one in branches if (field := _field_of_handles(speaker.reading, one))), None
    )
    if not word or voting is None or describing is None or not clauses_of(word):
        return None
    reading = speaker.reading
    if any(reading.is_mine(line) and voting[1] in line.fields for line in reading.discussion):
        if not speaker.topic.owed:
            return passing(branches, speaker, "pass", BOOK)
        return with_line(describing, speaker.speak(describing.kind))
    if _is_called(reading):
        return _voted(speaker, *voting, word)
    return with_line(describing, _described(speaker, word))


def clauses_of(word: str) -> dict[str, Told]:
    """Everything one can say of a thing without naming it."""
    return {
        clause: told
        for clause, told in sayings().items()
        if word in told.holds and word not in WORD.findall(clause.lower())
    }


@lru_cache(maxsize=1)
def sayings() -> MappingProxyType[str, Told]:
    """What can be said of things: what was written of some of them, then what holds of many."""
    found = {clause: Told(clause, frozenset(names.split())) for clause, names in shelf.rows("likenesses.tsv")}
    for one in attributes().values():
        holds = frozenset(thing.name for thing in things().values() if one.name in thing.holds)
        unsure = frozenset(thing.name for thing in things().values() if one.name in thing.unsure)
        found |= {clause: Told(clause, holds, unsure, _LOOSE) for clause in one.yes}
    return MappingProxyType(found)


@lru_cache(maxsize=told_cache_texts_max)
def told_in(text: str) -> tuple[Told, ...]:
    """What a line says of words, in its order: first of its speaker's own, then what it takes up of another's."""
    lower = text.lower()
    places = sorted((at, clause) for clause in sayings() if (at := lower.find(clause.lower())) >= 0)
    return tuple(sayings()[clause] for _, clause in places)


class Mark(NamedTuple):
    """How ill somebody's lines go with my word, what goes worst with it, and whether that was a doubt of what is true."""

    strangeness: float = 0.0
    clause: str = ""
    is_doubt: bool = False


def mark_of(reading: Reading, handle: str, word: str) -> Mark:
    """What speaks against somebody, by their own lines and by what of other people's they could not place."""
    total, worst = 0.0, Mark(-1.0)
    for line in _descriptions(reading):
        if line.handle == handle:
            for one in _marks(line, word):
                total += one.strangeness
                if one.clause and one.strangeness >= worst.strangeness:
                    worst = one
    return worst._replace(strangeness=total)


def _marks(line: Heard, word: str) -> list[Mark]:
    told = told_in(line.text)
    if not told:
        return []
    first, *others = told
    is_strange = word not in first.holds and word not in first.unsure
    found = [Mark((_STRANGE if is_strange else -_FITS) * first.weight, first.clause)]
    if not any(cue in line.text.lower() for cue in _agreeing()):
        found += [Mark(_STRANGE / 2, one.clause, is_doubt=True) for one in others if word in one.holds]
    return found


@lru_cache(maxsize=1)
def _agreeing() -> tuple[str, ...]:
    """The words by which one says that another is right."""
    parts = (re.split(r"<\w+>", line.lower().strip(". ")) for line in shelf.sections(BOOK)["agree"])
    return tuple(max(one, key=len).strip() for one in parts)


def _descriptions(reading: Reading) -> list[Heard]:
    """What others said of their words: lines with a text alone. A vote says what another said."""
    return [line for line in reading.heard if line.origin == "cast" and not line.fields_text]


def _others(reading: Reading) -> list[str]:
    return list(dict.fromkeys(line.handle for line in reading.heard if line.origin == "cast"))


def _theirs(reading: Reading, word: str) -> str:
    """What the others seem to hold, where it is not what I hold; empty while I may think that we hold the same."""
    told = [(line.handle, told_in(line.text)[0]) for line in _descriptions(reading) if told_in(line.text)]
    told = [(who, one) for who, one in told if one.weight > _LOOSE]
    strange = {who for who, one in told if word not in one.holds}
    if len(strange) < strangers_min:
        return ""
    things = dict.fromkeys(thing for _, one in told for thing in sorted(one.holds) if thing != word)
    return max(things, key=lambda thing: sum(thing in one.holds for _, one in told), default="")


def _described(speaker: Speaker, word: str) -> Spoken:
    reading = speaker.reading
    theirs = _theirs(reading, word)
    clause = _clause(speaker, word, theirs)
    register = _REGISTERS.get(speaker.voice.register, "")
    leads = untold(reading, "lead", BOOK, clause=clause)
    if register:
        leads = untold(reading, f"lead {register}", BOOK, clause=clause) * 2 + leads
    if speaker.topic.owed:
        leads = untold(reading, "lead beside", BOOK, clause=clause) or leads
    leads = leads or sentences("lead", BOOK, clause=clause)
    aim = (
        "they hold something else, so I stay where both are true" if theirs else "I say something true of it"
    )
    more = _nodded(speaker, word) if theirs else _on_somebody(speaker, word, register)
    return speaker.dress([f"{lead}{more}" for lead in leads], "answer", aim)


def _clause(speaker: Speaker, word: str, theirs: str) -> str:
    """Something true of my word that was not said yet; where the others hold another, true of that, too."""
    visible = speaker.reading.visible_text
    clauses = clauses_of(word)
    shared = [one for one, told in clauses.items() if told.weight > _LOOSE]
    safe = [one for one, told in clauses.items() if theirs in told.holds] if theirs else shared
    for some in ([one for one in safe if one in shared], safe, shared, list(clauses)):
        fresh = [one for one in some if one.lower() not in visible]
        if fresh:
            return speaker.dice.choice(fresh)
    return speaker.dice.choice(list(clauses))


def _on_somebody(speaker: Speaker, word: str, register: str) -> str:
    """Now and then a word on what another said: that it does not fit, or that it does."""
    reading, dice = speaker.reading, speaker.dice
    if dice.random() >= _DOUBTED:
        return _nodded(speaker, word)
    marks = {who: mark_of(reading, who, word) for who in _others(reading)}
    who = max(marks, key=lambda one: marks[one].strangeness, default="")
    if not who or marks[who].strangeness <= 0 or not marks[who].clause or marks[who].is_doubt:
        return ""
    if marks[who].clause.lower() in reading.own_text:
        return ""
    gaps = {"suspect": name_of(who), "told": marks[who].clause}
    some = untold(reading, "doubt", BOOK, **gaps)
    if register:
        some += untold(reading, f"doubt {register}", BOOK, **gaps) * 2
    return dice.choice(some or [""])


def _nodded(speaker: Speaker, word: str) -> str:
    """Once in a while, that another is right."""
    reading, dice = speaker.reading, speaker.dice
    if dice.random() >= _AGREED:
        return ""
    true = [
        (line.handle, told_in(line.text)[0].clause)
        for line in reading.fresh
        if line.origin == "cast" and told_in(line.text) and word in told_in(line.text)[0].holds
    ]
    if not true:
        return ""
    who, clause = true[-1]
    return dice.choice(untold(reading, "agree", BOOK, suspect=name_of(who), told=clause) or [""])


def _voted(speaker: Speaker, branch: Branch, field: str, word: str) -> Reply:
    reading = speaker.reading
    offered = [one for one in branch.words_of(field) if one != reading.me.handle]
    spoke = [one for one in offered if one in _others(reading)] or offered
    marks = {one: mark_of(reading, one, word) for one in spoke}
    worst = {one: mark.strangeness for one, mark in marks.items()}
    if _theirs(reading, word):
        said = [line.text for line in reading.heard if line.origin == "cast"]
        worst = {one: float(sum(name_of(one) in text for text in said)) for one in spoke}
    top = max(worst.values())
    who = speaker.dice.choice([one for one in spoke if worst[one] == top])
    spoken = speaker.dress(
        _pointing(speaker, who, marks[who]),
        "object",
        f"{name_of(who)} does not hold what I hold, or must seem not to",
    )
    return with_line(branch, spoken, **{field: who})


def _pointing(speaker: Speaker, who: str, mark: Mark) -> list[str]:
    """How one says whom one points at, and why, as far as there is a why."""
    reading, register = speaker.reading, _REGISTERS.get(speaker.voice.register, "")
    gaps = {"suspect": name_of(who), "told": mark.clause}
    if speaker.topic.owed:
        heading = "vote beside"
    elif mark.strangeness <= 0 or not mark.clause:
        heading = "vote blind"
    else:
        heading = "vote doubter" if mark.is_doubt else "vote"
    more = sentences(f"vote {register}", BOOK, **gaps) if register and heading == "vote" else []
    return [*more, *more, *untold(reading, heading, BOOK, **gaps)] or sentences(heading, BOOK, **gaps)


def _field_of_handles(reading: Reading, branch: Branch) -> str:
    """The field of a branch that takes the handle of somebody around."""
    for field in branch.fields:
        words = branch.words_of(field)
        if len(words) > 1 and field != "winner" and all(f"{one} (" in reading.around for one in words):
            return field
    return ""


def _is_called(reading: Reading) -> bool:
    """Whether the newest thing that the world showed calls for votes."""
    shown = [line.text.lower() for line in reading.discussion if line.origin == "world"] or [
        reading.scene.lower()
    ]
    return any(cue in shown[-1] for cue in shelf.sections(BOOK)["calls"])
