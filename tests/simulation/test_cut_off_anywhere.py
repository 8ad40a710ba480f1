"""A run that is cut off after any event and continues in a new process ends like a run that was never cut off.

The store makes the cut: the test opens every prefix of whole batches that a power cut could leave, and plays on.
"""

from collections.abc import Sequence

import pytest

from glasshouse import Event, MemoryStore
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.store_port import Batch
from glasshouse.terrarium import Terrarium
from tests.simulation.ledger_checks import check_ends
from tests.simulation.worlds_by_code import end_in_the_second_room, reflecting_table, two_troupes

WORLDS = [
    "thousand-token-wood",
    "mystery-roots",
    "twenty-sprouts",
    two_troupes(),
    reflecting_table(),
    end_in_the_second_room(),
]


class NotingStore(MemoryStore):
    """A memory store that remembers its batches one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[Batch] = []

    async def commit(self, batches: Sequence[Batch]) -> int:
        self.batches += [change for batch in batches for change in batch.changes if change.writes]
        return await super().commit(batches)


def terrarium_on(store: MemoryStore) -> Terrarium:
    return Terrarium(store, clock=HandMovedClock(), ids=SeededIds(7))


async def played_to_the_end(store: MemoryStore, run_id: str) -> tuple[str, tuple[Event, ...]]:
    async with terrarium_on(store) as t:
        await t.run(run_id)
        assert t.run_of(run_id).is_finished
        await check_ends(store)
        return await t.digest(run_id), await t.run_events(run_id)


@pytest.mark.parametrize(
    "world", WORLDS, ids=lambda world: world if isinstance(world, str) else world.scenario.name
)
async def test_a_run_cut_off_after_any_event_ends_as_if_it_never_was(world: str | LoadedWorld) -> None:
    whole = NotingStore()
    async with terrarium_on(whole) as t:
        run = await t.open_world(world, rng_seed=3, run_id="r-cut")
    digest, events = await played_to_the_end(whole, run.id)

    ends: dict[int, str] = {}
    for count in range(1, len(whole.batches) + 1):
        cut = MemoryStore()
        await cut.open(whole.house_id)
        await cut.commit(whole.batches[:count])
        await cut.close()
        ends[count], _ = await played_to_the_end(cut, run.id)

    assert len(ends) > 20
    assert {count: end for count, end in ends.items() if end != digest} == {}
    assert events[-1].kind == "run.finished"
