"""The backend for OpenAI-compatible servers, against servers that imitate those that people use, with their lies."""

import asyncio
import json
from typing import Any

import pytest

from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable, Refused
from glasshouse.model_values import Tokens
from glasshouse.models.ollama import OllamaModel
from glasshouse.models.openai_compatible import OpenAICompatible, tokens_of
from glasshouse.models.openai_lists import ServerKind, root_and_prefix
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.servers import faults
from tests.servers.answers import Lie
from tests.servers.faults import Fault
from tests.servers.imitating_server import ImitatingServer, imitating_server
from tests.servers.imitations import Personality, ServedModel

SCHEMA = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "kind": {"const": "agent.spoke"},
                "thought": {"type": "string"},
                "text": {"type": "string"},
                "mood": {"type": "string"},
            },
            "required": ["kind", "thought", "text"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "agent.passed"}, "reason": {"type": "string"}},
            "required": ["kind", "reason"],
            "additionalProperties": False,
        },
    ]
}
PROMPT = Prompt("You are the keeper of the pond.", "What do you say?", SCHEMA, 7, 200)
THINKING = ServedModel("thinker", capabilities=("completion", "thinking"))
KINDS: dict[Personality, ServerKind] = {
    "openai": "openai",
    "openrouter": "openrouter",
    "vllm": "vllm",
    "lmstudio": "lmstudio",
    "llamacpp": "llama.cpp",
}


def model_of(server: ImitatingServer, kind: ServerKind = "other", **more: Any) -> OpenAICompatible:
    return OpenAICompatible(server.model, server.url, server=kind, **more)


async def replies_of(
    model: OpenAICompatible | OllamaModel, *prompts: Prompt, streamed: bool = False
) -> list[Completion]:
    """The replies, asked again where the model was not reached and says when to come back, as the engine does."""
    replies: list[Completion] = []
    try:
        while len(replies) < len(prompts):
            try:
                prompt = prompts[len(replies)]
                replies.append(
                    await model.complete(prompt, on_text=(lambda text: None) if streamed else None)
                )
            except ModelUnreachable as refused:
                if refused.retry_after != 0.0:
                    raise
    finally:
        await model.close()
    return replies


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("personality", KINDS)
async def test_a_reply_of_every_server_comes_with_its_counts(
    personality: Personality, streamed: bool
) -> None:
    pieces: list[str] = []
    with imitating_server(personality, models=[THINKING]) as server:
        model = model_of(server, KINDS[personality], reasoning_tokens_max=500)
        reply = await model.complete(PROMPT, on_text=pieces.append if streamed else None)
        again = await model.complete(PROMPT)
        await model.close()

        counted, used = server.usage, (reply.usage, again.usage)
        assert json.loads(reply.text)["kind"] in {"agent.spoke", "agent.passed"}
        assert (reply.model, reply.finish, reply.response_id != "") == ("thinker", "stop", True)
        assert sum(tokens.input for tokens in used) == counted.input
        assert sum(tokens.output for tokens in used) == counted.output
        assert not any(tokens.is_estimated for tokens in used)
        assert len(server.calls) == 2
        if streamed:
            assert "".join(pieces)
            assert 0 < reply.first_text_ms <= reply.milliseconds


async def test_cached_tokens_reasoning_and_the_price_of_the_server_are_kept() -> None:
    with imitating_server("openrouter", models=[THINKING]) as server:
        first, second = await replies_of(
            model_of(server, "openrouter", reasoning_tokens_max=500), PROMPT, PROMPT
        )

        assert second.usage.cache_read == server.usage.cached > 0
        assert first.usage.reasoning + second.usage.reasoning == server.usage.reasoning > 0
        assert first.reasoning
        assert (first.usd or 0) + (second.usd or 0) == pytest.approx(server.usage.usd)
        assert (first.price_source, first.served_by) == ("server", "DeepInfra")
        assert server.calls[0].json()["provider"] == {"require_parameters": True}


async def test_a_schema_is_sent_in_the_form_schema_only_and_as_response_format_only() -> None:
    with imitating_server("vllm") as server:
        json_form = Prompt("a", "b", SCHEMA, 7, 200, None, "json")
        await replies_of(model_of(server, "vllm"), PROMPT, json_form)

        with_schema, without = [call.json() for call in server.calls]
        assert with_schema["response_format"]["json_schema"]["schema"] == SCHEMA
        assert "response_format" not in without
        assert not [name for name in with_schema if name.startswith(("guided", "structured"))]


async def test_a_server_that_drops_the_schema_is_found_out_and_asked_in_words() -> None:
    with imitating_server("vllm", "drops the schema", say=lambda prompt: "Good evening.") as server:
        model = model_of(server)
        await replies_of(model, PROMPT, PROMPT)

        assert model.form == "json"
        assert "response_format" in server.calls[0].json()
        assert "response_format" not in server.calls[1].json()
        (remark,) = model.remarks
        assert "ignores the JSON Schema" in remark


async def test_a_server_at_any_address_is_recognized_by_its_answers() -> None:
    with imitating_server("llamacpp") as server:
        await replies_of(model_of(server), PROMPT, PROMPT)

        first, second = [call.json() for call in server.calls]
        assert "chat_template_kwargs" not in first
        assert second["chat_template_kwargs"] == {"enable_thinking": False}


async def test_a_strict_server_gets_the_wrapped_dialect_and_the_wrapper_is_taken_off() -> None:
    with imitating_server("openai") as server:
        known, unknown = model_of(server, "openai"), model_of(server)
        (at_once,) = await replies_of(known, PROMPT)
        (after_a_refusal,) = await replies_of(unknown, PROMPT)

        assert server.completions == {"fine": 2, "refused 400": 1}
        for reply in (at_once, after_a_refusal):
            assert json.loads(reply.text)["kind"] in {"agent.spoke", "agent.passed"}
        assert (known.form, unknown.form) == ("schema", "schema")


@pytest.mark.parametrize(
    ("lie", "is_gone"),
    [
        ("refuses temperature", "temperature"),
        ("refuses max_tokens", "max_tokens"),
        ("refuses a seed", "seed"),
    ],
)
async def test_a_refused_parameter_is_left_out_from_then_on(lie: Any, is_gone: str) -> None:
    with imitating_server("vllm", lie) as server:
        model = model_of(server, decoding={"temperature": 0.5})
        replies = await replies_of(model, PROMPT, PROMPT)

        assert len(replies) == 2
        refused, *accepted = [call.json() for call in server.calls]
        assert (is_gone in refused, len(accepted)) == (True, 2)
        assert not any(is_gone in body for body in accepted)
        assert all(body.get("max_completion_tokens", body.get("max_tokens")) == 200 for body in accepted)
        assert model.remarks


@pytest.mark.parametrize(
    "lie", ["refuses temperature", "refuses max_tokens", "refuses a system role", "refuses optional fields"]
)
async def test_calls_at_the_same_time_learn_the_same_lesson(lie: Any) -> None:
    with imitating_server("vllm", lie, delay_seconds=0.01) as server:
        model = model_of(server, decoding={"temperature": 0.5})
        first = await asyncio.gather(*[model.complete(PROMPT) for _ in range(4)], return_exceptions=True)
        second = await asyncio.gather(*[model.complete(PROMPT) for _ in range(4)])
        await model.close()

    assert [getattr(refused, "retry_after", None) for refused in first] == [0.0] * 4
    assert all(reply.text for reply in second)
    assert len(model.remarks) == 1


async def test_a_model_without_a_system_role_gets_one_user_message() -> None:
    with imitating_server("llamacpp", "refuses a system role") as server:
        await replies_of(model_of(server, "llama.cpp"), PROMPT)

        (message,) = server.calls[-1].json()["messages"]
        assert message["role"] == "user"
        assert PROMPT.system in message["content"]
        assert PROMPT.user in message["content"]


async def test_a_refused_schema_pauses_with_words() -> None:
    with imitating_server("vllm", "refuses a schema") as server:
        model = model_of(server)

        with pytest.raises(ModelMisconfigured, match="form: json"):
            await replies_of(model, PROMPT)


async def test_a_prompt_that_was_cut_names_the_setting_to_raise() -> None:
    prompt = Prompt("You are the keeper.", "rain and wind " * 900, SCHEMA, 7, 200)
    with imitating_server("llamacpp", "truncates the prompt") as server:
        model = model_of(server, "llama.cpp")

        with pytest.raises(ModelMisconfigured, match=r"cut the prompt.*larger -c") as wrong:
            await model.complete(prompt)
        await model.close()

        assert wrong.value.usage is not None, "its tokens were used and count"
        assert wrong.value.usage.total == server.usage.input + server.usage.output


async def test_a_prompt_that_is_too_long_names_the_setting_to_raise() -> None:
    with imitating_server("llamacpp", models=[ServedModel("small", loaded_context_tokens=64)]) as server:
        model = model_of(server, "llama.cpp")

        with pytest.raises(ModelMisconfigured, match=r"longer than the context.*larger -c"):
            await model.complete(Prompt("You are the keeper.", "rain and wind " * 90, SCHEMA, 7, 200))
        await model.close()


@pytest.mark.parametrize("lie", ["error in 200", "error in the stream"])
async def test_an_error_inside_an_answer_of_status_200_is_a_failed_call(lie: Lie) -> None:
    with imitating_server("openrouter", lie) as server:
        model = model_of(server, "openrouter")

        with pytest.raises(ModelFailed) as failed:
            await model.complete(PROMPT)
        await model.close()

        assert failed.value.model == server.model
        assert failed.value.usage is None, "nobody has counted what it wrote"


async def test_a_whitespace_loop_is_read_no_further() -> None:
    pieces: list[str] = []
    prompt = Prompt("a", "b", SCHEMA, 7, 4_000)
    with imitating_server("vllm", "whitespace loop") as server:
        model = model_of(server)
        reply = await model.complete(prompt, on_text=pieces.append)
        await model.close()

    assert reply.finish == "length"
    assert len("".join(pieces)) < 1_000
    assert reply.usage.is_estimated


async def test_a_reply_that_stands_where_the_reasoning_belongs_is_still_the_reply() -> None:
    with imitating_server("vllm", "all in thinking") as server:
        (reply,) = await replies_of(model_of(server, "vllm"), PROMPT)

    assert json.loads(reply.text)["kind"]
    assert "{" not in (reply.reasoning or "")


async def test_a_reply_that_was_all_reasoning_says_what_to_set() -> None:
    prompt = Prompt("a", "b", SCHEMA, 7, 4)
    with imitating_server("lmstudio", models=[THINKING]) as server:
        model = model_of(server, "lmstudio")
        (reply,) = await replies_of(model, prompt)

    assert (reply.text, reply.finish) == ("", "length")
    assert "reasoning_tokens_max" in model.remarks[0]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("lie", ["content filter", "refusal"])
async def test_a_filtered_reply_says_so(lie: Any, streamed: bool) -> None:
    with imitating_server("openai", lie) as server:
        (reply,) = await replies_of(model_of(server, "openai"), PROMPT, streamed=streamed)

    assert reply.finish == "filtered"


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_cut_reply_says_so_and_is_no_sign_of_a_dropped_schema(streamed: bool) -> None:
    with imitating_server("vllm", "truncated") as server:
        model = model_of(server)
        (reply,) = await replies_of(model, PROMPT, streamed=streamed)

    assert (reply.finish, model.form) == ("length", "schema")


async def test_missing_counts_are_estimated_and_marked() -> None:
    with imitating_server("vllm", "no usage") as server:
        (reply,) = await replies_of(model_of(server), PROMPT)

    assert reply.usage.is_estimated
    assert min(reply.usage.input, reply.usage.output) > 0


async def test_a_wrong_key_names_its_variable_and_never_the_key() -> None:
    with imitating_server("openai", key="right") as server:
        model = model_of(server, "openai", key="sk-very-secret", key_variable="OPENAI_API_KEY")

        with pytest.raises(ModelMisconfigured, match="OPENAI_API_KEY") as wrong:
            await model.complete(PROMPT)
        await model.close()

    assert "secret" not in f"{wrong.value!r} {wrong.value} {model!r} {vars(model)}"


async def test_an_unknown_model_is_a_matter_of_its_binding() -> None:
    with imitating_server("vllm") as server:
        model = OpenAICompatible("nobody", server.url)

        with pytest.raises(ModelMisconfigured, match="glasshouse models"):
            await model.complete(PROMPT)
        await model.close()


async def test_parameters_that_no_provider_takes_are_given_up_one_after_the_other() -> None:
    with imitating_server("openrouter", "ignores parameters") as server:
        model = model_of(server, "openrouter", decoding={"temperature": 0.2})

        with pytest.raises(ModelMisconfigured, match="decoding"):
            await replies_of(model, PROMPT)

        assert model.form == "json"
        sent = [set(call.json()) & {"reasoning", "response_format"} for call in server.calls]
        assert sent == [{"reasoning", "response_format"}, {"response_format"}, set()]


async def test_a_model_of_openai_reasons_as_little_as_it_can() -> None:
    def refusal(value: str) -> Fault:
        return faults.status(
            400, message=f"Unsupported value: 'reasoning_effort' does not support '{value}'."
        )

    with imitating_server("openai") as server:
        server.next(refusal("none"), refusal("minimal"))
        await replies_of(model_of(server, "openai"), PROMPT, PROMPT)

        efforts = [call.json()["reasoning_effort"] for call in server.calls]
        assert efforts == ["none", "minimal", "low", "low"]


@pytest.mark.parametrize("backend", [OpenAICompatible, OllamaModel])
async def test_a_failure_to_reach_a_server_names_the_model_that_was_asked_for(
    backend: type[OpenAICompatible | OllamaModel],
) -> None:
    with imitating_server("ollama") as server:
        model = backend(server.model, server.url)

    with pytest.raises(ModelUnreachable) as away:
        await replies_of(model, PROMPT)

    assert away.value.model == model.name


async def test_a_model_is_used_from_several_event_loops() -> None:
    with imitating_server("vllm") as server:
        model = model_of(server)

        def in_another_loop() -> Completion:
            async def ask() -> Completion:
                try:
                    return await model.complete(PROMPT)
                finally:
                    await model.close()

            return asyncio.run(ask())

        await model.complete(PROMPT)
        reply = await asyncio.to_thread(in_another_loop)
        await model.complete(PROMPT)
        await model.close()

    assert reply.text


def test_counts_of_all_sorts_are_read_with_care() -> None:
    assert tokens_of({}) is None
    assert tokens_of({"prompt_tokens": "many", "completion_tokens": -1}) is None
    assert tokens_of({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": None}) == Tokens(
        5, 2
    )
    beside = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 10}
    details = {"completion_tokens_details": {"reasoning_tokens": 3}}
    assert tokens_of(beside | details) == Tokens(5, 5, reasoning=3)
    assert tokens_of({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}) == Tokens(
        0, cache_read=5
    )


def test_addresses_are_understood_as_people_write_them() -> None:
    assert root_and_prefix("http://localhost:8080") == ("http://localhost:8080", "/v1")
    assert root_and_prefix("http://localhost:8080/v1/") == ("http://localhost:8080", "/v1")
    assert root_and_prefix("https://openrouter.ai/api/v1") == ("https://openrouter.ai/api", "/v1")
    assert root_and_prefix("https://example.org/openai") == ("https://example.org/openai", "")
    assert OpenAICompatible("m", "localhost:8080").backend == "http://localhost:8080"
    assert OpenAICompatible("m", "http://0.0.0.0:8080").backend == "http://127.0.0.1:8080"
    for wrong in ("ftp://localhost", "http://", "http://user:key@localhost"):
        with pytest.raises(Refused) as refused:
            OpenAICompatible("m", wrong)
        assert "key@" not in str(refused.value)
