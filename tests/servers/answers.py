"""One completion as a server was asked for it and as it answers, whichever API it speaks; and its lies and manners.

A lie is something that real servers do behind the client's back. A manner is something that real models do in spite of what
they were asked for. Both have names, which a test gives to the server for all calls or for one.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tests.servers.small_model import (
    Json,
    Say,
    dice_for,
    filled,
    first_tokens,
    in_the_form_of,
    last_tokens,
    message_tokens,
    prompt_tokens_in,
    short_line,
    tokens_in,
)

Lie = Literal[
    "drops the schema",
    "thinking off drops the schema",
    "truncates the prompt",
    "ignores parameters",
    "refuses temperature",
    "refuses max_tokens",
    "refuses a seed",
    "refuses a schema",
    "refuses optional fields",
    "refuses a system role",
    "error in 200",
    "error in the stream",
    "whitespace loop",
    "all in thinking",
    "thinks aloud",
    "truncated",
    "invalid UTF-8",
    "content filter",
    "refusal",
    "no usage",
    "redirects",
]

Manner = Literal[
    "speaks for others",
    "repeats itself",
    "leaks",
    "refuses",
    "wrong language",
    "fences",
    "chats first",
    "wrong schema",
    "huge",
]

Finish = Literal["stop", "length", "content_filter"]

huge_bytes = 3_000_000


@dataclass(frozen=True)
class Call:
    """What a client asked for."""

    model: str
    messages: Sequence[dict[str, str]]
    schema: Json | None = None
    is_json: bool = False
    output_tokens_max: int | None = None
    context_tokens: int | None = None
    """A longer prompt is refused."""
    truncates_to_tokens: int | None = None
    """A longer prompt is cut in silence."""
    stop: Sequence[str] = ()
    seed: int | None = None
    think: bool | None = None
    is_streamed: bool = False
    wants_usage: bool = True
    wants_progress: bool = False
    """Whether llama.cpp tells how far the prompt is read."""

    @property
    def prompt(self) -> str:
        """All messages in one text."""
        return "\n\n".join(message["content"] for message in self.messages)


@dataclass(frozen=True)
class Usage:
    """Tokens of one call or of many. `input` has the cached ones in it, and `output` those of the reasoning."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    usd: float = 0.0

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.usd + other.usd,
        )


@dataclass(frozen=True)
class Answer:
    """What a model answered."""

    text: str
    thinking: str = ""
    finish: Finish = "stop"
    refusal: str | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Player:
    """The small model behind a server, and how it behaves."""

    say: Say | None = None
    kinds: Sequence[str] = ()
    """Which kinds it chooses from, where the schema allows several; empty: all."""
    sealed_word: str = "nightingale"
    """What it says when it leaks."""
    thinks: bool = False
    """Whether it thinks unless it is told not to."""
    truncated_to_tokens: int = 256
    """What is left of a prompt that is truncated in silence."""
    usd_per_million: tuple[float, float] = (0.0, 0.0)

    def answer(self, call: Call, cached: int, behaviours: frozenset[str]) -> Answer:
        """The answer to a call, with what it used."""
        room = self.truncated_to_tokens if "truncates the prompt" in behaviours else call.truncates_to_tokens
        if room is not None and _prompt_tokens(call) > room:
            kept = last_tokens(call.prompt, room - message_tokens)
            call = replace(call, messages=[{"role": "user", "content": kept}])
        if "ignores parameters" in behaviours:
            call = replace(call, schema=None, is_json=False, output_tokens_max=None, stop=(), seed=None)
        if "drops the schema" in behaviours or (
            call.think is False and "thinking off drops the schema" in behaviours
        ):
            call = replace(call, schema=None, is_json=False)
        dice = dice_for(call.prompt, call.seed)
        answer = _misbehaved(self._plain(call, dice, behaviours), behaviours)
        return self._counted(call, _bounded(call, answer, behaviours), cached)

    def _plain(self, call: Call, dice: random.Random, behaviours: frozenset[str]) -> Answer:
        line = self.say(call.prompt) if self.say else short_line(dice)
        line = self._ill_mannered(line, call.prompt, behaviours)
        if call.schema and "wrong schema" not in behaviours:
            schema = _only(self.kinds, call.schema)
            text = json.dumps(filled(schema, line, dice), ensure_ascii=False)
        else:
            text = in_the_form_of(call.prompt, line, dice, self.kinds)
        is_thinking = "all in thinking" in behaviours or (self.thinks and call.think is not False)
        thinking = f"I think about it. {short_line(dice)}" if is_thinking else ""
        if "thinks aloud" in behaviours:
            text = f"<think>{short_line(dice)}</think>{text}"
        return Answer(text, thinking)

    def _ill_mannered(self, line: str, prompt: str, behaviours: frozenset[str]) -> str:
        if "speaks for others" in behaviours:
            others = re.findall(r"^\[\d+\] ([\w-]+) \((?!world)", prompt, flags=re.MULTILINE) or ["Bo", "Cy"]
            return f"{line}\n{others[0]}: I quite agree.\n{others[-1]}: So do I."
        if "repeats itself" in behaviours:
            return "I have always said so, and I say it again."
        if "leaks" in behaviours:
            return f"Between us, the word is {self.sealed_word}."
        if "refuses" in behaviours:
            return "As an AI language model, I cannot take part in this."
        if "wrong language" in behaviours:
            return "Ich habe darüber nachgedacht, und ich glaube, dass wir morgen früh aufbrechen sollten."
        if "huge" in behaviours:
            return line * (huge_bytes // len(line))
        return line

    def _counted(self, call: Call, answer: Answer, cached: int) -> Answer:
        reasoning = tokens_in(answer.thinking)
        asked = _prompt_tokens(call)
        output = tokens_in(answer.text) + reasoning
        dear_in, dear_out = self.usd_per_million
        usd = (asked * dear_in + output * dear_out) / 1_000_000
        return replace(answer, usage=Usage(asked, min(cached, asked), output, reasoning, usd))


def _prompt_tokens(call: Call) -> int:
    return prompt_tokens_in(call.messages)


def _only(kinds: Sequence[str], schema: Json) -> Json:
    """The schema with those variants alone whose kind is wanted, wherever the choice stands; all if none is left."""
    kept = {}
    for name, part in schema.items():
        if name in {"anyOf", "oneOf"}:
            wanted = [variant for variant in part if _kind_of(variant) in kinds]
            kept[name] = wanted or part
        else:
            kept[name] = _only(kinds, part) if isinstance(part, dict) else part
    return kept


def _kind_of(variant: Json) -> str:
    kind = variant.get("properties", {}).get("kind", {})
    return str(kind.get("const") or (kind.get("enum") or [""])[0])


def _misbehaved(answer: Answer, behaviours: frozenset[str]) -> Answer:
    if "fences" in behaviours:
        answer = replace(answer, text=f"```json\n{answer.text}\n```")
    if "chats first" in behaviours:
        answer = replace(
            answer, text=f"Sure! Here is my answer:\n\n{answer.text}\n\nLet me know if I can help."
        )
    if "wrong schema" in behaviours:
        answer = replace(answer, text='{"speech": ["not", "what", "was", "asked"]}')
    if "all in thinking" in behaviours:
        answer = replace(answer, text="", thinking=f"{answer.thinking} {answer.text}")
    if "content filter" in behaviours:
        answer = replace(answer, text="", finish="content_filter")
    if "refusal" in behaviours:
        answer = replace(answer, text="", refusal="I'm sorry, I can't help with that.")
    return answer


def _bounded(call: Call, answer: Answer, behaviours: frozenset[str]) -> Answer:
    limit = call.output_tokens_max or 2048
    if "whitespace loop" in behaviours:
        answer = replace(answer, text='{"kind": ' + "\n" * (limit * 4))
    for mark in call.stop:
        answer = replace(answer, text=answer.text.partition(mark)[0])
    room = max(0, limit - tokens_in(answer.thinking))
    if "truncated" in behaviours:
        room = min(room, tokens_in(answer.text) // 2)
    # A huge answer breaks the limit that it was given: this is what makes it ill.
    if tokens_in(answer.text) > room and "huge" not in behaviours:
        return replace(answer, text=first_tokens(answer.text, room), finish="length")
    return answer
