"""Short worlds on real servers: what a run does when its models are good, bad, gone, or liars.

In all of them nothing crashes, every request is one recorded attempt, the sums of the ledger are those of the server, and
the record replays to the same digest when the server is gone.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from glasshouse import Governor, ModelRouter, Terrarium, kinds, verify
from glasshouse.events import Call, Event
from glasshouse.events.model_use import Price
from glasshouse.model_values import Form
from glasshouse.models.ollama import OllamaModel
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.runtime.ports import Route
from glasshouse.turns.moment.prompt import PROFILES
from tests.servers import faults
from tests.servers.answers import Lie, Manner
from tests.servers.imitating_server import ImitatingServer, imitating_server
from tests.servers.imitations import Personality, ServedModel
from tests.servers.llama_server import Counted, LlamaServer, llama_server

WORLD = "mystery-roots"
SEALED = "one-odd-acorn"
FORMS: Sequence[Form] = get_args(Form)
ServerModel = OpenAICompatible | OllamaModel
PERSONALITIES: Sequence[Personality] = get_args(Personality)

llama_context_tokens = 32_768
"""The random model reads about a token a letter, so it needs a larger context than a real one."""


class Record(NamedTuple):
    """What the ledger says of a run."""

    events: Sequence[Event]
    digest: str

    @property
    def calls(self) -> list[Call]:
        return [call for event in self.events for call in event.calls]

    @property
    def reported(self) -> list[Call]:
        """The calls whose usage the server told."""
        return [call for call in self.calls if call.reached and not call.usage.is_estimated]

    @property
    def estimated(self) -> list[Call]:
        """The calls that were sent and cost what was reserved for them."""
        return [call for call in self.calls if call.usage.is_estimated]

    @property
    def counted(self) -> Counted:
        """The sums of what the server told."""
        usages = [call.usage for call in self.reported]
        return Counted(
            sum(usage.input_uncached for usage in usages),
            sum(usage.cache_read for usage in usages),
            sum(usage.output for usage in usages),
        )

    @property
    def acts(self) -> list[Event]:
        """How acts ended."""
        return [event for event in self.events if event.calls]

    @property
    def texts(self) -> list[str]:
        return [str(event.payload["text"]) for event in self.acts if "text" in event.payload]


async def record_of(terrarium: Terrarium, run_id: str) -> Record:
    """The record of a run, after it was played again from the ledger alone, to the same digest."""
    verification = await verify(terrarium, run_id)
    assert verification.is_same, (verification, verification.prompt_diffs)
    return Record(await terrarium.run_events(run_id), await terrarium.digest(run_id))


@asynccontextmanager
async def terrarium_on(
    model: ServerModel, *, form: Form | None = None, price: Price | None = None, store: Path | None = None
) -> AsyncIterator[Terrarium]:
    """A terrarium in which one model plays every size."""
    route = Route(model, "small", 8_192, 256, price=price, form=form or "auto", is_local=price is None)
    async with Terrarium(store, models=ModelRouter(dict.fromkeys(PROFILES, route))) as terrarium:
        try:
            yield terrarium
        finally:
            await model.close()


def on_llama(server: LlamaServer) -> ServerModel:
    return OpenAICompatible("random", server.url, server="llama.cpp")


def on_imitation(
    server: ImitatingServer, personality: Personality, *, call_seconds_max: float = 120.0
) -> ServerModel:
    if personality == "ollama":
        return OllamaModel(server.model, server.url, context_tokens=8_192, call_seconds_max=call_seconds_max)
    kind = "llama.cpp" if personality == "llamacpp" else personality
    return OpenAICompatible(
        server.model, server.url, server=kind, key="sk-test", call_seconds_max=call_seconds_max
    )


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


async def test_one_slot_a_fresh_server_and_the_same_seed_give_the_same_digest() -> None:
    first, _ = await played_on_llama("schema")
    again, _ = await played_on_llama("schema")

    assert first.digest == again.digest
    assert [call.completion for call in first.calls] == [call.completion for call in again.calls]


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
    assert all("500" in call.error and call.usage.total for call in record.estimated)
    assert record.counted.output < counted.output


async def play_on(terrarium: Terrarium, run_id: str, *, turns: int) -> int:
    """Play some turns, and continue after every pause, as a patient person does. Returns how many pauses there were."""
    pauses = 0
    for _ in range(turns):
        await terrarium.run(run_id, turns=1)
        if terrarium.run_of(run_id).paused:
            pauses += 1
            await terrarium.continue_run(run_id)
    return pauses


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


def assert_sums_agree(record: Record, server: ImitatingServer) -> None:
    usages = [call.usage for call in record.reported]
    assert sum(usage.input for usage in usages) == server.usage.input
    assert sum(usage.output for usage in usages) == server.usage.output
    assert len(record.calls) == len(server.calls)


BUSY = [faults.status(429, retry_after="0"), faults.status(429), faults.status(503, retry_after="0")]
BROKEN = [*faults.BROKEN_ANSWERS, faults.status(500), faults.status(502)]


@pytest.mark.parametrize("personality", ["openai", "ollama"])
async def test_a_faulty_server_spoils_attempts_but_no_run(personality: Personality) -> None:
    limit = 40_000
    with imitating_server(personality) as server:
        server.next(*[behaviour for fault in [*BROKEN, *BUSY[:1]] for behaviour in (fault, "fine", "fine")])
        async with terrarium_on(on_imitation(server, personality), price=Price(1.0, 2.0)) as terrarium:
            run = await terrarium.open_world(WORLD, governor=Governor(max_total_tokens=limit))
            await play_on(terrarium, run.id, turns=12)
            server.close()
            record = await record_of(terrarium, run.id)

    assert_sums_agree(record, server)
    assert sum(call.usage.total for call in record.calls) <= limit
    assert len(record.estimated) == sum(server.completions[fault.name] for fault in BROKEN)
    unreached = [call for call in record.calls if not call.reached]
    assert len(unreached) == server.completions[BUSY[0].name]
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
        replayed = await terrarium.replay(run.id)

    assert played.estimated
    assert again == played
    assert replayed.digest == played.digest


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

    assert_sums_agree(record, server)
    assert len({event.actor for event in record.acts}) == 4
    assert max(len(call.completion) for call in record.calls) <= 64_000


@pytest.mark.parametrize("personality", PERSONALITIES)
async def test_a_server_that_lies_spoils_no_run(personality: Personality) -> None:
    lies = [lie for lie in get_args(Lie) if lie not in {"redirects", "truncates the prompt"}]
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
