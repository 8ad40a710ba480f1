"""A prompt's user message parsed back by its headings and lines, by another way than it was written."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from glasshouse.turns.moment import prompt as prompt_parts

HEADINGS = (
    prompt_parts.DISCUSSION,
    prompt_parts.AROUND,
    prompt_parts.SCENE,
    prompt_parts.KNOWN,
    prompt_parts.REMEMBERED,
    prompt_parts.DISTURBANCES,
    prompt_parts.ANSWERED,
    prompt_parts.LAST_ANSWER,
)
LINE = re.compile(r'\[(-?\d+)\] (\S+) \((\w+), ([a-z0-9_.]+)\): ("(?:[^"\\]|\\.)*")(?: (\{.*\}))?')


class Spoken(NamedTuple):
    """One line as a model may read it."""

    ref: str
    handle: str
    origin: str
    kind: str
    text: str
    fields: dict[str, object]


def sections_in(user: str) -> dict[str, list[str]]:
    """The physical lines under each heading, with every way to end a line that Python knows."""
    sections: dict[str, list[str]] = {}
    for line in user.splitlines():
        if line in HEADINGS:
            assert line not in sections
            sections[line] = []
        else:
            sections[next(reversed(sections))].append(line)
    return sections


def spoken(line: str) -> Spoken:
    """One physical line, which must have the form of a line."""
    match = LINE.fullmatch(line)
    assert match is not None, line
    ref, handle, origin, kind, text, fields = match.groups()
    return Spoken(ref, handle, origin, kind, json.loads(text), json.loads(fields) if fields else {})


def discussion_in(user: str) -> list[Spoken]:
    """The lines of the discussion."""
    return [spoken(line) for line in sections_in(user).get(prompt_parts.DISCUSSION, [])]
