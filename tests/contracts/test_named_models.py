"""Models by name, in process: what a text and a models.yaml make of imitated servers."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from glasshouse import ModelRouter, Terrarium
from glasshouse.errors import Refused, UnknownName
from glasshouse.events.model_use import FREE, Price
from glasshouse.models import Completion, Prompt, Route, Tokens, models_named
from glasshouse.models.decoding_defaults import DRY
from glasshouse.models.named_models import NamedModels
from tests.servers.imitating_server import ImitatingServer, imitating_server
from tests.servers.imitations import LLAMA_CPP_SAMPLES, Personality, ServedModel

NOBODY = "http://127.0.0.1:9"
LINE = "Somebody has been at the marmalade."
LIST = [
    ServedModel("qwen3:8b"),
    ServedModel("gemma3:4b", parameters="4.3B"),
    ServedModel("gpt-oss:120b-cloud", parameters="116.8B", remote_host="https://ollama.com:443"),
]


@pytest.fixture
def ollama() -> Iterator[ImitatingServer]:
    with imitating_server("ollama", models=LIST, say=lambda _: LINE) as server:
        yield server


def from_file(folder: Path, text: str, **urls: str) -> NamedModels:
    path = folder / "models.yaml"
    path.write_text(dedent(text).format(**urls), encoding="utf-8")
    return models_named(path)


async def test_one_object_plays_every_size_of_a_named_server(
    ollama: ImitatingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", ollama.url.removeprefix("http://"))
    models = models_named("ollama")

    await models.open()

    routes = [models.route(size) for size in ("tiny", "fast", "balanced", "strong")]
    assert {id(route.model) for route in routes} == {id(routes[0].model)}
    assert {(route.name, route.context_tokens_max, route.price, route.is_local) for route in routes} == {
        ("qwen3:8b", 8_192, FREE, True)
    }
    assert [route.reply_tokens_max for route in routes] == [256, 384, 512, 768]
    assert models.pacing == "free"


async def test_what_ollama_runs_in_its_cloud_is_not_free(ollama: ImitatingServer, tmp_path: Path) -> None:
    text = """
        backends: {{ollama: {{url: "{url}"}}}}
        profiles: {{fast: {{backend: ollama, model: "gpt-oss:120b-cloud", context_tokens: 8192}}}}
    """
    models = from_file(tmp_path, text, url=ollama.url)

    await models.open()

    assert (models.route("fast").price, models.route("fast").is_local) == (None, False)


async def test_a_file_says_how_each_profile_is_asked(ollama: ImitatingServer, tmp_path: Path) -> None:
    text = """
        backends: {{here: {{server: ollama, url: "{url}", max_parallel: 3}}}}
        profiles:
          fast:
            backend: here
            model: gemma3:4b
            context_tokens: 4096
            reply_tokens: 100
            form: prose
            decoding: {{temperature: 0.5}}
            price: {{input: 1, output: 2}}
            limits: {{reasoning_tokens: 64, call_seconds: 9, first_token_seconds: 5, token_seconds: 2}}
            fallbacks: [spare]
          spare: {{backend: offline, model: "offline:hasty", context_tokens: 8192}}
        pins: {{creatures: {{ada: spare}}, teams: {{fir: spare}}}}
    """
    models = from_file(tmp_path, text, url=ollama.url)

    await models.open()

    route = models.route("strong")
    assert (route.name, route.context_tokens_max, route.reply_tokens_max) == ("gemma3:4b", 4_096, 100)
    assert (route.form, dict(route.decoding), route.price) == ("prose", {"temperature": 0.5}, Price(1, 2))
    assert (route.reasoning_tokens_max, route.bounds) == (64, (9, 5, 2))
    assert getattr(route.model, "_server").bounds == (9, 5, 2)  # noqa: B009 (not every model has one)
    assert [spare.name for spare in route.fallbacks] == ["offline:hasty"]
    assert getattr(route.model, "max_parallel", None) == 3
    assert models.route("fast", "spare").name == "spare"
    assert [models.pin_of(handle, {"fir": ("bo",)}, None) for handle in ("ada", "bo", "cy")] == [
        "spare",
        "spare",
        None,
    ]
    assert models.pin_of("ada", {}, "bound") == "bound"


@pytest.mark.parametrize(
    ("parameters", "size"),
    [
        ("0.5B", "tiny"),
        ("4.6B", "tiny"),
        ("4.7B", "fast"),
        ("9.9B", "fast"),
        ("12B", "balanced"),
        ("70B", "strong"),
    ],
)
async def test_the_size_of_a_route_is_that_of_the_model_that_plays(parameters: str, size: str) -> None:
    with imitating_server("llamacpp", models=[ServedModel("played", parameters=parameters)]) as server:
        models = models_named(server.url)

        await models.open()

        assert {models.route(profile).size for profile in ("tiny", "fast", "balanced", "strong")} == {size}


async def test_a_model_whose_parameters_nobody_tells_has_the_size_that_is_asked_for(tmp_path: Path) -> None:
    text = """
        profiles:
          fast: {{backend: anthropic, model: claude-haiku-4-5, context_tokens: 8192}}
          tiny: {{backend: mistral, model: ministral-8b-latest, context_tokens: 8192}}
    """
    models = from_file(tmp_path, text)

    # It was not opened: nobody looked what the servers have, as in a run that a program opens.
    assert models.route("fast").size == ""
    assert models.route("tiny").size == "fast"


# How llama.cpp samples


async def test_llama_cpp_gets_a_penalty_on_repeating_if_nobody_says_how_it_samples() -> None:
    with imitating_server("llamacpp", models=[ServedModel("small")], say=lambda _: LINE) as server:
        models = models_named(server.url)
        await models.open()
        route = models.route("fast")

        await route.model.complete(Prompt("You are echo.", "Speak."))
        await models.close()

        (body,) = [request.json() for request in server.requests if request.method == "POST"]

    sent = {name: value for name, value in body.items() if name in {"temperature", "min_p"} or "dry" in name}
    assert sent == dict(route.decoding) == dict(DRY)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("{}", {}),
        ("{temperature: 1.1}", {"temperature": 1.1}),
        ("{dry_multiplier: 0.4}", {"dry_multiplier": 0.4}),
    ],
)
async def test_a_decoding_in_the_file_replaces_what_llama_cpp_usually_gets(
    tmp_path: Path, given: str, sent: dict[str, float]
) -> None:
    with imitating_server("llamacpp", models=[ServedModel("small")]) as server:
        text = f"""
            backends: {{{{llama.cpp: {{{{url: "{server.url}"}}}}}}}}
            profiles:
              fast: {{{{backend: llama.cpp, model: small, context_tokens: 8192, decoding: {{given}}}}}}
              tiny: {{{{backend: llama.cpp, model: small, context_tokens: 8192}}}}
        """
        models = from_file(tmp_path, text, given=given)

        await models.open()

    assert dict(models.route("fast").decoding) == sent
    assert dict(models.route("tiny").decoding) == dict(DRY)
    assert models.route("fast").model is not models.route("tiny").model


async def test_a_llama_cpp_that_was_started_with_dry_keeps_its_own() -> None:
    own = ServedModel("small", samples={**LLAMA_CPP_SAMPLES, "dry_multiplier": 0.3})
    with imitating_server("llamacpp", models=[own]) as server:
        models = models_named(server.url)

        await models.open()

    assert dict(models.route("fast").decoding) == {}


@pytest.mark.parametrize("personality", ["ollama", "lmstudio", "vllm"])
async def test_other_servers_sample_as_they_do_by_themselves(personality: Personality) -> None:
    with imitating_server(personality, models=[ServedModel("small-8b")]) as server:
        models = models_named(f"{server.url}#small-8b")

        await models.open()

    assert dict(models.route("fast").decoding) == {}


async def test_more_context_than_the_server_gives_is_refused(ollama: ImitatingServer, tmp_path: Path) -> None:
    text = """
        backends: {{ollama: {{url: "{url}"}}}}
        profiles: {{fast: {{backend: ollama, model: "qwen3:8b", context_tokens: 900000}}}}
    """
    models = from_file(tmp_path, text, url=ollama.url)

    await models.open()

    with pytest.raises(Refused, match="is given context_tokens 900,000"):
        models.route("fast")


async def test_a_server_that_is_away_matters_only_to_those_who_need_it(
    ollama: ImitatingServer, tmp_path: Path
) -> None:
    text = """
        backends:
          here: {{server: ollama, url: "{url}"}}
          away: {{server: vllm, url: "{nobody}/v1"}}
        profiles:
          tiny: {{backend: away, model: a, context_tokens: 4096}}
          fast: {{backend: here, model: "qwen3:8b", context_tokens: 8192}}
          strong: {{backend: away, model: b, context_tokens: 4096, fallbacks: [fast]}}
    """
    models = from_file(tmp_path, text, url=ollama.url, nobody=NOBODY)

    await models.open()

    assert models.route("fast").name == "qwen3:8b"
    assert [route.name for route in models.route("strong").fallbacks] == ["qwen3:8b"]
    assert [choice.problem[:22] for choice in models.choices()] == ["vLLM does not answer a", "", "", ""]


async def test_a_fallback_plays_if_the_first_is_away_and_the_call_says_so(
    ollama: ImitatingServer, tmp_path: Path
) -> None:
    text = """
        backends: {{here: {{server: ollama, url: "{url}"}}, away: {{server: vllm, url: "{nobody}/v1"}}}}
        profiles:
          fast: {{backend: away, model: b, context_tokens: 4096, fallbacks: [spare]}}
          spare: {{backend: here, model: "qwen3:8b", context_tokens: 8192}}
    """
    models = from_file(tmp_path, text, url=ollama.url, nobody=NOBODY)

    async with Terrarium(models=models) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=1)
        calls = [call for event in await t.run_events(run.id) if event.model for call in event.model.calls]

    assert {call.model for call in calls if call.reached} == {"qwen3:8b"}
    assert ollama.calls


async def test_keys_come_from_the_environment_first_then_from_the_named_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-never-read-0123456789\n", encoding="utf-8")
    (tmp_path / "keys.env").write_text("OPENAI_API_KEY=sk-from-file-0123456789\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with imitating_server("openai", models=[ServedModel("gpt-5-mini")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with pytest.raises(Exception, match="OPENAI_API_KEY is not set"):
            await models_named("openai").open()
        assert server.requests == []
        await models_named("openai", env_file="keys.env").open()
        monkeypatch.setenv("OPENAI_API_KEY", "sk-from-environment-0123")
        named = models_named("openai", env_file="keys.env")
        await named.open()

        assert [request.headers["authorization"] for request in server.requests] == [
            "Bearer sk-from-file-0123456789",
            "Bearer sk-from-environment-0123",
        ]
    assert "sk-" not in repr(named) + repr(named.route("fast")) + repr(named.route("fast").model)


def test_a_name_that_means_nothing_is_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'lmstudio'"):
        models_named("lm-studio")
    with pytest.raises(Refused, match=r"There is no file .*other\.yaml"):
        models_named("other.yaml")


def test_pacing_follows_the_models() -> None:
    assert models_named("offline").pacing == "lockstep"
    assert models_named("ollama").pacing == "free"


class OwnModel:
    """A model of a user's own: three lines, no price, no counts of money."""

    async def complete(self, prompt: Prompt) -> Completion:
        return Completion(
            '{"kind": "agent.passed", "thought": "", "mood": ""}', "own", Tokens(1_000_000, 500_000)
        )


async def test_a_users_own_model_behind_a_priced_route_is_billed_by_it() -> None:
    route = Route(OwnModel(), "own", 8_192, 384, Price(2.0, 4.0))

    async with Terrarium(
        models=ModelRouter(dict.fromkeys(("tiny", "fast", "balanced", "strong"), route))
    ) as t:
        run = await t.open_world("mystery-roots")
        await t.step_one()
        now = t.run_of(run.id)

    assert now.calls
    assert now.usd == pytest.approx(now.calls * (2.0 + 2.0))
