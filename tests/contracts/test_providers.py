"""The backend for hosted providers, against a server that answers in their documented shapes."""

import asyncio
import json
import subprocess
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.installation import command_for_extra
from glasshouse.models.providers import Provider, ProviderModel
from tests.contracts.test_openai_compatible import PROMPT
from tests.servers.wire import Connection, Reply, Request, WireServer, json_reply

PROVIDERS: list[Provider] = ["anthropic", "gemini", "mistral"]
MODELS = {"anthropic": "claude-haiku-4-5", "gemini": "gemini-2.5-flash", "mistral": "mistral-small-latest"}
SAID = '{"kind": "agent.passed", "reason": "The pond is calm."}'
WRAPPED = f'{{"reply": {SAID}}}'


def _anthropic(body: dict[str, Any], text: str) -> list[dict[str, Any]]:
    usage = {
        "input_tokens": 30,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 10,
        "output_tokens": 12,
    }
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "stop_reason": "end_turn",
    }
    whole = message | {"stop_sequence": None, "content": [{"type": "text", "text": text}], "usage": usage}
    if not body.get("stream"):
        return [whole]
    opening = whole | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    return [
        {"type": "message_start", "message": opening},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in (text[:9], text[9:])
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 12},
        },
        {"type": "message_stop"},
    ]


def _gemini(body: dict[str, Any], text: str) -> list[dict[str, Any]]:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 12,
        "totalTokenCount": 112,
    }
    content = {"role": "model", "parts": [{"text": text}]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return [
        {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": "gemini-2.5-flash",
            "responseId": "r1",
        }
    ]


def _mistral(body: dict[str, Any], text: str) -> list[dict[str, Any]]:
    usage = {"prompt_tokens": 100, "completion_tokens": 12, "total_tokens": 112}
    part = "delta" if body.get("stream") else "message"
    choice = {"index": 0, part: {"role": "assistant", "content": text}, "finish_reason": "stop"}
    kind = "chat.completion.chunk" if body.get("stream") else "chat.completion"
    return [
        {
            "id": "m1",
            "object": kind,
            "created": 1,
            "model": body["model"],
            "choices": [choice],
            "usage": usage,
        }
    ]


ANSWERS = {"anthropic": _anthropic, "gemini": _gemini, "mistral": _mistral}


class Hosted:
    """What a test sees of the server."""

    def __init__(
        self, provider: Provider, text: str, status: int, before_bodies: bytes, *, stops: bool
    ) -> None:
        self._stops = stops
        self.requests: list[Request] = []
        self._provider = provider
        self._text = text
        self._status = status
        self._wire = WireServer(self._handle, "127.0.0.1", None)
        self._wire.before_bodies = before_bodies
        self._wire.start()
        self.url = f"http://127.0.0.1:{self._wire.port}"

    def close(self) -> None:
        self._wire.stop()

    async def _handle(self, request: Request, connection: Connection) -> None:
        self.requests.append(request)
        if self._status != 200:
            error = {
                "message": "No, because of sk-secret.",
                "type": "error",
                "status": "NO",
                "code": self._status,
            }
            await connection.send(json_reply(self._status, {"error": error}, {"Retry-After": "7"}))
            return
        parts = ANSWERS[self._provider](request.json(), self._text)
        if "stream" not in request.target and not request.json().get("stream"):
            await connection.send(json_reply(200, parts[0]))
            return
        pieces = [f"event: {part.get('type', '')}\ndata: {json.dumps(part)}\n\n".encode() for part in parts]
        if self._provider != "anthropic":
            pieces = [f"data: {json.dumps(part)}\n\n".encode() for part in parts]
        if self._stops:  # It says something, and nothing after that.
            reply = Reply(
                200, pieces[:4] if self._provider == "anthropic" else pieces, "text/event-stream", True
            )
            await connection.write(reply.head + b"".join(map(reply.on_the_wire, reply.pieces)))
            await connection.wait_for_the_client_to_leave()
            return
        await connection.send(Reply(200, pieces, "text/event-stream", True))


@contextmanager
def hosted(
    provider: Provider,
    text: str = SAID,
    status: int = 200,
    before_bodies: bytes = b"",
    *,
    stops: bool = False,
) -> Iterator[Hosted]:
    server = Hosted(provider, text, status, before_bodies, stops=stops)
    try:
        yield server
    finally:
        server.close()


def model_of(server: Hosted, provider: Provider) -> ProviderModel:
    return ProviderModel(MODELS[provider], provider, key="sk-secret", key_variable="THE_KEY", url=server.url)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_reply_of_every_provider_comes_with_its_counts(provider: Provider, streamed: bool) -> None:
    pieces: list[str] = []
    with hosted(provider, SAID if provider == "mistral" else WRAPPED) as server:
        model = model_of(server, provider)
        reply = await model.complete(PROMPT, on_text=pieces.append if streamed else None)
        await model.close()

        assert json.loads(reply.text) == json.loads(SAID)
        assert (reply.usage.input, reply.usage.output, reply.finish) == (100, 12, "stop")
        assert reply.usage.cache_read == (0 if provider == "mistral" else 60)
        assert (reply.usd, reply.price_source) == (None, "")
        assert (model.form, len(server.requests)) == ("json" if provider == "mistral" else "schema", 1)
        assert bool(pieces) == streamed


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_byte_order_mark_before_the_reply_of_a_provider_changes_nothing(
    provider: Provider, streamed: bool
) -> None:
    with hosted(provider, SAID if provider == "mistral" else WRAPPED, before_bodies=BOM_UTF8) as server:
        model = model_of(server, provider)
        reply = await model.complete(PROMPT, on_text=(lambda text: None) if streamed else None)
        await model.close()

        assert json.loads(reply.text) == json.loads(SAID)
        assert (reply.usage.input, reply.usage.output) == (100, 12)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_provider_is_always_asked_for_a_stream_and_cut_when_it_stops(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    time_of_loop = loop.time
    seconds_passed = 0.0
    monkeypatch.setattr(loop, "time", lambda: time_of_loop() + seconds_passed)

    def hear(_piece: str) -> None:
        nonlocal seconds_passed
        seconds_passed += 121.0

    with hosted(provider, stops=True) as server:
        model = model_of(server, provider)
        with pytest.raises(ModelFailed, match="sent no further token within 120 seconds"):
            await model.complete(PROMPT, on_text=hear)
        await model.close()

        (request,) = server.requests
    assert "stream" in request.target or request.json()["stream"] is True


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "error"),
    [(401, ModelMisconfigured), (404, ModelMisconfigured), (429, ModelUnreachable), (500, ModelFailed)],
)
async def test_each_status_has_its_error_after_one_request(
    provider: Provider, status: int, error: type[Exception]
) -> None:
    with hosted(provider, status=status) as server:
        model = model_of(server, provider)
        with pytest.raises(error) as wrong:
            await model.complete(PROMPT)
        await model.close()

        assert len(server.requests) == 1
        assert "sk-secret" not in f"{wrong.value} {wrong.value!r} {model!r}"
        assert getattr(wrong.value, "retry_after", 7.0) == 7.0
        assert status != 401 or "THE_KEY" in str(wrong.value)


async def test_a_dropped_schema_is_found_out() -> None:
    with hosted("gemini", "Good evening.") as server:
        model = model_of(server, "gemini")
        await model.complete(PROMPT)
        await model.complete(PROMPT)
        await model.close()

        first, second = [request.json()["generationConfig"] for request in server.requests]
        assert ("responseJsonSchema" in first, "responseJsonSchema" in second) == (True, False)
        assert model.remarks


async def test_a_provider_that_is_not_there_was_not_reached() -> None:
    with hosted("anthropic") as server:
        model = model_of(server, "anthropic")
    with pytest.raises(ModelUnreachable):
        await model.complete(PROMPT)
    await model.close()


def test_without_the_extra_one_sentence_names_it() -> None:
    program = """
import sys
sys.modules["pydantic_ai"] = None
from glasshouse.errors import Refused
from glasshouse.installation import command_for_extra
from glasshouse.models.providers import ProviderModel
try:
    ProviderModel("m", "anthropic")
except Refused as refused:
    print(refused)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert command_for_extra("providers") in done.stdout


def test_importing_the_core_loads_no_extra_and_no_http_client() -> None:
    program = """
import sys
import glasshouse
from glasshouse import Manifest, SqliteStore, Terrarium
from glasshouse.models import openai_compatible, ollama, providers
from glasshouse.models.ollama import OllamaModel
OllamaModel("qwen3:8b")
loaded = {name.partition(".")[0] for name in sys.modules}
print(sorted(loaded & {"httpx2", "httpcore2", "anyio", "pydantic_ai", "anthropic", "google", "mistralai", "xllamacpp",
    "langchain_core", "langgraph", "agent_framework"}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
