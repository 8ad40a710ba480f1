"""Conditions: which lines a wire hands over.

    condition  =  clause, or clauses joined by `and`, all of which must hold
    clause     =  name  `is` | `is not` | `has` | `has not`  value
    name       =  kind, text, or another field of the line's payload
    value      =  words as they are, or "words in quotation marks" where `and` or `not` is one of them

`is` compares the whole value; `has` searches in a text, or among the items of a list. Case does not matter. If a line
does not have the field, `is` and `has` are false.

Always holds: a condition is a pure function of one event, and reads only its kind and the named fields of its payload.
Parsed conditions are cached. ADR 0036.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

import msgspec

from glasshouse.errors import BadEvent, Refused, in_brief
from glasshouse.events.event import Event
from glasshouse.events.kinds import check_kind

condition_chars_max: Final = 512
"""A longer condition of a wire is refused."""
clauses_max: Final = 8
"""A condition with more is refused."""
conditions_cache_max: Final = 1_024
"""How many are kept: parsed conditions of wires; more are computed again."""

KIND: Final = "kind"
EXAMPLE: Final = "Write one such as: kind is agent.spoke and text has lantern."

_TOKEN: Final = re.compile(r'\s*(?:"([^"]*)"|([^\s"]+))')
_FIELD: Final = re.compile(r"[a-z][a-z0-9_]*")

Verb = Literal["is", "has"]


class Clause(msgspec.Struct, frozen=True, gc=False):
    """One clause of a condition."""

    name: str
    verb: Verb
    value: str
    is_negated: bool = False

    def holds(self, event: Event) -> bool:
        """Whether the clause is true for this event."""
        field = event.kind if self.name == KIND else event.payload.get(self.name)
        return _matches(field, self.verb, self.value.casefold()) != self.is_negated


class _Word(msgspec.Struct, frozen=True, gc=False):
    text: str
    is_quoted: bool = False


Condition = tuple[Clause, ...]


@lru_cache(maxsize=conditions_cache_max)
def condition_of(text: str) -> Condition:
    """The clauses of a condition, or a refusal that says what is wrong."""
    if len(text) > condition_chars_max:
        raise Refused(
            f"The condition has {len(text):,} characters.", f"Write at most {condition_chars_max}. {EXAMPLE}"
        )
    words = _words(text)
    parts: list[list[_Word]] = [[]]
    for word in words:
        if word == _Word("and"):
            parts.append([])
        else:
            parts[-1].append(word)
    if len(parts) > clauses_max:
        raise Refused(
            f"The condition has {len(parts)} clauses.", f"Join at most {clauses_max} with 'and'. {EXAMPLE}"
        )
    return tuple(_clause(part) for part in parts)


def holds(condition: str | None, event: Event) -> bool:
    """Whether a condition is true for an event. No condition, or one that cannot be parsed, is true for every event."""
    if condition is None:
        return True
    try:
        clauses = condition_of(condition)
    except Refused:  # Written before conditions were checked; it was true for every line then. ADR 0036.
        return True
    return all(clause.holds(event) for clause in clauses)


def _words(text: str) -> list[_Word]:
    words: list[_Word] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Refused("A quotation mark in the condition is not closed.", f"Close it. {EXAMPLE}")
        quoted, plain = match.groups()
        words.append(_Word(plain) if quoted is None else _Word(quoted, is_quoted=True))
        at = match.end()
    return words


def _clause(words: list[_Word]) -> Clause:
    if not words:
        raise Refused("A clause of the condition is empty.", EXAMPLE)
    name, *rest = words
    if name.is_quoted or not _FIELD.fullmatch(name.text):
        raise Refused(f"A clause begins with kind, text or another field, not with {name.text!r}.", EXAMPLE)
    if not rest or rest[0].is_quoted or rest[0].text not in ("is", "has"):
        raise Refused(f"After {name.text!r} the condition lacks 'is' or 'has'.", EXAMPLE)
    verb: Verb = "is" if rest[0].text == "is" else "has"
    is_negated = rest[1:2] == [_Word("not")]
    value = " ".join(word.text for word in rest[1 + is_negated :])
    if not value.strip():
        raise Refused(
            f"The condition does not say what {name.text!r} {verb}{' not' if is_negated else ''}.", EXAMPLE
        )
    if name.text == KIND and verb == "is":
        try:
            check_kind(value)
        except BadEvent as wrong:
            raise Refused(f"{in_brief(value)} is not an event kind.", EXAMPLE) from wrong
    return Clause(name.text, verb, value, is_negated)


def _matches(field: object, verb: Verb, value: str) -> bool:
    if isinstance(field, list):
        return verb == "has" and any(_matches(item, "is", value) for item in field)
    if isinstance(field, bool):
        written = "true" if field else "false"
    elif isinstance(field, str | int | float):
        written = str(field).casefold()
    else:
        return False
    return value == written.strip() if verb == "is" else value in written
