"""Weighing: what each line of a contest is worth to the judge, and how the verdict is worded.

The lines show which contest it is: a tale, a debate, or contributions that build on each other. Always holds: a piece
of a tale is worth what it takes up from the lines of others; a speech is worth the points that nobody has met; a
contribution is worth as much as others built on it. Only lines that the judge can see are weighed. The numbers may be
tuned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reactions import calling_of
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.skills import contributing, debating, telling
from glasshouse.troupe.skills.branches import own_lines, sentences, with_gaps_filled
from glasshouse.troupe.vocabulary import stems_of

lines_back_max: Final = 8
"""A tale is weighed by what it took from this many lines before each piece."""
words_even: Final = 10
"""Long pieces and short ones are weighed as if they had so many words."""
words_of_a_piece_min: Final = 20
"""A shorter piece of a tale is weighed as one of so many words, so that brevity alone does not win."""

_CARRIED: Final = 0.8
_POINT: Final = 1.0
_MADE_GOOD: Final = 10.0
"""A point that was met and made good is the stronger one, beside any number that nobody tried."""
_MET: Final = 0.13
_OLDEST: Final = 0.06
"""Where both sides have as many points left, it decides who met more; where that is even, whose has stood longest."""
_BUILT: Final = 0.8

Weight = tuple[float, Heard]


class Contest(NamedTuple):
    """What is judged: the lines that count, and the book that its verdict is spoken from."""

    book: str
    lines: list[Heard]


def contest_in(reading: Reading) -> Contest | None:
    """What kind of contest the lines make; none if they make none of these."""
    cast = [line for line in reading.discussion if line.origin == "cast" and line.text]
    tales = [line for line in cast if calling_of(line.kind) == "tell"]
    if tales:
        return Contest(telling.BOOK, tales)
    argued = [line for line in cast if debating.is_speech(line)]
    if argued:
        return Contest(debating.BOOK, argued)
    built = [line for line in cast if contributing.FIELD in line.fields]
    return Contest(contributing.BOOK, built) if built else None


def weighed(reading: Reading) -> list[Weight]:
    """Every line that counts in such a contest, with its worth."""
    contest = contest_in(reading)
    if contest is None:
        return []
    if contest.book == telling.BOOK:
        return [(_CARRIED * _carried(reading, line), line) for line in contest.lines]
    if contest.book == contributing.BOOK:
        return _most_built_on(reading, contest.lines)
    handles = dict.fromkeys(line.handle for line in contest.lines)
    standing = [entry for handle in handles for entry in debating.standing_points(reading, handle)]
    left = [line for line, _ in standing]
    if not left:
        # To have met everything is no victory where nothing of one's own is left.
        return []
    met = [line for handle in handles for line in debating.lines_that_met(reading, handle)]
    oldest = min(left, key=contest.lines.index, default=None)
    return [
        *((_POINT + (_OLDEST if line is oldest else 0.0), line) for line in left),
        *((_MADE_GOOD, line) for line, point in standing if point.is_held),
        *((_MET, line) for line in met),
    ]


def counts_talk(reading: Reading) -> bool:
    """Whether a contestant gets something for having spoken; in a debate only what was left standing counts."""
    contest = contest_in(reading)
    return contest is None or contest.book != debating.BOOK


def outcome(reading: Reading, winner: str) -> str:
    """What the victory of somebody means: a motion is carried or lost; in any other contest it is theirs."""
    contest = contest_in(reading)
    if contest is None or contest.book != debating.BOOK:
        return "won"
    fate = debating.vote(reading, winner)[1].get("fate")
    return "carried" if fate == "carried" else "lost"


def reasons(reading: Reading, winner: str, lines: Sequence[Heard], gaps: dict[str, str]) -> list[str]:
    """How the verdict of such a contest is put; empty if it is none."""
    contest = contest_in(reading)
    if contest is None:
        return []
    more = dict(gaps)
    if contest.book == debating.BOOK:
        how, said = debating.vote(reading, winner)
        own = own_lines(reading, f"verdict {how}")
        if own:
            # A judge reads labels in place of names; its part can say who it is that speaks for a motion.
            called = own_lines(reading, f"winner {said.get('fate')}")
            more |= {"winner": called[0]} if called else {}
            return with_gaps_filled(own, {**more, **said})
        more |= _grounds_of(reading, winner)
    elif contest.book == contributing.BOOK and lines:
        brought = contributing.things_brought(reading, lines[0], is_new=True)
        more["detail"] = brought[0].definite if brought else gaps["detail"]
        more["count"] = shelf.entries("counting.txt")[len({*contributing.built_on(reading, lines[0])})]
    elif lines:
        own = own_lines(reading, "verdict")
        if winner and own:
            return with_gaps_filled(own, {**gaps, **telling.brought_home(reading, winner)})
        more["detail"], more["call"] = _things_shared(reading, winner, lines)
    return sentences("verdict" if winner else "verdict nobody", contest.book, **more)


def _most_built_on(reading: Reading, lines: Sequence[Heard]) -> list[Weight]:
    """Of each contributor the one line on which most was built: the most worthwhile is one contribution, and no sum."""
    best: dict[str, Weight] = {}
    for line in lines:
        worth = _BUILT * len(contributing.built_on(reading, line))
        if worth > best.get(line.handle, (0.0, line))[0]:
            best[line.handle] = (worth, line)
    return list(best.values())


def _carried(reading: Reading, line: Heard) -> float:
    """How much of what others had said lately a piece of a tale has in it."""
    at = reading.discussion.index(line)
    before = reading.discussion[max(0, at - lines_back_max) : at]
    heard = frozenset[str]().union(*(stems_of(other.text) for other in before if other.handle != line.handle))
    words = stems_of(line.text)
    return words_even * len(words & heard) / max(words_of_a_piece_min, len(words))


def _grounds_of(reading: Reading, winner: str) -> dict[str, str]:
    left = [point.ground for _, point in debating.standing_points(reading, winner)] if winner else []
    called = [debating.ground_called(ground) for ground in dict.fromkeys(reversed(left))]
    return {"ground": called[0] if called else "", "other": called[1] if len(called) > 1 else ""}


def _things_shared(reading: Reading, winner: str, lines: Sequence[Heard]) -> tuple[str, str]:
    """Two things in the winner's lines that most of the other lines speak of, too."""
    texts = [
        line.text.lower() for line in reading.discussion if line.origin == "cast" and line.handle != winner
    ]
    heroes = {row[1].split()[-1] for row in shelf.rows("heroes.tsv")}
    nouns: dict[str, Noun] = {}
    for line in lines:
        for noun in nouns_in(line.text):
            if noun.det and not noun.is_word and noun.head.lower() not in {*reading.names, *heroes}:
                nouns.setdefault(noun.head.lower(), noun)
    counts = Counter({head: sum(head in text for text in texts) for head in nouns})
    shared = [nouns[head].definite for head, _ in counts.most_common(2)]
    return (shared[0] if shared else "what was said", shared[1] if len(shared) > 1 else "")
