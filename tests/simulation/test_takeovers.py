"""Owners that lose their store, fail, and are taken over, over and over, in one process: every run verifies.

What the faults of PostgreSQL do to a house, without a database: commits fail, are lost, or are written without a word, at any turn of the
loop; an owner lapses for a while; another owner takes the house while the first one still thinks, or after it was killed. Meanwhile a crowd
adds, merges, splits and speaks, and a run is played whose acts take their time. No clock and no socket is waited for, so thousands of plays
cost what a dozen cost on a server.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from glasshouse import Governor, MemoryStore, Refused, Terrarium
from glasshouse.errors import GlasshouseError, OutcomeUnknown, StoreError, StoreFailed, StoreFenced
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.store_port import Batch
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.made_up_words import word_for
from tests.runtime.stage_crew import hearing, ticking, world_of
from tests.runtime.stores_around import StoreAround
from tests.runtime.toolkits import OneTool, speaks, uses
from tests.simulation.ledger_checks import check_ends, check_folds, check_histories, check_no_gaps, ledger_of
from tests.simulation.mixing import operate
from tests.simulation.seeds import fresh_seeds, replayable, usual_seeds

OWN = "glasshouse-run"
owners_in_a_play = 4
turns_of_the_loop_max = 1_200
tasks_in_a_crowd = 2
fault_share = 0.12
seeds_in_a_test = 10
once_failed = (16, 20, 54, 114, 123, 131, 858477857, 100217381)
"""Seeds of plays that did not verify: each by a cause of its own."""

_start = datetime(2026, 1, 1, tzinfo=UTC)


class JumpingClock:
    """A clock that jumps forwards and backwards by hours, and lets nobody wait."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._seconds = 0

    def now(self) -> datetime:
        self._seconds += 1
        return _start + timedelta(seconds=self._seconds + self._chance.choice([0, 0, 0, 7_200, -7_200]))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


class House:
    """A memory that outlives its owners, and who owns it now."""

    def __init__(self) -> None:
        self.memory = MemoryStore()
        self.epoch = 0


class Owned(StoreAround):
    """The store of one owner: its commits take a while, fail, or leave it in doubt, and are refused once another one owns the house."""

    def __init__(self, house: House, chance: random.Random) -> None:
        super().__init__(house.memory)
        self._house = house
        self._chance = chance
        self.is_cut_off = False
        self.lapses = 0
        """For how many looks the owner does not know whether the house is still its own."""

    async def open(self, new_house_id: str) -> None:
        if not self._house.epoch:
            await super().open(new_house_id)
        self._house.epoch += 1
        self.epoch = self._house.epoch

    async def close(self) -> None:
        """The memory stays open, for the next owner."""

    async def _passes(self) -> None:
        for _ in range(self._chance.choice((0, 1, 3, 10, 30))):
            await asyncio.sleep(0)

    def lapse(self) -> StoreError | None:
        if self.epoch != self._house.epoch:
            return StoreFenced("Another process plays this house.")
        if self.lapses:
            self.lapses -= 1
            return StoreFailed("The database has noted no beat.")
        return None

    async def commit(self, batches: Sequence[Batch]) -> int:
        await self._passes()
        fault = (
            ""
            if self._chance.random() > fault_share
            else self._chance.choice(("full", "lost", "written", "lapse"))
        )
        if self.is_cut_off or fault == "lost":
            raise OutcomeUnknown("Nobody answers.")
        if self.epoch != self._house.epoch:
            raise StoreFenced("Another process plays this house.")
        if fault == "full":
            raise StoreFailed("The disk is full. Make room.")
        if fault == "lapse":
            self.lapses = 20
        first = await self.inner.commit(
            batches
        )  # At once, as a database does that looks at the epoch as it writes.
        await self._passes()
        if fault == "written":
            raise OutcomeUnknown("Nobody answers.")
        return first

    async def committed(self, first_position: int) -> bool:
        await self._passes()
        if self.is_cut_off or self._chance.random() < 0.3:
            raise StoreFailed("Nobody answers.")
        there = await self.inner.read_after(first_position - 1, 1)
        if self.epoch != self._house.epoch:
            raise StoreFenced("Another process plays this house.")
        return bool(there)

    async def position(self) -> int:
        await self._passes()
        if self.is_cut_off or self._chance.random() < 0.05:
            raise StoreFailed("Nobody answers.")
        return await super().position()


class Slow:
    """A model that thinks for some turns of the loop."""

    name = backend = "slow"
    is_free = True

    def __init__(self, chance: random.Random, number: int) -> None:
        self._chance = chance
        self._count = number

    async def complete(self, _prompt: Prompt) -> Completion:
        for _ in range(self._chance.choice((0, 2, 8, 30))):
            await asyncio.sleep(0)
        self._count += 1
        words = " ".join(word_for(self._count * 7 + n) for n in range(6))
        mood = self._chance.random()
        reply = "?" if mood < 0.05 else uses() if mood < 0.2 else speaks(words)
        return Completion(reply, self.name, Tokens(5, 5), response_id=f"answer {self._count}")


class Play:
    """One play: a house, and one owner after another."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = random.Random(seed)
        self.house = House()
        self.is_together = self.chance.random() < 0.5
        self.tools: dict[str, Any] = {"tools": ("lamp",)} if self.chance.random() < 0.5 else {}

    def terrarium(self, number: int) -> Terrarium:
        store = Owned(self.house, self.chance)
        return Terrarium(
            store,
            clock=JumpingClock(self.chance),
            ids=SeededIds(self.seed * 1_000 + number),
            models=ModelRouter(Slow(self.chance, number * 10_000)),
            tools=OneTool(),
        )

    async def story(self, t: Terrarium, number: int, first_step: int) -> None:
        step = first_step
        while True:
            step += 1
            try:
                await operate(t, self.seed * tasks_in_a_crowd + number, step)
            except StoreFenced:
                raise
            except StoreError:
                if t._house.ledger.writer.ended is not None:
                    raise
            for _ in range(self.chance.randrange(12)):
                await asyncio.sleep(0)

    async def played(self, t: Terrarium) -> None:
        while True:
            try:
                if not any(run.id == OWN for run in t.runs()):
                    cast = [
                        ticking("tick", together=self.is_together, **self.tools),
                        ticking("tock", together=self.is_together),
                        hearing("heard"),
                    ]
                    await t.open_world(world_of(*cast), run_id=OWN, governor=Governor(max_turns=60))
                await t.step_one()
            except StoreFenced:
                raise
            except StoreError:
                if t._house.ledger.writer.ended is not None:
                    raise
            except Refused:
                pass
            await asyncio.sleep(0)

    async def own(self, number: int) -> None:
        """Own the house for a while, until the next one takes it."""
        t = self.terrarium(number)
        with suppress(GlasshouseError):
            await t.open()
            tasks = [
                asyncio.ensure_future(self.story(t, each, number * 10_000))
                for each in range(tasks_in_a_crowd)
            ]
            tasks.append(asyncio.ensure_future(self.played(t)))
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                with suppress(GlasshouseError):
                    await t.close()

    async def run(self) -> None:
        owners: list[asyncio.Task[None]] = []
        for number in range(owners_in_a_play):
            owners.append(asyncio.ensure_future(self.own(number)))
            for _ in range(self.chance.randrange(200, turns_of_the_loop_max)):
                await asyncio.sleep(0)
        owners[-1].cancel()
        await asyncio.gather(*owners, return_exceptions=True)

    async def check(self) -> None:
        await self.house.memory.close()
        async with Terrarium(self.house.memory, clock=HandMovedClock(), tools=OneTool()) as t:
            ledger = await ledger_of(self.house.memory)
            check_no_gaps(ledger)
            await check_histories(t, ledger)
            await check_folds(self.house.memory)
            await check_ends(self.house.memory)
            answers = Counter(
                call.response_id for event in ledger for call in event.calls if call.response_id
            )
            assert [answer for answer, count in answers.items() if count > 1] == []
            for run in t.runs():
                if run.id == OWN:
                    result = await verify(t, run.id)
                    assert result.is_same, (result.recorded_event, result.replayed_event, result.prompt_diffs)


async def play(seed: int) -> None:
    whole_play = Play(seed)
    await whole_play.run()
    await whole_play.check()


@pytest.mark.parametrize("seed", usual_seeds(seeds_in_a_test, also=once_failed))
async def test_every_run_verifies_whoever_owned_its_house(seed: int) -> None:
    with replayable(seed, "test_takeovers.py"):
        await play(seed)


@pytest.mark.soak
async def test_many_houses_change_hands() -> None:
    for seed in fresh_seeds(2_000):
        with replayable(seed, "test_takeovers.py"):
            await play(seed)
