"""Real models from the command line, against servers that imitate those people use: which model plays, what is said about
it, what is recorded, what it costs, and what happens if there is none."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from glasshouse import Terrarium, play
from glasshouse.errors import ModelMisconfigured, ModelUnreachable, Refused
from tests.journeys.commanding import objects, run
from tests.journeys.terminals import Terminal
from tests.servers.imitating_server import ImitatingServer, imitating_server
from tests.servers.imitations import ServedModel

KEY = "sk-test-0123456789abcdefABCDEF"
LINE = "The kettle was warm at five, and nobody was up."
NOBODY = "127.0.0.1:9"
"""Where no server listens."""

QWEN, GEMMA = ServedModel("qwen3:8b"), ServedModel("gemma3:4b", parameters="4.3B")
EMBEDS = ServedModel("nomic-embed-text:latest", parameters="137M", capabilities=("embedding",))
CLOUD = ServedModel("gpt-oss:120b-cloud", parameters="116.8B", remote_host="https://ollama.com:443")
KINDS = ("clue.found", "hypothesis.formed", "objection.raised")
"""What the imitated models write: they never pass."""
PLAY = ("play", "mystery-roots", "--turns", "2")


@dataclass(frozen=True)
class Retrained(ServedModel):
    """The same name with other weights."""

    @property
    def digest(self) -> str:
        return "f" * 64


@pytest.fixture
def ollama() -> Iterator[ImitatingServer]:
    with imitating_server(
        "ollama", models=[CLOUD, EMBEDS, GEMMA, QWEN], say=lambda _: LINE, kinds=KINDS
    ) as server:
        yield server


@pytest.fixture
def hosted() -> Iterator[ImitatingServer]:
    """A hosted server with a key. Its address is on loopback, so a models.yaml has to say what it costs."""
    with imitating_server(
        "openai", models=[ServedModel("gpt-5-mini")], say=lambda _: LINE, kinds=KINDS, key=KEY
    ) as server:
        yield server


def write_models(folder: Path, text: str) -> None:
    (folder / "models.yaml").write_text(dedent(text), encoding="utf-8")


def priced(folder: Path, server: ImitatingServer, usd: float) -> None:
    write_models(
        folder,
        f"""
        backends: {{cloud: {{server: openai, url: "{server.url}", key_variable: MY_KEY}}}}
        profiles:
          fast:
            backend: cloud
            model: gpt-5-mini
            context_tokens: 8192
            price: {{input: {usd}, output: {usd}}}
        """,
    )


def started(folder: Path) -> dict[str, Any]:
    """The payload of the newest `run.started`."""
    events = objects("show", "last", "--ledger", "--as", "director", cwd=folder)
    payload: dict[str, Any] = [event["payload"] for event in events if event.get("kind") == "run.started"][-1]
    return payload


def test_a_servers_name_plays_with_one_model_which_is_said_and_recorded(
    ollama: ImitatingServer, tmp_path: Path
) -> None:
    result = run(*PLAY, "--models", "ollama", cwd=tmp_path, OLLAMA_HOST=ollama.url)

    assert (result.returncode, result.stderr) == (0, "")
    before, _, after = result.stdout.partition("world: ")
    assert (
        f"qwen3:8b plays every size (Ollama at {ollama.url}, 8.2B, Q4_K_M, context 8,192 tokens)." in before
    )
    assert "Another: --models ollama:NAME; for one creature: --model HANDLE=NAME." in before
    assert LINE in after
    asked = [call.json() for call in ollama.calls]
    assert {(body["model"], body["options"]["num_ctx"]) for body in asked} == {("qwen3:8b", 8192)}
    run_started = started(tmp_path)
    assert run_started["models"] == "ollama"
    assert {(creature["model"], creature["model_digest"]) for creature in run_started["cast"]} == {
        ("qwen3:8b", QWEN.digest)
    }
    branch = run(
        "branch", "last", "--disturb", "A bell rings.", "--turns", "1", cwd=tmp_path, OLLAMA_HOST=ollama.url
    )
    assert branch.returncode == 0
    calls = len(ollama.calls)
    for run_id in (objects("runs", cwd=tmp_path)[0]["run_id"], "last"):
        assert run("replay", run_id, "--verify", cwd=tmp_path).returncode == 0, (
            "the ledger replays without a server"
        )
    assert len(ollama.calls) == calls


def test_a_run_with_pins_continues_offline(ollama: ImitatingServer, tmp_path: Path) -> None:
    pinned = ("--models", "ollama", "--model", "clue-gatherer=gemma3:4b")
    run(*PLAY, *pinned, cwd=tmp_path, OLLAMA_HOST=ollama.url)
    calls = len(ollama.calls)

    result = run("play", "--continue", "last", "--turns", "2", "--models", "offline", cwd=tmp_path)

    assert (result.returncode, result.stderr) == (0, "")
    assert len(ollama.calls) == calls


def test_a_run_continues_with_what_it_began_with_whatever_is_the_default_now(
    ollama: ImitatingServer, tmp_path: Path
) -> None:
    setting = {"GLASSHOUSE_MODELS": "ollama", "OLLAMA_HOST": ollama.url}
    run(*PLAY, cwd=tmp_path)

    assert run("resume", "last", "--turns", "2", cwd=tmp_path, **setting).returncode == 0
    assert ollama.calls == []
    assert run(*PLAY, cwd=tmp_path, **setting).returncode == 0
    assert ollama.calls


def test_a_run_finds_its_models_yaml_again_from_elsewhere(ollama: ImitatingServer, tmp_path: Path) -> None:
    (here := tmp_path / "here").mkdir()
    write_models(
        here,
        f"""
        backends: {{ollama: {{url: "{ollama.url}"}}}}
        profiles: {{fast: {{backend: ollama, model: "gemma3:4b", context_tokens: 4096}}}}
        """,
    )
    store = ("--store", str(tmp_path / "show.glasshouse"))
    run(*PLAY, *store, cwd=here)

    result = run("play", "--continue", "last", "--turns", "2", *store, cwd=tmp_path)

    assert (result.returncode, result.stderr) == (0, "")
    assert "gemma3:4b plays" in result.stdout


def test_a_model_and_a_creatures_model_can_be_named(ollama: ImitatingServer, tmp_path: Path) -> None:
    pinned = ("--models", "ollama:gemma3:4b", "--model", "clue-gatherer=qwen3:8b")

    events = objects(*PLAY, *pinned, cwd=tmp_path, OLLAMA_HOST=ollama.url)

    (said,) = [about["models"] for about in events if "models" in about]
    assert events[0] == {"models": said}
    assert {size["model"] for size in said["sizes"]} == {"gemma3:4b"}
    assert said["pins"] == {"clue-gatherer": "qwen3:8b"}
    models = {
        creature["handle"]: (creature["model"], creature.get("is_bound", False))
        for creature in started(tmp_path)["cast"]
    }
    assert models.pop("clue-gatherer") == ("qwen3:8b", True)
    assert set(models.values()) == {("gemma3:4b", False)}
    assert ollama.calls[0].json()["model"] == "qwen3:8b"


def test_a_run_continues_with_its_models_and_warns_if_their_weights_have_changed(
    ollama: ImitatingServer, tmp_path: Path
) -> None:
    run(*PLAY, "--models", "ollama", cwd=tmp_path, OLLAMA_HOST=ollama.url)

    with imitating_server("ollama", models=[Retrained("qwen3:8b")], say=lambda _: LINE, kinds=KINDS) as other:
        result = run("resume", "last", "--turns", "1", cwd=tmp_path, OLLAMA_HOST=other.url)
        assert other.calls
    again = ("play", "--continue", "last", "--turns", "3", "--model", "clue-gatherer=gemma3:4b")
    pinned = run(*again, cwd=tmp_path, OLLAMA_HOST=ollama.url)
    branch = run("branch", "last", "--turns", "1", "--models", "offline", cwd=tmp_path)

    assert result.returncode == 0
    assert (pinned.returncode, pinned.stderr) == (0, "")
    assert "gemma3:4b" in {call.json()["model"] for call in ollama.calls}
    assert (
        f"glasshouse: qwen3:8b is not the same any more ({QWEN.digest[:12]} then, {'f' * 12} now)"
        in result.stderr
    )
    assert branch.returncode == 0
    assert {creature["model"] for creature in started(tmp_path)["cast"]} == {"offline"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--models", "ollama"), f"Ollama does not answer at http://{NOBODY}: "),
        (
            ("--models", f"http://{NOBODY}/v1"),
            f"the server does not answer at http://{NOBODY}/v1: check the address",
        ),
        (("--models", "openai"), "OpenAI needs a key, and the variable OPENAI_API_KEY is not set."),
        (("--models", "olama"), "no server is called 'olama'. Did you mean 'ollama'?"),
        (
            ("--models", "missing.yaml"),
            "There is no file missing.yaml. Write one, or name a server such as ollama.",
        ),
        (("--models", "ollama", "--env-file", "missing.env"), "There is no file missing.env."),
        (("--models", "http://me:hush@127.0.0.1/v1"), "an address must not hold a password."),
    ],
)
def test_without_a_usable_server_one_sentence_says_what_to_do(
    words: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    result = run(*PLAY, *words, cwd=tmp_path, OLLAMA_HOST=NOBODY)

    assert (result.returncode, result.stdout) == (3, "")
    assert sentence in result.stderr
    assert "hush" not in result.stderr
    assert len(result.stderr.splitlines()) == 2  # The sentence, and where the docs explain it.
    assert list(tmp_path.iterdir()) == []


def test_at_a_terminal_the_play_is_offered_offline(tmp_path: Path) -> None:
    with Terminal(
        *PLAY, "--models", "ollama", "--pace", "fast", cwd=tmp_path, OLLAMA_HOST=NOBODY
    ) as terminal:
        terminal.wait_for("ollama serve")
        terminal.wait_for("Play offline? [y/N]")
        terminal.press("y\n")
        terminal.wait_for("To be continued")
        assert terminal.end() == 0

    assert {creature["model"] for creature in started(tmp_path)["cast"]} == {"offline"}


def test_a_models_yaml_here_is_used_and_its_key_is_nowhere(hosted: ImitatingServer, tmp_path: Path) -> None:
    priced(tmp_path, hosted, 0.1)
    (tmp_path / "keys.env").write_text(f"# keys\nexport MY_KEY='{KEY}'\n", encoding="utf-8")

    (tmp_path / ".env").write_text(f"MY_KEY={KEY}\n", encoding="utf-8")  # It is never read by itself.
    result = run(*PLAY, "--env-file", "keys.env", cwd=tmp_path)
    unset = run(*PLAY, cwd=tmp_path)
    wrong = run(*PLAY, cwd=tmp_path, MY_KEY="sk-wrong-0123456789abcdef")
    run("export", "last", "last.jsonl", "--as", "director", cwd=tmp_path)

    assert result.returncode == 0
    assert "gpt-5-mini plays every size" in result.stdout
    assert "Expected: about " in result.stdout
    assert {call.headers["authorization"] for call in hosted.calls} == {f"Bearer {KEY}"}
    assert "the variable MY_KEY is not set. Set it, or give --env-file FILE" in unset.stderr
    assert (wrong.returncode, "sk-wrong" in wrong.stderr) == (3, False)
    for name in ("keys.env", ".env"):
        (tmp_path / name).unlink()
    for file in [file for file in tmp_path.rglob("*") if file.is_file()]:
        assert KEY.encode() not in file.read_bytes(), file
    assert KEY not in result.stdout + result.stderr


def test_what_costs_much_or_nobody_knows_what_needs_a_yes(hosted: ImitatingServer, tmp_path: Path) -> None:
    priced(tmp_path, hosted, 900.0)

    refused = run(*PLAY, cwd=tmp_path, MY_KEY=KEY)
    assert (refused.returncode, hosted.calls) == (3, [])
    assert "This will probably take about " in refused.stderr
    assert "Agree with --yes" in refused.stderr
    assert not (tmp_path / "show.glasshouse").exists()

    with Terminal(*PLAY, "--pace", "fast", cwd=tmp_path, MY_KEY=KEY) as terminal:
        terminal.wait_for("Play? [y/N]")
        terminal.press("n\n")
        assert terminal.end() == 3
    with Terminal(*PLAY, "--pace", "fast", cwd=tmp_path, MY_KEY=KEY) as terminal:
        terminal.wait_for("Play? [y/N]")
        terminal.press("\x03")
        assert terminal.end() == 130
    assert hosted.calls == []

    assert run(*PLAY, "--yes", cwd=tmp_path, MY_KEY=KEY).returncode == 0
    assert hosted.calls


def test_a_model_of_unknown_price_comes_with_the_line_that_says_it(
    ollama: ImitatingServer, tmp_path: Path
) -> None:
    cloud = (*PLAY, "--models", "ollama:gpt-oss:120b-cloud")
    refused = run(*cloud, cwd=tmp_path, OLLAMA_HOST=ollama.url)
    before, line = refused.stdout.rstrip().splitlines()[-2:]
    (tmp_path / "models.yaml").write_text(line.replace("IN", "1").replace("OUT", "2"), encoding="utf-8")

    agreed = run(*PLAY, cwd=tmp_path, OLLAMA_HOST=ollama.url)

    assert refused.returncode == 3
    assert "an unknown price. Agree with --yes" in refused.stderr
    assert "price: {input: IN, output: OUT}." in refused.stderr
    assert before == (
        "Nobody knows what gpt-oss:120b-cloud costs. Write its price into models.yaml, in dollars for a million tokens:"
    )
    assert agreed.returncode == 0, agreed.stderr
    assert "$1 in and $2 out for a million tokens" in agreed.stdout


def test_models_lists_what_plays_each_size(ollama: ImitatingServer, tmp_path: Path) -> None:
    write_models(
        tmp_path,
        f"""
        backends: {{here: {{server: ollama, url: "{ollama.url}"}}}}
        profiles:
          tiny: {{backend: here, model: "qwen3:8b", context_tokens: 4096}}
          balanced: {{backend: here, model: "llama3:70b", context_tokens: 4096}}
        """,
    )

    listed = run("models", cwd=tmp_path)
    about = {
        (row["type"], row.get("size") or row["model"]): row
        for row in objects("models", "--models", "ollama", cwd=tmp_path, OLLAMA_HOST=ollama.url)
    }

    assert listed.returncode == 1
    assert "Ollama at " in listed.stdout
    assert "has no model 'llama3:70b'. Get it: " in " ".join(listed.stdout.split())
    assert f"glasshouse models pull llama3:70b --models {ollama.url}\n" in listed.stdout
    assert "No model is bound to fast: tiny plays it." in listed.stdout
    assert "qwen3:8b has 8.2B parameters, and tiny is nominally below 4.7B" in " ".join(listed.stdout.split())
    assert about["size", "strong"]["model"] == "qwen3:8b"
    assert about["size", "strong"]["digest"] == QWEN.digest
    assert about["model", "gpt-oss:120b-cloud"]["why_not"] == "runs elsewhere"
    assert about["model", "gemma3:4b"]["why_not"] is None


def test_a_models_yaml_in_the_config_folder_holds_where_none_is_here(
    ollama: ImitatingServer, tmp_path: Path
) -> None:
    def binds(folder: Path, model: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        bound = f'{{backend: ollama, model: "{model}", context_tokens: 4096}}'
        write_models(folder, f"profiles: {{fast: {bound}}}")

    setting = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "OLLAMA_HOST": ollama.url}
    here = tmp_path / "here"
    here.mkdir()

    played_by = []
    for folder, model in ((tmp_path / "config" / "glasshouse", "gemma3:4b"), (here, "qwen3:8b")):
        binds(folder, model)
        listed = objects("models", cwd=here, **setting)
        played_by.append({about["model"] for about in listed if about["type"] == "size"})

    assert played_by == [{"gemma3:4b"}, {"qwen3:8b"}]


def test_a_missing_model_is_pulled_after_a_yes(tmp_path: Path) -> None:
    with imitating_server("ollama", models=[EMBEDS]) as server:
        empty = run(*PLAY, "--models", "ollama", cwd=tmp_path, OLLAMA_HOST=server.url)
        unasked = run("models", "pull", "gemma3:4b", cwd=tmp_path, OLLAMA_HOST=server.url)
        with Terminal("models", "pull", "gemma3:4b", cwd=tmp_path, OLLAMA_HOST=server.url) as terminal:
            terminal.wait_for("gemma3:4b is 4 MB. Download it? [y/N]")
            terminal.press("n\n")
            terminal.wait_for("Nothing was downloaded.")
            assert terminal.end() == 3
        agreed = run("models", "pull", "gemma3:4b", "--yes", cwd=tmp_path, OLLAMA_HOST=server.url)

    assert "has no model that can play" in empty.stderr
    assert "glasshouse models pull gemma3:4b" in empty.stderr
    assert unasked.returncode == 3
    assert "gemma3:4b is 4 MB. Agree to the download with --yes." in unasked.stderr
    assert (agreed.returncode, agreed.stdout.splitlines()[-1].startswith("gemma3:4b is installed.")) == (
        0,
        True,
    )


def test_doctor_asks_the_servers_what_they_do(ollama: ImitatingServer, tmp_path: Path) -> None:
    examined = run("doctor", "--models", "ollama", "--json", cwd=tmp_path, OLLAMA_HOST=ollama.url)
    findings = [json.loads(line) for line in examined.stdout.splitlines()]
    nobody = run("doctor", "--models", "ollama", cwd=tmp_path, OLLAMA_HOST=NOBODY)

    texts = [finding["told"] for finding in findings if finding["what"] == "models"]
    assert texts[0].startswith("qwen3:8b answers (Ollama at ")
    assert any("JSON Schema" in line and line.endswith("yes.") for line in texts)
    assert any("reports tokens: yes." in line for line in texts)
    assert any("whole: " in line for line in texts)
    assert nobody.returncode == 1
    assert "Ollama does not answer at" in nobody.stdout


def test_a_password_in_the_setting_is_not_printed(tmp_path: Path) -> None:
    result = run("doctor", cwd=tmp_path, GLASSHOUSE_MODELS="http://me:hush@gpu.lan:8000/v1")

    assert result.returncode == 1
    assert "GLASSHOUSE_MODELS" in result.stdout
    assert "hush" not in result.stdout + result.stderr


def test_a_tournament_refuses_a_model_that_its_server_does_not_have(
    ollama: ImitatingServer, tmp_path: Path
) -> None:
    drawn = ("--models", "ollama:nobody:1b,offline")

    result = run("tournament", "twenty-sprouts", *drawn, cwd=tmp_path, OLLAMA_HOST=ollama.url)

    assert result.returncode == 3
    assert "has no model 'nobody:1b'" in result.stderr
    assert list(tmp_path.iterdir()) == []


async def test_a_terrarium_takes_the_same_words(hosted: ImitatingServer) -> None:
    with pytest.raises(ModelMisconfigured, match="key"):
        async with Terrarium(models=f"{hosted.url}#gpt-5-mini"):
            pass
    with pytest.raises(ModelUnreachable, match="does not answer"):
        async with Terrarium(models=f"http://{NOBODY}"):
            pass
    with pytest.raises(Refused, match="address"):
        Terrarium(models="http://")


def test_play_takes_an_address(tmp_path: Path) -> None:
    with imitating_server("vllm", models=[QWEN, GEMMA], say=lambda _: LINE, kinds=KINDS) as server:
        played = play("mystery-roots", turns=2, models=server.url)
        result = run(*PLAY, "--models", f"{server.url}#gemma3:4b", cwd=tmp_path)
        used = {call.json()["model"] for call in server.calls}

    assert LINE in [line.text for line in played.lines]
    assert used == {"qwen3:8b", "gemma3:4b"}
    assert f"gemma3:4b plays every size (vLLM at {server.url}" in result.stdout
    assert f"Another: --models {server.url}#NAME; for one creature: --model HANDLE=NAME." in result.stdout


def test_a_proposed_price_counts_once_it_is_pasted_and_not_before(tmp_path: Path) -> None:
    with imitating_server("openai", models=[ServedModel("gpt-5-mini")], kinds=KINDS, key=KEY) as server:
        proposed = run("models", "price", "openai:gpt-5-mini", cwd=tmp_path)
        before = list(tmp_path.iterdir())
        heading, _, lines = proposed.stdout.partition("\n\n")
        (tmp_path / "models.yaml").write_text(lines, encoding="utf-8")
        (facts,) = objects("models", "price", "openai:gpt-5-mini", cwd=tmp_path)
        price = facts["usd_per_million"]
        assert server.requests == [], "nobody was asked"
        listed = objects("models", cwd=tmp_path, OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY)
        played = run(*PLAY, "--yes", cwd=tmp_path, OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY)

    assert (proposed.returncode, before) == (0, [])
    assert "It counts only once it stands in models.yaml. Write into a new file models.yaml:" in heading
    assert f"prices until {facts['known_until']}" in heading
    sizes = [about for about in listed if about["type"] == "size"]
    assert {(size["usd_per_million"]["input"], size["usd_per_million"]["output"]) for size in sizes} == {
        (price["input"], price["output"])
    }
    assert f"${price['input']:g} in and ${price['output']:g} out for a million tokens" in played.stdout
    assert facts["where"] == "into models.yaml, in the profile fast, in place of the price there"


def test_an_unknown_price_is_null_and_never_nothing(tmp_path: Path) -> None:
    unknown = run("models", "price", "openai:nobodys-model", "--json", cwd=tmp_path)

    assert unknown.returncode == 1
    assert json.loads(unknown.stdout)["usd_per_million"] is None
