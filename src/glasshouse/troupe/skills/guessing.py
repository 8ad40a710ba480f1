"""Guessing: the one who asks, narrows down what it can be, and names it.

Chosen by a free field `word` in a branch. Always holds: no question is asked twice while its answer is in sight; a word
that was refused is not named again; when the answers contradict each other, nothing is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.grammar import with_capitals
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.skills.acting import played, remarked
from glasshouse.troupe.skills.attributes import (
    ALOUD,
    Thing,
    attribute_asked,
    attributes,
    in_plain_words,
    things,
    told_by,
    wonderings,
)
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    counted,
    in_a_list,
    own_lines,
    own_or_common,
    passing,
    plain_branch,
    untold,
    with_line,
)
from glasshouse.troupe.skills.keeping import GAMES, is_same_word, word_known
from glasshouse.troupe.speaking import Speaker, Spoken

questions_max: Final = 20
"""After this many, a creature that guesses names its best guess."""
lines_between_max: Final = 3
"""An answer belongs to a question this few lines before it."""
rewordings_max: Final = 6
"""A question that was asked before is worded again this often."""
left_few_max: Final = 3
"""Up to so many are few: whoever guesses is nearly sure."""
left_many_min: Final = 20
"""From so many on they are many: whoever guesses is not sure at all."""

facts_told_max: Final = 3
"""Of what I know of the thing I tell so much at once."""
things_out_max: Final = 2
"""Of what it cannot be any more I name so many."""

_WITH_OWN_LINE: Final = 0.25
_GOOD_ENOUGH: Final = 0.65
"""The share of the best question's worth from which on a question is put: who guesses is no computer."""


def named_or_asked(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """The word, if there is one left or no time; else the question that tells most."""
    naming = next((branch for branch in branches if branch.takes_text("word")), None)
    if naming is None or word_known(speaker.reading):
        return None
    reading = speaker.reading
    answered = guess_answered(reading.discussion)
    if answered is not None:
        reply = played(speaker, branches, ["over", "right" if _answer(answered[1]) == "yes" else "wrong"], {})
        if reply is not None:
            return reply
    asking = plain_branch(branches)
    answers = _answers_in_sight(reading)
    left = candidates(reading, answers)
    if not left:
        return passing(branches, speaker, "pass contradiction")
    attribute = "" if asking is None or _is_last_chance(reading) else _best_question(speaker, left, answers)
    if asking is None or not attribute or len(left) == 1:
        return _named(speaker, naming, _likeliest(left, answers, speaker), len(left))
    return with_line(asking, _asked(speaker, attribute, left, answers))


def candidates(reading: Reading, answers: dict[str, str]) -> list[Thing]:
    """What it can still be, by the answers in sight and the words that were refused."""
    refused = [
        str(line.fields["word"])
        for line in (*reading.remembered, *reading.discussion)
        if line.fields.get("word")
    ]
    return things_left(answers, refused)


def things_left(answers: dict[str, str], refused: Sequence[str] = ()) -> list[Thing]:
    """What it can still be by some answers and the words that were refused.

    An answer fits a thing that one would give it for. Where nothing fits all of them, one that was unsure rules out
    nothing, and who keeps the word may be sure of what I am not.
    """
    others = [
        thing for thing in things().values() if not any(is_same_word(thing.name, word) for word in refused)
    ]
    fitting = [
        thing for thing in others if all(thing.truth(name) == truth for name, truth in answers.items())
    ]
    sure = {name: truth for name, truth in answers.items() if truth in {"yes", "no"}}
    return fitting or [
        thing
        for thing in others
        if all(thing.truth(name) in {truth, "unsure"} for name, truth in sure.items())
    ]


def questions_answered(reading: Reading) -> list[tuple[Heard, Heard]]:
    """The questions of which one knows what they were about, each with its answer, oldest first."""
    pairs = []
    question: Heard | None = None
    for line in reading.discussion:
        if _answer(line):
            if question is not None:
                pairs.append((question, line))
            question = None
        elif attribute_asked(line.text):
            question = line
    return pairs


def guess_answered(lines: Sequence[Heard]) -> tuple[Heard, Heard] | None:
    """The newest word that was named and the answer it got."""
    for at in range(len(lines) - 1, -1, -1):
        if lines[at].fields.get("word"):
            return next(((lines[at], line) for line in lines[at + 1 :] if line.fields.get("answer")), None)
    return None


def _answers_in_sight(reading: Reading) -> dict[str, str]:
    """Attribute -> the newest answer about it, of those in sight."""
    answers: dict[str, str] = {}
    for line in reading.remembered:
        known = told_by(line.text) if _answer(line) else None
        if known is not None:
            answers[known[0]] = known[1]
    lines = reading.discussion
    for at, line in enumerate(lines):
        answer = _answer(line)
        if answer:
            asked = _asked_before(lines, at)
            if not asked:
                known = told_by(line.text)
                asked = known[0] if known is not None else ""
            if asked:
                answers[asked] = answer
    return answers


def _answer(line: Heard) -> str:
    answer = line.fields.get("answer")
    return answer.lower() if isinstance(answer, str) else ""


def _asked_before(lines: Sequence[Heard], at: int) -> str:
    """What the question was that this line answers."""
    for before in reversed(lines[max(0, at - lines_between_max) : at]):
        if before.fields.get("word"):
            return ""
        if before.handle != lines[at].handle:
            asked = attribute_asked(before.text)
            if asked:
                return asked
        elif _answer(before):
            return ""
    return ""


def _best_question(speaker: Speaker, left: Sequence[Thing], answers: dict[str, str]) -> str:
    """An attribute that parts what is left, not much worse than the best would; empty if none parts it."""
    asked = {*answers, *(attribute_asked(line.text) for line in speaker.reading.discussion)}
    worth: dict[str, float] = {}
    for name in attributes():
        if name not in asked:
            truths = [thing.truth(name) for thing in left]
            unsure = truths.count("unsure")
            worth[name] = min(truths.count("yes"), truths.count("no")) + min(unsure, len(left) - unsure) / 8
    best = max(worth.values(), default=0)
    if best == 0:
        return ""
    return speaker.dice.choice([name for name, value in worth.items() if value >= _GOOD_ENOUGH * best])


def _likeliest(left: Sequence[Thing], answers: dict[str, str], speaker: Speaker) -> Thing:
    """The one that fits the answers best; an answer that was unsure fits what nobody can be sure of."""
    fit = [sum(thing.truth(name) == truth for name, truth in answers.items()) for thing in left]
    return speaker.dice.choice([thing for thing, hits in zip(left, fit, strict=True) if hits == max(fit)])


def _asked(speaker: Speaker, attribute: str, left: Sequence[Thing], answers: dict[str, str]) -> Spoken:
    """The question in words that mean this attribute and no other, behind what I have learned so far."""
    aim = f"there are {len(left)} things it could be, and this question parts them best"
    asked = wonderings(ALOUD if speaker.reading.part is not None else "").get(
        attribute, attributes()[attribute].asked
    )
    facts = _facts(speaker.reading, len(left))
    learned = _learned(speaker, left, answers)
    tries = (remarked(speaker, _behind(speaker, learned, asked, aim), *facts) for _ in range(rewordings_max))
    clear = next((spoken for spoken in tries if attribute_asked(spoken.text) == attribute), None)
    return clear or speaker.dress(asked, "ask", aim)._replace(text=asked[0].capitalize())


def _behind(speaker: Speaker, learned: str, asked: Sequence[str], aim: str) -> Spoken:
    """A question with what I have learned before it, if my part tells that and there is room."""
    spoken = speaker.dress(asked, "ask", aim, own=_WITH_OWN_LINE)
    return speaker.with_remark(learned, spoken, is_last=False) if learned else spoken


def _learned(speaker: Speaker, left: Sequence[Thing], answers: dict[str, str]) -> str:
    """What the newest answer has told me, as my part puts it: what is so, what it cannot be, and how much is left."""
    reading = speaker.reading
    if not answers or not own_lines(reading, "learned"):
        return ""
    *_, newest = answers
    before = things_left({name: truth for name, truth in answers.items() if name != newest})
    fitting = {thing.name for thing in things_left(answers)}
    gone = [f"the {thing.name}" for thing in before if thing.name not in fitting]
    phrases = {name: words for name, truth in answers.items() if (words := _plainly(name, truth))}
    known = sorted(phrases, key=lambda name: (name != newest, answers[name] != "yes"))[:facts_told_max]
    gaps = {
        "fact": phrases.get(newest, ""),
        "facts": in_a_list([phrases[name] for name in phrases if name in known]),
        "left": counted(len(left)),
        "out": in_a_list(speaker.dice.sample(gone, min(things_out_max, len(gone)))),
    }
    heading = (
        "learned unsure" if not gaps["fact"] else "learned few" if len(left) <= left_few_max else "learned"
    )
    texts = untold(reading, heading, GAMES, **gaps)
    return with_capitals(f"{speaker.dice.choice(texts)}.") if texts else ""


def _plainly(name: str, truth: str) -> str:
    return in_plain_words(name, "yes" if truth == "yes" else "no") if truth in {"yes", "no"} else ""


def _facts(reading: Reading, left: int) -> list[str]:
    """How the game stands for the one who asks: the newest answer, and how much it can still be."""
    answers = [answer for line in reading.discussion if (answer := _answer(line))]
    if not answers:
        return ["first"]
    return [
        "asked",
        answers[-1],
        "many" if left > left_many_min else "some" if left > left_few_max else "few",
    ]


def _named(speaker: Speaker, branch: Branch, thing: Thing, left: int) -> Reply:
    article = "an" if thing.name[0] in "aeiou" else "a"
    said = thing.name if thing.name in shelf.words_listed("masses.txt") else f"{article} {thing.name}"
    reading = speaker.reading
    is_blind = left > left_few_max and bool(own_lines(reading, "guess blind"))
    is_choice = 1 < left <= left_few_max and bool(own_lines(reading, "guess few"))
    heading = "guess blind" if is_blind else "guess few" if is_choice else "guess"
    texts = own_or_common(reading, heading, guess=said, left=counted(left))
    spoken = speaker.dress(texts, "answer", f"it can only be {said}, so I name it")
    return with_line(branch, remarked(speaker, spoken, "last"), word=thing.name)


def _is_last_chance(reading: Reading) -> bool:
    asked = sum(1 for line in reading.discussion if reading.is_mine(line) and "?" in line.text)
    if asked >= questions_max:
        return True
    new = [line.text.lower() for line in (*reading.fresh, reading.cause) if line is not None]
    return any(cue in text for text in new for cue in shelf.entries("lasts.txt"))
