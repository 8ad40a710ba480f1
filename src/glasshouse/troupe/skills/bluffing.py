"""Bluffing: speaking of a secret word without saying it, and telling who holds another one.

A vote is chosen by a field whose words are the handles of those who spoke, where a word was dealt; a description by a word that was dealt and a
branch that asks for a text alone. Always holds: the word itself is never said.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.troupe.reading import Reading
from glasshouse.troupe.skills.attributes import attributes, thing_called, told_by
from glasshouse.troupe.skills.branches import Branch, Reply, passing, plain_branch, sentences, with_line
from glasshouse.troupe.skills.keeping import word_known
from glasshouse.troupe.skills.sleuthing import details_in
from glasshouse.troupe.speaking import Speaker, name_of
from glasshouse.troupe.vocabulary import stems_of


def vote(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """The one whose words fit least with mine and with everybody's."""
    reading = speaker.reading
    if not word_known(reading):
        return None
    handles = {line.handle for line in reading.heard if line.origin == "cast"}
    for branch in branches:
        for field in branch.fields:
            words = branch.words_of(field)
            if field != "winner" and len(words) > 1 and handles and handles & set(words):
                return _voted(speaker, branches, branch, field)
    return None


def description(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """Something true of the word I was dealt, and not the word."""
    branch = plain_branch(branches)
    thing = thing_called(word_known(speaker.reading))
    if branch is None or thing is None:
        return None
    mine = speaker.reading.own_text
    clauses = [clause for name in attributes() if name in thing.holds for clause in attributes()[name].yes]
    fresh = [clause for clause in clauses if clause not in mine] or clauses
    texts = sentences("describe", clause=speaker.dice.choice(fresh))
    return with_line(branch, speaker.dress(texts, "answer", "I say something true of it, and not the word"))


def fitness(reading: Reading, handle: str) -> float:
    """How well somebody's lines go with my word and with what the others said."""
    thing = thing_called(word_known(reading))
    theirs = [line.text for line in reading.heard if line.handle == handle]
    others = [line.text for line in reading.heard if line.handle != handle and line.origin == "cast"]
    fit = 0.0
    for text in theirs:
        clue = told_by(text)
        if clue is not None and thing is not None:
            fit += 2.0 if thing.truth(clue[0]) == clue[1] else -2.0
        fit += 0.2 * sum(len(stems_of(text) & stems_of(other)) for other in others)
    return fit / max(1, len(theirs))


def _voted(speaker: Speaker, branches: Sequence[Branch], branch: Branch, field: str) -> Reply | None:
    reading = speaker.reading
    heard = {line.handle for line in reading.heard} - {reading.me.handle}
    fits = {handle: fitness(reading, handle) for handle in branch.words_of(field) if handle in heard}
    worst = min(fits.values(), default=0.0)
    odd = [handle for handle, fit in fits.items() if fit == worst]
    if not odd or (len(odd) > 1 and len(odd) == len(fits)):
        reply = passing(branches, speaker, "pass no evidence")
        if reply is not None:
            return reply
    who = odd[0] if odd else branch.words_of(field)[0]
    lines = [line for line in reading.heard if line.handle == who]
    gaps = {"suspect": name_of(who), "detail": details_in(reading, lines, "")[0]}
    spoken = speaker.dress(sentences("vote", **gaps), "object", f"{name_of(who)} does not fit with the rest")
    return with_line(branch, spoken, **{field: who})
