"""Memory: which of the lines that a creature heard stand in its prompt. It has no store of its own.

Always holds: the discussion is the newest lines. When the window is full its older half is dropped at once, so that the
text before the newest line stays the same for half a window. What is remembered stands in no other section, has at most
`memory_lines_max` lines, and is chosen with whole numbers only, so that every machine chooses the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from functools import lru_cache
from itertools import islice
from typing import Final

from glasshouse.events import kinds
from glasshouse.turns.character import Character
from glasshouse.turns.lines import NumberedLines
from glasshouse.turns.moment import Moment
from glasshouse.turns.reading import content_words
from glasshouse.turns.tables import heard_lines_max

memory_lines_max: Final = 6
reflections_max: Final = 3
disturbances_max: Final = 3
striking_lines_max: Final = 16
cause_words_max: Final = 12
interests_words_max: Final = 16
lines_a_word_max: Final = 8
interests_cache_characters_max: Final = 1_024

_CAUSE_WEIGHT: Final = 3
_INTEREST_WEIGHT: Final = 1
_NAMED_WEIGHT: Final = 4
_NO_WORDS: Final[frozenset[str]] = frozenset()


def window_start(window: int, lines_count: int) -> int:
    """How many of the lines heard so far have left the window."""
    if lines_count <= window:
        return 0
    half = max(1, (window + 1) // 2)
    return half * -(-(lines_count - window) // half)


def discussed_lines(moment: Moment, lines: NumberedLines) -> range:
    """The indexes of the discussion: for a judge all there are, for others the window."""
    indexes = lines.indexes
    if moment.character.role == "judge":
        return indexes
    left = window_start(moment.character.memory.window, moment.lines_before + len(indexes))
    return indexes[max(0, left - moment.lines_before) :]


def disturbance_lines(moment: Moment, lines: NumberedLines) -> list[int]:
    """The newest of a visitor's lines that a full window would still hold, oldest first."""
    said = lines.kinds.get(kinds.USER_INJECTED, [])[-disturbances_max:]
    if not said:
        return said
    newest = lines.indexes[-max(moment.character.memory.window, 1) :]
    return [index for index in said if index in newest]


def remembered_lines(
    moment: Moment, lines: NumberedLines, shown: Set[int], about: Collection[str]
) -> list[int]:
    """The most salient lines that are not shown already, oldest first; own reflections go before others' lines."""
    first, readings = lines.first, lines.readings
    count = len(readings)
    oldest = max(0, count - heard_lines_max)
    since = oldest - heard_lines_max // 4
    scored: list[int] = []
    for index, relevance in _relevances(moment, lines, shown, about).items():
        at = index - first
        if at >= oldest:
            # One number for the score and the index, so that the newer of two lines goes first.
            scored.append(relevance * readings[at].importance * (at - since) * count + at)
    scored.sort(reverse=True)
    return _chosen(lines, [number % count + first for number in scored], shown)


def _relevances(
    moment: Moment, lines: NumberedLines, shown: Set[int], about: Collection[str]
) -> dict[int, int]:
    """How much each line that comes to mind has to do with what is asked, and with what its creature is after."""
    interests = interests_of(moment.character)
    reflections = lines.kinds.get(kinds.AGENT_REFLECTED, ())
    striking = {*lines.striking[-striking_lines_max:], *reflections[-striking_lines_max:]} - shown
    relevances: dict[int, int] = {}
    for weight, words, words_max in (
        (_CAUSE_WEIGHT, about, cause_words_max),
        (_INTEREST_WEIGHT, interests, interests_words_max),
    ):
        for indexes in _rarest(lines, words, words_max):
            for index in indexes[-lines_a_word_max:]:
                if index not in shown:
                    relevances[index] = relevances.get(index, 1) + weight
    wanted, cared_for = (frozenset(about), frozenset(interests)) if striking else (_NO_WORDS, _NO_WORDS)
    for index in striking:
        words = lines.reading(index).words
        relevances[index] = (
            1
            + _CAUSE_WEIGHT * len(wanted.intersection(words))
            + _INTEREST_WEIGHT * len(cared_for.intersection(words))
        )
    for index in lines.naming(moment.creature_id, moment.handle)[-striking_lines_max:]:
        if index not in shown:
            relevances[index] = relevances.get(index, 1) + _NAMED_WEIGHT
    return relevances


def _rarest(lines: NumberedLines, words: Iterable[str], words_max: int) -> Iterable[list[int]]:
    """Where the rarest of these words were said: a word that everybody uses tells little."""
    by_word = lines.words
    said = [by_word[word] for word in words if word in by_word]
    return said if len(said) <= words_max else islice(sorted(said, key=len), words_max)


def _chosen(lines: NumberedLines, best_first: list[int], shown: Set[int]) -> list[int]:
    first, readings = lines.first, lines.readings
    taken = {readings[index - first].body for index in shown}
    has_reflections = kinds.AGENT_REFLECTED in lines.kinds
    reflections: list[int] = []
    others: list[int] = []
    for index in best_first:
        reading = readings[index - first]
        if reading.body in taken:
            continue
        is_reflection = has_reflections and reading.kind == kinds.AGENT_REFLECTED
        mind, room = (reflections, reflections_max) if is_reflection else (others, memory_lines_max)
        if len(mind) < room:
            mind.append(index)
            taken.add(reading.body)
        elif not has_reflections:
            break
    return sorted(reflections + others[: memory_lines_max - len(reflections)])


@lru_cache(maxsize=interests_cache_characters_max)
def interests_of(character: Character) -> tuple[str, ...]:
    """The words that a creature's wants and cares are about."""
    return content_words(" ".join((character.wants, *character.cares_about)))
