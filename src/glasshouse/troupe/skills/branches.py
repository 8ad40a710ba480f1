"""Branches: the kinds of answer that a schema offers, and a reply: one of them with the fields that a skill has filled.

Always holds: a skill knows a branch by its fields and their types, never by the name of its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe import kinds
from glasshouse.troupe.reading import Reading
from glasshouse.troupe.schema import is_ref
from glasshouse.troupe.speaking import Speaker, Spoken

sentences_cache_texts_max: Final = 4_096
"""Kept so as not to be computed again: the longest fixed part of a sentence."""

_GAP: Final = re.compile(r"[<{]\w+[>}]")
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ABOUT_ONESELF: Final = frozenset({"kind", "thought", "mood"})


class Branch(NamedTuple):
    """One kind of answer that may be given."""

    schema: Mapping[str, Any]
    kind: str
    fields: Mapping[str, Any]
    """The schemas of its own fields; of a tool's call, those of its arguments."""
    tool: str = ""
    """The tool that it calls."""

    @property
    def is_passing(self) -> bool:
        """Whether it is the way to say nothing."""
        return self.kind == kinds.AGENT_PASSED

    @property
    def is_plain(self) -> bool:
        """Whether a text is all it asks for."""
        return not self.tool and set(self.fields) == {"text"}

    def words_of(self, field: str) -> list[str]:
        """The words a field may be; none if it may be any, or is the number of a line."""
        schema = self.fields.get(field)
        if not isinstance(schema, dict) or is_ref(schema):
            return []
        return [str(word) for word in schema.get("enum", [schema["const"]] if "const" in schema else [])]

    def takes_text(self, field: str) -> bool:
        """Whether a field is there for words of one's own."""
        schema = self.fields.get(field)
        return (
            isinstance(schema, dict)
            and schema.get("type") == "string"
            and "enum" not in schema
            and not is_ref(schema)
        )


class Reply(NamedTuple):
    """The branch to answer with and what to say in it."""

    branch: Branch
    fields: dict[str, Any]


def branches_of(schema: Any) -> list[Branch]:
    """The branches that a reply's schema offers."""
    if not isinstance(schema, dict):
        return []
    choices = schema.get("anyOf") or schema.get("oneOf") or [schema]
    objects = (choice for choice in choices if isinstance(choice, dict))
    return [_branch(choice) for choice in objects if isinstance(choice.get("properties"), dict)]


def with_line(branch: Branch, spoken: Spoken, **fields: Any) -> Reply:
    """A reply with a line, what was thought and felt behind it, and some more fields."""
    said = {"text": spoken.text, "thought": spoken.thought, "mood": spoken.mood, **fields}
    return Reply(branch, {name: value for name, value in said.items() if name in branch.schema["properties"]})


def call(branch: Branch, arguments: Mapping[str, Any], thought: str) -> Reply:
    """A call of a tool with these arguments, and beside them only what it cannot be called without."""
    properties = branch.schema["properties"]
    required = properties["arguments"].get("required", ())
    needed = {name: schema for name, schema in branch.fields.items() if name in required}
    meant = {name: {"const": value} for name, value in arguments.items()}
    given = {**properties["arguments"], "properties": needed | meant}
    schema = {**branch.schema, "properties": {**properties, "arguments": given}}
    return Reply(branch._replace(schema=schema), {"thought": thought})


def passing(branches: Sequence[Branch], speaker: Speaker, why: str, book: str = "games.txt") -> Reply | None:
    """To say nothing, and why; none where that is not offered."""
    branch = next((branch for branch in branches if branch.is_passing), None)
    if branch is None:
        return None
    return Reply(branch, {"reason": speaker.dice.choice(shelf.sections(book)[why])})


def plain_branch(branches: Sequence[Branch]) -> Branch | None:
    """The branch that asks for a text alone; a world's own kind goes before the core's."""
    plain = [branch for branch in branches if branch.is_plain and branch.kind not in kinds.INNER]
    of_world = [branch for branch in plain if not branch.kind.startswith("agent.")]
    return next(iter(of_world or plain), None)


def speaking_branch(branches: Sequence[Branch]) -> Branch | None:
    """The first branch that neither calls a tool nor says nothing."""
    return next((branch for branch in branches if not (branch.tool or branch.is_passing)), None)


def sentences(heading: str, book: str = "games.txt", **gaps: str) -> list[str]:
    """The sentences of a game with their gaps filled; those with a gap that cannot be filled are left out."""
    return with_gaps_filled(shelf.sections(book)[heading], gaps)


def own_lines(reading: Reading, heading: str) -> tuple[str, ...]:
    """How my part puts what a game has me say under this heading; nothing if I have no part, or none for that."""
    return () if reading.part is None else reading.part.game_lines(heading)


def own_or_common(reading: Reading, heading: str, book: str = "games.txt", **gaps: str) -> list[str]:
    """The sentences of a game under a heading, my own if I have any, with their gaps filled."""
    return with_gaps_filled(own_lines(reading, heading) or shelf.sections(book)[heading], gaps)


def untold(reading: Reading, heading: str, book: str, **gaps: str) -> list[str]:
    """The sentences of a game that cannot be seen in what was said, whatever their gaps were filled with."""
    visible = reading.visible_text
    known = own_lines(reading, heading) or shelf.sections(book).get(heading, ())
    fresh = [sentence for sentence in known if _longest_part(sentence) not in visible]
    return with_gaps_filled(fresh, gaps)


@lru_cache(maxsize=sentences_cache_texts_max)
def _longest_part(text: str) -> str:
    """The longest stretch of a sentence between its gaps, in small letters."""
    return max(_GAP.split(text.lower()), key=len).strip()


def with_gaps_filled(lines: Iterable[str], gaps: Mapping[str, str]) -> list[str]:
    """The lines whose gaps can all be filled, with them filled."""
    filled = []
    for line in lines:
        text = line
        for gap, value in gaps.items():
            if value:
                text = text.replace(f"<{gap}>", value)
        if "<" not in text:
            filled.append(text)
    return filled


def counted(number: int) -> str:
    """A number in words, as far as one counts in words."""
    words = shelf.entries("counting.txt")
    if number < len(words):
        return words[number]
    tens, ones = divmod(number, 10)
    if not 2 <= tens < 2 + len(_TENS):
        return str(number)
    return f"{_TENS[tens - 2]}-{words[ones]}" if ones else _TENS[tens - 2]


def in_a_list(names: Sequence[str]) -> str:
    """Some names as one says them: `wren, moth and owl`; empty if there is none."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def paired(dice: Random, leads: Sequence[str], ends: Sequence[str]) -> list[str]:
    """Some sentences of a lead and an end each, every lead once."""
    return [f"{lead}{_behind(lead, dice.choice(ends))}" for lead in leads]


def _behind(lead: str, end: str) -> str:
    """An end as it stands behind a lead: a question takes a sentence of its own or nothing."""
    if not lead.endswith("?"):
        return end
    return end.removeprefix(".") if end.startswith(". ") else ""


def _branch(schema: dict[str, Any]) -> Branch:
    properties = schema["properties"]
    sort = properties.get("kind")
    kind = str(sort.get("const", "")) if isinstance(sort, dict) else ""
    if kind == kinds.TOOL_CALLED:
        return Branch(schema, kind, properties["arguments"]["properties"], properties["tool"]["const"])
    fields = {name: field for name, field in properties.items() if name not in _ABOUT_ONESELF}
    return Branch(schema, kind, fields)
