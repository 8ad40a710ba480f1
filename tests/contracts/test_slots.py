"""Slots: as many calls as llama.cpp says it answers at once are sent to it, whoever opens the models; the others wait, and
are shown waiting."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from glasshouse import ModelRouter, Terrarium
from glasshouse.models import Completion, Prompt, Route, Tokens
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.runtime.run import Thinking
from tests.journeys.test_plays_on_model_servers import choir
from tests.runtime.troupe import loop_turns, soon
from tests.servers.imitating_server import ImitatingServer, imitating_server
from tests.servers.imitations import ServedModel
from tests.servers.plays import record_of

SLOTS = [ServedModel("qwen3-8b", slots=2)]


def by_name(server: ImitatingServer, folder: Path) -> str:
    return f"{server.url}#{server.model}"


def by_file(server: ImitatingServer, folder: Path, more: str = "") -> Path:
    path = folder / "models.yaml"
    path.write_text(
        f"backends: {{here: {{server: llama.cpp, url: '{server.url}'{more}}}}}\n"
        f"profiles: {{fast: {{backend: here, model: {server.model}, context_tokens: 8192}}}}\n"
    )
    return path


def by_object(server: ImitatingServer, folder: Path) -> ModelRouter:
    return ModelRouter(OpenAICompatible(server.model, server.url, server="llama.cpp"))


def by_object_of_unknown_kind(server: ImitatingServer, folder: Path) -> ModelRouter:
    return ModelRouter(OpenAICompatible(server.model, server.url))


async def thinking_when(t: Terrarium, is_wanted: Callable[[tuple[Thinking, ...]], bool]) -> list[Thinking]:
    while not is_wanted(t.thinking()):
        await loop_turns()
    return [*t.thinking()]


@pytest.mark.parametrize("models_of", [by_name, by_file, by_object, by_object_of_unknown_kind])
async def test_a_server_gets_as_many_calls_as_it_has_slots_and_the_others_are_shown_waiting(
    models_of: Callable[[ImitatingServer, Path], ModelRouter | str | Path], tmp_path: Path
) -> None:
    with imitating_server("llamacpp", models=SLOTS, delay_seconds=0.05) as server:
        async with Terrarium(models=models_of(server, tmp_path)) as t:
            run = await t.open_world(choir(5))
            playing = asyncio.create_task(t.run(run.id, turns=1))
            thinking = await soon(thinking_when(t, lambda thinking: len(thinking) == 5))
            await soon(playing)
            record = await record_of(t, run.id)

    assert [creature.is_waiting for creature in thinking] == [False, False, True, True, True]
    assert [creature.queue_number for creature in thinking] == [0, 0, 1, 2, 3]
    assert server.in_flight_most == 2
    assert [call.queued_ms > 0 for call in record.calls] == [False, False, True, True, True]


async def test_a_number_in_the_file_counts_more_than_the_slots_of_the_server(tmp_path: Path) -> None:
    with imitating_server("llamacpp", models=SLOTS, delay_seconds=0.05) as server:
        async with Terrarium(models=by_file(server, tmp_path, ", max_parallel: 3")) as t:
            run = await t.open_world(choir(5))
            await soon(t.run(run.id, turns=1))

    assert server.in_flight_most == 3


async def test_a_number_of_the_program_counts_more_and_the_server_is_not_asked() -> None:
    with imitating_server("llamacpp", models=SLOTS) as server:
        model = OpenAICompatible(server.model, server.url, server="llama.cpp", max_parallel=7)
        async with Terrarium(models=ModelRouter(model)):
            pass

    assert (model.max_parallel, server.requests) == (7, [])


async def test_a_server_that_is_away_or_tells_no_slots_does_not_keep_anybody_from_opening() -> None:
    with imitating_server("vllm") as server:
        silent = OpenAICompatible(server.model, server.url)
        async with Terrarium(models=ModelRouter(silent)):
            pass
    away = OpenAICompatible("m", server.url, server="llama.cpp")
    async with Terrarium(models=ModelRouter(away)):
        pass

    assert (silent.max_parallel, away.max_parallel) == (4, 4)


class Slow:
    """A model whose calls take 5 seconds each, by a clock that is moved by hand. Its server has one slot."""

    name, backend, max_parallel, is_free = "slow", "slow", 1, True

    def __init__(self) -> None:
        self.seconds_moved = 0.0

    async def complete(self, prompt: Prompt) -> Completion:
        await loop_turns()  # Meanwhile the others get in line.
        self.seconds_moved += 5.0
        await loop_turns()
        return Completion('{"text": "Good day."}', self.name, Tokens(5, 5))


async def test_waiting_for_a_slot_is_counted_neither_against_the_call_nor_against_the_act(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Slow()
    loop = asyncio.get_running_loop()
    time_of_loop = loop.time
    monkeypatch.setattr(loop, "time", lambda: time_of_loop() + model.seconds_moved)
    route = Route(model, "slow", 8_192, 256, call_seconds_max=9.0)
    async with Terrarium(models=ModelRouter({"fast": route}), act_seconds_max=9.0) as t:
        run = await t.open_world(choir(4))
        await soon(t.run(run.id, turns=1))
        record = await record_of(t, run.id)

    assert [call.is_answered for call in record.calls] == [True] * 4
    waited = [call.queued_ms for call in record.calls]
    assert all(ms >= number * 5_000 for number, ms in enumerate(waited)), waited
