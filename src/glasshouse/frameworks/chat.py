"""One question of a framework's agent, asked through a moment: a conversation becomes a prompt, and the reply is read.

Always holds: each message of a longer conversation is one quoted line, so that none can forge another, and none holds a
control token of a chat. What a framework sets for the sampling is ignored: the run's models decide that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from glasshouse.events.event import Json
from glasshouse.model_values import Form
from glasshouse.turns.moment.line_text import defanged
from glasshouse.turns.moment.moment import NOTHING_SHOWN, Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.prompts.context import prompt_for, written_for
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
    used: str = ""
    """The tool that it asks for, if it does."""


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

    @property
    def message(self) -> Message:
        """The agent's message that makes it."""
        return Message("you", str(self), self.tool)


class ChatReply(NamedTuple):
    """What the model replied: a text, or a request to use a tool."""

    text: str
    request: ToolRequest | None
    completion: Completion


def scene_of(moment: Moment) -> str:
    """What a creature sees in a moment, as a prompt tells it: who is around, what was said, and what it answers now."""
    return prompt_for(moment).user


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
    is_plain = not tools and schema is None
    may_end = not (must_use_tool and tools)
    # The offline troupe takes the first choice. So it uses each tool once, and then ends.
    used = [message.used for message in messages]
    calls = [[tool.schema for tool in tools if (tool.name in used) is is_used] for is_used in (False, True)]
    choices = [*calls[0], *([schema or TEXT] if may_end else []), *calls[1]]
    wanted = choices[0] if len(choices) == 1 else {"anyOf": choices}
    # The framework's tools may have read strangers' words. No control token in them is one for the model.
    lines = [messages[0].text] if len(messages) == 1 else [_line(message) for message in messages]
    user = defanged("\n".join(lines))
    how = "" if is_plain else _how_to_answer(tools, schema, may_end=may_end)
    prompt = Prompt(
        "\n\n".join(filter(None, (system, how))),
        user,
        schema=wanted,
        reply_tokens_max=min(tokens_max or moment.reply_tokens_max, moment.reply_tokens_max),
        form="prose" if is_plain else _form(moment, wanted),
    )
    scene, shown = written_for(moment)
    is_scene_in_it = scene.user in user or _json(scene.user)[1:-1] in user
    completion = await moment.ask(prompt, shown if is_scene_in_it else NOTHING_SHOWN)
    return _reply(completion, tools, is_plain=is_plain, has_schema=schema is not None)


def _form(moment: Moment, wanted: Json) -> Form:
    """How JSON is asked for. A reference means something only in the schema that it was written for, so such a schema is only
    told in words."""
    return "json" if moment.form == "prose" or "$ref" in _json(wanted) else moment.form


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


def _how_to_answer(tools: Sequence[ChatTool], schema: Json | None, *, may_end: bool) -> str:
    offers = [f"{tool.name}: {tool.description} Its arguments: {_json(tool.parameters)}" for tool in tools]
    call = [f"to use a tool, {ToolRequest(tools[0].name, {})} with its arguments"] if tools else []
    end = f"one of this schema: {_json(schema)}" if schema else '{"text": "what you say"}'
    ways_to_answer = "; ".join([*call, *([f"to end, {end}"] if may_end else [])])
    heading = ["YOUR TOOLS"] if tools else []
    return "\n".join([*heading, *offers, f"Answer with one JSON object: {ways_to_answer}."])


def _line(message: Message) -> str:
    return f"{message.by}: {_json(message.text)}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
