"""The llama.cpp server that other tests play on works, and is what they take it for."""

import json
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.reply_schema import reply_schema
from glasshouse.turns.moment.tools import ToolCall, ToolOffer
from glasshouse.turns.replies.reply import draft_from
from tests.rules.turns.moments_by_hand import a_moment
from tests.servers.llama_server import LlamaServer, llama_server


def variant(kind: str, **fields: Any) -> dict[str, Any]:
    properties = {"kind": {"const": kind}, "text": {"type": "string", "maxLength": 80}, **fields}
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


SCHEMA = {
    "anyOf": [variant("say", mood={"enum": ["calm", "cross"]}), variant("doubt", event={"enum": [3, 12]})]
}


def completion(server: LlamaServer, said: str, **more: Any) -> Any:
    messages = [{"role": "system", "content": "You are Ada."}, {"role": "user", "content": said}]
    return server.posted("/v1/chat/completions", {"messages": messages, "max_tokens": 300, **more})


def under_schema(
    server: LlamaServer, said: str, seed: int, wanted: dict[str, Any] = SCHEMA, tokens_max: int = 300
) -> Any:
    schema = {"name": "act", "schema": wanted, "strict": True}
    answer_format = {"type": "json_schema", "json_schema": schema}
    return completion(server, said, seed=seed, response_format=answer_format, max_tokens=tokens_max)


def text_of(answer: Any) -> str:
    return str(answer["choices"][0]["message"]["content"])


def test_answers_follow_the_schema_and_the_server_counts_what_it_reports() -> None:
    with llama_server() as server:
        answers = [under_schema(server, f"Good morning, {seed}.", seed) for seed in range(20)]
        counted = server.counted()

    acts = [json.loads(text_of(answer)) for answer in answers]
    assert {act["kind"] for act in acts} == {"say", "doubt"}
    assert {tuple(act) for act in acts} == {("kind", "text", "mood"), ("kind", "text", "event")}
    usages = [answer["usage"] for answer in answers]
    cached = sum(usage["prompt_tokens_details"]["cached_tokens"] for usage in usages)
    assert counted.cache_read == cached > 0
    assert counted.input_uncached == sum(usage["prompt_tokens"] for usage in usages) - cached
    assert counted.output == sum(usage["completion_tokens"] for usage in usages)


LABEL = ToolOffer(
    "label",
    "Write a label.",
    {
        "type": "object",
        "properties": {
            "kind": {"enum": ["jam", "tea"]},
            "size": {"type": "object", "properties": {"grams": {"enum": [1, 2]}}, "required": ["grams"]},
            "mood": {"type": "boolean"},
        },
        "required": ["kind", "size"],
    },
)
RING = ToolOffer("ring", "Ring the bell.", {"type": "object", "properties": {}, "required": []})


def test_a_grammar_holds_calls_to_the_object_of_their_arguments() -> None:
    moment = a_moment(character=Character(name="ada"), tools=(LABEL, RING))
    calls = [branch for branch in reply_schema(moment).value["anyOf"] if "tool" in branch["properties"]]

    with llama_server() as server:
        texts = [
            text_of(under_schema(server, f"Good morning, {seed}.", seed, {"anyOf": calls}, 900))
            for seed in range(12)
        ]

    read = [draft_from(text, moment) for text in texts]
    assert {call.tool for call in read if isinstance(call, ToolCall)} == {"label", "ring"}
    for call in read:
        assert isinstance(call, ToolCall)
        if call.tool == "label":
            assert call.arguments["kind"] in ("jam", "tea")
            assert call.arguments["size"] in ({"grams": 1}, {"grams": 2})
        else:
            assert call.arguments == {}


def test_a_fresh_server_with_one_slot_gives_the_same_texts_for_the_same_seeds() -> None:
    with llama_server() as server:
        first = [text_of(completion(server, "Hello.", seed=seed)) for seed in (1, 1, 2)]
        server.restart()
        again = [text_of(completion(server, "Hello.", seed=seed)) for seed in (1, 1, 2)]

    assert first == again
    assert first[0] != first[2]


def test_a_killed_server_answers_nobody_and_comes_back_at_the_same_address() -> None:
    with llama_server() as server:
        completion(server, "Hello.")
        before = server.counted()
        server.kill()
        with pytest.raises(URLError, match="refused"):
            completion(server, "Hello?")
        server.restart()
        completion(server, "Hello again.")

        assert server.counted().output > before.output > 0


def test_text_inside_a_message_reaches_the_model_as_control_tokens() -> None:
    with llama_server() as server:
        assert len(server.tokens_of("<|im_end|>")) == 1
        assert len(server.tokens_of("<im_end>")) > 5


def test_a_prompt_beyond_the_context_is_refused() -> None:
    with llama_server(context_tokens=256) as server, pytest.raises(HTTPError) as refused:
        completion(server, "word " * 300)

    assert json.loads(refused.value.read())["error"]["type"] == "exceed_context_size_error"


def test_a_model_that_writes_invalid_utf_8_fails_a_third_of_the_calls() -> None:
    statuses: list[int] = []
    with llama_server("bytes") as server:
        for seed in range(60):
            try:
                under_schema(server, f"Good morning, {seed}.", seed)
                statuses.append(200)
            except HTTPError as error:
                statuses.append(error.code)

    assert set(statuses) == {200, 500}
    assert 10 <= statuses.count(500) <= 30
