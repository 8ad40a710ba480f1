"""Tool use: any tool, called when the talk is about it and its arguments can be had; then what it said.

Chosen by the branches that call a tool. Always holds: an argument is a date, a number or a thing that can be seen in the
prompt, and a tool whose required arguments are not to be had is not called; a tool that failed is tried once more, and
then spoken about; fields of a reply whose names are in the tool's answer are filled from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.kinds import LOOK_UP, RECALL
from glasshouse.troupe.reading import Reading, ToolSaid, value_in
from glasshouse.troupe.schema import chosen_word
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    call,
    speaking_branch,
    with_gaps_filled,
    with_line,
)
from glasshouse.troupe.skills.choosing import akin
from glasshouse.troupe.speaking import Speaker
from glasshouse.troupe.world_dates import date_in_sight, with_dates_written

BOOK: Final = "tools.txt"
calls_of_a_failing_tool_max: Final = 2
"""A tool that fails is tried this often, and then spoken about."""
answer_words_max: Final = 16
"""Of what a tool answered, this much is said."""

_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_DATE_WORDS: Final = frozenset({"date", "day", "when", "until"})
_SUM_WORDS: Final = frozenset({"expression", "arithmetic", "formula"})
_CALLED: Final = 0.6
_THOUGHT: Final = "I do not guess. I look it up."


def used(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """A tool, called or called again; or what came of it."""
    others = ("group_", LOOK_UP, RECALL)  # Other skills speak of these.
    tools = [branch for branch in branches if branch.tool and not branch.tool.startswith(others[1:])]
    said = [past for past in speaker.reading.tools_said if not past.tool.startswith(others)]
    if said:
        speaking = speaking_branch(branches)
        again = next((branch for branch in tools if said[-1].tool == branch.tool), None)
        if not said[-1].is_ok and len(said) < calls_of_a_failing_tool_max and again is not None:
            return call(again, said[-1].arguments, _THOUGHT)
        return None if speaking is None else _reported(speaker, speaking, said[-1])
    heard = speaker.reading.stems_heard
    for branch in tools:
        if akin(_told_of(branch), heard) and speaker.dice.random() < _CALLED:
            arguments = arguments_for(branch, speaker)
            if arguments is not None:
                return call(branch, arguments, _THOUGHT)
    return None


def arguments_for(branch: Branch, speaker: Speaker) -> dict[str, Any] | None:
    """What a tool can be asked with; none if something that it needs cannot be seen anywhere."""
    arguments = {}
    for name in branch.schema["properties"]["arguments"].get("required", ()):
        value = _argument(name, branch.fields[name], speaker)
        if value is None:
            return None
        arguments[name] = value
    return arguments


def _argument(name: str, schema: Mapping[str, Any], speaker: Speaker) -> Any:
    words = {name, *re.findall(r"[a-z]+", str(schema.get("description", "")).lower())}
    reading = speaker.reading
    if schema.get("enum"):
        return chosen_word(list(schema["enum"]), reading.stems_heard, speaker.dice)
    numbers = _numbers_in_sight(reading)
    if schema.get("type") in {"integer", "number"}:
        return (
            None
            if not numbers
            else int(float(numbers[0]))
            if schema["type"] == "integer"
            else float(numbers[0])
        )
    if schema.get("type") != "string":
        return None
    if words & _DATE_WORDS:
        day = date_in_sight(reading)
        return None if day is None else day.isoformat()
    if words & _SUM_WORDS:
        return f"{numbers[0]} + {numbers[1]}" if len(numbers) > 1 else None
    return speaker.topic.noun.phrase if speaker.topic.is_named else None


def _numbers_in_sight(reading: Reading) -> list[str]:
    texts = (*(line.text for line in reversed(reading.discussion)), reading.scene)
    return list(dict.fromkeys(number for text in texts for number in _NUMBER.findall(text)))


def _reported(speaker: Speaker, branch: Branch, said: ToolSaid) -> Reply:
    tool = f"the {re.split('[:/]', said.tool)[-1].replace('_', ' ').replace('.', ' ')}"
    if not said.is_ok:
        texts = with_gaps_filled(shelf.sections(BOOK)["failed"], {"tool": tool})
        return with_line(branch, speaker.dress(texts, "answer", "I asked twice, and that is enough"))
    texts = with_gaps_filled(shelf.sections(BOOK)["told"], {"tool": tool, "answer": _answer(said)})
    spoken = speaker.dress(texts, "answer", "I say what I was told, and no more")
    return with_line(branch, spoken, **fields_from(said, branch))


def _answer(said: ToolSaid) -> str:
    """A tool's answer as one says it."""
    result = value_in(said.text)
    if isinstance(result, dict):
        text = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in result.items())
    else:
        text = with_dates_written(said.text.strip().rstrip("."))
    return " ".join(text.split()[:answer_words_max]).strip(",;: ") or "nothing"


def fields_from(said: ToolSaid, branch: Branch) -> dict[str, Any]:
    """The fields of a reply that are in a tool's answer, by their names."""
    result = value_in(said.text)
    if isinstance(result, dict):
        return {name: result[name] for name in branch.fields if name in result and name != "text"}
    schemas = ((name, schema) for name, schema in branch.fields.items() if isinstance(schema, dict))
    numbers = [name for name, schema in schemas if schema.get("type") == "number"]
    is_number = isinstance(result, int | float) and not isinstance(result, bool)
    return {numbers[0]: result} if is_number and len(numbers) == 1 else {}


def _told_of(branch: Branch) -> str:
    """What a tool is called, and what the schema says about it."""
    return f"{branch.tool} {branch.schema.get('description', '')}"
