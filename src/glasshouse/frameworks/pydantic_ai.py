"""`MomentModel`: the model of a pydantic-ai agent that plays a creature (extra `pydantic-ai`).

result = await agent.run(scene_of(moment), model=MomentModel(moment))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from glasshouse.frameworks.chat import ChatTool, Message, ToolRequest, ask
from glasshouse.installation import missing_extra
from glasshouse.turns.moment.moment import Moment

try:
    from pydantic_ai import messages as parts
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.usage import RequestUsage
except ImportError:
    raise missing_extra("pydantic-ai is not installed.", "pydantic-ai") from None


class MomentModel(Model[None]):
    """Asks the model of a creature's profile, by `moment.ask`."""

    def __init__(self, moment: Moment) -> None:
        super().__init__(profile=ModelProfile(supports_json_schema_output=True))
        self._moment = moment

    @property
    def model_name(self) -> str:
        """The profile of the creature: which model is behind it, the run decides."""
        return self._moment.character.model_profile

    @property
    def system(self) -> str:
        """The name of the provider."""
        return "glasshouse"

    async def request(
        self,
        messages: list[parts.ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> parts.ModelResponse:
        """Ask once."""
        settings, parameters = self.prepare_request(model_settings, model_request_parameters)
        output = parameters.output_object if parameters.output_mode == "native" else None
        reply = await ask(
            self._moment,
            _system(messages),
            [*_messages(messages)],
            [
                ChatTool(tool.name, tool.description or "", tool.parameters_json_schema)
                for tool in (*parameters.declared_function_tools, *parameters.output_tools)
            ],
            must_use_tool=not parameters.allow_text_output and output is None,
            schema=None if output is None else output.json_schema,
            tokens_max=(settings or {}).get("max_tokens"),
        )
        usage = reply.completion.usage
        completion = reply.completion
        said = (
            parts.TextPart(reply.text)
            if reply.request is None
            else parts.ToolCallPart(reply.request.tool, reply.request.arguments)
        )
        return parts.ModelResponse(
            [said],
            usage=RequestUsage(input_tokens=usage.input, output_tokens=usage.output),
            model_name=completion.model,
        )


def _system(messages: Sequence[parts.ModelMessage]) -> str:
    requests = [message for message in messages if isinstance(message, parts.ModelRequest)]
    prompts = [
        part for request in requests for part in request.parts if isinstance(part, parts.SystemPromptPart)
    ]
    instructions = next((request.instructions for request in reversed(requests) if request.instructions), "")
    return "\n".join([*[part.content for part in prompts], *([instructions] if instructions else [])])


def _messages(messages: Sequence[parts.ModelMessage]) -> Iterator[Message]:
    for part in [part for message in messages for part in message.parts]:
        match part:
            case parts.UserPromptPart(content=str(text)):
                yield Message("user", text)
            case parts.UserPromptPart(content=content):
                yield Message("user", "\n".join([item for item in content if isinstance(item, str)]))
            case parts.ToolReturnPart():
                yield Message(f"tool {part.tool_name}", part.model_response_str())
            case parts.RetryFeedbackPart():
                yield Message("user", part.model_response())
            case parts.TextPart(content=text):
                yield Message("you", text)
            case parts.ToolCallPart():
                yield ToolRequest(part.tool_name, part.args_as_dict()).message
            case _:
                pass  # System prompts are told apart; other parts, such as files, are not sent to small models.
