"""Timed lines: lines that wait for their time, such as that work is done, or that somebody asks for leave.

Chosen by the last word of a kind, or by a direction of the manifest that names a kind's words. Always holds: such a line
is said when its condition is met, and not before. After a tool has changed the player's circle, the next line is about
that change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe import kinds
from glasshouse.troupe.directions import Direction, directions_of, heard_now
from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.reading import Heard, Reading, ToolSaid
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    in_a_list,
    passing,
    untold,
    with_gaps_filled,
    with_line,
)
from glasshouse.troupe.skills.regrouping import says_it_is_done
from glasshouse.troupe.skills.sleuthing import NOTHING_NAMED, details_in
from glasshouse.troupe.speaking import Speaker, Spoken, name_of
from glasshouse.troupe.surroundings import bare_name, circle_of
from glasshouse.troupe.vocabulary import WORD, is_a, stem, stems_of

own_lines_before_done: Final = 2
lines_looked_back_max: Final = 3
"""A closing line speaks of the first and of this many of the latest."""
changes_told_max: Final = 2
"""A line speaks of this many sorts of change to the circle."""
crew_named_max: Final = 4
"""A closing line names this many of those who were spoken of and are not there."""

_CLOSED: Final = "closed"
_TOLD: Final = "told"
_OWN_LINE: Final = 0.9
_NAME: Final = re.compile(r"(?=\b([A-Z][a-z]+ [A-Z][a-z]+)\b)")
_CROSSING: Final = frozenset({"carry", "carries", "across"})


def staged(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A line whose hour has come; else, where one's hour has not, a line of another kind."""
    plain = (branch for branch in branches if branch.is_plain and not branch.is_passing)
    open_branches = [branch for branch in plain if branch.kind not in kinds.INNER]
    if not open_branches:
        return None
    after = aftermath(speaker)
    waiting = _waiting(speaker.reading, open_branches)
    if any(_is_over(speaker.reading, branch) for branch, _ in waiting):
        return passing(branches, speaker, "pass")
    for branch, has_come in waiting:
        if has_come and not _is_joining_refused(speaker.reading):
            return with_line(branch, _of_the_hour(speaker, branch) or after or speaker.speak(branch.kind))
    rest = [branch for branch in open_branches if branch.kind not in {branch.kind for branch, _ in waiting}]
    if rest and (after is not None or waiting):
        return with_line(rest[0], after or _carried(speaker) or speaker.speak(rest[0].kind))
    first = open_branches[0]
    closing = _of_the_hour(speaker, first) if first.kind.endswith(f".{_CLOSED}") else None
    spoken = closing or _carried(speaker)
    return None if spoken is None else with_line(first, spoken)


def _waiting(reading: Reading, open_branches: Sequence[Branch]) -> list[tuple[Branch, bool]]:
    """The branches that wait for an hour of their own, and whether it has come."""
    waiting: list[tuple[Branch, bool]] = []
    mine = [line for line in reading.discussion if reading.is_mine(line)]
    heard = heard_now(reading)
    for branch in open_branches[1:]:
        directions = [direction for direction in directions_of(reading.me) if _is_of(direction, branch.kind)]
        if directions:
            said = any(line.kind == branch.kind for line in mine)
            waiting.append((branch, not said and any(direction.met_by(heard) for direction in directions)))
        elif says_it_is_done(branch.kind):
            waiting.append((branch, len(mine) >= own_lines_before_done))
    return waiting


def _is_over(reading: Reading, branch: Branch) -> bool:
    """Whether I have said already that my work is done, and nothing tells me to do anything else."""
    directions = directions_of(reading.me)
    if not says_it_is_done(branch.kind) or any(_is_of(known, branch.kind) for known in directions):
        return False
    return any(line.kind == branch.kind for line in reading.discussion if reading.is_mine(line))


def _is_of(direction: Direction, kind: str) -> bool:
    """Whether a direction's deed has all the words of a kind."""
    return {stem(word) for word in kind.split(".")} <= stems_of(direction.deed)


def _of_the_hour(speaker: Speaker, branch: Branch) -> Spoken | None:
    """A line in words that belong to the kind; none if there are no such words."""
    words = [stem(word) for word in branch.kind.split(".")]
    sections = shelf.sections("circles.txt")
    heading = next((name for name in sections if name and stem(name) in words), "")
    if not heading and says_it_is_done(branch.kind):
        heading = "done"
    if not heading:
        return None
    reading = speaker.reading
    heard = [line for line in reading.heard if line.origin == "cast" and line.text]
    if heading == _TOLD:
        heard = [line for line in reading.discussion if reading.is_mine(line)] or heard
    gaps = _gaps(reading, heard) | {"winner": _winner(reading), "stake": at_stake(speaker, _cues(reading))}
    if gaps["last"] == NOTHING_NAMED:
        gaps["last"] = speaker.topic.noun.definite
    act = "recall" if heading in {_CLOSED, _TOLD} else "offer"
    return speaker.dress(_sentences(heading, reading, **gaps), act, own=_OWN_LINE)


def _winner(reading: Reading) -> str:
    """Whom the newest verdict names; empty if there is none or it names nobody."""
    named = [line.fields["winner"] for line in reading.heard if line.fields.get("winner")]
    return name_of(str(named[-1])) if named and named[-1] != "nobody" else ""


def _gaps(reading: Reading, heard: Sequence[Heard]) -> dict[str, str]:
    """Somebody and something from the beginning and from the end of what I heard."""
    early = heard[:lines_looked_back_max]
    late = heard[-lines_looked_back_max:]
    first, _ = details_in(reading, early, "")
    last, other = details_in(reading, late, first)
    gaps = {"first": first, "last": last if last != first else other or first}
    if heard:
        gaps |= {"who": name_of(heard[0].handle), "other": name_of(heard[-1].handle)}
    here = {*circle_of(reading).channels_of, reading.me.handle}
    gone = [line for line in heard if line.handle not in here]
    crew = _named_in(heard, {name_of(handle) for handle in (*here, *(line.handle for line in heard))})
    if gone:
        gaps |= {"gone": name_of(gone[-1].handle), "gift": details_in(reading, gone[-1:], "")[0]}
    elif len(crew) > 1:
        gaps["crew"] = in_a_list(crew[:crew_named_max])
    return gaps


def _named_in(lines: Sequence[Heard], known: set[str]) -> list[str]:
    """Those whom lines call by a name of two words, and who did not speak before me themselves."""
    names = dict.fromkeys(name for line in lines for name in _NAME.findall(line.text))
    return [name for name in names if name not in known and not _opens_a_sentence(name.split()[0].lower())]


def _opens_a_sentence(word: str) -> bool:
    return is_a(word, "stop") or is_a(word, "verb")


# After a change, and between two sides


def aftermath(speaker: Speaker) -> Spoken | None:
    """A line about what my tools have just done to the circle; none if they have done nothing."""
    done = changes_made(speaker.reading)
    if not done:
        return None
    changes = list(done.items())[:changes_told_max]
    named = [whom for _, names in changes for whom in names]
    stake = at_stake(speaker, _cues(speaker.reading, named))
    lines = [_of_change(speaker.reading, heading, whom, stake) for heading, whom in changes]
    if len(lines) == 1:
        after = f"{changes[0][0]} after"
        if after not in shelf.sections("circles.txt"):
            return speaker.dress(lines[0], "offer")
        lines.append(_sentences(after, speaker.reading, detail=speaker.topic.noun.definite))
    return speaker.dress([f"{sentence}. {speaker.dice.choice(lines[1])}" for sentence in lines[0]], "offer")


def changes_made(reading: Reading) -> dict[str, list[str]]:
    """What my tools have just done to my circle, and to whom; that they were refused, where they did nothing."""
    said = [call for call in reading.tools_said if _heading(call) and not call.arguments.get("dry_run")]
    done: dict[str, list[str]] = {}
    for call in said:
        if call.is_ok and _heading(call) != "wired":
            done.setdefault(_heading(call), []).append(_whom(call))
    if said and not done:
        done = {"refused" if not said[-1].is_ok else "wired": [_whom(said[-1])]}
    return done


def _is_joining_refused(reading: Reading) -> bool:
    """Whether nobody could be joined that I tried to join in this act: then there is nobody to speak to yet."""
    joins = [call for call in reading.tools_said if _heading(call) == "joined"]
    return bool(joins) and not any(call.is_ok for call in joins)


def _of_change(reading: Reading, heading: str, whom: list[str], stake: str) -> list[str]:
    names = list(dict.fromkeys(whom))
    many = f"{heading} many"
    if len(names) > 1 and many in shelf.sections("circles.txt"):
        heading = many
    return _sentences(heading, reading, who=in_a_list(names), detail=stake)


def at_stake(speaker: Speaker, cues: frozenset[str]) -> str:
    """What a condition is about: a thing of the talk or of the scene that it speaks of; else the topic."""
    reading = speaker.reading
    for text in (*(line.text for line in reversed(reading.fresh)), reading.scene):
        named = [noun for noun in nouns_in(text) if noun.head.lower() not in reading.names]
        phrases = [noun.definite for noun in named if noun.stem in cues]
        words = [word for word in WORD.findall(text.lower()) if stem(word) in cues]
        things = [word for word in words if not (is_a(word, "verb") or is_a(word, "adjective"))]
        if phrases or things:
            return phrases[0] if phrases else f"the {things[-1]}"
    return speaker.topic.noun.definite


def _cues(reading: Reading, whom: Sequence[str] = ()) -> frozenset[str]:
    """The words of all conditions; of those alone whose deed names one of these, if any does."""
    known = directions_of(reading.me)
    handles = [name.replace(" ", "-") for name in whom]
    named = [direction for direction in known if any(map(direction.names, handles))]
    return frozenset[str]().union(*(direction.cue for direction in named or known))


def _heading(said: ToolSaid) -> str:
    """Under what a change is spoken of; empty for what changes nothing."""
    arguments = said.arguments
    if said.tool == "group_add_node":
        return "spawned"
    if said.tool == "group_remove_node":
        return "released"
    if said.tool == "group_wire" and "target" in arguments:
        return "wired"
    if said.tool == "group_channel" and "creature" in arguments:
        return {"join": "joined", "leave": "parted"}.get(str(arguments.get("action")), "")
    return ""


def _whom(said: ToolSaid) -> str:
    given = said.arguments
    return name_of(bare_name(str(given.get("use") or given.get("target") or given.get("creature", ""))))


def _carried(speaker: Speaker) -> Spoken | None:
    """What somebody of another side said, for those who cannot hear it; for whoever carries words across."""
    reading = speaker.reading
    me = reading.me
    cause = reading.cause
    if cause is None or not _CROSSING & set(f"{me.wants} {me.persona}".lower().replace(",", " ").split()):
        return None
    circle = circle_of(reading)
    here = set(circle.channels_of.get(cause.handle, ()))
    if len(circle.speaks_on) < 2 or not here:
        return None
    across = [line for line in reading.heard if _is_across(circle.channels_of, line, here)]
    if not across:
        return None
    detail, other = details_in(reading, across[-1:], "")
    if detail == NOTHING_NAMED:
        return None
    gaps = {"who": name_of(across[-1].handle), "detail": detail, "other": other, "you": name_of(cause.handle)}
    return speaker.dress(_sentences("carried", reading, **gaps), "offer")


def _is_across(channels_of: Mapping[str, tuple[str, ...]], line: Heard, here: set[str]) -> bool:
    where = channels_of.get(line.handle, ())
    return line.origin == "cast" and bool(line.text) and bool(where) and not here & set(where)


def _sentences(heading: str, reading: Reading | None = None, **gaps: str) -> list[str]:
    """The sentences of a heading with their gaps filled; those of somebody gone, or of no winner, where that is so.

    Where a reading is given: those that nobody in sight has said yet, as long as there are such.
    """
    known = shelf.sections("circles.txt")
    absent = next((gap for gap in ("gone", "crew") if gaps.get(gap)), "")
    if absent and f"{heading} {absent}" in known:
        heading = f"{heading} {absent}"
    elif gaps.get("winner") == "" and f"{heading} nobody" in known:
        heading = f"{heading} nobody"
    fresh = [] if reading is None else untold(reading, heading, "circles.txt", **gaps)
    return fresh or with_gaps_filled(known[heading], gaps)
