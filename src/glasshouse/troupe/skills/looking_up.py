"""Looking up: who has documents and is asked for a fact looks there first, and says what stands there and in which file.

Always holds: only a question that asks for a thing is looked up, once in an act; what is said of a file is one of its
sentences, with the file named; where nothing was found, the talk goes on as if nobody had looked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.kinds import LOOK_UP
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.salience import sayable_in
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    call,
    speaking_branch,
    with_gaps_filled,
    with_line,
)
from glasshouse.troupe.speaking import Speaker
from glasshouse.troupe.vocabulary import stems_of

BOOK: Final = "tools.txt"
things_looked_up_max: Final = 4
"""A question is looked up by so many of its things at most."""
quoted_words_max: Final = 24
"""Of a sentence that was found, this much is said."""

_QUESTION: Final = re.compile(r"[^.!?]+\?")
_FOR_A_FACT: Final = re.compile(
    r"\b(?:where|who|whose|when|why|how|what|which|is|are|was|were|does|do|did|can|may)\b"
)
_FOR_A_MIND: Final = re.compile(
    r"\b(?:do|did|would|will|could|can|are|were|have) you\b|\byour (?:view|opinion)\b|\bof us\b"
)
"""Questions about whoever is asked: no file answers them."""
_FOUND: Final = re.compile(
    r"(\S[^\n]*), lines? \d+(?: to \d+)?:\n(.*?)(?=\n\n\S[^\n]*, lines? \d+(?: to \d+)?:\n|\Z)", re.DOTALL
)
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")


class Found(NamedTuple):
    """A sentence of a document."""

    file: str
    sentence: str


def looked_up(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A call of the tool, or what it found; none where nobody asks for a fact or there is nothing to look in."""
    said = next((past for past in speaker.reading.tools_said if past.tool == LOOK_UP), None)
    if said is not None:
        speaking = speaking_branch(branches)
        wanted = f"{said.arguments.get('words', '')} {question_for_a_fact(speaker.reading) or ''}"
        sentence = _best_sentence(said.text, wanted) if said.is_ok else None
        return None if speaking is None or sentence is None else _reported(speaker, speaking, sentence)
    branch = next((branch for branch in branches if branch.tool == LOOK_UP), None)
    asked = None if branch is None else question_for_a_fact(speaker.reading)
    things = [] if asked is None else things_of(speaker.reading, asked)
    if branch is None or not things:
        return None
    return call(branch, {"words": ", ".join(things)}, "They ask for a fact. I look it up before I speak.")


def question_for_a_fact(reading: Reading) -> str | None:
    """The question that I answer now, from its first word of asking on, if a file might answer it."""
    lines: list[Heard] = [
        *([reading.cause] if reading.cause is not None else []),
        *reversed(reading.fresh[-1:]),
    ]
    for line in lines:
        questions = [question.strip() for question in _QUESTION.findall(line.text)]
        for question in reversed(questions):
            lower = question.lower()
            asks = _FOR_A_FACT.search(lower)
            if asks is not None and not _FOR_A_MIND.search(lower):
                return str(question[asks.start() :])
    return None


def things_of(reading: Reading, question: str) -> list[str]:
    """The things that a question asks about, each once."""
    phrases = [noun.phrase.lower() for noun in sayable_in(reading, question)]
    return list(dict.fromkeys(phrases))[:things_looked_up_max]


def _reported(speaker: Speaker, branch: Branch, quoted: Found) -> Reply:
    gaps = {"file": quoted.file, "answer": quoted.sentence}
    texts = with_gaps_filled(shelf.sections(BOOK)["written"], gaps)
    # What was asked about is answered.
    speaker.topic = speaker.topic._replace(owed=())
    return with_line(branch, speaker.dress(texts, "answer", "I say what is written, and where"))


def _best_sentence(answer: str, words: str) -> Found | None:
    """The sentence of the passages that shares the most words with what was asked; none if nothing was found."""
    wanted = stems_of(words)
    best: tuple[int, Found] | None = None
    for file, passage in _FOUND.findall(answer):
        for sentence in _SENTENCES.split(passage):
            plain = sentence.strip().lstrip("#*->").strip()
            is_heading = sentence.lstrip().startswith("#")
            points = 0 if is_heading else len(wanted & stems_of(plain))
            if plain and not is_heading and (best is None or points > best[0]):
                best = (points, Found(file, _shortened(plain)))
    return None if best is None else best[1]


def _shortened(sentence: str) -> str:
    return " ".join(sentence.split()[:quoted_words_max]).rstrip(".,;: ")
