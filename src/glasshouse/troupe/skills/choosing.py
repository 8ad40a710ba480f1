"""Choosing: a specialist to call, when the talk calls for one.

Chosen by a field `use` or `specialist` with the words it may be. Always holds: one is chosen only if what was said since the
player spoke last has words in common with it, and nobody of that name is there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from glasshouse.troupe.schema import chosen_word
from glasshouse.troupe.skills.branches import Branch, Reply, with_line
from glasshouse.troupe.speaking import Speaker
from glasshouse.troupe.vocabulary import stems_of

akin_chars_min: Final = 5
"""Words that begin alike for this long are taken as akin."""

_CHOICES: Final = ("use", "specialist")


def chosen(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """The specialist that was spoken of most; none if none was."""
    reading = speaker.reading
    if not any(branch.words_of(field) for branch in branches for field in _CHOICES):
        return None
    heard = reading.stems_heard
    best: tuple[int, Branch, str, str] | None = None
    for branch in branches:
        for field in _CHOICES:
            for word in branch.words_of(field):
                score = akin(_described(branch, field, word), heard) if word not in reading.around else 0
                if score and (best is None or score > best[0]):
                    best = (score, branch, field, word)
    spoken = speaker.dress(["{X} want{s} somebody who knows"], "offer") if best is not None else None
    if best is not None and spoken is not None:
        _, branch, field, word = best
        aim = f"{spoken.thought} For that there is {word}."
        return with_line(branch, spoken._replace(thought=aim), **{field: word})
    return _only_choice(speaker, branches, heard)


def akin(text: str, heard: frozenset[str]) -> int:
    """How many of a text's words were heard, in this or a kindred form."""
    words = stems_of(text.replace("-", " ").replace("_", " "))
    starts = {word[:akin_chars_min] for word in heard if len(word) >= akin_chars_min}
    return sum(
        word in heard or (len(word) >= akin_chars_min and word[:akin_chars_min] in starts) for word in words
    )


def _described(branch: Branch, field: str, word: str) -> str:
    """A word and, where it is a branch's only one, what the schema says about it."""
    schema: Any = branch.fields[field]
    said = str(branch.schema.get("description", "")) if len(branch.words_of(field)) == 1 else ""
    return f"{word} {said} {schema.get('description', '')}" if said else word


def _only_choice(speaker: Speaker, branches: Sequence[Branch], heard: frozenset[str]) -> Reply | None:
    """Where choosing is all that is asked, the likeliest."""
    real = [branch for branch in branches if not branch.is_passing]
    if len(real) != 1:
        return None
    for field in _CHOICES:
        words = real[0].words_of(field)
        if words:
            return Reply(real[0], {field: chosen_word(words, heard, speaker.dice)})
    return None
