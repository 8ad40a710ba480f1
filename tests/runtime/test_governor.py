"""The governor: each limit trips on its own and is named, a run ends once, and no run spends more than it may."""

import asyncio
import math
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from glasshouse import Agent, Manifest, MemoryStore, Refused, SqliteStore, kinds
from glasshouse.events.payloads import Governor, RunStarted, builtins_of, settled
from glasshouse.events.redaction import Role, redacted
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.runtime.ports import Route
from glasshouse.terrarium import verify
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.views.stage import rebuild_stage
from tests.runtime.limits_by_hand import Paced, only, priced
from tests.runtime.stage_crew import (
    ANSWER,
    Asker,
    Doing,
    Gated,
    Speaker,
    cast_on,
    events_of,
    ledger_of,
    on_stage,
    said,
    the_end,
    ticking,
    world_of,
)
from tests.runtime.troupe import line, loop_turns, soon

# Every axis alone


@pytest.mark.parametrize(
    ("limit", "turns", "calls"),
    [
        ({"max_turns": 3}, 3, 6),
        ({"max_total_calls": 5}, 3, 5),
        ({"max_calls_per_turn": 1}, 1, 1),
        ({"max_wall_minutes": 5.0}, 3, 5),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("asks", [True, False], ids=["models", "python"])
async def test_each_limit_trips_alone_with_its_own_name(
    limit: dict[str, float], turns: int, calls: int, asks: bool
) -> None:
    clock = HandMovedClock()

    async def takes_a_minute(moment: Moment) -> None:
        clock.move(60)

    minds: dict[str, Agent] = {name: Asker() if asks else Doing(takes_a_minute) for name in ("a", "b")}
    models = ModelRouter(Paced(clock, seconds=60))
    async with on_stage(minds=minds, models=models, clock=clock) as t:
        run = await t.open_world(world_of(ticking("a"), ticking("b")), governor=only(**limit))

        await soon(t.run())

        end = (await the_end(t)).payload
        assert (end["reason"], end["axis"]) == ("budget", *limit)
        assert (end["turns"], end["calls"], end["tokens"]) == (turns, calls, 100 * calls * asks)
        assert len(await said(t)) == calls
        assert t.run_of(run.id).calls == calls


async def test_tokens_trip_before_the_call_that_could_go_over() -> None:
    model = Paced(HandMovedClock(), tokens=1_000)
    async with on_stage(minds={"a": Asker()}, models=ModelRouter(model)) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_total_tokens=4_000))

        await soon(t.run())

        end = (await the_end(t)).payload
        assert (end["axis"], end["tokens"]) == ("max_total_tokens", 1_000 * model.calls)
        assert 1 < model.calls <= 4


async def test_money_trips_within_a_sliding_hour_and_comes_back_with_time() -> None:
    clock = HandMovedClock()
    model = Paced(clock, usd=0.3)
    async with on_stage(minds={"a": Asker()}, models=priced(model), clock=clock) as t:
        await t.open_world(world_of(ticking("a")), governor=only(hourly_budget_usd=1.0))

        for _ in range(12):  # Three calls in any hour, for four hours.
            clock.move(20 * 60 + 30)
            assert (await soon(t.step_one())).kind == kinds.AGENT_SPOKE  # type: ignore[union-attr]
        await soon(t.run())

        end = (await the_end(t)).payload
        assert end["axis"] == "hourly_budget_usd"
        assert end["usd"] == pytest.approx(0.3 * end["calls"])
        assert 12 < end["calls"] <= 15


async def test_money_of_the_whole_run_trips_and_does_not_come_back_with_time() -> None:
    clock = HandMovedClock()
    model = Paced(clock, usd=0.25)
    async with on_stage(minds={"a": Asker()}, models=priced(model, 400.0), clock=clock) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_total_usd=1.0))
        while not t.runs()[0].is_finished:
            clock.move(2 * 3_600)
            await soon(t.step_one())

        end = (await the_end(t)).payload
        assert end["axis"] == "max_total_usd"
        assert end["usd"] == 0.25 * end["calls"] <= 1.0
        assert model.calls == end["calls"] > 1


async def test_calls_that_run_at_the_same_time_share_the_money_of_the_whole_run() -> None:
    clock = HandMovedClock()
    model = Paced(clock, usd=0.25)
    model.answer = replace(model.answer, text=ANSWER)
    async with on_stage(models=priced(model, 400.0), clock=clock) as t:
        cast = [ticking(name, together=True) for name in "abcde"]
        run = await t.open_world(world_of(*cast), governor=only(max_total_usd=1.0))
        await soon(t.run())

        end = (await the_end(t)).payload
        assert end["axis"] == "max_total_usd"
        assert 1 < model.calls < 5
        assert end["usd"] == 0.25 * model.calls <= 1.0
        assert (await verify(t, run.id)).is_same


async def test_a_branch_and_a_resumed_run_keep_the_money_of_the_whole_run() -> None:
    clock = HandMovedClock()
    model = Paced(clock, usd=0.25)
    world = world_of(ticking("a"), governor={"max_turns": 9, "max_total_usd": 1.0})
    async with on_stage(minds={"a": Asker()}, models=priced(model, 400.0), clock=clock) as t:
        run = await t.open_world(world)
        await soon(t.run())
        session = (await ledger_of(t))[-1].session_id
        same = await t.branch(session, None, WhatIf())
        more = await t.branch(session, None, WhatIf(limits=replace(run.governor, max_total_usd=2.0)))
        resumed = await t.resume(session, world=world)
        for child in (same, more, resumed):
            await soon(t.run(child.id))

        usd = t.run_of(run.id).usd
        assert usd is not None
        assert [t.run_of(each.id).usd for each in (same, resumed)] == [usd, usd]
        assert usd < (t.run_of(more.id).usd or 0.0) <= 2.0
        assert (more.limits_given, more.governor.max_total_usd) == (("max_total_usd",), 2.0)
        assert (same.limits_given, same.governor.max_total_usd) == ((), 1.0)


def test_limits_without_one_of_the_whole_run_are_written_as_before() -> None:
    written = msgspec.to_builtins(settled(Governor(max_total_usd=None), 1))

    assert "max_total_usd" not in written
    assert Governor(max_total_usd=None) == Governor() == msgspec.convert(written, Governor)
    assert settled(Governor(max_total_usd=2), 1).max_total_usd == 2.0
    given = RunStarted(limits=settled(Governor(max_total_usd=2), 1))
    assert msgspec.convert(builtins_of(given), RunStarted).limits == Governor(max_total_usd=2)


@pytest.mark.parametrize("first_at", range(0, 61, 7))
async def test_in_no_hour_is_more_spent_than_allowed_whatever_the_minute_it_began_in(first_at: int) -> None:
    clock, spent_at = HandMovedClock(), []
    model = Paced(clock, usd=0.5)
    clock.move(first_at)
    async with on_stage(minds={"a": Asker()}, models=priced(model, 1_000.0), clock=clock) as t:
        await t.open_world(world_of(ticking("a")), governor=only(hourly_budget_usd=1.4))
        for _ in range(8):
            told_now = await soon(t.step_one())
            if told_now is not None and told_now.kind == kinds.AGENT_SPOKE:
                spent_at.append(clock.now())
            clock.move(29 * 60 + 55)

    for at in spent_at:
        within = [other for other in spent_at if 0 <= (at - other).total_seconds() < 3_600]
        assert 0.5 * len(within) <= 1.4, spent_at
    assert len(spent_at) >= 2


async def test_a_run_without_a_scenario_has_the_limits_of_its_terrarium() -> None:
    async with on_stage(governor=only(max_total_calls=3)) as t:
        await cast_on(t, {"a": Speaker()}, ticking("a"))

        await soon(t.run())

        assert (await the_end(t)).payload["axis"] == "max_total_calls"


async def test_repairs_count_as_calls() -> None:
    model = ScriptedModel("no JSON")
    async with on_stage(models=ModelRouter(model)) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_total_calls=5))

        await soon(t.run())

        assert model.calls == 5
        assert (await the_end(t)).payload["calls"] == 5
        attempts = [event.payload["attempts"] for event in await events_of(t, kinds.AGENT_FAILED)]
        assert attempts == [3, 2]


# Nothing after the end


@pytest.mark.parametrize("sqlite", [False, True])
async def test_after_its_end_nothing_of_a_run_is_written_and_the_others_play_on(
    tmp_path: Path, sqlite: bool
) -> None:
    store = SqliteStore(tmp_path / "t.db") if sqlite else MemoryStore()
    async with on_stage(store, {"a": Speaker(), "b": Speaker()}) as t:
        first = await t.open_world(
            world_of(ticking("a", subscribes_to=("agent.spoke",))), governor=only(max_turns=2)
        )
        two = await t.open_world(world_of(ticking("b"), governor={"max_turns": 5}))
        await t.connect("a", "b", channel="bridge", both=True)

        await soon(t.run())

        ends = [event.run_id for event in await events_of(t, kinds.RUN_FINISHED)]
        assert ends == [first.id, two.id]
        after = (await ledger_of(t))[[e.kind for e in await ledger_of(t)].index(kinds.RUN_FINISHED) + 1 :]
        assert {event.run_id for event in after} <= {two.id, None}
        assert [word for word in await said(t) if word[0] == "b"] == ["b1", "b2", "b3", "b4", "b5"]
        with pytest.raises(Refused, match="finished"):
            await t.append("a", line("one more thing", None))
        with pytest.raises(Refused, match="finished"):
            await t.disturb(first.id, "Hello?")
        for call in (t.pause(first.id), t.continue_run(first.id), t.finish(first.id)):
            with pytest.raises(Refused, match="finished"):
                await call


async def test_an_end_that_is_asked_for_by_many_at_once_is_told_once() -> None:
    mind = Gated()
    async with on_stage(minds={"a": mind}) as t:
        run = await t.open_world(world_of(ticking("a")))
        running = asyncio.create_task(t.run())
        await soon(mind.has_begun.wait())

        ends = [asyncio.create_task(t.finish(run.id)) for _ in range(3)]
        await loop_turns()
        mind.gate.set()
        await soon(asyncio.gather(*ends, running))

        assert len({end.result().id for end in ends if end.result() is not None}) == 1  # type: ignore[union-attr]
        assert (await the_end(t)).payload["reason"] == "stopped"
        assert await said(t) == ["a1"]


async def test_the_last_act_counts_although_its_run_is_asked_to_end_meanwhile() -> None:
    gate, begun = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def complete(self, prompt: Prompt) -> Completion:
            begun.set()
            await gate.wait()
            return Completion("-", "slow", Tokens(7, 3), usd=0.25)

    async with on_stage(minds={"a": Asker()}, models=ModelRouter(Slow("-"))) as t:
        run = await t.open_world(world_of(ticking("a")))
        running = asyncio.create_task(t.run())
        await soon(begun.wait())
        ending = asyncio.create_task(t.finish(run.id))
        await loop_turns()
        gate.set()
        await soon(asyncio.gather(running, ending))

        end = (await the_end(t)).payload
        assert (end["calls"], end["tokens"], end["usd"]) == (1, 10, 0.25)


# Prices


IN_DOLLARS = pytest.mark.parametrize("axis", ["hourly_budget_usd", "max_total_usd"])


@IN_DOLLARS
async def test_a_limit_of_money_with_a_model_of_unknown_price_is_refused_at_the_start(axis: str) -> None:
    async with on_stage(models=priced(ScriptedModel("-"), None)) as t:
        before = await ledger_of(t)

        with pytest.raises(Refused, match=f"{axis} is set, and nobody knows the price"):
            await t.open_world(world_of(ticking("a")), governor=only(**{axis: 1.0}))

        assert await ledger_of(t) == before
        assert not t.runs()
        await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))


@IN_DOLLARS
async def test_so_it_is_for_a_run_without_a_scenario_when_it_is_first_driven(axis: str) -> None:
    models = priced(ScriptedModel("-"), None)
    async with on_stage(models=models, governor=only(**{axis: 1.0})) as t:
        await t.add_creature(ticking("a"), agent=Asker())

        with pytest.raises(Refused, match="price"):
            await soon(t.run())

        assert await said(t) == []


async def test_money_nobody_knows_is_told_as_unknown() -> None:
    model = ScriptedModel(Completion("-", "secret", Tokens(5, 5), usd=None))
    async with on_stage(minds={"a": Asker()}, models=priced(model, None)) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))

        await soon(t.run())

        assert (await the_end(t)).payload["usd"] is None


class Silent(ScriptedModel):
    """A model that names no price: it reports these tokens, or raises."""

    def __init__(self, tokens: int | None) -> None:
        super().__init__("-")
        self.tokens = tokens

    async def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        if self.tokens is None:
            raise TimeoutError("The server hung up after it was asked.")
        return Completion('{"text": "Good day."}', "silent", Tokens(self.tokens, self.tokens))


@pytest.mark.parametrize("tokens", [100, 0, None], ids=["tokens alone", "neither", "no answer"])
async def test_a_model_that_names_no_price_spends_by_the_price_of_its_route(tokens: int | None) -> None:
    model = Silent(tokens)
    async with on_stage(models=priced(model, 1_000.0)) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(hourly_budget_usd=3.0))

        await soon(t.run())

        end = (await the_end(t)).payload
        assert end["axis"] == "hourly_budget_usd"
        assert 0 < end["usd"] <= 3.0
        assert 1 < model.calls == end["calls"] < 20
        if tokens:
            assert end["usd"] == pytest.approx(0.2 * model.calls)
        assert (await verify(t, run.id)).is_same


async def test_a_price_that_a_completion_names_counts_before_that_of_the_route() -> None:
    model = ScriptedModel(Completion("-", "thrifty", Tokens(1_000, 1_000), usd=0.25))
    async with on_stage(minds={"a": Asker()}, models=priced(model, 1_000.0)) as t:
        await t.open_world(world_of(ticking("a")), governor=only(max_turns=2))

        await soon(t.run())

        assert (await the_end(t)).payload["usd"] == 0.5


async def test_a_route_without_prices_is_unpriced() -> None:
    models = ModelRouter({"fast": Route(ScriptedModel("-"), "bare", 8_192, 384)})
    async with on_stage(models=models) as t:
        with pytest.raises(Refused, match="price of bare"):
            await t.open_world(world_of(ticking("a")), governor=only(hourly_budget_usd=1.0))


@pytest.mark.parametrize("price", [-1.0, math.nan, math.inf])
async def test_a_route_with_an_impossible_price_is_refused(price: float) -> None:
    async with on_stage(models=priced(ScriptedModel("-"), price)) as t:
        with pytest.raises(Refused, match="prices of 0 or more"):
            await t.open_world(world_of(ticking("a")))


@IN_DOLLARS
async def test_a_creature_of_unknown_price_cannot_join_a_run_that_is_limited_in_dollars(axis: str) -> None:
    free, bare = ScriptedModel("-"), Route(ScriptedModel("-"), "bare", 8_192, 384)
    async with on_stage(models=ModelRouter({"fast": free, "strong": bare})) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(**{axis: 1.0}))

        with pytest.raises(Refused, match="price of bare"):
            await t.add_creature(Manifest(name="b", model_profile="strong"), run=run.id)

        await t.add_creature(Manifest(name="b"), run=run.id)


@IN_DOLLARS
async def test_a_price_that_is_no_longer_known_ends_the_run_before_the_call(
    axis: str, tmp_path: Path
) -> None:
    model = ScriptedModel("-")
    path = tmp_path / "t.db"
    async with on_stage(SqliteStore(path), {"a": Asker()}, models=priced(model, 1.0)) as t:
        await t.open_world(world_of(ticking("a")), governor=only(**{axis: 1.0}))
        await t.step_one()

    async with on_stage(SqliteStore(path), {"a": Asker()}, models=priced(model, None)) as t:
        await soon(t.run())

        assert (await the_end(t)).payload["axis"] == axis
        assert model.calls == 1


# Reopening


@pytest.mark.parametrize("stops_after", range(1, 7))
async def test_counts_go_on_after_a_reopening(tmp_path: Path, stops_after: int) -> None:
    clock = HandMovedClock()
    world = world_of(ticking("a"), ticking("b"))
    limits = Governor(max_total_calls=7)
    models = ModelRouter(Paced(clock))
    async with on_stage(SqliteStore(tmp_path / "t.db"), {"a": Asker(), "b": Speaker()}, models=models) as t:
        run = await t.open_world(world, governor=limits)
        for _ in range(stops_after):
            await t.step_one()

    async with on_stage(SqliteStore(tmp_path / "t.db"), {"a": Asker(), "b": Speaker()}, models=models) as t:
        standing = t.run_of(run.id)
        assert (standing.calls, standing.turns) == (stops_after, (stops_after + 1) // 2)
        await soon(t.run())

        end = (await the_end(t)).payload
        assert (end["axis"], end["calls"], end["turns"], end["tokens"]) == ("max_total_calls", 7, 4, 400)


async def test_the_calls_of_a_turn_go_on_after_a_reopening(tmp_path: Path) -> None:
    names = ("a", "b", "c")
    async with on_stage(SqliteStore(tmp_path / "t.db"), {name: Speaker() for name in names}) as t:
        await t.open_world(world_of(*map(ticking, names)), governor=only(max_calls_per_turn=2))
        await t.step_one()

    async with on_stage(SqliteStore(tmp_path / "t.db"), {name: Speaker() for name in names}) as t:
        await soon(t.run())

        assert await said(t) == ["a1", "b1"]
        assert (await the_end(t)).payload["axis"] == "max_calls_per_turn"


# What everybody sees


@pytest.mark.parametrize("role", ["spectator", "audience", "director"])
async def test_every_role_sees_at_every_event_what_was_spent(role: Role) -> None:
    answer = Completion("-", "m", Tokens(40, 10), usd=0.1)
    async with on_stage(minds={"a": Asker()}, models=ModelRouter(ScriptedModel(answer))) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_turns=3))
        await soon(t.run())
        events = [redacted(event, role) for event in await t.run_events(run.id)]
        spent = t.run_of(run.id)

        counters = rebuild_stage(events, run.id).counters

        assert (counters.calls, counters.tokens) == (3, 150)
        assert counters.usd == pytest.approx(0.3)
        assert counters.usage == spent.usage
        lines = [k for k, event in enumerate(events, 1) if event.actor == "a"]
        told_at = [rebuild_stage(events[:k], run.id).counters.usd for k in lines]
        assert told_at == pytest.approx([0.1, 0.2, 0.3])
        assert [events[k - 1].calls[0].usd for k in lines] == [0.1, 0.1, 0.1]


@pytest.mark.parametrize("role", ["spectator", "audience", "director"])
async def test_a_price_that_nobody_knows_is_shown_as_unknown_not_as_nothing(role: Role) -> None:
    model = ScriptedModel(Completion("-", "secret", Tokens(5, 5), usd=None))
    async with on_stage(minds={"a": Asker()}, models=priced(model, None)) as t:
        run = await t.open_world(world_of(ticking("a")), governor=only(max_turns=1))
        await soon(t.run())
        events = [redacted(event, role) for event in await t.run_events(run.id)]

        counters = rebuild_stage(events, run.id).counters

        assert (counters.calls, counters.tokens, counters.usd) == (1, 10, None)
