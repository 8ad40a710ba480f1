"""Debating: a case that is opened, held against the other side's, and closed.

Chosen by a field `part` whose words have an opening and a closing among them. Always holds: a rebuttal meets the newest
point of the other side on the ground that it was made on; no ground is brought in twice while another is left; a
point that was met and made good is not met again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reactions import stance_of
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.schema import is_ref
from glasshouse.troupe.skills.acting import remarked
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    counted,
    in_a_list,
    own_lines,
    own_or_common,
    passing,
    sentences,
    untold,
    with_line,
)
from glasshouse.troupe.speaking import Speaker
from glasshouse.troupe.talk.echoes import goes_in_circles
from glasshouse.troupe.vocabulary import WORD
from glasshouse.troupe.world_topic import matter_of

BOOK: Final = "debate.txt"
MOTIONS: Final = "motions.txt"
grounds_cache_texts_max: Final = 2_048
"""Kept so as not to be computed again: the points of a speech."""
lines_made_max: Final = 6
"""A rebuttal is chosen among this many at most."""
motion_words_max: Final = 5
"""A longer motion is named in full once, and shortly afterwards."""
opener_words_max: Final = 3
"""A speech leaves so much room for a word before it."""

_PARTS: Final = ("opening", "rebuttal", "closing")
_SIDES: Final = {"favour": "for", "oppose": "against"}
_WITH_OWN_LINE: Final = 0.3
_NEW_GROUND: Final = 0.55
"""How often a speaker who has met a point brings in one more."""
_MADE_GOOD: Final = 0.6
"""How often a speaker whose point was just met has something to say for it."""
_MADE_GOOD_AT_ONCE: Final = 0.42
"""The same in a first rebuttal. It is smaller, since who rebuts second has one chance more; so neither side leans."""
_LED: Final = 0.15
"""How often a speaker who has frames of its own says which point it meets, where that is the one just made."""
_INTRODUCED: Final = 0.6
"""How often such a speaker says that a point is a new one."""
made_good_max: Final = 2
"""A side makes so many of its points good: the others stay down."""


def argued(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """My side's next speech; of the one who only gives the floor, a word on what comes now."""
    parts = {"opening", "closing"}
    branch = next((branch for branch in branches if parts <= set(branch.words_of("part"))), None)
    if branch is None:
        return None
    reading = speaker.reading
    ref = next((name for name, schema in branch.fields.items() if is_ref(schema)), "")
    part = _part_now(reading, is_speaker=bool(ref))
    if not ref:
        return _floor(speaker, branch, part)
    if part == _PARTS[-1] and any(
        line.fields.get("part") == part for line in reading.discussion if reading.is_mine(line)
    ):
        return passing(branches, speaker, "pass")
    side = _SIDES.get(stance_of(reading.me), "for")
    target, point = _to_be_met(reading)
    if target is not None and not speaker.topic.owed:
        _turn_to_the_point(speaker, target, point)
    texts = [text for text in _speeches(speaker, part, side, point) if text]
    if not texts:
        # Every point was made and every point was met.
        return (
            with_line(branch, speaker.speak(branch.kind), part=part)
            if speaker.topic.owed
            else passing(branches, speaker, "pass")
        )
    act = "favour" if side == "for" else "oppose"
    spoken = speaker.dress(texts, act, f"this is the time for my {part}", own=_WITH_OWN_LINE)
    spoken = remarked(
        speaker, spoken, part, "standing" if standing_points(reading, reading.me.handle) else "met"
    )
    return with_line(branch, spoken, part=part, **({ref: target.ref} if target is not None else {}))


class Point(NamedTuple):
    """One sentence of a speech: what it rests on, and whether it brings that in or meets what the other side brought."""

    ground: str
    is_answer: bool
    start: int
    """Where in the speech it stands."""
    number: int = 0
    """Which of the book's sentences on this ground it is."""
    side: str = ""
    """The side whose claim it is, or whose claim it meets; empty where no book has it."""
    is_held: bool = False
    """Whether it makes good what was met: nothing is said against that."""


class Claim(NamedTuple):
    """One point that a side can make: what it rests on, how it is said, and how the other side meets it."""

    ground: str
    text: str
    answer: str
    number: int = 0
    held: str = ""
    """What makes it good once it was met; empty where nothing does."""


@lru_cache(maxsize=grounds_cache_texts_max)
def points_of(text: str) -> tuple[Point, ...]:
    """The points a speech makes, in its order: by the book's sentences, else by single words that point to a ground."""
    lower = text.lower()
    points = [point._replace(start=at) for point, fixed in _fixed_parts() if (at := lower.find(fixed)) >= 0]
    if not points:
        words = set(WORD.findall(lower))
        named = (name for name, _, cues in shelf.rows("grounds.tsv") if words & set(cues.split()))
        points = [Point(name, is_answer=False, start=0) for name in named][:1]
    return tuple(sorted(points, key=lambda point: point.start))


def standing_points(reading: Reading, handle: str) -> list[tuple[Heard, Point]]:
    """What somebody brought in and nobody on the other side has met since, oldest first.

    A closing brings in nothing: nobody could meet it.
    """
    speeches = [line for line in (*reading.remembered, *reading.discussion) if is_speech(line)]
    brought = [
        (at, line, point)
        for at, line in enumerate(speeches)
        if line.handle == handle and line.fields["part"] != _PARTS[-1]
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


def lines_that_met(reading: Reading, handle: str) -> list[Heard]:
    """The speeches of somebody in which a point of the other side was met."""
    speeches = [line for line in (*reading.remembered, *reading.discussion) if is_speech(line)]
    return [
        line
        for line in speeches
        if line.handle == handle and any(point.is_answer for point in points_of(line.text))
    ]


def vote(reading: Reading, winner: str) -> tuple[str, dict[str, str]]:
    """How a vote came about, and what one says of it: which point was left, since when, and what was left beside it."""
    speeches = [line for line in (*reading.remembered, *reading.discussion) if is_speech(line)]
    rivals = [rival for rival in dict.fromkeys(line.handle for line in speeches) if rival != winner]
    mine = standing_points(reading, winner) if winner else []
    theirs = [left for rival in rivals for left in standing_points(reading, rival)]
    if not mine:
        return "nobody", {}
    held = [left for left in mine if left[1].is_held]
    is_held_more = len(held) > sum(point.is_held for _, point in theirs)
    mine = [*held, *(left for left in mine if left not in held)] if is_held_more else mine
    line, point = mine[0]
    left = list(dict.fromkeys(ground_called(point.ground) for _, point in mine))
    others = list(dict.fromkeys(ground_called(point.ground) for _, point in theirs))
    since = [speech for speech in speeches[speeches.index(line) + 1 :] if speech.handle != winner]
    gaps = {
        "point": left[0],
        "second": in_a_list(left[1:]),
        "all": in_a_list(left),
        "other": in_a_list(others),
        "part": f"in the {line.fields['part']}" if line.fields["part"] == "opening" else "late in the night",
        "times": _times(len(since)),
        "met": counted(len(lines_that_met(reading, winner))),
        "less": counted(min(len(lines_that_met(reading, rival)) for rival in rivals) if rivals else 0),
        "fate": {"for": "carried", "against": "not carried"}.get(point.side, "decided"),
    }
    if is_held_more:
        return "held several" if gaps["second"] else "held", gaps
    if held:
        return "held even", gaps
    if not theirs:
        return "several" if gaps["second"] else "alone", gaps
    if len(mine) > len(theirs) and gaps["second"]:
        return "more", gaps
    return "longer" if gaps["met"] == gaps["less"] else "even", gaps


def _times(count: int) -> str:
    return "once" if count == 1 else f"{counted(count)} times"


def ground_called(name: str) -> str:
    """How one speaks of a ground."""
    return next((called for ground, called, _ in shelf.rows("grounds.tsv") if ground == name), name)


def is_speech(line: Heard) -> bool:
    """Whether a line is a speech of one side."""
    return line.origin == "cast" and line.fields.get("part") in _PARTS and len(line.fields) > 1


@lru_cache(maxsize=1)
def _fixed_parts() -> tuple[tuple[Point, str], ...]:
    """The longest part of each sentence in the books that stands on a ground, with the point that it makes."""
    claims = [
        (side, claim) for side in _SIDES.values() for claim in (*_claims_for_any(side), *_claims_known(side))
    ]
    return tuple(
        (
            Point(claim.ground, text is claim.answer, 0, claim.number, side, text is claim.held),
            max(text.lower().split("<motion>"), key=len).strip(),
        )
        for side, claim in claims
        for text in (claim.text, claim.answer, claim.held)
        if text
    )


@lru_cache(maxsize=2)
def _claims_for_any(side: str) -> tuple[Claim, ...]:
    """What a side can say of any motion, ground by ground."""
    book = shelf.sections(BOOK)
    other = next(other_side for other_side in _SIDES.values() if other_side != side)
    return tuple(
        Claim(ground, text, book[f"{ground} met {other}"][number], number)
        for ground, *_ in shelf.rows("grounds.tsv")
        for number, text in enumerate(book[f"{ground} {side}"])
    )


@lru_cache(maxsize=2)
def _claims_known(side: str) -> tuple[Claim, ...]:
    """What a side can say of all the motions that are known."""
    book = shelf.sections(MOTIONS)
    return tuple(claim for heading in book if heading.endswith(f" {side}") for claim in _claims_in(heading))


def _claims_in(heading: str) -> list[Claim]:
    rows = (row.split(" | ") for row in shelf.sections(MOTIONS)[heading])
    return [Claim(ground, text, answer, held=held[0] if held else "") for ground, text, answer, *held in rows]


def claims_of(motion: str, side: str) -> Sequence[Claim]:
    """The points that a side can make for or against a motion: its own where the motion is known."""
    words = set(WORD.findall(motion.lower()))
    of_side = (heading for heading in shelf.sections(MOTIONS) if heading.endswith(f" {side}"))
    heading = next((heading for heading in of_side if heading.split()[0] in words), "")
    return _claims_in(heading) if heading else _claims_for_any(side)


def _part_now(reading: Reading, *, is_speaker: bool) -> str:
    """Which part of the debate it is, by what the world and the chair said last."""
    own = [line for line in reading.discussion if reading.is_mine(line)]
    if is_speaker and not any(is_speech(line) for line in own):
        return "opening"
    for line in reversed(reading.discussion):
        if line.origin == "world":
            lower = line.text.lower()
            part = next((part for part in reversed(_PARTS) if part in lower), "rebuttal")
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
    left = [left for left in standing_points(reading, speeches[-1].handle) if not left[1].is_held]
    return left[-1] if left else (speeches[-1], None)


def _turn_to_the_point(speaker: Speaker, target: Heard, point: Point | None) -> None:
    """Speak of a thing in the sentence that makes the point."""
    start = point.start if point is not None else 0
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
    reading = speaker.reading
    dice = speaker.dice
    motion = _motion(reading)
    fresh = _fresh_claims(speaker, side)
    if part == "opening":
        claims = [claim.text.replace("<motion>", motion) for claim in fresh[:2]]
        leads = _leads(reading, "opening lead", motion=motion)
        long = [_in_a_row(lead, *claims) for lead in leads]
        return _fitting(reading, long, [_in_a_row(lead, claims[0]) for lead in leads], claims)
    if part == "closing":
        return _closings(speaker, side, motion)
    answer = _answer_to(met, reading, side)
    turned = _granted(speaker) or _made_good(speaker, side)
    leads = _rebuttal_leads(speaker, met, is_told=bool(turned and answer))
    if turned and leads == [""]:
        # Nothing would show where the word on one point ends and that on another begins.
        return _fitting(reading, [_in_a_row(turned, _brought(speaker, fresh, met, motion))], [turned])
    made = []
    for lead in dice.sample(leads, min(lines_made_max, len(leads))):
        text = _in_a_row(turned, lead, answer)
        if not answer or (not turned and dice.random() < _NEW_GROUND):
            text = _in_a_row(text, _brought(speaker, fresh, met, motion))
        made.append(text)
    return _fitting(reading, made, [_in_a_row(lead, answer) for lead in leads], [answer])


def _granted(speaker: Speaker) -> str:
    """What I say to a point that the other side has just made good, if my part has a word for that; else nothing."""
    reading = speaker.reading
    good = [point for point in points_of(_last_of_the_others(reading)) if point.is_held]
    lines = untold(reading, "granted", BOOK, point=ground_called(good[0].ground)) if good else []
    return speaker.dice.choice(lines) if lines else ""


def _made_good(speaker: Speaker, side: str) -> str:
    """What I say for a point of mine that was just met, now and then; empty if I have nothing."""
    reading = speaker.reading
    spoken = [line for line in reading.discussion if is_speech(line) and reading.is_mine(line)]
    mine = [point for line in spoken for point in points_of(line.text)]
    chance = _MADE_GOOD if len(spoken) > 1 else _MADE_GOOD_AT_ONCE
    if sum(point.is_held for point in mine) >= made_good_max or speaker.dice.random() > chance:
        return ""
    brought = {point.ground for point in mine if not point.is_answer}
    met = {point.ground for point in points_of(_last_of_the_others(reading)) if point.is_answer}
    claims = claims_of(_motion(reading), side)
    return next((claim.held for claim in claims if claim.held and claim.ground in met & brought), "")


def _last_of_the_others(reading: Reading) -> str:
    """The newest speech of the other side; empty if there is none."""
    speeches = (
        line for line in reversed(reading.discussion) if is_speech(line) and not reading.is_mine(line)
    )
    return next((line.text for line in speeches), "")


def _answer_to(met: Point | None, reading: Reading, side: str) -> str:
    """How my side meets a point of the other; empty if there is none."""
    if met is None:
        return ""
    other = next(other_side for other_side in _SIDES.values() if other_side != side)
    claims = (*_claims_known(other), *_claims_for_any(other))
    answers = [claim.answer for claim in claims if (claim.ground, claim.number) == (met.ground, met.number)]
    return answers[0].replace("<motion>", _motion(reading)) if answers else ""


def _rebuttal_leads(speaker: Speaker, met: Point | None, *, is_told: bool) -> list[str]:
    """How I come to what I answer: in frames of my own, if I have any, and then not every time.

    Where I have spoken of another point before, they tell which one I mean.
    """
    reading = speaker.reading
    heading = "rebuttal lead"
    if not own_lines(reading, heading):
        return [""] if is_told else _leads(reading, heading)
    if speaker.topic.owed:
        return untold(reading, f"{heading} owed", BOOK) or [""]
    speeches = [line for line in reading.discussion if is_speech(line) and not reading.is_mine(line)]
    # Of a point that was made a while ago one has to say which it is.
    is_new = bool(speeches) and met in points_of(speeches[-1].text)
    if met is None or (is_new and not is_told and speaker.dice.random() > _LED):
        return [""]
    return untold(reading, heading, BOOK, point=ground_called(met.ground)) or [""]


def _brought(speaker: Speaker, fresh: Sequence[Claim], met: Point | None, motion: str) -> str:
    """A point that I bring in beside my answer; empty where I have none left that I did not make."""
    reading = speaker.reading
    dice = speaker.dice
    claim = next((claim for claim in fresh if met is None or claim.ground != met.ground), None)
    if claim is None:
        return ""
    text = claim.text.replace("<motion>", motion)
    if own_lines(reading, "fresh"):
        leads = untold(reading, "fresh", BOOK)
        return _in_a_row(dice.choice(leads), text) if leads and dice.random() < _INTRODUCED else text
    return dice.choice(sentences("fresh ground", BOOK, ground=ground_called(claim.ground), claim=text))


def _closings(speaker: Speaker, side: str, motion: str) -> list[str]:
    """Last words: on the point that nobody has met, or without any."""
    reading = speaker.reading
    dice = speaker.dice
    left = standing_points(reading, reading.me.handle)
    left.sort(key=lambda entry: not entry[1].is_held)
    is_held = bool(left) and left[0][1].is_held and bool(own_lines(reading, "closing held"))
    own = f"closing {'held' if is_held else 'standing' if left else 'none'}"
    if own_lines(reading, own):
        gaps = {"point": ground_called(left[0][1].ground) if left else "", "motion": motion}
        return untold(reading, own, BOOK, **gaps) or own_or_common(reading, own, BOOK, **gaps)
    ground = ground_called(left[-1][1].ground if left else claims_of(motion, side)[0].ground)
    ends = sentences(f"closing {side}", BOOK, motion=motion)
    return [f"{lead}. {dice.choice(ends)}" for lead in _leads(reading, "closing lead", ground=ground)]


def _in_a_row(*sentences_said: str) -> str:
    """Some sentences as one text, without the mark behind the last."""
    text = ""
    for sentence in sentences_said:
        if sentence:
            text = f"{text}{'' if text.endswith('?') else '.'} {sentence}" if text else sentence
    return text


def _fitting(reading: Reading, *choices: list[str]) -> list[str]:
    """The first of some lists of speeches, from long to short, with any that keep to the words allowed and are no loop: a long motion
    is named in each point."""
    room = max(1, reading.words_max - opener_words_max)
    fitting = (
        [speech for speech in some if speech and len(speech.split()) <= room and not goes_in_circles(speech)]
        for some in choices
    )
    return next((some for some in fitting if some), choices[0])


def _leads(reading: Reading, heading: str, **gaps: str) -> list[str]:
    """The beginnings of a speech, my own if I have any, that were not used yet; all, where all were."""
    return untold(reading, heading, BOOK, **gaps) or own_or_common(reading, heading, BOOK, **gaps)


def _fresh_claims(speaker: Speaker, side: str) -> list[Claim]:
    """The points that my side has left, in an order of chance: those on grounds that I have not spoken on come first."""
    reading = speaker.reading
    dice = speaker.dice
    mine = [line for line in reading.discussion if reading.is_mine(line)]
    used = [point for line in mine for point in points_of(line.text)]
    grounds = [point.ground for point in used]
    made = {(point.ground, point.number) for point in used if not point.is_answer}
    claims = claims_of(_motion(reading), side)
    left = [claim for claim in claims if (claim.ground, claim.number) not in made]
    return sorted(dice.sample(left, len(left)), key=lambda claim: grounds.count(claim.ground))
