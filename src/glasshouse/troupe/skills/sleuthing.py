"""Sleuthing: from what was found to somebody named, and from somebody named to what speaks against it.

A hypothesis is chosen by a field `suspect`, an objection by a field `against` that points at a line. Always holds: a
suspect was mentioned in the evidence, and every line that is cited mentions it or was heard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.salience import is_somebody, owners_in, somebodies_in
from glasshouse.troupe.schema import is_ref
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    paired,
    passing,
    sentences,
    untold,
    with_line,
)
from glasshouse.troupe.skills.solo_parts import said_before
from glasshouse.troupe.speaking import Speaker, name_of
from glasshouse.troupe.vocabulary import stem, stems_of

lines_cited_max: Final = 3
"""A suspicion rests on this many of the latest."""
somebodies_max: Final = 2
"""A line that names more people is no clue to one of them."""
suspects_min: Final = 2
"""With fewer in the case, nobody is suspected by name."""
things_a_line_max: Final = 3
"""A line is a clue by this many of the things it names."""
lines_cache_texts_max: Final = 4_096
"""Kept so as not to be computed again: the words and owners in a line."""

NOTHING_NAMED: Final = "what we heard"
"""How lines are spoken of that name nothing."""

_CLAIMING: Final = frozenset({"suspect", "against", "winner", "word", "answer"})
_OBJECTED: Final = 0.25
_HELD_TO: Final = 0.6
_BY_A_RIVAL: Final = 0.45


class Suspicion(NamedTuple):
    """Somebody who could have done it, how much speaks for that, and which lines do."""

    name: str
    weight: float
    lines: tuple[Heard, ...]


def hypothesis(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """Somebody named in the evidence, with the lines that speak of them."""
    branch = next((branch for branch in branches if "suspect" in branch.fields), None)
    reading = speaker.reading
    # A suspect of the cast is found by what they did with words.
    if branch is None or ((words := branch.words_of("suspect")) and {*words} <= {*reading.cast}):
        return None
    ranked = suspicions(reading, branch.words_of("suspect"))
    if not ranked or not ranked[0].lines:
        reply = passing(branches, speaker, "pass no evidence")
        if reply is not None:
            return reply
    if not ranked:
        return None
    suspicion = ranked[0]
    called = called_so(suspicion.name)
    detail, other = details_in(reading, suspicion.lines[-lines_cited_max:], suspicion.name)
    before = _named_before(reading)
    heading = "hypothesis" if not before else "hypothesis again" if before == called else "hypothesis moved"
    gaps = {"suspect": called, "before": before, "detail": detail, "other": other}
    leads = _fresh(reading, heading, gaps) + (
        _fresh(reading, "hypothesis", gaps) if heading == "hypothesis again" else []
    )
    is_many = len(suspicion.lines) > 1 and other
    reasons = _fresh(reading, "because of two" if is_many else "because", gaps)
    aim = f"most of the evidence speaks of {called}"
    spoken = speaker.dress(paired(speaker.dice, leads, reasons), "find", aim)
    cites = [line.ref for line in suspicion.lines[-lines_cited_max:]]
    return with_line(branch, spoken, suspect=suspicion.name, **_refs_for(branch, cites))


def objection(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """What speaks against the newest thing that somebody claimed: the clue it rests on, or one it leaves out."""
    branch = next((branch for branch in branches if is_ref(branch.fields.get("against"))), None)
    if branch is None:
        return None
    reading = speaker.reading
    target = claimed_last(reading)
    if target is None:
        return passing(branches, speaker, "pass no evidence")
    claimed = target.fields.get("suspect")
    suspect = claimed if isinstance(claimed, str) and claimed else _about(target)
    cited = target.fields.get("cites", ())
    shown = [line for line in evidence(reading) if line.ref in cited] if isinstance(cited, list) else []
    detail, other = details_in(reading, shown or [target], suspect)
    if other and detail in reading.own_text and other.split()[-1] not in shelf.words_listed("places.txt"):
        detail = other
    rival, sign = rival_to(reading, suspect)
    gaps = {"suspect": called_so(suspect), "detail": detail, "rival": rival, "sign": sign}
    attacks = _fresh(reading, "objection", gaps)
    if rival and speaker.dice.random() < _BY_A_RIVAL:
        attacks = _fresh(reading, "objection rival", gaps)
    ends = ["", "", *_fresh(reading, "objection end", {})]
    spoken = speaker.dress(
        paired(speaker.dice, attacks, ends),
        "object",
        f"{name_of(target.handle)} says {called_so(suspect)}, and it does not hold yet",
    )
    return with_line(branch, spoken, against=target.ref, **_refs_for(branch, [line.ref for line in shown]))


def _fresh(reading: Reading, heading: str, gaps: Mapping[str, str]) -> list[str]:
    """The sentences of a game that were not said yet, as long as there are such."""
    return untold(reading, heading, "games.txt", **gaps) or sentences(heading, **gaps)


def rival_to(reading: Reading, suspect: str) -> tuple[str, str]:
    """Who else could have done it, and the newest thing that says so; both empty if nothing does."""
    about = stem(suspect.lower())
    for suspicion in suspicions(reading, []):
        if suspicion.lines and stem(suspicion.name.lower()) != about:
            return called_so(suspicion.name), details_in(reading, suspicion.lines[-1:], suspicion.name)[0]
    return "", ""


def suspects_named(reading: Reading) -> list[str]:
    """Those whom the goal names as the ones it can be, or else the world; empty if that is open."""
    suspects = _somebodies(reading, reading.me.goal)
    if len(suspects) < suspects_min:
        texts = (line.text for line in reading.heard if line.origin == "world")
        for text in (*texts, reading.scene):
            suspects |= _somebodies(reading, text)
    return list(suspects.values()) if len(suspects) >= suspects_min else []


def _somebodies(reading: Reading, text: str) -> dict[str, str]:
    return {
        stem(name.lower()): name for name, noun in somebodies_in(reading, text).items() if noun is not None
    }


def claimed_last(reading: Reading) -> Heard | None:
    """The newest line that names somebody; else the newest that rests on others; else the newest of a castmate."""
    cast = [line for line in said_before(reading) if line.origin == "cast" and line.text]
    for field in ("suspect", "cites"):
        claims = [line for line in cast if line.fields.get(field)]
        if claims:
            return claims[-1]
    return cast[-1] if cast else None


def evidence(reading: Reading) -> list[Heard]:
    """The lines that claim nothing: what was found, seen and brought in. A list of everybody is no evidence."""
    return [
        line
        for line in said_before(reading)
        if line.text
        and not _CLAIMING & set(line.fields)
        and len(somebodies_in(reading, line.text)) <= somebodies_max
    ]


def suspicions(reading: Reading, words: list[str]) -> list[Suspicion]:
    """Who could have done it, the likeliest first; one of `words`, or of those named as suspects, if there are such."""
    lines = evidence(reading)
    named = _lines_by_suspect(reading, lines, words)
    doubted = _doubted(reading)
    before = stem(_named_before(reading).removeprefix("the ").lower())
    index = {line.ref: at for at, line in enumerate(lines)}
    weighed = [
        Suspicion(
            name,
            len(mentioning)
            - _OBJECTED * doubted.count(stem(name.lower()))
            + _HELD_TO * (stem(name.lower()) == before),
            tuple(mentioning),
        )
        for name, mentioning in named.items()
    ]

    def rank(suspicion: Suspicion) -> tuple[float, int, str]:
        newest = -index[suspicion.lines[-1].ref] if suspicion.lines else 1
        return -suspicion.weight, newest, suspicion.name

    return sorted(weighed, key=rank)


def _lines_by_suspect(reading: Reading, lines: Sequence[Heard], words: list[str]) -> dict[str, list[Heard]]:
    """The lines that speak of each: of those listed, or else of anybody; and whom a visitor brings, the visitor's own."""
    listed = words or suspects_named(reading)
    named = {name: [line for line in lines if mentions(line.text, name)] for name in listed}
    for line in lines:
        if not listed or (line.origin == "visitor" and not words):
            for name in somebodies_in(reading, line.text):
                if name not in listed:
                    named.setdefault(name, []).append(line)
    return named


def mentions(text: str, name: str) -> bool:
    """Whether a text speaks of somebody, in the singular, the plural or as an owner."""
    lower = name.lower()
    return stem(lower) in _stems_and_owners(text) or (" " in lower and lower in text.lower())


@lru_cache(maxsize=lines_cache_texts_max)
def _stems_and_owners(text: str) -> frozenset[str]:
    return stems_of(text) | {stem(owner) for owner in owners_in(text)}


def _doubted(reading: Reading) -> list[str]:
    """The stems of those whose case was objected to, once for each objection in sight."""
    claims = {line.ref: line for line in (*reading.remembered, *reading.discussion)}
    refs = [str(line.fields["against"]) for line in claims.values() if line.fields.get("against")]
    suspects = [claims[ref].fields.get("suspect") for ref in refs if ref in claims]
    return [stem(str(suspect).lower()) for suspect in suspects if suspect]


def details_in(reading: Reading, lines: Sequence[Heard], but: str) -> tuple[str, str]:
    """Two things that these lines name, beside one; the second may be empty, the first is never.

    Of each line the most telling comes first, so that two lines give one each before either gives a second.
    """
    named = [_things_in(reading, line, but) for line in reversed(lines)]
    chosen: dict[str, str] = {}
    for rank in range(things_a_line_max):
        for things in named:
            if rank < len(things):
                chosen.setdefault(*things[rank])
    details = [*chosen.values(), "", ""]
    return details[0] or NOTHING_NAMED, details[1]


def _things_in(reading: Reading, line: Heard, but: str) -> list[tuple[str, str]]:
    """What a line names beside somebody and places; its places only where it names nothing else."""
    where = shelf.words_listed("places.txt")
    things: dict[str, str] = {}
    for noun in sorted(nouns_in(line.text), key=lambda noun: noun.head.lower() in where):
        head = noun.head.lower()
        is_said = head in reading.names or any(f" {head}" in phrase for phrase in things.values())
        if not (is_said or noun.is_word or is_somebody(reading, noun) or stem(head) == stem(but.lower())):
            things.setdefault(stem(head), noun.definite)
    return list(things.items())[:things_a_line_max]


def _named_before(reading: Reading) -> str:
    """Whom I named last; empty if nobody."""
    for line in reversed(reading.discussion):
        suspect = line.fields.get("suspect")
        if reading.is_mine(line) and isinstance(suspect, str) and suspect:
            return called_so(suspect)
    return ""


def _about(line: Heard) -> str:
    nouns = nouns_in(line.text)
    return nouns[0].head if nouns else "that"


def called_so(name: str) -> str:
    """Somebody as they are spoken of: `the mole`, or by name."""
    if not name or name[0].isupper() or name.startswith("the "):
        return name
    return f"the {name}"


def _refs_for(branch: Branch, refs: list[str]) -> dict[str, list[str]]:
    return {"cites": refs} if refs and "cites" in branch.fields else {}
