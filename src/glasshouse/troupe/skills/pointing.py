"""Pointing: a line of a world's own kind that names one of the cast: a vote, a suspicion.

Chosen by a field whose words are handles, where no word was dealt. Always holds: whoever is named is named for something that they did in
sight; without such a thing nobody is named, and nobody is named twice for the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe.grammar import cores, filled, fits, with_capitals
from glasshouse.troupe.skills.branches import Branch, Reply, with_line
from glasshouse.troupe.speaking import Speaker, Spoken, name_of
from glasshouse.troupe.talk.matters import matter_of
from glasshouse.troupe.talk.situation import QUESTIONS, Situation
from glasshouse.troupe.talk.understanding import TALK

care_words_max: Final = 6
"""What somebody cares about is a reason if it has no more words."""
rounds_before_naming_min: Final = 1
"""Nobody is named before everybody may have spoken so often."""
_POINTS: Final = 0.4
"""How likely somebody is named where plain talk would do."""
_ACCUSING: Final = re.compile(
    r"suspect|suspic|accus|blame|doubt|guilt|culprit|traitor|against|evict|exclu|eliminat"
)
_FAVOURING: Final = re.compile(
    r"vote|elect|choos|chose|choice|pick|favou?r|prais|nomin|award|trust|support|best|ballot"
)

_GOOD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "help-yes": "is ready to help",
        "settle": "is ready to help",
        "hold-word": "keeps a promise",
        "offer-help": "has offered to help",
        "give-reason": "told us why",
        "give-part": "told us what they can do",
        "grudge": "can praise a rival",
        "tell-goal": "remembered why we are here",
        "return-event": "has not forgotten what happened",
        "note-event": "told us what happened",
        "tell-want": "speaks openly",
    }
)
"""What somebody did -> why one is for them, the best reason first."""
_BAD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "break-word": "broke a promise",
        "keep-secret": "keeps something back",
        "look-away": "keeps looking away",
        "no-reason": "could not say why",
        "help-no": "will not help",
        "refuse-term": "gives nothing for help",
        "refuse-reason": "waves every reason away",
        "decline": "wants no help from any of us",
    }
)
"""What somebody did -> why one suspects them, the worst reason first."""


class _Naming(NamedTuple):
    """Whom one names, and why."""

    handle: str
    ground: str
    weight: float


def pointed(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A line that names somebody for what they did; none if no kind asks for it, or nothing is to be said of anybody."""
    reading = speaker.reading
    if reading.known or speaker.has_a_part:
        return None
    matter = matter_of(reading.me.goal)
    if matter is not None and (matter.whos or matter.culprit):
        return None  # What the goal asks to decide, the talk decides.
    for branch in branches:
        if branch.is_plain or branch.is_passing or reading.rounds < rounds_before_naming_min:
            continue
        field = _field_of_handles(branch, reading.cast)
        if not field:
            continue
        situation = Situation(reading)
        is_only_kind = not any(other.is_plain and not other.is_passing for other in branches)
        is_asked = any(item.said is None or item.said.move in QUESTIONS for item in situation.open_to_me)
        if not is_only_kind and (is_asked or speaker.dice.random() > _POINTS):
            return None
        move = asks_to_name(branch.kind, field)
        return _named(speaker, situation, branch, field, move) if move else None
    return None


def _field_of_handles(branch: Branch, cast: Sequence[str]) -> str:
    """The field in which somebody of the cast is named, if it is the only one beside the text; else empty."""
    others = [name for name in branch.fields if name != "text"]
    if branch.is_passing or branch.tool or "text" not in branch.fields or len(others) != 1:
        return ""
    words = branch.words_of(others[0])
    return others[0] if others[0] != "winner" and len(words) > 1 and {*words} <= {*cast, "nobody"} else ""


def asks_to_name(kind: str, field: str) -> str:
    """Whether a field of a kind is there to accuse somebody or to favour somebody; empty if it is for neither."""
    name = f"{kind} {field}"
    return "accuse" if _ACCUSING.search(name) else "favour" if _FAVOURING.search(name) else ""


def _named(speaker: Speaker, situation: Situation, branch: Branch, field: str, move: str) -> Reply | None:
    reading = speaker.reading
    mine = [str(line.fields.get(field, "")) for line in reading.discussion if reading.is_mine(line)]
    before = next((handle for handle in reversed(mine) if handle), "")
    namings = [
        naming
        for naming in _namings(situation, move)
        if naming.handle in branch.words_of(field)
        and naming.handle != reading.me.handle
        and naming.ground not in reading.own_text
    ]
    namings.sort(key=lambda naming: -naming.weight - (naming.handle == before))
    for naming in namings:
        headings = [f"{move}-again"] if naming.handle == before else [move]
        text = _sentence(speaker, situation, headings, naming)
        if text:
            thought = f"{name_of(naming.handle)} {naming.ground}."
            return with_line(branch, Spoken(text, thought, "firm"), **{field: naming.handle})
    return None


def _namings(situation: Situation, move: str) -> list[_Naming]:
    """Everything for which somebody can be named, in the order of the lines."""
    grounds = _BAD if move == "accuse" else _GOOD
    order = [*grounds]
    namings = []
    for handle, moves in situation.said_by.items():
        rivalry = situation.is_rival(handle) * (2.0 if move == "accuse" else -4.0)
        for name in dict.fromkeys(said.move for said in moves if said.move in grounds):
            namings.append(_Naming(handle, grounds[name], len(order) - order.index(name) + rivalry))
        care = situation.cares.get(handle, "")
        if (
            move == "favour"
            and care
            and len(care.split()) <= care_words_max
            and not care.startswith(("my ", "our "))
        ):
            namings.append(_Naming(handle, f"cares about {care}", len(order) / 2 + rivalry))
    return namings


def _sentence(speaker: Speaker, situation: Situation, headings: Sequence[str], naming: _Naming) -> str:
    slots = {"you": name_of(naming.handle), "ground": naming.ground}
    patterns = [(heading, pattern) for heading in headings for pattern in cores(TALK, heading)]
    fresh = [
        pattern
        for heading, pattern in patterns
        if fits(pattern, slots) and (heading, pattern.texts) not in situation.used_patterns
    ]
    for pattern in speaker.dice.sample(fresh, len(fresh)):
        text = with_capitals(f"{filled(pattern, slots, speaker.dice, set())}{pattern.mark}")
        if speaker.may_say(text):
            return text
    return ""
