"""`MomentChatClient`: the chat client of an agent-framework agent that plays a creature (extra `agent-framework`).

answer = await Agent(client=MomentChatClient(moment), instructions="…").run(scene_of(moment))
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from glasshouse.errors import Refused
from glasshouse.events.event import Json
from glasshouse.frameworks import chat
from glasshouse.installation import missing_extra
from glasshouse.turns.moment.moment import Moment

try:
    from agent_framework import (
        BaseChatClient,
        ChatMiddlewareLayer,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        FunctionInvocationLayer,
        FunctionTool,
        Message,
        ResponseStream,
    )
except ImportError:
    raise missing_extra("agent-framework-core is not installed.", "agent-framework") from None


class MomentChatClient(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Asks the model of a creature's profile, by `moment.ask`."""

    def __init__(self, moment: Moment) -> None:
        super().__init__()
        self._moment = moment

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        if stream:
            raise Refused("A creature's model answers in one piece.", "Run the agent without stream=True.")
        return self._response(messages, options)

    async def _response(self, messages: Sequence[Message], options: Mapping[str, Any]) -> ChatResponse:
        options = await self._validate_options(options)
        choice = options.get("tool_choice") or {}
        wanted = options.get("response_format")
        mode = choice if isinstance(choice, str) else choice.get("mode")
        tools = [tool for tool in options.get("tools") or () if isinstance(tool, FunctionTool)]
        system = [message.text for message in messages if message.role == "system"]
        reply = await chat.ask(
            self._moment,
            "\n".join([*system, *([options["instructions"]] if options.get("instructions") else [])]),
            [said for message in messages if message.role != "system" for said in _messages(message)],
            [
                chat.ChatTool(tool.name, tool.description, tool.parameters())
                for tool in tools
                if mode != "none"
            ],
            must_use_tool=mode == "required",
            schema=_schema(wanted),
            tokens_max=options.get("max_tokens"),
        )
        completion = reply.completion
        request = reply.request
        call_id = f"call-{len(messages)}"
        usage = completion.usage
        said = (
            Content.from_text(reply.text)
            if request is None
            else Content.from_function_call(call_id, request.tool, arguments=request.arguments)
        )
        return ChatResponse(
            messages=[Message("assistant", [said])],
            model=completion.model,
            finish_reason="stop" if request is None else "tool_calls",
            usage_details={
                "input_token_count": usage.input,
                "output_token_count": usage.output,
                "total_token_count": usage.total,
            },
            response_format=wanted,
        )


def _schema(wanted: Any) -> Json | None:
    if isinstance(wanted, type) and issubclass(wanted, BaseModel):
        return wanted.model_json_schema()
    return dict(wanted) if isinstance(wanted, Mapping) else None


def _messages(message: Message) -> Iterator[chat.Message]:
    by = "you" if message.role == "assistant" else "user"
    for content in message.contents:
        if content.type == "text":
            yield chat.Message(by, content.text or "")
        elif content.type == "function_call":
            arguments = content.parse_arguments() or {}
            yield chat.ToolRequest(content.name or "", arguments).message
        elif content.type == "function_result":
            yield chat.Message("tool", str(content.result))
