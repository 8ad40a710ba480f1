"""`MomentChatModel`: the chat model of a LangChain agent or a LangGraph graph that plays a creature (extra `langgraph`).

await graph.ainvoke(state, context={"model": MomentChatModel(moment=moment)})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasshouse.errors import Refused
from glasshouse.frameworks.chat import ChatTool, Message, ToolRequest, ask
from glasshouse.installation import missing_extra

try:
    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
    from langchain_core.language_models.base import LanguageModelInput
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
    from langchain_core.messages.ai import UsageMetadata
    from langchain_core.messages.tool import tool_call
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ImportError:
    raise missing_extra("langchain-core is not installed.", "langgraph") from None


class MomentChatModel(BaseChatModel):
    """Asks the model of a creature's profile, by `moment.ask`. Use it with `ainvoke`."""

    moment: Any
    """The `Moment` of the act."""
    cache: None = None
    """Glasshouse records every answer; a cache of LangChain would answer beside the ledger."""

    @property
    def _llm_type(self) -> str:
        return "glasshouse"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The same model with these tools. With a `tool_choice` it must use one of them."""
        return self.bind(
            tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise Refused("A creature's model is asked asynchronously.", "Use ainvoke instead of invoke.")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        functions = [tool["function"] for tool in kwargs.get("tools") or ()]
        reply = await ask(
            self.moment,
            "\n".join([str(message.text) for message in messages if isinstance(message, SystemMessage)]),
            [said for message in messages for said in _messages(message)],
            [ChatTool(f["name"], f.get("description", ""), f.get("parameters", {})) for f in functions],
            must_use_tool=kwargs.get("tool_choice") not in {None, "auto", "none"},
            tokens_max=kwargs.get("max_tokens"),
        )
        completion = reply.completion
        request = reply.request
        usage = completion.usage
        answer = AIMessage(
            reply.text,
            tool_calls=[]
            if request is None
            else [tool_call(name=request.tool, args=request.arguments, id=f"call-{len(messages)}")],
            usage_metadata=UsageMetadata(
                input_tokens=usage.input, output_tokens=usage.output, total_tokens=usage.total
            ),
            response_metadata={"model_name": completion.model},
        )
        return ChatResult(generations=[ChatGeneration(message=answer)])


def _messages(message: BaseMessage) -> list[Message]:
    match message:
        case SystemMessage():
            return []
        case ToolMessage():
            return [Message(f"tool {message.name or ''}".strip(), str(message.text))]
        case AIMessage():
            calls = [ToolRequest(call["name"], call["args"]).message for call in message.tool_calls]
            return [*([Message("you", str(message.text))] if message.text else []), *calls]
        case _:
            return [Message("user", str(message.text))]
