"""Far lines: what a creature with long memory recalls beside the lines that its moment holds.

A search finds lines from everything that it ever heard or said; here is what it searches for, and which of the lines that were found its
prompt shows. Always holds: these rules are pure, and count the points of ADR 0095. What is shown follows from the moment alone, so a replay that is
given the same far lines builds the same prompt. A far line has a negative number: `-1` is the newest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from glasshouse.events import kinds
from glasshouse.turns.moment.line_text import Reading, content_words, reading_of
from glasshouse.turns.moment.moment import FarLine, Moment, shared_moment
from glasshouse.turns.prompts.closing import Answered, answered_by
from glasshouse.turns.prompts.lines import (
    NumberedLines,
    cause_words_max,
    discussed_lines,
    interests_of,
    is_named_in,
    memory_lines_max,
    numbered_lines,
    reflections_max,
)

lines_told_max: Final = 8
"""The tool `recall` gives no more lines."""
points_max: Final = 4
"""More points of a line count as so many."""


class Recalled(NamedTuple):
    """A line that may be recalled, near or far, and how good it is."""

    at: int
    """Its index: counted from the end if it is far."""
    points: int
    is_reflection: bool


def words_sought(moment: Moment) -> tuple[str, ...]:
    """What a creature searches its memory for: the words of what it answers. Of more than twelve, the twelve in the fewest lines that
    its moment holds."""
    moment = shared_moment(moment)
    lines = numbered_lines(moment)
    return _rarest(
        lines, words_answered(moment, lines, answered_by(moment, lines, discussed_lines(moment, lines)))
    )


def words_answered(moment: Moment, lines: NumberedLines, answered: Answered) -> tuple[str, ...]:
    """The words of what is answered: of the cause, or on a tick of the newest line."""
    if answered.line_index is not None and not answered.is_turn:
        return lines.reading(answered.line_index).words
    text = moment.cause.payload.get("text")
    if moment.is_tick or not isinstance(text, str):
        return lines.readings[-1].words if lines.first < lines.stop else ()
    return content_words(text)


def _rarest(lines: NumberedLines, words: Sequence[str]) -> tuple[str, ...]:
    if len(words) <= cause_words_max:
        return tuple(words)
    seen = -1 << lines.first - lines.base
    return tuple(
        sorted(words, key=lambda word: (lines.words.get(word, 0) & seen).bit_count())[:cause_words_max]
    )


def chosen_far_lines(
    moment: Moment, candidates: Iterable[FarLine], words: Collection[str]
) -> tuple[FarLine, ...]:
    """The lines that are kept for a moment, oldest first, of those that a search found, newest first.

    Left out are lines that the moment holds anyway, and texts that were said again later.
    """
    moment = shared_moment(moment)
    lines = numbered_lines(moment)
    said = {*lines.newest_with}
    kept: list[tuple[FarLine, Recalled]] = []
    for number, candidate in enumerate(candidates):
        reading = reading_of(candidate.event, candidate.known_as)
        event_id = candidate.event.id
        if lines.index_of(event_id) is None and event_id != moment.cause.id and reading.body not in said:
            said.add(reading.body)
            kept.append((candidate, _recalled(moment, reading, words, -number - 1)))
    best = {line.at for line in best_of([line for _, line in kept])}
    return tuple([candidate for candidate, line in reversed(kept) if line.at in best])


def told_apart(lines: Iterable[FarLine], cause: str) -> list[FarLine]:
    """The lines that the tool `recall` gives, the best first: without what is answered, each text once, at most `lines_told_max`."""
    by_body: dict[str, FarLine] = {}
    for line in lines:
        if line.event.id != cause:
            by_body.setdefault(reading_of(line.event, line.known_as).body, line)
    return [*by_body.values()][:lines_told_max]


def recalled_near_and_far(
    moment: Moment, lines: NumberedLines, near: Mapping[int, int], words: Sequence[str]
) -> list[int]:
    """The indexes of the lines that a prompt recalls, oldest first: the best of the far lines and of those near. `near` gives the points of
    the latter."""
    reflected = {index for index in near if lines.reading(index).kind == kinds.AGENT_REFLECTED}
    near_lines = [Recalled(index, points, index in reflected) for index, points in near.items()]
    return [line.at for line in best_of([*_far_recalled(moment, lines, words), *near_lines])]


def _far_recalled(moment: Moment, lines: NumberedLines, words: Sequence[str]) -> list[Recalled]:
    """The far lines of a moment with their points."""
    far = moment.recalled
    words = _rarest(lines, words)
    readings = [reading_of(line.event, line.known_as) for line in far]
    return [_recalled(moment, reading, words, number - len(far)) for number, reading in enumerate(readings)]


def _recalled(moment: Moment, reading: Reading, words: Collection[str], index: int) -> Recalled:
    is_own = reading.actor == moment.creature_id
    reasons = (
        not set(reading.words).isdisjoint(interests_of(moment.character)),
        reading.is_striking,
        not is_own and is_named_in(reading.body, moment.handle),
    )
    points = sum(word in reading.words for word in words) + sum(reasons)
    return Recalled(index, min(points, points_max), reading.kind == kinds.AGENT_REFLECTED)


def best_of(recalled: Iterable[Recalled]) -> list[Recalled]:
    """The lines that a prompt recalls, oldest first: up to three own reflections, then those with the most points; of lines with as many,
    the newest."""
    best = sorted(recalled, key=lambda line: (-line.points, -line.at))
    reflections = [line for line in best if line.is_reflection][:reflections_max]
    others = [line for line in best if not line.is_reflection][: memory_lines_max - len(reflections)]
    return sorted([*reflections, *others], key=lambda line: line.at)


def texts_recalled(moment: Moment, lines: NumberedLines, indexes: Sequence[int]) -> list[str]:
    """The physical lines of all that is recalled, far and near."""
    if not moment.recalled:
        return lines.texts(indexes)
    far = [index for index in indexes if index < 0]
    readings = [reading_of(moment.recalled[index].event, moment.recalled[index].known_as) for index in far]
    texts = [lines.written(str(index), reading) for index, reading in zip(far, readings, strict=True)]
    return [*texts, *lines.texts(indexes[len(far) :])]


def ids_recalled(moment: Moment, lines: NumberedLines, indexes: Sequence[int]) -> tuple[str, ...]:
    """The event ids of the same lines."""
    if not moment.recalled:
        return lines.ids_of(indexes)
    far = [moment.recalled[index].event.id for index in indexes if index < 0]
    return (*far, *lines.ids_of(indexes[len(far) :]))
