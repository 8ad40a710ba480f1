"""`ProviderModel`: hosted models whose providers have an API of their own, by way of pydantic-ai (extra `providers`).

Always holds: `complete` makes exactly one request, because the retries of the providers' own libraries are off. Prices
come from the route, never from pydantic-ai's tables. The extra is imported when a model is made, not before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakKeyDictionary

from glasshouse.errors import GlasshouseError, ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.events.event import Json
from glasshouse.installation import missing_extra
from glasshouse.model_values import Finish, Tokens
from glasshouse.models.deep_probe import deep_checks
from glasshouse.models.installed import usual_context_tokens
from glasshouse.models.reply_parts import ReplyParts, check_prompt_is_whole, is_schema_dropped, name_in
from glasshouse.models.server import BadAnswer, Server, without_mark
from glasshouse.models.server_model import ServerModel
from glasshouse.models.wire_schema import reply_text, wire_schema
from glasshouse.runtime.call_time import CallBounds, first_token_seconds_max, token_seconds_max
from glasshouse.runtime.ports import OnProbe, OnProgress, OnText, Probe
from glasshouse.turns.moment.prompt import Completion, Prompt

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as AnyModel
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

Provider = Literal["anthropic", "gemini", "mistral"]

ADDRESSES: Final[dict[Provider, str]] = {
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "mistral": "https://api.mistral.ai",
}
parallel_default: Final = 8

_FINISHES: Final[dict[str | None, Finish]] = {"length": "length", "content_filter": "filtered"}


class ProviderModel(ServerModel):
    """A model of a hosted provider."""

    is_free: Final = False

    def __init__(
        self,
        model: str,
        provider: Provider,
        *,
        key: str = "",
        key_variable: str = "",
        url: str = "",
        decoding: Mapping[str, Any] | None = None,
        reasoning_tokens_max: int = 0,
        call_seconds_max: float | None = None,
        first_token_seconds_max: float = first_token_seconds_max,
        token_seconds_max: float = token_seconds_max,
        max_parallel: int | None = None,
    ) -> None:
        """`url` replaces the provider's own address."""
        try:
            import pydantic_ai.direct  # noqa: F401 (only to see whether it is installed)
        except ImportError:
            reason = f"{provider} needs the extra `providers`, which is not installed."
            raise missing_extra(reason, "providers") from None
        bounds = CallBounds(call_seconds_max, first_token_seconds_max, token_seconds_max)
        server = Server(url or ADDRESSES[provider], key=key, key_variable=key_variable, bounds=bounds)
        super().__init__(server, model, decoding, reasoning_tokens_max)
        self.max_parallel = max_parallel or parallel_default
        self._provider: Provider = provider
        self._key = key
        self._url = url
        self._models: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[AnyModel, httpx2.AsyncClient]] = (
            WeakKeyDictionary()
        )

    async def complete(
        self, prompt: Prompt, *, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> Completion:
        """The model's answer, by one request."""
        from pydantic_ai.exceptions import AgentRunError, UserError

        time = self._server.call_time(is_streamed=True)
        parts = ReplyParts(time, on_text, on_progress)
        model = self._model()
        schema = self._schema(prompt, model)
        try:
            async with time:
                response = await self._answer(model, prompt, schema, parts)
        except TimeoutError:
            raise ModelFailed(f"{self.backend} {time.late}. {time.advice}", self.name) from None
        except (AgentRunError, UserError) as wrong:
            raise self._error_of(wrong, parts) from None
        return self._completion(prompt, schema, parts, response)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        _, client = self._models.pop(asyncio.get_running_loop(), (None, None))
        if client is not None:
            await client.aclose()

    async def probe(self, *, deep: bool = False, on_probe: OnProbe | None = None) -> Probe:
        """Whether the model answers. Providers say nothing about themselves, so only `deep` asks it."""
        if not self._key:
            name = self._server.key_variable or "the key's environment variable"
            return Probe(is_reachable=False, model=self.name, problem=f"{name} is not set.")
        checks = await deep_checks(self, usual_context_tokens, "", on_probe) if deep else ()
        return Probe(is_reachable=True, model=self.name, checks=checks)

    def _model(self) -> AnyModel:
        loop = asyncio.get_running_loop()
        if loop not in self._models:
            client = self._server.new_client()
            client.event_hooks = {"response": [_drop_mark]}
            self._models[loop] = self._new_model(client), client
        return self._models[loop][0]

    def _new_model(self, client: httpx2.AsyncClient) -> AnyModel:
        given: Json = {
            "api_key": self._key or "missing",
            "http_client": client,
            "base_url": self._url or None,
        }
        if self._provider == "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(self.name, provider=AnthropicProvider(**given))
        if self._provider == "gemini":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel(self.name, provider=GoogleProvider(**given))
        from pydantic_ai.models.mistral import MistralModel
        from pydantic_ai.providers.mistral import MistralProvider

        return MistralModel(self.name, provider=MistralProvider(**given))

    def _schema(self, prompt: Prompt, model: AnyModel) -> Json | None:
        """The schema to send; none if the form, the model or what was learned speaks against it."""
        if not model.profile.get("supports_json_schema_output", False):
            self.form = "json"
        is_sent = prompt.form == "schema" and self.form == "schema" and prompt.schema is not None
        return wire_schema(prompt.schema or {}, "wrapped") if is_sent else None

    async def _answer(
        self, model: AnyModel, prompt: Prompt, schema: Json | None, parts: ReplyParts
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        messages = [ModelRequest(parts=[SystemPromptPart(prompt.system), UserPromptPart(prompt.user)])]
        settings = self._settings(prompt)
        parameters = _parameters(schema)
        async with model_request_stream(
            model, messages, model_settings=settings, model_request_parameters=parameters
        ) as stream:
            async for event in stream:
                if event.event_kind == "part_start" and _add(parts, event.part):
                    break
                if event.event_kind == "part_delta" and _add(parts, event.delta):
                    break
            return stream.get()

    def _settings(self, prompt: Prompt) -> ModelSettings:
        settings: Json = {
            "thinking": "low" if self._reasoning_tokens_max else False,
            **self._decoding,
            "max_tokens": prompt.reply_tokens_max + self._reasoning_tokens_max,
            "seed": prompt.seed,
            "max_retries": 0,
            "timeout": self._server.bounds.total_seconds(is_streamed=True),
        }
        if prompt.stop:
            settings["stop_sequences"] = list(prompt.stop)
        return settings  # type: ignore[return-value]  # A TypedDict, and `decoding` may name any of its keys.

    def _completion(
        self, prompt: Prompt, schema: Json | None, parts: ReplyParts, response: ModelResponse
    ) -> Completion:
        if response.finish_reason == "error":
            raise ModelFailed(f"{self.backend} broke off its answer.", self.name, _tokens_of(response))
        tokens = _tokens_of(response) or parts.tokens_estimated(prompt)
        instead = "Bind a model with a longer context, or lower context_tokens."
        check_prompt_is_whole(prompt, tokens, self.backend, self.name, instead)
        finish = "length" if parts.is_stopped else _FINISHES.get(response.finish_reason, "stop")
        text, reasoning = parts.answer(prompt, finish)
        if schema is not None:
            if finish == "stop" and is_schema_dropped(text, schema):
                self.form = "json"
                self._learn(
                    f"{self.backend} ignores the JSON Schema for {self.name}: it is asked in words now."
                )
            text = reply_text(text, "wrapped")
        return Completion(
            text,
            self.name,
            tokens,
            None,
            reasoning,
            parts.milliseconds,
            finish,
            served_by=name_in(response.model_name if response.model_name != self.name else ""),
            response_id=name_in(response.provider_response_id),
            first_text_ms=parts.first_text_ms,
        )

    def _error_of(self, wrong: Exception, parts: ReplyParts) -> GlasshouseError:
        from pydantic_ai.exceptions import ModelHTTPError, ModelQuotaExceededError

        if parts.text or parts.reasoning:
            reason = f"{self.backend} broke off its answer."
            return ModelFailed(reason, self.name)
        if isinstance(wrong, ModelHTTPError):
            body = wrong.body.get("error", wrong.body) if isinstance(wrong.body, dict) else wrong.body
            words = body.get("message") if isinstance(body, dict) else body
            status = 402 if isinstance(wrong, ModelQuotaExceededError) else wrong.status_code
            bad = BadAnswer(status, self._server.clean(str(words or "")), retry_after=wrong.retry_after)
            if bad.status == 400 and bad.says("schema"):
                reason = f"{self.backend} refuses the JSON Schema of replies for {self.name}: {bad.words}"
                return ModelMisconfigured(
                    reason, "Give its binding `form: json`, or bind another model.", self.name
                )
            return self._server.error_of(bad, self.name, "Check the model's name in its binding.")
        words = self._server.clean(str(wrong))
        if _is_unsent(wrong):
            return ModelUnreachable(f"{self.backend} was not reached ({words}).", self.name)
        return ModelFailed(f"{self.backend} gave no answer ({words}).", self.name)


async def _drop_mark(response: httpx2.Response) -> None:
    """Have a byte order mark left out of a body, which the libraries of the providers do not expect."""
    import httpx2

    if not isinstance(response.stream, httpx2.AsyncByteStream) or "content-encoding" in response.headers:
        return
    stream: httpx2.AsyncByteStream = response.stream

    class Unmarked(httpx2.AsyncByteStream):
        def __aiter__(self) -> AsyncIterator[bytes]:
            return without_mark(stream)

        async def aclose(self) -> None:
            await stream.aclose()

    response.stream = Unmarked()


def _parameters(schema: Json | None) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if schema is None:
        return ModelRequestParameters()
    wanted = OutputObjectDefinition(json_schema=schema, name="reply", strict=True)
    return ModelRequestParameters(output_mode="native", output_object=wanted)


def _add(parts: ReplyParts, part: Any) -> bool:
    """Add a whole part of a response, or a piece of one."""
    text = getattr(part, "content", None) or getattr(part, "content_delta", None)
    is_thinking = "thinking" in (getattr(part, "part_kind", "") or getattr(part, "part_delta_kind", ""))
    return parts.add(None, text) if is_thinking else parts.add(text)


def _tokens_of(response: ModelResponse) -> Tokens | None:
    used = response.usage
    if not used.input_tokens and not used.output_tokens:
        return None
    read = min(used.cache_read_tokens, used.input_tokens)
    stored = min(used.cache_write_tokens, used.input_tokens - read)
    return Tokens(
        used.input_tokens - read - stored,
        used.output_tokens,
        cache_read=read,
        cache_write=stored,
        reasoning=min(used.output_reasoning_tokens, used.output_tokens),
    )


def _is_unsent(wrong: BaseException | None) -> bool:
    """Whether an error goes back to a connection that could not be made."""
    import httpx2

    while wrong is not None:
        if isinstance(wrong, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
            return True
        wrong = wrong.__cause__ or wrong.__context__
    return False
