"""Sleuthing: from what was found to somebody named, and from somebody named to what speaks against it.

A hypothesis is chosen by a field `suspect`, an objection by a field `against` that points at a line. Always holds: a
suspect was mentioned in the evidence, and every line that is cited mentions it or was heard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from glasshouse.models.offline import shelf
from glasshouse.models.offline.lifting import Noun, nouns_in
from glasshouse.models.offline.reading import Heard, Reading
from glasshouse.models.offline.salience import is_somebody, somebodies_in
from glasshouse.models.offline.schema import is_ref
from glasshouse.models.offline.skills.reply import Branch, Reply, passing, sentences, with_line
from glasshouse.models.offline.speaking import Speaker, name_of
from glasshouse.models.offline.vocabulary import WORD, stem, stems_of

lines_cited_max: Final = 3
somebodies_max: Final = 2

_CLAIMING: Final = frozenset({"suspect", "against", "winner", "word", "answer"})
_LIVING: Final = 2.0
_POINTED_AT: Final = 0.6
_OBJECTED: Final = 0.7
_LISTED: Final = 1.0
_WANTED: Final = 1.5


class Suspicion(NamedTuple):
    """Somebody who could have done it, how much speaks for that, and which lines do."""

    name: str
    weight: float
    lines: tuple[Heard, ...]


def hypothesis(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """Somebody named in the evidence, with the lines that speak of them."""
    branch = next((one for one in branches if "suspect" in one.fields), None)
    if branch is None:
        return None
    reading = speaker.reading
    found = suspicions(reading, branch.words_of("suspect"))
    if not found or not found[0].lines:
        reply = passing(branches, speaker, "pass no evidence")
        if reply is not None:
            return reply
    if not found:
        return None
    suspicion = found[0]
    details = details_in(reading, suspicion.lines, suspicion.name)
    is_answer = any(reading.is_mine(line) and line.fields.get("suspect") for line in reading.discussion)
    heading = "hypothesis again" if is_answer and speaker.dice.random() < 0.5 else "hypothesis"
    spoken = speaker.dress(
        sentences(heading, suspect=_called(suspicion.name), detail=details[0], other=details[1]),
        "find",
        f"most of the evidence speaks of {_called(suspicion.name)}",
    )
    cites = [line.ref for line in suspicion.lines[-lines_cited_max:]]
    return with_line(branch, spoken, suspect=suspicion.name, **_refs_for(branch, cites))


def objection(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """What speaks against the newest thing that somebody claimed."""
    branch = next((one for one in branches if is_ref(one.fields.get("against"))), None)
    if branch is None:
        return None
    reading = speaker.reading
    target = claimed_last(reading)
    if target is None:
        return passing(branches, speaker, "pass no evidence")
    claimed = target.fields.get("suspect")
    suspect = claimed if isinstance(claimed, str) and claimed else _about(target)
    cited = target.fields.get("cites", ())
    others = [line for line in evidence(reading) if stem(suspect) not in line.text.lower()]
    shown = [line for line in evidence(reading) if line.ref in cited] if isinstance(cited, list) else []
    detail = details_in(reading, (*shown, *others) or (target,), suspect)[speaker.dice.random() < 0.4]
    rivals = [one.name for one in suspicions(reading, []) if one.name != suspect]
    spoken = speaker.dress(
        sentences(
            "objection", suspect=_called(suspect), detail=detail, rival=_called(rivals[0]) if rivals else ""
        ),
        "object",
        f"{name_of(target.handle)} says {_called(suspect)}, and it does not hold yet",
    )
    return with_line(branch, spoken, against=target.ref, **_refs_for(branch, [line.ref for line in shown]))


def claimed_last(reading: Reading) -> Heard | None:
    """The newest line that names somebody; else the newest that rests on others; else the newest of a castmate."""
    cast = [line for line in reading.heard if line.origin == "cast" and line.text]
    for field in ("suspect", "cites"):
        claims = [line for line in cast if line.fields.get(field)]
        if claims:
            return claims[-1]
    return cast[-1] if cast else None


def evidence(reading: Reading) -> list[Heard]:
    """The lines that claim nothing: what was found, seen and brought in. A list of everybody is no evidence."""
    return [
        line
        for line in reading.heard
        if line.text
        and not _CLAIMING & set(line.fields)
        and len(somebodies_in(reading, line.text)) <= somebodies_max
    ]


def suspicions(reading: Reading, words: list[str]) -> list[Suspicion]:
    """Who could have done it, the likeliest first; one of `words`, where there are such."""
    lines = evidence(reading)
    objections = [line.text.lower() for line in reading.heard if line.fields.get("against")]
    named: dict[str, list[Heard]] = {word: [] for word in words}
    bonus: dict[str, float] = {}
    for line in lines:
        lower = line.text.lower()
        for word in words:
            if word.lower() in lower or stem(word) in stems_of(line.text):
                named[word].append(line)
        for noun in () if words else nouns_in(line.text):
            weight = _could_have(reading, noun, line.text)
            if weight > 0:
                name = noun.head if noun.is_name else noun.head.lower()
                named.setdefault(name, []).append(line)
                bonus[name] = max(bonus.get(name, 0.0), weight)
        for name, phrase in () if words else somebodies_in(reading, line.text).items():
            if phrase is None:
                named.setdefault(name, []).append(line)
                listed = _LISTED if stem(name) in stems_of(reading.me.goal) else 0.0
                bonus[name] = max(bonus.get(name, 0.0), _LIVING + listed)
    if any(weight >= _LIVING for weight in bonus.values()):
        named = {name: told for name, told in named.items() if bonus.get(name, 0.0) >= _LIVING}
    found = [
        Suspicion(
            name,
            len(told)
            + bonus.get(name, 0.0)
            - _OBJECTED * sum(stem(name.lower()) in one for one in objections),
            tuple(told),
        )
        for name, told in named.items()
    ]
    return sorted(found, key=lambda one: (-one.weight, one.name))


def details_in(reading: Reading, lines: Sequence[Heard], but: str) -> tuple[str, str]:
    """Two things that these lines name, beside one; the second may be empty, the first is never."""
    found: dict[str, str] = {}
    for line in reversed(lines):
        for noun in nouns_in(line.text)[:3]:
            head = noun.head.lower()
            if stem(head) != stem(but.lower()) and head not in reading.names and not noun.is_word:
                found.setdefault(head, noun.definite)
    details = [*found.values(), "", ""]
    return details[0] or "what we heard", details[1]


def _could_have(reading: Reading, noun: Noun, text: str) -> float:
    """How fit somebody is to be named: alive or a name, pointed at, and not what is being looked for."""
    head = noun.head.lower()
    if head in reading.names:
        return 0.0
    weight = _LIVING if is_somebody(reading, noun) else 0.0
    before = WORD.findall(text[: noun.start].lower())[-3:]
    if shelf.words_listed("pointing.txt") & set(before):
        weight += _POINTED_AT
    if stem(head) in stems_of(reading.me.goal):
        weight += _LISTED if weight >= _LIVING else -_WANTED
    return weight


def _about(line: Heard) -> str:
    nouns = nouns_in(line.text)
    return nouns[0].head if nouns else "that"


def _called(name: str) -> str:
    if not name or name[0].isupper() or name.startswith("the "):
        return name
    return f"the {name}"


def _refs_for(branch: Branch, refs: list[str]) -> dict[str, list[str]]:
    return {"cites": refs} if refs and "cites" in branch.fields else {}
