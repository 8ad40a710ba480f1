"""How the servers that people use speak: which paths they have, what they refuse, how their answers look.

Each `Imitation` turns a request into a `Call`, and the `Answer` to it into the bytes that its server would send. The shapes
are those of the servers' own documentation. Always holds: an imitation generates and counts nothing itself.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from tests.servers.answers import Answer, Call, Usage
from tests.servers.small_model import Json, tokens_in
from tests.servers.wire import Reply, Request, json_reply

Personality = Literal["openai", "openrouter", "vllm", "lmstudio", "ollama", "llamacpp"]

CREATED = 1_790_000_000
DATE = "2026-09-21T14:13:20.000000Z"
nanoseconds_to_load = 2_000_000_000
prompt_batch_tokens = 256
"""After so many tokens of a prompt llama.cpp tells how far it is: the real one after 2,048."""
piece_chars = 12
LLAMA_CPP_SAMPLES: Mapping[str, float] = {
    "temperature": 0.8,
    "top_k": 40,
    "top_p": 0.95,
    "min_p": 0.05,
    "dry_multiplier": 0.0,
    "dry_base": 1.75,
    "dry_allowed_length": 2,
    "dry_penalty_last_n": -1,
}
"""How llama.cpp samples if nobody says otherwise."""


@dataclass(frozen=True)
class ServedModel:
    """A model as the server lists it."""

    name: str
    parameters: str = "8.2B"
    quantization: str = "Q4_K_M"
    family: str = "qwen3"
    context_tokens: int = 40_960
    """What it was trained for."""
    loaded_context_tokens: int = 8_192
    """What the server serves."""
    is_context_listed: bool = True
    """Whether the server's list of models says what it serves. Older servers of llama.cpp list the trained one alone."""
    bytes: int = 5_200_000_000
    capabilities: Sequence[str] = ("completion",)
    kind: str = "llm"
    """As LM Studio says it: llm, vlm or embeddings."""
    remote_host: str = ""
    template: str = "{{ .System }}{{ .Prompt }}"
    usd_per_million: tuple[float, float] = (0.1, 0.4)
    samples: Mapping[str, float] = field(default_factory=lambda: LLAMA_CPP_SAMPLES, hash=False)
    """How llama.cpp samples by itself, as its `/props` tell."""
    slots: int = 1
    """How many calls llama.cpp answers at once, as its `/props` tell. This server answers as many as come."""

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()


class Unwilling(Exception):
    """The server refuses a request with this status and body."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(status, body)
        self.status = status
        self.body = body


def schema_in(body: Json) -> tuple[Json | None, bool]:
    """The schema that an OpenAI-compatible request sends, and whether it asks for any JSON at all."""
    wanted = body.get("response_format") or {}
    match wanted.get("type"):
        case "json_schema":
            return wanted["json_schema"]["schema"], True
        case "json_object":
            return None, True
        case _:
            return None, False


def complaint_about_strictness(schema: Json, where: str = "()") -> str | None:
    """What OpenAI's strict mode says against a schema: every field is required, nothing else is allowed."""
    if where == "()" and ("anyOf" in schema or schema.get("type") != "object"):
        return "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'."
    fields = schema.get("properties", {})
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return f"In context={where}, 'additionalProperties' is required to be supplied and to be false."
        if missing := sorted(set(fields) - set(schema.get("required", []))):
            advice = (
                "'required' is required to be supplied and to be an array including every key in properties."
            )
            return f"In context={where}, {advice} Missing '{missing[0]}'."
    parts = [*fields.items(), *(("anyOf", part) for part in schema.get("anyOf", []))]
    parts += [("items", schema["items"])] if isinstance(schema.get("items"), dict) else []
    complaints = (complaint_about_strictness(part, f"('{name}')") for name, part in parts)
    return next((complaint for complaint in complaints if complaint), None)


class OpenAI:
    """OpenAI's API; other servers have it with differences."""

    root: ClassVar[str] = "/v1"
    refused_schema_is_strict: ClassVar[bool] = True
    always_reports_usage: ClassVar[bool] = False
    """Whether a stream ends with the usage even if nobody asked for it."""

    def __init__(self, models: Sequence[ServedModel]) -> None:
        self.models = models

    @property
    def completions(self) -> Sequence[str]:
        """The paths that generate."""
        return [f"{self.root}/chat/completions"]

    def call(self, request: Request, behaviours: frozenset[str]) -> Call:
        """What is asked for. Raises `Unwilling` if the server refuses it."""
        body = request.json()
        self._check(body, behaviours)
        schema, is_json = schema_in(body)
        stop = body.get("stop") or []
        return Call(
            model=body["model"],
            messages=body["messages"],
            schema=schema,
            is_json=is_json,
            output_tokens_max=body.get("max_completion_tokens") or body.get("max_tokens"),
            context_tokens=self.served(body["model"]).loaded_context_tokens,
            stop=[stop] if isinstance(stop, str) else stop,
            seed=body.get("seed"),
            think=_think_in(body),
            is_streamed=body.get("stream", False),
            wants_usage=bool(
                (body.get("stream_options") or {}).get("include_usage", self.always_reports_usage)
            ),
            wants_progress=bool(body.get("return_progress")),
        )

    def served(self, name: str) -> ServedModel:
        """The model of this name."""
        for model in self.models:
            if model.name == name:
                return model
        raise Unwilling(404, self.error(404, f"The model `{name}` does not exist.", code="model_not_found"))

    def error(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> Json:
        """An error as this server words it."""
        return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}

    def too_long(self, asked: int, limit: int) -> Unwilling:
        """The refusal of a prompt that is longer than the context."""
        message = f"This model's maximum context length is {limit} tokens. However, your messages resulted in {asked}."
        return Unwilling(400, self.error(400, message, code="context_length_exceeded", param="messages"))

    def _check(self, body: Json, behaviours: frozenset[str]) -> None:
        self.served(body["model"])
        if "refuses temperature" in behaviours and body.get("temperature", 1) != 1:
            message = (
                f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. "
                "Only the default (1) value is supported."
            )
            raise Unwilling(400, self.error(400, message, code="unsupported_value", param="temperature"))
        for lie, name, advice in (
            ("refuses max_tokens", "max_tokens", " Use 'max_completion_tokens' instead."),
            ("refuses a seed", "seed", ""),
        ):
            if lie in behaviours and name in body:
                message = f"Unsupported parameter: '{name}' is not supported with this model.{advice}"
                raise Unwilling(400, self.error(400, message, code="unsupported_parameter", param=name))
        if "refuses a system role" in behaviours and any(
            part["role"] == "system" for part in body["messages"]
        ):
            message = "Conversation roles must alternate user/assistant. System role not supported"
            raise Unwilling(400, self.error(400, message))
        self._check_schema(body, behaviours)

    def _check_schema(self, body: Json, behaviours: frozenset[str]) -> None:
        schema, _ = schema_in(body)
        if schema is None:
            return
        if "refuses a schema" in behaviours:
            message = (
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
            )
            raise Unwilling(400, self.error(400, message, param="response_format"))
        wanted = body["response_format"]["json_schema"]
        is_strict = (
            self.refused_schema_is_strict and wanted.get("strict")
        ) or "refuses optional fields" in behaviours
        if is_strict and (complaint := complaint_about_strictness(schema)):
            message = f"Invalid schema for response_format '{wanted['name']}': {complaint}"
            raise Unwilling(400, self.error(400, message, param="response_format"))

    def reply(self, call: Call, answer: Answer, number: int, behaviours: frozenset[str]) -> Reply:
        """The answer as it goes over the wire."""
        if "error in 200" in behaviours or ("error in the stream" in behaviours and not call.is_streamed):
            return json_reply(200, self.upstream_error())
        usage = None if "no usage" in behaviours else self.usage(answer.usage)
        if call.is_streamed:
            usage = usage if call.wants_usage else None
            events = self._stream(call, answer, number, usage, behaviours)
            pieces = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
            sent = [*self.stream_opening, *pieces, b"data: [DONE]\n\n"]
            return Reply(200, sent, "text/event-stream", True, self.stream_headers)
        choice = {
            "index": 0,
            "message": self.message(answer),
            "logprobs": None,
            "finish_reason": answer.finish,
        }
        body = self._named(call, number, "chat.completion") | {
            "choices": [choice | self.choice_extras(answer)]
        }
        return json_reply(200, body | ({"usage": usage} if usage else {}) | self.body_extras(call, answer))

    stream_opening: ClassVar[Sequence[bytes]] = ()
    stream_headers: ClassVar[Mapping[str, str]] = {}

    def _stream(
        self, call: Call, answer: Answer, number: int, usage: Json | None, behaviours: frozenset[str]
    ) -> list[Json]:
        chunk = self._named(call, number, "chat.completion.chunk")
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        deltas += [self.thinking_delta(piece) for piece in _pieces(answer.thinking)]
        deltas += [{"content": piece} for piece in _pieces(answer.text)]
        deltas += [{"refusal": answer.refusal}] if answer.refusal else []
        events = [
            chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        if "error in the stream" in behaviours:
            middle = events[: len(events) // 2 + 1]
            last = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
            return [*middle, chunk | self.upstream_error() | {"choices": [last]}]
        last = {"index": 0, "delta": {}, "finish_reason": answer.finish} | self.choice_extras(answer)
        return [
            *events,
            chunk | {"choices": [last]},
            *([chunk | {"choices": [], "usage": usage}] if usage else []),
        ]

    def _named(self, call: Call, number: int, kind: str) -> Json:
        name = {"id": self.id(number), "object": kind, "created": CREATED, "model": call.model}
        return name | self.fingerprint(call)

    def id(self, number: int) -> str:
        """The id of an answer."""
        return f"chatcmpl-{number:06d}"

    def fingerprint(self, call: Call) -> Json:
        """Which build answered."""
        return {"system_fingerprint": "fp_44709d6fcb", "service_tier": "default"}

    def message(self, answer: Answer) -> Json:
        """The message of an answer that comes in one piece."""
        return {
            "role": "assistant",
            "content": answer.text or None,
            "refusal": answer.refusal,
            "annotations": [],
        }

    def thinking_delta(self, piece: str) -> Json:
        """A piece of the reasoning in a stream. OpenAI never shows it."""
        return {"content": ""}

    def choice_extras(self, answer: Answer) -> Json:
        """More fields of a choice."""
        return {}

    def body_extras(self, call: Call, answer: Answer) -> Json:
        """More fields of an answer that comes in one piece."""
        return {}

    def usage(self, usage: Usage) -> Json:
        """The tokens as this server reports them."""
        counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output}
        return counts | {
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
        }

    def upstream_error(self) -> Json:
        """An error that comes with HTTP 200."""
        return {
            "error": {
                "message": "The server had an error.",
                "type": "server_error",
                "param": None,
                "code": None,
            }
        }

    def other(self, request: Request) -> Reply:
        """The answer to a request that generates nothing."""
        if request.method == "GET" and request.path == f"{self.root}/models":
            return json_reply(200, {"object": "list", "data": [self.listed(model) for model in self.models]})
        return json_reply(404, self.error(404, f"Invalid URL ({request.method} {request.path})"))

    def listed(self, model: ServedModel) -> Json:
        """One model in the list."""
        return {"id": model.name, "object": "model", "created": CREATED, "owned_by": "openai"}


def _pieces(text: str) -> list[str]:
    return [text[at : at + piece_chars] for at in range(0, len(text), piece_chars)]


def _think_in(body: Json) -> bool | None:
    """Whether thinking is asked for, in any of the ways that OpenAI-compatible servers know."""
    if "enable_thinking" in (arguments := body.get("chat_template_kwargs") or {}):
        return bool(arguments["enable_thinking"])
    if isinstance(reasoning := body.get("reasoning"), dict):
        return bool(reasoning.get("enabled", reasoning.get("effort") != "none"))
    effort = body.get("reasoning_effort")
    return None if effort is None else effort != "none"


class OpenRouter(OpenAI):
    """OpenRouter: several providers behind one address, each with its own ways."""

    root = "/api/v1"
    refused_schema_is_strict = False
    always_reports_usage = True
    stream_opening = (b": OPENROUTER PROCESSING\n\n",)

    def call(self, request: Request, behaviours: frozenset[str]) -> Call:
        wants_all = (request.json().get("provider") or {}).get("require_parameters")
        if wants_all and "ignores parameters" in behaviours:
            message = "No endpoints found that can handle the requested parameters."
            raise Unwilling(404, self.error(404, message))
        return super().call(request, behaviours)

    def error(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> Json:
        return {"error": {"message": message, "code": status}, "user_id": "user_1"}

    def id(self, number: int) -> str:
        return f"gen-{CREATED}-{number:06d}"

    def fingerprint(self, call: Call) -> Json:
        return {"provider": "DeepInfra", "system_fingerprint": None}

    def message(self, answer: Answer) -> Json:
        thinking = answer.thinking or None
        details = (
            [{"type": "reasoning.text", "text": thinking, "format": "unknown", "index": 0}]
            if thinking
            else []
        )
        said = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
        return said | {"reasoning": thinking, "reasoning_details": details}

    def thinking_delta(self, piece: str) -> Json:
        return {"content": "", "reasoning": piece}

    def choice_extras(self, answer: Answer) -> Json:
        return {"native_finish_reason": answer.finish}

    def usage(self, usage: Usage) -> Json:
        cost = {"upstream_inference_cost": None}
        return super().usage(usage) | {"cost": usage.usd, "is_byok": False, "cost_details": cost}

    def upstream_error(self) -> Json:
        upstream = {"provider_name": "DeepInfra", "raw": "upstream connect error"}
        return {"error": {"code": 502, "message": "Provider returned error", "metadata": upstream}}

    def listed(self, model: ServedModel) -> Json:
        dear_in, dear_out = (f"{usd / 1_000_000:.10f}" for usd in model.usd_per_million)
        architecture = {"modality": "text->text", "input_modalities": ["text"], "output_modalities": ["text"]}
        return {
            "id": model.name,
            "name": model.name,
            "created": CREATED,
            "context_length": model.context_tokens,
            "architecture": architecture | {"tokenizer": "Qwen3", "instruct_type": None},
            "pricing": {"prompt": dear_in, "completion": dear_out, "request": "0", "image": "0"},
            "top_provider": {
                "context_length": model.loaded_context_tokens,
                "max_completion_tokens": None,
                "is_moderated": False,
            },
            "supported_parameters": ["max_tokens", "temperature", "seed", "stop", "structured_outputs"],
        }


class Vllm(OpenAI):
    """vLLM: the schema goes into `response_format` alone; the old `guided_json` is read by nobody."""

    refused_schema_is_strict = False

    def error(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> Json:
        kind = "NotFoundError" if status == 404 else "BadRequestError"
        return {"error": {"message": message, "type": kind, "param": param, "code": status}}

    def fingerprint(self, call: Call) -> Json:
        return {"service_tier": None, "system_fingerprint": None}

    def message(self, answer: Answer) -> Json:
        said = {"role": "assistant", "content": answer.text or None, "refusal": None, "annotations": None}
        return said | {"tool_calls": [], "reasoning": answer.thinking or None}

    def thinking_delta(self, piece: str) -> Json:
        return {"reasoning": piece}

    def choice_extras(self, answer: Answer) -> Json:
        return {"stop_reason": None}

    def body_extras(self, call: Call, answer: Answer) -> Json:
        return {"prompt_logprobs": None, "kv_transfer_params": None}

    def usage(self, usage: Usage) -> Json:
        counts = {"prompt_tokens": usage.input, "total_tokens": usage.input + usage.output}
        cached = {"cached_tokens": usage.cached} if usage.cached else None
        return counts | {"completion_tokens": usage.output, "prompt_tokens_details": cached}

    def other(self, request: Request) -> Reply:
        match request.path:
            case "/health":
                return Reply(200, [b""])
            case "/version":
                return json_reply(200, {"version": "0.14.0"})
            case _:
                return super().other(request)

    def listed(self, model: ServedModel) -> Json:
        name = {"id": model.name, "object": "model", "created": CREATED, "owned_by": "vllm"}
        return name | {"root": model.name, "parent": None, "max_model_len": model.loaded_context_tokens}


class LmStudio(OpenAI):
    """LM Studio: unknown paths are answered with HTTP 200, and a list of its own says what is loaded."""

    refused_schema_is_strict = False

    def _check(self, body: Json, behaviours: frozenset[str]) -> None:
        if (body.get("response_format") or {}).get("type") == "json_object":
            raise Unwilling(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})
        super()._check(body, behaviours)

    def error(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> Json:
        return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}

    def fingerprint(self, call: Call) -> Json:
        return {"system_fingerprint": call.model}

    def message(self, answer: Answer) -> Json:
        thinking = {"reasoning_content": answer.thinking} if answer.thinking else {}
        return {"role": "assistant", "content": answer.text, "tool_calls": []} | thinking

    def thinking_delta(self, piece: str) -> Json:
        return {"reasoning_content": piece}

    def body_extras(self, call: Call, answer: Answer) -> Json:
        return {"stats": {}}

    def usage(self, usage: Usage) -> Json:
        counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output}
        details = (
            {"completion_tokens_details": {"reasoning_tokens": usage.reasoning}} if usage.reasoning else {}
        )
        return counts | {"total_tokens": usage.input + usage.output} | details

    def other(self, request: Request) -> Reply:
        if request.method == "GET" and request.path == "/api/v0/models":
            models = [
                self._described(model, is_loaded=number == 0) for number, model in enumerate(self.models)
            ]
            return json_reply(200, {"object": "list", "data": models})
        if request.path == f"{self.root}/models":
            return super().other(request)
        return json_reply(200, {"error": f"Unexpected endpoint or method. ({request.method} {request.path})"})

    def listed(self, model: ServedModel) -> Json:
        return {"id": model.name, "object": "model", "owned_by": "organization_owner"}

    def _described(self, model: ServedModel, *, is_loaded: bool) -> Json:
        return {
            "id": model.name,
            "object": "model",
            "type": model.kind,
            "publisher": "lmstudio-community",
            "arch": model.family,
            "compatibility_type": "gguf",
            "quantization": model.quantization,
            "state": "loaded" if is_loaded else "not-loaded",
            "max_context_length": model.context_tokens,
        } | ({"loaded_context_length": model.loaded_context_tokens} if is_loaded else {})


class LlamaCpp(OpenAI):
    """llama.cpp's server; its real one is in `llama_server`. This one can lie."""

    refused_schema_is_strict = False
    stream_headers: ClassVar[Mapping[str, str]] = {"Server": "llama.cpp"}

    def served(self, name: str) -> ServedModel:
        # It has one model and answers with it under any name.
        return self.models[0]

    def error(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> Json:
        return {"error": {"code": status, "message": message, "type": "invalid_request_error"}}

    def too_long(self, asked: int, limit: int) -> Unwilling:
        message = (
            f"request ({asked} tokens) exceeds the available context size ({limit} tokens), try increasing it"
        )
        error = {"code": 400, "message": message, "type": "exceed_context_size_error"}
        return Unwilling(400, {"error": error | {"n_prompt_tokens": asked, "n_ctx": limit}})

    def fingerprint(self, call: Call) -> Json:
        return {"system_fingerprint": "b6900-abcdef"}

    def message(self, answer: Answer) -> Json:
        thinking = {"reasoning_content": answer.thinking} if answer.thinking else {}
        return {"role": "assistant", "content": answer.text} | thinking

    def thinking_delta(self, piece: str) -> Json:
        return {"reasoning_content": piece}

    def _stream(
        self, call: Call, answer: Answer, number: int, usage: Json | None, behaviours: frozenset[str]
    ) -> list[Json]:
        *events, last = super()._stream(call, answer, number, usage, behaviours)
        return [*self._progress(call, answer, number), *events, last | self.body_extras(call, answer)]

    def _progress(self, call: Call, answer: Answer, number: int) -> list[Json]:
        """How far the prompt is read, after each batch of it: before anything is written, if it was asked for."""
        if not call.wants_progress:
            return []
        chunk = self._named(call, number, "chat.completion.chunk")
        opening = [{"index": 0, "delta": {"role": "assistant", "content": None}, "finish_reason": None}]
        total, cached = answer.usage.input, answer.usage.cached
        read = [*range(cached, total, prompt_batch_tokens), total]
        steps = [{"total": total, "cache": cached, "processed": tokens, "time_ms": 1} for tokens in read]
        return [chunk | {"choices": opening, "prompt_progress": progress} for progress in steps]

    def body_extras(self, call: Call, answer: Answer) -> Json:
        used = answer.usage
        counts = {"cache_n": used.cached, "prompt_n": used.input - used.cached, "predicted_n": used.output}
        return {"timings": counts | {"prompt_ms": 1.0, "predicted_ms": 2.0}}

    def usage(self, usage: Usage) -> Json:
        counts = {"completion_tokens": usage.output, "prompt_tokens": usage.input}
        cached = {"prompt_tokens_details": {"cached_tokens": usage.cached}}
        return counts | {"total_tokens": usage.input + usage.output} | cached

    def other(self, request: Request) -> Reply:
        (model, *_) = self.models
        match request.path:
            case "/health":
                return json_reply(200, {"status": "ok"})
            case "/props":
                settings = {"n_ctx": model.loaded_context_tokens, "params": dict(model.samples)}
                named = {"model_alias": model.name, "model_path": f"/models/{model.name}.gguf"}
                props = {"default_generation_settings": settings, "total_slots": model.slots}
                return json_reply(200, props | named)
            case "/tokenize":
                count = tokens_in(str(request.json()["content"]))
                return json_reply(200, {"tokens": list(range(count))})
            case _:
                return super().other(request)

    def listed(self, model: ServedModel) -> Json:
        served = {"n_ctx": model.loaded_context_tokens} if model.is_context_listed else {}
        context = {**served, "n_ctx_train": model.context_tokens}
        described = {"n_params": int(float(model.parameters[:-1]) * 1e9), "size": model.bytes} | context
        name = {"id": model.name, "object": "model", "created": CREATED, "owned_by": "llamacpp"}
        return name | {"meta": described}


class Ollama:
    """Ollama's own API."""

    root: ClassVar[str] = ""
    completions: ClassVar[Sequence[str]] = ["/api/chat"]

    def __init__(self, models: Sequence[ServedModel]) -> None:
        self.models = list(models)
        self.reloads = 0
        """How often a call changed the loaded model or its context."""
        self._loaded: tuple[str, int] | None = None
        self._has_just_loaded = False

    def call(self, request: Request, behaviours: frozenset[str]) -> Call:
        body = request.json()
        model = self.served(body["model"])
        if body.get("think") and "thinking" not in model.capabilities:
            raise Unwilling(400, {"error": f'"{model.name}" does not support thinking'})
        options = body.get("options") or {}
        form = body.get("format")
        context = min(int(options.get("num_ctx", 4096)), model.context_tokens)
        self._load(model.name, context)
        stop = options.get("stop") or []
        return Call(
            model=model.name,
            messages=body["messages"],
            schema=form if isinstance(form, dict) else None,
            is_json=bool(form),
            output_tokens_max=options.get("num_predict"),
            # Without `truncate: false` a longer prompt is cut in silence.
            context_tokens=context if body.get("truncate") is False else None,
            truncates_to_tokens=context,
            stop=[stop] if isinstance(stop, str) else stop,
            seed=options.get("seed"),
            think=body.get("think"),
            is_streamed=body.get("stream", True),
        )

    def served(self, name: str) -> ServedModel:
        for model in self.models:
            if name in {model.name, model.name.removesuffix(":latest")}:
                return model
        raise Unwilling(404, {"error": f"model '{name}' not found"})

    def _load(self, name: str, context_tokens: int) -> None:
        self._has_just_loaded = self._loaded != (name, context_tokens)
        if self._loaded is not None and self._has_just_loaded:
            self.reloads += 1
        self._loaded = (name, context_tokens)

    def error(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> Json:
        return {"error": message}

    def too_long(self, asked: int, limit: int) -> Unwilling:
        return Unwilling(400, {"error": f"the input length ({asked}) exceeds the context length ({limit})"})

    def reply(self, call: Call, answer: Answer, number: int, behaviours: frozenset[str]) -> Reply:
        if "error in 200" in behaviours or ("error in the stream" in behaviours and not call.is_streamed):
            return json_reply(200, {"error": "an error was encountered while running the model"})
        name = {"model": call.model, "created_at": DATE}
        finish = "length" if answer.finish == "length" else "stop"
        last = {"done": True, "done_reason": finish}
        last |= self._counts(answer.usage) if "no usage" not in behaviours else {}
        if not call.is_streamed:
            thinking = {"thinking": answer.thinking} if answer.thinking else {}
            message = {"role": "assistant", "content": answer.text} | thinking
            return json_reply(200, name | {"message": message} | last)
        thoughts = [{"content": "", "thinking": piece} for piece in _pieces(answer.thinking)]
        said = [*thoughts, *({"content": piece} for piece in _pieces(answer.text))]
        lines: list[Json] = [name | {"message": {"role": "assistant"} | part, "done": False} for part in said]
        if "error in the stream" in behaviours:
            lines = [
                *lines[: len(lines) // 2 + 1],
                {"error": "an error was encountered while running the model"},
            ]
        else:
            lines.append(name | {"message": {"role": "assistant", "content": ""}} | last)
        pieces = [json.dumps(line).encode() + b"\n" for line in lines]
        return Reply(200, pieces, "application/x-ndjson", is_streamed=True)

    def _counts(self, usage: Usage) -> Json:
        loading = nanoseconds_to_load if self._has_just_loaded else 1_000_000
        durations = {"load_duration": loading, "prompt_eval_duration": 2_000_000, "eval_duration": 3_000_000}
        counts = {"prompt_eval_count": usage.input, "eval_count": usage.output}
        return {"total_duration": sum(durations.values())} | durations | counts

    def other(self, request: Request) -> Reply:
        match request.method, request.path:
            case (("GET" | "HEAD"), "/"):
                return Reply(200, [b"Ollama is running" if request.method == "GET" else b""], "text/plain")
            case "GET", "/api/version":
                return json_reply(200, {"version": "0.13.0"})
            case "GET", "/api/tags":
                return json_reply(200, {"models": [self._listed(model) for model in self.models]})
            case "GET", "/v1/models":
                # Ollama also speaks OpenAI's API, without its own settings such as `num_ctx`.
                library = {"object": "model", "created": CREATED, "owned_by": "library"}
                return json_reply(
                    200, {"object": "list", "data": [{"id": model.name} | library for model in self.models]}
                )
            case "GET", "/api/ps":
                return json_reply(200, {"models": self._running()})
            case "POST", "/api/show":
                body = request.json()
                return json_reply(200, self._described(self.served(body.get("model") or body["name"])))
            case "POST", "/api/pull":
                return self._pulled(request.json())
            case _:
                return Reply(404, [b"404 page not found"], "text/plain")

    def _listed(self, model: ServedModel) -> Json:
        remote = {"remote_model": model.name, "remote_host": model.remote_host} if model.remote_host else {}
        name = {"name": model.name, "model": model.name, "modified_at": DATE} | remote
        return name | {"size": model.bytes, "digest": model.digest, "details": self._details(model)}

    def _running(self) -> list[Json]:
        if self._loaded is None:
            return []
        name, context_tokens = self._loaded
        more = {"expires_at": DATE, "size_vram": 0, "context_length": context_tokens}
        return [self._listed(self.served(name)) | more]

    def _details(self, model: ServedModel) -> Json:
        kin = {"parent_model": "", "format": "gguf", "family": model.family, "families": [model.family]}
        return kin | {"parameter_size": model.parameters, "quantization_level": model.quantization}

    def _described(self, model: ServedModel) -> Json:
        count = int(float(model.parameters[:-1]) * (1e6 if model.parameters.endswith("M") else 1e9))
        info = {"general.architecture": model.family, "general.parameter_count": count}
        texts = {"license": "Apache-2.0", "modelfile": "", "parameters": "", "template": model.template}
        remote = {"remote_model": model.name, "remote_host": model.remote_host} if model.remote_host else {}
        return (
            texts
            | remote
            | {
                "details": self._details(model),
                "model_info": info | {f"{model.family}.context_length": model.context_tokens},
                "capabilities": [*model.capabilities],
                "modified_at": DATE,
            }
        )

    def _pulled(self, body: Json) -> Reply:
        name = body.get("model") or body["name"]
        if name == "nowhere":
            lines: list[Json] = [
                {"status": "pulling manifest"},
                {"error": "pull model manifest: file does not exist"},
            ]
        else:
            self.models.append(ServedModel(name))
            digest = {"status": "pulling 6a0746a1ec1a", "digest": "sha256:6a0746a1ec1a", "total": 4_000_000}
            lines = [
                {"status": "pulling manifest"},
                *(digest | {"completed": done} for done in (1_000_000, 4_000_000)),
            ]
            lines += [{"status": "verifying sha256 digest"}, {"status": "success"}]
        if body.get("stream") is False:
            return json_reply(200, lines[-1])
        pieces = [json.dumps(line).encode() + b"\n" for line in lines]
        return Reply(200, pieces, "application/x-ndjson", is_streamed=True)


IMITATIONS: dict[Personality, Any] = {
    "openai": OpenAI,
    "openrouter": OpenRouter,
    "vllm": Vllm,
    "lmstudio": LmStudio,
    "llamacpp": LlamaCpp,
    "ollama": Ollama,
}
MODELS: dict[Personality, ServedModel] = {
    "openai": ServedModel("gpt-5-nano", loaded_context_tokens=128_000),
    "openrouter": ServedModel("qwen/qwen3-8b", loaded_context_tokens=32_000),
    "vllm": ServedModel("Qwen/Qwen3-8B"),
    "lmstudio": ServedModel("qwen3-8b"),
    "llamacpp": ServedModel("qwen3-8b"),
    "ollama": ServedModel("qwen3:8b"),
}
"""The one model of each server, unless a test gives others."""
