"""Reflecting: what a player understands of what was said, told to itself alone; and its next line, which takes that up.

Chosen where nothing but a reflection is asked for. Whoever has a part reflects in lines of that part; others say of what
they heard only what can be counted in it: who asked twice, what two have spoken of, who called them by name, what came
from outside. Always holds: a reflection rests on the lines that it speaks of; nobody reflects twice on the same; who
finds nothing passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe import kinds
from glasshouse.troupe.grammar import with_capitals
from glasshouse.troupe.noun_phrases import Noun
from glasshouse.troupe.reactions import acts
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.salience import is_addressed, sayable_in
from glasshouse.troupe.schema import is_ref
from glasshouse.troupe.skills.acting import performed_inwardly
from glasshouse.troupe.skills.branches import Branch, Reply, passing, with_gaps_filled, with_line
from glasshouse.troupe.speaking import Speaker, Spoken, name_of

BOOK: Final = "reflections.txt"
lines_reflected_on_max: Final = 24
"""Who reflects looks back over so many lines of others at most."""
refs_max: Final = 4
"""A reflection rests on so many lines at most."""

_THOUGHT: Final = "thought"
_GAP: Final = re.compile(r"<(\w+)>")


class Insight(NamedTuple):
    """Something that can be seen in what was said, and the lines that show it."""

    heading: str
    lines: tuple[Heard, ...]
    gaps: dict[str, str]


def reflected(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A reflection, where it is all that may be written; else none."""
    open_branches = [branch for branch in branches if not (branch.is_passing or branch.tool)]
    if len(open_branches) != 1 or open_branches[0].kind != kinds.AGENT_REFLECTED:
        return None
    branch = open_branches[0]
    reply = performed_inwardly(speaker, branch) if speaker.has_a_part else _counted_up(speaker, branch)
    if reply is None:
        return passing(branches, speaker, "pass")
    # The general thoughts are about the line that is answered, which is my own here.
    thought = speaker.dice.choice(shelf.sections(BOOK)[_THOUGHT])
    return reply._replace(fields={**reply.fields, "thought": thought})


def taken_up(speaker: Speaker, reply: Reply) -> Reply:
    """A line with what I told myself set behind it, once, if there is room; parts have lines of their own for that."""
    text = reply.fields.get("text")
    branch = reply.branch
    if speaker.has_a_part or branch.tool or branch.kind in kinds.INNER or not isinstance(text, str):
        return reply
    aloud = _said_aloud(speaker.reading)
    if not aloud:
        return reply
    spoken = Spoken(text, "", "")
    whole = speaker.with_remark(with_capitals(aloud), spoken, is_last=True).text
    return reply._replace(fields={**reply.fields, "text": whole})


def _counted_up(speaker: Speaker, branch: Branch) -> Reply | None:
    reading = speaker.reading
    field = _field_of_refs(branch)
    known = {match[0] for line in reading.reflections if (match := _template_of(line.text)) is not None}
    for insight in _insights(reading):
        if insight.heading in known:
            continue
        inner = [line.partition(" | ")[0] for line in shelf.sections(BOOK)[insight.heading]]
        texts = with_gaps_filled(inner, insight.gaps)
        short = [text for text in texts if len(text.split()) <= reading.words_max]
        if not short:
            continue
        act = acts()["wonder"]
        text = with_capitals(speaker.dice.choice(short))
        refs = [line.ref for line in insight.lines][-refs_max:]
        spoken = Spoken(text, "", speaker.dice.choice(act.moods))
        return with_line(branch, spoken, **({field: refs} if field else {}))
    return None


def _insights(reading: Reading) -> Iterator[Insight]:
    """What can be counted in the lines of others, the most telling first."""
    lines = [line for line in reading.discussion if not reading.is_mine(line)][-lines_reflected_on_max:]
    cast = [line for line in lines if line.origin == "cast" and line.text]
    citable = {line.ref for line in lines}
    by_speaker: dict[str, list[Heard]] = {}
    for line in cast:
        by_speaker.setdefault(line.handle, []).append(line)
    for handle, said in by_speaker.items():
        asked = tuple(line for line in said if "?" in line.text)
        if len(asked) > 1:
            yield Insight("asked", asked[-2:], {"who": name_of(handle)})
    for handle, said in by_speaker.items():
        calling = tuple(line for line in said if is_addressed(reading, line.text.lower()))
        if len(calling) > 1:
            yield Insight("called", calling[-2:], {"who": name_of(handle)})
    for first, other, noun in _things_of_two(reading, cast):
        gaps = {"who": name_of(first.handle), "other": name_of(other.handle), "thing": noun.definite}
        yield Insight("returned", (first, other), gaps)
    outside = tuple(line for line in reading.disturbances[-1:] if line.ref in citable)
    if outside:
        yield Insight("outside", outside, {})


def _things_of_two(reading: Reading, cast: Sequence[Heard]) -> Iterator[tuple[Heard, Heard, Noun]]:
    """Things that two others have spoken of, the newest first, each with the first line of either."""
    first_by_thing: dict[str, tuple[Heard, Noun]] = {}
    pairs: list[tuple[Heard, Heard, Noun]] = []
    for line in cast:
        for noun in sayable_in(reading, line.text):
            before, named = first_by_thing.setdefault(noun.key, (line, noun))
            if before.handle != line.handle and not any(noun.key == pair[2].key for pair in pairs):
                pairs.append((before, line, named))
    yield from reversed(pairs)


def _field_of_refs(branch: Branch) -> str:
    """The field that asks for the lines that a reflection rests on."""
    schemas = ((name, schema) for name, schema in branch.fields.items() if isinstance(schema, dict))
    return next((name for name, schema in schemas if is_ref(schema.get("items"))), "")


def _said_aloud(reading: Reading) -> str:
    """What I say aloud of a reflection that I have not spoken after; empty if nobody knows how, or it was said already."""
    mine = reading.discussion[reading.last_own_place].ref if reading.last_own_place >= 0 else "0"
    if not reading.reflections or int(reading.reflections[-1].ref) < int(mine):
        return ""
    match = _template_of(reading.reflections[-1].text)
    if match is None:
        return ""
    _, spoken, gaps = match
    fixed = max(_GAP.split(spoken)[::2], key=len).strip().lower()
    if fixed in reading.visible_text:
        return ""
    return _GAP.sub(lambda gap: gaps[gap[1]], spoken)


def _template_of(text: str) -> tuple[str, str, dict[str, str]] | None:
    """The heading that a reflection stands under, what is said aloud of it, and what stood in its gaps."""
    for heading, pattern, spoken in _templates():
        match = pattern.fullmatch(text)
        if match is not None:
            return heading, spoken, match.groupdict()
    return None


@lru_cache(maxsize=1)
def _templates() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Every sentence of the book as a pattern, with its heading and what is said aloud of it."""
    templates = []
    for heading, lines in shelf.sections(BOOK).items():
        for line in lines if heading != _THOUGHT else ():
            inner, _, spoken = line.partition(" | ")
            templates.append((heading, re.compile(_pattern_of(inner), re.IGNORECASE), spoken))
    return tuple(templates)


def _pattern_of(inner: str) -> str:
    parts = _GAP.split(inner)
    pattern = re.escape(parts[0])
    bound: set[str] = set()
    for gap, fixed in zip(parts[1::2], parts[2::2], strict=True):
        pattern += f"(?P={gap})" if gap in bound else f"(?P<{gap}>.+?)"
        pattern += re.escape(fixed)
        bound.add(gap)
    return pattern
