"""What graphs of real plays are called: by troupe, by channel, and as in the past of a branch."""

from __future__ import annotations

from glasshouse import Event, Manifest, MemoryStore, Terrarium, WhatIf
from glasshouse.events.event import Json
from glasshouse.views.page_fold import PageFold
from tests.simulation.ledger_checks import ledger_of


def folded(events: list[Event]) -> Json:
    fold = PageFold("spectator")
    for event in events:
        fold.fold(event)
    return fold.view


def names_in(view: Json) -> list[str]:
    return sorted([graph["name"] for graph in view["graphs"].values()])


async def names_now(store: MemoryStore) -> list[str]:
    return names_in(folded(await ledger_of(store)))


async def test_graphs_of_a_world_are_called_like_its_troupes() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        await t.open_world("three-ways-in")

        assert await names_now(store) == ["along", "over", "pavilion", "under"]


async def test_a_world_of_one_cast_is_called_like_its_busiest_channel() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        for name in ("newt", "reed", "moss"):
            await t.add_creature(Manifest(name=name))
        assert await names_now(store) == ["alone", "alone 2", "alone 3"]
        await t.connect("newt", "reed", channel="pond")
        assert await names_now(store) == ["alone 3", "pond"]
        for listener in ("reed", "newt"):
            await t.connect("moss", listener, channel="bank")

        assert await names_now(store) == ["pond"]


async def test_a_graph_whose_name_a_newcomer_has_gets_another() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        for name in ("newt", "reed"):
            await t.add_creature(Manifest(name=name))
        await t.connect("newt", "reed", channel="pond")

        await t.add_creature(Manifest(name="pond"))

        assert await names_now(store) == ["alone", "pond 2"]


async def test_a_branch_has_the_names_of_its_past() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("three-ways-in")
        await t.step(4)
        line = [event for event in await t.run_events(run.id) if event.channel == "canopy"][-1]

        branch = await t.branch(line.session_id, line.id, WhatIf(disturb="A goose walks in."))

        view = folded(list(await t.run_events(branch.id)))
        assert names_in(view) == ["along", "over", "pavilion", "under"]
        for graph in view["graphs"].values():
            assert view["lanes"][graph["session"]]["name"] == graph["name"]
