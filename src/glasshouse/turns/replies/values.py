"""Values in a reply: fields, and the arguments of the tool that it asks for.

A value is read leniently where it is clear what was meant. Always holds: what is wrong is raised as `Wrong`, in a sentence
that names the field and that a small model can act on. A call names a tool that was offered, has every argument that it
requires and none that it does not know, each of its type.
"""

from __future__ import annotations

import re
from typing import Any, Final

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.codec import json_copy
from glasshouse.events.event import Json
from glasshouse.turns.moment.line_text import cut, one_line
from glasshouse.turns.moment.tools import RESERVED_ARGUMENTS, ToolOffer

argument_chars_max: Final = 4_000
items_max: Final = 16
number_size_max: Final = 10**15
named_chars_max: Final = 40

_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_TRUTHS: Final = {"true": True, "yes": True, "false": False, "no": False}
_NESTED: Final = ("arguments", "parameters", "args")
"""Where small models put arguments that should stand beside the tool's name."""


class Wrong(ValueError):
    """A problem on its way to the one place that hands it back."""


def word_in(name: str, given: object, words: tuple[str, ...]) -> str:
    """One of the words that a field may be."""
    if isinstance(given, bool):
        given = "yes" if given else "no"
    folded = one_line(given).strip("\"'`.@ ").casefold() if isinstance(given, str) else None
    for word in words:
        if word.casefold() == folded:
            return word
    choice = ", ".join(f'"{word}"' for word in words)
    raise Wrong(f'"{name}" may not be {named(given)}: give one of {choice}.')


def number_in(name: str, given: object) -> int | float:
    """A number, also where it was written as text."""
    if isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
        given = float(given) if "." in given else int(given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Wrong(f'"{name}" must be a number.')
    if not -number_size_max <= given <= number_size_max:
        raise Wrong(f'"{name}" is too large a number: stay under {number_size_max:,}.')
    return given


def truth_in(name: str, given: object) -> bool:
    """True or false, also where it was written as text."""
    truth = _TRUTHS.get(given.strip().casefold()) if isinstance(given, str) else given
    if not isinstance(truth, bool):
        raise Wrong(f'"{name}" must be true or false.')
    return truth


def items_in(name: str, given: object) -> list[Any]:
    """The items of a list; one alone is a list of one."""
    items = [given] if isinstance(given, str | int) else given
    if not isinstance(items, list):
        raise Wrong(f'"{name}" must be a list.')
    if len(items) > items_max:
        raise Wrong(f'"{name}" is too long a list: give at most {items_max}.')
    return items


def named(given: object) -> str:
    """A wrong value as a problem shows it: short, and on one line."""
    is_short = isinstance(given, str | int | float)
    return f'"{cut(one_line(str(given)), named_chars_max)}"' if is_short else "that"


def asks_for_tool(reply: Json, offers: tuple[ToolOffer, ...]) -> bool:
    """Whether a reply wants to use a tool: it says so, or it gives the name of one where the kind should stand."""
    kind = reply.get("kind")
    if kind is None:
        return isinstance(reply.get("tool"), str)
    folded = kind.strip().casefold() if isinstance(kind, str) else ""
    return folded == kinds.TOOL_CALLED or folded in [offer.name.casefold() for offer in offers]


def tool_call_in(reply: Json, offers: tuple[ToolOffer, ...]) -> tuple[str, Json]:
    """The tool that a reply asks for, and its arguments."""
    offer = _offer(reply, offers)
    return offer.name, arguments_in(_given(reply, offer), offer)


def _offer(reply: Json, offers: tuple[ToolOffer, ...]) -> ToolOffer:
    given, kind = reply.get("tool"), str(reply.get("kind", "")).strip().casefold()
    if given is None and kind != kinds.TOOL_CALLED:
        given = kind
    names = tuple([offer.name for offer in offers])
    if given is None and len(offers) > 1:
        choice = ", ".join(f'"{name}"' for name in names)
        raise Wrong(f'The answer has no "tool": give one of {choice}.')
    name = names[0] if given is None else word_in("tool", given, names)
    return next(offer for offer in offers if offer.name == name)


def _given(reply: Json, offer: ToolOffer) -> Json:
    """The arguments, also where they were put into an object of their own."""
    properties = offer.parameters.get("properties", {})
    for name in _NESTED:
        nested = reply.get(name)
        if isinstance(nested, dict) and name not in properties:
            return {**reply, **nested}
    return reply


def arguments_in(given: Json, offer: ToolOffer) -> Json:
    """The arguments of a call as its schema wants them. What the schema does not know is left out."""
    properties: Json = offer.parameters.get("properties", {})
    required = offer.parameters.get("required", ())
    arguments: Json = {}
    for name, schema in properties.items():
        if name in RESERVED_ARGUMENTS:
            continue
        value = given.get(name)
        if value is not None:
            arguments[name] = _argument(name, value, schema)
        elif name in required:
            raise Wrong(f'The tool {offer.name} needs "{name}": add it.')
    return arguments


def _argument(name: str, given: Any, schema: Json) -> Any:
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return _one_of(name, given, schema["enum"])
    match schema.get("type"):
        case "integer":
            return _within(name, _whole(name, given), schema)
        case "number":
            return _within(name, number_in(name, given), schema)
        case "boolean":
            return truth_in(name, given)
        case "array":
            return [_argument(name, item, schema.get("items", {})) for item in items_in(name, given)]
        case "object":
            return _object(name, given)
        case _:
            return _text(name, given)


def _one_of(name: str, given: Any, choices: list[Any]) -> Any:
    words = tuple([choice for choice in choices if isinstance(choice, str)])
    if len(words) == len(choices):
        return word_in(name, given, words)
    if given in choices and not isinstance(given, bool):
        return given
    read = number_in(name, given)
    if read in choices:
        return read
    raise Wrong(f'"{name}" may not be {named(given)}: give one of {", ".join(map(str, choices))}.')


def _whole(name: str, given: Any) -> int:
    number = number_in(name, given)
    if number != int(number):
        raise Wrong(f'"{name}" must be a whole number.')
    return int(number)


def _within(name: str, number: int | float, schema: Json) -> int | float:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and number < least:
        raise Wrong(f'"{name}" must be {least} or more.')
    if most is not None and number > most:
        raise Wrong(f'"{name}" must be {most} or less.')
    return number


def _object(name: str, given: Any) -> Json:
    if not isinstance(given, dict):
        raise Wrong(f'"{name}" must be an object in braces.')
    try:
        return json_copy(kinds.TOOL_CALLED, _whole_texts(given))
    except (BadEvent, RecursionError) as wrong:
        raise Wrong(f'"{name}" is nested too deep, or holds a number that is too large.') from wrong


def _whole_texts(value: Any) -> Any:
    """The same without halves of characters, which no ledger can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole_texts(key): _whole_texts(part) for key, part in value.items()}
    return [_whole_texts(part) for part in value] if isinstance(value, list) else value


def _text(name: str, given: Any) -> str:
    if isinstance(given, int | float) and not isinstance(given, bool):
        given = str(given)
    if not isinstance(given, str) or not one_line(given):
        raise Wrong(f'"{name}" must be text in quotation marks.')
    if len(given) > argument_chars_max:
        raise Wrong(f'"{name}" is too long: write at most {argument_chars_max:,} characters.')
    return given.encode("utf-8", "replace").decode()
