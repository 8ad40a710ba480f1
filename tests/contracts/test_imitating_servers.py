"""The imitating server speaks as the servers that it imitates, lies and fails as it is told, and counts what it served."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import httpx2
import pytest

from tests.servers import faults
from tests.servers.answers import Lie, Manner, Usage
from tests.servers.certificates import Authority
from tests.servers.faults import Fault
from tests.servers.imitating_server import Behaviour, ImitatingServer, imitating_server
from tests.servers.imitations import Personality, ServedModel

PERSONALITIES = get_args(Personality)
ALIKE = [name for name in PERSONALITIES if name != "ollama"]


def fields(*names: str, **more: Any) -> dict[str, Any]:
    properties = {name: {"type": "string", "maxLength": 200} for name in names} | more
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


SAY = fields("thought", "text", kind={"const": "say"}, mood={"enum": ["calm", "cross"]})
PASS = fields(kind={"const": "pass"})
EITHER = {"anyOf": [SAY, PASS]}
MESSAGES = [{"role": "system", "content": "You are Ada."}, {"role": "user", "content": "Good morning."}]


class Client:
    """Asks a server for completions in the words of its API."""

    def __init__(self, server: ImitatingServer, http: httpx2.Client) -> None:
        self.server = server
        self.http = http
        self.is_ollama = server.imitation.completions == ["/api/chat"]

    def post(self, schema: dict[str, Any] | None = SAY, **more: Any) -> httpx2.Response:
        body: dict[str, Any] = {"model": self.server.model, "messages": MESSAGES} | more
        if self.is_ollama:
            body = {"stream": False} | ({"format": schema} if schema else {}) | body
        elif schema:
            named = {"name": "act", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return self.http.post(self.server.root_url + self.server.imitation.completions[0], json=body)

    def text(self, schema: dict[str, Any] | None = SAY, **more: Any) -> str:
        body = self.post(schema, **more).json()
        return str(self._message(body)["content"])

    def _message(self, body: Any) -> Any:
        return body["message"] if self.is_ollama else body["choices"][0]["message"]

    def get(self, path: str) -> Any:
        return self.http.get(self.server.root_url + path).json()


@contextmanager
def client_of(personality: Personality, *always: Behaviour, **more: Any) -> Iterator[Client]:
    with (
        imitating_server(personality, *always, **more) as server,
        httpx2.Client(trust_env=False, verify=False, timeout=30) as http,
    ):
        yield Client(server, http)


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_a_completion_fills_the_schema_and_reports_what_is_counted(personality: Personality) -> None:
    with client_of(personality, say=lambda prompt: f"{len(prompt)} letters.") as client:
        texts = [client.text(), client.text()]
        body = client.post().json()

        act = json.loads(texts[0])
        assert set(act) == {"kind", "thought", "text", "mood"}
        assert act["text"] == f"{len('You are Ada.') + 2 + len('Good morning.')} letters."
        assert texts[0] == texts[1]
        once = Usage(client.server.usage.input // 3, 0, client.server.usage.output // 3)
        assert reported(body, once) == (once.input, once.output)
        assert client.server.completions == {"fine": 3}


def reported(body: Any, fallback: Usage) -> tuple[int, int]:
    if "usage" not in body:
        return body["prompt_eval_count"], body["eval_count"]
    return body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"]


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_a_stream_brings_the_same_text_and_the_same_usage(personality: Personality) -> None:
    with client_of(personality) as client:
        whole = client.text()
        before = client.server.usage
        streamed = client.post(stream=True, stream_options={"include_usage": True})
        after = client.server.usage

    lines = [line.removeprefix("data: ") for line in streamed.text.splitlines() if line and line[0] in "d{"]
    events = [json.loads(line) for line in lines if line != "[DONE]"]
    deltas = [
        event["message"] if "message" in event else choice_of(event).get("delta", {}) for event in events
    ]
    assert "".join(delta.get("content") or "" for delta in deltas) == whole
    assert reported(events[-1], before) == (before.input, before.output)
    assert after == before.plus(Usage(before.input, after.cached, before.output, usd=before.usd))


def choice_of(event: Any) -> Any:
    return (event["choices"] or [{}])[0]


def test_a_stream_without_asking_for_the_usage_leaves_it_unreported() -> None:
    with client_of("openai") as client:
        streamed = client.post(stream=True)

        assert "usage" not in streamed.text
        assert client.server.usage == Usage()
        assert client.server.unreported.output > 0


def test_openai_refuses_optional_fields_a_choice_at_the_root_and_strangers() -> None:
    optional = SAY | {"required": ["kind", "text"]}
    with client_of("openai", key="sk-secret") as client:
        stranger = client.post()
        client.http.headers["Authorization"] = "Bearer sk-secret"
        refused = [client.post(optional), client.post(EITHER), client.post(model="gpt-9")]

        assert stranger.status_code == 401
        assert [answer.status_code for answer in refused] == [400, 400, 404]
        assert "Missing 'mood'" in refused[0].json()["error"]["message"]
        wrapped = fields(answer=EITHER)
        assert json.loads(client.text(wrapped))["answer"]["kind"] in {"say", "pass"}


def test_openai_counts_hidden_reasoning_as_output() -> None:
    with client_of(
        "openai", models=[ServedModel("gpt-5-nano", capabilities=["completion", "thinking"])]
    ) as client:
        body = client.post().json()

        assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
        assert client.server.usage.output == body["usage"]["completion_tokens"]
        assert "reasoning" not in body["choices"][0]["message"]


def test_openrouter_names_the_provider_and_the_cost() -> None:
    with client_of("openrouter") as client:
        body = client.post().json()

        assert body["provider"] == "DeepInfra"
        assert body["usage"]["cost"] == client.server.usage.usd > 0
        (model,) = client.get("/api/v1/models")["data"]
        assert float(model["pricing"]["completion"]) == 0.4e-6


def test_every_server_lists_its_models_in_its_own_way() -> None:
    with client_of("vllm") as client:
        assert client.get("/v1/models")["data"][0]["max_model_len"] == 8192
    with client_of("lmstudio") as client:
        (model,) = client.get("/api/v0/models")["data"]
        assert (model["state"], model["loaded_context_length"]) == ("loaded", 8192)
        assert client.http.get(client.server.root_url + "/nowhere").status_code == 200
    with client_of("llamacpp") as client:
        assert client.get("/v1/models")["data"][0]["meta"]["n_ctx"] == 8192
        assert client.get("/props")["total_slots"] == 1
    with client_of("ollama") as client:
        (model,) = client.get("/api/tags")["models"]
        assert model["details"]["parameter_size"] == "8.2B"


def test_ollama_loads_a_model_again_when_the_context_changes() -> None:
    with client_of("ollama") as client:
        contexts = [2048, 2048, 4096]
        loading = [client.post(options={"num_ctx": tokens}).json()["load_duration"] for tokens in contexts]

        assert [nanoseconds > 1_000_000_000 for nanoseconds in loading] == [True, False, True]
        assert client.server.imitation.reloads == 1
        assert client.get("/api/ps")["models"][0]["context_length"] == 4096


def test_ollama_cuts_a_long_prompt_in_silence_unless_it_is_told_not_to() -> None:
    long = [{"role": "user", "content": "word " * 2000}]
    with client_of("ollama") as client:
        cut = client.post(messages=long, options={"num_ctx": 512})
        refused = client.post(messages=long, options={"num_ctx": 512}, truncate=False)

        assert cut.json()["prompt_eval_count"] <= 512
        assert refused.status_code == 400


def test_ollama_shows_pulls_and_knows_what_thinks() -> None:
    with client_of("ollama") as client:
        pulled = client.http.post(client.server.root_url + "/api/pull", json={"model": "gemma3:4b"})
        shown = client.http.post(client.server.root_url + "/api/show", json={"model": "gemma3:4b"}).json()

        assert [json.loads(line)["status"] for line in pulled.text.splitlines()][-1] == "success"
        assert shown["model_info"]["qwen3.context_length"] == 40_960
        assert client.post(think=True).json()["error"] == '"qwen3:8b" does not support thinking'
        assert client.post(model="unknown").status_code == 404


def test_each_lie_shows() -> None:
    seen: dict[str, Any] = {}
    with client_of("openai", redirects_to="http://elsewhere.invalid") as client:
        for lie in get_args(Lie):
            client.server.next(lie)
            seen[lie] = client.post(temperature=0.5, max_tokens=200, seed=1, reasoning_effort="none")

    statuses = {lie: answer.status_code for lie, answer in seen.items()}
    refused = {
        "refuses temperature",
        "refuses max_tokens",
        "refuses a seed",
        "refuses a schema",
        "refuses a system role",
    }
    assert {lie for lie, status in statuses.items() if status == 400} == refused
    assert statuses["invalid UTF-8"] == 500
    assert statuses["redirects"] == 307
    assert seen["redirects"].headers["location"] == "http://elsewhere.invalid/v1/chat/completions"
    assert "error" in seen["error in 200"].json()
    assert "usage" not in seen["no usage"].json()
    choices = {lie: answer.json()["choices"][0] for lie, answer in seen.items() if "choices" in answer.text}
    texts = {lie: choice["message"]["content"] for lie, choice in choices.items()}
    is_json = {lie for lie, text in texts.items() if text and text.startswith("{") and text.endswith("}")}
    assert is_json == {"truncates the prompt", "refuses optional fields", "no usage"}
    assert {
        lie: choice["finish_reason"] for lie, choice in choices.items() if choice["finish_reason"] != "stop"
    } == {
        "whitespace loop": "length",
        "truncated": "length",
        "content filter": "content_filter",
    }
    assert choices["refusal"]["message"]["refusal"]
    assert texts["all in thinking"] is None
    assert texts["thinks aloud"].startswith("<think>")


def test_a_lie_of_ollama_drops_the_schema_when_thinking_is_off() -> None:
    with client_of("ollama", "thinking off drops the schema") as client:
        assert not client.text(think=False).startswith("{")
        assert client.text().startswith("{")


def test_a_prompt_that_is_truncated_in_silence_is_reported_as_shorter() -> None:
    with client_of("vllm", "truncates the prompt", truncated_to_tokens=64) as client:
        body = client.post(messages=[{"role": "user", "content": "word " * 2000}]).json()

        assert body["usage"]["prompt_tokens"] <= 64


def test_each_ill_manner_shows() -> None:
    texts: dict[str, str] = {}
    with client_of("llamacpp", sealed_word="Rumpelstiltskin") as client:
        for manner in get_args(Manner):
            client.server.next(manner)
            texts[manner] = client.text(
                SAY if manner not in {"fences", "chats first"} else None, max_tokens=None
            )

    assert "Cy: So do I." in texts["speaks for others"]
    assert "Rumpelstiltskin" in texts["leaks"]
    assert "As an AI" in texts["refuses"]
    assert texts["fences"].startswith("```json")
    assert texts["chats first"].startswith("Sure!")
    assert "speech" in texts["wrong schema"]
    assert len(set(texts.values())) == len(texts)


def test_a_huge_answer_is_sent_whole() -> None:
    with client_of("vllm", "huge") as client:
        assert len(client.post(SAY | {"properties": {"text": {"type": "string"}}}).content) > 2_900_000


@pytest.mark.parametrize("fault", faults.BROKEN_ANSWERS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_a_broken_answer_is_no_answer_and_the_next_one_is(fault: Fault, is_streamed: bool) -> None:
    with client_of("openai") as client:
        client.server.next(fault)
        assert not is_whole_answer(client, is_streamed=is_streamed)
        # What a server sent beyond the length of its answer spoils the connection for the next request.
        client.http = httpx2.Client(trust_env=False, verify=False)
        with client.http:
            assert is_whole_answer(client, is_streamed=is_streamed)
        assert client.server.completions == {fault.name: 1, "fine": 1}
        assert (client.server.unreported.output > 0) == (fault.generates or is_streamed)


def is_whole_answer(client: Client, *, is_streamed: bool) -> bool:
    try:
        text = client.post(stream=is_streamed).text
        return text.endswith("data: [DONE]\n\n") if is_streamed else "choices" in json.loads(text)
    except (httpx2.HTTPError, json.JSONDecodeError):
        return False


def test_statuses_come_with_and_without_the_time_to_wait() -> None:
    with client_of("openai") as client:
        client.server.next(faults.status(429, retry_after="3"), faults.status(503), faults.status(402))
        answers = [client.post() for _ in range(4)]

        assert [answer.status_code for answer in answers] == [429, 503, 402, 200]
        assert [answer.headers.get("retry-after") for answer in answers] == ["3", None, None, None]
        assert client.server.unreported == Usage()


def test_a_server_can_hang_and_drip() -> None:
    with client_of("openai") as client:
        client.server.next(faults.hang, faults.drip(bytes_at_most=20), faults.drip())
        for _ in range(2):
            with pytest.raises(httpx2.ReadTimeout):
                client.http.post(client.server.url + "/chat/completions", json=plain(client), timeout=0.3)
        assert client.text().startswith("{")


def test_closing_the_server_frees_a_client_that_waits() -> None:
    with client_of("openai", faults.hang) as client:
        failures: list[httpx2.HTTPError] = []

        def ask() -> None:
            try:
                client.post()
            except httpx2.HTTPError as error:
                failures.append(error)

        waiting = threading.Thread(target=ask)
        waiting.start()
        while not client.server.calls:
            pass
    waiting.join(30)

    assert [isinstance(error, httpx2.TransportError) for error in failures] == [True]


def plain(client: Client) -> dict[str, Any]:
    return {"model": client.server.model, "messages": MESSAGES}


def test_a_prompt_that_shows_a_form_is_answered_in_it() -> None:
    examples = [{"role": "user", "content": 'Answer like this: {"kind": "say", "text": "…"}'}]
    headings = [{"role": "user", "content": "Answer like this:\nKIND: say\nTHINK: …\nSAY: …"}]
    with client_of("vllm", say=lambda _: "Hello.") as client:
        assert json.loads(client.text(None, messages=examples)) == {"kind": "say", "text": "Hello."}
        assert client.text(None, messages=headings).endswith("\nSAY: Hello.")
        assert client.text(None) == "Hello."


def test_what_goes_to_a_proxy_is_seen_there() -> None:
    with (
        imitating_server("openai") as proxy,
        httpx2.Client(proxy=proxy.root_url, trust_env=False, verify=False) as http,
    ):
        http.post(
            "http://elsewhere.invalid/v1/chat/completions", json={"model": proxy.model, "messages": MESSAGES}
        )

        assert [request.is_for_a_proxy for request in proxy.requests] == [True]


def test_a_server_can_listen_on_the_other_loopback() -> None:
    with imitating_server("vllm", host="::1") as server, httpx2.Client(trust_env=False, verify=False) as http:
        assert http.get(f"{server.url}/models").json()["data"][0]["id"] == server.model


def test_a_server_of_a_company_is_trusted_by_who_trusts_its_authority(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    trusting = ssl.create_default_context(cafile=str(authority.file))
    with imitating_server("openai", authority=authority) as server:
        with (
            httpx2.Client(trust_env=False) as stranger,
            pytest.raises(httpx2.ConnectError, match="CERTIFICATE"),
        ):
            stranger.get(f"{server.url}/models")
        with httpx2.Client(trust_env=False, verify=trusting) as colleague:
            assert colleague.get(f"{server.url}/models").status_code == 200
