"""Many graphs: lockstep is as deterministic as with one graph, and a merge or split during play interrupts no act."""

import asyncio
import random
from pathlib import Path
from typing import Self

import pytest

from glasshouse import Agent, Event, MemoryStore, SqliteStore, Terrarium, kinds
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.capabilities import Pacing
from glasshouse.runtime.store_port import Store
from glasshouse.troupe.model import OfflineModel
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.rules.under_hash_seeds import printed
from tests.runtime.many_graphs_play import play
from tests.runtime.stage_crew import (
    Doing,
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
    turns_begun,
    world_of,
)
from tests.runtime.troupe import loop_turns, soon

PACINGS: tuple[Pacing, ...] = ("lockstep", "free")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "t.db")


# The same every time


async def test_many_graphs_in_lockstep_give_the_same_digests_every_time_on_every_store(
    tmp_path: Path,
) -> None:
    usual = await play(MemoryStore())

    assert [await play(SqliteStore(tmp_path / f"{n}.db")) for n in range(2)] == [usual] * 2


@pytest.mark.parametrize("limit", ["max_total_calls", "max_calls_per_turn"])
async def test_that_holds_too_where_a_limit_shared_by_all_graphs_ends_the_run(
    tmp_path: Path, limit: str
) -> None:
    shared = {limit: 41 if limit == "max_total_calls" else 3}
    usual = await play(MemoryStore(), limits=shared)

    assert await play(SqliteStore(tmp_path / "t.db"), limits=shared) == usual


def test_the_hash_seed_changes_nothing(tmp_path: Path) -> None:
    play_it = ("-m", "tests.runtime.many_graphs_play")

    stories = {
        printed("0", *play_it),
        printed("1", *play_it, str(tmp_path / "t.db")),
        printed("4242", *play_it),
    }

    assert len(stories) == 1


async def test_at_its_own_speed_every_graph_says_the_same(tmp_path: Path) -> None:
    *_, in_lockstep = await play(MemoryStore(), disturbs=False)

    for store in (MemoryStore(), SqliteStore(tmp_path / "t.db")):
        *_, freely = await play(store, "free", disturbs=False, turns=4)

        for name, lines in freely.items():
            both = min(len(lines), len(in_lockstep[name]))
            assert both > 1
            assert lines[:both] == in_lockstep[name][:both]


async def test_free_graphs_do_not_wait_for_a_slow_one() -> None:
    slow = Gated()
    async with on_stage(minds={"a": slow, "b": Speaker()}, pacing="free") as t:
        await t.open_world(world_of(ticking("a"), governor={"max_turns": 1}))
        other = await t.open_world(world_of(ticking("b"), governor={"max_turns": 5}))
        running = asyncio.create_task(t.run())
        await soon(slow.has_begun.wait())
        while not t.run_of(other.id).is_finished:
            await loop_turns()
        assert await said(t) == ["b1", "b2", "b3", "b4", "b5"]

        slow.gate.set()
        await soon(running)

        assert (await said(t))[-1] == "a1"
        assert all(run.is_finished for run in t.runs())


# Merges


@pytest.mark.parametrize("pacing", PACINGS)
async def test_in_a_merge_the_clock_is_the_larger_and_the_agendas_join(store: Store, pacing: Pacing) -> None:
    minds: dict[str, Agent] = {name: Speaker() for name in ("a", "b", "x", "y")}
    async with on_stage(store, pacing=pacing) as t:
        first = await cast_on(t, minds, ticking("a"), hearing("b"))
        await t.step(7)
        second = await cast_on(t, minds, ticking("x"), hearing("y"))
        await t.step_one(second)
        await t.step_one(second)
        assert (await said(t))[-2:] == ["x1", "y2"]

        await t.connect("a", "x", channel="bridge", both=True)
        before = len(await said(t))
        await t.step(1)
        await t.step(1)

        assert [graph.id for graph in t.graphs()] == [first]
        lines = (await said(t))[before:]
        assert lines[0] == "x7"  # Its tick of turn 2 was owed still, and is played in the turn that is.
        assert sorted(lines[1:]) == sorted(["b8", "y8", "a8", "x8"])
        assert (await turns_begun(t))[-1] == 8
        _no_cause_twice(await ledger_of(t))


@pytest.mark.parametrize("pacing", PACINGS)
async def test_an_act_in_flight_is_not_cut_off_by_a_merge_and_is_not_begun_twice(
    store: Store, pacing: Pacing
) -> None:
    slow = Gated()
    minds: dict[str, Agent] = {"a": slow, "b": Speaker(), "x": Speaker(), "y": Speaker(), "z": Speaker()}
    async with on_stage(store, pacing=pacing) as t:
        await cast_on(t, minds, ticking("a"), hearing("b"))
        large = await cast_on(t, minds, ticking("x"), hearing("y"), hearing("z", "tale.told"))
        running = asyncio.create_task(t.step(2))
        await soon(slow.has_begun.wait())
        await t.connect("b", "x", channel="bridge", both=True)
        await _while_it_runs()
        slow.gate.set()

        await soon(running)
        await t.step(1)

        line = next(event for event in await events_of(t, kinds.AGENT_SPOKE) if event.actor == "a")
        assert line.graph_id == large
        assert t.agent("a") is slow
        assert slow.acts == sum(event.actor == "a" for event in await events_of(t, kinds.AGENT_SPOKE))
        _no_cause_twice(await ledger_of(t))


@pytest.mark.parametrize("pacing", PACINGS)
async def test_an_act_in_flight_is_not_cut_off_by_a_split_and_is_not_begun_twice(
    store: Store, pacing: Pacing
) -> None:
    slow = Gated()
    minds: dict[str, Agent] = {"a": Speaker(), "b": Speaker(), "c": Speaker(), "d": slow}
    async with on_stage(store, pacing=pacing) as t:
        graph = await cast_on(t, minds, ticking("a"), hearing("b"), hearing("c"))
        await t.add_creature(ticking("d"), agent=slow)
        await t.connect("a", "d", channel="bridge", both=True)
        await cast_on(t, {"o": Speaker()}, ticking("o"))
        running = asyncio.create_task(t.step(3))
        await soon(slow.has_begun.wait())
        await t.disconnect("a", "d", channel="bridge")
        await t.disconnect("d", "a", channel="bridge")
        assert t.creature("d").graph_id != graph
        await _while_it_runs()
        slow.gate.set()

        await soon(running)
        await t.step(2)

        lines = [event for event in await events_of(t, kinds.AGENT_SPOKE) if event.actor == "d"]
        assert lines[0].graph_id == t.creature("d").graph_id
        assert slow.acts == len(lines)
        _no_cause_twice(await ledger_of(t))


@pytest.mark.parametrize("pacing", PACINGS)
async def test_each_side_of_a_split_goes_on_with_the_clock_and_the_agenda_it_had(
    store: Store, pacing: Pacing
) -> None:
    minds: dict[str, Agent] = {name: Speaker() for name in ("a", "b", "d")}
    async with on_stage(store, pacing=pacing) as t:
        graph = await cast_on(t, minds, ticking("a"), hearing("b"))
        await t.add_creature(ticking("d"), agent=minds["d"])
        await t.connect("a", "d", channel="side", both=True)
        await t.wire("a", "d")
        await t.step(3)
        assert await said(t) == ["a1", "d1", "b2", "d2", "a2", "d2", "b3", "d3", "a3", "d3"]
        await t.disconnect("a", "d", channel="side")
        await t.disconnect("d", "a", channel="side")
        assert [graph.creature_ids for graph in t.graphs()] == [("a", "b"), ("d",)]

        await t.step(2)

        later = (await events_of(t, kinds.AGENT_SPOKE))[10:]
        lines = [
            [e.payload["text"] for e in later if (e.graph_id == graph) is home] for home in (True, False)
        ]
        assert lines == [["b4", "a4", "b5", "a5"], ["d4", "d4", "d5"]]
        _no_cause_twice(await ledger_of(t))


@pytest.mark.parametrize("pacing", PACINGS)
async def test_a_creature_that_merges_its_own_graph_finishes_its_act(store: Store, pacing: Pacing) -> None:
    async with on_stage(store, pacing=pacing) as t:
        changes = []

        async def joins(moment: Moment) -> None:
            if moment.turn == 1:
                changes.append(await t.connect("me", "x", channel="bridge", both=True))

        me = Doing(joins)
        minds: dict[str, Agent] = {"me": me, "b": Speaker(), "x": Speaker(), "y": Speaker(), "z": Speaker()}
        await cast_on(t, minds, ticking("me"), hearing("b"))
        large = await cast_on(t, minds, hearing("x"), hearing("y", "tale.told"), hearing("z", "tale.told"))

        await soon(t.step(2))

        assert [(change.kind, t.creature("me").graph_id) for change in changes] == [("merge", large)]
        spoke = [event for event in await events_of(t, kinds.AGENT_SPOKE) if event.actor == "me"]
        assert (spoke[0].graph_id, spoke[0].payload["text"], me.acts) == (large, "me1", len(spoke))
        _no_cause_twice(await ledger_of(t))


@pytest.mark.parametrize("pacing", PACINGS)
async def test_a_creature_that_splits_off_finishes_its_act_where_it_is_then(
    store: Store, pacing: Pacing
) -> None:
    async with on_stage(store, pacing=pacing) as t:

        async def leaves(moment: Moment) -> None:
            if moment.turn == 1:
                await t.disconnect("a", "me", channel="stage")
                await t.disconnect("me", "a", channel="stage")

        me = Doing(leaves)
        minds: dict[str, Agent] = {"a": Speaker(), "b": Speaker(), "me": me}
        graph = await cast_on(t, minds, ticking("a"), hearing("b"), ticking("me"))

        await soon(t.step(2))

        spoke = [event for event in await events_of(t, kinds.AGENT_SPOKE) if event.actor == "me"]
        assert spoke[0].graph_id == t.creature("me").graph_id != graph
        assert me.acts == len(spoke)
        assert "b2" in await said(t)
        _no_cause_twice(await ledger_of(t))


# Removal


@pytest.mark.parametrize("pacing", PACINGS)
@pytest.mark.parametrize("alone", [False, True], ids=["in company", "alone"])
async def test_an_act_whose_creature_is_removed_is_told_once_as_discarded(
    store: Store, pacing: Pacing, alone: bool
) -> None:
    slow = Gated()
    async with on_stage(store, {"a": slow, "b": Speaker()}, pacing=pacing) as t:
        cast = [ticking("a")] if alone else [ticking("a"), hearing("b", "user.injected")]
        run = await t.open_world(world_of(*cast))
        running = asyncio.create_task(t.run())
        await soon(slow.has_begun.wait())
        await t.remove_creature("a")
        assert len(t.graphs()) == (0 if alone else 1)
        slow.gate.set()

        await soon(running)

        discarded = await events_of(t, kinds.ACT_DISCARDED)
        assert [(event.actor, event.run_id) for event in discarded] == [("a", run.id)]
        assert t.run_of(run.id).calls == 1
        assert discarded[0].id in {event.id for event in await t.run_events(run.id)}
        assert (await the_end(t)).payload["calls"] == 1


async def test_a_creature_that_removes_itself_is_told_once_as_discarded(store: Store) -> None:
    async with on_stage(store) as t:

        async def goes(moment: Moment) -> None:
            await t.remove_creature("a")

        await cast_on(t, {"a": Doing(goes), "b": Speaker()}, ticking("a"), ticking("b"))

        await soon(t.step(2))

        assert [event.actor for event in await events_of(t, kinds.ACT_DISCARDED)] == ["a"]
        assert await said(t) == ["b1", "b2"]


async def test_one_that_is_removed_just_before_it_would_act_does_not_act(tmp_path: Path) -> None:
    async with on_stage(SqliteStore(tmp_path / "t.db")) as t:
        minds: dict[str, Agent] = {name: Speaker() for name in ("a", "b", "c")}
        await cast_on(t, minds, ticking("a"), ticking("b"), ticking("c"))
        running = asyncio.create_task(t.step(1))
        while not await turns_begun(t):
            await asyncio.wait([running], timeout=0)
        for name in ("a", "b"):
            await t.remove_creature(name)

        await soon(running)

        acted = await events_of(t, kinds.AGENT_SPOKE, kinds.ACT_DISCARDED)
        assert len({event.actor for event in acted}) == len(acted)
        assert acted[-1].actor == "c"


async def test_one_that_is_removed_while_others_think_leaves_nothing_owed(store: Store) -> None:
    slow = Gated()
    async with on_stage(store) as t:
        minds: dict[str, Agent] = {"a": slow, "b": Speaker(), "c": Speaker()}
        await cast_on(t, minds, ticking("a"), hearing("b"), hearing("c"))
        running = asyncio.create_task(t.step(1))
        await soon(slow.has_begun.wait())
        await t.remove_creature("b")
        slow.gate.set()
        await soon(running)

        await soon(t.step(1))

        assert await said(t) == ["a1", "c2", "a2"]


async def _while_it_runs() -> None:
    for _ in range(20):
        await loop_turns()


def _no_cause_twice(events: list[Event]) -> None:
    acts = [(event.actor, event.caused_by) for event in events if event.kind == kinds.AGENT_SPOKE]
    assert len(acts) == len(set(acts)), acts


# At their own speed, and to the end


class Unhurried:
    """The offline troupe, each answer after some turns of the loop: many for one creature, by chance for the others."""

    def __init__(self, slow: str, seed: int) -> None:
        self._slow = f"You are {slow},"
        self._chance = random.Random(seed)
        self._troupe = OfflineModel()

    def with_script(self, script: str) -> Self:
        self._troupe = self._troupe.with_script(script)
        return self

    async def complete(self, prompt: Prompt) -> Completion:
        is_slow = prompt.system.startswith(self._slow)
        for _ in range(400 if is_slow else self._chance.randrange(40)):
            await asyncio.sleep(0)
        return await self._troupe.complete(prompt)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("slow", ["weathercock", "root-mole", "nobody"])
async def test_freely_a_world_of_several_graphs_comes_to_its_own_end(slow: str, seed: int) -> None:
    async with Terrarium(models=ModelRouter(Unhurried(slow, seed)), pacing="free") as t:
        run = await t.open_world("three-ways-in", rng_seed=seed)

        ended = await soon(t.run(run.id))

        assert [event.payload["reason"] for event in ended.ended] == ["ended"]
        assert t.run_of(run.id).winner in {"hedge-squirrel", "root-mole", "moat-duck"}


async def test_freely_no_graph_of_a_run_begins_a_turn_before_the_others_have_begun_the_one_before() -> None:
    slow = Gated()
    async with on_stage(minds={"a": slow, "b": Speaker()}, pacing="free") as t:
        world = world_of(ticking("a"), ticking("b"), troupes={"one": {"cast": ["a"]}, "two": {"cast": ["b"]}})
        run = await t.open_world(world)
        running = asyncio.create_task(t.run(run.id, turns=4))
        await soon(slow.has_begun.wait())
        await _while_it_runs()
        assert await said(t) == ["b1"]

        slow.gate.set()
        await soon(running)

        assert sorted(await said(t)) == ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"]


async def test_freely_two_graphs_that_wait_for_each_other_both_go_on() -> None:
    minds: dict[str, Agent] = {name: Speaker() for name in "abcd"}
    async with on_stage(minds=minds, pacing="free") as t:
        first, other = [
            await t.open_world(
                world_of(
                    ticking(first), ticking(second), troupes={"x": {"cast": [first]}, "y": {"cast": [second]}}
                )
            )
            for first, second in ("ab", "cd")
        ]
        await t.pause(other.id)
        for _ in range(3):
            await t.step_one(t.creature("a").graph_id)
        await t.pause(first.id)
        await t.continue_run(other.id)
        for _ in range(3):
            await t.step_one(t.creature("d").graph_id)
        await t.continue_run(first.id)
        await t.connect("a", "c", both=True)  # Ahead in the first run, behind in the second.
        await t.connect("b", "d", both=True)

        played = await soon(t.run(turns=2))

        assert (played.because, played.turns) == ("turns_played", 4)


async def test_freely_a_graph_that_waits_for_a_slower_one_goes_on_if_something_is_due_in_its_turn() -> None:
    slow = Gated()
    async with on_stage(minds={"a": Speaker(), "b": slow, "c": Speaker()}, pacing="free") as t:
        troupes = {"one": {"cast": ["a", "c"]}, "two": {"cast": ["b"]}}
        run = await t.open_world(world_of(ticking("a"), ticking("b", every=2), hearing("c"), troupes=troupes))
        await t.stop_creature("c")
        running = asyncio.create_task(t.run(run.id, turns=3))
        await soon(slow.has_begun.wait())
        await _while_it_runs()

        await t.start_creature("c")
        await _while_it_runs()

        assert await said(t) == ["a1", "a2", "c2"]
        slow.gate.set()
        await soon(running)


@pytest.mark.parametrize("loop_turns_before", range(4))
async def test_freely_a_graph_that_is_added_when_a_drive_begins_is_driven_too(loop_turns_before: int) -> None:
    async with on_stage(minds={name: Speaker() for name in "abc"}, pacing="free") as t:
        world = world_of(ticking("a"), ticking("b"), troupes={"one": {"cast": ["a"]}, "two": {"cast": ["b"]}})
        run = await t.open_world(world)
        await t.run(run.id, turns=2)
        running = asyncio.create_task(t.run(run.id, turns=1))
        for _ in range(loop_turns_before):
            await asyncio.sleep(0)

        await t.add_creature(ticking("c"), run=run.id)
        await soon(running)

        assert sorted(await said(t))[-3:] == ["b2", "b3", "c1"]
