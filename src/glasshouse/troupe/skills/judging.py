"""Judging: who won, by what they said, with reasons.

Chosen by a field `winner` with the names that may win. Always holds: the reasons name things that were said and cite
their lines; where nothing was said, or what was said cancels out, nobody wins; a game that is still open is not judged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.skills.acting import remarked
from glasshouse.troupe.skills.attributes import attribute_asked, attributes, thing_called, things
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    counted,
    own_lines,
    own_or_common,
    paired,
    passing,
    plain_branch,
    sentences,
    with_gaps_filled,
    with_line,
)
from glasshouse.troupe.skills.guessing import guess_answered, questions_answered, things_left
from glasshouse.troupe.skills.keeping import is_same_word, parted_by
from glasshouse.troupe.skills.sleuthing import (
    called_so,
    details_in,
    evidence,
    lines_cited_max,
    mentions,
    rival_to,
    suspicions,
)
from glasshouse.troupe.skills.weighing import counts_talk, outcome, reasons, weighed
from glasshouse.troupe.speaking import Speaker, name_of
from glasshouse.troupe.vocabulary import stem, stems_of

spoken_worth_max: Final = 1.0
"""What was said for one side counts no more than this."""

_QUESTION: Final = re.compile(r"[^.!?]+\?")
_WITH_OWN_LINE: Final = 0.4
_NOBODY: Final = "nobody"
_DECISIVE: Final = 100.0
_CITED: Final = 0.5
_STANDING: Final = 1.0
_ANSWERED: Final = 0.5
_TAKEN_UP: Final = 0.15
_TOO_CLOSE: Final = 0.05


class Standing(NamedTuple):
    """How somebody stands: the sum, and the lines it rests on, the weightiest first."""

    name: str
    sum: float
    lines: tuple[Heard, ...]


def verdict(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """Who won and why; nothing while a game is open."""
    branch = next((branch for branch in branches if branch.words_of("winner")), None)
    if branch is None:
        return None
    reading = speaker.reading
    if is_open(reading):
        chat = plain_branch(branches)
        if chat is not None and not speaker.has_a_part:
            return with_line(chat, speaker.speak(chat.kind))
        reply = passing(branches, speaker, "pass early")
        if reply is not None:
            return reply
    contestants = [word for word in branch.words_of("winner") if word != _NOBODY]
    ranked = sorted((standing(reading, name) for name in contestants), key=lambda standing: -standing.sum)
    winner = ranked[0] if ranked and _is_ahead(ranked) else _settled(speaker, ranked)
    best = tuple(line for standing in ranked for line in standing.lines[:1])
    lines = best if winner is None else winner.lines
    name = winner.name if winner is not None else _NOBODY
    aim = f"{name} comes out ahead" if winner is not None else "nothing here tips the scale, so nobody does"
    spoken = speaker.dress(
        _reasons(reading, winner, lines, speaker.dice), "appraise", aim, own=_WITH_OWN_LINE
    )
    spoken = remarked(speaker, spoken, *_facts(reading, winner), is_last=True)
    cites = list(dict.fromkeys(line.ref for line in (*_weighed(reading, lines), *lines)))[:lines_cited_max]
    return with_line(branch, spoken, winner=_offered(branch, name), cites=cites)


def _facts(reading: Reading, winner: Standing | None) -> list[str]:
    """How it ended, for a judge who has a word to say on that."""
    answered = guess_answered(reading.discussion)
    if answered is not None:
        return ["named" if answered[1].fields.get("answer") == "yes" else "kept"]
    return [outcome(reading, winner.name) if winner is not None else "nobody"]


def is_open(reading: Reading) -> bool:
    """Whether a word is still being looked for; who comes to judge unasked finds that the time is up."""
    lines = reading.discussion
    if reading.cause is None or not any(
        line.fields.get("answer") or line.fields.get("word") for line in lines
    ):
        return False
    if guess_answered(lines) is not None:
        return False
    new = [line.text.lower() for line in lines[-6:] if line.origin == "world"]
    return not any(cue in text for text in new for cue in shelf.entries("lasts.txt"))


def standing(reading: Reading, contestant: str) -> Standing:
    """What a contestant's lines are worth together."""
    lines = reading.discussion
    worth = [
        (_taken_up(lines, at), at, line) for at, line in enumerate(lines) if speaks_for(line, contestant)
    ]
    worth.sort(key=lambda entry: (-entry[0], -entry[1]))
    total = 0.0
    if counts_talk(reading):
        total = min(spoken_worth_max, sum(value for value, _, _ in worth)) + min(1.0, 0.2 * len(worth))
    weighty: list[tuple[float, Heard]] = []
    for value, line in (*_game(lines), *_case(reading), *weighed(reading)):
        if speaks_for(line, contestant):
            total += value
            weighty.append((value, line))
    weighty.sort(key=lambda entry: -entry[0])
    chief = list(dict.fromkeys(line for _, line in weighty))
    if not counts_talk(reading):
        return Standing(contestant, total, tuple(chief))
    return Standing(contestant, total, (*chief, *(line for _, _, line in worth if line not in chief)))


def speaks_for(line: Heard, contestant: str) -> bool:
    """Whether a line is a contestant's: of that name, or of one with it as a part."""
    handle = line.handle.split("~")[0]
    return line.origin == "cast" and (handle == contestant or contestant in handle.split("-"))


def _taken_up(lines: Sequence[Heard], at: int) -> float:
    """How often others went on with what a line named."""
    heads = {noun.stem for noun in nouns_in(lines[at].text)[:2]}
    later = (line for line in lines[at + 1 : at + 7] if line.handle != lines[at].handle)
    return _TAKEN_UP * sum(bool(heads & stems_of(line.text)) for line in later)


def _game(lines: Sequence[Heard]) -> list[tuple[float, Heard]]:
    """The line that decided a game of finding a word: the guess, or the answer that kept the secret."""
    answered = guess_answered(lines)
    if answered is not None:
        guess, reply = answered
        return [(_DECISIVE, guess if reply.fields.get("answer") == "yes" else reply)]
    answers = [line for line in lines if line.fields.get("answer")]
    return [(_DECISIVE, answers[-1])] if answers else []


def _case(reading: Reading) -> list[tuple[float, Heard]]:
    """What the newest suspicion and the newest objection to it are worth, by the evidence for and against."""
    lines = reading.discussion
    claims = [at for at, line in enumerate(lines) if line.fields.get("suspect")]
    if not claims:
        return []
    claim = lines[claims[-1]]
    about = stem(str(claim.fields["suspect"]).lower())
    support = sum(mentions(line.text, str(claim.fields["suspect"])) for line in evidence(reading))
    rivals = [rival for rival in suspicions(reading, []) if stem(rival.name.lower()) != about]
    rival = max((len(rival.lines) for rival in rivals), default=0)
    cites = claim.fields.get("cites")
    cited = len({line.ref for line in lines} & set(cites)) if isinstance(cites, list) else 0
    case = [(support + _CITED * cited, claim)]
    attacks = [line for line in lines if line.fields.get("against")]
    if attacks:
        stands = attacks[-1].fields["against"] == claim.ref
        case.append((rival + (_STANDING + _CITED * 2 if stands else _ANSWERED), attacks[-1]))
    return case


def _is_ahead(ranked: Sequence[Standing]) -> bool:
    if not ranked[0].lines:
        return False
    return len(ranked) == 1 or ranked[0].sum - ranked[1].sum > _TOO_CLOSE


def _settled(speaker: Speaker, ranked: Sequence[Standing]) -> Standing | None:
    """One of those that stand equal, for a judge whose vow it is never to call it a draw."""
    if (
        not ranked
        or not ranked[0].lines
        or not any("draw" in vow.split() for vow in speaker.reading.me.never)
    ):
        return None
    equals = [standing for standing in ranked if ranked[0].sum - standing.sum <= _TOO_CLOSE]
    return speaker.dice.choice(equals)


def _reasons(reading: Reading, winner: Standing | None, lines: Sequence[Heard], dice: Random) -> list[str]:
    detail, other = details_in(reading, lines, "")
    if winner is None:
        contested = reasons(reading, "", lines, {"detail": detail, "other": other})
        if contested:
            return contested
        return (
            sentences("verdict nobody", detail=detail, other=other) if lines else sentences("verdict silence")
        )
    is_handle = any(line.handle == winner.name for line in reading.discussion)
    gaps = {
        "winner": name_of(winner.name) if is_handle else f"the {winner.name}",
        "detail": detail,
        "other": other,
    }
    answered = guess_answered(reading.discussion)
    gaps["count"] = _questions_asked(reading)
    if answered is not None:
        is_named = answered[1].fields.get("answer") == "yes"
        gaps |= _best_question(reading) | _what_it_was(reading, answered)
        heading = "verdict named" if is_named else "verdict kept"
        shown = heading if "was" not in gaps else "verdict shown" if gaps["unasked"] else "verdict alike"
        own = with_gaps_filled(own_lines(reading, shown) or own_lines(reading, heading), gaps)
        return own or sentences(heading, **gaps)
    if any(line.fields.get("answer") for line in reading.discussion):
        return own_or_common(reading, "verdict unnamed", **gaps)
    claims = [line for line in lines if line.fields.get("suspect")]
    claimed = claims[0] if claims else _claim_attacked(reading, lines)
    if claimed is None:
        return reasons(reading, winner.name, lines, gaps) or sentences("verdict", **gaps)
    suspect = str(claimed.fields["suspect"])
    mentioning = [line for line in evidence(reading) if mentions(line.text, suspect)]
    gaps["detail"], gaps["other"] = details_in(reading, mentioning, suspect)
    gaps["suspect"] = called_so(suspect)
    if claims:
        return paired(dice, sentences("verdict suspect", **gaps), sentences("verdict suspect why", **gaps))
    gaps["rival"], gaps["sign"] = rival_to(reading, suspect)
    return paired(dice, sentences("verdict doubt", **gaps), sentences("verdict doubt why", **gaps))


def _questions_asked(reading: Reading) -> str:
    """How many questions were put, in words as far as one counts in words; empty if none."""
    kinds_asked = Counter(
        line.kind
        for line in reading.discussion
        if line.origin == "cast"
        and "?" in line.text
        and not line.fields.get("answer")
        and not line.fields.get("word")
    )
    if not kinds_asked:
        return ""
    ((_, asked),) = kinds_asked.most_common(1)
    return f"{counted(asked)} question{'' if asked == 1 else 's'}"


def _best_question(reading: Reading) -> dict[str, str]:
    """The question whose answer left least of what it could have been, and by how much."""
    answers: dict[str, str] = {}
    best: tuple[float, dict[str, str]] = (1.0, {})
    before = len(things())
    for question, answer in questions_answered(reading):
        answers[attribute_asked(question.text)] = str(answer.fields["answer"])
        after = len(things_left(answers))
        if after and after / before < best[0]:
            put = _QUESTION.findall(question.text)[-1].strip()
            gone = counted(before - after)
            said = {"best": put, "before": counted(before), "after": counted(after), "gone": gone}
            best = (after / before, said)
        before = after or before
    return best[1]


def _what_it_was(reading: Reading, answered: tuple[Heard, Heard]) -> dict[str, str]:
    """The word that was named, the one that was shown afterwards, how many were left then, and what would have parted them."""
    guess, answer = answered
    word = str(guess.fields["word"])
    pairs = [pair for pair in questions_answered(reading) if int(pair[1].ref) < int(guess.ref)]
    left = things_left({attribute_asked(asked.text): str(reply.fields["answer"]) for asked, reply in pairs})
    shown = "\n".join(
        line.text.lower()
        for line in reading.discussion
        if line.handle == answer.handle and int(line.ref) > int(answer.ref)
    )
    others = [
        thing
        for thing in left
        if re.search(rf"\b{thing.name}\b", shown) and not is_same_word(thing.name, word)
    ]
    gaps = {"word": word, "left": counted(len(left))}
    theirs = thing_called(word)
    if len(others) != 1 or theirs is None:
        return gaps
    asked = {attribute_asked(line.text) for line in reading.discussion}
    apart = [name for name in parted_by(others[0], theirs) if name not in asked]
    return gaps | {"was": others[0].name, "unasked": attributes()[apart[0]].asked[0] if apart else ""}


def _weighed(reading: Reading, lines: Sequence[Heard]) -> list[Heard]:
    """Of a case: the line that carried it and the newest evidence that the suspicion was about."""
    claim = next((line for line in lines if line.fields.get("suspect")), None)
    claim = claim or _claim_attacked(reading, lines)
    if claim is None:
        return []
    about = str(claim.fields["suspect"])
    mentioning = [line for line in evidence(reading) if mentions(line.text, about)]
    return [lines[0], *reversed(mentioning[1 - lines_cited_max :])]


def _claim_attacked(reading: Reading, lines: Sequence[Heard]) -> Heard | None:
    against = {line.fields.get("against") for line in lines}
    return next(
        (line for line in reversed(reading.discussion) if line.ref in against and line.fields.get("suspect")),
        None,
    )


def _offered(branch: Branch, name: str) -> str:
    words = branch.words_of("winner")
    return name if name in words else words[-1]
