"""Seeded random changes on a store that fails: before it writes, or so that nobody knows whether it has written.

Whoever was answered is right: an acknowledged event is in the store, a refused one is not, and whoever watched saw each event of
the store once. It holds for every store.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Sequence

import pytest

from glasshouse import Draft, Refused, Terrarium, kinds
from glasshouse.errors import OutcomeUnknown, StoreFailed
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.ledger import writer
from glasshouse.runtime.store_port import Batch, Store
from tests.every_store import Opener
from tests.rules.world.shape import check_folds_agree
from tests.runtime.stores_around import StoreAround
from tests.runtime.troupe import all_events, soon
from tests.simulation.mixing import operate
from tests.simulation.seeds import replayable, rig_seeds

steps = 24
calls_at_once = 3


class UnreliableStore(StoreAround):
    """A store one of whose commits in four fails, is lost, or is written without a word. Lookups fail, too, but not so often
    that the ledger gives up."""

    def __init__(self, inner: Store, seed: int) -> None:
        super().__init__(inner)
        self._chance = random.Random(seed)
        self._failed_lookups = 0
        self.faults: list[str] = []

    async def commit(self, batches: Sequence[Batch]) -> int:
        fault = self._chance.choices(["", "fails", "lost", "written"], [9, 1, 1, 1])[0]
        if fault:
            self.faults.append(fault)
        if fault == "fails":
            raise StoreFailed("The disk is full. Make room.")
        if fault == "lost":
            raise OutcomeUnknown("The disk does not answer. Look at its cable.")
        first_position = await super().commit(batches)
        if fault == "written":
            raise OutcomeUnknown("The disk does not answer. Look at its cable.")
        return first_position

    async def committed(self, first_position: int) -> bool:
        if self._failed_lookups < writer.lookups_max - 1 and self._chance.random() < 0.4:
            self._failed_lookups += 1
            raise StoreFailed("The disk cannot be read. Look at its cable.")
        self._failed_lookups = 0
        return await super().committed(first_position)


async def says(t: Terrarium, text: str) -> bool | None:
    """Whether a line was acknowledged; None if nobody is there to say it."""
    try:
        name = t.creatures()[0].id
        await t.append(name, Draft(kind=kinds.AGENT_SPOKE, payload={"text": text}))
    except StoreFailed:
        return False
    except (IndexError, Refused):
        return None
    return True


async def play(store: UnreliableStore, seed: int) -> None:
    answers: dict[str, bool | None] = {}

    async def said(text: str) -> None:
        answers[text] = await says(t, text)

    async def operated(step: int) -> None:
        with contextlib.suppress(StoreFailed):
            await operate(t, seed, step)

    async with Terrarium(store, clock=HandMovedClock(), ids=SeededIds(seed)) as t:
        watcher = t.subscribe(after=0)
        for step in range(steps):
            texts = [f"{step}/{n}" for n in range(calls_at_once)]
            await soon(asyncio.gather(operated(step), *map(said, texts)))
        await check_folds_agree(t, store)
        events = await all_events(store)
        assert [event.id for event in await watcher.arrived()] == [event.id for event in events]
    written = [event.payload.get("text") for event in events if event.kind == kinds.AGENT_SPOKE]
    for text, is_acknowledged in answers.items():
        assert written.count(text) == (1 if is_acknowledged else 0), text
    assert store.faults


@pytest.mark.parametrize("seed", rig_seeds(6))
async def test_every_answer_is_as_true_as_the_store(
    opener: Opener, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HandMovedClock, "sleep", lambda _clock, _seconds: asyncio.sleep(0))
    with replayable(seed, "test_doubtful_commits.py"):
        await play(UnreliableStore(opener(), seed), seed)
