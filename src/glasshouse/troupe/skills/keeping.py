"""Keeping: the one who knows a word and answers questions about it, truthfully.

Chosen by a field `answer` whose words have a yes and a no among them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from glasshouse.troupe import kinds
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.skills.acting import played, remarked
from glasshouse.troupe.skills.attributes import (
    Thing,
    Truth,
    attribute_asked,
    attributes,
    bare_word,
    in_plain_words,
    thing_called,
)
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    in_a_list,
    own_lines,
    own_or_common,
    plain_branch,
    sentences,
    untold,
    with_gaps_filled,
    with_line,
)
from glasshouse.troupe.speaking import Speaker, Spoken

GAMES: Final = "games.txt"

compared_max: Final = 2
"""Of what is right in a wrong guess so much is said."""

_NAMING: Final = re.compile(r"\b(?:is it|it is|could it be) (an? [a-z -]+?|the [a-z -]+?)\s*[?,]")


_WITH_OWN_LINE: Final = 0.15


def kept_answer(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A yes, a no or a shrug, whichever is true of the word that I was dealt."""
    branch = next((branch for branch in branches if {"yes", "no"} <= set(branch.words_of("answer"))), None)
    if branch is None:
        return None
    reading = speaker.reading
    shown = _shown(speaker, branches)
    if shown is not None:
        return shown
    line = _question(reading)
    if line is None or ("?" not in line.text and not line.fields.get("word")):
        talking = next(
            (branch for branch in branches if branch.is_plain and branch.kind == kinds.AGENT_SPOKE), None
        )
        chat = talking or plain_branch(branches)
        if chat is not None:
            return with_line(chat, speaker.speak(chat.kind))
    word = word_known(reading)
    guess = _guess_in(line)
    if word and guess:
        is_right = is_same_word(word, guess)
        gaps = {"clause": _unasked(speaker, word), **_compared(speaker, word, guess)}
        heading = "right" if is_right else "wrong"
        alike = with_gaps_filled(own_lines(reading, "wrong alike"), gaps)
        if is_right or gaps.get("other") or not alike:
            texts = own_or_common(reading, heading, **gaps) or sentences(heading)
        else:
            texts = alike
        spoken = speaker.dress(texts, "answer", "I must say whether that is it")
        spoken = remarked(speaker, spoken, heading, is_last=True)
        return with_line(branch, spoken, answer="yes" if is_right else "no")
    asked = attribute_asked(line.text) if line is not None else ""
    thing = thing_called(word)
    truth: Truth = thing.truth(asked) if thing is not None and asked else "unsure"
    return with_line(branch, _said(speaker, truth, asked), answer=_word_for(branch, truth))


def _shown(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A line of my part that shows the word, once I have said whether the guess was right; none before."""
    reading = speaker.reading
    lines = reading.discussion
    named = next((line for line in reversed(lines) if line.fields.get("word")), None)
    word = word_known(reading)
    if named is None or not word or reading.cause is None or reading.cause.ref == named.ref:
        return None
    answers = [line for line in lines if reading.is_mine(line) and int(line.ref) > int(named.ref)]
    if not any(line.fields.get("answer") for line in answers):
        return None
    is_right = is_same_word(word, str(named.fields["word"]))
    slots = {"word": word, "clause": _unasked(speaker, word)}
    return played(speaker, branches, ["show", "right" if is_right else "wrong"], slots)


def _compared(speaker: Speaker, word: str, guess: str) -> dict[str, str]:
    """What a wrong guess has in common with my word, and what of it is otherwise, in plain words."""
    mine = thing_called(word)
    theirs = thing_called(guess)
    if mine is None or theirs is None or mine == theirs:
        return {}
    asked = {attribute_asked(line.text) for line in speaker.reading.discussion}
    same = [name for name in attributes() if name in asked and mine.truth(name) == theirs.truth(name)]
    same.sort(key=lambda name: mine.truth(name) != "yes")
    right = [words for name in same[:compared_max] if (words := in_plain_words(name, mine.truth(name)))]
    apart = parted_by(mine, theirs)
    return {
        "same": in_a_list(right),
        "other": in_plain_words(apart[0], mine.truth(apart[0])) if apart else "",
    }


def parted_by(mine: Thing, theirs: Thing) -> list[str]:
    """The attributes of which one is sure that only one of two things has them; what the first one has goes first."""
    sure = [name for name in attributes() if "unsure" not in (mine.truth(name), theirs.truth(name))]
    apart = [name for name in sure if mine.truth(name) != theirs.truth(name)]
    return sorted(apart, key=lambda name: mine.truth(name) != "yes")


def word_known(reading: Reading) -> str:
    """The word that was dealt to me alone; empty if there is none."""
    for key, value in reading.known.items():
        if "word" in key and isinstance(value, str):
            return value
    texts = (value for value in reading.known.values() if isinstance(value, str))
    return next((text for text in texts if thing_called(text)), "")


def is_same_word(word: str, other: str) -> bool:
    """Whether two words are one, whatever their article, case and number."""
    a = bare_word(word)
    b = bare_word(other)
    return a == b or (thing_called(word) is not None and thing_called(word) == thing_called(other))


def _question(reading: Reading) -> Heard | None:
    if reading.cause is not None:
        return reading.cause
    waiting = [line for line in reading.fresh if "?" in line.text or line.fields.get("word")]
    return waiting[-1] if waiting else None


def _guess_in(line: Heard | None) -> str:
    if line is None:
        return ""
    named = line.fields.get("word")
    if isinstance(named, str) and named:
        return named
    match = _NAMING.search(line.text.lower())
    return match[1] if match and thing_called(match[1]) else ""


def _unasked(speaker: Speaker, word: str) -> str:
    """Something that is true of my word and that nobody has asked for."""
    thing = thing_called(word)
    visible = speaker.reading.visible_text
    asked = {attribute_asked(line.text) for line in speaker.reading.discussion}
    clauses = [
        clause
        for name, attribute in attributes().items()
        if thing is not None and name in thing.holds and name not in asked
        for clause in attribute.yes
        if clause not in visible
    ]
    return speaker.dice.choice(clauses) if clauses else ""


def _said(speaker: Speaker, truth: Truth, asked: str) -> Spoken:
    reading = speaker.reading
    if truth == "unsure":
        texts = untold(reading, "unsure", GAMES) or own_or_common(reading, "unsure")
        spoken = speaker.dress(texts, "answer", "I cannot say for certain, so I will not")
        return remarked(speaker, spoken, "answered", is_last=True)
    attribute = attributes()[asked]
    clauses = attribute.yes if truth == "yes" else attribute.no
    clause = speaker.dice.choice(clauses)
    texts = untold(reading, truth, GAMES, clause=clause) or own_or_common(reading, truth, clause=clause)
    aim = f"the true answer is {truth}, and I give it without the word"
    return remarked(
        speaker, speaker.dress(texts, "answer", aim, own=_WITH_OWN_LINE), "answered", is_last=True
    )


def _word_for(branch: Branch, truth: Truth) -> str:
    words = branch.words_of("answer")
    if truth in words:
        return truth
    return next((word for word in words if word not in {"yes", "no"}), "no")
