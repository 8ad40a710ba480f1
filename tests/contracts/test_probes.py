"""Probes and lists of models: what a backend finds out about its server, on imitated servers and on a real llama.cpp."""

import asyncio
import dataclasses
from typing import Any

import pytest

from glasshouse.errors import ModelMisconfigured, ModelUnreachable
from glasshouse.model_values import Form, Tokens
from glasshouse.models import deep_probe, ollama, openai_lists
from glasshouse.models.ollama import OllamaModel, Pulled, pull
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.models.openai_lists import ServerKind, _quantization
from glasshouse.runtime.ports import OnProgress, OnText, Probe, ProbeCheck, ProbeStep
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.contracts.test_openai_compatible import KINDS, PROMPT
from tests.servers.imitating_server import imitating_server
from tests.servers.imitations import Personality, ServedModel
from tests.servers.llama_server import llama_server

SMALL = ServedModel("qwen3-4b", parameters="4.3B", context_tokens=40_960, loaded_context_tokens=2_048)
EMBEDDER = ServedModel("nomic-embed", parameters="137M", kind="embeddings", capabilities=("embedding",))
CLOUD = ServedModel("gpt-oss:120b-cloud", remote_host="https://ollama.com:443")


async def probed(model: OpenAICompatible | OllamaModel, *, deep: bool = False) -> Probe:
    try:
        return await model.probe(deep=deep)
    finally:
        await model.close()


def good(probe: Probe) -> dict[str, bool | None]:
    return {check.what.partition(" (")[0]: check.is_good for check in probe.checks}


@pytest.mark.parametrize("personality", KINDS)
async def test_the_context_is_the_one_that_is_served_and_never_the_trained_one(
    personality: Personality,
) -> None:
    with imitating_server(personality, models=[SMALL]) as server:
        probe = await probed(OpenAICompatible("qwen3-4b", server.url, server=KINDS[personality]))

        assert (probe.is_reachable, probe.problem) == (True, "")
        assert probe.context_tokens == (None if personality == "openai" else 2_048)
        assert not server.calls, "a cheap probe generates nothing"


async def test_an_older_llama_cpp_is_asked_for_the_context_that_its_list_leaves_out() -> None:
    older = dataclasses.replace(SMALL, is_context_listed=False)
    with imitating_server("llamacpp", models=[older]) as server:
        probe = await probed(OpenAICompatible("qwen3-4b", server.url, server="llama.cpp"))
        (listed,) = await openai_lists.installed_at(server.url, server="llama.cpp")

    assert (probe.context_tokens, listed.context_tokens, listed.context_tokens_usual) == (2_048,) * 3


async def test_a_model_that_lm_studio_has_not_loaded_gets_what_lm_studio_gives_unasked() -> None:
    with imitating_server("lmstudio", models=[SMALL, dataclasses.replace(SMALL, name="other-4b")]) as server:
        loaded, other = await openai_lists.installed_at(server.url, server="lmstudio")
        probe = await probed(OpenAICompatible("other-4b", server.url, server="lmstudio"))

    assert (loaded.context_tokens_usual, other.context_tokens_usual) == (2_048, 4_096)
    assert other.context_tokens == 40_960, "a models.yaml may ask for more, since the model can be loaded so"
    assert probe.context_tokens is None


@pytest.mark.parametrize(("url_kind", "shown"), [("vllm", "max-num-seqs"), ("lmstudio", "load settings")])
async def test_a_server_at_any_address_is_recognized(url_kind: Any, shown: str) -> None:
    with imitating_server(url_kind, models=[SMALL]) as server:
        probe = await probed(OpenAICompatible("qwen3-4b", server.url))

    assert shown in probe.checks[0].advice


async def test_ollama_tells_digest_size_and_the_context_that_is_loaded() -> None:
    with imitating_server("ollama", models=[SMALL]) as server:
        model = OllamaModel("qwen3-4b", server.url, context_tokens=4_096)
        before = await model.probe()
        reply = await model.complete(PROMPT)
        after = await probed(model)

    assert (before.context_tokens, after.context_tokens) == (4_096, 4_096)
    assert (after.parameters_b, after.quantization, after.digest) == (4.3, "Q4_K_M", SMALL.digest)
    assert reply.served_by == SMALL.digest[:12]


async def test_without_a_setting_the_context_of_ollama_is_unknown_until_the_model_is_loaded() -> None:
    with imitating_server("ollama", models=[SMALL]) as server:
        model = OllamaModel("qwen3-4b", server.url)
        before = await model.probe()
        await model.complete(PROMPT)
        after = await probed(model)

    assert (before.context_tokens, after.context_tokens) == (None, 4_096)


async def test_a_missing_model_and_a_missing_server_are_told_apart() -> None:
    with imitating_server("ollama") as server, imitating_server("vllm") as other:
        no_model = await probed(OllamaModel("nobody", server.url))
        no_model_either = await probed(OpenAICompatible("nobody", other.url))
    no_server = await probed(OllamaModel("nobody", server.url))

    assert (no_model.is_reachable, no_model_either.is_reachable, no_server.is_reachable) == (
        True,
        True,
        False,
    )
    assert no_model.advice == "Get it with: ollama pull nobody"
    assert other.model in no_model_either.advice
    assert "was not reached" in no_server.problem


@pytest.mark.parametrize("personality", ["vllm", "ollama"])
async def test_a_deep_probe_of_an_honest_server_finds_nothing_bad(personality: Any) -> None:
    with imitating_server(personality, models=[SMALL], say=lambda prompt: prompt[:40]) as server:
        if personality == "ollama":
            probe = await probed(OllamaModel("qwen3-4b", server.url, context_tokens=2_048), deep=True)
        else:
            probe = await probed(OpenAICompatible("qwen3-4b", server.url, server="vllm"), deep=True)

        facts = good(probe)
        assert facts["holds replies to a JSON Schema with thinking off"] is True
        assert facts["reports tokens"] is True
        (whole,) = [check for check in probe.checks if "whole" in check.what]
        assert whole.is_good is True
        assert max(int(word.replace(",", "")) for word in whole.what.split() if word[0].isdecimal()) > 1_500


async def test_a_deep_probe_finds_the_lies() -> None:
    thinker = ServedModel("qwen3-4b", capabilities=("completion", "thinking"))
    lie: Any = "thinking off drops the schema"
    with imitating_server("ollama", lie, "no usage", models=[thinker], say=lambda _: "Hm.") as server:
        model = OllamaModel("qwen3-4b", server.url, context_tokens=2_048)
        facts = good(await probed(model, deep=True))

    assert facts["holds replies to a JSON Schema"] is False
    assert facts["reports tokens"] is False
    assert model.form == "json"


async def test_a_deep_probe_finds_a_cut_prompt() -> None:
    with imitating_server("llamacpp", "truncates the prompt", models=[SMALL]) as server:
        probe = await probed(OpenAICompatible("qwen3-4b", server.url, server="llama.cpp"), deep=True)

    assert any("cut the prompt" in check.advice for check in probe.checks if check.is_good is False)


async def test_a_deep_probe_knows_a_cut_prompt_by_what_a_shorter_one_counted() -> None:
    # So little is cut that the words alone do not show it.
    lie: Any = "truncates the prompt"
    with imitating_server("llamacpp", lie, models=[SMALL], truncated_to_tokens=1_450) as server:
        probe = await probed(OpenAICompatible("qwen3-4b", server.url, server="llama.cpp"), deep=True)

    (whole,) = [check for check in probe.checks if "whole" in check.what]
    assert whole.is_good is False
    assert "it was cut" in whole.advice


async def test_a_real_llama_server_is_probed() -> None:
    with llama_server(slots=2, context_tokens=2_048) as server:
        model = OpenAICompatible("random", server.url)
        probe = await probed(model, deep=True)

    facts = good(probe)
    assert (probe.context_tokens, probe.slots, model.max_parallel) == (2_048, 2, 2)
    assert probe.quantization == "F32"
    assert facts["answers several calls at once"] is True
    assert facts["holds replies to a JSON Schema with thinking off"] is True
    assert facts["reports tokens"] is True
    assert facts["reads the beginning of a prompt from its cache"] is True


async def test_lists_say_what_each_model_is() -> None:
    with imitating_server("ollama", models=[SMALL, EMBEDDER, CLOUD]) as server:
        small, embedder, cloud = await ollama.installed_at(server.url)
    with imitating_server("lmstudio", models=[SMALL, EMBEDDER]) as server:
        loaded, other = await openai_lists.installed_at(server.url, server="lmstudio")
    with imitating_server("openrouter", models=[SMALL]) as server:
        (hosted,) = await openai_lists.installed_at(server.url, server="openrouter")

    assert (small.parameters_b, small.quantization, small.context_tokens) == (4.3, "Q4_K_M", 40_960)
    assert small.capabilities == frozenset({"completion"})
    assert embedder.parameters_b == 0.137
    assert (cloud.is_remote, small.is_remote) == (True, False)
    assert (loaded.context_tokens, other.capabilities) == (2_048, frozenset({"embedding"}))
    assert hosted.price is not None
    assert [hosted.price.input, hosted.price.output] == pytest.approx([0.1, 0.4])


@pytest.mark.parametrize(
    ("personality", "kind"),
    [
        ("llamacpp", "llama.cpp"),
        ("vllm", "vllm"),
        ("lmstudio", "lmstudio"),
        ("ollama", "ollama"),
        ("openai", "other"),
    ],
)
async def test_the_server_at_an_address_is_recognized(personality: Any, kind: str) -> None:
    with imitating_server(personality) as server:
        assert await openai_lists.server_at(server.url) == (kind, server.url)
        if kind == "ollama":
            assert await openai_lists.server_at(f"{server.url}/v1") == ("ollama", server.url)

    assert await openai_lists.server_at(server.url) == ("other", server.url), "nobody is there any more"


def test_quantizations_have_their_usual_names() -> None:
    names = ["(guessed) all F32", "Q4_K - Medium", "(guessed) Q3_K - Small", "IQ4_XS - 4.25 bpw", "Q8_0", ""]

    assert [_quantization(ftype) for ftype in names] == ["F32", "Q4_K_M", "Q3_K_S", "IQ4_XS", "Q8_0", ""]


@pytest.mark.parametrize("kind", ["openai", "other"])
async def test_a_list_behind_a_wrong_key_names_the_variable(kind: ServerKind) -> None:
    with imitating_server("openai", key="right") as server, pytest.raises(ModelMisconfigured, match="MY_KEY"):
        await openai_lists.installed_at(server.url, server=kind, key="wrong", key_variable="MY_KEY")


async def test_a_list_of_nobody_was_not_reached() -> None:
    with imitating_server("ollama") as server:
        pass
    with pytest.raises(ModelUnreachable):
        await ollama.installed_at(server.url)


async def test_a_download_reports_how_far_it_is() -> None:
    steps: list[Pulled] = []
    with imitating_server("ollama") as server:
        await pull(server.url, "tiny:1b", steps.append)
        names = [model.name for model in await ollama.installed_at(server.url)]
        with pytest.raises(ModelMisconfigured, match="could not download nowhere"):
            await pull(server.url, "nowhere", steps.append)

    assert "tiny:1b" in names
    assert Pulled("pulling 6a0746a1ec1a", 1_000_000, 4_000_000) in steps


class Reader:
    """A model that answers short prompts at once, and those longer than this never."""

    name = "reader"
    form: Form = "json"
    remarks: tuple[str, ...] = ()

    def __init__(self, chars_read_max: int) -> None:
        self._chars_read_max = chars_read_max

    async def complete(
        self, prompt: Prompt, *, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> Completion:
        if len(prompt.system) > self._chars_read_max:
            await asyncio.Event().wait()
        tokens = Tokens(len(prompt.system + prompt.user) // 4, 2)
        return Completion("Hm.", self.name, tokens)


@pytest.mark.parametrize(
    ("chars_read_max", "what"),
    [(0, "answers within "), (4_000, "reads a prompt of about 7,229 tokens within ")],
)
async def test_a_step_that_takes_too_long_is_what_was_found_and_the_last_one(
    chars_read_max: int, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deep_probe, "step_seconds_max", 0.01 if not chars_read_max else 2.0)
    news: list[ProbeStep | ProbeCheck] = []

    checks = await deep_probe.deep_checks(Reader(chars_read_max), 8_192, "", news.append)

    assert checks[-1].what.startswith(what)
    assert (checks[-1].is_good, bool(checks[-1].advice)) == (False, True)
    assert [check for check in news if isinstance(check, ProbeCheck)] == [*checks]
    assert isinstance(news[0], ProbeStep)
    assert isinstance(news[-2], ProbeStep), "what took too long was told before it was tried"
