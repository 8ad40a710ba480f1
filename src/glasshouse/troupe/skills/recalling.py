"""Recalling: who remembers everything and is asked for something that was said long ago answers with the line that it remembers.

Always holds: what is said of a line is one of its sentences, in the words in which it was spoken, with who said it; thoughts are not told; a memory is
searched once in an act, and only if somebody asks what was; where nothing comes back, the talk goes on as if nobody had searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.kinds import INNER, RECALL
from glasshouse.troupe.reading import Reading, value_in
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    call,
    speaking_branch,
    with_gaps_filled,
    with_line,
)
from glasshouse.troupe.skills.looking_up import question_for_a_fact, things_of
from glasshouse.troupe.speaking import Speaker
from glasshouse.troupe.vocabulary import stems_of

BOOK: Final = "tools.txt"
remembered_words_max: Final = 24
"""Of a sentence that is remembered, this much is said."""
stems_shared_min: Final = 2
"""A line answers a question if they share so many words, or all that the question has."""

_OF_THE_PAST: Final = re.compile(
    r"\b(?:remember|recall|said|say|told|tell|ever|once|before|earlier|first|ago|used|was|were|did|had|happened|became)\b"
)
_LINE: Final = re.compile(r'(.+?) \((\w+), ([\w.]+)\): ("(?:[^"\\]|\\.)*")')
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_FAR: Final = "-"
"""How the number of a line from far back begins."""


class Memory(NamedTuple):
    """A sentence that was said long ago."""

    who: str
    sentence: str
    is_mine: bool


def remembered(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """What I remember of what I am asked, or a search for it; none where nobody asks for the past."""
    reading = speaker.reading
    speaking = speaking_branch(branches)
    said = next((past for past in reading.tools_said if past.tool == RECALL), None)
    if said is not None:
        memory = (
            _best(_memories_in(said.text, reading), str(said.arguments.get("words", "")))
            if said.is_ok
            else None
        )
        return None if speaking is None or memory is None else _reported(speaker, speaking, memory)
    question = question_for_a_fact(reading)
    if question is None:
        return None
    memory = _best(_far(reading), question)
    if memory is not None and speaking is not None:
        return _reported(speaker, speaking, memory)
    branch = next((branch for branch in branches if branch.tool == RECALL), None)
    things = things_of(reading, question) if _OF_THE_PAST.search(question.lower()) else []
    if branch is None or not things:
        return None
    return call(branch, {"words": ", ".join(things)}, "That was long ago. I think back before I speak.")


def _far(reading: Reading) -> list[Memory]:
    """What others and I said long ago, as far as the prompt shows it."""
    far = [line for line in reading.remembered if line.ref.startswith(_FAR) and line.kind not in INNER]
    return [
        Memory(line.handle, sentence, reading.is_mine(line))
        for line in far
        for sentence in _sentences(line.text)
    ]


def _memories_in(answer: str, reading: Reading) -> list[Memory]:
    """The same, as a memory that was searched tells it."""
    memories: list[Memory] = []
    for match in map(_LINE.match, answer.split("\n")):
        if match is None or match[3] in INNER:
            continue
        text = value_in(match[4])
        for sentence in _sentences(text) if isinstance(text, str) else ():
            memories.append(Memory(match[1], sentence, match[1] == reading.me.handle))
    return memories


def _sentences(text: str) -> list[str]:
    """The sentences of a text that tell something."""
    return [
        sentence for sentence in map(str.strip, _SENTENCES.split(text)) if sentence and sentence[-1] != "?"
    ]


def _best(memories: Iterable[Memory], question: str) -> Memory | None:
    """The memory that shares the most words with a question; of equal ones, the first."""
    wanted = stems_of(question)
    enough = min(stems_shared_min, len(wanted))
    best: tuple[int, Memory] | None = None
    for memory in memories:
        points = len(wanted & stems_of(memory.sentence))
        if points >= max(enough, 1) and (best is None or points > best[0]):
            best = (points, memory)
    return None if best is None else best[1]


def _reported(speaker: Speaker, branch: Branch, memory: Memory) -> Reply:
    words = memory.sentence.split()[:remembered_words_max]
    gaps = {"who": memory.who, "answer": " ".join(words).rstrip(".,;: ")}
    texts = with_gaps_filled(shelf.sections(BOOK)["own memory" if memory.is_mine else "memory"], gaps)
    return with_line(branch, speaker.dress(texts, "answer", "I remember it as it was said"))
