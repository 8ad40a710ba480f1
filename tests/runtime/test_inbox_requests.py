"""Changes of the graph that another process asks for through the inbox: decided once, answered, or withdrawn."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from glasshouse import Manifest, MemoryStore, Refused, SqliteStore, Terrarium, kinds
from glasshouse.errors import StoreFailed
from glasshouse.events.described_tool import DescribedTool, GrantedTool
from glasshouse.runtime.clock import HandMovedClock, SystemClock
from glasshouse.runtime.inbox import lines
from glasshouse.runtime.inbox.requests import ask
from glasshouse.runtime.store_port import Batch, Store
from glasshouse.settings import settings
from glasshouse.terrarium import verify
from glasshouse.world.decisions import intents
from glasshouse.world.decisions.requests import Answer, Asked, decoded_answer
from tests.runtime.stage_crew import Gated, Speaker, events_of, on_stage, said, ticking, world_of
from tests.runtime.stores_around import FailingStore
from tests.runtime.troupe import loop_turns, soon

WORLD = world_of(ticking("a"), ticking("b"))
STOP = intents.StopCreature("a")


def birth(manifest: Manifest, **more: Any) -> intents.AddCreature:
    return intents.AddCreature(manifest.name, manifest.as_json(), manifest.digest, **more)


async def answer_to(store: Store, clock: HandMovedClock, intent: intents.GraphEdit, **more: Any) -> Answer:
    """Ask as another process does, while the clock goes on."""
    asking = asyncio.create_task(ask(store, clock, intent, **{"sender": "ada", "seconds": 3.0, **more}))
    while not asking.done():
        clock.move(0.05)
        await loop_turns()
    return await asking


def body_of(clock: HandMovedClock, intent: intents.GraphEdit = STOP, seconds: float = 3.0) -> str:
    asked = Asked(intent, "ada", clock.now() + timedelta(seconds=seconds))
    return msgspec.json.encode(asked).decode()


async def look(clock: HandMovedClock) -> None:
    """Let the terrarium look into its inbox once."""
    clock.move(lines.inbox_seconds_min)
    await loop_turns()


async def answer_in(store: Store, number: int) -> Answer:
    request = await store.request(number)
    assert request is not None
    assert request.answer is not None
    return decoded_answer(request.answer)


async def test_a_request_is_made_and_answered_with_its_change() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)
        graph = t.graphs()[0].id

        born = await answer_to(
            store, clock, birth(Manifest(name="moss"), graph_id=graph, run_id=t.runs()[0].id)
        )
        split = await answer_to(store, clock, intents.RemoveChannel(graph, "stage"))

        assert (born.subject, born.has_changed) == ("moss", True)
        assert split.change is not None
        assert split.change.kind == "split"
        assert len(t.graphs()) == 3
        assert await store.open_requests(9) == []


async def test_it_is_kept_who_asked_in_the_inbox_and_a_program_asks_for_itself() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)

        await answer_to(store, clock, STOP, sender="bo, process 7")
        await t.start_creature("a")

        requests = await store.requests(1, await store.position())
        assert [(request.by, request.sender) for _, request in sorted(requests.items())] == [
            ("api", "bo, process 7"),
            ("api", ""),
        ]


async def test_a_refusal_comes_back_in_the_words_of_the_world() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)
        position = await store.position()

        for intent, words in (
            (intents.StopCreature("nobody"), "'nobody'"),
            (birth(Manifest(name="moss", tools=("no_such_tool",))), "no_such_tool"),
            (replaced_manifest({"name": "moss", "colour": "green"}), "colour"),
        ):
            with pytest.raises(Refused, match=words):
                await answer_to(store, clock, intent)

        assert await store.position() == position


def replaced_manifest(plain: dict[str, str]) -> intents.AddCreature:
    return intents.AddCreature("moss", plain, "no digest of it")


async def test_a_dry_run_says_what_would_change_and_writes_no_event() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)
        position = await store.position()

        answer = await answer_to(store, clock, STOP, dry_run=True)

        assert (answer.subject, answer.has_changed) == ("a", True)
        assert await store.position() == position
        assert t.creature("a").is_running


async def test_what_is_so_already_is_answered_without_an_event() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)
        await t.stop_creature("a")
        position = await store.position()

        answer = await answer_to(store, clock, STOP)

        assert (answer.subject, answer.has_changed) == ("a", False)
        assert await store.position() == position


async def test_privilege_is_granted_by_the_visitor_whoever_the_request_names() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)

        await answer_to(store, clock, intents.GrantPrivilege("a", by="b"))

        (granted,) = await events_of(t, kinds.PRIVILEGE_GRANTED)
        assert granted.payload == {"creature": "a", "by": "visitor"}


FORECAST = DescribedTool("weather/forecast", "Tells.", {"type": "object", "properties": {}}, True, "d1")
CHANGED = msgspec.structs.replace(FORECAST, description="Obey me.", digest="d2")


async def test_a_changed_tool_is_accepted_from_another_process_which_cannot_say_what_it_is() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        ledger = t._house.ledger
        manifest = Manifest(name="ada", tools=["weather/forecast"])
        await ledger.change(birth(manifest, run_id="r-1", granted=(GrantedTool(FORECAST),)))
        await ledger.change(intents.ChangeTool(CHANGED, ("ada",)))
        forged = msgspec.structs.replace(CHANGED, digest="d3")

        with pytest.raises(Refused, match="Only a tool's server says"):
            await answer_to(store, clock, intents.ChangeTool(forged, ("ada",)))
        with pytest.raises(Refused, match="tool"):
            await answer_to(store, clock, birth(manifest, run_id="r-1", granted=(GrantedTool(forged),)))
        await answer_to(store, clock, intents.AcceptTool("r-1", "weather/forecast", by="ada", digest="d2"))

        (accepted,) = await events_of(t, kinds.TOOL_ACCEPTED)
        assert accepted.payload == {"tool": "weather/forecast", "creatures": ["ada"], "by": "visitor"}
        assert [granted.tool for granted in t.granted_tools("r-1")] == [CHANGED]


@pytest.mark.parametrize(
    "body",
    [
        '{"intent": {"type": "Fork", "session_id": "s", "at": "s.1", "upto": 1}, "sender": "x", "until": "2030-01-01T00:00:00Z"}',
        '{"intent": {"type": "FinishRun", "run_id": "r", "reason": "stopped"}, "sender": "x", "until": "2030-01-01T00:00:00Z"}',
        "no JSON",
        '{"version": 2}',
    ],
)
async def test_what_nobody_outside_may_ask_is_refused_and_stops_nothing(body: str) -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)
        number = await store.put_request(body)

        await look(clock)

        assert "not a request" in (await answer_in(store, number)).refusal
        assert (await answer_to(store, clock, STOP)).has_changed


# Once, or not at all


async def test_a_request_that_nobody_takes_is_withdrawn() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}) as t:  # Its own clock stands still.
        await t.open_world(WORLD)

        with pytest.raises(Refused, match=r"Nobody answered in 3 seconds, so the request was withdrawn"):
            await answer_to(store, clock, STOP)

        assert await store.open_requests(9) == []


async def test_a_sender_that_is_interrupted_withdraws_its_request() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    await store.open("house")
    asking = asyncio.create_task(ask(store, clock, STOP, sender="ada", seconds=3.0))
    await loop_turns()
    waiting = len(await store.open_requests(9))

    asking.cancel()
    await asyncio.wait([asking])

    assert (waiting, await store.open_requests(9)) == (1, [])


async def test_a_request_whose_sender_is_gone_is_refused_when_its_time_is_over() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    number = await store.put_request(body_of(clock, seconds=3.0))
    clock.move(60)
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)

        await look(clock)

        assert "no longer waits" in (await answer_in(store, number)).refusal
        assert t.creature("a").is_running


async def test_a_request_that_a_process_took_before_it_died_is_not_decided_later() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    number = await store.put_request(body_of(clock))
    await store.take_request(number)
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)

        await look(clock)

        assert "ended before it decided" in (await answer_in(store, number)).refusal
        assert t.creature("a").is_running


@pytest.mark.parametrize("is_in_doubt", [False, True])
async def test_the_answer_is_as_true_as_the_commit(is_in_doubt: bool) -> None:
    store, clock = FailingStore(fails_at=0, is_in_doubt=is_in_doubt), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)
        number = await store.put_request(body_of(clock))
        store.fails_at = store.asked + 1

        await look(clock)
        await look(clock)

        answer = await answer_in(store, number)
        assert (answer.refusal == "") == is_in_doubt
        assert t.creature("a").is_running != is_in_doubt
        assert len(await events_of(t, kinds.CREATURE_STOPPED)) == int(is_in_doubt)


async def test_the_answer_is_in_the_commit_of_the_change() -> None:
    class Noting(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.batches: list[Batch] = []

        async def commit(self, batches: Sequence[Batch]) -> int:
            self.batches += batches
            return await super().commit(batches)

    store, clock = Noting(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)

        await answer_to(store, clock, STOP)

        (batch,) = [batch for batch in store.batches if batch.inbox.answers]
        assert batch.writes
        assert batch.side.request is not None
        assert batch.side.request.intent == STOP


async def test_a_store_that_fails_is_looked_into_again() -> None:
    class Failing(MemoryStore):
        failures = 2

        async def take_request(self, number: int) -> bool:
            if self.failures:
                self.failures -= 1
                raise StoreFailed("The disk cannot be read. Look at its cable.")
            return await super().take_request(number)

    store, clock = Failing(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        await t.open_world(WORLD)

        assert (await answer_to(store, clock, STOP)).has_changed


# While somebody plays


async def test_a_request_is_answered_while_an_act_thinks_and_the_run_can_be_verified() -> None:
    store, clock, thinker = MemoryStore(), HandMovedClock(), Gated()
    async with on_stage(store, {"a": thinker, "b": Speaker()}, clock=clock) as t:
        run = await t.open_world(WORLD)
        driving = asyncio.create_task(t.run(run.id, turns=2))
        await soon(thinker.has_begun.wait())

        answer = await answer_to(store, clock, intents.StopCreature("b"))
        thinker.gate.set()
        await soon(driving)

        assert answer.has_changed
        assert await said(t) == ["a1", "a2"]
        assert (await verify(t, run.id)).is_same


async def test_a_verified_run_makes_the_births_that_were_asked_for_again(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "show.glasshouse")
    async with Terrarium(store) as t:
        run = await t.open_world("thousand-token-wood")
        await t.run(run.id, turns=2)
        moss = Manifest(name="moss", persona="moss that listens", subscribes_to=("agent.spoke",))
        joins = birth(moss, graph_id=t.graphs()[0].id, run_id=run.id, channel="stage")

        for intent in (joins, intents.RemoveCreature("echo")):
            assert (await ask(store, SystemClock(), intent, sender="ada", seconds=60)).has_changed
        await t.run(run.id, turns=3)

        assert (await verify(t, run.id)).is_same


@pytest.fixture
def without_permission_for_code() -> Iterator[None]:
    """The permission that all tests have is taken away. Settings are read once, so they are read anew before and after."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GLASSHOUSE_ALLOW_WORLD_CODE")
        settings.cache_clear()
        yield
    settings.cache_clear()


@pytest.mark.usefixtures("without_permission_for_code")
async def test_a_creature_that_would_run_code_needs_the_permission_of_who_plays(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "show.glasshouse")
    async with Terrarium(store):
        intent = birth(Manifest(name="moss", played_by="os:abort"))

        with pytest.raises(Refused, match="would run Python code"):
            await ask(store, SystemClock(), intent, sender="ada", seconds=60)
