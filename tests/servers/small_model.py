"""What an imitating server says: a filled-out schema, or the form that the prompt shows.

Always holds: the same messages, seed and schema give the same answer, and a token is four bytes.
"""

import hashlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Json = dict[str, Any]
Say = Callable[[str], str]
"""From the prompt, all messages joined, to the line that is said."""

_ADJECTIVES = (
    "amber brave crooked dusty eager faint golden hollow icy jolly keen lonely mossy narrow odd pale quiet"
)
_NOUNS = (
    "acorn bell candle door ember fern gate hinge island jar kettle ladder mirror needle oak pebble quill"
)
_VERBS = (
    "answers borrows carries doubts echoes follows guards hides invents joins keeps loses mends names opens"
)
ADJECTIVES, NOUNS, VERBS = (words.split() for words in (_ADJECTIVES, _NOUNS, _VERBS))

bytes_per_token = 4
message_tokens = 4


def tokens_in(text: str) -> int:
    """How many tokens a text has here."""
    return -(-len(text.encode()) // bytes_per_token)


def prompt_tokens_in(messages: Sequence[Mapping[str, str]]) -> int:
    """How many tokens a conversation has here, with the marks round each message."""
    return sum(tokens_in(message["content"]) + message_tokens for message in messages)


def first_tokens(text: str, count: int) -> str:
    """The beginning of a text, at most so many tokens long."""
    return text.encode()[: count * bytes_per_token].decode(errors="ignore")


def last_tokens(text: str, count: int) -> str:
    """The end of a text, at most so many tokens long."""
    return text.encode()[max(0, len(text.encode()) - count * bytes_per_token) :].decode(errors="ignore")


def dice_for(prompt: str, seed: int | None) -> random.Random:
    """The random numbers for one answer."""
    return random.Random(hashlib.sha256(f"{seed}:{prompt}".encode()).digest())


def short_line(dice: random.Random) -> str:
    """A line that hardly ever comes twice."""
    first, second = (f"{dice.choice(ADJECTIVES)} {dice.choice(NOUNS)}" for _ in range(2))
    return f"The {first} {dice.choice(VERBS)} the {second} and {dice.choice(VERBS)} the {dice.choice(NOUNS)}."


def filled(
    schema: Json, line: str, dice: random.Random, definitions: Json | None = None, field: str = ""
) -> Any:
    """A value that the schema allows. The line stands in the field `text`; other texts are short."""
    definitions = definitions or schema.get("$defs", {})
    if "$ref" in schema:
        return filled(definitions[schema["$ref"].rpartition("/")[2]], line, dice, definitions, field)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return dice.choice(schema["enum"])
    if variants := schema.get("anyOf") or schema.get("oneOf"):
        return filled(dice.choice(variants), line, dice, definitions, field)
    match _type_in(schema, dice):
        case "object":
            return {
                name: filled(part, line, dice, definitions, name)
                for name, part in schema.get("properties", {}).items()
            }
        case "array":
            count = max(schema.get("minItems", 0), min(1, schema.get("maxItems", 1)))
            return [filled(schema.get("items", {}), line, dice, definitions, field) for _ in range(count)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return dice.random() < 0.5
        case "null":
            return None
        case _:
            text = line if field in {"text", ""} else short_line(dice)
            return text[: schema.get("maxLength", len(text))]


def _type_in(schema: Json, dice: random.Random) -> str:
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    return str(dice.choice(kinds) if isinstance(kinds, list) else kinds)


def in_the_form_of(prompt: str, line: str, dice: random.Random, kinds: Sequence[str]) -> str:
    """What a model without a grammar writes: JSON if the prompt shows JSON, labelled lines if it shows those, else the
    line. It copies one of the forms, of these kinds if there are any, puts its line in, and chooses where words are listed."""
    if examples := [example for example in _objects_in(prompt) if "kind" in example]:
        wanted = [example for example in examples if example["kind"] in kinds]
        example = dice.choice(wanted or examples)
        texts = {
            name: line if name == "text" else _chosen(prompt, f'"{name}"', value, dice)
            for name, value in example.items()
        }
        return json.dumps(texts, ensure_ascii=False)
    if blocks := re.findall(r"^KIND: .+(?:\n[A-Z]+: .*)*", prompt, flags=re.MULTILINE):
        wanted = [block for block in blocks if block.partition("\n")[0].removeprefix("KIND: ") in kinds]
        block = re.sub(r"(?m)^SAY: .*$", lambda _: f"SAY: {line}", dice.choice(wanted or blocks))
        return re.sub(
            r"(?m)^([A-Z]+): (.*)$", lambda m: f"{m[1]}: {_chosen(prompt, m[1], m[2], dice)}", block
        )
    return line


def _chosen(prompt: str, label: str, value: Any, dice: random.Random) -> Any:
    """One of the words that the prompt lists for a field, where the form has a placeholder; the newest line, where it has the
    number of one."""
    if value in ("12", ["12"]):
        newest = re.findall(r"^\[(\d+)\] ", prompt, flags=re.MULTILINE)[-1:] or ["12"]
        return newest if isinstance(value, list) else newest[0]
    listed = re.search(rf"^{re.escape(label)}: one of ([^.\n]*)", prompt, flags=re.MULTILINE)
    is_open = isinstance(value, str) and value.startswith("<")
    return dice.choice(listed[1].split(", ")) if listed and is_open else value


def _objects_in(text: str) -> list[Json]:
    decoder = json.JSONDecoder()
    objects = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
            objects.append(value)
        except json.JSONDecodeError:
            end = at + 1
        at = text.find("{", end)
    return [value for value in objects if isinstance(value, dict)]
