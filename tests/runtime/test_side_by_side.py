"""Concurrent drives: each locks only the graph in which it takes a step. A gate is awaited before each act."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from glasshouse import Agent, Terrarium, kinds
from tests.runtime.stage_crew import (
    Gated,
    Speaker,
    cast_on,
    events_of,
    hearing,
    ledger_of,
    on_stage,
    said,
    the_end,
    ticking,
    world_of,
)
from tests.runtime.troupe import loop_turns, soon

ONE_TURN = {"max_turns": 1}


async def test_two_runs_that_are_driven_at_the_same_time_think_at_the_same_time() -> None:
    minds = {"a": Gated(), "b": Gated()}
    async with on_stage(minds=minds) as t:
        runs = [await t.open_world(world_of(ticking(name), governor=ONE_TURN)) for name in minds]
        driven = [asyncio.create_task(t.run(run.id)) for run in runs]

        for mind in minds.values():
            await soon(mind.has_begun.wait())  # The second begins while the first still thinks.
        for mind in minds.values():
            mind.gate.set()
        conducted = [await soon(task) for task in driven]

        assert [conducted_run.because for conducted_run in conducted] == ["runs_finished"] * 2
        assert [[event.run_id for event in conducted_run.ended] for conducted_run in conducted] == [
            [run.id] for run in runs
        ]


async def test_a_visitors_seat_holds_up_nobody_elses_run() -> None:
    guest = ticking("guest").model_copy(update={"played_by": "visitor"})
    async with Terrarium() as t:
        seated = await t.open_world(world_of(guest, governor=ONE_TURN))
        other = await t.open_world("thousand-token-wood")
        waiting = asyncio.create_task(t.run(seated.id))
        await loop_turns()

        await soon(t.run(other.id))

        assert (t.run_of(other.id).status, t.run_of(seated.id).status) == ("finished", "playing")
        t.speak_as("guest", "Here I am.")
        await soon(waiting)
        assert t.run_of(seated.id).is_finished


async def test_two_who_drive_one_graph_take_its_steps_in_turn() -> None:
    slow = Gated()
    async with on_stage(minds={"a": slow, "b": Speaker()}) as t:
        await t.open_world(world_of(ticking("a"), ticking("b"), governor={"max_turns": 2}))
        driven = [asyncio.create_task(t.run()), asyncio.create_task(t.step_one())]
        await soon(slow.has_begun.wait())
        await loop_turns()
        assert slow.acts == 1

        slow.gate.set()
        for task in driven:
            await soon(task)

        assert await said(t) == ["a1", "b1", "a2", "b2"]
        await the_end(t)


async def test_a_drive_that_waits_for_a_graph_gets_the_next_step() -> None:
    slow = Gated()
    async with on_stage(minds={"a": slow, "b": Speaker()}) as t:
        await t.open_world(world_of(ticking("a"), ticking("b"), governor={"max_turns": 9}))
        driven = asyncio.create_task(t.run())
        await soon(slow.has_begun.wait())
        waiting = asyncio.create_task(t.step_one())
        await loop_turns()

        slow.gate.set()
        event = await soon(waiting)

        assert event is not None
        assert (event.actor, event.turn) == ("b", 1)
        await soon(driven)


@pytest.mark.parametrize("others", [1, 3])
async def test_several_drives_at_once_write_what_one_would_have_written(others: int) -> None:
    async def played(drive: Callable[[Terrarium], Awaitable[object]]) -> list[str]:
        minds: dict[str, Agent] = {name: Speaker() for name in "abcd"}
        async with on_stage(minds=minds) as t:
            for name, other in ("ab", "cd"):
                await t.open_world(world_of(ticking(name), hearing(other), governor={"max_turns": 6}))
            await soon(drive(t))
            return [event.id + event.kind for event in await ledger_of(t)]

    async def together(t: Terrarium) -> None:
        await asyncio.gather(*[t.run() for _ in range(others + 1)])

    assert await played(together) == await played(lambda t: t.run())


async def test_a_gate_is_awaited_before_each_act_and_writes_nothing() -> None:
    waits: list[int] = []
    async with on_stage(minds={"a": Speaker(), "b": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("a"), hearing("b"), governor={"max_turns": 2}))

        async def gate(graph_id: str) -> None:
            assert graph_id in t.run_of(run.id).graph_ids
            waits.append(len(await events_of(t, kinds.AGENT_SPOKE)))

        through = await soon(t.run(run.id, before_act=gate))

        assert waits == [0, 1, 2, 3]  # a1, b2, a2, the end.
        assert (through.because, through.turns, await said(t)) == ("runs_finished", 2, ["a1", "b2", "a2"])


async def test_while_a_gate_is_shut_nothing_happens_and_others_go_on() -> None:
    gate = asyncio.Event()
    async with on_stage(minds={"a": Speaker(), "b": Speaker()}) as t:
        held, other = [await t.open_world(world_of(ticking(name), governor=ONE_TURN)) for name in ("a", "b")]

        async def wait(_graph_id: str) -> None:
            await gate.wait()

        before = len(await ledger_of(t))
        waiting = asyncio.create_task(t.run(held.id, before_act=wait))
        await loop_turns()
        assert len(await ledger_of(t)) == before
        await soon(t.run(other.id))
        assert await said(t) == ["b1"]

        gate.set()
        await soon(waiting)

        assert await said(t) == ["b1", "a1"]


async def test_a_gate_that_says_no_ends_the_drive_and_the_run_stays_open() -> None:
    async with on_stage(minds={"a": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("a"), governor={"max_turns": 5}))

        async def twice(_graph_id: str) -> bool:
            return len(await said(t)) < 2

        stopped = await soon(t.run(run.id, before_act=twice))

        assert (stopped.because, stopped.turns, stopped.ended) == ("held", 2, ())
        assert t.run_of(run.id).status == "playing"
        assert (await soon(t.run(run.id))).because == "runs_finished"


async def test_a_drive_says_why_it_returned() -> None:
    async with on_stage(minds={"a": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("a"), governor={"max_turns": 3}))
        stepped = await t.step(2)
        await t.pause(run.id)
        paused = await t.run(run.id)
        await t.continue_run(run.id)
        ended = await t.run(run.id)
        idle = await t.run()

        assert [conducted_run.because for conducted_run in (stepped, paused, ended, idle)] == [
            "turns_played",
            "runs_paused",
            "runs_finished",
            "nothing_due",
        ]
        assert [bool(conducted_run) for conducted_run in (stepped, paused, ended, idle)] == [
            True,
            False,
            True,
            False,
        ]
        assert [event.payload["axis"] for event in ended.ended] == ["max_turns"]


@pytest.mark.parametrize("drive", [Terrarium.run, Terrarium.step, Terrarium.step_one])
async def test_a_scenario_in_which_nothing_is_due_is_finished_whoever_drives_it(
    drive: Callable[[Terrarium], Awaitable[object]],
) -> None:
    async with on_stage(minds={"a": Speaker()}) as t:
        run = await t.open_world(world_of(hearing("a", "user.injected")))

        await drive(t)

        assert t.run_of(run.id).is_finished
        assert (await the_end(t)).payload["reason"] == "ended"


async def test_it_is_not_finished_while_somebody_else_who_is_driven_may_wake_it() -> None:
    async with on_stage(minds={"a": Speaker(), "b": Speaker()}) as t:
        idle = await t.open_world(world_of(hearing("a")))
        await t.open_world(world_of(ticking("b"), governor={"max_turns": 3}))
        await t.step(1)
        assert t.run_of(idle.id).status == "playing"

        await t.connect("b", "a")
        await t.wire("b", "a")
        await t.run()

        assert await said(t) == ["b1", "b2", "a3", "b3", "a4"]


async def test_creatures_that_no_scenario_opened_wait_to_be_woken() -> None:
    async with on_stage() as t:
        await cast_on(t, {"a": Speaker()}, hearing("a", "user.injected"))
        await t.disturb(t.default_run_id, "A bell rings.")

        assert (await t.run()).because == "nothing_due"
        assert t.run_of(t.default_run_id).status == "playing"


async def test_freely_a_gate_that_says_no_ends_what_waits_at_others_and_lets_acts_end() -> None:
    slow = Gated()
    async with on_stage(minds={"a": slow, "b": Speaker(), "c": Speaker()}, pacing="free") as t:
        graphs = {}
        for name in "abc":
            run = await t.open_world(world_of(ticking(name)))
            graphs[run.graph_ids[0]] = name
        shut = asyncio.Event()

        async def gate(graph_id: str) -> bool:
            if graphs[graph_id] == "a":
                return True
            if graphs[graph_id] == "b":
                await shut.wait()
            await slow.has_begun.wait()
            return False

        driven = asyncio.create_task(t.run(before_act=gate))
        await soon(slow.has_begun.wait())
        await loop_turns()
        assert not driven.done()
        slow.gate.set()

        assert (await soon(driven)).because == "held"
        assert await said(t) == ["a1"]
