"""Models in files: llama.cpp as a child process that runs share, and what happens if it cannot start, or dies."""

import asyncio
import hashlib
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import psutil
import pytest
from gguf import GGUFReader

from glasshouse import Terrarium
from glasshouse.assembly import NamedModels, models_named
from glasshouse.errors import ModelMisconfigured, ModelUnreachable, Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.payloads import RunStarted, payload_of
from glasshouse.events.redaction import Role, redacted
from glasshouse.models.local import llama_child
from glasshouse.models.local.llama_child import Loading, last_words, threads_of_model
from glasshouse.models.local.local_model import LocalModel
from glasshouse.turns.moment.prompt import Prompt
from tests.servers.gguf_model import write_model
from tests.servers.local_children import llama_children

# ruff: noqa: ASYNC110, ASYNC240 (small files, and what is waited for comes)

PROMPT = Prompt("You are a pond.", "What do you say?", None, 7, 40)
WORLD = "thousand-token-wood"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "random.gguf"
    write_model(path, "ascii")
    return path


@pytest.fixture(autouse=True)
def _no_child_is_left() -> Iterator[None]:
    yield
    assert llama_children() == []


def worker() -> psutil.Process:
    (_, answering) = llama_children()
    return answering


async def test_a_run_is_played_by_a_file_which_is_recorded_without_its_folder(model: Path) -> None:
    async with Terrarium(models=f"local:{model}") as terrarium:
        run = await terrarium.open_world(WORLD)
        await terrarium.run(run.id, turns=1)
        events = await terrarium.run_events(run.id)

    started = payload_of(events[0], RunStarted)
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    assert {(entry.model, entry.model_digest) for entry in started.cast} == {("random", digest)}
    assert started.models == f"local:{model}"
    calls = [call for event in events if event.model is not None for call in event.model.calls]
    assert calls
    assert {(call.model, call.usd) for call in calls if call.is_answered} == {("random", 0.0)}
    roles: tuple[Role, ...] = ("spectator", "audience")
    for role in roles:
        for event in events:
            assert str(model.parent) not in str(redacted(event, role))
        assert redacted(events[0], role).payload["models"] == "local:random.gguf"
    assert redacted(events[0], "director").payload["models"] == f"local:{model}"


async def test_all_terrariums_of_a_process_share_one_child(model: Path) -> None:
    async with Terrarium(models=f"local:{model}") as first:
        before = [child.pid for child in llama_children()]
        async with Terrarium(models=f"local:{model}") as second:
            for terrarium in (first, second):
                run = await terrarium.open_world(WORLD)
                await terrarium.run(run.id, turns=1)
            during = [child.pid for child in llama_children()]
        after = [child.pid for child in llama_children()]
        run = await first.open_world(WORLD)
        await first.run(run.id, turns=1)

        assert first.run_of(run.id).paused is None
    assert len(before) == 2
    assert before == during == after


async def test_one_router_of_two_terrariums_ends_its_child_with_the_last(model: Path) -> None:
    models = models_named(f"local:{model}")
    first, second = Terrarium(models=models), Terrarium(models=models)
    await first.open()
    await second.open()

    await first.close()

    assert len(llama_children()) == 2
    assert (await models.route("fast").model.complete(PROMPT)).text
    await second.close()


async def test_the_child_answers_on_loopback_and_only_to_who_has_its_key(model: Path) -> None:
    async with Terrarium(models=f"local:{model}"):
        (listening,) = [
            socket.laddr for socket in worker().net_connections() if socket.status == psutil.CONN_LISTEN
        ]
        request = urllib.request.Request(f"http://127.0.0.1:{listening.port}/v1/models")
        with pytest.raises(urllib.error.HTTPError) as refused:
            await asyncio.to_thread(urllib.request.urlopen, request)
        shown = [word for child in llama_children() for word in (*child.cmdline(), *child.environ().values())]
        sessions = {os.getsid(child.pid) for child in llama_children()}

    assert listening.ip == "127.0.0.1"
    assert refused.value.code == 401
    refused.value.close()
    assert not any(str(model) in word for word in shown)
    assert os.getsid(0) not in sessions  # So that Ctrl-C does not reach it.


async def test_a_child_that_dies_pauses_the_run_and_continuing_starts_it_again(model: Path) -> None:
    async with Terrarium(models=f"local:{model}") as terrarium:
        run = await terrarium.open_world(WORLD)
        await terrarium.run(run.id, turns=1)
        port = worker().net_connections()[0].laddr.port
        os.kill(worker().pid, signal.SIGKILL)

        await terrarium.run(run.id, turns=1)

        paused = terrarium.run_of(run.id).paused
        assert paused is not None
        assert paused.is_outage
        assert "random was ended by SIGKILL" in paused.reason
        assert "Continuing the run starts it again." in paused.reason
        assert llama_children() == []
        await terrarium.continue_run(run.id)
        assert worker().net_connections()[0].laddr.port != port
        await terrarium.run(run.id, turns=1)
        assert terrarium.run_of(run.id).status == "playing"
        events = await terrarium.run_events(run.id)
    reasons = [
        redacted(event, "audience").payload["reason"] for event in events if event.kind == kinds.RUN_PAUSED
    ]
    assert reasons == ["A model was not reached."]


async def test_a_child_that_dies_in_a_call_is_told_at_once(model: Path) -> None:
    models = models_named(f"local:{model}")
    await models.open()
    await models.start()
    model_of_file = cast("LocalModel", models.route("fast").model)

    port = worker().net_connections()[0].laddr.port
    worker().suspend()  # So that it takes the call and does not answer it.
    call = asyncio.create_task(model_of_file.complete(PROMPT))
    while not any(tuple(socket.raddr)[1:] == (port,) for socket in psutil.Process().net_connections()):
        await asyncio.sleep(0.005)
    worker().kill()

    with pytest.raises(ModelUnreachable, match="random was ended by SIGKILL"):
        await call
    with pytest.raises(ModelUnreachable, match="Continuing the run starts it again"):
        await model_of_file.complete(PROMPT)
    await models.start()
    assert (await model_of_file.complete(PROMPT)).text
    await models.close()


async def test_a_file_that_was_replaced_is_not_started_in_place_of_the_old_one(
    model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(model.read_bytes())
    async with Terrarium(models=f"local:{path}") as terrarium:
        run = await terrarium.open_world(WORLD)
        write_model(tmp_path / "other.gguf", "ascii", seed=2)
        (tmp_path / "other.gguf").replace(path)
        await terrarium.run(run.id, turns=1)
        assert terrarium.run_of(run.id).paused is None  # What runs, has the old one.
        worker().kill()
        await terrarium.run(run.id, turns=1)

        with pytest.raises(ModelMisconfigured, match="was changed or removed"):
            await terrarium.continue_run(run.id)

        assert terrarium.run_of(run.id).status == "paused"


async def test_a_damaged_file_is_refused_with_the_last_words_of_llama_cpp(
    model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "short.gguf"
    path.write_bytes(model.read_bytes()[:200_000])

    with pytest.raises(ModelMisconfigured) as refused:
        async with Terrarium(tmp_path / "show.glasshouse", models=f"local:{path}"):
            pass

    assert "llama.cpp was started with short and ended with code 1" in str(refused.value)
    assert "data is not within the file bounds, model is corrupted or incomplete" in str(refused.value)
    assert not (tmp_path / "show.glasshouse").exists()


async def test_what_cannot_be_played_is_refused_before_anything_is_started(
    model: Path, tmp_path: Path
) -> None:
    content = model.read_bytes()
    silent = tmp_path / "silent.gguf"
    silent.write_bytes(content.replace(b"tokenizer.chat_template", b"tokenizer.chat_templatX"))
    # The layers are counted in the header only: with so many, its context needs more memory than there is.
    huge = tmp_path / "huge.gguf"
    layers = int(GGUFReader(model).fields["llama.block_count"].offset)
    at = content.index(b"llama.block_count", layers) + len(b"llama.block_count") + 4
    huge.write_bytes(content[:at] + (2**31).to_bytes(4, "little") + content[at + 4 :])

    with pytest.raises(Refused, match="silent has no chat template"):
        await models_named(f"local:{silent}").open()
    with pytest.raises(Refused, match=r"huge needs [\d,.]+ GB of memory, and [\d.]+ GB are free\."):
        await models_named(f"local:{huge}").open()
    with pytest.raises(Refused, match="There is no file"):
        await models_named(f"local:{tmp_path}/nowhere.gguf").open()
    assert llama_children() == []


async def test_a_child_that_takes_too_long_is_given_up(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_child, "load_seconds_max", 0.0)

    with pytest.raises(ModelMisconfigured, match="did not load it within 0 seconds"):
        async with Terrarium(models=f"local:{model}"):
            pass


async def test_whoever_waits_is_told_how_far_it_is(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(model.read_bytes())
    models = models_named(f"local:{path}")
    steps: list[Loading] = []
    models.on_loading = steps.append

    await models.open()
    await models.start()

    assert [*dict.fromkeys(step.step for step in steps)] == ["reading", "over", "loading"]
    assert steps[-1].step == "over"
    assert {step.name for step in steps} == {"own"}
    await models.close()


async def test_a_models_file_names_files_beside_itself(model: Path, tmp_path: Path) -> None:
    (tmp_path / "beside.gguf").write_bytes(model.read_bytes())
    (tmp_path / "models.yaml").write_text(
        "profiles:\n"
        "  fast: {backend: local, model: ./beside.gguf, context_tokens: 4096}\n"
        "  strong: {backend: local, model: ./nowhere.gguf, context_tokens: 4096}\n"
    )
    models = models_named(tmp_path / "models.yaml")

    await models.open()
    await models.start()

    route = models.route("fast")
    assert (route.name, route.context_tokens_max, route.is_local) == ("beside", 4_096, True)
    assert (await route.model.complete(PROMPT)).text
    with pytest.raises(Refused, match="There is no file"):
        models.route("strong")
    await models.close()


async def test_a_creature_bound_to_a_path_is_recorded_by_the_name_of_the_file(
    model: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(model.read_bytes()[:-1] + b"\x00")
    models = models_named(f"local:{model}", pins={"critic": f"local:{other}"})
    async with Terrarium(models=models) as terrarium:
        run = await terrarium.open_world(WORLD)
        started = payload_of((await terrarium.run_events(run.id))[0], RunStarted)

        assert len(llama_children()) == 4

    assert {entry.handle: entry.model for entry in started.cast}["critic"] == "local:other"
    again = NamedModels(f"local:{other}", lambda _name: "")
    await again.open("local:other")
    assert again.route("fast", "local:other").name == "local:other"
    with pytest.raises(UnknownName, match="model in a file here"):
        again.route("fast", "local:missing")
    await again.close()


async def test_a_probe_asks_for_no_more_slots(model: Path) -> None:
    models = models_named(f"local:{model}")
    await models.open()

    probe = await cast("LocalModel", models.route("fast").model).probe()

    assert (probe.is_reachable, probe.model, probe.slots, probe.context_tokens) == (True, "random", 1, 8_192)
    assert probe.digest == hashlib.sha256(model.read_bytes()).hexdigest()
    assert probe.checks == ()
    await models.close()


def test_the_line_that_tells_most_is_quoted() -> None:
    log = (
        "0.00.023.589 E llama_model_load: error loading model: tensor 'x' is not there\n"
        "0.00.024.039 E srv          init: exiting due to model loading error\n"
        "Traceback (most recent call last):\nRuntimeError: Failed to init server.\n"
    )

    assert last_words(log) == "tensor 'x' is not there"
    assert last_words("RuntimeError: one\n\nGGML_ASSERT(x) failed\n") == "GGML_ASSERT(x) failed"
    assert last_words("") == ""
    assert len(last_words("x" * 1_000)) == 300


def test_one_core_is_left_for_the_house() -> None:
    cores = len(os.sched_getaffinity(0))

    assert threads_of_model() == max(1, cores - 1)
