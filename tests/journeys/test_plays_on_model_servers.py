"""Short worlds on real servers: what a run does when its models are good, bad, gone, or liars.

In all of them nothing crashes, every request is one recorded attempt, the sums of the ledger are those of the server, and
the record replays to the same digest when the server is gone.
"""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from glasshouse import Governor, Terrarium, kinds
from glasshouse.events.model_use import Price
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest, Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.model_values import Form
from glasshouse.models.openai_compatible import OpenAICompatible
from tests.servers import faults
from tests.servers.answers import Lie, Manner
from tests.servers.faults import Fault
from tests.servers.imitating_server import imitating_server
from tests.servers.imitations import Personality, ServedModel
from tests.servers.llama_server import Counted, LlamaServer, llama_server
from tests.servers.plays import (
    BROKEN,
    BUSY,
    Record,
    assert_sums_agree,
    on_imitation,
    on_llama,
    play_on,
    record_of,
    terrarium_on,
)

WORLD = "mystery-roots"
SEALED = "one-odd-acorn"
FORMS: Sequence[Form] = get_args(Form)
PERSONALITIES: Sequence[Personality] = get_args(Personality)

llama_context_tokens = 32_768
"""The random model reads about a token a letter, so it needs a larger context than a real one."""


async def played_on_llama(form: Form) -> tuple[Record, Counted]:
    with llama_server(context_tokens=llama_context_tokens) as server:
        async with terrarium_on(on_llama(server), form=form) as terrarium:
            run = await terrarium.open_world(WORLD)
            await terrarium.run(run.id, turns=3)
            counted = server.counted()
            server.kill()
            return await record_of(terrarium, run.id), counted


@pytest.mark.parametrize("form", FORMS)
async def test_a_real_llama_cpp_plays_in_every_form(form: Form) -> None:
    record, counted = await played_on_llama(form)

    assert len({event.actor for event in record.acts}) >= 2
    assert record.reported == record.calls
    assert record.counted == counted
    if form == "schema":
        assert record.texts


@pytest.mark.parametrize("form", FORMS)
async def test_a_model_that_follows_the_prompt_speaks_in_every_form(form: Form) -> None:
    def counting(prompt: str) -> str:
        return f"I counted {len(prompt)} letters."

    with imitating_server("vllm", say=counting, kinds=("clue.found",)) as server:
        async with terrarium_on(on_imitation(server, "vllm"), form=form) as terrarium:
            run = await terrarium.open_world(WORLD)
            await terrarium.run(run.id, turns=4)
            record = await record_of(terrarium, run.id)

    assert {"response_format" in call.json() for call in server.calls} == {form == "schema"}
    assert {"KIND:" in prompt for prompt in server.prompts} == {form == "prose"}
    assert [text for text in record.texts if re.fullmatch(r"I counted \d+ letters\.", text)]
    assert_sums_agree(record, server)


async def test_one_slot_a_fresh_server_and_the_same_seed_give_the_same_digest() -> None:
    first, _ = await played_on_llama("schema")
    again, _ = await played_on_llama("schema")

    assert first.digest == again.digest
    assert [call.completion for call in first.calls] == [call.completion for call in again.calls]


async def test_a_llama_cpp_that_is_killed_between_calls_pauses_the_run_until_it_is_back() -> None:
    with llama_server(context_tokens=llama_context_tokens) as server:
        async with terrarium_on(on_llama(server)) as terrarium:
            run = await terrarium.open_world(WORLD)
            await terrarium.run(run.id, turns=1)
            server.kill()
            await terrarium.run(run.id, turns=1)
            assert terrarium.run_of(run.id).paused
            server.restart()
            await terrarium.continue_run(run.id)
            await terrarium.run(run.id, turns=2)
            counted = server.counted()
            server.kill()
            record = await record_of(terrarium, run.id)

    unreached = [call for call in record.calls if not call.reached]
    assert unreached
    assert all(call.usage.total == 0 and call.error for call in unreached)
    assert record.counted == counted
    assert record.calls[-1].reached


async def test_a_llama_cpp_that_is_killed_in_a_call_costs_what_was_reserved_for_it() -> None:
    with llama_server(context_tokens=llama_context_tokens) as server:
        async with terrarium_on(on_llama(server)) as terrarium:
            run = await terrarium.open_world(WORLD)
            playing = asyncio.create_task(terrarium.run(run.id, turns=3))
            await asyncio.to_thread(kill_in_a_call, server)
            await asyncio.to_thread(server.restart)
            await playing
            if terrarium.run_of(run.id).paused:
                await terrarium.continue_run(run.id)
                await terrarium.run(run.id, turns=3)
            record = await record_of(terrarium, run.id)

    assert record.estimated
    assert all(call.error and call.usage.total for call in record.estimated)
    assert record.calls[-1].reached
    # The act in which the server died stayed due: whoever thought then speaks later.
    assert [event for event in record.acts if event.kind == kinds.AGENT_FAILED] == []


def kill_in_a_call(server: LlamaServer) -> None:
    while not any(slot["is_processing"] for slot in server.slots_now()):
        pass
    server.kill()


async def test_a_model_that_writes_invalid_utf_8_spoils_calls_but_no_run() -> None:
    with llama_server("bytes", context_tokens=llama_context_tokens) as server:
        async with terrarium_on(on_llama(server)) as terrarium:
            run = await terrarium.open_world(WORLD)
            await play_on(terrarium, run.id, turns=6)
            counted = server.counted()
            server.kill()
            record = await record_of(terrarium, run.id)

    assert record.estimated
    assert record.reported
    assert all("does not match the expected" in call.error for call in record.estimated)
    assert record.counted.output < counted.output
    assert sum(call.usage.output for call in record.calls) >= counted.output, "it wrote more than it sent"


@pytest.mark.parametrize("personality", PERSONALITIES)
async def test_the_sums_of_the_ledger_are_those_of_the_server(personality: Personality) -> None:
    with imitating_server(personality, kinds=("clue.found", kinds.AGENT_SPOKE)) as server:
        async with terrarium_on(on_imitation(server, personality)) as terrarium:
            run = await terrarium.open_world(WORLD)
            await terrarium.run(run.id, turns=4)
            server.close()
            record = await record_of(terrarium, run.id)

    assert record.texts
    assert len(record.calls) == len(server.calls)
    assert_sums_agree(record, server)


@pytest.mark.parametrize("personality", ["openai", "ollama"])
async def test_a_faulty_server_spoils_attempts_but_no_run(personality: Personality) -> None:
    limit = 40_000
    with imitating_server(personality) as server:
        server.next(*[behaviour for fault in [*BROKEN, *BUSY] for behaviour in (fault, "fine", "fine")])
        async with terrarium_on(on_imitation(server, personality), price=Price(1.0, 2.0)) as terrarium:
            run = await terrarium.open_world(WORLD, governor=Governor(max_total_tokens=limit))
            await play_on(terrarium, run.id, turns=12)
            server.close()
            record = await record_of(terrarium, run.id)

    assert_sums_agree(record, server)
    assert sum(call.usage.total for call in record.calls) <= limit
    assert len(record.estimated) == sum(server.completions[fault.name] for fault in BROKEN)
    unreached = [call for call in record.calls if not call.reached]
    assert len(unreached) == sum(server.completions[fault.name] for fault in BUSY)
    assert record.texts


@pytest.mark.parametrize(
    "limits", [Governor(max_total_tokens=9_000), Governor(hourly_budget_usd=0.01)], ids=["tokens", "dollars"]
)
async def test_no_fault_makes_a_run_spend_more_than_its_limit(limits: Governor) -> None:
    with imitating_server("openai") as server:
        server.next(*[behaviour for fault in BROKEN for behaviour in ("fine", fault)])
        async with terrarium_on(on_imitation(server, "openai"), price=Price(1.0, 2.0)) as terrarium:
            run = await terrarium.open_world(WORLD, governor=limits)
            await play_on(terrarium, run.id, turns=20)
            finished = terrarium.run_of(run.id).finished
            record = await record_of(terrarium, run.id)

    assert finished is not None
    assert finished.reason == "budget"
    assert record.estimated
    assert sum(call.usage.total for call in record.calls) <= (limits.max_total_tokens or 1e9)
    assert sum(call.usd or 0.0 for call in record.calls) <= (limits.hourly_budget_usd or 1e9)


async def test_a_record_with_failed_attempts_replays_in_another_house_without_any_server(
    tmp_path: Path,
) -> None:
    store = tmp_path / "played.glasshouse"
    with imitating_server("llamacpp") as server:
        server.next(*[behaviour for fault in BROKEN[:4] for behaviour in (fault, "fences", "fine")])
        async with terrarium_on(on_imitation(server, "llamacpp"), store=store) as terrarium:
            run = await terrarium.open_world(WORLD)
            await play_on(terrarium, run.id, turns=5)
            played = await record_of(terrarium, run.id)

    async with Terrarium(store) as terrarium:
        again = await record_of(terrarium, run.id)
        reread = await terrarium.played(run.id)

    assert played.estimated
    assert again == played
    assert reread.digest == played.digest


async def test_a_server_that_hangs_costs_what_was_reserved_and_the_cast_goes_on() -> None:
    with imitating_server("llamacpp") as server:
        server.next(faults.hang, "fine", faults.drip(bytes_at_most=30))
        async with terrarium_on(on_imitation(server, "openai", call_seconds_max=3.0)) as terrarium:
            run = await terrarium.open_world(WORLD)
            await play_on(terrarium, run.id, turns=5)
            record = await record_of(terrarium, run.id)

    assert len(record.calls) == len(server.calls)
    assert len(record.estimated) >= 2
    assert record.calls[-1].is_answered


@pytest.mark.parametrize("manner", get_args(Manner))
async def test_an_ill_mannered_model_spoils_no_run(manner: Manner) -> None:
    with imitating_server("vllm", manner) as server:
        async with terrarium_on(on_imitation(server, "vllm")) as terrarium:
            run = await terrarium.open_world(SEALED)
            await play_on(terrarium, run.id, turns=2)
            server.close()
            record = await record_of(terrarium, run.id)

    assert len(record.calls) == len(server.calls)
    if (
        manner != "huge"
    ):  # Nobody waits for the count at the end of three megabytes: such calls cost what was reserved.
        assert_sums_agree(record, server)
    assert len({event.actor for event in record.acts}) == 4
    assert max(len(call.completion) for call in record.calls) <= 64_000


@pytest.mark.parametrize("personality", PERSONALITIES)
async def test_a_server_that_lies_spoils_no_run(personality: Personality) -> None:
    lies = [lie for lie in get_args(Lie) if lie != "redirects"]
    models = [ServedModel("liar:8b", capabilities=["completion", "thinking"])]
    with imitating_server(personality, models=models) as server:
        server.next(*[behaviour for lie in lies for behaviour in (lie, "fine")])
        async with terrarium_on(on_imitation(server, personality)) as terrarium:
            run = await terrarium.open_world(WORLD)
            await play_on(terrarium, run.id, turns=12)
            server.close()
            record = await record_of(terrarium, run.id)

    assert_sums_agree(record, server)
    assert len(record.acts) >= 12
    assert record.texts


@pytest.mark.parametrize("personality", PERSONALITIES)
async def test_texts_that_are_heard_as_they_come_are_those_of_the_record(personality: Personality) -> None:
    pieces: list[str] = []
    with imitating_server(personality, kinds=("clue.found", kinds.AGENT_SPOKE)) as server:
        server.next("fine", "error in the stream", faults.disconnect_in_the_body, "fine")
        async with terrarium_on(on_imitation(server, personality), hear=pieces.append) as terrarium:
            run = await terrarium.open_world(WORLD)
            await terrarium.run(run.id, turns=4)
            record = await record_of(terrarium, run.id)

    assert all(call.json()["stream"] for call in server.calls)
    assert_sums_agree(record, server)
    assert len(record.estimated) == 2
    heard = "".join(pieces)
    assert record.texts
    assert [text for text in record.texts if text not in heard] == []


def choir(size: int) -> LoadedWorld:
    """A world in which all creatures think at the same time."""
    voice = Manifest(name="voice", persona="sings", schedule=Schedule(tick_every=1, together=True))
    cast = [{"use": "voice", "handle": f"voice-{number}"} for number in range(size)]
    scenario = Scenario.model_validate({"name": "choir", "goal": "Sing.", "opening": "A hall.", "cast": cast})
    return LoadedWorld.of(scenario, [voice])


def voices(size: int) -> list[str]:
    return ["voice", *(f"voice~{number}" for number in range(2, size + 1))]


async def test_creatures_that_think_together_share_a_server_and_are_recorded_in_cast_order() -> None:
    with imitating_server("vllm", delay_seconds=0.1) as server:
        server.next("fine", faults.status(500), "fences", faults.cut_json, BUSY[0], faults.disconnect)
        model = OpenAICompatible(server.model, server.url, server="vllm", max_parallel=3)
        async with terrarium_on(model) as terrarium:
            run = await terrarium.open_world(choir(8))
            await terrarium.run(run.id, turns=2)
            record = await record_of(terrarium, run.id)

    assert 1 < server.in_flight_most <= 3
    assert [event.actor for event in record.acts] == voices(8) * 2
    assert_sums_agree(record, server)
    assert len(record.estimated) == 3


async def test_a_llama_cpp_with_several_slots_plays_a_choir() -> None:
    with llama_server(slots=4, context_tokens=llama_context_tokens) as server:
        async with terrarium_on(on_llama(server)) as terrarium:
            run = await terrarium.open_world(choir(6))
            await terrarium.run(run.id, turns=2)
            counted = server.counted()
            server.kill()
            record = await record_of(terrarium, run.id)

    assert [event.actor for event in record.acts] == voices(6) * 2
    assert record.reported == record.calls
    assert record.counted == counted


async def test_no_byte_of_a_store_holds_the_key_even_if_the_server_repeats_it(tmp_path: Path) -> None:
    key = "sk-very-secret-4711"
    gossip = f"Incorrect API key provided: {key}. Authorization: Bearer {key}"
    with imitating_server("openai", key=key) as server:
        server.next(faults.status(500, message=gossip), faults.status(429, retry_after="0", message=gossip))
        server.next("fine", faults.status(401, message=gossip))
        model = OpenAICompatible(
            server.model, server.url, server="openai", key=key, key_variable="OPENAI_API_KEY"
        )
        async with terrarium_on(model, store=tmp_path / "played.glasshouse") as terrarium:
            run = await terrarium.open_world(WORLD)
            await play_on(terrarium, run.id, turns=4)
            record = await record_of(terrarium, run.id)

    kept = bytes_in(tmp_path)
    assert server.completions.keys() == {"fine", "status 500", "status 429", "status 401"}
    assert any("OPENAI_API_KEY" in call.error for call in record.calls)
    assert record.texts
    assert key.encode() not in kept
    assert key not in repr(model)


@pytest.mark.parametrize("fault", [faults.status(500), faults.cut_json], ids=lambda fault: fault.name)
async def test_a_server_that_fails_every_call_pauses_the_run_before_the_story_is_lost(fault: Fault) -> None:
    with imitating_server("vllm", fault) as server:
        async with terrarium_on(on_imitation(server, "vllm")) as terrarium:
            run = await terrarium.open_world(WORLD)
            await terrarium.run(run.id)
            paused = terrarium.run_of(run.id).paused
            calls_until_the_pause = len(server.calls)
            server.always.clear()
            await terrarium.continue_run(run.id)
            await terrarium.run(run.id, turns=2)
            record = await record_of(terrarium, run.id)

    assert paused is not None
    assert "failed 9 times in a row" in paused.reason
    assert calls_until_the_pause == 9
    assert len(record.estimated) == 9
    assert record.calls[-1].is_answered
    assert_sums_agree(record, server)


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


REFUSED = [faults.status(code) for code in (401, 402, 403, 404)]


@pytest.mark.parametrize("fault", REFUSED, ids=lambda fault: fault.name)
async def test_a_refusal_that_would_come_again_pauses_at_once(fault: Fault) -> None:
    with imitating_server("openai") as server:
        server.next(fault)
        async with terrarium_on(on_imitation(server, "openai")) as terrarium:
            run = await terrarium.open_world(WORLD)
            await terrarium.run(run.id, turns=1)
            assert terrarium.run_of(run.id).paused
            assert len(server.calls) == 1
            await terrarium.continue_run(run.id)
            await terrarium.run(run.id, turns=1)
            record = await record_of(terrarium, run.id)

    assert_sums_agree(record, server)
    assert [call.reached for call in record.calls][:2] == [False, True]


async def test_a_sealed_word_is_never_said_aloud() -> None:
    def leaking(prompt: str) -> str:
        (word,) = re.findall(r'^word: "([^"]+)"', prompt, flags=re.MULTILINE)[:1] or ["nothing"]
        return f"My word is {word}, and I am proud of it."

    with imitating_server("vllm", say=leaking, kinds=("word.described", kinds.AGENT_SPOKE)) as server:
        async with terrarium_on(on_imitation(server, "vllm")) as terrarium:
            run = await terrarium.open_world(SEALED)
            await terrarium.run(run.id, turns=2)
            record = await record_of(terrarium, run.id)

    assert any("and I am proud of it" in call.completion for call in record.calls)
    words = set(re.findall(r'^word: "([^"]+)"', "\n".join(server.prompts), flags=re.MULTILINE))
    assert len(words) == 2
    assert [text for text in record.texts if any(word in text for word in words)] == []
    assert_sums_agree(record, server)
