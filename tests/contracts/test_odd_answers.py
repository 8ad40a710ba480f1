"""Whatever JSON a server sends: a backend gives a completion that can be stored, or one of its own errors."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.model_values import Tokens
from glasshouse.models.ollama import OllamaModel, _installed
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.models.openai_lists import _entries, _of_lmstudio, _of_openai
from glasshouse.models.server import Server, TakePart, bad_answer
from glasshouse.runtime.acts.completions import as_recorded
from glasshouse.runtime.call_time import CallTime
from glasshouse.runtime.ports import Route
from tests.contracts.test_openai_compatible import PROMPT

WORDS = [
    "choices",
    "message",
    "delta",
    "content",
    "reasoning",
    "thinking",
    "reasoning_content",
    "finish_reason",
    "refusal",
    "error",
    "usage",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "prompt_tokens_details",
    "cached_tokens",
    "cost",
    "done",
    "done_reason",
    "prompt_eval_count",
    "eval_count",
    "load_duration",
    "model",
    "id",
    "provider",
    "system_fingerprint",
    "prompt_progress",
    "processed",
    "total",
    "code",
    "metadata",
    "raw",
    "text",
    "data",
    "meta",
    "n_ctx",
    "n_params",
    "pricing",
    "prompt",
    "completion",
    "models",
    "name",
    "details",
    "model_info",
    "capabilities",
    "state",
    "owned_by",
    "length",
    "stop",
    "content_filter",
]
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=8)
anything = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(WORDS), anything, max_size=4)
choices = st.fixed_dictionaries({"choices": st.lists(objects, min_size=1, max_size=2)})
messages = st.fixed_dictionaries({"message": objects, "done": st.just(value=True)})
answers = st.lists(choices | messages | objects, max_size=3)


def as_sent(value: Any) -> Any:
    """The value after its way over the wire."""
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.mark.parametrize(
    "model", [OpenAICompatible("m", "localhost"), OllamaModel("m")], ids=["openai", "ollama"]
)
@given(parts=answers, streamed=st.booleans())
async def test_no_answer_breaks_a_backend(model: Any, parts: list[Any], streamed: bool) -> None:
    async def ask(server: Server, path: str, body: Any, take: TakePart, time: CallTime) -> None:
        for part in parts:
            if take(server._decoded(msgspec.json.encode(part))):
                return

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Server, "ask", ask)
        with suppress(ModelFailed, ModelMisconfigured, ModelUnreachable):
            completion = await model.complete(PROMPT, on_text=(lambda text: None) if streamed else None)
            as_recorded(completion, Route(model, "m", 1_000, 100), Tokens())


@given(entry=objects, shown=objects)
def test_no_list_breaks_a_backend(entry: Any, shown: Any) -> None:
    named = as_sent(entry) | {"id": "m", "name": "m"}
    for listed in (_of_lmstudio(named).model, _of_openai(named).model, _installed(named, as_sent(shown))):
        assert listed.name == "m"
    assert isinstance(_entries(as_sent(shown)), list)


@given(error=anything, status=st.sampled_from([200, 400, 429, 500]))
def test_no_error_breaks_a_backend(error: Any, status: int) -> None:
    bad = bad_answer(as_sent(error), status, str)

    assert str(Server("localhost").error_of(bad, "m"))
