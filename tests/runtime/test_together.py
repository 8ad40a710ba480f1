"""Ticks that go together: they think at the same time on the same past, and are written in the order of the cast."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Agent, Draft, Event, MemoryStore, SqliteStore, kinds
from glasshouse.errors import StoreError, UnknownName
from glasshouse.events.payloads import Governor
from glasshouse.runtime.conducting.ahead import Causes
from glasshouse.runtime.conducting.graph_steps import DrivenGraphs
from glasshouse.runtime.store_port import Store
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.runs.schedule import Due
from tests.runtime.stage_crew import (
    Doing,
    Gated,
    Speaker,
    cast_on,
    events_of,
    on_stage,
    said,
    the_end,
    ticking,
    words,
    world_of,
)
from tests.runtime.stores_around import FailingStore, GatedStore, StoreAround
from tests.runtime.troupe import loop_turns, soon


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "t.db")


class InStep(Agent):
    """Thinks until everybody of its company has begun to think; keeps what it saw."""

    def __init__(self, company: list["InStep"]) -> None:
        self.company = company
        self.has_begun = asyncio.Event()
        self.saw: list[list[str]] = []
        company.append(self)

    async def act(self, moment: Moment) -> Draft | None:
        self.saw.append(words(moment.recent_events))
        self.has_begun.set()
        for other in self.company:
            await other.has_begun.wait()
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{moment.handle}{moment.turn}"})


async def test_ticks_that_go_together_overlap_on_the_same_past_and_are_written_in_the_order_of_the_cast(
    store: Store,
) -> None:
    company: list[InStep] = []
    minds = {name: InStep(company) for name in ("a", "b", "c", "d")}
    async with on_stage(store, minds) as t:
        await t.open_world(
            world_of(*[ticking(name, together=True) for name in minds], governor={"max_turns": 2})
        )

        await soon(t.run())

        assert await said(t) == ["a1", "b1", "c1", "d1", "a2", "b2", "c2", "d2"]
        assert [mind.saw for mind in company] == [[[], ["a1", "b1", "c1", "d1"]]] * 4
        events = await events_of(t, kinds.AGENT_SPOKE)
        assert len({event.caused_by for event in events[:4]}) == 1


async def test_those_who_think_together_begin_behind_one_gate_and_each_waits_at_it_to_be_written() -> None:
    log: list[str] = []

    async def notes(moment: Moment) -> None:
        log.append(moment.handle)

    async def gate(_graph_id: str) -> None:
        log.append(f"gate, {len(await said(t))} written")

    minds = {name: Doing(notes) for name in ("a", "b")}
    async with on_stage(minds=minds) as t:
        await t.open_world(world_of(*[ticking(name, together=True) for name in minds]))

        await soon(t.step(before_act=gate))

        assert log == ["gate, 0 written", "a", "b", "gate, 1 written"]


async def test_what_was_thought_together_needs_few_commits() -> None:
    store = StoreAround()
    names = [f"c{n}" for n in range(12)]
    minds = {name: InStep([]) for name in names}
    async with on_stage(store) as t:
        await cast_on(t, minds, *[ticking(name, together=True) for name in names])
        await soon(t.step())
        before = len(store.commits)

        await soon(t.step())

        assert (await said(t))[12:] == [f"{name}2" for name in names]
        assert len(store.commits) - before <= 4


async def test_who_thinks_while_the_commit_before_it_fails_is_not_written_before_that_act() -> None:
    store, minds = FailingStore(0), {name: Gated() for name in ("a", "b", "c")}
    async with on_stage(store) as t:
        await cast_on(t, minds, *[ticking(name, together=True) for name in minds])
        stepping = asyncio.create_task(t.step())
        for mind in minds.values():
            await soon(mind.has_begun.wait())
        store.fails_at = store.asked + 1
        minds["a"].gate.set()
        await loop_turns()

        minds["b"].gate.set()
        minds["c"].gate.set()
        with pytest.raises(StoreError):
            await soon(stepping)
        await soon(t.step())

        assert (await said(t))[:3] == ["a1", "b1", "c1"]
        assert [mind.acts for mind in minds.values()] == [2, 1, 1]


async def test_who_has_thought_first_waits_for_its_place_in_the_cast() -> None:
    minds = {name: Gated() for name in ("a", "b", "c")}
    async with on_stage() as t:
        await cast_on(t, minds, *[ticking(name, together=True) for name in minds])
        stepping = asyncio.create_task(t.step())
        for mind in minds.values():
            await soon(mind.has_begun.wait())

        for name in ("c", "b"):
            minds[name].gate.set()
            await loop_turns()
            assert await said(t) == []
        minds["a"].gate.set()
        await soon(stepping)

        assert await said(t) == ["a1", "b1", "c1"]
        assert [mind.acts for mind in minds.values()] == [1, 1, 1]


@pytest.mark.parametrize(
    ("order", "seen_by_the_single"),
    [(("one", "a", "c"), []), (("a", "one", "c"), ["a1"]), (("a", "c", "one"), ["a1", "c1"])],
)
async def test_who_goes_alone_among_them_sees_those_before_it_and_they_do_not_see_it(
    order: tuple[str, ...], seen_by_the_single: list[str]
) -> None:
    company: list[InStep] = []
    minds: dict[str, Agent] = {"a": InStep(company), "c": InStep(company), "one": InStep([])}
    async with on_stage() as t:
        await cast_on(t, minds, *[ticking(name, together=name != "one") for name in order])

        await soon(t.step())

        assert await said(t) == [f"{name}1" for name in order]
        assert [mind.saw for mind in company] == [[[]], [[]]]
        single = minds["one"]
        assert isinstance(single, InStep)
        assert single.saw == [seen_by_the_single]


async def test_acts_driven_one_by_one_see_the_same_past_too(tmp_path: Path) -> None:
    saw: dict[str, list[list[str]]] = {name: [] for name in ("a", "b", "c")}

    async def looks(moment: Moment) -> None:
        saw[moment.handle].append(words(moment.recent_events))

    world = world_of(*[ticking(name, together=True) for name in saw], governor={"max_turns": 2})
    for _ in range(8):  # Closed and opened again between any two acts.
        async with on_stage(SqliteStore(tmp_path / "t.db"), {name: Doing(looks) for name in saw}) as t:
            if not t.runs():
                await t.open_world(world)
            await soon(t.step_one())

    first = ["a1", "b1", "c1"]
    assert {name: seen[-1] for name, seen in saw.items()} == dict.fromkeys(saw, first)
    assert all(seen in ([], first) for own in saw.values() for seen in own)
    async with on_stage(SqliteStore(tmp_path / "t.db")) as t:
        assert await said(t) == ["a1", "b1", "c1", "a2", "b2", "c2"]
        assert (await the_end(t)).payload["calls"] == 6


@pytest.mark.parametrize("order", [("one", "a", "c"), ("a", "one", "c"), ("a", "c", "one")])
@pytest.mark.parametrize("axis", ["max_total_calls", "max_calls_per_turn"])
async def test_a_limit_that_lets_two_of_three_think_ends_the_run_after_two(
    order: tuple[str, ...], axis: str
) -> None:
    limits: dict[str, Any] = {axis: 2, "on_turn_limit": "finish"}
    async with on_stage(governor=Governor(**limits)) as t:
        minds = {name: Speaker() for name in order}
        await cast_on(t, minds, *[ticking(name, together=name != "one") for name in order])

        await soon(t.run())

        end = await the_end(t)
        assert (end.payload["axis"], end.payload["calls"], len(await said(t))) == (axis, 2, 2)


@pytest.mark.parametrize("order", [("one", "a", "c"), ("a", "one", "c"), ("a", "c", "one"), ("a", "c", "d")])
async def test_what_does_not_fit_into_a_turn_is_put_off_and_everybody_has_a_turn(
    order: tuple[str, ...],
) -> None:
    minds = {name: Speaker() for name in order}
    async with on_stage(minds=minds) as t:
        await t.open_world(
            world_of(
                *[ticking(name, together=name != "one") for name in order],
                governor={"max_calls_per_turn": 2, "on_turn_limit": "defer", "max_turns": 6},
            )
        )

        await soon(t.run())

        lines = await events_of(t, kinds.AGENT_SPOKE)
        assert len(lines) == 12
        assert min(sum(line.actor == name for line in lines) for name in order) == 3
        assert len({(line.actor, line.caused_by) for line in lines}) == 12
        assert (await the_end(t)).payload["calls"] == 12


async def test_one_that_is_removed_while_it_thinks_ahead_is_told_once_as_discarded() -> None:
    minds = {name: Gated() for name in ("a", "b", "c")}
    async with on_stage(minds=minds) as t:
        run = await t.open_world(
            world_of(*[ticking(name, together=True) for name in minds], governor={"max_turns": 1})
        )
        stepping = asyncio.create_task(t.step())
        for mind in minds.values():
            await soon(mind.has_begun.wait())
        await t.remove_creature("b")
        for mind in minds.values():
            mind.gate.set()

        await soon(stepping)
        await soon(t.run())

        assert await said(t) == ["a1", "c1"]
        assert [(e.actor, e.run_id) for e in await events_of(t, kinds.ACT_DISCARDED)] == [("b", run.id)]
        assert (await the_end(t)).payload["calls"] == 3


async def test_what_was_begun_ahead_is_written_before_a_run_is_stopped() -> None:
    minds = {name: Gated() for name in ("a", "b", "c")}
    async with on_stage(minds=minds) as t:
        run = await t.open_world(world_of(*[ticking(name, together=True) for name in minds]))
        stepping = asyncio.create_task(t.run())
        for mind in minds.values():
            await soon(mind.has_begun.wait())
        stopping = asyncio.create_task(t.finish(run.id))
        await loop_turns()
        assert not stopping.done()
        for name in ("c", "a", "b"):
            minds[name].gate.set()
            await loop_turns()

        await soon(stopping)
        await soon(stepping)

        end = await the_end(t)
        assert (end.payload["reason"], end.payload["calls"]) == ("stopped", 3)
        assert sorted(await said(t)) == ["a1", "b1", "c1"]
        assert [mind.acts for mind in minds.values()] == [1, 1, 1]


async def test_an_act_begun_ahead_is_played_once_if_its_run_is_stopped_while_the_drive_waits_for_a_commit() -> (
    None
):
    store, minds = GatedStore(), {"a": Gated(), "b": Gated()}
    async with on_stage(store, minds) as t:
        run = await t.open_world(world_of(*[ticking(name, together=True) for name in minds]))
        driving = asyncio.create_task(t.step(1))
        for mind in minds.values():
            await soon(mind.has_begun.wait())
        store.gate.clear()
        minds["a"].gate.set()
        await loop_turns()

        stopping = asyncio.create_task(t.finish(run.id))
        await loop_turns()
        store.gate.set()
        await loop_turns()
        minds["b"].gate.set()
        await soon(asyncio.gather(driving, stopping))

        assert await said(t) == ["a1", "b1"]
        assert minds["b"].acts == 1


async def test_a_creature_may_be_removed_while_the_cause_of_its_act_is_read() -> None:
    async with on_stage() as t:
        await t.open_world(world_of(ticking("a"), ticking("b")))
        line = await t.append("a", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Psst."}))

        async def read(event_id: str) -> Event:
            assert event_id == line.id
            with suppress(UnknownName):
                await t.remove_creature("b")
            return line

        causes = Causes(t._house.ledger, read, DrivenGraphs())

        assert await causes.of(Due("b", line.id, is_tick=True)) is line
        assert await causes.of(Due("b", line.id, is_tick=True)) is line


async def test_one_of_them_that_fails_does_not_hold_up_the_others() -> None:
    async def raises(moment: Moment) -> None:
        raise ValueError("lost the thread")

    minds: dict[str, Agent] = {"a": Speaker(), "b": Doing(raises), "c": Speaker()}
    async with on_stage() as t:
        await cast_on(t, minds, *[ticking(name, together=True) for name in minds])

        await soon(t.step())

        assert [e.actor for e in await events_of(t, kinds.AGENT_SPOKE, kinds.AGENT_FAILED)] == ["a", "b", "c"]


async def test_closing_lets_go_of_what_was_begun_ahead_and_it_is_thought_again(tmp_path: Path) -> None:
    minds = {name: Gated() for name in ("a", "b")}
    world = world_of(ticking("a", together=True), ticking("b", together=True), governor={"max_turns": 1})
    async with on_stage(SqliteStore(tmp_path / "t.db"), minds) as t:
        await t.open_world(world)
        minds["a"].gate.set()
        await soon(t.step_one())
        assert minds["b"].acts == 1

    async with on_stage(SqliteStore(tmp_path / "t.db"), {name: Speaker() for name in minds}) as t:
        await soon(t.run())

        assert await said(t) == ["a1", "b1"]
        assert (await the_end(t)).payload["calls"] == 2
