"""Another process has taken the store over: no model is asked again, acts end, the terrarium closes. That is final."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence

import pytest

from glasshouse import Draft, Manifest
from glasshouse.errors import StoreError, StoreFailed, StoreFenced
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.store_port import Batch
from tests.runtime.stage_crew import ledger_of, on_stage, show, ticking, world_of
from tests.runtime.stores_around import GatedStore
from tests.runtime.test_paid_calls_are_kept import Counted
from tests.runtime.troupe import loop_turns, soon

FENCE = StoreFenced("Process 12 has taken the store over. Nothing was written. Close this one.")


class LostStore(GatedStore):
    """A store that another process takes over, or that nobody hears of."""

    def __init__(self) -> None:
        super().__init__()
        self.lapsed: StoreError | None = None
        self.is_fenced = False
        self.is_closed = False
        self.taken = asyncio.Event()

    def lapse(self) -> StoreError | None:
        return self.lapsed

    async def commit(self, batches: Sequence[Batch]) -> int:
        await self.gate.wait()
        if self.is_fenced:
            raise FENCE
        return await super().commit(batches)

    async def wait_for_more(self, seen: str, seconds: float) -> str:
        await self.taken.wait()
        raise FENCE

    async def close(self) -> None:
        self.is_closed = True
        await super().close()


class Servers:
    """Servers of tools, which are asked for nothing."""

    is_closed = False

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("is_together", [False, True])
async def test_after_a_fence_no_drive_asks_a_model_and_every_call_says_why(is_together: bool) -> None:
    store, model = LostStore(), Counted()
    async with on_stage(store, models=ModelRouter(model)) as t:
        await t.open_world(
            world_of(ticking("ada", together=is_together), ticking("bo", together=is_together))
        )
        await soon(t.step_one())
        asked = model.answered
        store.is_fenced = True
        with pytest.raises(StoreFenced):
            await soon(t.run())
        asked_at_fence = model.answered

        for _ in range(3):
            with pytest.raises(StoreFenced, match="Process 12"):
                await soon(t.run())
        with pytest.raises(StoreFenced, match="Process 12"):
            await soon(t.add_creature(Manifest(name="cy")))

        assert asked_at_fence <= asked + 2
        assert model.answered == asked_at_fence


async def test_an_act_that_waits_for_a_model_ends_as_soon_as_the_fence_is_known_and_the_store_is_closed() -> (
    None
):
    store, model = LostStore(), Counted()
    async with on_stage(store, models=ModelRouter(model)) as t:
        await t.open_world(world_of(ticking("ada"), ticking("bo")))
        model.gate.clear()
        driving = asyncio.create_task(t.run())
        await loop_turns()
        events = len(await ledger_of(t))

        t._house.ledger.writer.end(FENCE)

        with pytest.raises(StoreFenced, match="Process 12"):
            await soon(driving)
        assert t._ending is not None
        await soon(t._ending)
        assert store.is_closed
        assert model.answered == 0
        assert len(await ledger_of(t)) == events


async def test_what_was_queued_behind_a_fence_is_told_of_the_fence_and_not_to_try_again() -> None:
    store = LostStore()
    async with on_stage(store) as t:
        ada = await t.add_creature(Manifest(name="ada"))
        store.gate.clear()
        store.is_fenced = True
        said = [
            asyncio.create_task(t.append(ada.id, Draft(kind="agent.spoke", payload={"text": str(n)})))
            for n in range(2)
        ]
        await loop_turns()
        said.append(
            asyncio.create_task(t.append(ada.id, Draft(kind="agent.spoke", payload={"text": "behind"})))
        )
        await loop_turns()
        store.gate.set()

        ends = await soon(asyncio.gather(*said, return_exceptions=True))

        assert [type(end) for end in ends] == [StoreFenced] * 3


async def test_a_house_that_is_taken_while_it_closes_is_closed_all_the_same_and_nothing_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store, servers = LostStore(), Servers()
    t = show(store, models=ModelRouter(Counted()))
    await t.open()
    t._house.servers = servers  # type: ignore[assignment]
    await t.open_world(world_of(ticking("ada", together=True), ticking("bo", together=True)))
    await soon(t.step_one())
    await loop_turns()
    store.is_fenced = True

    with pytest.raises(StoreFenced, match="Process 12"):
        await soon(t.close())
    ending = t._ending
    assert ending is not None
    await soon(ending)

    assert (store.is_closed, servers.is_closed, t._house.ledger.writer._task) == (True, True, None)
    del ending, t
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_who_waits_for_the_inbox_learns_of_the_fence_though_nothing_is_committed() -> None:
    store = LostStore()
    async with on_stage(store) as t:
        t._house.ledger.writer.on_fenced = t._end
        t._stage.listen()
        store.taken.set()
        await loop_turns()
        t._house.clock.move(1)  # type: ignore[attr-defined]
        await loop_turns()

        with pytest.raises(StoreFenced):
            await soon(t.add_creature(Manifest(name="ada")))


async def test_a_process_that_nobody_hears_of_asks_no_model_until_it_is_heard_again() -> None:
    store, model = LostStore(), Counted()
    async with on_stage(store, models=ModelRouter(model)) as t:
        await t.open_world(world_of(ticking("ada")))
        store.lapsed = StoreFailed("The database has not answered for 6 seconds.")

        for _ in range(2):
            with pytest.raises(StoreFailed, match="6 seconds"):
                await soon(t.step_one())
        assert model.answered == 0

        store.lapsed = None
        await soon(t.step_one())
        assert model.answered == 1


async def test_an_act_that_waited_for_a_model_s_slot_asks_nothing_if_the_store_lapsed_meanwhile() -> None:
    store, model = LostStore(), Counted()
    async with on_stage(store, models=ModelRouter(model), pacing="free") as t:
        await t.open_world(world_of(ticking("ada", together=True), ticking("bo", together=True)))
        model.gate.clear()
        driving = asyncio.create_task(t.run(turns=1))
        await loop_turns()
        store.lapsed = StoreFailed("The database has not answered for 6 seconds.")
        model.gate.set()

        with pytest.raises(StoreFailed):
            await soon(driving)
        asked = model.answered
        with pytest.raises(StoreFailed):
            await soon(t.run(turns=1))
        assert model.answered == asked
