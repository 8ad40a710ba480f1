"""One question of a framework's agent, asked through a moment: a conversation becomes a prompt, and the reply is read.

Always holds: each message of a longer conversation is one quoted line, so that none can forge another. What a framework
sets for the sampling is ignored: the run's models decide that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from glasshouse.errors import Refused
from glasshouse.events.event import Json
from glasshouse.turns.moment.moment import NOTHING_SHOWN, Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.prompts.context import written_for
from glasshouse.turns.replies.reply import object_in

TEXT: Final[Json] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


class Message(NamedTuple):
    """One message of a conversation."""

    by: str
    """`user`, `you` for the agent itself, or `tool` with the tool's name."""
    text: str


class ChatTool(NamedTuple):
    """A tool of the framework's agent, which the framework carries out."""

    name: str
    description: str
    parameters: Json

    @property
    def schema(self) -> Json:
        """The reply that asks for it."""
        fields = {"tool": {"const": self.name}, "arguments": {"type": "object", **self.parameters}}
        return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


class ToolRequest(NamedTuple):
    """A call of a tool that the model asks for."""

    tool: str
    arguments: Json

    def __str__(self) -> str:
        return _json({"tool": self.tool, "arguments": self.arguments})


class ChatReply(NamedTuple):
    """What the model replied: a text, or a request to use a tool."""

    text: str
    request: ToolRequest | None
    completion: Completion


def scene_of(moment: Moment) -> str:
    """What a creature sees in a moment, as a prompt tells it: who is around, what was said, and what it answers now."""
    return written_for(moment).prompt.user


async def ask(
    moment: Moment,
    system: str,
    messages: Sequence[Message],
    tools: Sequence[ChatTool] = (),
    *,
    must_use_tool: bool = False,
    schema: Json | None = None,
    tokens_max: int | None = None,
) -> ChatReply:
    """Ask the model of the moment. The reply is a text, or JSON text of the `schema`, or a request to use a tool."""
    text_schema = schema or TEXT
    choices = [*[tool.schema for tool in tools], *([] if must_use_tool and tools else [text_schema])]
    is_plain = not tools and schema is None
    wanted = choices[0] if len(choices) == 1 else {"anyOf": choices}
    user = messages[0].text if len(messages) == 1 else "\n".join([_line(message) for message in messages])
    written = written_for(moment)
    completion = await moment.ask(
        Prompt(
            system
            if is_plain
            else f"{system}\n\n{_how_to_answer(tools, schema, must_use_tool=must_use_tool)}".strip(),
            user,
            schema=wanted,
            reply_tokens_max=min(tokens_max or moment.reply_tokens_max, moment.reply_tokens_max),
            # A reference means something only in the schema that it was written for, so such a schema is told in words.
            form="prose"
            if is_plain
            else "json"
            if moment.form == "prose" or "$ref" in _json(wanted)
            else moment.form,
        ),
        written.shown if _json(written.prompt.user)[1:-1] in _json(user) else NOTHING_SHOWN,
    )
    return _reply(completion, tools, is_plain=is_plain, has_schema=schema is not None)


def _reply(
    completion: Completion, tools: Sequence[ChatTool], *, is_plain: bool, has_schema: bool
) -> ChatReply:
    text = completion.text.strip()
    if is_plain:
        return ChatReply(text.removeprefix("SAY:").strip(), None, completion)
    reply = object_in(text)
    name = None if reply is None else reply.get("tool")
    if reply is not None and name in [tool.name for tool in tools]:
        arguments = reply.get("arguments")
        request = ToolRequest(str(name), arguments if isinstance(arguments, dict) else {})
        return ChatReply("", request, completion)
    if reply is not None and not has_schema and isinstance(reply.get("text"), str):
        text = reply["text"]
    return ChatReply(text, None, completion)


def _how_to_answer(tools: Sequence[ChatTool], schema: Json | None, *, must_use_tool: bool) -> str:
    lines = [f"{tool.name}: {tool.description} Its arguments: {_json(tool.parameters)}" for tool in tools]
    answer = f"a JSON object of this schema: {_json(schema)}" if schema else '{"text": "what you say"}'
    calls = [f"to use a tool, {ToolRequest(tool.name, {})}, with its arguments" for tool in tools[:1]]
    ends = [] if must_use_tool and tools else [f"to end, {answer}"]
    return "\n".join(
        [
            *(["YOUR TOOLS"] if tools else []),
            *lines,
            f"Answer with one JSON object: {'; '.join([*calls, *ends])}.",
        ]
    )


def _line(message: Message) -> str:
    return f"{message.by}: {_json(message.text)}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def missing_package(package: str, extra: str) -> Refused:
    """The refusal of an adapter whose framework is not installed."""
    return Refused(f"{package} is not installed.", f'Install it with: pip install "glasshouse[{extra}]"')
