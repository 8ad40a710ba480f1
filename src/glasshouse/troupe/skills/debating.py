"""Debating: a case that is opened, held against the other side's, and closed.

Chosen by a field `part` whose words have an opening and a closing among them. Always holds: a rebuttal meets the newest
point of the other side on the ground that it was made on; no ground is brought in twice while another is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reactions import stance_of
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.schema import is_ref
from glasshouse.troupe.skills.branches import Branch, Reply, sentences, untold, with_line
from glasshouse.troupe.skills.world_topic import matter_of
from glasshouse.troupe.speaking import Speaker
from glasshouse.troupe.vocabulary import WORD

BOOK: Final = "debate.txt"
grounds_cache_texts_max: Final = 2_048
lines_made_max: Final = 6
motion_words_max: Final = 7
opener_words_max: Final = 3

_PARTS: Final = ("opening", "rebuttal", "closing")
_SIDES: Final = {"favour": "for", "oppose": "against"}
_WITH_OWN_LINE: Final = 0.3
_NEW_GROUND: Final = 0.6


def argued(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """My side's next speech; of the one who only gives the floor, a word on what comes now."""
    branch = next((one for one in branches if {"opening", "closing"} <= set(one.words_of("part"))), None)
    if branch is None:
        return None
    reading = speaker.reading
    ref = next((name for name, schema in branch.fields.items() if is_ref(schema)), "")
    part = _part_now(reading, is_speaker=bool(ref))
    if not ref:
        return _floor(speaker, branch, part)
    side = _SIDES.get(stance_of(reading.me), "for")
    target, point = _to_be_met(reading)
    if target is not None and not speaker.topic.owed:
        _turn_to_the_point(speaker, target, point)
    texts = _speeches(speaker, part, side, point)
    act = "favour" if side == "for" else "oppose"
    spoken = speaker.dress(texts, act, f"this is the time for my {part}", own=_WITH_OWN_LINE)
    return with_line(branch, spoken, part=part, **({ref: target.ref} if target is not None else {}))


class Point(NamedTuple):
    """One sentence of a speech: what it rests on, and whether it brings that in or meets what the other side brought."""

    ground: str
    is_answer: bool
    place: int
    number: int = 0
    """Which of the book's sentences on this ground it is."""


@lru_cache(maxsize=grounds_cache_texts_max)
def points_of(text: str) -> tuple[Point, ...]:
    """The points a speech makes, in its order: by the book's sentences, else by single words that point to a ground."""
    lower = text.lower()
    found = [
        Point(ground, is_answer, at, number)
        for ground, is_answer, number, fixed in _fixed_parts()
        if (at := lower.find(fixed)) >= 0
    ]
    if not found:
        words = set(WORD.findall(lower))
        named = (name for name, _, cues in shelf.rows("grounds.tsv") if words & set(cues.split()))
        found = [Point(name, is_answer=False, place=0) for name in named][:1]
    return tuple(sorted(found, key=lambda one: one.place))


def standing_points(reading: Reading, handle: str) -> list[tuple[Heard, Point]]:
    """What somebody brought in and nobody on the other side has met since, oldest first."""
    speeches = [line for line in (*reading.remembered, *reading.discussion) if is_speech(line)]
    brought = [
        (at, line, point)
        for at, line in enumerate(speeches)
        if line.handle == handle
        for point in points_of(line.text)
        if not point.is_answer
    ]
    met = [
        (at, point.ground)
        for at, line in enumerate(speeches)
        if line.handle != handle
        for point in points_of(line.text)
        if point.is_answer
    ]
    return [
        (line, point)
        for at, line, point in brought
        if not any(ground == point.ground and after > at for after, ground in met)
    ]


def ground_called(name: str) -> str:
    """How one speaks of a ground."""
    return next((called for ground, called, _ in shelf.rows("grounds.tsv") if ground == name), name)


def is_speech(line: Heard) -> bool:
    """Whether a line is a speech of one side."""
    return line.origin == "cast" and line.fields.get("part") in _PARTS and len(line.fields) > 1


@lru_cache(maxsize=1)
def _fixed_parts() -> tuple[tuple[str, bool, int, str], ...]:
    """The longest part of each sentence in the book that stands on a ground, with that ground and whether it answers."""
    grounds = {row[0] for row in shelf.rows("grounds.tsv")}
    return tuple(
        (
            heading.split()[0],
            " met " in heading,
            number,
            max(text.lower().replace("<motion>", "\n").split("\n"), key=len).strip(),
        )
        for heading, texts in shelf.sections(BOOK).items()
        if heading.split()[0] in grounds
        for number, text in enumerate(texts)
    )


def _part_now(reading: Reading, *, is_speaker: bool) -> str:
    """Which part of the debate it is, by what the world and the chair said last."""
    own = [line for line in reading.discussion if reading.is_mine(line)]
    if is_speaker and not any(is_speech(line) for line in own):
        return "opening"
    for line in reversed(reading.discussion):
        if line.origin == "world":
            lower = line.text.lower()
            part = next((one for one in reversed(_PARTS) if one in lower), "rebuttal")
            return "rebuttal" if is_speaker and part == "opening" else part
    return "rebuttal"


def _floor(speaker: Speaker, branch: Branch, part: str) -> Reply:
    """What the chair says: to what came from outside, or at the beginning of a part."""
    cause = speaker.reading.cause
    is_begun = cause is not None and cause.origin == "world"
    heading = f"chair {part}" if is_begun else "chair order"
    texts = sentences(heading, BOOK, motion=_motion(speaker.reading))
    return with_line(
        branch, speaker.dress(texts, "appraise", f"now the {part}", own=_WITH_OWN_LINE), part=part
    )


def _to_be_met(reading: Reading) -> tuple[Heard | None, Point | None]:
    """The speech of the other side that I answer, and the newest point in it that stands."""
    speeches = [line for line in reading.discussion if is_speech(line) and not reading.is_mine(line)]
    if not speeches:
        return reading.cause or (reading.heard[-1] if reading.heard else None), None
    left = standing_points(reading, speeches[-1].handle)
    return left[-1] if left else (speeches[-1], None)


def _turn_to_the_point(speaker: Speaker, target: Heard, point: Point | None) -> None:
    """Speak of a thing in the sentence that makes the point."""
    start = point.place if point is not None else 0
    end = target.text.find(". ", start) % (len(target.text) + 1)
    motion = _motion(speaker.reading).lower()
    named = [
        noun
        for noun in nouns_in(target.text)
        if start <= noun.start <= end and noun.det and not noun.is_word and noun.head.lower() not in motion
    ]
    if named:
        speaker.turn_to(named[0])
    elif point is not None:
        called = ground_called(point.ground)
        speaker.turn_to(Noun(called.split()[-1], called, 1.0, is_name=True), called)


def _motion(reading: Reading) -> str:
    """The motion in full; a long one that the cast has named already, shortly."""
    matter = matter_of(reading)
    if matter is None:
        return "the motion"
    is_long = len(matter.text.split()) > motion_words_max
    is_named = any(matter.text in line.text for line in reading.discussion if line.origin == "cast")
    return matter.noun.indefinite if is_long and is_named else matter.text


def _speeches(speaker: Speaker, part: str, side: str, met: Point | None) -> list[str]:
    reading, dice = speaker.reading, speaker.dice
    motion = _motion(reading)
    mine = [line for line in reading.discussion if reading.is_mine(line)]
    used = [point.ground for line in mine for point in points_of(line.text)]
    fresh = _fresh_grounds(used, dice)
    if part == "opening":
        claims = [_unsaid(speaker, f"{ground} {side}", motion) for ground in fresh[:2]]
        leads = _leads(reading, "opening lead", motion=motion)
        long = [f"{lead}. {'. '.join(claims)}" for lead in leads]
        return _fitting(reading, long, [f"{lead}. {claims[0]}" for lead in leads], claims)
    if part == "closing":
        left = standing_points(reading, reading.me.handle)
        ground = ground_called(left[-1][1].ground if left else (used or fresh)[0])
        ends = sentences(f"closing {side}", BOOK, motion=motion)
        return [f"{lead}. {dice.choice(ends)}" for lead in _leads(reading, "closing lead", ground=ground)]
    answer = sentences(f"{met.ground} met {side}", BOOK, motion=motion)[met.number] if met is not None else ""
    leads = _leads(reading, "rebuttal lead")
    made = []
    for lead in dice.sample(leads, min(lines_made_max, len(leads))):
        text = f"{lead}. {answer}" if answer else lead
        if not answer or dice.random() < _NEW_GROUND:
            ground = next((one for one in fresh if met is None or one != met.ground), fresh[0])
            claim = _unsaid(speaker, f"{ground} {side}", motion)
            brought = sentences("fresh ground", BOOK, ground=ground_called(ground), claim=claim)
            text = f"{text}. {dice.choice(brought)}"
        made.append(text)
    return _fitting(reading, made, [f"{lead}. {answer}" for lead in leads] if answer else leads, [answer])


def _fitting(reading: Reading, *choices: list[str]) -> list[str]:
    """The first of some lists of speeches, from long to short, with any that keep to the words allowed."""
    room = max(1, reading.words_max - opener_words_max)
    short = ([one for one in some if one and len(one.split()) <= room] for some in choices)
    return next((some for some in short if some), choices[0])


def _leads(reading: Reading, heading: str, **gaps: str) -> list[str]:
    """The beginnings of a speech that were not used yet, as far as one can see; all, where all were."""
    return untold(reading, heading, BOOK, **gaps) or sentences(heading, BOOK, **gaps)


def _fresh_grounds(used: Sequence[str], dice: Random) -> list[str]:
    """The grounds in an order of chance, those that I have not used first."""
    names = [row[0] for row in shelf.rows("grounds.tsv")]
    return sorted(dice.sample(names, len(names)), key=used.count)


def _unsaid(speaker: Speaker, heading: str, motion: str) -> str:
    """A sentence under a heading that cannot be seen in what was said; any, where all can."""
    fresh = untold(speaker.reading, heading, BOOK, motion=motion)
    return speaker.dice.choice(fresh or sentences(heading, BOOK, motion=motion))
