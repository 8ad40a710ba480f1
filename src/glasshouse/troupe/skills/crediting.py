"""Crediting: a verdict on talk, by who said what.

Chosen by a field `winner`, where no game is played and no script has a part for the judge. Always holds: the winner made
the points that are worth most; the sentence that is quoted is the winner's own, and its line is the first that is cited.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from glasshouse.troupe.grammar import cores, filled, fits, with_capitals
from glasshouse.troupe.reactions import acts
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.skills.branches import Branch, Reply, passing, with_line
from glasshouse.troupe.speaking import Speaker, Spoken, name_of
from glasshouse.troupe.talk.credits import CALM, FAIR, PERFORMED, QUOTE, SHOWN, PointMade, points_of, sum_of
from glasshouse.troupe.talk.own_story import story_of
from glasshouse.troupe.talk.understanding import TALK
from glasshouse.troupe.vocabulary import stems_of

lines_cited_max: Final = 3
"""A verdict rests on so many lines at most."""
lines_between_verdicts_min: Final = 2
"""Of fewer lines nothing new can be said."""
too_close: Final = 0.4
"""Who is ahead by no more than this is not ahead."""

_SEEN: Final = frozenset({SHOWN, PERFORMED})
_NOBODY: Final = "nobody"
_GAMES: Final = ("answer", "word", "suspect", "against")


def credited(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """Who made the better points, with one of them quoted; nobody where they weigh the same."""
    branch = next((branch for branch in branches if branch.words_of("winner")), None)
    if branch is None or speaker.has_a_part or not _is_talk(speaker.reading):
        return None
    reading = speaker.reading
    before = [line for line in (*reading.remembered, *reading.discussion) if line.fields.get("winner")]
    contestants = [word for word in branch.words_of("winner") if word != _NOBODY]
    silent = passing(branches, speaker, "pass")
    if silent is not None and _has_nothing_new(reading, contestants):
        return silent
    points = {name: points_of(reading.discussion, name) for name in contestants}
    if not any(points.values()) and not all(
        any(line.handle == name for line in reading.discussion) for name in contestants
    ):
        return None
    winner = _ahead(points) or _closest(speaker, points, before)
    if not winner:
        return _undecided(speaker, branch, points, before)
    last = str(before[-1].fields["winner"]) if before else _NOBODY
    verdicts_before = " ".join(line.text for line in before)
    fresh = [
        point
        for point in points[winner]
        if point.sort and not (point.words and _as_theirs(point, winner) in verdicts_before)
    ]
    cites = [point.line.ref for point in (*fresh, *points[winner])]
    text = _words_for(speaker, winner, last, fresh, points)
    return _verdict(speaker, branch, text, winner, cites)


def _has_nothing_new(reading: Reading, contestants: Sequence[str]) -> bool:
    """Whether hardly anybody who is judged has spoken since my last verdict."""
    last = max((int(line.ref) for line in reading.discussion if line.fields.get("winner")), default=None)
    if last is None:
        return False
    since = [line for line in reading.discussion if int(line.ref) > last and line.handle in contestants]
    return len(since) < lines_between_verdicts_min


def _words_for(
    speaker: Speaker, winner: str, last: str, fresh: Sequence[PointMade], points: dict[str, list[PointMade]]
) -> str:
    """What is said of the winner: what they did that was not said yet; else that nothing has changed."""
    slots = {"winner": name_of(winner)}
    if last == winner:
        quotes = [point.words for point in fresh if point.sort == QUOTE and point.words]
        if not fresh or fresh[0].sort == QUOTE:
            again = ["verdict-again-quote", "verdict-again"] if quotes else ["verdict-again"]
            return _of_the_first(speaker, again, slots | ({"quote": quotes[0]} if quotes else {}))
    others = [name for name in points if name != winner]
    shown = [name for name in points if any(point.sort in _SEEN for point in points[name])]
    moves: list[str] = []
    for point in fresh:
        if point.words:
            slots["quote"] = _as_theirs(point, winner)
            moves = ["verdict-quote"]
            if point.sort == SHOWN and shown == [winner] and others:
                slots["other"] = name_of(others[0])
                moves = ["verdict-only", "verdict-shown"]
            elif point.sort == SHOWN:
                moves = ["verdict-shown"]
            elif point.sort == PERFORMED:
                moves = ["verdict-performed"]
            break
        if point.sort == PERFORMED:
            if shown == [winner] and others:
                slots["other"] = name_of(others[0])
                moves = ["verdict-performed-only"]
            else:
                moves = ["verdict-closest"] if len(shown) > 1 else []
            break
        if point.sort in {FAIR, CALM}:
            moves = [f"verdict-{point.sort}"]
            break
    text = _of_the_first(speaker, [*moves, "verdict-again"], slots)
    has_turned = last not in {_NOBODY, winner}
    return f"{_sentence(speaker, 'verdict-turn', {})} {text}" if has_turned else text


def _is_talk(reading: Reading) -> bool:
    """Whether nothing but words decides: no guess, no answer, no suspicion."""
    return not any(field in line.fields for line in reading.discussion for field in _GAMES)


def _ahead(points: dict[str, list[PointMade]]) -> str:
    """Who is ahead by enough; empty if nobody is."""
    ranked = sorted(points, key=lambda name: -sum_of(points[name]))
    if not ranked or not points[ranked[0]]:
        return ""
    if len(ranked) > 1 and sum_of(points[ranked[0]]) - sum_of(points[ranked[1]]) <= too_close:
        return ""
    return ranked[0]


def _closest(speaker: Speaker, points: dict[str, list[PointMade]], before: Sequence[Heard]) -> str:
    """Of those who have shown something and stand equal, whose lines are nearest to what the judge looks for; else whoever
    was ahead, else one of them. Empty where fewer than two have shown anything."""
    shown = [name for name in points if any(point.sort in _SEEN for point in points[name])]
    if len(shown) < 2:
        return ""
    story = story_of(speaker.reading.me)
    sought = stems_of(" ".join((story.want, *story.cares)))
    fit = {
        name: len(sought & stems_of(" ".join(point.line.text for point in points[name]))) for name in shown
    }
    nearest = [name for name in shown if fit[name] == max(fit.values())]
    last = str(before[-1].fields["winner"]) if before else _NOBODY
    return last if last in nearest else speaker.dice.choice(nearest)


def _undecided(
    speaker: Speaker, branch: Branch, points: dict[str, list[PointMade]], before: Sequence[Heard]
) -> Reply:
    best = [mine[0].line.ref for mine in points.values() if mine]
    cites = best or [line.ref for line in speaker.reading.discussion[-1:]]
    text = _sentence(speaker, "verdict-nobody" if best else "verdict-silence", {})
    story = story_of(speaker.reading.me)
    if story.want and not story.deed and not any(story.want in line.text for line in before):
        text = f"{text} {_sentence(speaker, 'verdict-wish', {'wish': story.want})}"
    return _verdict(speaker, branch, text, _NOBODY, cites)


def _verdict(speaker: Speaker, branch: Branch, text: str, winner: str, cites: Sequence[str]) -> Reply:
    act = acts()["appraise"]
    spoken = Spoken(text, speaker.thought(act), speaker.dice.choice(act.moods))
    words = branch.words_of("winner")
    return with_line(
        branch,
        spoken,
        winner=winner if winner in words else words[-1],
        cites=list(dict.fromkeys(cites))[:lines_cited_max],
    )


def _as_theirs(point: PointMade, name: str) -> str:
    """What a verdict repeats of a point: words that were said as they were, a thing that was shown as its owner's."""
    if point.sort != SHOWN:
        return point.words
    thing = point.words.partition(",")[0]
    return f"{name_of(name)}'s {thing.removeprefix('my ')}" if thing.startswith("my ") else thing


def _of_the_first(speaker: Speaker, moves: Sequence[str], slots: dict[str, str]) -> str:
    """A sentence of the first of some moves that has one which was not said in sight; else of the first."""
    visible = speaker.reading.visible_text
    for move in moves:
        fitting = [pattern for pattern in cores(TALK, move) if fits(pattern, slots)]
        if any(pattern.longest not in visible for pattern in fitting):
            return _sentence(speaker, move, slots)
    return _sentence(speaker, moves[-1], slots)


def _sentence(speaker: Speaker, move: str, slots: dict[str, str]) -> str:
    reading = speaker.reading
    fitting = [pattern for pattern in cores(TALK, move) if fits(pattern, slots)]
    verdicts = [line.text.lower() for line in reading.discussion if line.fields.get("winner")]
    others = [pattern for pattern in fitting if not verdicts or pattern.longest not in verdicts[-1]]
    fresh = (
        [pattern for pattern in others if pattern.longest not in reading.visible_text] or others or fitting
    )
    text = filled(speaker.dice.choice(fresh), slots, speaker.dice, set())
    return with_capitals(text if text.endswith('"') else f"{text}.")
