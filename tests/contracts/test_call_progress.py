"""A call is bounded by time without progress: to its first token, then between tokens, beside a generous total.

The clock of the event loop is moved by hand, so the bounds are the real ones and nobody has to be quick: a server that is slow
waits for nothing, and time passes when a piece has come.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from glasshouse import Governor, Terrarium, kinds
from glasshouse.errors import ModelFailed
from glasshouse.events import Call
from glasshouse.models.ollama import OllamaModel
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.runtime.ports import CallProgress
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.contracts.test_openai_compatible import KINDS, PROMPT
from tests.journeys.test_plays_on_model_servers import PERSONALITIES, WORLD
from tests.servers import faults
from tests.servers.faults import Fault
from tests.servers.imitating_server import ImitatingServer, imitating_server
from tests.servers.imitations import Personality, ServedModel
from tests.servers.llama_server import llama_server
from tests.servers.plays import on_imitation, on_llama, play_on, record_of, terrarium_on
from tests.servers.wire import Connection, Reply

T = TypeVar("T")
LONG = Prompt("You are the keeper of the pond.", "The pond is calm. " * 300, None, 7, 200)
THINKING = [ServedModel("thinker", capabilities=("completion", "thinking"))]


class HandMoved:
    """The clock of the event loop, with time that passes when somebody says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._loop = asyncio.get_running_loop()
        self.seconds_passed = 0.0
        time_of_loop = self._loop.time
        monkeypatch.setattr(self._loop, "time", lambda: time_of_loop() + self.seconds_passed)

    def passes(self, seconds: float) -> None:
        """Let time pass, from inside the loop."""
        self.seconds_passed += seconds

    def passes_elsewhere(self, seconds: float) -> None:
        """Let time pass, from the thread of a server."""
        self._loop.call_soon_threadsafe(self.passes, seconds)


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> HandMoved:
    return HandMoved(monkeypatch)


class SlowServer:
    """Sends a piece only when the one before it has arrived and some time has passed since. It may stop in the middle."""

    def __init__(
        self, clock: HandMoved, seconds: float, *, tells_reading: bool = False, stops_after: int | None = None
    ) -> None:
        self.fault = Fault("slow", self._send)
        self.arrived: list[Any] = []
        self._clock = clock
        self._seconds = seconds
        self._tells_reading = tells_reading
        self._stops_after = stops_after
        self._go_on: Callable[[], Any] = int

    def hear(self, piece: Any) -> None:
        """A piece has arrived."""
        self.arrived.append(piece)
        self._clock.passes(self._seconds)
        self._go_on()

    async def _send(self, connection: Connection, reply: Reply) -> None:
        loop = asyncio.get_running_loop()
        arrived = asyncio.Semaphore(0)
        self._go_on = lambda: loop.call_soon_threadsafe(arrived.release)
        waited_for = 0
        await connection.write(reply.head)
        for piece in [*reply.pieces, b""]:
            await connection.write(reply.on_the_wire(piece))
            if has_text(piece) or (self._tells_reading and b"prompt_progress" in piece):
                await arrived.acquire()
                waited_for += 1
            if waited_for == self._stops_after:
                break
        else:
            return
        # The same piece again and again is no progress, nor is a sign of life.
        for _ in range(9):  # More than any bound of a call, less than that of an act.
            await connection.write(reply.on_the_wire(b":\n\n" + piece * self._tells_reading))
            self._clock.passes_elsewhere(30.0)
        await connection.wait_for_the_client_to_leave()


def has_text(piece: bytes) -> bool:
    """Whether a piece of a stream holds some of the reply, thoughts left aside."""
    try:
        part = json.loads(piece.removeprefix(b"data: "))
    except ValueError:
        return False
    choices = part.get("choices") or [{}]
    said = part.get("message") or choices[0].get("delta") or {}
    return bool(said.get("content"))


async def failure_of(asking: Awaitable[Completion]) -> ModelFailed:
    with pytest.raises(ModelFailed) as failed:
        await asking
    return failed.value


def hosted(server: ImitatingServer, **more: Any) -> OpenAICompatible:
    """A model whose server loads nothing in a call."""
    return OpenAICompatible(server.model, server.url, server="openai", **more)


# The bounds of one call


@pytest.mark.parametrize("personality", ["openai", "llamacpp", "ollama"])
async def test_a_server_that_sends_a_token_every_50_seconds_is_not_cut(
    personality: Personality, clock: HandMoved
) -> None:
    slow = SlowServer(clock, 50.0)
    with imitating_server(personality, slow.fault, say=lambda prompt: "The pond is calm. " * 20) as server:
        model = on_imitation(server, personality)
        reply = await model.complete(PROMPT, on_text=slow.hear)
        await model.close()

    assert reply.finish == "stop"
    assert 600 < clock.seconds_passed < 3_600, "longer than a call or an act may be silent"


@pytest.mark.parametrize("personality", ["openai", "llamacpp", "ollama"])
@pytest.mark.parametrize(("seconds", "pieces"), [(119.0, 6), (121.0, 1)])
async def test_a_server_that_stops_in_its_answer_is_cut_within_the_bound(
    personality: Personality, seconds: float, pieces: int, clock: HandMoved
) -> None:
    slow = SlowServer(clock, seconds, stops_after=pieces)
    with imitating_server(personality, slow.fault) as server:
        model = on_imitation(server, personality)
        wrong = await failure_of(model.complete(PROMPT, on_text=slow.hear))
        await model.close()

    assert "sent no further token within 120 seconds. Give its profile or route more token_seconds" in str(
        wrong
    )
    assert len(slow.arrived) == pieces


async def test_a_server_that_never_sends_a_first_token_is_cut_by_a_bound_of_its_own(clock: HandMoved) -> None:
    async def says_nothing(connection: Connection, reply: Reply) -> None:
        await connection.write(reply.head)
        clock.passes_elsewhere(239.0)
        clock.passes_elsewhere(2.0)
        await connection.wait_for_the_client_to_leave()

    with imitating_server("openai", Fault("says nothing", says_nothing)) as server:
        model = hosted(server)
        wrong = await failure_of(model.complete(PROMPT))
        await model.close()

    assert (
        "sent no first token within 240 seconds. Give its profile or route more first_token_seconds"
        in str(wrong)
    )


async def test_signs_of_life_are_no_progress(clock: HandMoved) -> None:
    async def only_pings(connection: Connection, reply: Reply) -> None:
        await connection.write(reply.head + b"".join(map(reply.on_the_wire, reply.pieces[:1])))
        for _ in range(20):
            await connection.write(reply.on_the_wire(b":\n\n" + reply.pieces[0]))
            clock.passes_elsewhere(30.0)
        await connection.wait_for_the_client_to_leave()

    with imitating_server("openai", Fault("pings", only_pings)) as server:
        model = hosted(server)
        wrong = await failure_of(model.complete(PROMPT))
        await model.close()

    assert "sent no first token within 240 seconds" in str(wrong)


async def test_a_server_that_reads_a_long_prompt_makes_progress(clock: HandMoved) -> None:
    slow = SlowServer(clock, 110.0, tells_reading=True)
    with imitating_server("llamacpp", slow.fault) as server:
        model = on_imitation(server, "llamacpp")
        reply = await model.complete(LONG, on_progress=slow.hear)
        await model.close()
        assert server.calls[0].json()["return_progress"] is True

    progresses: list[CallProgress] = slow.arrived
    read = [progress for progress in progresses if not progress.tokens]
    assert 110.0 * len(read) > 240.0
    assert (read[0].prompt_tokens_read, read[-1].prompt_tokens_read) == (0, reply.usage.input)
    assert {progress.prompt_tokens for progress in read} == {reply.usage.input}
    assert [progress.tokens for progress in progresses if progress.tokens][-1] >= reply.usage.output - 1


async def test_a_server_that_reads_no_further_makes_no_progress(clock: HandMoved) -> None:
    slow = SlowServer(clock, 0.0, tells_reading=True, stops_after=2)
    with imitating_server("llamacpp", slow.fault) as server:
        model = on_imitation(server, "llamacpp")
        wrong = await failure_of(model.complete(LONG, on_progress=slow.hear))
        await model.close()

    assert "sent no first token within 240 seconds" in str(wrong)


async def test_progress_without_end_is_cut_by_the_total(clock: HandMoved) -> None:
    slow = SlowServer(clock, 50.0)
    with imitating_server("openai", slow.fault, say=lambda prompt: "The pond is calm. " * 20) as server:
        model = hosted(server, call_seconds_max=500.0)
        wrong = await failure_of(model.complete(PROMPT, on_text=slow.hear))
        await model.close()

    assert "did not answer within 500 seconds. Give its profile or route more call_seconds" in str(wrong)
    assert clock.seconds_passed == 500.0


async def test_a_server_that_refuses_streams_is_asked_for_whole_answers_and_keeps_its_total(
    clock: HandMoved,
) -> None:
    refusal = faults.status(400, message="Your organization must be verified to stream this model.")

    async def takes_too_long(connection: Connection, reply: Reply) -> None:
        clock.passes_elsewhere(121.0)
        await connection.wait_for_the_client_to_leave()

    with imitating_server("openai") as server:
        server.next(refusal, "fine", Fault("takes too long", takes_too_long))
        model = hosted(server)
        with pytest.raises(Exception, match="asked for whole now"):
            await model.complete(PROMPT)
        reply = await model.complete(PROMPT)
        wrong = await failure_of(model.complete(PROMPT))
        await model.close()

        assert [call.json()["stream"] for call in server.calls] == [True, False, False]
    assert (reply.finish, reply.usage.is_estimated, model.streams) == ("stop", False, False)
    assert "did not answer within 120 seconds" in str(wrong)


# What is recorded


def without_times(value: Call | Completion) -> Call | Completion:
    return replace(value, milliseconds=0.0, first_text_ms=0.0, queued_ms=0.0)


@pytest.mark.parametrize("personality", KINDS)
async def test_an_answer_is_the_same_in_pieces_and_whole(personality: Personality) -> None:
    replies = []
    for is_streamed in (True, False):
        with imitating_server(personality, models=THINKING) as server:
            model = OpenAICompatible(
                "thinker", server.url, server=KINDS[personality], reasoning_tokens_max=500
            )
            model.streams = is_streamed
            replies.append([await model.complete(PROMPT), await model.complete(LONG)])
            await model.close()
            assert [call.json()["stream"] for call in server.calls] == [is_streamed] * 2

    streamed, whole = [[without_times(reply) for reply in each] for each in replies]
    assert streamed == whole
    assert all(reply.response_id and not reply.usage.is_estimated for reply in replies[0])
    assert 0 < replies[0][0].first_text_ms <= replies[0][0].milliseconds


@pytest.mark.parametrize("personality", PERSONALITIES)
async def test_a_run_is_the_same_with_and_without_somebody_who_looks_on(personality: Personality) -> None:
    records = []
    for hear in (None, lambda _piece: None):
        with imitating_server(personality, kinds=("clue.found", kinds.AGENT_SPOKE)) as server:
            server.next("fine", "fences", "fine", "truncated")
            async with terrarium_on(on_imitation(server, personality), hear=hear) as terrarium:
                run = await terrarium.open_world(WORLD, rng_seed=7)
                await play_on(terrarium, run.id, turns=2)
                records.append(await record_of(terrarium, run.id))

    unwatched, watched = records
    assert list(map(without_times, unwatched.calls)) == list(map(without_times, watched.calls))
    assert unwatched.digest == watched.digest
    assert unwatched.texts


async def test_a_real_llama_cpp_tells_how_far_it_has_read_and_its_run_verifies() -> None:
    progresses: list[CallProgress] = []
    with llama_server() as server:
        model = on_llama(server)
        reply = await model.complete(replace(LONG, seed=11), on_progress=progresses.append)
        async with terrarium_on(model) as terrarium:
            run = await terrarium.open_world(WORLD)
            await terrarium.run(run.id, turns=2)
            record = await record_of(terrarium, run.id)

    read = [progress for progress in progresses if not progress.tokens]
    assert read[-1].prompt_tokens_read == read[-1].prompt_tokens == reply.usage.input
    assert len(read) >= 2
    assert record.reported == record.calls
    assert all(call.response_id and call.served_by for call in record.calls)


# Acts


async def played_at(terrarium: Terrarium, turns: int, **limits: Any) -> Any:
    run = await terrarium.open_world(WORLD, governor=Governor(**limits) if limits else None)
    await terrarium.run(run.id, turns=turns)
    return run


async def test_the_bound_of_an_act_does_not_run_while_its_call_makes_progress(clock: HandMoved) -> None:
    slow = SlowServer(clock, 50.0)
    with imitating_server("llamacpp", slow.fault, kinds=(kinds.AGENT_SPOKE,)) as server:
        async with terrarium_on(on_imitation(server, "llamacpp"), hear=slow.hear) as terrarium:
            run = await played_at(terrarium, turns=1)
            record = await record_of(terrarium, run.id)

    assert record.calls
    assert all(call.is_answered for call in record.calls)
    assert min(call.first_text_ms for call in record.calls) > 0
    assert clock.seconds_passed > 300 * len(record.calls)


async def test_a_call_that_stops_is_cut_asked_again_and_costs_what_was_reserved(clock: HandMoved) -> None:
    slow = SlowServer(clock, 0.0, stops_after=2)
    with imitating_server("openai", kinds=(kinds.AGENT_SPOKE,)) as server:
        server.next(slow.fault)
        async with terrarium_on(on_imitation(server, "openai"), hear=slow.hear) as terrarium:
            run = await played_at(terrarium, turns=1)
            record = await record_of(terrarium, run.id)

    cut, again = record.calls[:2]
    assert "sent no further token within 120 seconds" in cut.error
    assert (cut.usage.output, cut.usage.is_estimated, cut.reached) == (256, True, True)
    assert again.is_answered


async def test_an_act_whose_call_is_silent_for_longer_than_its_bound_is_ended(clock: HandMoved) -> None:
    async def says_nothing(connection: Connection, reply: Reply) -> None:
        clock.passes_elsewhere(301.0 + 300.0)
        await connection.wait_for_the_client_to_leave()

    with imitating_server("llamacpp", kinds=(kinds.AGENT_SPOKE,)) as server:
        server.next(Fault("says nothing", says_nothing))
        model = OpenAICompatible(server.model, server.url, first_token_seconds_max=3_000.0)
        async with terrarium_on(model, first_token_seconds_max=3_000.0) as terrarium:
            run = await played_at(terrarium, turns=1)
            record = await record_of(terrarium, run.id)

    failed = [event for event in record.events if event.kind == kinds.AGENT_FAILED]
    assert [event.payload["reason"].partition(".")[0] for event in failed] == [
        "The act took longer than 300 seconds and was ended"
    ]


async def test_the_wall_time_of_a_run_ends_an_act_whose_call_makes_progress(clock: HandMoved) -> None:
    slow = SlowServer(clock, 50.0)
    with imitating_server("openai", slow.fault, say=lambda prompt: "The pond is calm. " * 30) as server:
        async with terrarium_on(on_imitation(server, "openai"), hear=slow.hear) as terrarium:
            run = await played_at(terrarium, turns=9, max_wall_minutes=10.0)
            finished = terrarium.run_of(run.id).finished
            await record_of(terrarium, run.id)

    assert finished is not None
    assert finished.axis == "max_wall_minutes"
    assert 600 <= clock.seconds_passed <= 650


def test_ollama_and_openai_take_the_same_bounds() -> None:
    given: dict[str, Any] = {
        "call_seconds_max": 9.0,
        "first_token_seconds_max": 2.0,
        "token_seconds_max": 1.0,
    }

    models = [OllamaModel("m", **given), OpenAICompatible("m", "localhost", **given)]

    assert {model._server.bounds for model in models} == {(9.0, 2.0, 1.0)}
