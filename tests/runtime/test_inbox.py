"""The inbox for lines from other processes: each line reaches its run, and a line without a run blocks no other."""

import asyncio

import pytest

from glasshouse import Event, MemoryStore, kinds
from glasshouse.errors import StoreFailed
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.runtime.inbox import lines
from glasshouse.runtime.store_port import InboxLine
from tests.runtime.stage_crew import Speaker, events_of, on_stage, said, ticking, world_of
from tests.runtime.stores_around import GatedStore
from tests.runtime.troupe import loop_turns, soon

WORLD = world_of(ticking("a"))


@pytest.fixture
def two_lines_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """An inbox that is looked into between any two turns, and has short pages."""
    monkeypatch.setattr(lines, "inbox_lines_max", 2)
    monkeypatch.setattr(lines, "inbox_seconds_min", 0.0)


async def test_a_line_is_said_to_its_run_and_leaves_the_inbox() -> None:
    store = MemoryStore()
    async with on_stage(store, {"a": Speaker()}) as t:
        run = await t.open_world(WORLD)
        await store.put_line("A bell rings.", run.id)

        await t.step(1)

        (heard,) = await events_of(t, kinds.USER_INJECTED)
        assert (heard.run_id, heard.payload) == (run.id, {"text": "A bell rings."})
        assert await store.lines(9) == []


@pytest.mark.usefixtures("two_lines_at_a_time")
async def test_lines_for_a_run_that_is_over_go_out_unheard_and_block_nobody() -> None:
    store = MemoryStore()
    async with on_stage(store, {"a": Speaker()}) as t:
        over, open_one = await t.open_world(WORLD), await t.open_world(WORLD)
        await t.finish(over.id)
        for run_id in (over.id, over.id, over.id, open_one.id):
            await store.put_line("A bell rings.", run_id)

        await t.step(3)

        assert [event.run_id for event in await events_of(t, kinds.USER_INJECTED)] == [open_one.id]
        assert await store.lines(9) == []


async def test_a_line_for_whoever_plays_waits_until_somebody_does() -> None:
    store = MemoryStore()
    await store.put_line("A bell rings.")
    async with on_stage(store, {"a": Speaker()}) as t:
        run = await t.open_world(WORLD)

        await t.step(1)

        assert [event.run_id for event in await events_of(t, kinds.USER_INJECTED)] == [run.id]
        assert await store.lines(9) == []


@pytest.mark.usefixtures("two_lines_at_a_time")
async def test_lines_that_wait_for_a_run_keep_no_others_back_and_keep_their_order() -> None:
    store = MemoryStore()
    async with on_stage(store, {"a": Speaker()}) as t:
        run = await t.open_world(WORLD)
        for text in ("one", "two", "three"):
            await store.put_line(text, "r-later")
        await store.put_line("A bell rings.", run.id)

        await t.step(1)
        heard_first = [event.payload["text"] for event in await events_of(t, kinds.USER_INJECTED)]
        await t.open_world(WORLD, run_id="r-later")
        await t.step(2)

        assert heard_first == ["A bell rings."]
        heard = [event for event in await events_of(t, kinds.USER_INJECTED) if event.run_id == "r-later"]
        assert [event.payload["text"] for event in heard] == ["one", "two", "three"]


async def test_a_run_that_begins_while_lines_are_said_hears_its_own_in_their_order() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}) as t:
        run = await t.open_world(WORLD)
        said: list[str] = []

        async def say(_run_id: str, text: str, _inbox_line: int) -> Event:
            said.append(text)
            await t.open_world(WORLD, run_id="r-later")
            return await t.disturb(run.id, text)

        for text, run_id in (("one", "r-later"), ("A bell rings.", run.id), ("two", "r-later")):
            await store.put_line(text, run_id)

        await lines.InboxReader(store, t._house.ledger, clock, say, t._edits.make).say_waiting_lines()

        assert said == ["A bell rings."]


# While nobody drives


async def test_lines_are_said_while_nobody_drives_once_the_clock_has_moved() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        run = await t.open_world(WORLD)
        await store.put_line("A bell rings.", run.id)
        clock.move(lines.inbox_seconds_min / 2)
        await loop_turns()
        assert await events_of(t, kinds.USER_INJECTED) == []

        clock.move(lines.inbox_seconds_min / 2)
        await loop_turns()

        assert [event.payload["text"] for event in await events_of(t, kinds.USER_INJECTED)] == [
            "A bell rings."
        ]
        assert await said(t) == []


async def test_a_store_that_fails_is_looked_into_again() -> None:
    class Failing(MemoryStore):
        failures = 2

        async def lines(self, lines_max: int, after: int = 0) -> list[InboxLine]:
            if self.failures:
                self.failures -= 1
                raise StoreFailed("The disk cannot be read. Look at its cable.")
            return await super().lines(lines_max, after)

    store, clock = Failing(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        run = await t.open_world(WORLD)
        await store.put_line("A bell rings.", run.id)

        for _ in range(3):
            clock.move(lines.inbox_seconds_min)
            await loop_turns()

        assert len(await events_of(t, kinds.USER_INJECTED)) == 1


async def test_two_who_look_at_once_say_a_line_once() -> None:
    store, clock = GatedStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        run = await t.open_world(WORLD)
        await store.put_line("A bell rings.", run.id)
        store.gate.clear()
        first = asyncio.create_task(t.step_one())
        await loop_turns()
        clock.move(lines.inbox_seconds_min)
        second = asyncio.create_task(t.step_one())
        await loop_turns()

        store.gate.set()
        await soon(asyncio.gather(first, second))

        assert len(await events_of(t, kinds.USER_INJECTED)) == 1


async def test_a_terrarium_that_is_closed_looks_no_more() -> None:
    store, clock = MemoryStore(), HandMovedClock()
    async with on_stage(store, {"a": Speaker()}, clock=clock) as t:
        run = await t.open_world(WORLD)
    await store.put_line("A bell rings.", run.id)

    clock.move(lines.inbox_seconds_min)
    await loop_turns()

    assert [line.text for line in await store.lines(9)] == ["A bell rings."]
