"""Fields: what stands beside the text in a line of a world's own kind.

Always holds: a field holds one of the words it may be, what a text in sight says of it, what I wrote there before, a
throw of dice that the line tells, or how sure the line is; where none of these is to be had, the kind is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from glasshouse.troupe.field_texts import named_in_sight
from glasshouse.troupe.reading import Reading
from glasshouse.troupe.schema import chosen_word, is_ref
from glasshouse.troupe.skills.branches import Branch, Reply, with_line
from glasshouse.troupe.skills.pointing import asks_to_name
from glasshouse.troupe.speaking import Speaker, Spoken, name_of
from glasshouse.troupe.vocabulary import stem, stems_of

dice_sides_max: Final = 20
"""Where a field names no bound, dice have so many sides."""
rating_max: Final = 10
"""Where a field names no bound, it is rated from one to this."""

_BESIDE: Final = frozenset({"kind", "text", "thought", "mood"})
_THROWN: Final = re.compile(r"dice|die|roll|draw|coin|toss|luck")
_RATED: Final = re.compile(r"confiden|certain|sure|rating|score|mark|points|trust|level")
_TRIED: Final = frozenset({"give-way", "give-plan", "stand", "bear-event", "answer-scene", "offer-help"})
"""Moves with which something is tried, so that dice may be thrown for it."""
_SURE: Final = frozenset(
    {"tell-want", "give-reason", "stand", "tell-care", "accept", "help-yes", "answer-hope", "hold-want"}
)
_UNSURE: Final = frozenset(
    {"no-reason", "answer-event", "answer-what", "answer-yes", "keep-secret", "help-no", "give-way"}
)
_AGAINST: Final = re.compile(r"change|reject|deny|denied|no\b|against|low|fail|refuse|guilty|stop|bad|wait")
_CROSS: Final = frozenset(
    {"doubt", "refuse-reason", "oppose", "stand-against", "decline", "help-no", "shrug-care", "bear-no"}
)
_NUMBERS: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100,
}  # fmt: skip


def fields_told(speaker: Speaker, branch: Branch, spoken: Spoken, moves: Sequence[str]) -> Reply | None:
    """The line in a world's own kind; none where a field of it cannot be stated."""
    if _THROWN.search(branch.kind) and not _TRIED.intersection(moves):
        return None
    fields: dict[str, Any] = {}
    stated: list[str] = []
    for name, schema in branch.fields.items():
        if name in _BESIDE or not isinstance(schema, dict) or is_ref(schema) or is_ref(schema.get("items")):
            continue
        words = branch.words_of(name)
        value: Any
        if words and {*words} <= {*speaker.reading.cast, "nobody"}:
            value = _addressed(words, spoken.text) if not asks_to_name(branch.kind, name) else None
        elif words:
            value = _word(speaker, name, words, moves, is_thrown=bool(_THROWN.search(branch.kind)))
            if value is not None and value != _mine_before(speaker.reading, name):
                stated.append(f"{_label(name)}: {value}.")
        elif schema.get("type") in {"integer", "number"}:
            value = _number(speaker, branch, name, schema, moves)
            if value is not None and _THROWN.search(f"{branch.kind} {name}"):
                stated.append(f"{_label(name)}: {value}.")
        elif schema.get("type") == "string":
            value = named_in_sight(speaker.reading, name) or _mine_before(speaker.reading, name)
        else:
            continue
        if value is None or value == "":
            return None
        fields[name] = value
    text = spoken.text
    both = " ".join((text, *stated))
    if stated and speaker.may_say(both):
        text = both
    return with_line(branch, spoken._replace(text=text), **fields)


def has_open_fields(branch: Branch) -> bool:
    """Whether a kind has a field beside its text that is neither a listed word nor the number of a line."""
    others = ((name, schema) for name, schema in branch.fields.items() if name not in _BESIDE)
    return any(
        isinstance(schema, dict)
        and not (branch.words_of(name) or is_ref(schema) or is_ref(schema.get("items")))
        and schema.get("type") in {"string", "integer", "number"}
        for name, schema in others
    )


def _addressed(handles: Sequence[str], text: str) -> str | None:
    """Whom of these a line calls by name last; none if nobody."""
    called = {handle: text.rfind(name_of(handle)) for handle in handles}
    last = max(handles, key=lambda handle: called[handle])
    return last if called[last] >= 0 else None


def _label(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _mine_before(reading: Reading, name: str) -> Any:
    """What I wrote into a field last; none if I have not."""
    mine = (line.fields for line in reversed(reading.discussion) if reading.is_mine(line))
    return next((fields[name] for fields in mine if name in fields), None)


def _word(
    speaker: Speaker, name: str, words: list[str], moves: Sequence[str], *, is_thrown: bool
) -> str | None:
    """A word of a list: against, where the line is; else the one that was spoken of; else what I chose before."""
    against = [word for word in words if _AGAINST.search(word.lower())]
    others = [word for word in words if word not in against]
    if against and others:
        is_cross = bool(_CROSS.intersection(moves))
        before = _mine_before(speaker.reading, name)
        if not is_cross and not {"take-reason", "accept", "help-yes", "take-plan"}.intersection(moves):
            return str(before) if before in words else against[0]
        return against[0] if is_cross else others[0]
    heard = speaker.reading.stems_heard
    if not is_thrown and not any(stems_of(word.replace("-", " ")) & heard for word in words):
        return None
    return str(chosen_word(list(words), heard, speaker.dice))


def _number(
    speaker: Speaker, branch: Branch, name: str, schema: Mapping[str, Any], moves: Sequence[str]
) -> int | float | None:
    low = float(schema.get("minimum", 1))
    high = None if schema.get("maximum") is None else float(schema["maximum"])
    if _THROWN.search(f"{branch.kind} {name}"):
        return speaker.dice.randint(int(low), int(high if high is not None else dice_sides_max))
    if _RATED.search(name):
        top = high if high is not None else rating_max
        share = 0.8 if _SURE.intersection(moves) else 0.3 if _UNSURE.intersection(moves) else 0.5
        value = low + (top - low) * share
        return round(value) if top - low > 1 else round(value, 2)
    return _counted(speaker.reading, name)


def _counted(reading: Reading, name: str) -> int | None:
    """How many of what the field is named after a text of the world tells of: `ten minutes left`."""
    texts = [line.text for line in reversed(reading.discussion) if line.origin in {"world", "visitor"}]
    wanted = stem(name.lower())
    for text in (*texts, reading.scene, reading.me.goal):
        words = re.findall(r"[\w-]+", text.lower())
        for number, thing in pairwise(words):
            if stem(thing) == wanted and (number.isdigit() or number in _NUMBERS):
                return int(number) if number.isdigit() else _NUMBERS[number]
    return None
