"""Examples: how to answer, told in a prompt by one filled example for each kind and tool, as JSON or as prose.

Always holds: the text depends only on the manifest and on what may be answered, never on what was said, so that it is
the same from act to act. The JSON Schema itself is not in it: it goes to the server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from glasshouse.events import kinds
from glasshouse.events.event import Json
from glasshouse.model_values import Form
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.line_text import compact_json, cut, defanged, safe_line
from glasshouse.turns.moment.prompt import as_prose, prose_label
from glasshouse.turns.moment.reply_schema import ReplySchema, is_ref
from glasshouse.turns.prompts.foreign_tools import without_choices

example_text_chars_max: Final = 120
"""A longer line of a voice is cut where it is the example of an answer."""
example_thought_chars_max: Final = 80
"""A longer text of what a creature wants is cut where it is the example of a thought."""
example_mood_chars_max: Final = 24
"""A longer temper is cut where it is the example of a mood."""
words_listed_max: Final = 24
"""More words that a field may be are counted, not listed."""
words_listed_again_max: Final = 4
"""A choice of this many words or more is listed once, for the first argument that has it."""
description_chars_max: Final = 240
"""A longer description of a tool or an argument is cut."""

AS_JSON: Final = "One JSON object and nothing else. It looks like one of these, with your own words:"
AS_PROSE: Final = "Lines like these and nothing else, with your own words:"
OR: Final = "or"
ALONE_AS_JSON: Final = '"thought" is for yourself alone. Nobody hears it.'
ALONE_AS_PROSE: Final = "THINK is for yourself alone. Nobody hears it. SAY is what you say aloud."
NO_THOUGHT: Final = "This has not been said yet."
NO_TEXT: Final = "Let me say one thing."
NO_REASON: Final = "I have nothing to add."
TOOL_THOUGHT: Final = "This is what is needed now."

_REF_EXAMPLE: Final = "12"
_TYPES: Final = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def how_to_answer(schema: ReplySchema, character: Character, form: Form) -> str:
    """What a system message says about the answer."""
    branches: list[Json] = schema.value["anyOf"]
    examples = [_example(branch, number, character) for number, branch in enumerate(branches)]
    if form == "prose":
        how = [AS_PROSE, f"\n{OR}\n".join([defanged(as_prose(example)) for example in examples])]
        alone = ALONE_AS_PROSE
    else:
        how = [AS_JSON, *map(compact_json, examples)]
        alone = ALONE_AS_JSON
    return "\n".join([*how, alone, *_rules(branches, form), *_tools(branches, form)])


def _is_call(branch: Json) -> bool:
    return bool(branch["properties"]["kind"]["const"] == kinds.TOOL_CALLED)


def _is_foreign(branch: Json) -> bool:
    """Whether a call is one of a server's tool. What strangers say of it is in the user message only."""
    return "description" not in branch


def _example(branch: Json, number: int, character: Character) -> Json:
    """An example of a reply: where it can be, in the creature's own words."""
    properties: Json = branch["properties"]
    if _is_call(branch):
        if _is_foreign(branch):
            properties = {**properties, "arguments": without_choices(properties["arguments"])}
        example = {name: _value(name, schema) for name, schema in properties.items()}
        return {**example, "thought": TOOL_THOUGHT}
    return {
        name: _own_words(name, number, character) or _value(name, schema)
        for name, schema in properties.items()
    }


def _value(name: str, schema: Json) -> Any:
    """An example of what stands in a field."""
    if is_ref(schema):
        return _REF_EXAMPLE if schema["type"] == "string" else [_REF_EXAMPLE]
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    match schema.get("type"):
        case "number" | "integer":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case "array":
            return [_value(name, schema.get("items", {}))]
        case "object":
            fields: Json = schema.get("properties", {})
            shown = [part for part in fields if part in schema.get("required", ())] or [*fields][:1]
            return {part: _value(part, fields[part]) for part in shown}
        case _:
            return f"some {name.replace('_', ' ')}"


def form_sentences(form: Form) -> tuple[str, ...]:
    """The sentences of how to answer that are no creature's words: what a reply looks like, and its placeholders. What a
    creature wants stands there too, but it may say what it wants."""
    about = (AS_PROSE, ALONE_AS_PROSE) if form == "prose" else (AS_JSON, ALONE_AS_JSON)
    return (*about, NO_THOUGHT, NO_TEXT, NO_REASON, TOOL_THOUGHT)


def _own_words(name: str, number: int, character: Character) -> str:
    match name:
        case "thought":
            wants = cut(safe_line(character.wants), example_thought_chars_max)
            return f"What I want: {wants}" if wants else NO_THOUGHT
        case "text":
            said = character.voice.examples or (NO_TEXT,)
            return cut(safe_line(said[number % len(said)]), example_text_chars_max)
        case "mood":
            temper = safe_line(character.temper).replace(";", ",").partition(",")[0]
            return cut(temper, example_mood_chars_max) or "calm"
        case "reason":
            return NO_REASON
        case _:
            return ""


def _rules(branches: Iterable[Json], form: Form) -> list[str]:
    """What may stand in the fields of kinds, one line for each field that is no free text."""
    rules: dict[str, str] = {}
    for branch in branches:
        properties: Json = branch["properties"]
        if not _is_call(branch):
            for name, schema in properties.items():
                if name != "kind" and (rule := _rule(schema)):
                    label = prose_label(name, properties) if form == "prose" else f'"{name}"'
                    rules.setdefault(name, f"{label}: {rule}.")
    return [*rules.values()]


def _rule(schema: Json) -> str:
    if is_ref(schema):
        many = schema["type"] == "array"
        return f"{'numbers of lines' if many else 'the number of a line'}, such as {_REF_EXAMPLE} for [{_REF_EXAMPLE}]"
    if "enum" in schema:
        words = [safe_line(str(word)) for word in schema["enum"]]
        more = f" or {len(words) - words_listed_max} more" if len(words) > words_listed_max else ""
        return f"one of {', '.join(words[:words_listed_max])}{more}"
    return ""


def _tools(branches: Iterable[Json], form: Form) -> list[str]:
    """What each tool does and takes, one line each, and last what all of them take. What was listed is not listed again."""
    tools = [branch for branch in branches if _is_call(branch) and not _is_foreign(branch)]
    if not tools:
        return []
    parameters = [tool["properties"]["arguments"]["properties"] for tool in tools]
    first = parameters[0]
    shared = [
        name for name in first if len(tools) > 1 and all(some.get(name) == first[name] for some in parameters)
    ]
    listed: dict[str, str] = {}
    lines = [_tool_line(branch, shared, listed, form) for branch in tools]
    alike = [_argument(name, tools[0], listed, form) for name in shared]
    return ["Your tools:", *lines, *([f"Each of them takes {' '.join(alike)}"] if alike else [])]


def _tool_line(branch: Json, but: Collection[str], listed: dict[str, str], form: Form) -> str:
    properties: Json = branch["properties"]
    called = f"{properties['tool']['const']}: {cut(safe_line(branch['description']), description_chars_max)}"
    names = [name for name in properties["arguments"]["properties"] if name not in but]
    return " ".join([called, *[_argument(name, branch, listed, form) for name in names]])


def _argument(name: str, branch: Json, listed: dict[str, str], form: Form) -> str:
    """What an argument may be. `listed` has the choices that were told, each with where that was."""
    arguments = branch["properties"]["arguments"]
    schema = arguments["properties"][name]
    label = name.upper() if form == "prose" else f'"{name}"'
    described = safe_line(str(schema.get("description", "")))
    rule = cut(
        _rule(schema) or described or _TYPES.get(schema.get("type", ""), "text"), description_chars_max
    )
    if len(schema.get("enum", ())) >= words_listed_again_max:
        here = f"{label} of {branch['properties']['tool']['const']}"
        where = listed.setdefault(rule, here)
        rule = rule if where is here else f"one of those for {where}"
    return f"{label}: {rule}{'' if name in arguments['required'] else ', or left out'}."
