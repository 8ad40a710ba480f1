"""The backend for Ollama's own API, against a server that imitates it, with its lies."""

import asyncio
import json
from typing import Any

import pytest

from glasshouse.errors import ModelFailed, ModelMisconfigured
from glasshouse.models.ollama import OllamaModel
from glasshouse.turns.moment.prompt import Prompt
from tests.contracts.test_openai_compatible import PROMPT, SCHEMA, replies_of
from tests.servers.imitating_server import ImitatingServer, imitating_server
from tests.servers.imitations import ServedModel

THINKER = ServedModel("qwen3:8b", capabilities=("completion", "thinking"))


def model_of(server: ImitatingServer, **more: Any) -> OllamaModel:
    return OllamaModel(server.model, server.url, **more)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_reply_comes_with_its_counts_and_times(streamed: bool) -> None:
    with imitating_server("ollama") as server:
        first, second = await replies_of(
            model_of(server, context_tokens=8_192), PROMPT, PROMPT, streamed=streamed
        )

        assert json.loads(first.text)["kind"] in {"agent.spoke", "agent.passed"}
        assert first.usage.input + second.usage.input == server.usage.input
        assert first.usage.output + second.usage.output == server.usage.output
        assert first.load_ms == 2_000 > second.load_ms
        assert first.first_text_ms > 0


async def test_every_request_has_the_same_context_and_forbids_cutting() -> None:
    with imitating_server("ollama") as server:
        long = Prompt("a", "b", SCHEMA, 8, 400, None, "json", ("END",))
        await replies_of(model_of(server, context_tokens=8_192, decoding={"temperature": 0.3}), PROMPT, long)

        schema_form, json_form = [call.json() for call in server.calls]
        assert server.imitation.reloads == 0
        assert schema_form["options"] == {"temperature": 0.3, "seed": 7, "num_predict": 200, "num_ctx": 8_192}
        assert json_form["options"]["stop"] == ["END"]
        assert (schema_form["truncate"], schema_form["shift"], schema_form["think"]) == (False, False, False)
        assert schema_form["format"] == SCHEMA
        assert "format" not in json_form


async def test_two_uses_of_a_model_with_different_contexts_do_not_load_it_again_and_again() -> None:
    with imitating_server("ollama") as server:
        small, large = model_of(server, context_tokens=2_048), model_of(server, context_tokens=4_096)
        for _ in range(2):
            await small.complete(PROMPT)
            await large.complete(PROMPT)
        await small.close()
        await large.close()

        assert server.imitation.reloads == 0
        assert {call.json()["options"]["num_ctx"] for call in server.calls} == {4_096}


async def test_a_model_that_ignores_the_schema_without_thinking_is_asked_in_words() -> None:
    models = [THINKER]
    with imitating_server(
        "ollama", "thinking off drops the schema", models=models, say=lambda _: "Hm."
    ) as server:
        model = model_of(server)
        await replies_of(model, PROMPT, PROMPT, PROMPT, PROMPT)

        tried = [("think" in body, "format" in body) for body in (call.json() for call in server.calls)]
        assert tried == [(True, True), (False, True), (True, False), (True, False)]
        assert model.form == "json"
        assert "thinking is off" in model.remarks[0]


async def test_a_model_that_may_think_keeps_the_schema() -> None:
    models = [THINKER]
    with imitating_server("ollama", "thinking off drops the schema", models=models) as server:
        model = model_of(server, reasoning_tokens_max=400)
        (reply, _) = await replies_of(model, PROMPT, PROMPT)

        assert all(call.json()["think"] is True for call in server.calls)
        assert server.calls[0].json()["options"]["num_predict"] == 600
        assert (model.form, model.remarks) == ("schema", ())
        assert reply.reasoning


async def test_a_model_that_cannot_think_is_not_asked_to() -> None:
    with imitating_server("ollama") as server:
        replies = await replies_of(model_of(server, reasoning_tokens_max=400), PROMPT, PROMPT)

        assert len(replies) == 2
        assert ["think" in call.json() for call in server.calls] == [True, False, False]


async def test_calls_at_the_same_time_learn_the_same_lesson() -> None:
    with imitating_server("ollama", delay_seconds=0.01) as server:
        model = model_of(server, reasoning_tokens_max=400)
        first = await asyncio.gather(*[model.complete(PROMPT) for _ in range(4)], return_exceptions=True)
        second = await asyncio.gather(*[model.complete(PROMPT) for _ in range(4)])
        await model.close()

    assert [getattr(refused, "retry_after", None) for refused in first] == [0.0] * 4
    assert all(reply.text for reply in second)


async def test_a_dropped_schema_is_found_out() -> None:
    with imitating_server("ollama", "drops the schema", say=lambda _: "Good evening.") as server:
        model = model_of(server)
        await replies_of(model, PROMPT, PROMPT, PROMPT)

        assert model.form == "json"
        assert "format" not in server.calls[-1].json()


@pytest.mark.parametrize("lies", [[], ["truncates the prompt"]])
async def test_a_prompt_that_does_not_fit_names_the_setting_to_raise(lies: list[Any]) -> None:
    prompt = Prompt("You are the keeper.", "rain and wind " * 900, SCHEMA, 7, 200)
    words = r"Raise context_tokens of qwen3:8b \(now 2048\)"
    with imitating_server("ollama", *lies) as server, pytest.raises(ModelMisconfigured, match=words):
        await replies_of(model_of(server, context_tokens=2_048), prompt)


async def test_a_missing_model_names_the_command_that_gets_it() -> None:
    with (
        imitating_server("ollama") as server,
        pytest.raises(ModelMisconfigured, match="ollama pull nobody:1b"),
    ):
        await replies_of(OllamaModel("nobody:1b", server.url), PROMPT)


async def test_a_stream_that_ends_in_an_error_is_a_failed_call_that_nobody_has_counted() -> None:
    with imitating_server("ollama", "error in the stream") as server, pytest.raises(ModelFailed) as failed:
        await replies_of(model_of(server), PROMPT, streamed=True)

    assert failed.value.usage is None


async def test_a_reply_of_thinking_alone_says_what_to_set() -> None:
    always_thinks = ServedModel("gpt-oss:20b", capabilities=("completion", "thinking"))
    with imitating_server("ollama", models=[always_thinks]) as server:
        model = model_of(server)
        (reply,) = await replies_of(model, Prompt("a", "b", SCHEMA, 7, 4))

    assert (reply.text, reply.finish) == ("", "length")
    assert "reasoning_tokens_max" in model.remarks[0]


def test_what_runs_on_this_computer_is_free_and_the_cloud_is_not() -> None:
    assert OllamaModel("qwen3:8b").is_free
    assert not OllamaModel("gpt-oss:120b-cloud").is_free
    assert not OllamaModel("qwen3:8b", "https://ollama.com", key="k").is_free
