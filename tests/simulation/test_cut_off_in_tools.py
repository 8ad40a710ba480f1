"""A run with tools that is cut off after any batch ends like a run that was never cut off.

A tool that has returned does not run again; one that has not returned does.
"""

import pytest

from glasshouse import Event, MemoryStore, kinds
from glasshouse.events.event import RESERVED_ACTORS
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.terrarium import Terrarium
from tests.simulation.ledger_checks import check_ends
from tests.simulation.test_cut_off_anywhere import NotingStore
from tests.simulation.worlds_with_tools import Consulting, CountingTools, rooms_with_tools


def terrarium_on(store: MemoryStore, tools: CountingTools) -> Terrarium:
    return Terrarium(
        store, models=ModelRouter(Consulting()), tools=tools, clock=HandMovedClock(), ids=SeededIds(7)
    )


async def opened(store: MemoryStore, world: LoadedWorld, rng_seed: int) -> str:
    async with terrarium_on(store, CountingTools()) as t:
        return (await t.open_world(world, rng_seed=rng_seed, run_id="r-cut")).id


async def played_on(store: MemoryStore, run_id: str) -> tuple[str, tuple[Event, ...], CountingTools]:
    tools = CountingTools()
    async with terrarium_on(store, tools) as t:
        await t.run(run_id)
        assert t.run_of(run_id).is_finished
        await check_ends(store)
        return await t.digest(run_id), await t.run_events(run_id), tools


def ids_of(events: tuple[Event, ...], kind: str) -> set[str]:
    return {event.id for event in events if event.kind == kind}


def tools_of(end: Event, events: tuple[Event, ...]) -> tuple[str, ...]:
    """The tool events of an act, found by its creature and cause."""
    if end.actor in RESERVED_ACTORS or end.caused_by is None:
        return ()
    act = (end.actor, end.caused_by)
    called = {e.id for e in events if e.kind == kinds.TOOL_CALLED and (e.actor, e.caused_by) == act}
    returned = {e.id for e in events if e.kind == kinds.TOOL_RETURNED and e.caused_by in called}
    return tuple([event.id for event in events if event.id in called | returned])


@pytest.mark.parametrize("rng_seed", [1, 4, 5])
async def test_a_run_cut_off_in_the_middle_of_an_act_goes_on_from_what_its_tools_have_said(
    rng_seed: int,
) -> None:
    whole = NotingStore()
    run_id = await opened(whole, rooms_with_tools(), rng_seed)
    digest, events, tools = await played_on(whole, run_id)
    changes = {
        str(e.payload["kind"]) for e in events if e.kind == kinds.TOPOLOGY_CHANGED and e.caused_by is not None
    }

    ends: dict[int, str] = {}
    uses_again: dict[int, set[str]] = {}
    for count in range(1, len(whole.batches) + 1):
        cut = MemoryStore()
        await cut.open(whole.house_id)
        await cut.commit(whole.batches[:count])
        before = {event.id for event in await cut.read_after(0, 100_000)}
        returned = {e.caused_by for e in await cut.read_after(0, 100_000) if e.kind == kinds.TOOL_RETURNED}
        await cut.close()
        ends[count], all_events, again = await played_on(cut, run_id)
        assert all(event.tools == tools_of(event, all_events) for event in all_events if event.ends_its_act)
        uses_again[count] = set(again.uses) & returned
        pending = (ids_of(events, kinds.TOOL_CALLED) & before) - returned
        assert pending <= set(again.uses)
        assert max(again.uses.values(), default=0) <= 1

    assert len(tools.uses) >= 20
    assert changes >= {"merge", "split"}
    assert {count: end for count, end in ends.items() if end != digest} == {}
    assert {count: uses for count, uses in uses_again.items() if uses} == {}
